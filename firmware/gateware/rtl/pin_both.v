// A pin that is driven at times: registers for input, output and its enable.
module pin_both (
`ifdef ICE40
    inout  wire pin,
`else
    input  wire pin_in,
    output wire pin_out,
    output wire pin_driven,
`endif
    input  wire clock,
    input  wire next,
    input  wire drive_next,
    output wire level
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
