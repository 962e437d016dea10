/* Loops that an exception leaves, or may leave. */
#include "tests/e2e/depend_kernels/kernels.h"
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#define FAMILY "throw"
/* clang-format off */

APART static void check(int v) { if (v == 1000) throw 5; }
APART static void check_never(int v) { if (v == 5000) throw 5; }
APART static void check_deep(int v) { check(v); }
APART static int checked(int v) { if (v == 1000) throw std::runtime_error("found"); return v * 3; }
struct guard { int &to; ~guard() { to++; } };
struct shape { virtual ~shape() {} virtual int area(int v) const { return v; } };
struct square : shape { int area(int v) const override { return v * v; } };
struct counting : shape { mutable int calls = 0; int area(int v) const override { return v & 1 ? v + calls++ : v; } };

KERNEL(throw_taken, SERIAL, DECLARED) { C[n - 3] = 1000; try { for (int i = 0; i < n; i++) { B[i] = A[i] * 3; check(C[i]); } } catch (int e) { return e; } return 0; }
KERNEL(throw_never, SERIAL, DECLARED) { try { for (int i = 0; i < n; i++) { B[i] = A[i] * 3; check_never(C[i]); } } catch (int e) { return e; } return 0; }
KERNEL(throw_deep, SERIAL, DECLARED) { C[n - 3] = 1000; try { for (int i = 0; i < n; i++) { B[i] = A[i] * 3; check_deep(C[i]); } } catch (int e) { return e; } return 0; }
KERNEL(throw_outside, SERIAL, DECLARED) { for (int i = 0; i < n; i++) { B[i] = A[i] * 3; check_never(C[i]); } return 0; }
KERNEL(throw_value, SERIAL, DECLARED) { C[n - 3] = 1000; try { for (int i = 0; i < n; i++) B[i] = checked(C[i]); } catch (const std::exception &) { return 1; } return 0; }
KERNEL(throw_sum, SERIAL, DECLARED) { int s = 0; C[n - 3] = 1000; try { for (int i = 0; i < n; i++) { s += A[i]; check(C[i]); } } catch (int) {} return s; }
KERNEL(throw_direct, SERIAL, DECLARED) { C[n - 3] = 1000; try { for (int i = 0; i < n; i++) { B[i] = A[i] * 3; if (C[i] == 1000) throw i; } } catch (int e) { return e; } return 0; }
KERNEL(throw_guarded, SERIAL, DECLARED) { C[n - 3] = 1000; try { for (int i = 0; i < n; i++) { guard held{g}; B[i] = A[i] * 3; check(C[i]); } } catch (int e) { return e; } return 0; }
KERNEL(throw_at, SERIAL, DECLARED) { std::vector<int> v(static_cast<unsigned>(n) - 3); try { for (int i = 0; i < n; i++) v.at(static_cast<unsigned>(i)) = A[i]; } catch (const std::out_of_range &) { return v[3]; } return 0; }
KERNEL(caught_inside, INDEPENDENT, DECLARED | EITHER) { for (int i = 0; i < n / 8; i++) { try { check(i % 16 ? 1 : 1000); B[i] = 1; } catch (int e) { B[i] = e; } } return 0; }
#undef FAMILY
#define FAMILY "class"
KERNEL(virtual_call, INDEPENDENT, DECLARED) { static const square s; const shape *p = &s; for (int i = 0; i < n; i++) B[i] = p->area(A[i]); return 0; }
KERNEL(virtual_sum, REDUCTION, DECLARED) { static const square s; const shape *p = &s; int t = 0; for (int i = 0; i < n; i++) t += p->area(A[i]); return t; }
KERNEL(virtual_counting, SERIAL, DECLARED) { counting c; const shape *p = &c; for (int i = 0; i < n; i++) B[i] = p->area(A[i]); return 0; }
KERNEL(vector_map, INDEPENDENT, DECLARED) { std::vector<int> v(static_cast<unsigned>(n)); for (int i = 0; i < n; i++) v[static_cast<unsigned>(i)] = A[i] * 3; return v[5]; }
KERNEL(vector_push, SERIAL, DECLARED) { std::vector<int> v; for (int i = 0; i < n; i++) v.push_back(A[i]); return v[5]; }
KERNEL(vector_sum, REDUCTION, DECLARED) { const std::vector<int> v(A, A + n); int s = 0; for (unsigned i = 0; i < v.size(); i++) s += v[i]; return s; }
KERNEL(vector_delta, SERIAL, DECLARED) { std::vector<double> v(X, X + n); double last = 0; for (unsigned i = 0; i < v.size(); i++) { const double t = v[i]; v[i] -= last; last = t; } return static_cast<long>(v[7]); }
KERNEL(string_append, SERIAL, DECLARED) { std::string s; for (int i = 0; i < n; i++) s += static_cast<char>(T[i]); return s[9]; }
KERNEL(map_insert, SERIAL, DECLARED) { std::map<int, int> m; for (int i = 0; i < n / 4; i++) m[A[i]] = i; return static_cast<long>(m.size()); }
KERNEL(lambda_map, INDEPENDENT, DECLARED) { const int by = n / 60; const auto f = [=](int v) { return v * by + 1; }; for (int i = 0; i < n; i++) B[i] = f(A[i]); return 0; }
KERNEL(lambda_carries, SERIAL, DECLARED) { int last = 0; const auto f = [&](int v) { const int was = last; last = v; return was; }; for (int i = 0; i < n; i++) B[i] = f(A[i]); return 0; }
KERNEL(reference_sum, REDUCTION, DECLARED) { int s = 0; int &r = s; for (const int &v : M1[0]) r += v; for (int i = 0; i < n; i++) r += A[i]; return s; }
KERNEL(iterator_list, SERIAL, DECLARED) { std::map<int, int> m; for (int i = 0; i < 32; i++) m[i] = A[i]; int s = 0; for (int t = 0; t < 1; t++) for (const auto &p : m) s += p.second; return s; }
