// Bus domain: finds request phases on the pins, decodes them and writes each to the FIFO to the core,
// with the clocks since the previous entry. It writes an entry without a request (a time entry) after
// 2^TIME_BITS clocks without one, so that the core's time advances, and after phases that it dropped
// because the FIFO was full. An entry is written four clocks after `begins`.
module bus_front #(parameter TIME_BITS = 12) (
    input  wire        clock,

    // from the pins' registers, 1 = asserted
    input  wire        reset,
    input  wire        ads,
    input  wire [35:3] address,
    input  wire [4:0]  request,
    output wire        begins,  // the first clock of a phase

    // dual_clock_fifo
    input  wire        full,
    input  wire        half,    // half full or more
    output reg         write,
    output reg  [63:0] entry    // entry_codes.vh
);
`include "entry_codes.vh"

    // --- the two clocks of a phase: _a is the first one, the inputs are the second ---
    reg        ads_a = 1'b0;
    reg [35:3] address_a;
    reg [4:0]  request_a;
    assign begins = ads && !ads_a && !reset;
    always @(posedge clock) begin
        ads_a <= begins;
        address_a <= address;
        request_a <= request;
    end

    wire        done;
    wire [31:0] record_address;
    wire [4:0]  code;
    wire [3:0]  size;
    wire [2:0]  attribute, processor;
    p6_decoder decoder (
        .clock(clock), .phase(ads_a), .address_a(address_a), .request_a(request_a),
        .address_b(address[31:3]), .request_b(request), .done(done), .address(record_address),
        .code(code), .size(size), .attribute(attribute), .processor(processor));

    // --- time, loss, and the entry ---
    reg [30:0] clocks = 31'd0; // since the last entry
    reg [27:0] missed = 28'd0; // phases dropped since then
    reg        lossy = 1'b0;   // missed is not 0
    // Conditions on the counters, registered and so a clock late: `clocks` fits into a request's entry;
    // a time entry is due; the counters are about to saturate, and stop.
    reg        short = 1'b1, due = 1'b0, clocks_end = 1'b0, missed_end = 1'b0;
    wire       fits = !full && !lossy && short;
    // A time entry. After a loss it waits until the FIFO is less than half full, since each loss costs
    // the core many clocks.
    wire       alone = !done && !full && (lossy ? !half : due);
    wire       put = (done && fits) || alone;

    initial write = 1'b0;
    always @(posedge clock) begin
        write <= put;
        short <= put || clocks[30:16] == 0;
        due <= !put && clocks[30:TIME_BITS] != 0;
        clocks_end <= !put && &clocks[30:4];
        missed_end <= !alone && &missed[27:4];
        entry <= done ? {clocks[16:0], processor, attribute, size, code, record_address}
                      : {clocks[16:0], clocks[26:17], CODE_TIME, clocks[30:27], missed};
        if (put)
            clocks <= 31'd1;
        else if (!clocks_end)
            clocks <= clocks + 31'd1;
        if (alone) begin
            missed <= 28'd0;
            lossy <= 1'b0;
        end else if (done && !fits) begin
            lossy <= 1'b1;
            if (!missed_end)
                missed <= missed + 28'd1;
        end
    end
endmodule
