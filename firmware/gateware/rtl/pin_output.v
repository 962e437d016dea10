// An output pin with a register: `next` is its level after the next rising edge. High at power-up.
module pin_output (
    output wire pin,
    input  wire clock,
    input  wire next
);
`ifdef ICE40
    SB_IO #(.PIN_TYPE(6'b010101)) io (
        .PACKAGE_PIN(pin), .OUTPUT_CLK(clock), .D_OUT_0(next));
`else
    reg level = 1'b1;
    always @(posedge clock)
        level <= next;
    assign pin = level;
`endif
endmodule
