// CRC-32C (reflected polynomial 0x82f63b78) with one more byte: combinational. The first crc_in is all ones;
// the checksum is the inverse of the last crc_out.
module crc32c_byte (
    input  wire [31:0] crc_in,
    input  wire [7:0]  in,
    output reg  [31:0] crc_out
);
    integer i;
    always @* begin
        crc_out = crc_in ^ {24'd0, in};
        for (i = 0; i < 8; i = i + 1)
            crc_out = crc_out[0] ? (crc_out >> 1) ^ 32'h82f63b78 : crc_out >> 1;
    end
endmodule
