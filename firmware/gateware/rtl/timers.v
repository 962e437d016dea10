// Core domain: the time-outs of flush and heartbeat, in real time: the core's clock is divided down to
// microseconds (CORE_MHZ is a whole number) and milliseconds. `load_` starts a time-out and clears its
// `_due`, which is set when the time has passed.
module timers #(parameter CORE_MHZ = 66) (
    input  wire        clock,
    input  wire        load_flush,     // a frame of records begins
    input  wire        load_heartbeat,
    input  wire [31:0] flush_us,       // 0: never
    input  wire [31:0] heartbeat_ms,
    output reg         flush_due,
    output reg         heartbeat_due
);
    reg [7:0]  divider = 8'd0;
    reg        microsecond = 1'b0;
    reg [9:0]  microseconds = 10'd0; // of the current millisecond, which begins with load_heartbeat
    reg        millisecond = 1'b0;
    reg [31:0] flush_left = 32'd0, heartbeat_left = 32'd0;

    initial {flush_due, heartbeat_due} = 2'b00;
    always @(posedge clock) begin
        microsecond <= divider == CORE_MHZ - 1;
        divider <= divider == CORE_MHZ - 1 ? 8'd0 : divider + 8'd1;

        millisecond <= microsecond && microseconds == 10'd999;
        if (load_heartbeat || (microsecond && microseconds == 10'd999))
            microseconds <= 10'd0;
        else if (microsecond)
            microseconds <= microseconds + 10'd1;

        if (load_flush) begin
            flush_left <= flush_us;
            flush_due <= 1'b0;
        end else if (microsecond && flush_left != 0) begin
            flush_left <= flush_left - 32'd1;
            flush_due <= flush_left == 32'd1;
        end

        if (load_heartbeat) begin
            heartbeat_left <= heartbeat_ms;
            heartbeat_due <= 1'b0;
        end else if (millisecond && heartbeat_left != 0) begin
            heartbeat_left <= heartbeat_left - 32'd1;
            heartbeat_due <= heartbeat_left == 32'd1;
        end
    end
endmodule
