// A byte at once gives the CRC-32C that its bits give one after the other in a shift register.
module crc_serial (input wire [31:0] before, input wire [7:0] value);
    wire [31:0] after;
    crc32c_byte step (.crc_in(before), .in(value), .crc_out(after));

    // The register as textbooks draw it: the polynomial 0x1edc6f41, the highest power first.
    reg [31:0] shifted, serial;
    integer i;
    always @* begin
        for (i = 0; i < 32; i = i + 1)
            shifted[i] = before[31 - i];
        for (i = 0; i < 8; i = i + 1)
            shifted = {shifted[30:0], 1'b0} ^ (shifted[31] != value[i] ? 32'h1edc6f41 : 32'd0);
        for (i = 0; i < 32; i = i + 1)
            serial[i] = shifted[31 - i];
    end
    always @*
        assert (after == serial);
endmodule
