// Core domain: makes the frames of the queue. It writes the headers of frames of records and the whole of the
// others (replies, START, HEARTBEAT, END, PATTERN), keeps the counters of state_memory and the state of the
// session (the rules are those of firmware/board_frames.c and board.c). It does one job at a time, while `hold`
// stops the recorder; a job runs a few programs of frame_program.v, one step a clock.
module frame_maker (
    input  wire        clock,
    input  wire [31:0] clock_hz,       // of the bus, for the identity
    input  wire        packing,        // frames of records are packed

    // the recorder
    output wire        hold,
    input  wire        quiet,          // `events` is complete, and record_packer is empty
    input  wire        wants_open,     // the next record needs a frame
    input  wire        wants_close,    // the open frame must end first
    input  wire        wants_loss,     // `missed` phases are to be counted as lost
    input  wire [27:0] missed,
    output wire        absorb,         // `tick` is to include the waiting entry's clocks
    output wire        loss_done,      // `missed` has been counted
    output wire        restart,        // ARM
    output wire [6:0]  clear,          // sets these events to 0
    input  wire [69:0] events,         // ten bits each: kept, lost, undecoded, above, filtered, accepted, seen
    input  wire        crowded,        // events must be added to the counters
    input  wire        saw_above,
    input  wire        saw_undecoded,
    input  wire [63:0] tick,
    input  wire        lost_now,       // a request was dropped, at `tick`
    output reg         loss_pending,   // requests were lost since a frame of records was last opened
    output reg         open,           // a frame of records is open
    output wire        can_open,       // the queue has a slot for one
    output wire        armed,

    // record_packer
    output wire        begin_frame,
    input  wire        full,           // the open frame must be closed
    input  wire [9:0]  record_bytes,   // of its payload so far
    input  wire [9:0]  record_count,

    // command_reader
    input  wire        command,        // a command waits for its reply
    input  wire [31:0] tag,
    input  wire [7:0]  code,
    input  wire [2:0]  status,
    input  wire [31:0] argument,
    output wire        command_done,   // the reply is in the queue
    output wire        at_rest,        // no session and no self-test
    output wire        draining,       // after STOP, before END

    // bus_stall, by a word_crossing
    input  wire        stall_valid,
    input  wire [18:0] stall_counts,   // stalls begun 18:16, stalled clocks 15:0
    output wire        stall_take,

    // timers
    input  wire        flush_due,
    input  wire        heartbeat_due,
    output wire        load_flush,     // from the low half of `state`
    output wire        load_heartbeat, // from its high half

    // state_memory, without delay; `state` is the word that the clock before has read
    output wire        read,
    output wire [7:0]  read_word,
    input  wire [63:0] state,
    output wire        store,
    output wire [7:0]  store_word,
    output reg  [63:0] store_in,

    // the queue: frames written and sent, modulo 16; words of the slot that is being written
    output reg  [3:0]  written,
    output wire        commit,
    input  wire [3:0]  sent,
    output wire        put,
    output reg  [6:0]  put_word,
    output reg  [63:0] put_data
);
`include "state_words.vh"
`include "frame_program.vh"
    localparam [7:0] KIND_START = 8'd1, KIND_RECORDS = 8'd2, KIND_PACKED = 8'd3, KIND_HEARTBEAT = 8'd4,
                     KIND_END = 8'd5, KIND_REPLY = 8'd6, KIND_PATTERN = 8'd7;
    localparam [7:0] COMMAND_IDENTIFY = 8'd1, COMMAND_ARM = 8'd3, COMMAND_STOP = 8'd4,
                     COMMAND_STATUS = 8'd5, COMMAND_SELF_TEST = 8'd6;
    localparam [1:0] IDLE = 2'd0, ARMED = 2'd1, DRAINING = 2'd2;
    localparam [3:0] JOB_ADD_UP = 4'd0, JOB_OPEN = 4'd1, JOB_CLOSE = 4'd2, JOB_LOSS = 4'd3,
                     JOB_RESET = 4'd4, JOB_TEST = 4'd5, JOB_START = 4'd6, JOB_HEARTBEAT = 4'd7,
                     JOB_END = 4'd8, JOB_REPLY = 4'd9, JOB_PATTERN = 4'd10;

    // --- the queue: eight slots. A frame of records needs three free ones, and so leaves two ---
    reg  [3:0] waiting = 4'd0, peak = 4'd0;
    reg        some_free = 1'b0, two_free = 1'b0, three_free = 1'b0;
    wire [3:0] taken = waiting + {3'd0, open};
    always @(posedge clock) begin
        waiting <= written - sent;
        some_free <= taken < 8;
        two_free <= taken < 7;
        three_free <= taken < 6;
    end

    // --- the session ---
    reg  [1:0]  phase = IDLE;
    reg         in_session = 1'b0;
    reg         arming = 1'b0, starting = 1'b0, testing = 1'b0;
    reg  [31:0] pattern_left = 32'd0;
    reg         pattern_wanted = 1'b0;
    reg         heartbeat_waits = 1'b0;
    reg  [3:0]  heartbeat_mark;          // `sent` when the last heartbeat has been sent
    reg         armed_now = 1'b0; // phase == ARMED
    assign armed = armed_now;
    assign draining = phase == DRAINING;
    assign at_rest = phase == IDLE && !pattern_wanted && !arming && !starting && !testing;
    assign can_open = three_free && !settling;

    // --- which job ---
    reg  [6:0] step = PROGRAM_NONE;
    reg  [3:0] job = JOB_ADD_UP;
    reg        settling = 1'b0; // the queue's counts do not know the last frame yet
    reg  [1:0] settle = 2'd0;
    wire       running = step != PROGRAM_NONE;
    wire       reply_wanted = command && two_free && !draining && !command_done_1;
    // END waits for the counts of a stall that STOP has ended.
    reg  [6:0] drained = 7'd0;
    wire       end_wanted = drained[6] && some_free;
    always @(posedge clock)
        if (!draining)
            drained <= 7'd0;
        else if (!drained[6])
            drained <= drained + 7'd1;
    wire       heartbeat_wanted = armed && heartbeat_due && !heartbeat_waits && some_free;
    wire       test_wanted = pattern_wanted && three_free;
    wire       frame_wanted = arming || starting || testing || reply_wanted || end_wanted
                           || heartbeat_wanted || test_wanted;
    wire       close_wanted = open && (wants_close || full || flush_due || frame_wanted);
    wire       wanted = frame_wanted || close_wanted || wants_open || wants_loss || crowded || stall_valid;
    reg        command_done_1 = 1'b0;
    // A clock late, in which the recorder takes no entry that these jobs must precede.
    reg        held = 1'b0;
    assign hold = held;
    always @(posedge clock)
        held <= running || wanted || settling;
    wire       go = held && wanted && !running && !done_1 && quiet && !settling && !lost_now && !lost_first_now;

    reg [3:0] next_job;
    always @* begin
        if (close_wanted)
            next_job = JOB_CLOSE;
        else if (arming)
            next_job = JOB_RESET;
        else if (starting)
            next_job = JOB_START;
        else if (testing)
            next_job = JOB_TEST;
        else if (end_wanted)
            next_job = JOB_END;
        else if (reply_wanted)
            next_job = JOB_REPLY;
        else if (heartbeat_wanted)
            next_job = JOB_HEARTBEAT;
        else if (test_wanted)
            next_job = JOB_PATTERN;
        else if (wants_loss)
            next_job = JOB_LOSS;
        else if (wants_open)
            next_job = JOB_OPEN;
        else
            next_job = JOB_ADD_UP;
    end

    // --- its programs ---
    wire        p_read, p_word_copied, p_word_index, p_add_now, p_store, p_put, p_only_first;
    wire        p_absorb, p_to_count, p_again, p_last;
    wire [7:0]  p_word, p_to;
    wire [3:0]  p_add;
    wire [2:0]  p_store_what, p_put_what;
    wire [1:0]  p_condition;
    frame_program steps (
        .step(step), .read(p_read), .word(p_word), .word_copied(p_word_copied),
        .word_index(p_word_index), .add_now(p_add_now), .add(p_add), .store(p_store),
        .store_what(p_store_what), .to(p_to), .put(p_put), .put_what(p_put_what),
        .condition(p_condition), .only_first(p_only_first), .absorb(p_absorb),
        .to_count(p_to_count), .again(p_again), .last(p_last));

    wire is_frame = job >= JOB_START;
    wire is_pattern = job == JOB_PATTERN;
    wire is_end = job == JOB_END;
    wire identifies = job == JOB_START || (job == JOB_REPLY && code == COMMAND_IDENTIFY && status == 0);
    wire counts = job == JOB_HEARTBEAT || is_end
               || (job == JOB_REPLY && code == COMMAND_STATUS && status == 0);

    reg  [7:0] copied = 8'd0; // the next word of state_memory to copy
    wire       copy_last = is_pattern ? put_word == 0
                         : copied == (job == JOB_RESET ? WORD_POSITION
                                      : identifies ? WORD_IDENTITY + 8'd12 : WORD_FRAMES + 8'd1);
    wire       back = p_again && !copy_last; // repeats the step
    wire       ends = p_last && !back;       // the program

    // The program after the one that ends; PROGRAM_NONE: the job is done.
    reg  [2:0] part = 3'd0; // programs of the job that have ended
    reg  [6:0] next_step;
    wire       long_reply = job == JOB_REPLY && (identifies || counts);
    always @* begin
        next_step = PROGRAM_NONE;
        if (job == JOB_OPEN && part == 0)
            next_step = PROGRAM_OPEN;
        else if (is_frame)
            case (part)
            3'd0: next_step = PROGRAM_HEADER;
            3'd1: next_step = job == JOB_REPLY ? PROGRAM_REPLY : is_pattern ? PROGRAM_PATTERN
                            : identifies ? PROGRAM_IDENTITY : PROGRAM_COUNTERS;
            3'd2: next_step = !long_reply ? PROGRAM_TAIL : identifies ? PROGRAM_IDENTITY : PROGRAM_COUNTERS;
            3'd3: next_step = long_reply ? PROGRAM_TAIL : PROGRAM_NONE;
            default: next_step = PROGRAM_NONE;
            endcase
    end
    wire done = ends && next_step == PROGRAM_NONE;

    always @(posedge clock) begin
        if (!running) begin
            part <= 3'd0;
            if (go) begin
                job <= next_job;
                step <= next_job == JOB_CLOSE ? PROGRAM_CLOSE : next_job == JOB_LOSS ? PROGRAM_LOSS
                      : next_job == JOB_RESET ? PROGRAM_RESET : next_job == JOB_TEST ? PROGRAM_TEST
                      : PROGRAM_ADD_UP;
            end
        end else if (ends) begin
            step <= next_step;
            part <= part + 3'd1;
        end else if (!back)
            step <= step + 7'd1;
        else if (is_pattern)
            step <= step - 7'd2;

        if (!running)
            copied <= next_job == JOB_RESET ? WORD_SEEN : WORD_IDENTITY;
        else if (is_frame && part == 0)
            copied <= counts ? WORD_SEEN : WORD_IDENTITY;
        else if (p_word_copied)
            copied <= copied + 8'd1;
    end

    // --- a step is decoded in one clock (p_) and executed in the next (s_) ---
    reg        s_read = 1'b0, s_add_now = 1'b0, s_store = 1'b0, s_put = 1'b0, s_absorb = 1'b0;
    reg        s_to_count = 1'b0, s_clear_lost, s_met, s_session;
    reg  [7:0] s_word, s_to;
    reg  [3:0] s_add;
    reg  [2:0] s_store_what, s_put_what;
    wire met = p_condition == IF_ALWAYS || (p_condition == IF_END && is_end)
            || (p_condition != IF_END && in_session) || (p_condition == IF_NUMBERED && is_pattern);
    always @(posedge clock) begin
        s_read <= p_read;
        s_word <= p_word_copied ? copied : !p_word_index ? p_word
                : is_pattern ? WORD_PATTERN_INDEX : is_end ? WORD_ACCEPTED : WORD_POSITION;
        s_add_now <= p_add_now;
        s_add <= p_add;
        // Lost requests are added to two words, and cleared with the second.
        s_clear_lost <= p_to == WORD_PENDING;
        s_store <= p_store && met && !(p_only_first && loss_pending);
        s_store_what <= p_store_what;
        s_to <= p_word_copied ? copied : p_to;
        s_put <= p_put;
        s_put_what <= p_put_what;
        s_met <= met;
        s_absorb <= p_absorb;
        s_to_count <= p_to_count;
        s_session <= in_session;
    end

    // --- sums and stores ---
    // The upper halves are added a clock later, while the sum is stored.
    reg [32:0] sum_low;
    reg [31:0] state_high, addend_high;
    wire [63:0] sum = {state_high + addend_high + {31'd0, sum_low[32]}, sum_low[31:0]};
    reg [63:0] addend; // selected a clock early: events do not change during a job
    reg  [9:0] number; // of events
    always @*
        case (p_add)
        ADD_SEEN: number = events[9:0];
        ADD_ACCEPTED: number = events[19:10];
        ADD_FILTERED: number = events[29:20];
        ADD_ABOVE: number = events[39:30];
        ADD_UNDECODED: number = events[49:40];
        ADD_LOST: number = events[59:50];
        ADD_KEPT: number = events[69:60];
        default: number = 10'd0;
        endcase
    always @(posedge clock)
        case (p_add)
        ADD_ONE: addend <= 64'd1;
        ADD_SEQUENCE: addend <= 64'h1_0000_0000;
        ADD_MISSED: addend <= {36'd0, missed};
        ADD_PATTERN: addend <= 64'h9e3779b97f4a7c15;
        ADD_PATTERN_FRAME: addend <= 64'd120;
        ADD_STALLED: addend <= stall_valid ? {48'd0, stall_counts[15:0]} : 64'd0;
        ADD_STALLS: addend <= stall_taken ? {61'd0, stall_counts[18:16]} : 64'd0;
        default: addend <= {54'd0, number};
        endcase
    always @(posedge clock)
        if (s_add_now) begin
            sum_low <= {1'b0, state[31:0]} + {1'b0, addend[31:0]};
            state_high <= state[63:32];
            addend_high <= addend[63:32];
        end

    // Both counts of stalls are added or neither, even if they arrive between the two steps.
    reg stall_taken = 1'b0;
    always @(posedge clock)
        if (p_add_now && p_add == ADD_STALLED)
            stall_taken <= stall_valid;
    assign stall_take = s_add_now && s_add == ADD_STALLS && stall_taken;

    // A loss stores its tick, the first one in both words. No job runs then.
    reg lost_first_now = 1'b0;
    wire store_tick = lost_now || lost_first_now;
    assign read = s_read;
    assign read_word = s_word;
    assign store = store_tick || s_store;
    assign store_word = lost_first_now ? WORD_LOST_FIRST : lost_now ? WORD_LOST_LAST : s_to;
    always @*
        if (store_tick || s_store_what == STORE_TICK)
            store_in = tick;
        else
            case (s_store_what)
            STORE_SUM: store_in = sum;
            STORE_ARGUMENT: store_in = {32'd0, argument};
            STORE_CLOCK: store_in = {32'd0, clock_hz};
            default: store_in = 64'd0;
            endcase

    // --- words of the frame (doc/wire-protocol.md, "Frames") ---
    reg [7:0] kind;
    always @*
        case (job)
        JOB_CLOSE: kind = packing ? KIND_PACKED : KIND_RECORDS;
        JOB_START: kind = KIND_START;
        JOB_HEARTBEAT: kind = KIND_HEARTBEAT;
        JOB_END: kind = KIND_END;
        JOB_REPLY: kind = KIND_REPLY;
        default: kind = KIND_PATTERN;
        endcase
    wire [9:0] bytes = job == JOB_CLOSE ? record_bytes : is_pattern ? 10'd960
                     : (job == JOB_REPLY ? 10'd8 : 10'd0) + (identifies ? 10'd96 : counts ? 10'd96 : 10'd0);
    reg above = 1'b0, undecoded = 1'b0; // flags of the next frame of the session
    wire [1:0] flags = s_session ? {undecoded, above} : 2'd0;

    assign put = s_put;
    always @*
        case (s_put_what)
        PUT_KIND: put_data = {14'd0, flags, kind, 8'd1, 32'h5ab70da5};
        PUT_STATE: put_data = s_met ? state : 64'd0;
        PUT_TICK: put_data = tick;
        PUT_COUNT: put_data = {32'd0, 6'd0, bytes, 6'd0, job == JOB_CLOSE ? record_count : 10'd0};
        PUT_REPLY: put_data = {16'd0, 5'd0, status, code, tag};
        PUT_QUEUE: put_data = {28'd0, peak, 28'd0, waiting};
        PUT_SESSION: put_data = {s_session || is_pattern ? state[63:32] : 32'd0,
                                 s_session ? state[31:0] : 32'd0};
        default: put_data = {state[31:0], 30'd0, phase};
        endcase
    always @(posedge clock)
        if (!running && !s_put)
            put_word <= next_job == JOB_OPEN ? 7'd2 : 7'd0;
        else if (s_put)
            put_word <= s_to_count ? 7'd7 : put_word + 7'd1;

    // --- what the end of a job changes ---
    assign absorb = s_absorb;
    reg done_1 = 1'b0;
    always @(posedge clock)
        done_1 <= done;
    assign loss_done = done_1 && job == JOB_LOSS;
    assign restart = done_1 && job == JOB_RESET;
    assign begin_frame = done_1 && job == JOB_OPEN;
    assign commit = done_1 && (job == JOB_CLOSE || is_frame);
    assign command_done = done_1 && job == JOB_REPLY;
    // The last step but one has read the times.
    assign load_flush = begin_frame;
    assign load_heartbeat = done_1 && (job == JOB_START || job == JOB_HEARTBEAT);
    genvar i;
    generate
        for (i = 0; i < 7; i = i + 1) begin : cleared
            assign clear[i] = s_add_now && s_add == i + 1 && (s_add != ADD_LOST || s_clear_lost);
        end
    endgenerate

    wire reply_good = command_done && status == 0;
    initial begin
        open = 1'b0;
        loss_pending = 1'b0;
        written = 4'd0;
    end
    always @(posedge clock) begin
        command_done_1 <= command_done;
        settle <= {settle[0], commit};
        settling <= commit || settle != 0;
        lost_first_now <= lost_now && !loss_pending;
        if (restart || begin_frame)
            loss_pending <= 1'b0;
        else if (lost_now || loss_done)
            loss_pending <= 1'b1;
        if (begin_frame)
            open <= 1'b1;
        else if (commit)
            open <= 1'b0;
        if (commit)
            written <= written + 4'd1;
        if (restart)
            peak <= waiting;
        else if (commit && waiting >= peak)
            peak <= waiting + 4'd1;

        if (restart)
            {above, undecoded} <= 2'd0;
        else if (commit && in_session)
            {above, undecoded} <= 2'd0;
        else begin
            above <= above || saw_above;
            undecoded <= undecoded || saw_undecoded;
        end

        // The session
        if (reply_good && code == COMMAND_ARM)
            arming <= 1'b1;
        else if (restart)
            arming <= 1'b0;
        if (restart) begin
            starting <= 1'b1;
            in_session <= 1'b1;
            phase <= ARMED;
            armed_now <= 1'b1;
        end else if (done_1 && job == JOB_START)
            starting <= 1'b0;
        if (reply_good && code == COMMAND_STOP && phase == ARMED) begin
            phase <= DRAINING;
            armed_now <= 1'b0;
        end
        if (done_1 && is_end) begin
            phase <= IDLE;
            in_session <= 1'b0;
        end

        // The self-test
        if (reply_good && code == COMMAND_SELF_TEST) begin
            testing <= 1'b1;
            pattern_left <= argument;
        end else begin
            if (done_1 && job == JOB_TEST)
                testing <= 1'b0;
            if (reply_good && code == COMMAND_STOP)
                pattern_left <= 32'd0;
            else if (commit && is_pattern)
                pattern_left <= pattern_left - 32'd1;
        end
        pattern_wanted <= pattern_left != 0;

        if (commit && job == JOB_HEARTBEAT) begin
            heartbeat_waits <= 1'b1;
            heartbeat_mark <= written + 4'd1;
        end else if (restart || sent == heartbeat_mark)
            heartbeat_waits <= 1'b0;
    end
endmodule
