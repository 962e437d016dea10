// Carries words from one clock domain to another by a handshake, about one word in eight clocks. A word stays
// in `held` until the reader has taken it. Either clock may stop.
module word_crossing #(parameter WIDTH = 8) (
    input  wire       write_clock,
    input  wire       write,       // takes `in`; only while `ready`
    input  wire [WIDTH-1:0] in,
    output wire       ready,
    input  wire       read_clock,
    output reg        valid,
    output reg  [WIDTH-1:0] out,
    input  wire       take         // removes `out`; only while `valid`
);
    reg [WIDTH-1:0] held;
    reg       put = 1'b0, taken = 1'b0; // they differ while a word is there
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
