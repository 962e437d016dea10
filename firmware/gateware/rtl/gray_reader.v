// The number of a gray_counter in another clock domain, as it was one to two clocks ago.
module gray_reader #(parameter BITS = 4) (
    input  wire            clock,
    input  wire [BITS-1:0] gray,
    output wire [BITS-1:0] binary
);
    genvar i;
    wire [BITS-1:0] level;
    generate
        for (i = 0; i < BITS; i = i + 1) begin : bits
            crossing_bit crossing (.clock(clock), .source(gray[i]), .level(level[i]));
            assign binary[i] = ^(level >> i);
        end
    endgenerate
endmodule
