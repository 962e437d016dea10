// Bus domain: stalls the bus with BNR# (block next request) from when the FIFO to the core is half
// full until it is nearly empty. The agents sample BNR# in the third clock after ADS#, and in every
// second clock while they find it asserted, so it is driven for one clock and released for the next. The
// input translator, the input register and the output register take the three clocks, so BNR# must follow
// `ads` at once (doc/board.md, "Levels"). Stalls and stalled clocks go to the core in sums, by a word_crossing.
module bus_stall (
    input  wire        clock,
    input  wire        enable, // from another clock domain, through a crossing
    input  wire        ads,    // first clock of a request phase
    input  wire        half,
    input  wire        low,
    output wire        drive_next, // BNR# is asserted after the next edge

    // word_crossing
    input  wire        ready,
    output wire        write,
    output wire [18:0] counts      // since the last write: stalls begun, 18:16, and stalled clocks, 15:0
);
    reg wanted = 1'b0, stalling = 1'b0, odd = 1'b0; // odd: alternates, 0 in the clock after `ads`
    assign drive_next = (wanted && ads) || (stalling && odd);

    reg [15:0] clocks = 16'd0;
    reg [2:0]  begun = 3'd0;
    reg        some = 1'b0;       // they are not both 0
    reg        clocks_end = 1'b0; // about to saturate: registered, so it comes a clock late
    wire       begins = wanted && ads && !stalling;
    assign write = ready && some;
    assign counts = {begun, clocks};
    always @(posedge clock) begin
        wanted <= enable && (half || (wanted && !low));
        odd <= !ads && !odd;
        stalling <= wanted && (ads || stalling);
        some <= stalling || begins || (some && !write);
        clocks_end <= !write && &clocks[15:4];
        if (write)
            clocks <= {15'd0, stalling};
        else if (stalling && !clocks_end)
            clocks <= clocks + 16'd1;
        if (write)
            begun <= {2'd0, begins};
        else if (begins && begun != 3'd7)
            begun <= begun + 3'd1;
    end
endmodule
