// The queue's eight slots of 1 KiB: 1024 words of 64 bits (16 RAM blocks), written in the core's domain and
// read in the link's. One to eight bytes are written at any byte address in each clock, since each byte of a
// word has its own memory; they are stored three clocks after `write`. `out` is valid a clock after `read`.
module slot_memory (
    input  wire        write_clock,
    input  wire        write,
    input  wire [12:0] write_at,    // in bytes
    input  wire [3:0]  write_bytes, // 1 to 8
    input  wire [63:0] in,

    input  wire        read_clock,
    input  wire        read,
    input  wire [9:0]  read_word,
    output wire [63:0] out
);
    // The bytes are rotated to their lanes between two registers: the memories are far apart.
    reg  [63:0] in_1;
    reg  [12:0] at_1;
    reg  [3:0]  bytes_1;
    reg         write_1 = 1'b0;
    wire [2:0]  shift = at_1[2:0];
    wire [63:0] by_four = shift[2] ? {in_1[31:0], in_1[63:32]} : in_1;
    wire [63:0] by_two = shift[1] ? {by_four[47:0], by_four[63:48]} : by_four;
    wire [63:0] by_one = shift[0] ? {by_two[55:0], by_two[63:56]} : by_two;
    wire [7:0]  mask = bytes_1[3] ? 8'hff : (8'd1 << bytes_1[2:0]) - 8'd1;
    wire [15:0] lanes = {8'd0, mask} << shift;
    reg  [63:0] data;
    reg  [7:0]  enable = 8'd0, carry;
    reg  [9:0]  word, word_after;
    always @(posedge write_clock) begin
        in_1 <= in;
        at_1 <= write_at;
        bytes_1 <= write_bytes;
        write_1 <= write;
        data <= by_one;
        enable <= write_1 ? lanes[7:0] | lanes[15:8] : 8'd0;
        carry <= lanes[15:8];
        word <= at_1[12:3];
        word_after <= at_1[12:3] + 10'd1;
    end

    genvar i;
    generate
        for (i = 0; i < 8; i = i + 1) begin : byte_lanes
            reg [7:0] memory [0:1023];
            reg [7:0] byte_out;
            always @(posedge write_clock)
                if (enable[i])
                    memory[carry[i] ? word_after : word] <= data[8*i +: 8];
            always @(posedge read_clock)
                if (read)
                    byte_out <= memory[read_word];
            assign out[8*i +: 8] = byte_out;
        end
    endgenerate
endmodule
