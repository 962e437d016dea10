// The Verilated board behind gateware_pins.h.
#include "firmware/gateware/sim/gateware_pins.h"

#include "Vbustap_hx8k.h"
#include "verilated_vcd_c.h"

#include <new>

struct gateware {
    VerilatedContext context;
    Vbustap_hx8k board{&context};
    VerilatedVcdC *trace = nullptr;
};

extern "C" struct gateware *gateware_new(const char *vcd)
{
    struct gateware *gateware = new (std::nothrow) struct gateware;
    if (gateware && vcd) {
        gateware->context.traceEverOn(true);
        gateware->trace = new (std::nothrow) VerilatedVcdC;
        if (!gateware->trace) {
            delete gateware;
            return nullptr;
        }
        gateware->board.trace(gateware->trace, 99);
        gateware->trace->open(vcd);
    }
    return gateware;
}

extern "C" void gateware_free(struct gateware *gateware)
{
#if VM_COVERAGE
    if (gateware)
        gateware->context.coveragep()->write("coverage.dat");
#endif
    if (gateware && gateware->trace)
        gateware->trace->close();
    if (gateware)
        delete gateware->trace;
    delete gateware;
}

extern "C" void gateware_apply(struct gateware *gateware, struct gateware_pins *pins,
                               uint64_t picoseconds)
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
    if (gateware->trace)
        gateware->trace->dump(picoseconds);
}
