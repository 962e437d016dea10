// Puts the pins that a simulation has recorded (cosimulate pins=FILE) on a board, and compares what the board drives after
// each change. A pin counts from the second rising edge of its clock on. The board is `placed`, the netlist of a placed and
// routed chip, or with RTL bustap_hx8k.
`timescale 1ns / 1ps

// Without the factor: what is recorded is the core's clock itself.
module SB_PLL40_CORE #(
    parameter FEEDBACK_PATH = "", DELAY_ADJUSTMENT_MODE_FEEDBACK = "", DELAY_ADJUSTMENT_MODE_RELATIVE = "",
    parameter PLLOUT_SELECT = "", SHIFTREG_DIV_MODE = 0, FDA_FEEDBACK = 0, FDA_RELATIVE = 0, DIVR = 0, DIVF = 0, DIVQ = 0,
    parameter FILTER_RANGE = 0, ENABLE_ICEGATE = 0, TEST_MODE = 0
) (
    input  wire       REFERENCECLK,
    output wire       PLLOUTCORE,
    output wire       PLLOUTGLOBAL,
    input  wire       EXTFEEDBACK,
    input  wire [7:0] DYNAMICDELAY,
    output wire       LOCK,
    input  wire       BYPASS,
    input  wire       RESETB,
    input  wire       LATCHINPUTVALUE,
    output wire       SDO,
    input  wire       SDI,
    input  wire       SCLK
);
    assign PLLOUTGLOBAL = REFERENCECLK;
endmodule

module netlist;
    reg  [35:3] a_n;
    reg  [4:0]  req_n;
    reg         reset_n, ads_n;
    reg         txe_n = 0, rxf_n = 0; // as the registers that sample them at falling edges
    reg         bclk = 0, oscillator = 0, clkout = 0;
    reg  [7:0]  d_in, d_out;
    reg         d_driven, wr, rd, oe, siwu, armed, bnr; // as recorded
    wire        wr_n, rd_n, oe_n, siwu_n, armed_n, bnr_n;
    wire [7:0]  d;
    assign d = d_driven ? 8'bz : d_in;

`ifdef RTL
    bustap_hx8k board (
`else
    placed board (
`endif
        .bclk(bclk), .reset_n(reset_n), .ads_n(ads_n), .a_n(a_n), .req_n(req_n), .bnr_n(bnr_n), .oscillator(oscillator),
        .armed_n(armed_n), .clkout(clkout), .txe_n(txe_n), .rxf_n(rxf_n), .wr_n(wr_n), .rd_n(rd_n), .oe_n(oe_n),
        .siwu_n(siwu_n), .d(d));

    integer edges_bus = 0, edges_core = 0, edges_link = 0;
    always @(posedge bclk) edges_bus = edges_bus + 1;
    always @(posedge oscillator) edges_core = edges_core + 1;
    always @(posedge clkout) edges_link = edges_link + 1;

    reg [8*4096-1:0] name;
    reg [52:0]       inputs;
    reg [14:0]       outputs;
    integer          file, lines = 0, bytes = 0, wrong;
    initial begin
        if (!$value$plusargs("pins=%s", name)) $finish;
        file = $fopen(name, "r");
        #1; // constants of the netlist
        while ($fscanf(file, "%h %h\n", inputs, outputs) == 2) begin
            if (inputs[0] && clkout === 0 && edges_link > 1 && !wr_n && !txe_n)
                bytes = bytes + 1;
            {d_driven, d_out, wr, rd, oe, siwu, armed, bnr} = outputs;
            {a_n, req_n, reset_n, ads_n, d_in, txe_n, rxf_n, bclk, oscillator, clkout} = inputs;
            #1 lines = lines + 1;
            wrong = 0;
            if (edges_link > 1)
                wrong = {wr_n, rd_n, oe_n, siwu_n} !== {wr, rd, oe, siwu} || (!wr && d !== d_out);
            if (wrong || (edges_core > 1 && armed_n !== armed) || (edges_bus > 1 && bnr_n !== bnr)) begin
                $display("netlist: line %0d, byte %0d: the pins D WR# RD# OE# SIWU# LED BNR# are %h %b, recorded are %h %b",
                         lines, bytes, d, {wr_n, rd_n, oe_n, siwu_n, armed_n, bnr_n}, d_out, outputs[5:0]);
                $finish;
            end
        end
        $display("netlist: %0d changes, %0d bytes, equal", lines, bytes);
        $finish;
    end
endmodule
