// A FIFO of 2^BITS entries between two clock domains (256 of 64 bits: four RAM blocks). Either clock may
// stop. An entry is in `out` two to three read clocks after it was written.
module dual_clock_fifo #(parameter WIDTH = 64, parameter BITS = 8) (
    input  wire             write_clock,
    input  wire             write,      // stores `in`; only while `full` is 0
    input  wire [WIDTH-1:0] in,
    output reg              full,       // full, half, low: two clocks after the writes that they count
    output reg              half,       // half full or more
    output reg              low,        // at most an eighth full

    input  wire             read_clock,
    input  wire             take,       // removes `out`; only while `valid`
    output reg              valid,      // `out` is the oldest entry
    output reg  [WIDTH-1:0] out
);
    reg [WIDTH-1:0] memory [0:(1 << BITS) - 1];
    wire [BITS:0] written, written_gray, read, read_gray, read_seen, written_seen;

    gray_counter #(.BITS(BITS + 1)) write_counter (
        .clock(write_clock), .step(write), .binary(written), .gray(written_gray));
    gray_reader #(.BITS(BITS + 1)) read_crossing (
        .clock(write_clock), .gray(read_gray), .binary(read_seen));
    // `full` comes some clocks after the writes that it counts: a few places stay empty.
    reg [BITS:0] fill = 0;
    initial {full, half, low} = 3'b001;
    always @(posedge write_clock) begin
        fill <= written - read_seen;
        full <= fill >= (1 << BITS) - 5;
        half <= fill >= (1 << (BITS - 1));
        low <= fill < (1 << (BITS - 3));
    end
    always @(posedge write_clock)
        if (write)
            memory[written[BITS-1:0]] <= in;

    wire fetch = (written_seen != read) && (!valid || take);
    gray_counter #(.BITS(BITS + 1)) read_counter (
        .clock(read_clock), .step(fetch), .binary(read), .gray(read_gray));
    gray_reader #(.BITS(BITS + 1)) write_crossing (
        .clock(read_clock), .gray(written_gray), .binary(written_seen));
    initial valid = 1'b0;
    always @(posedge read_clock) begin
        if (fetch)
            out <= memory[read[BITS-1:0]];
        valid <= fetch || (valid && !take);
    end
endmodule
