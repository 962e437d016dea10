// Core domain: the state that needs no registers, in 256 words of 64 bits (four RAM blocks): counters,
// pending losses, the identity, the bounds of ranges, the packer's slots and received bytes.
// state_words.vh has the numbers of the words. One word may be read and one written in each clock. `out` is
// valid a clock after `read`; a read of the word that is being written returns its old value.
module state_memory #(parameter [127:0] SERIAL = "0000000000000000") (
    input  wire        clock,
    input  wire        read,
    input  wire [7:0]  read_word,
    output reg  [63:0] out,
    input  wire [7:0]  write, // a bit for each byte
    input  wire [7:0]  write_word,
    input  wire [63:0] in
);
`include "state_words.vh"

    reg [63:0] memory [0:255];

    // Text is stored with its first character in the lowest byte.
    function [63:0] text(input [63:0] characters);
        integer k;
        for (k = 0; k < 8; k = k + 1)
            text[8*k +: 8] = characters[8*(7 - k) +: 8];
    endfunction

    integer i;
    initial begin
        for (i = 0; i < 256; i = i + 1)
            memory[i] = 64'd0;
        memory[WORD_TIMES] = {32'd250, 32'd20000}; // the defaults of CONFIGURE
        // doc/wire-protocol.md, "Identity"; word 2, the bus's frequency, is stored by frame_maker
        memory[WORD_IDENTITY + 0] = {16'd1, 16'd960, 16'd8, 8'd1, 8'd1};
        memory[WORD_IDENTITY + 1] = {32'd0, 32'h00010000};
        memory[WORD_IDENTITY + 3] = text("bustap-p");
        memory[WORD_IDENTITY + 4] = text({"6", 56'd0});
        memory[WORD_IDENTITY + 7] = text(SERIAL[127:64]);
        memory[WORD_IDENTITY + 8] = text(SERIAL[63:0]);
    end

    always @(posedge clock) begin
        if (read)
            out <= memory[read_word];
        for (i = 0; i < 8; i = i + 1)
            if (write[i])
                memory[write_word][8*i +: 8] <= in[8*i +: 8];
    end
endmodule
