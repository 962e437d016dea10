// A counter for another clock domain: only one bit of `gray` changes in each step, so that a gray_reader
// gets the old or the new number.
module gray_counter #(parameter BITS = 4) (
    input  wire            clock,
    input  wire            step,
    output reg  [BITS-1:0] binary,
    output reg  [BITS-1:0] gray
);
    wire [BITS-1:0] next = binary + 1'b1;
    initial begin
        binary = 0;
        gray = 0;
    end
    always @(posedge clock)
        if (step) begin
            binary <= next;
            gray <= next ^ (next >> 1);
        end
endmodule
