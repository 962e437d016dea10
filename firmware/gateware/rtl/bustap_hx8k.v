// The top module for an iCE40-HX8K: a register at each pin, the PLL of the core's clock, and
// bustap_board. Names that end in _n are active low, as their pins are (doc/board.md). Without ICE40
// (simulation) `oscillator` is the core's clock itself, and each data pin is split into three ports.
module bustap_hx8k #(
    parameter CORE_MHZ = 66,                         // the core's clock
    parameter [31:0] BUS_HZ = 32'd0,                 // the bus's clock, sent to the host; 0: unknown
    parameter [127:0] SERIAL = "0000000000000000"    // serial number, sent to the host
) (
    // the P6 bus, sampled at rising edges of its clock
    input  wire        bclk,
    input  wire        reset_n,
    input  wire        ads_n,
    input  wire [35:3] a_n,
    input  wire [4:0]  req_n,
    output wire        bnr_n,      // through an open-drain translator

    input  wire        oscillator, // 12 MHz
    output wire        armed_n,    // an LED: low while the board is armed

    // the FT232H; its clock is 60 MHz
    input  wire        clkout,
    input  wire        txe_n,
    input  wire        rxf_n,
    output wire        wr_n,
    output wire        rd_n,
    output wire        oe_n,
    output wire        siwu_n,
`ifdef ICE40
    inout  wire [7:0]  d
`else
    input  wire [31:0] clock_hz,   // in place of BUS_HZ
    input  wire [7:0]  d_in,
    output wire [7:0]  d_out,
    output wire        d_driven    // the board drives d_out
`endif
);
    wire core_clock;
`ifdef ICE40
    wire [31:0] clock_hz = BUS_HZ;
    // 12 MHz * 88 / 16 = 66 MHz
    SB_PLL40_CORE #(
        .FEEDBACK_PATH("SIMPLE"), .DIVR(4'd0), .DIVF(7'd87), .DIVQ(3'd4), .FILTER_RANGE(3'd1)
    ) pll (.REFERENCECLK(oscillator), .PLLOUTGLOBAL(core_clock), .RESETB(1'b1), .BYPASS(1'b0));
`else
    assign core_clock = oscillator;
`endif

    // --- the bus ---
    wire        reset_level, ads_level, stall_next;
    wire [35:3] a_level;
    wire [4:0]  req_level;
    pin_input reset_pin (.pin(reset_n), .clock(bclk), .level(reset_level));
    pin_input ads_pin (.pin(ads_n), .clock(bclk), .level(ads_level));
    pin_input a_pins [35:3] (.pin(a_n), .clock(bclk), .level(a_level));
    pin_input req_pins [4:0] (.pin(req_n), .clock(bclk), .level(req_level));

    pin_output bnr_pin (.pin(bnr_n), .clock(bclk), .next(!stall_next));

    // --- the link ---
    wire       txe_level, rxf_level, drive_next, write_next, read_next, output_next, flush_next;
    wire [7:0] data_in, data_next;
    pin_input #(.FALLING(1)) txe_pin (.pin(txe_n), .clock(clkout), .level(txe_level));
    pin_input #(.FALLING(1)) rxf_pin (.pin(rxf_n), .clock(clkout), .level(rxf_level));
    pin_output wr_pin (.pin(wr_n), .clock(clkout), .next(!write_next));
    pin_output rd_pin (.pin(rd_n), .clock(clkout), .next(!read_next));
    pin_output oe_pin (.pin(oe_n), .clock(clkout), .next(!output_next));
    pin_output siwu_pin (.pin(siwu_n), .clock(clkout), .next(!flush_next));
`ifdef ICE40
    pin_both d_pins [7:0] (.pin(d), .clock(clkout), .next(data_next), .drive_next(drive_next),
                           .level(data_in));
`else
    wire [7:0] driven;
    pin_both d_pins [7:0] (.pin_in(d_in), .pin_out(d_out), .pin_driven(driven), .clock(clkout),
                           .next(data_next), .drive_next(drive_next), .level(data_in));
    assign d_driven = &driven;
`endif

    wire armed;
    pin_output armed_pin (.pin(armed_n), .clock(core_clock), .next(!armed));
    bustap_board #(.CORE_MHZ(CORE_MHZ), .SERIAL(SERIAL)) board (
        .bus_clock(bclk), .bus_reset(!reset_level), .bus_ads(!ads_level), .bus_address(~a_level),
        .bus_request(~req_level), .stall_next(stall_next),
        .core_clock(core_clock), .clock_hz(clock_hz), .armed(armed),
        .link_clock(clkout), .can_write(!txe_level), .can_read(!rxf_level), .data_in(data_in),
        .data_next(data_next), .drive_next(drive_next), .write_next(write_next),
        .read_next(read_next), .output_next(output_next), .flush_next(flush_next));
endmodule
