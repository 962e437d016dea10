// What goes into the FIFO between two clocks comes out in order, once, whatever the clocks do. The entries are numbers that
// count up, so the reader knows which must be next.
module fifo_order;
    (* gclk *)   reg  step;
    (* anyseq *) reg  write_clock, read_clock, write_wanted, take_wanted;
    wire         full, half, valid;
    wire [3:0]   out;
    reg  [3:0]   written = 4'd0, taken = 4'd0;
    wire         write = write_wanted && !full;
    wire         take = take_wanted && valid;
    dual_clock_fifo #(.WIDTH(4), .BITS(3)) fifo (
        .write_clock(write_clock), .write(write), .in(written), .full(full), .half(half),
        .read_clock(read_clock), .take(take), .valid(valid), .out(out));

    // Inputs change with their clock.
    reg write_before = 1'b0, read_before = 1'b0, wanted_before = 1'b0, take_before = 1'b0;
    always @(posedge step) begin
        write_before <= write_clock;
        read_before <= read_clock;
        wanted_before <= write_wanted;
        take_before <= take_wanted;
        if (!(write_clock && !write_before))
            assume (write_wanted == wanted_before || !write_clock);
        if (!(read_clock && !read_before))
            assume (take_wanted == take_before || !read_clock);
    end

    always @(posedge write_clock)
        if (write)
            written <= written + 4'd1;
    always @(posedge read_clock)
        if (take)
            taken <= taken + 4'd1;
    always @(posedge step)
        if (valid)
            assert (out == taken);
endmodule
