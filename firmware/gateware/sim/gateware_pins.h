/* The Verilated board (rtl/bustap_hx8k.v) for C: its pins. */
#ifndef FIRMWARE_GATEWARE_SIM_GATEWARE_PINS_H
#define FIRMWARE_GATEWARE_SIM_GATEWARE_PINS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Levels: 1 is high. Signals whose names end in _n are active low. */
struct gateware_pins {
    /* in */
    uint64_t a_n; /* A35# at bit 32 to A3# at bit 0 */
    uint32_t clock_hz;
    uint8_t bclk, reset_n, ads_n, req_n;
    uint8_t oscillator; /* the core's clock */
    uint8_t clkout, txe_n, rxf_n, d_in;
    /* out */
    uint8_t bnr_n;
    uint8_t d_out, d_driven, wr_n, rd_n, oe_n, siwu_n, armed_n;
};

struct gateware;

/* A board after power-up, or NULL (no memory). vcd: a descriptor that receives all signals, or
 * 0; gateware_free closes it. */
struct gateware *gateware_new(int vcd);

/* 0, or the errno of the first failure to write or close vcd. */
int gateware_free(struct gateware *gateware);

#define GATEWARE_SKIP_NEAR 10000u /* clocks; the registers are behind by less */

/* Advances the registers of the time as so many clocks of a quiet bus would, but stops
 * GATEWARE_SKIP_NEAR before the low half of the session's tick wraps, or the time since the last
 * record saturates. No request may be on its way. Returns the number of clocks skipped. */
uint64_t gateware_skip(struct gateware *gateware, uint64_t clocks);

/* Applies the levels of the inputs and sets those of the outputs. */
void gateware_apply(struct gateware *gateware, struct gateware_pins *pins);

/* Writes to vcd what has changed; the time is later than that of the last call. */
void gateware_dump(struct gateware *gateware, uint64_t picoseconds);

#ifdef __cplusplus
}
#endif

#endif
