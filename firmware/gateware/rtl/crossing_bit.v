// A level from another clock domain, through two registers of which the first may become metastable: one to
// two clocks late. The source must be a register; a pulse shorter than two clocks may be lost.
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
