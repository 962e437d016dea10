/*
 * A plug-in of GCC 12 that instruments programs for dependence tracing: it inserts calls of the
 * hooks in capture/instrument/depend_hooks.h. C++, because GCC's headers are.
 *
 * Two passes. `bustap_depend_functions` wraps the body of each DETAIL function in a try/finally
 * statement with calls of the entry and exit hooks, before exceptions and control flow are lowered:
 * the lowering then makes all exits, and inlining keeps them. `bustap_depend_references` adds
 * references, loops and frames where ThreadSanitizer's pass is: without optimization, all
 * references of the source but those to variables that GCC keeps in registers of its own; with it,
 * those that the scalar optimizations have left, before the loop optimizations merge or duplicate
 * references.
 *
 * -fplugin-arg-depend_plugin-detail=FILE lists DETAIL functions, one a line, with # comments.
 * Default: the file bop.detail of the current folder; without it, all functions.
 */
/* GCC's headers depend on this order. */
/* clang-format off */
#include "gcc-plugin.h"
#include "plugin-version.h"
#include "tree.h"
#include "gimple.h"
#include "tree-pass.h"
#include "context.h"
#include "ssa.h"
#include "cfghooks.h"
#include "cfgloop.h"
#include "cfganal.h"
#include "cgraph.h"
#include "diagnostic-core.h"
#include "fold-const.h"
#include "gimple-iterator.h"
#include "gimple-walk.h"
#include "gimplify.h"
#include "gimple-fold.h"
#include "gimplify-me.h"
#include "attribs.h"
#include "langhooks.h"
#include "stringpool.h"
#include "tree-cfg.h"
#include "tree-eh.h"
#include "tree-inline.h"
/* clang-format on */

#include <set>
#include <string>

extern int plugin_is_GPL_compatible;
int plugin_is_GPL_compatible;

namespace
{

enum hook {
    HOOK_WRITE,
    HOOK_READ,
    HOOK_COPY,
    HOOK_FUNCTION_ENTRY,
    HOOK_FUNCTION_EXIT,
    HOOK_LOOP_BEGIN,
    HOOK_LOOP_ITERATE,
    HOOK_LOOP_END,
    HOOK_FRAME_ENTRY,
    HOOK_FRAME_EXIT,
    HOOKS
};

tree hooks[HOOKS];
const ggc_root_tab roots[] = {
    {hooks, HOOKS, sizeof hooks[0], gt_ggc_mx_tree_node, gt_pch_nx_tree_node}, LAST_GGC_ROOT_TAB};

bool has_list;
std::set<std::string> detail_functions;

/* --- hooks -------------------------------------------------------------------------------------
 */

tree make_hook(const char *name, tree type)
{
    tree decl = build_fn_decl(name, type);
    SET_DECL_ASSEMBLER_NAME(decl, get_identifier(name)); /* not mangled */
    /* it does not return elsewhere: else each hook before a loop with setjmp() would enter it */
    DECL_ATTRIBUTES(decl) = tree_cons(get_identifier("leaf"), NULL_TREE, DECL_ATTRIBUTES(decl));
    return decl;
}

void make_hooks()
{
    if (hooks[HOOK_WRITE])
        return;
    tree word = long_unsigned_type_node, number = integer_type_node;
    tree text = build_pointer_type(char_type_node);
    tree reference =
        build_function_type_list(void_type_node, word, word, number, text, number, NULL_TREE);
    tree copy =
        build_function_type_list(void_type_node, word, word, word, number, text, number, NULL_TREE);
    tree entry = build_function_type_list(void_type_node, text, text, NULL_TREE);
    tree leave = build_function_type_list(void_type_node, text, NULL_TREE);
    tree begin =
        build_function_type_list(void_type_node, text, number, text, number, number, NULL_TREE);
    tree loop = build_function_type_list(void_type_node, number, number, NULL_TREE);
    tree frame = build_function_type_list(void_type_node, ptr_type_node, NULL_TREE);
    hooks[HOOK_WRITE] = make_hook("_bop_prof_rec_write_n", reference);
    hooks[HOOK_READ] = make_hook("_bop_prof_rec_read_n", reference);
    hooks[HOOK_COPY] = make_hook("_bop_prof_rec_copy_n", copy);
    hooks[HOOK_FUNCTION_ENTRY] = make_hook("bop_instm_func_entry", entry);
    hooks[HOOK_FUNCTION_EXIT] = make_hook("bop_instm_func_exit", leave);
    hooks[HOOK_LOOP_BEGIN] = make_hook("bop_instm_loop_begin", begin);
    hooks[HOOK_LOOP_ITERATE] = make_hook("bop_instm_loop_iterate", loop);
    hooks[HOOK_LOOP_END] = make_hook("bop_instm_loop_end", loop);
    hooks[HOOK_FRAME_ENTRY] = make_hook("bop_instm_frame_entry", frame);
    hooks[HOOK_FRAME_EXIT] = make_hook("bop_instm_frame_exit", frame);
}

tree number_of(HOST_WIDE_INT value)
{
    return build_int_cst(integer_type_node, value);
}

tree text_of(const char *text)
{
    return build_string_literal(strlen(text) + 1, text);
}

/* --- DETAIL functions --------------------------------------------------------------------------
 */

/* A name as users know it: with its scope in C++. */
const char *name_of(tree function)
{
    return lang_hooks.decl_printable_name(function, 1);
}

/* A list may have the source's name, with or without its scope, or the linker's. */
bool is_detail(tree function)
{
    if (!has_list)
        return true;
    return detail_functions.count(name_of(function)) ||
           (DECL_NAME(function) &&
            detail_functions.count(IDENTIFIER_POINTER(DECL_NAME(function)))) ||
           detail_functions.count(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function)));
}

void add_line(std::string line)
{
    line = line.substr(0, line.find('#'));
    const char *blanks = " \t\r\n\v\f";
    const size_t begin = line.find_first_not_of(blanks);
    if (begin != std::string::npos)
        detail_functions.insert(line.substr(begin, line.find_last_not_of(blanks) - begin + 1));
}

/* false: there is no such file. */
bool read_list(const char *name)
{
    FILE *file = fopen(name, "r");
    if (!file)
        return false;
    std::string line;
    for (int c; (c = getc(file)) != EOF;) {
        if (c == '\n') {
            add_line(line);
            line.clear();
        } else {
            line += (char)c;
        }
    }
    add_line(line);
    if (ferror(file))
        error("%qs: cannot be read", name);
    fclose(file);
    return has_list = true;
}

/* The function whose source a statement is of, which may have been inlined. */
tree function_of(gimple *statement)
{
    for (tree block = gimple_block(statement); block && TREE_CODE(block) == BLOCK;
         block = BLOCK_SUPERCONTEXT(block))
        if (inlined_function_outer_scope_p(block)) {
            tree origin = block_ultimate_origin(block);
            if (origin && TREE_CODE(origin) == FUNCTION_DECL)
                return origin;
        }
    return current_function_decl;
}

/* --- entry and exit of functions ---------------------------------------------------------------
 */

unsigned wrap_body()
{
    tree function = current_function_decl;
    gimple_seq body = gimple_body(function);
    if (!body || !is_detail(function))
        return 0;
    make_hooks();
    gbind *bind = as_a<gbind *>(gimple_seq_first_stmt(body));
    tree name = text_of(name_of(function));
    const char *file = DECL_SOURCE_FILE(function);
    gimple *entry =
        gimple_build_call(hooks[HOOK_FUNCTION_ENTRY], 2, text_of(file ? file : ""), name);
    gimple *leave = gimple_build_call(hooks[HOOK_FUNCTION_EXIT], 1, unshare_expr(name));
    gimple_set_location(entry, DECL_SOURCE_LOCATION(function));
    gimple_seq finally = NULL, all = NULL;
    gimple_seq_add_stmt(&finally, leave);
    gimple *wrapped = gimple_build_try(gimple_bind_body(bind), finally, GIMPLE_TRY_FINALLY);
    gimple_seq_add_stmt(&all, entry);
    gimple_seq_add_stmt(&all, wrapped);
    gimple_bind_set_body(bind, all);
    return 0;
}

/* --- references --------------------------------------------------------------------------------
 */

struct place {
    int sketch;
    const char *file;
    int line;
};

/* Where the latest statement with a line was, for those without. */
location_t latest_location;

place place_of(gimple *statement)
{
    if (gimple_location(statement) != UNKNOWN_LOCATION)
        latest_location = gimple_location(statement);
    expanded_location at = expand_location(latest_location);
    return {!is_detail(function_of(statement)), at.file ? at.file : "", at.line};
}

/* Inserts statements before or after a statement. A statement that ends its block has nothing after
 * it, but on the edge on which it does not throw. */
void insert(gimple_stmt_iterator *at, gimple_seq statements, bool is_after)
{
    if (!is_after) {
        gsi_insert_seq_before(at, statements, GSI_SAME_STMT);
    } else if (!stmt_ends_bb_p(gsi_stmt(*at))) {
        gsi_insert_seq_after(at, statements, GSI_CONTINUE_LINKING);
    } else {
        edge normal = find_fallthru_edge(gsi_bb(*at)->succs);
        if (normal)
            gsi_insert_seq_on_edge(normal, statements);
    }
}

/* Makes a word of an expression, before the statement. */
tree word_of(gimple_stmt_iterator *at, tree value)
{
    return force_gimple_operand_gsi(at, fold_convert(long_unsigned_type_node, value), true,
                                    NULL_TREE, true, GSI_SAME_STMT);
}

void call_hook(gimple_stmt_iterator *at, enum hook hook, tree address, tree size, bool is_after)
{
    gimple *statement = gsi_stmt(*at);
    const place here = place_of(statement);
    tree address_word = word_of(at, address), size_word = word_of(at, size);
    gimple *call =
        gimple_build_call(hooks[hook], 5, address_word, size_word, number_of(here.sketch),
                          text_of(here.file), number_of(here.line));
    gimple_set_location(call, gimple_location(statement));
    gimple_set_block(call, gimple_block(statement));
    gimple_seq calls = NULL;
    gimple_seq_add_stmt(&calls, call);
    insert(at, calls, is_after);
}

/* Whether the base of a reference is memory that the source refers to. */
bool is_memory(tree base)
{
    switch (TREE_CODE(base)) {
    case MEM_REF:
    case TARGET_MEM_REF:
    case INDIRECT_REF:
        return true;
    case VAR_DECL:
        return !is_gimple_reg(base) && !DECL_HARD_REGISTER(base) && !DECL_HAS_VALUE_EXPR_P(base);
    case PARM_DECL:
        return !is_gimple_reg(base);
    default:
        return false; /* results are the caller's, constants are never written */
    }
}

/* The address of the bytes of a reference, and their number. false: it is not memory. */
bool find_bytes(tree reference, tree *address, tree *size)
{
    poly_int64 bits, position;
    tree offset;
    machine_mode mode;
    int is_unsigned, is_reverse, is_volatile;
    if (TREE_CODE(reference) == WITH_SIZE_EXPR)
        reference = TREE_OPERAND(reference, 0);
    tree base = get_inner_reference(reference, &bits, &position, &offset, &mode, &is_unsigned,
                                    &is_reverse, &is_volatile);
    HOST_WIDE_INT bit_count, bit;
    if (!bits.is_constant(&bit_count) || !position.is_constant(&bit) || !is_memory(base))
        return false;
    const HOST_WIDE_INT first = bit >> 3, end = (bit + bit_count + 7) >> 3;
    if (bit_count > 0)
        *size = build_int_cst(long_unsigned_type_node, end - first);
    else if (bit_count < 0 && TYPE_SIZE_UNIT(TREE_TYPE(reference)))
        *size = unshare_expr(TYPE_SIZE_UNIT(TREE_TYPE(reference)));
    else
        return false;
    if (DECL_P(base))
        mark_addressable(base);
    tree pointer = fold_convert(ptr_type_node, build_fold_addr_expr(unshare_expr(base)));
    if (offset)
        pointer = fold_build_pointer_plus(pointer, unshare_expr(offset));
    *address = first ? fold_build_pointer_plus_hwi(pointer, first) : pointer;
    return true;
}

void refer(gimple_stmt_iterator *at, enum hook hook, tree reference, bool is_after = false)
{
    tree address, size;
    if (reference && find_bytes(reference, &address, &size))
        call_hook(at, hook, address, size, is_after);
}

void refer_to(gimple_stmt_iterator *at, enum hook hook, tree address, tree size)
{
    call_hook(at, hook, unshare_expr(address), unshare_expr(size), false);
}

/* memcpy() and the like, which GCC may expand in place. */
void refer_in_copy(gimple_stmt_iterator *at, tree target, tree source, tree size)
{
    gimple *statement = gsi_stmt(*at);
    const place here = place_of(statement);
    tree to = word_of(at, unshare_expr(target)), from = word_of(at, unshare_expr(source));
    gimple *call =
        gimple_build_call(hooks[HOOK_COPY], 6, to, from, word_of(at, unshare_expr(size)),
                          number_of(here.sketch), text_of(here.file), number_of(here.line));
    gimple_set_location(call, gimple_location(statement));
    gimple_set_block(call, gimple_block(statement));
    gsi_insert_before(at, call, GSI_SAME_STMT);
}

/* The atomic builtin functions of one size: name_N for all operations. */
#define SIZES(name)                                                                                \
    case BUILT_IN_##name##_1:                                                                      \
    case BUILT_IN_##name##_2:                                                                      \
    case BUILT_IN_##name##_4:                                                                      \
    case BUILT_IN_##name##_8:                                                                      \
    case BUILT_IN_##name##_16

enum atomic { ATOMIC_NONE, ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_BOTH };

enum atomic atomic_of(enum built_in_function function)
{
    switch (function) {
        SIZES(ATOMIC_LOAD) : return ATOMIC_LOAD;
        SIZES(ATOMIC_STORE) : SIZES(SYNC_LOCK_RELEASE) : return ATOMIC_STORE;
        SIZES(ATOMIC_EXCHANGE)
            : SIZES(ATOMIC_COMPARE_EXCHANGE)
            : SIZES(ATOMIC_ADD_FETCH)
            : SIZES(ATOMIC_SUB_FETCH)
            : SIZES(ATOMIC_AND_FETCH)
            : SIZES(ATOMIC_NAND_FETCH)
            : SIZES(ATOMIC_XOR_FETCH)
            : SIZES(ATOMIC_OR_FETCH)
            : SIZES(ATOMIC_FETCH_ADD)
            : SIZES(ATOMIC_FETCH_SUB)
            : SIZES(ATOMIC_FETCH_AND)
            : SIZES(ATOMIC_FETCH_NAND)
            : SIZES(ATOMIC_FETCH_XOR)
            : SIZES(ATOMIC_FETCH_OR)
            : SIZES(SYNC_FETCH_AND_ADD)
            : SIZES(SYNC_FETCH_AND_SUB)
            : SIZES(SYNC_FETCH_AND_OR)
            : SIZES(SYNC_FETCH_AND_AND)
            : SIZES(SYNC_FETCH_AND_XOR)
            : SIZES(SYNC_FETCH_AND_NAND)
            : SIZES(SYNC_ADD_AND_FETCH)
            : SIZES(SYNC_SUB_AND_FETCH)
            : SIZES(SYNC_OR_AND_FETCH)
            : SIZES(SYNC_AND_AND_FETCH)
            : SIZES(SYNC_XOR_AND_FETCH)
            : SIZES(SYNC_NAND_AND_FETCH)
            : SIZES(SYNC_BOOL_COMPARE_AND_SWAP)
            : SIZES(SYNC_VAL_COMPARE_AND_SWAP) : SIZES(SYNC_LOCK_TEST_AND_SET) : return ATOMIC_BOTH;
    default:
        return ATOMIC_NONE;
    }
}

/* The size is the end of the function's name: __atomic_load_8. */
unsigned atomic_size(tree function)
{
    const char *name = strrchr(IDENTIFIER_POINTER(DECL_NAME(function)), '_');
    return name ? (unsigned)atoi(name + 1) : 0;
}

/* true: the call is a builtin function that refers to memory itself. */
bool refer_in_builtin(gimple_stmt_iterator *at, gcall *call)
{
    if (!gimple_call_builtin_p(call, BUILT_IN_NORMAL))
        return false;
    tree function = gimple_call_fndecl(call);
    const enum built_in_function code = DECL_FUNCTION_CODE(function);
    switch (code) {
    case BUILT_IN_MEMCPY:
    case BUILT_IN_MEMMOVE:
    case BUILT_IN_MEMPCPY:
    case BUILT_IN_MEMCPY_CHK:
    case BUILT_IN_MEMMOVE_CHK:
        refer_in_copy(at, gimple_call_arg(call, 0), gimple_call_arg(call, 1),
                      gimple_call_arg(call, 2));
        return true;
    case BUILT_IN_MEMSET:
    case BUILT_IN_MEMSET_CHK:
        refer_to(at, HOOK_WRITE, gimple_call_arg(call, 0), gimple_call_arg(call, 2));
        return true;
    default:
        break;
    }
    const enum atomic atomic = atomic_of(code);
    if (atomic == ATOMIC_NONE || !atomic_size(function))
        return false;
    tree size = build_int_cst(long_unsigned_type_node, atomic_size(function));
    if (atomic != ATOMIC_STORE)
        refer_to(at, HOOK_READ, gimple_call_arg(call, 0), size);
    if (atomic != ATOMIC_LOAD)
        refer_to(at, HOOK_WRITE, gimple_call_arg(call, 0), size);
    return true;
}

/* Arguments and results that are aggregates. Results that need construction are written by the
 * called function. */
void refer_in_call(gimple_stmt_iterator *at, gcall *call)
{
    if (gimple_call_internal_p(call))
        return;
    refer_in_builtin(at, call);
    for (unsigned i = 0; i < gimple_call_num_args(call); i++)
        if (!is_gimple_reg(gimple_call_arg(call, i)))
            refer(at, HOOK_READ, gimple_call_arg(call, i));
    tree result = gimple_call_lhs(call);
    if (result && !is_gimple_reg(result) && !TREE_ADDRESSABLE(TREE_TYPE(result)))
        refer(at, HOOK_WRITE, result, true);
}

void refer_in_asm(gimple_stmt_iterator *at, gasm *statement)
{
    for (unsigned i = 0; i < gimple_asm_ninputs(statement); i++)
        if (!is_gimple_reg(TREE_VALUE(gimple_asm_input_op(statement, i))))
            refer(at, HOOK_READ, TREE_VALUE(gimple_asm_input_op(statement, i)));
    for (unsigned i = 0; i < gimple_asm_noutputs(statement); i++)
        if (!is_gimple_reg(TREE_VALUE(gimple_asm_output_op(statement, i))))
            refer(at, HOOK_WRITE, TREE_VALUE(gimple_asm_output_op(statement, i)));
}

void instrument_statement(gimple_stmt_iterator *at)
{
    gimple *statement = gsi_stmt(*at);
    if (is_gimple_debug(statement) || gimple_clobber_p(statement))
        return;
    place_of(statement);
    if (gimple_assign_single_p(statement)) {
        tree read = gimple_assign_rhs1(statement), written = gimple_assign_lhs(statement);
        if (!is_gimple_reg(read) && TREE_CODE(read) != CONSTRUCTOR)
            refer(at, HOOK_READ, read);
        if (!is_gimple_reg(written))
            refer(at, HOOK_WRITE, written);
    } else if (gcall *call = dyn_cast<gcall *>(statement)) {
        refer_in_call(at, call);
    } else if (gasm *assembly = dyn_cast<gasm *>(statement)) {
        refer_in_asm(at, assembly);
    }
}

void instrument_references()
{
    basic_block block;
    latest_location = DECL_SOURCE_LOCATION(current_function_decl);
    auto_vec<gimple *> statements;
    FOR_EACH_BB_FN(block, cfun)
    for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
        statements.safe_push(gsi_stmt(at));
    for (gimple *statement : statements) {
        gimple_stmt_iterator at = gsi_for_stmt(statement);
        instrument_statement(&at);
    }
}

/* --- loops -------------------------------------------------------------------------------------
 */

/* The line of the condition at the end of a block, if it may leave the loop. */
location_t exit_line(class loop *loop, basic_block block)
{
    edge e;
    edge_iterator i;
    gimple *last = last_stmt(block);
    if (!last || gimple_code(last) != GIMPLE_COND)
        return UNKNOWN_LOCATION;
    FOR_EACH_EDGE(e, i, block->succs)
    if (!flow_bb_inside_loop_p(loop, e->dest))
        return gimple_location(last);
    return UNKNOWN_LOCATION;
}

/* The line of a loop's condition, before or after its body; without one, where the body begins. */
location_t loop_line(class loop *loop)
{
    location_t line = exit_line(loop, loop->header);
    edge e;
    edge_iterator i;
    FOR_EACH_EDGE(e, i, loop->header->preds)
    if (line == UNKNOWN_LOCATION && flow_bb_inside_loop_p(loop, e->src)) {
        line = exit_line(loop, e->src);
        if (line == UNKNOWN_LOCATION && single_pred_p(e->src))
            line = exit_line(loop, single_pred(e->src));
    }
    for (gimple_stmt_iterator at = gsi_start_bb(loop->header);
         line == UNKNOWN_LOCATION && !gsi_end_p(at); gsi_next(&at))
        line = gimple_location(gsi_stmt(at));
    return line == UNKNOWN_LOCATION ? DECL_SOURCE_LOCATION(current_function_decl) : line;
}

gimple *loop_call(enum hook hook, class loop *loop)
{
    tree number = number_of(loop->num), depth = number_of(loop_depth(loop) - 1);
    if (hook != HOOK_LOOP_BEGIN)
        return gimple_build_call(hooks[hook], 2, number, depth);
    const expanded_location at = expand_location(loop_line(loop));
    return gimple_build_call(hooks[hook], 5, text_of(at.file ? at.file : ""), number_of(at.line),
                             text_of(name_of(current_function_decl)), number, depth);
}

/* The outermost loop that an edge leaves; NULL: none. */
class loop *left_by(edge e)
{
    class loop *left = NULL;
    for (class loop *loop = e->src->loop_father; loop && loop_outer(loop); loop = loop_outer(loop))
        if (!flow_bb_inside_loop_p(loop, e->dest))
            left = loop;
    return left;
}

/* Calls on an edge. An abnormal edge cannot be split; the hooks' depth makes up for lost ends. */
void instrument_edge(edge e)
{
    class loop *left = left_by(e), *at = e->dest->loop_father;
    gimple_seq calls = NULL;
    if (left)
        gimple_seq_add_stmt(&calls, loop_call(HOOK_LOOP_END, left));
    if (e->flags & EDGE_EH) {
        gimple_stmt_iterator start = gsi_after_labels(e->dest);
        if (calls)
            gsi_insert_seq_before(&start, calls, GSI_SAME_STMT);
        return;
    }
    if (at && loop_outer(at) && at->header == e->dest)
        gimple_seq_add_stmt(
            &calls,
            loop_call(flow_bb_inside_loop_p(at, e->src) ? HOOK_LOOP_ITERATE : HOOK_LOOP_BEGIN, at));
    if (calls && !(e->flags & EDGE_ABNORMAL))
        gsi_insert_seq_on_edge(e, calls);
}

void instrument_loops()
{
    basic_block block;
    edge e;
    edge_iterator i;
    auto_vec<edge> edges;
    FOR_EACH_BB_FN(block, cfun)
    FOR_EACH_EDGE(e, i, block->succs)
    if (e->dest != EXIT_BLOCK_PTR_FOR_FN(cfun))
        edges.safe_push(e);
    FOR_EACH_EDGE(e, i, ENTRY_BLOCK_PTR_FOR_FN(cfun)->succs)
    edges.safe_push(e);
    for (edge each : edges)
        instrument_edge(each);
}

/* --- frames ------------------------------------------------------------------------------------
 */

void add_frame_call(gimple_seq *calls, enum hook hook)
{
    tree frame = make_ssa_name(ptr_type_node);
    gcall *address =
        gimple_build_call(builtin_decl_implicit(BUILT_IN_FRAME_ADDRESS), 1, integer_zero_node);
    gimple_call_set_lhs(address, frame);
    gimple_seq_add_stmt(calls, address);
    gimple_seq_add_stmt(calls, gimple_build_call(hooks[hook], 1, frame));
}

void instrument_returns()
{
    edge e;
    edge_iterator i;
    FOR_EACH_EDGE(e, i, EXIT_BLOCK_PTR_FOR_FN(cfun)->preds)
    {
        gimple_stmt_iterator at = gsi_last_nondebug_bb(e->src);
        if (gsi_end_p(at) || gimple_code(gsi_stmt(at)) != GIMPLE_RETURN)
            continue;
        gimple_seq calls = NULL;
        add_frame_call(&calls, HOOK_FRAME_EXIT);
        gsi_insert_seq_before(&at, calls, GSI_SAME_STMT);
    }
}

/* The first edge also begins a loop if a function begins with one: its call comes later. */
void instrument_entry()
{
    gimple_seq calls = NULL;
    add_frame_call(&calls, HOOK_FRAME_ENTRY);
    gsi_insert_seq_on_edge(single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(cfun)), calls);
}

unsigned instrument_function()
{
    if (lookup_attribute("naked", DECL_ATTRIBUTES(current_function_decl)) ||
        lookup_attribute("no_instrument_function", DECL_ATTRIBUTES(current_function_decl)))
        return 0;
    make_hooks();
    instrument_entry();
    if (is_detail(current_function_decl)) {
        loop_optimizer_init(AVOID_CFG_MODIFICATIONS);
        instrument_loops();
        loop_optimizer_finalize();
    }
    instrument_references();
    instrument_returns();
    gsi_commit_edge_inserts();
    return 0;
}

/* --- passes ------------------------------------------------------------------------------------
 */

const pass_data functions_data = {
    GIMPLE_PASS, "bustap_depend_functions", OPTGROUP_NONE, TV_NONE, PROP_gimple_any, 0, 0, 0, 0};
const pass_data references_data = {GIMPLE_PASS,
                                   "bustap_depend_references",
                                   OPTGROUP_NONE,
                                   TV_NONE,
                                   PROP_ssa | PROP_cfg,
                                   0,
                                   0,
                                   0,
                                   TODO_update_ssa};

struct functions_pass : gimple_opt_pass {
    functions_pass() : gimple_opt_pass(functions_data, g)
    {
    }
    opt_pass *clone() final override
    {
        return new functions_pass();
    }
    unsigned execute(function *) final override
    {
        return wrap_body();
    }
};

struct references_pass : gimple_opt_pass {
    const bool optimizes; /* runs with optimization; else without */
    explicit references_pass(bool optimizes)
        : gimple_opt_pass(references_data, g), optimizes(optimizes)
    {
    }
    opt_pass *clone() final override
    {
        return new references_pass(optimizes);
    }
    bool gate(function *) final override
    {
        return optimizes == (optimize > 0);
    }
    unsigned execute(function *) final override
    {
        return instrument_function();
    }
};

void add_pass(const char *plugin, opt_pass *pass, const char *reference, pass_positioning_ops where)
{
    register_pass_info info = {pass, reference, 0, where};
    register_callback(plugin, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}

} // namespace

int plugin_init(struct plugin_name_args *plugin, struct plugin_gcc_version *version)
{
    if (strcmp(version->basever, gcc_version.basever)) {
        error("%s is for GCC %s", plugin->base_name, gcc_version.basever);
        return 1;
    }
    const char *list = NULL;
    for (int i = 0; i < plugin->argc; i++)
        if (!strcmp(plugin->argv[i].key, "detail") && plugin->argv[i].value)
            list = plugin->argv[i].value;
        else
            error("%s: unknown argument %qs", plugin->base_name, plugin->argv[i].key);
    if (!read_list(list ? list : "bop.detail") && list)
        error("%qs: cannot be opened: %m", list);
    register_callback(plugin->base_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
                      const_cast<ggc_root_tab *>(roots));
    add_pass(plugin->base_name, new functions_pass(), "lower", PASS_POS_INSERT_BEFORE);
    add_pass(plugin->base_name, new references_pass(true), "tsan", PASS_POS_INSERT_AFTER);
    add_pass(plugin->base_name, new references_pass(false), "tsan0", PASS_POS_INSERT_AFTER);
    return 0;
}
