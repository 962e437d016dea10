// A level from another clock domain: two registers, of which the first may become metastable.
// The source must be a register; pulses shorter than two destination clocks may be lost.
module crossing_bit #(parameter INITIAL = 1'b0) (
    input  wire clock,
    input  wire source,
    output wire level
);
    reg first = INITIAL, second = INITIAL;
    always @(posedge clock) begin
        first <= source;
        second <= first;
    end
    assign level = second;
endmodule
