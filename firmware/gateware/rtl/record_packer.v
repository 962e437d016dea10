// Core domain: writes records into the payload of the open frame, plain or packed by delta
// (doc/wire-protocol.md, "Packed records"; formats/wire/packing.c makes the same bytes). A record passes
// four stages: find the slot of its kind (two clocks), subtract the slot's address and time, choose the
// lengths of fields, write up to eight bytes a clock. A record may enter every second clock. Its bytes take
// one clock, or two if it is plain, of a new kind or longer than eight bytes.
module record_packer (
    input  wire        clock,
    input  wire        begin_frame, // empties payload and slots
    input  wire        packed_frame,

    input  wire        append,     // only while `ready`
    output wire        ready,
    input  wire [31:0] address,
    input  wire [14:0] kind,       // processor 14:12, attribute 11:9, size 8:5, type 4:0
    input  wire [31:0] time_in,
    output wire        busy,       // a record is in one of the stages
    output wire        may_read,   // slot_read may be 1; known earlier in the clock
    output wire        may_write,  // the same of slot_write
    output reg         full,       // another record might not fit; valid while not busy
    output reg         near_full,  // six more might not: four may be in the stages, uncounted
    output reg  [9:0]  bytes,      // of the payload so far
    output reg  [9:0]  count,      // records in it

    // state_memory, words 0 to 14: a slot's time and address; `slot` is valid a clock after slot_read
    output wire        slot_read,
    output wire [3:0]  slot_read_word,
    input  wire [63:0] slot,
    output wire        slot_write,
    output wire [3:0]  slot_write_word,
    output wire [63:0] slot_in,

    output wire        put,        // appends put_bytes (1 to 8) of put_data to the payload
    output wire [3:0]  put_bytes,
    output wire [63:0] put_data
);
    localparam PAYLOAD = 10'd960, LONGEST_PLAIN = 10'd12, LONGEST_PACKED = 10'd13;

    // --- stage 1: the slot ---
    reg         valid_1 = 1'b0;
    reg  [31:0] address_1, time_1;
    reg  [14:0] kind_1;
    wire        advance_1, advance_2, finish;
    reg  [14:0] kinds [0:14];
    reg  [14:0] used = 15'd0; // a bit for each slot that holds a kind
    reg  [3:0]  next = 4'd0;

    // The first clock compares the kind with those of the slots, the second uses the result.
    reg         compared = 1'b0, found;
    reg  [3:0]  hit; // number of the slot found
    wire [14:0] hits;
    genvar i;
    generate
        for (i = 0; i < 15; i = i + 1) begin : slots
            assign hits[i] = used[i] && kinds[i] == kind_1;
            always @(posedge clock)
                if (advance_1 && !found && next == i)
                    kinds[i] <= kind_1;
        end
    endgenerate
    wire [3:0] number_1 = found ? hit : next;

    assign ready = !valid_1 || (compared && !valid_2);
    assign slot_read = advance_1 && packed_frame;
    assign slot_read_word = number_1;

    always @(posedge clock) begin
        if (append) begin
            address_1 <= address;
            kind_1 <= kind;
            time_1 <= time_in;
        end
        valid_1 <= append || (valid_1 && !advance_1);
        compared <= valid_1 && !advance_1;
        found <= |hits;
        hit <= {|(hits & 15'h7f00), |(hits & 15'h70f0), |(hits & 15'h4ccc), |(hits & 15'h2aaa)};
        if (begin_frame) begin
            used <= 15'd0;
            next <= 4'd0;
        end else if (advance_1 && !found) begin
            used <= used | (15'd1 << next);
            next <= next == 4'd14 ? 4'd0 : next + 4'd1;
        end
    end

    // --- stage 2: the differences ---
    reg         valid_2 = 1'b0, new_2, again_2;
    reg  [31:0] address_2, time_2, address_3, time_3;
    reg  [14:0] kind_2;
    reg  [3:0]  number_2, number_3;
    assign advance_1 = valid_1 && compared && (!valid_2 || advance_2);
    // The previous record, in stage 3, may have used this slot, which `slot` does not show yet.
    wire [31:0] old_address = new_2 ? 32'd0 : again_2 ? address_3 : slot[31:0];
    wire [31:0] old_time = new_2 ? 32'd0 : again_2 ? time_3 : slot[63:32];

    assign slot_write = advance_2 && packed_frame;
    assign slot_write_word = number_2;
    assign slot_in = {time_2, address_2};

    always @(posedge clock) begin
        if (advance_1) begin
            address_2 <= address_1;
            time_2 <= time_1;
            kind_2 <= kind_1;
            number_2 <= number_1;
            new_2 <= !found;
            again_2 <= number_1 == (advance_2 ? number_2 : number_3);
        end
        valid_2 <= advance_1 || (valid_2 && !advance_2);
    end

    // --- stage 3: the lengths ---
    reg         valid_3 = 1'b0, new_3, repeats_3;
    reg  [31:0] difference_3;
    reg  [14:0] kind_3;
    wire        advance_3;
    assign advance_2 = valid_2 && (!valid_3 || advance_3);
    always @(posedge clock) begin
        if (advance_2) begin
            address_3 <= address_2;
            time_3 <= time_2;
            kind_3 <= kind_2;
            number_3 <= number_2;
            new_3 <= new_2;
            difference_3 <= address_2 - old_address;
            repeats_3 <= time_2 == old_time;
        end
        valid_3 <= advance_2 || (valid_3 && !advance_3);
    end

    wire fits_1 = difference_3[31:7] == 0 || &difference_3[31:7];
    wire fits_2 = difference_3[31:15] == 0 || &difference_3[31:15];
    wire fits_3 = difference_3[31:23] == 0 || &difference_3[31:23];
    wire [1:0] address_code = fits_1 ? 2'd0 : fits_2 ? 2'd1 : fits_3 ? 2'd2 : 2'd3;
    wire [1:0] time_code = repeats_3 ? 2'd3 : time_3[31:8] == 0 ? 2'd0 : time_3[31:16] == 0 ? 2'd1 : 2'd2;

    // Bytes of address and time together.
    reg [3:0] field_bytes;
    always @*
        case ({address_code, time_code})
        4'b0000: field_bytes = 4'd2;
        4'b0001: field_bytes = 4'd3;
        4'b0010: field_bytes = 4'd5;
        4'b0011: field_bytes = 4'd1;
        4'b0100: field_bytes = 4'd3;
        4'b0101: field_bytes = 4'd4;
        4'b0110: field_bytes = 4'd6;
        4'b0111: field_bytes = 4'd2;
        4'b1000: field_bytes = 4'd4;
        4'b1001: field_bytes = 4'd5;
        4'b1010: field_bytes = 4'd7;
        4'b1011: field_bytes = 4'd3;
        4'b1100: field_bytes = 4'd5;
        4'b1101: field_bytes = 4'd6;
        4'b1110: field_bytes = 4'd8;
        default: field_bytes = 4'd4;
        endcase
    wire fits = packed_frame && !new_3 && !field_bytes[3]; // into eight bytes, with the control byte

    reg [7:0] type_byte, size_byte;
    always @* begin
        type_byte = {3'd0, kind_3[4:0]};
        if (kind_3[4:0] >= 10)
            type_byte = 8'h27 + {3'd0, kind_3[4:0]}; // SHUTDOWN is 0x31
        else if (kind_3[4:0] >= 6)
            type_byte = 8'h1a + {3'd0, kind_3[4:0]}; // DEFERREPLY is 0x20
        else if (kind_3[4:0] >= 4)
            type_byte = 8'h0c + {3'd0, kind_3[4:0]}; // IOREAD is 0x10
        size_byte = kind_3[8:5] == 9 ? 8'd16 : kind_3[8:5] == 10 ? 8'd32 : {4'd0, kind_3[8:5]};
    end

    // --- stage 4: the bytes, in one part or two ---
    reg         valid_4 = 1'b0, new_4;
    reg  [31:0] address_4, difference_4, time_4;
    reg  [5:0]  attributes_4; // processor and attribute
    reg  [7:0]  type_4, size_4;
    reg  [3:0]  number_4;
    reg  [1:0]  address_code_4, time_code_4;
    reg  [3:0]  first_bytes, second_bytes;
    reg         one_part;
    reg         second = 1'b0; // the second part is next
    assign advance_3 = valid_3 && (!valid_4 || finish);
    always @(posedge clock) begin
        if (advance_3) begin
            address_4 <= address_3;
            difference_4 <= difference_3;
            time_4 <= time_3;
            attributes_4 <= kind_3[14:9];
            type_4 <= type_byte;
            size_4 <= size_byte;
            number_4 <= new_3 ? 4'd15 : number_3;
            new_4 <= new_3;
            address_code_4 <= address_code;
            time_code_4 <= time_code;
            one_part <= fits;
            first_bytes <= !packed_frame ? 4'd8 : fits ? {1'b0, field_bytes[2:0]} + 4'd1 : 4'd5;
            second_bytes <= packed_frame && new_3 ? field_bytes : 4'd4;
        end
        valid_4 <= advance_3 || (valid_4 && !finish);
        second <= valid_4 && !finish;
    end

    wire [7:0]  control = {time_code_4, address_code_4, number_4};
    wire [31:0] kind_bytes = {5'd0, attributes_4[5:3], 5'd0, attributes_4[2:0], size_4, type_4};
    // The address in one to four bytes, then the time.
    wire [63:0] fields = address_code_4 == 0 ? {24'd0, time_4, difference_4[7:0]}
                       : address_code_4 == 1 ? {16'd0, time_4, difference_4[15:0]}
                       : address_code_4 == 2 ? {8'd0, time_4, difference_4[23:0]} : {time_4, address_4};

    // Parts, plain: address and kind, then time. Packed, of a new kind: control and kind, then address and
    // time. Packed, of a known kind: all in one or, if that takes nine bytes, control and address, then time.
    assign put = valid_4;
    assign put_data = !packed_frame ? (second ? {32'd0, time_4} : {kind_bytes, address_4})
                    : second ? (new_4 ? fields : {32'd0, time_4})
                    : new_4 ? {24'd0, kind_bytes, control} : {fields[55:0], control};
    assign put_bytes = second ? second_bytes : first_bytes;
    assign finish = valid_4 && (one_part || second);

    // --- how full the payload is ---
    reg recent = 1'b0; // `full` does not count the last bytes yet
    assign may_read = valid_1;
    assign may_write = valid_2;
    assign busy = valid_1 || valid_2 || valid_3 || valid_4 || recent;
    wire [9:0] longest = packed_frame ? LONGEST_PACKED : LONGEST_PLAIN;
    always @(posedge clock) begin
        if (begin_frame) begin
            bytes <= 10'd0;
            count <= 10'd0;
        end else begin
            if (put)
                bytes <= bytes + {6'd0, put_bytes};
            if (finish)
                count <= count + 10'd1;
        end
        recent <= valid_1 || valid_2 || valid_3 || valid_4;
        full <= !begin_frame && bytes > PAYLOAD - longest;
        near_full <= !begin_frame && bytes > PAYLOAD - 10'd80;
    end
endmodule
