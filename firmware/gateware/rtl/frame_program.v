// The programs of frame_maker, a table of steps: combinational, one step a clock. A step may do all of this
// at once; frame_program.vh has the numbers of programs and choices.
//
//   read      reads `word` of state_memory, which is `state` in the next step only
//   add_now   computes `sum`, `state` plus what `add` names, for the next step
//   store     writes what `store_what` names to word `to` of state_memory
//   put       writes what `put_what` names to the slot's next word, in the order of doc/wire-protocol.md
//   again     repeats the step (PROGRAM_PATTERN: the last three) until the last word has been copied
module frame_program (
    input  wire [6:0] step,
    output reg        read,
    output reg  [7:0] word,
    output reg        word_copied, // `word` and `to` are the next word to copy
    output reg        word_index,  // `word` is that of the frame's first index
    output reg        add_now,
    output reg  [3:0] add,
    output reg        store,
    output reg  [2:0] store_what,
    output reg  [7:0] to,
    output reg        put,
    output reg  [2:0] put_what,
    output reg  [1:0] condition,   // of `store`, and of PUT_STATE, which puts 0 otherwise
    output reg        only_first,  // stores only if no loss is pending
    output reg        absorb,      // adds the recorder's waiting entry to `tick`
    output reg        to_count,    // the next word put is word 7, which has count and length
    output reg        again,
    output reg        last         // the program ends
);
`include "state_words.vh"
`include "frame_program.vh"

    always @* begin
        {read, word, word_copied, word_index} = 0;
        {add_now, add} = 0;
        {store, store_what, to, only_first} = 0;
        {put, put_what, condition} = 0;
        {absorb, to_count, again, last} = 0;

        case (step)
        // --- add the recorder's events to the counters ---
        PROGRAM_ADD_UP + 0: begin read = 1; word = WORD_SEEN; end
        PROGRAM_ADD_UP + 1: begin read = 1; word = WORD_ACCEPTED; add_now = 1; add = ADD_SEEN; end
        PROGRAM_ADD_UP + 2: begin
            read = 1; word = WORD_FILTERED; add_now = 1; add = ADD_ACCEPTED; store = 1; to = WORD_SEEN;
        end
        PROGRAM_ADD_UP + 3: begin
            read = 1; word = WORD_ABOVE; add_now = 1; add = ADD_FILTERED; store = 1; to = WORD_ACCEPTED;
        end
        PROGRAM_ADD_UP + 4: begin
            read = 1; word = WORD_UNDECODED; add_now = 1; add = ADD_ABOVE; store = 1; to = WORD_FILTERED;
        end
        PROGRAM_ADD_UP + 5: begin
            read = 1; word = WORD_PENDING; add_now = 1; add = ADD_UNDECODED; store = 1; to = WORD_ABOVE;
        end
        PROGRAM_ADD_UP + 6: begin // the first of two uses; the second clears the events
            read = 1; word = WORD_LOST; add_now = 1; add = ADD_LOST; store = 1; to = WORD_UNDECODED;
        end
        PROGRAM_ADD_UP + 7: begin
            read = 1; word = WORD_POSITION; add_now = 1; add = ADD_LOST; store = 1; to = WORD_PENDING;
        end
        PROGRAM_ADD_UP + 8: begin
            read = 1; word = WORD_STALLED; add_now = 1; add = ADD_KEPT; store = 1; to = WORD_LOST;
        end
        PROGRAM_ADD_UP + 9: begin
            read = 1; word = WORD_STALLS; add_now = 1; add = ADD_STALLED; store = 1; to = WORD_POSITION;
        end
        PROGRAM_ADD_UP + 10: begin add_now = 1; add = ADD_STALLS; store = 1; to = WORD_STALLED; end
        PROGRAM_ADD_UP + 11: begin store = 1; to = WORD_STALLS; last = 1; end

        // --- the end of a frame of records: what was not known of its header ---
        PROGRAM_CLOSE + 0: begin put = 1; put_what = PUT_KIND; read = 1; word = WORD_SEQUENCE; end
        PROGRAM_CLOSE + 1: begin
            put = 1; put_what = PUT_STATE; to_count = 1; read = 1; word = WORD_FRAMES;
            add_now = 1; add = ADD_SEQUENCE;
        end
        PROGRAM_CLOSE + 2: begin
            put = 1; put_what = PUT_COUNT; store = 1; to = WORD_SEQUENCE; add_now = 1; add = ADD_ONE;
        end
        PROGRAM_CLOSE + 3: begin store = 1; to = WORD_FRAMES; last = 1; end

        // --- the start of a frame of records: tick, first index and the losses before it ---
        PROGRAM_OPEN + 0: begin absorb = 1; read = 1; word = WORD_ACCEPTED; end
        PROGRAM_OPEN + 1: begin
            put = 1; put_what = PUT_TICK; add_now = 1; add = ADD_ZERO; read = 1; word = WORD_ACCEPTED;
        end
        PROGRAM_OPEN + 2: begin
            put = 1; put_what = PUT_STATE; store = 1; to = WORD_POSITION; read = 1; word = WORD_PENDING;
        end
        PROGRAM_OPEN + 3: begin put = 1; put_what = PUT_STATE; read = 1; word = WORD_LOST_FIRST; end
        PROGRAM_OPEN + 4: begin
            put = 1; put_what = PUT_STATE; read = 1; word = WORD_LOST_LAST;
            store = 1; store_what = STORE_ZERO; to = WORD_PENDING;
        end
        PROGRAM_OPEN + 5: begin
            put = 1; put_what = PUT_STATE; read = 1; word = WORD_TIMES;
            store = 1; store_what = STORE_ZERO; to = WORD_LOST_FIRST;
        end
        PROGRAM_OPEN + 6: begin store = 1; store_what = STORE_ZERO; to = WORD_LOST_LAST; last = 1; end

        // --- phases that the bus domain dropped are counted as seen, accepted and lost ---
        PROGRAM_LOSS + 0: begin store = 1; store_what = STORE_TICK; to = WORD_LOST_FIRST; only_first = 1; end
        PROGRAM_LOSS + 1: begin absorb = 1; read = 1; word = WORD_SEEN; end
        PROGRAM_LOSS + 2: begin
            store = 1; store_what = STORE_TICK; to = WORD_LOST_LAST; add_now = 1; add = ADD_MISSED;
            read = 1; word = WORD_ACCEPTED;
        end
        PROGRAM_LOSS + 3: begin
            store = 1; to = WORD_SEEN; add_now = 1; add = ADD_MISSED; read = 1; word = WORD_LOST;
        end
        PROGRAM_LOSS + 4: begin
            store = 1; to = WORD_ACCEPTED; add_now = 1; add = ADD_MISSED; read = 1; word = WORD_PENDING;
        end
        PROGRAM_LOSS + 5: begin store = 1; to = WORD_LOST; add_now = 1; add = ADD_MISSED; end
        PROGRAM_LOSS + 6: begin store = 1; to = WORD_PENDING; last = 1; end

        // --- the header of a frame without records ---
        PROGRAM_HEADER + 0: begin put = 1; put_what = PUT_KIND; read = 1; word = WORD_SEQUENCE; end
        PROGRAM_HEADER + 1: begin
            put = 1; put_what = PUT_SESSION; add_now = 1; add = ADD_SEQUENCE;
        end
        PROGRAM_HEADER + 2: begin
            put = 1; put_what = PUT_TICK; condition = IF_NUMBERED; store = 1; to = WORD_SEQUENCE;
            read = 1; word_index = 1;
        end
        PROGRAM_HEADER + 3: begin
            put = 1; put_what = PUT_STATE; condition = IF_NUMBERED; read = 1; word = WORD_PENDING;
        end
        PROGRAM_HEADER + 4: begin
            put = 1; put_what = PUT_STATE; condition = IF_END; read = 1; word = WORD_LOST_FIRST;
        end
        PROGRAM_HEADER + 5: begin
            put = 1; put_what = PUT_STATE; condition = IF_END; read = 1; word = WORD_LOST_LAST;
        end
        PROGRAM_HEADER + 6: begin put = 1; put_what = PUT_STATE; condition = IF_END; end
        PROGRAM_HEADER + 7: begin put = 1; put_what = PUT_COUNT; last = 1; end

        // --- payloads ---
        PROGRAM_REPLY + 0: begin
            put = 1; put_what = PUT_REPLY; store = 1; store_what = STORE_CLOCK;
            to = WORD_IDENTITY + 8'd2; last = 1;
        end

        PROGRAM_IDENTITY + 0: begin read = 1; word_copied = 1; end
        PROGRAM_IDENTITY + 1: begin
            put = 1; put_what = PUT_STATE; read = 1; word_copied = 1; again = 1; last = 1;
        end

        PROGRAM_COUNTERS + 0: begin put = 1; put_what = PUT_TICK; read = 1; word_copied = 1; end
        PROGRAM_COUNTERS + 1: begin
            put = 1; put_what = PUT_STATE; read = 1; word_copied = 1; again = 1;
        end
        PROGRAM_COUNTERS + 2: begin put = 1; put_what = PUT_QUEUE; read = 1; word = WORD_SESSION; end
        PROGRAM_COUNTERS + 3: begin put = 1; put_what = PUT_PHASE; read = 1; word = WORD_STALLED; end
        PROGRAM_COUNTERS + 4: begin put = 1; put_what = PUT_STATE; read = 1; word = WORD_STALLS; end
        PROGRAM_COUNTERS + 5: begin put = 1; put_what = PUT_STATE; last = 1; end

        PROGRAM_PATTERN + 0: begin read = 1; word = WORD_PATTERN; end
        PROGRAM_PATTERN + 1: begin put = 1; put_what = PUT_STATE; add_now = 1; add = ADD_PATTERN; end
        PROGRAM_PATTERN + 2: begin store = 1; to = WORD_PATTERN; end
        PROGRAM_PATTERN + 3: begin read = 1; word = WORD_PATTERN; again = 1; end
        PROGRAM_PATTERN + 4: begin read = 1; word = WORD_PATTERN_INDEX; end
        PROGRAM_PATTERN + 5: begin add_now = 1; add = ADD_PATTERN_FRAME; end
        PROGRAM_PATTERN + 6: begin store = 1; to = WORD_PATTERN_INDEX; last = 1; end

        // --- after a frame without records: count it ---
        PROGRAM_TAIL + 0: begin read = 1; word = WORD_FRAMES; end
        PROGRAM_TAIL + 1: begin add_now = 1; add = ADD_ONE; read = 1; word = WORD_TIMES; end
        PROGRAM_TAIL + 2: begin store = 1; to = WORD_FRAMES; condition = IF_SESSION; last = 1; end

        // --- ARM: counters are 0 ---
        PROGRAM_RESET + 0: begin store = 1; store_what = STORE_ZERO; word_copied = 1; again = 1; end
        PROGRAM_RESET + 1: begin store = 1; store_what = STORE_ARGUMENT; to = WORD_SEQUENCE; end
        PROGRAM_RESET + 2: begin store = 1; store_what = STORE_ARGUMENT; to = WORD_SESSION; last = 1; end

        // --- SELF_TEST: the pattern begins ---
        PROGRAM_TEST + 0: begin store = 1; store_what = STORE_ZERO; to = WORD_PATTERN; end
        PROGRAM_TEST + 1: begin store = 1; store_what = STORE_ZERO; to = WORD_PATTERN_INDEX; end
        PROGRAM_TEST + 2: begin store = 1; store_what = STORE_ZERO; to = WORD_SEQUENCE; last = 1; end
        default: ;
        endcase
    end
endmodule
