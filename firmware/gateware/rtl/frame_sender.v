// Link domain: reads the queue's slots in order, computes the checksums of header and payload on the way, and
// gives the bytes to ft245_port, one a clock. A slot is free (`sent`) when ft245_port has its last byte.
module frame_sender (
    input  wire        clock,
    input  wire [3:0]  written,  // frames put into the queue so far, modulo 16
    output reg         slot_done,
    input  wire [3:0]  sent,     // counts slot_done, modulo 16

    // slot_memory; `word` is valid a clock after `read`
    output wire        read,
    output wire [9:0]  read_word,
    input  wire [63:0] word,

    // ft245_port
    output reg         valid,
    output reg  [7:0]  out,
    input  wire        take,     // only while `valid`
    output wire        idle      // no frame waits or is being sent
);
    // Offsets in the frame: of the header's checksum, and of the payload. Bytes 58 and 59 are its length.
    localparam [10:0] CRC_AT = 11'd60, PAYLOAD_AT = 11'd64;

    reg         sending = 1'b0;  // a frame is being read
    reg  [10:0] index = 11'd0;   // of the next octet
    reg  [9:0]  length = 10'd0;  // of the payload
    reg  [31:0] crc;
    reg  [1:0]  pause = 2'd0;    // `slot_done` is not in `sent` yet
    wire [10:0] trailer_at = PAYLOAD_AT + {1'b0, length};
    wire        in_crc = (index >= CRC_AT && index < PAYLOAD_AT) || index >= trailer_at;
    wire        last = index == trailer_at + 11'd3;
    wire        advance = sending && (!valid || take);

    wire [10:0] next = !sending ? 11'd0 : index + {10'd0, advance};
    assign read = 1'b1;
    assign read_word = {sent[2:0], next[9:3]};
    wire [7:0]  octet = word[8*index[2:0] +: 8];
    wire [31:0] crc_after;
    crc32c_byte checksum (.crc_in(crc), .in(octet), .crc_out(crc_after));

    reg in_sync = 1'b0; // `sent` is stable, so that `word` is the slot's first
    assign idle = !sending && !valid && written == sent;

    initial begin
        valid = 1'b0;
        slot_done = 1'b0;
    end
    always @(posedge clock) begin
        slot_done <= 1'b0;
        pause <= {pause[0], slot_done};
        in_sync <= !sending && pause == 0 && !slot_done;
        if (take)
            valid <= 1'b0;
        if (!sending) begin
            index <= 11'd0;
            crc <= 32'hffffffff;
            sending <= in_sync && pause == 0 && !slot_done && written != sent;
        end else if (advance) begin
            out <= in_crc ? ~crc[7:0] : octet;
            valid <= 1'b1;
            index <= next;
            if (index == PAYLOAD_AT - 11'd1)
                crc <= 32'hffffffff;
            else
                crc <= in_crc ? {8'd0, crc[31:8]} : crc_after;
            if (index == 11'd58)
                length[7:0] <= octet;
            if (index == 11'd59)
                length[9:8] <= octet[1:0];
            if (last) begin
                sending <= 1'b0;
                slot_done <= 1'b1;
            end
        end
    end
endmodule
