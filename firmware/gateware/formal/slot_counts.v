// The core's counts of the queue's eight slots: frame_maker with everything around it arbitrary. The link gives slots back at any time, and the core knows that at any time later.
module slot_counts (input wire clock);
`include "frame_program.vh"
    localparam [3:0] JOB_ADD_UP = 4'd0, JOB_OPEN = 4'd1, JOB_CLOSE = 4'd2, JOB_LOSS = 4'd3, JOB_RESET = 4'd4, JOB_TEST = 4'd5,
                     JOB_START = 4'd6, JOB_HEARTBEAT = 4'd7, JOB_END = 4'd8, JOB_REPLY = 4'd9, JOB_PATTERN = 4'd10;
    localparam [7:0] ARM = 8'd3, SELF_TEST = 8'd6;

    // --- the link: it sees `written` two clocks late or later, `sent` lags behind what it has given back ---
    (* anyseq *) reg [3:0] seen_more, given_more, sent_more;
    reg  [3:0] written_before = 4'd0, seen = 4'd0, given = 4'd0, sent = 4'd0;
    wire [3:0] written;
    wire [3:0] seen_left = written_before - seen, given_left = seen - given, sent_left = given - sent;
    always @(posedge clock) begin
        written_before <= written;
        seen <= seen + seen_more;
        given <= given + given_more;
        sent <= sent + sent_more;
    end
    always @*
        assume (seen_more <= seen_left && given_more <= given_left && sent_more <= sent_left);

    // --- the recorder: what it may do by `hold`, `open` and `can_open` ---
    (* anyseq *) reg wish_append, wish_open, wish_close, wants_loss, lost_now, crowded;
    wire       hold, open, can_open, armed, ready, draining, begin_frame, packer_put, maker_put, commit;
    wire       append = wish_append && open && armed && !hold && ready;
    reg  [1:0] appended = 2'd0;
    always @(posedge clock)
        appended <= {appended[0], append};

    // --- commands: one waits until it is done; some are good only in a board at rest ---
    (* anyseq *) reg       new_command;
    (* anyseq *) reg [7:0] new_code;
    (* anyseq *) reg [2:0] new_status;
    (* anyseq *) reg [31:0] argument;
    reg        command = 1'b0;
    reg  [7:0] code = 8'd0;
    reg  [2:0] status = 3'd0;
    reg  [2:0] pause = 3'd0; // the next command has a header
    wire       command_done, at_rest;
    always @(posedge clock) begin
        pause <= {pause[1:0], command_done};
        if (command_done)
            command <= 1'b0;
        else if (!command && pause == 0 && new_command) begin
            command <= 1'b1;
            code <= new_code;
            status <= new_status == 0 && (new_code == ARM || new_code == SELF_TEST) && !at_rest ? 3'd3 : new_status;
        end
    end
    wire       arms = command && code == ARM && status == 0;
    wire       begins_test = command && code == SELF_TEST && status == 0;

    (* anyseq *) reg stall_valid, flush_due, heartbeat_due, full, packing, saw_above, saw_undecoded;
    frame_maker maker (
        .clock(clock), .clock_hz(32'd0), .packing(packing), .hold(hold), .quiet(appended == 0 && !busy),
        .wants_open(wish_open && armed && !open && can_open), .wants_close(wish_close && armed && open),
        .wants_loss(wants_loss), .missed(28'd0), .events(70'd0), .crowded(crowded), .saw_above(saw_above),
        .saw_undecoded(saw_undecoded), .tick(64'd0), .lost_now(lost_now), .open(open),
        .can_open(can_open), .armed(armed), .begin_frame(begin_frame), .full(full), .record_bytes(10'd0),
        .record_count(10'd0), .command(command), .tag(32'd0), .code(code), .status(status),
        .argument(argument), .command_done(command_done), .at_rest(at_rest), .draining(draining), .stall_valid(stall_valid),
        .stall_counts(19'd0), .flush_due(flush_due), .heartbeat_due(heartbeat_due), .state(64'd0),
        .written(written), .commit(commit), .sent(sent), .put(maker_put));
    // record_packer: busy from an `append` on, and only then writes.
    (* anyseq *) reg wish_put, ends, wish_ready;
    reg        busy = 1'b0;
    assign packer_put = busy && wish_put;
    assign ready = wish_ready;
    always @(posedge clock)
        busy <= append || (busy && !ends);

    // --- what the proof knows of frame_maker ---
    (* hierconn *) wire [6:0] \maker.step ;
    (* hierconn *) wire [3:0] \maker.job ;
    (* hierconn *) wire \maker.done_1 ;
    (* hierconn *) wire \maker.go ;
    (* hierconn *) wire \maker.arming ;
    (* hierconn *) wire \maker.starting ;
    (* hierconn *) wire [3:0] \maker.next_job ;
    (* hierconn *) wire \maker.testing ;
    (* hierconn *) wire \maker.pattern_wanted ;
    (* hierconn *) wire [31:0] \maker.pattern_left ;
    (* hierconn *) wire [1:0] \maker.phase ;
    wire [6:0] step = \maker.step ;
    wire [3:0] job = \maker.job ;
    wire       starting = \maker.starting ;
    wire       arming = \maker.arming ;
    wire       running = step != 0 || \maker.done_1 ;
    wire       is_frame = job >= JOB_START;
    wire       makes = running && (is_frame || job == JOB_OPEN); // has a slot that is not `open`

    // --- slots taken are those given back, those that wait, and the one that is being written ---
    reg  [7:0] taken = 8'd0, given_back = 8'd0;
    always @(posedge clock) begin
        taken <= taken + {7'd0, \maker.go && (\maker.next_job >= JOB_START || \maker.next_job == JOB_OPEN)};
        given_back <= given_back + {4'd0, given_more};
    end
    wire [3:0] known = written - sent, waiting = written - given;
    wire [3:0] in_use = known + {3'd0, open || makes};
    wire       tests = \maker.testing || \maker.pattern_wanted ;
    wire       replies_to_arm = running && job == JOB_REPLY && arms;
    wire       owes_start = arming || (starting && !(running && job == JOB_START)) || replies_to_arm;
    always @(posedge clock) begin
        assert (taken == given_back + {4'd0, waiting} + {7'd0, open || makes});
        assert (waiting <= known && known <= 8);            // none is given back twice
        assert (in_use + {3'd0, owes_start} <= 8);          // nor is one taken that is not free
        if (open || (makes && (job == JOB_OPEN || job == JOB_PATTERN)))
            assert (in_use <= 6);                           // two are kept for other frames
    end

    // --- no slot is written that the link may read: slot_memory stores two clocks after `put` ---
    wire       put = maker_put || packer_put;
    reg        put_1 = 1'b0, put_2 = 1'b0;
    reg  [2:0] slot_1, slot_2;
    wire [2:0] behind = slot_2 - given[2:0];
    wire [3:0] readable = seen - given;
    always @(posedge clock) begin
        put_1 <= put;
        slot_1 <= written[2:0];
        put_2 <= put_1;
        slot_2 <= slot_1;
        if (put)
            assert (open || makes);
        if (put_2)
            assert ({1'b0, behind} >= readable);
    end

    // --- steps of the induction ---
    wire [3:0] known_late = written_before - given;
    always @(posedge clock) begin
        assert (readable <= known_late && known_late <= waiting);
        assert (job <= JOB_PATTERN && step <= PROGRAM_TEST + 7'd2);
        if (running && job == JOB_CLOSE)
            assert (open);
        if (makes || arming)
            assert (!open);
        if (busy)
            assert (open && !running);
        if (arms || begins_test)
            assert (at_rest);
        if (running && job == JOB_REPLY)
            assert (command);
        if (running && job == JOB_RESET)
            assert (arming);
        if (running && job == JOB_START)
            assert (starting);
        if (running && job == JOB_TEST)
            assert (\maker.testing );
        if (running && job == JOB_HEARTBEAT)
            assert (armed);
        if (running && job == JOB_END)
            assert (draining);
        if (running && job == JOB_PATTERN)
            assert (\maker.pattern_left != 0 && \maker.pattern_wanted );
        assert (armed == (\maker.phase == 2'd1) && \maker.phase != 2'd3);
        if (running && arming)
            assert (job == JOB_RESET);
        if (running && starting)
            assert (job == JOB_START);
        if (arming || tests)
            assert (\maker.phase == 2'd0);
        if (starting)
            assert (armed && !open);
        assert (arming + starting + tests <= 1);
        if (\maker.pattern_left != 0)
            assert (\maker.pattern_wanted || \maker.testing );
        if (arming || starting)
            assert (\maker.pattern_left == 0);
    end
endmodule

// Programs of at most the length of those in rtl/, which put words at any of the steps where those may
// (frame_programs.v proves that).
module frame_program (
    input wire [6:0] step, output wire read, output wire [7:0] word, output wire word_copied, output wire word_index,
    output wire add_now, output wire [3:0] add, output wire store, output wire [2:0] store_what, output wire [7:0] to,
    output wire put, output wire [2:0] put_what, output wire [1:0] condition, output wire only_first, output wire absorb,
    output wire to_count, output wire again, output wire last
);
`include "frame_program.vh"
`include "frame_programs.vh"
    (* anyseq *) reg puts, ends;
    assign {read, word, word_copied, word_index, add_now, add, store, store_what, to, put_what, condition, only_first,
            absorb, to_count, again} = 0;
    assign put = may_put(step) && puts;
    assign last = step != PROGRAM_NONE && (ends || must_end(step));
endmodule
