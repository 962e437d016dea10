// Core domain: takes the entries of the FIFO from the bus, filters and counts requests, and gives those
// that it keeps to record_packer with the time since the last one kept (the rules are those of
// firmware/board_records.c). An entry passes stages A, B and C, one entry a clock. While frame_maker opens or
// closes a frame or adds up counters, `hold` stops stage C. Times are in ticks, clocks of the bus.
module recorder (
    input  wire        clock,

    // the FIFO from the bus
    input  wire        entry_valid,
    input  wire [63:0] entry,
    output wire        entry_take,

    // the filter
    input  wire [16:0] types,      // a bit for each type and each processor that passes
    input  wire [7:0]  processors,
    input  wire        ranges_used,
    input  wire        outside,    // requests outside all ranges pass, rather than those in one
    output wire        look,       // to address_ranges
    output wire        combine,
    input  wire        in_range,

    // frame_maker
    input  wire        armed,      // if not, entries only advance the time
    input  wire        hold,
    input  wire        open,       // a frame of records is open
    input  wire        can_open,   // the queue has a slot for one
    input  wire        stall,      // a request that has no slot waits, and is not lost
    input  wire        loss_pending, // the tick of the first loss is stored
    output wire        wants_open, // the next record needs a frame
    output wire        wants_close, // the open frame must end before the entry
    output wire        wants_loss, // `missed` phases were dropped before the entry
    output wire [27:0] missed,
    input  wire        absorb,     // adds the entry's clocks to `tick` before frame_maker reads it
    input  wire        loss_done,  // frame_maker has counted `missed`
    input  wire        restart,    // ARM: sets time and events to 0
    output wire        quiet,      // `events` is complete, and record_packer is empty

    output reg  [63:0] tick,       // of the last entry taken or absorbed
    output reg         lost_now,   // a request was dropped, at `tick`

    // record_packer
    output wire        append,     // with the next three
    output wire [31:0] address,
    output wire [14:0] kind,
    output wire [31:0] record_time,
    input  wire        packer_ready,
    input  wire        packer_busy,
    input  wire        packer_full,
    input  wire        packer_near_full,
    input  wire        frame_empty, // no record in the open frame yet

    // numbers of events since frame_maker last added them to the counters in state_memory
    input  wire [6:0]  clear,
    output wire [69:0] events,     // ten bits each: kept, lost, undecoded, above, filtered, accepted, seen
    output reg         crowded,    // one has reached half of its range
    output wire        saw_above,
    output wire        saw_undecoded
);
`include "entry_codes.vh"

    // --- stages A and B: the tables of ranges are looked up and combined ---
    reg         a_valid = 1'b0, b_valid = 1'b0, b_pass;
    reg  [63:0] a, b;
    reg         spare_valid = 1'b0;
    wire        b_advance = b_valid && !spare_valid;
    wire        a_advance = a_valid && (!b_valid || b_advance);
    assign entry_take = entry_valid && (!a_valid || a_advance);
    assign look = entry_take;
    assign combine = a_advance;
    wire [31:0] wanted_types = {15'd0, types};
    always @(posedge clock) begin
        if (entry_take)
            a <= entry;
        a_valid <= entry_take || (a_valid && !a_advance);
        if (a_advance) begin
            b <= a;
            b_pass <= wanted_types[a[36:32]] && processors[a[46:44]];
        end
        b_valid <= a_advance || (b_valid && !b_advance);
    end
    wire        pass = b_pass && (!ranges_used || (in_range ^ outside));
    // {lossy, time, undecoded, above, filtered, wanted, clocks, kind, address}
    wire        is_time = b[36:32] == CODE_TIME;
    wire [83:0] decided = {is_time && b[27:0] != 0, is_time, b[36:32] == CODE_UNDECODED,
                           b[36:32] == CODE_ABOVE, b[36:32] < CODE_ABOVE && !pass,
                           b[36:32] < CODE_ABOVE && pass,
                           is_time ? {b[31:28], b[46:37]} : 14'd0, b[63:47],
                           b[46:44], b[43:41], b[40:37], b[36:32], b[31:0]};

    // --- stage C: the decision. `c_take` comes too late in a clock to stop stage B, so that an entry that
    // finds C occupied waits in `spare` ---
    reg  [83:0] spare, c;
    reg         c_valid = 1'b0;
    wire        c_take;
    wire        c_free = !c_valid || c_take;
    wire        c_loads = c_free && (spare_valid || b_valid);
    reg         c_fresh;   // the clocks have not been added to the time
    reg         c_settled; // `since_full` includes the clocks
    wire [30:0] c_clocks = c[77:47];
    wire        c_wanted = c[78], c_filtered = c[79], c_above = c[80], c_undecoded = c[81];
    wire        c_is_time = c[82], c_lossy = c[83];
    wire [31:0] c_address = c[31:0];
    wire [14:0] c_kind = c[46:32];
    always @(posedge clock) begin
        if (c_free)
            c <= spare_valid ? spare : decided;
        else if (absorb || absorb_self)
            c[77:47] <= 31'd0;
        if (b_advance)
            spare <= decided;
        spare_valid <= !c_free && (spare_valid || b_valid);
        c_fresh <= c_loads || (c_fresh && !(absorb || absorb_self));
        c_settled <= !c_loads && !c_fresh;
        c_valid <= c_loads || (c_valid && !c_take);
    end
    assign missed = c_address[27:0];
    assign address = c_address;
    assign kind = c_kind;

    reg  [31:0] since = 32'd0;     // ticks since the last record kept, saturated
    reg         since_high = 1'b0; // it may saturate
    reg         since_full = 1'b0; // it has
    wire [32:0] since_sum = {1'b0, since} + {2'b0, c_clocks};
    assign record_time = since_sum[32] ? 32'hffffffff : since_sum[31:0];

    // After the first loss, `tick` must not change until frame_maker has stored it twice.
    wire live = c_valid && !hold && !(lost_now && !loss_pending);
    // If the time may saturate or the frame is nearly full, the decision takes another clock.
    reg  after_time = 1'b0; // after a time entry, whose clocks are not in `since_high` yet
    reg  accepted = 1'b0;   // the decision of that other clock: the record fits
    // A request that sets a flag of the next frame waits until a full frame is closed.
    reg  near_open = 1'b0, roomy = 1'b0;
    wire flag_waits = near_open && (c_above || c_undecoded) && !roomy;
    wire active = live && armed && !flag_waits;
    wire careful = since_high || packer_near_full || after_time;
    // A record whose time saturates begins a frame; whether it does is known when its clocks have been added.
    wire slow = since_high && !c_settled;
    wire saturated = since_high && since_full;
    reg  absorb_self = 1'b0;
    wire place = open ? accepted || (packer_ready && !careful) : !can_open && !stall;
    assign append = active && c_wanted && open && place;
    wire lose = active && c_wanted && !open && place;
    assign c_take = (live && (!armed || !(c_wanted || c_lossy || flag_waits) || (c_wanted && place)))
                 || loss_done;
    always @(posedge clock) begin
        near_open <= open && packer_near_full;
        roomy <= c_valid && !c_take && !packer_busy && !packer_full;
        accepted <= c_valid && !c_take && open && !slow && !after_time && !packer_busy && !packer_full
                 && !(saturated && !frame_empty);
        absorb_self <= active && c_wanted && open && since_high && c_fresh && !c_take && !absorb_self;
    end

    // Without `live`, which contains `hold`: that depends on these.
    assign wants_open = c_valid && armed && c_wanted && !open && can_open;
    assign wants_close = c_valid && armed && open
                      && (c_lossy || (c_wanted && !slow && saturated && !frame_empty));
    assign wants_loss = c_valid && armed && c_lossy;

    wire adds = c_take || absorb || absorb_self;
    initial tick = 64'd0;
    initial lost_now = 1'b0;
    always @(posedge clock) begin
        if (restart)
            tick <= 64'd0;
        else if (adds)
            tick <= tick + {33'd0, c_clocks};
        if (restart || append)
            since <= 32'd0;
        else if (adds)
            since <= record_time;
        since_high <= &since[31:19] && !restart;
        after_time <= c_take && c_is_time;
        since_full <= &since;
        lost_now <= lose;
    end

    // --- events ---
    reg [6:0] happened = 7'd0;
    always @(posedge clock)
        happened <= {append, lose, active && c_undecoded, active && c_above, active && c_filtered,
                     append || lose, c_take && active && !c_is_time};
    assign saw_above = happened[3];
    assign saw_undecoded = happened[4];
    reg  [1:0] active_recently = 2'd0;
    always @(posedge clock)
        active_recently <= {active_recently[0], c_take && armed};
    assign quiet = active_recently == 0 && !packer_busy;

    genvar i;
    wire [6:0] high;
    generate
        for (i = 0; i < 7; i = i + 1) begin : accumulators
            reg [9:0] number = 10'd0;
            always @(posedge clock)
                if (clear[i] || restart)
                    number <= 10'd0;
                else if (happened[i])
                    number <= number + 10'd1;
            assign events[10*i +: 10] = number;
            assign high[i] = number[9];
        end
    endgenerate
    initial crowded = 1'b0;
    always @(posedge clock)
        crowded <= |high;
endmodule
