// Stalls the bus with BNR# while the FIFO to the core is half full or more, until it is nearly empty.
// BNR# is driven for a clock and released the next: the agents sample it in the third clock after
// ADS#, and then in every second one. The translator before the inputs is one of these clocks, so
// ADS# is answered at once. The core gets the clocks of stalls and their number, through a
// word_crossing that takes them several at a time.
module bus_stall (
    input  wire        clock,
    input  wire        enable, // from another clock domain, through a crossing
    input  wire        ads,    // first clock of a request phase
    input  wire        half,
    input  wire        low,
    output wire        drive_next, // BNR#
    input  wire        ready,
    output wire        write,
    output wire [18:0] counts      // stalls begun, 18:16, and clocks since the last write
);
    reg wanted = 1'b0, stalling = 1'b0, odd = 1'b0;
    assign drive_next = (wanted && ads) || (stalling && odd);

    reg [15:0] clocks = 16'd0;
    reg [2:0]  begun = 3'd0;
    reg        some = 1'b0;       // they are not both 0
    reg        clocks_end = 1'b0; // a clock late, so that it is a register
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
