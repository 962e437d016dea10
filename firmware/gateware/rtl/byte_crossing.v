// Single bytes from the link's clock to the core's, about one in eight clocks: commands are short.
module byte_crossing (
    input  wire       write_clock,
    input  wire       write,       // only while `ready`
    input  wire [7:0] in,
    output wire       ready,
    input  wire       read_clock,
    output reg        valid,
    output reg  [7:0] out,
    input  wire       take         // only while `valid`
);
    reg [7:0] held;
    reg       put = 1'b0, taken = 1'b0; // they differ while a byte is there
    wire      put_seen, taken_seen;
    always @(posedge write_clock)
        if (write) begin
            held <= in;
            put <= !put;
        end
    crossing_bit put_crossing (.clock(read_clock), .source(put), .level(put_seen));
    crossing_bit taken_crossing (.clock(write_clock), .source(taken), .level(taken_seen));
    assign ready = put == taken_seen;
    initial valid = 1'b0;
    always @(posedge read_clock) begin
        valid <= put_seen != taken && !take;
        if (!valid)
            out <= held;
        if (take)
            taken <= !taken;
    end
endmodule
