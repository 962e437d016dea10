// The Verilated board behind gateware_pins.h.
#include "firmware/gateware/sim/gateware_pins.h"

#include "Vbustap_hx8k.h"
#include "Vbustap_hx8k___024root.h"
#include "verilated_vcd_c.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <unistd.h>

// Verilator's own ends the process, or never returns, where the disk is full.
struct vcd_file : VerilatedVcdFile {
    int descriptor = 0, failure = 0; // an errno
    ssize_t write(const char *bytes, ssize_t size) override
    {
        ssize_t written = failure ? size : ::write(descriptor, bytes, size);
        failure = written < 0 && errno != EAGAIN ? errno : failure;
        return failure ? size : written;
    }
};

struct gateware {
    VerilatedContext context;
    Vbustap_hx8k board{&context};
    vcd_file file;
    VerilatedVcdC trace{&file};
};

extern "C" struct gateware *gateware_new(int vcd)
{
    struct gateware *gateware = new (std::nothrow) struct gateware;
    if (gateware && (gateware->file.descriptor = vcd) != 0) {
        gateware->context.traceEverOn(true);
        gateware->board.trace(&gateware->trace, 99);
        gateware->trace.open("/dev/null"); // the name is not used
    }
    return gateware;
}

extern "C" int gateware_free(struct gateware *gateware)
{
#if VM_COVERAGE
    gateware->context.coveragep()->write("coverage.dat");
#endif
    gateware->trace.close();
    int failure = gateware->file.failure;
    if (gateware->file.descriptor != 0 && close(gateware->file.descriptor) != 0 && failure == 0)
        failure = errno;
    delete gateware;
    return failure;
}

extern "C" void gateware_dump(struct gateware *gateware, uint64_t picoseconds)
{
    gateware->trace.dump(picoseconds);
}

extern "C" uint64_t gateware_skip(struct gateware *gateware, uint64_t clocks)
{
    Vbustap_hx8k___024root &registers = *gateware->board.rootp;
    QData &tick = registers.bustap_hx8k__DOT__board__DOT__core__DOT__recorder__DOT__tick;
    IData &since = registers.bustap_hx8k__DOT__board__DOT__core__DOT__recorder__DOT__since;
    uint64_t left = (UINT64_C(1) << 32) - static_cast<uint32_t>(tick);
    if (since != UINT32_MAX)
        left = std::min<uint64_t>(left, UINT32_MAX - since);
    if (left <= GATEWARE_SKIP_NEAR)
        return 0;
    uint64_t skipped = std::min(clocks, left - GATEWARE_SKIP_NEAR);
    tick += skipped;
    since += since == UINT32_MAX ? 0 : static_cast<uint32_t>(skipped);
    return skipped;
}

extern "C" void gateware_apply(struct gateware *gateware, struct gateware_pins *pins)
{
    Vbustap_hx8k &board = gateware->board;
    board.bclk = pins->bclk;
    board.reset_n = pins->reset_n;
    board.ads_n = pins->ads_n;
    board.a_n = pins->a_n;
    board.req_n = pins->req_n;
    board.clock_hz = pins->clock_hz;
    board.oscillator = pins->oscillator;
    board.clkout = pins->clkout;
    board.txe_n = pins->txe_n;
    board.rxf_n = pins->rxf_n;
    board.d_in = pins->d_in;
    board.eval();
    pins->bnr_n = board.bnr_n;
    pins->d_out = board.d_out;
    pins->d_driven = board.d_driven;
    pins->wr_n = board.wr_n;
    pins->rd_n = board.rd_n;
    pins->oe_n = board.oe_n;
    pins->siwu_n = board.siwu_n;
    pins->armed_n = board.armed_n;
}
