// An input pin with a register: `level` is the pin's at the last rising edge or, with FALLING, falling edge.
module pin_input #(parameter FALLING = 0) (
    input  wire pin,
    input  wire clock,
    output wire level
);
`ifdef ICE40
    wire rising, falling;
    SB_IO #(.PIN_TYPE(6'b000000)) io (
        .PACKAGE_PIN(pin), .INPUT_CLK(clock), .D_IN_0(rising), .D_IN_1(falling));
    assign level = FALLING ? falling : rising;
`else
    reg rising, falling;
    always @(posedge clock)
        rising <= pin;
    always @(negedge clock)
        falling <= pin;
    assign level = FALLING ? falling : rising;
`endif
endmodule
