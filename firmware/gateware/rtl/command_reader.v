// Core domain: finds commands in the bytes from the host, checks them, and applies CONFIGURE. The bytes wait
// in a ring in state_memory, and each is looked at in three clocks or more. Where no valid command starts, one
// byte is dropped and the next is tried (wire_command_get in formats/wire/wire.c). A valid CONFIGURE is
// read a second time, to apply it.
module command_reader (
    input  wire        clock,

    input  wire        byte_valid,   // from the link
    input  wire [7:0]  byte_in,
    output wire        byte_take,

    // frame_maker, which sends the replies
    output wire        command,      // a command waits for its reply; with the next four
    output reg  [31:0] tag,
    output reg  [7:0]  code,
    output reg  [2:0]  status,       // the reply's
    output reg  [31:0] argument,     // the body's last four bytes
    input  wire        done,         // the reply is in the queue
    input  wire        at_rest,      // no session and no self-test
    input  wire        draining,     // a session ends: the next command waits for END

    // the configuration
    output reg  [16:0] types,        // a bit for each type and each processor that passes
    output reg  [7:0]  processors,
    output reg  [3:0]  range_count,  // address_ranges
    output reg         outside,      // requests outside all ranges pass, rather than those in one
    output reg         packing,      // records are packed by delta
    output reg         stall,        // the bus is stalled rather than a request dropped
    output reg         fill_start,   // address_ranges reads the bounds
    input  wire        fill_busy,

    // state_memory: `read` and `store` stay until they are granted; `state` is valid a clock later
    output wire        read,
    output wire [7:0]  read_word,
    input  wire        read_granted,
    input  wire [63:0] state,
    output wire        store,
    output wire [7:0]  store_word,
    output wire [7:0]  store_bytes,
    output wire [63:0] store_in,
    input  wire        store_granted
);
`include "state_words.vh"
    localparam [7:0] VERSION = 8'd1, IDENTIFY = 8'd1, CONFIGURE = 8'd2, ARM = 8'd3, STOP = 8'd4,
                     STATUS = 8'd5, SELF_TEST = 8'd6;
    localparam [2:0] OK = 3'd0, BAD_COMMAND = 3'd1, BAD_BODY = 3'd2, BAD_STATE = 3'd3, BAD_VERSION = 3'd4;
    localparam [7:0] HEADER = 8'd16, BODY_MAX = 8'd128, CONFIGURATION = 8'd96;

    reg  [7:0] head = 8'd0, tail = 8'd0; // of the ring
    reg  [7:0] offset = 8'd0;            // of the octet looked at, from head
    wire [7:0] received = tail - head;
    wire [7:0] position = head + offset;

    localparam [2:0] WAIT = 3'd0, FETCH = 3'd1, USE = 3'd2, JUDGE = 3'd3, STORE = 3'd4, FILL = 3'd5,
                     REPLY = 3'd6, DECIDE = 3'd7;
    reg  [2:0] phase = WAIT;
    reg        applying = 1'b0; // the body of CONFIGURE is read again
    reg  [7:0] octet;

    assign read = phase == WAIT && offset != received;
    assign read_word = WORD_RECEIVED + {3'd0, position[7:3]};

    // --- what the byte is: of the sync word, the header, the body or one of the two checksums ---
    reg         version_good, body_good;
    reg  [7:0]  length;
    reg  [31:0] crc, word_before;
    wire [31:0] crc_after;
    wire [31:0] first_crc; // the checksum starts with the first octet
    crc32c_byte checksum (.crc_in(crc), .in(octet), .crc_out(crc_after));
    crc32c_byte first_checksum (.crc_in(32'hffffffff), .in(8'ha5), .crc_out(first_crc));
    wire        in_crc = (offset >= 8'd12 && offset < HEADER) || offset >= HEADER + length;
    wire        in_body = offset >= HEADER && !in_crc;
    wire [7:0]  sync = offset[1:0] == 0 ? 8'ha5 : offset[1:0] == 1 ? 8'h0d : offset[1:0] == 2 ? 8'hc7 : 8'h3c;
    wire [7:0]  crc_byte = ~crc[7:0];
    wire        wrong = (offset < 8'd4 && octet != sync) || (in_crc && octet != crc_byte)
                     || (offset == 8'd6 && octet > BODY_MAX) || (offset == 8'd7 && octet != 0);
    wire        whole = in_crc && offset == HEADER + length + 8'd3;

    // --- words of the body, numbered from 0 (doc/wire-protocol.md, "Configure") ---
    wire [31:0] value = {octet, argument[31:8]};
    wire        word_ends = in_body && &offset[1:0];
    wire [4:0]  word = offset[6:2] - 5'd4;
    wire        is_range = word >= 5'd2 && word < 5'd18;
    wire [3:0]  range = word[4:1] - 4'd1;
    reg  [3:0]  count; // of ranges, in the configuration that is being checked
    reg         word_bad;
    always @* begin
        word_bad = 1'b0;
        if (is_range)
            word_bad = word[0] && range < count && word_before > value;
        else
            case (word)
            5'd0: word_bad = value[31:17] != 0;
            5'd1: word_bad = value[15:8] > 8 || value[31:17] != 0;
            5'd20: word_bad = value[31:9] != 0 || value[7:1] != 0;
            5'd21, 5'd22: ;
            default: word_bad = value != 0;
            endcase
    end

    reg [2:0] judgement;
    always @* begin
        judgement = OK;
        if (code == IDENTIFY)
            judgement = OK; // in any version: the reply has the board's
        else if (!version_good)
            judgement = BAD_VERSION;
        else
            case (code)
            CONFIGURE: judgement = length != CONFIGURATION || !body_good ? BAD_BODY
                                 : at_rest ? OK : BAD_STATE;
            ARM: judgement = length != 4 || argument == 0 ? BAD_BODY : at_rest ? OK : BAD_STATE;
            SELF_TEST: judgement = length != 4 ? BAD_BODY : at_rest ? OK : BAD_STATE;
            STOP, STATUS: judgement = length == 0 ? OK : BAD_BODY;
            default: judgement = BAD_COMMAND;
            endcase
    end
    wire apply = status == OK && code == CONFIGURE;

    // --- storing: words of the configuration, and bytes that arrive ---
    wire store_value = phase == STORE;
    reg [7:0] value_word; // where `argument` goes
    reg       value_high;
    wire takes = byte_valid && received < 8'd200; // a whole command fits; more waits at the link
    assign byte_take = takes && store_granted && !store_value;
    assign store = store_value || takes;
    assign store_word = store_value ? value_word : WORD_RECEIVED + {3'd0, tail[7:3]};
    assign store_bytes = !store_value ? 8'd1 << tail[2:0] : value_high ? 8'hf0 : 8'h0f;
    assign store_in = store_value ? {argument, argument} : {8{byte_in}};

    assign command = phase == REPLY;

    initial begin
        types = 17'h1ffff;
        processors = 8'hff;
        range_count = 4'd0;
        outside = 1'b0;
        packing = 1'b0;
        stall = 1'b0;
        fill_start = 1'b0;
    end
    always @(posedge clock) begin
        fill_start <= 1'b0;
        if (byte_take)
            tail <= tail + 8'd1;

        case (phase)
        WAIT:
            if (read && read_granted)
                phase <= FETCH;
        FETCH: begin
            octet <= state[8*position[2:0] +: 8];
            phase <= USE;
        end
        USE: begin
            phase <= WAIT;
            offset <= offset + 8'd1;
            if (in_crc)
                crc <= offset == HEADER - 8'd1 ? 32'hffffffff : {8'd0, crc[31:8]};
            else
                crc <= offset == 0 ? first_crc : crc_after;
            case (offset)
            8'd4: version_good <= octet == VERSION;
            8'd5: code <= octet;
            8'd6: length <= wrong ? 8'd0 : octet;
            default: ;
            endcase
            if (offset >= 8'd8 && offset < 8'd12)
                tag <= {octet, tag[31:8]};
            if (in_body)
                argument <= value;
            if (word_ends)
                word_before <= value;
            value_word <= is_range ? WORD_RANGES + {4'd0, range} : WORD_TIMES;
            value_high <= is_range ? word[0] : !word[0];
            if (offset == 8'd5)
                body_good <= 1'b1;
            else if (word_ends && word_bad)
                body_good <= 1'b0;
            if (word_ends && word == 5'd1)
                count <= value[11:8];

            if (applying) begin
                if (word_ends)
                    case (word)
                    5'd0: types <= value[16:0];
                    5'd1: {outside, range_count, processors} <= {value[16], value[11:8], value[7:0]};
                    5'd20: {stall, packing} <= {value[8], value[0]};
                    5'd23: begin
                        fill_start <= 1'b1;
                        phase <= FILL;
                    end
                    default: phase <= STORE;
                    endcase
            end else if (wrong) begin
                head <= head + 8'd1;
                offset <= 8'd0;
            end else if (whole)
                phase <= JUDGE;
        end
        STORE:
            if (store_granted)
                phase <= WAIT;
        FILL:
            if (!fill_start && !fill_busy)
                phase <= REPLY;
        JUDGE: begin
            status <= judgement;
            if (!draining)
                phase <= DECIDE;
        end
        DECIDE: begin
            applying <= apply;
            phase <= apply ? WAIT : REPLY;
            if (apply)
                offset <= HEADER;
        end
        REPLY:
            if (done) begin
                head <= head + HEADER + length + 8'd4;
                offset <= 8'd0;
                applying <= 1'b0;
                phase <= WAIT;
            end
        endcase
    end
endmodule
