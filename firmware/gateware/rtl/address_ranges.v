// Core domain: the filter's address ranges, up to eight, at one request a clock without 512 registers and
// as many comparators. Each byte of the address selects a row of two tables (eight RAM blocks in all), which
// hold for each range how that byte compares with the bytes of the range's lowest and highest address.
// After a change of the bounds `start` fills the tables, which takes 8200 clocks.
module address_ranges (
    input  wire        clock,

    input  wire        start,
    output reg         busy,
    output wire [2:0]  index,   // of the range that is read from state_memory
    input  wire [63:0] bounds,  // of that range, a clock later: highest address 63:32, lowest 31:0

    input  wire        look,    // looks `address` up
    input  wire [31:0] address,
    input  wire [3:0]  count,   // ranges in use
    input  wire        combine, // combines what the last `look` found, a clock after it or later
    output wire        in_range // a range contains the address; valid from the clock after `combine`
);
    // --- filling: `step` counts bytes of an address 12:11, values of that byte 10:3, and ranges 2:0 ---
    reg  [12:0] step = 13'd0;
    reg  [12:0] row = 13'd0; // the step whose bounds arrive now
    reg         compare = 1'b0;
    assign index = step[2:0];

    wire [1:0] position = row[12:11];
    wire [7:0] value = row[10:3];
    wire [7:0] low_byte = position == 0 ? bounds[7:0] : position == 1 ? bounds[15:8]
                        : position == 2 ? bounds[23:16] : bounds[31:24];
    wire [7:0] high_byte = position == 0 ? bounds[39:32] : position == 1 ? bounds[47:40]
                         : position == 2 ? bounds[55:48] : bounds[63:56];
    reg [7:0] above_low, same_low, below_high, same_high;
    reg       store = 1'b0;
    reg [9:0] store_at;

    initial busy = 1'b0;
    always @(posedge clock) begin
        if (start)
            busy <= 1'b1;
        else if (busy && &step)
            busy <= 1'b0;
        step <= busy ? step + 13'd1 : 13'd0;
        row <= step;
        compare <= busy;
        if (compare) begin
            above_low <= {value > low_byte, above_low[7:1]};
            same_low <= {value == low_byte, same_low[7:1]};
            below_high <= {value < high_byte, below_high[7:1]};
            same_high <= {value == high_byte, same_high[7:1]};
        end
        store <= compare && &row[2:0];
        store_at <= row[12:3];
    end

    // --- looking up ---
    wire [31:0] low_above, low_same, high_below, high_same; // eight ranges for each byte
    genvar i;
    generate
        for (i = 0; i < 4; i = i + 1) begin : bytes
            reg [15:0] low_table [0:255];
            reg [15:0] high_table [0:255];
            reg [15:0] low, high;
            always @(posedge clock) begin
                if (store && store_at[9:8] == i) begin
                    low_table[store_at[7:0]] <= {above_low, same_low};
                    high_table[store_at[7:0]] <= {below_high, same_high};
                end
                if (look) begin
                    low <= low_table[address[8*i +: 8]];
                    high <= high_table[address[8*i +: 8]];
                end
            end
            assign {low_above[8*i +: 8], low_same[8*i +: 8]} = low;
            assign {high_below[8*i +: 8], high_same[8*i +: 8]} = high;
        end
    endgenerate

    // _passed and _equal are decided by the address's upper two bytes, _rest by its lower two.
    reg [7:0] low_passed, low_equal, low_rest, high_passed, high_equal, high_rest;
    always @(posedge clock)
        if (combine) begin
            low_passed <= low_above[31:24] | (low_same[31:24] & low_above[23:16]);
            low_equal <= low_same[31:24] & low_same[23:16];
            low_rest <= low_above[15:8] | (low_same[15:8] & (low_above[7:0] | low_same[7:0]));
            high_passed <= high_below[31:24] | (high_same[31:24] & high_below[23:16]);
            high_equal <= high_same[31:24] & high_same[23:16];
            high_rest <= high_below[15:8] | (high_same[15:8] & (high_below[7:0] | high_same[7:0]));
        end

    reg [7:0] used = 8'd0;
    always @(posedge clock)
        used <= count[3] ? 8'hff : (8'd1 << count[2:0]) - 8'd1;
    assign in_range = |(used & (low_passed | (low_equal & low_rest)) & (high_passed | (high_equal & high_rest)));
endmodule
