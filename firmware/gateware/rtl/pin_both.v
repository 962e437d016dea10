// A bidirectional pin with registers for input, output and output enable, on rising edges. In
// simulation it is three ports, since a pin that is driven on both sides would hide contention.
module pin_both (
`ifdef ICE40
    inout  wire pin,
`else
    input  wire pin_in,
    output wire pin_out,
    output wire pin_driven,
`endif
    input  wire clock,
    input  wire next,       // the level to drive after the next edge
    input  wire drive_next, // whether to drive it
    output wire level       // of the pin, at the last edge
);
`ifdef ICE40
    SB_IO #(.PIN_TYPE(6'b110100)) io (
        .PACKAGE_PIN(pin), .INPUT_CLK(clock), .OUTPUT_CLK(clock), .OUTPUT_ENABLE(drive_next),
        .D_OUT_0(next), .D_IN_0(level));
`else
    reg in, out, driven = 1'b0;
    always @(posedge clock) begin
        in <= pin_in;
        out <= next;
        driven <= drive_next;
    end
    assign level = in;
    assign pin_out = out;
    assign pin_driven = driven;
`endif
endmodule
