// The board without its pins: the three clock domains bus, core and link, any of which may stop, and the
// crossings between them, which crossings.txt lists. On all ports 1 is asserted; inputs come from the
// pins' registers, and a port that ends in _next is the pin's level after the next rising edge.
module bustap_board #(parameter CORE_MHZ = 66, parameter [127:0] SERIAL = "0000000000000000") (
    input  wire        bus_clock,
    input  wire        bus_reset,    // RESET#
    input  wire        bus_ads,
    input  wire [35:3] bus_address,
    input  wire [4:0]  bus_request,
    output wire        stall_next,   // BNR#

    input  wire        core_clock,
    input  wire [31:0] clock_hz, // of the bus; 0: unknown
    output wire        armed,

    input  wire        link_clock,
    input  wire        can_write,    // TXE#, on the falling edge
    input  wire        can_read,     // RXF#, on the falling edge
    input  wire [7:0]  data_in,
    output wire [7:0]  data_next,
    output wire        drive_next,   // the data pins
    output wire        write_next,   // WR#
    output wire        read_next,    // RD#
    output wire        output_next,  // OE#
    output wire        flush_next    // SIWU#
);
    wire        entry_write, entry_full, entry_half, entry_low, phase_begins, entry_valid, entry_take;
    wire [63:0] entry_in, entry;
    bus_front front (
        .clock(bus_clock), .reset(bus_reset), .ads(bus_ads), .address(bus_address),
        .request(bus_request), .full(entry_full), .half(entry_half), .begins(phase_begins),
        .write(entry_write), .entry(entry_in));
    dual_clock_fifo entries (
        .write_clock(bus_clock), .write(entry_write), .in(entry_in), .full(entry_full), .half(entry_half),
        .low(entry_low), .read_clock(core_clock), .take(entry_take), .valid(entry_valid), .out(entry));

    wire        stall_enable, stall_enabled, stall_ready, stall_write, stall_valid, stall_take;
    wire [18:0] stall_in, stall_counts;
    crossing_bit enable_crossing (
        .clock(bus_clock), .source(stall_enable), .level(stall_enabled));
    bus_stall stall (
        .clock(bus_clock), .enable(stall_enabled), .ads(phase_begins), .half(entry_half),
        .low(entry_low), .drive_next(stall_next), .ready(stall_ready), .write(stall_write),
        .counts(stall_in));
    word_crossing #(.WIDTH(19)) stalls (
        .write_clock(bus_clock), .write(stall_write), .in(stall_in), .ready(stall_ready),
        .read_clock(core_clock), .valid(stall_valid), .out(stall_counts), .take(stall_take));

    wire        byte_valid, byte_take, received, byte_ready;
    wire [7:0]  byte_in, received_byte;
    word_crossing bytes (
        .write_clock(link_clock), .write(received), .in(received_byte), .ready(byte_ready),
        .read_clock(core_clock), .valid(byte_valid), .out(byte_in), .take(byte_take));

    wire [3:0]  written_gray, written, sent, sent_gray, sent_seen;
    wire        put;
    wire [12:0] put_at;
    wire [3:0]  put_bytes;
    wire [63:0] put_data, word;
    wire [9:0]  read_word;
    wire        read_slot, slot_done, sender_valid, sender_take, sender_idle;
    wire [7:0]  sender_byte;
    bustap_core #(.CORE_MHZ(CORE_MHZ), .SERIAL(SERIAL)) core (
        .clock(core_clock), .clock_hz(clock_hz), .armed(armed), .stall_enable(stall_enable),
        .stall_valid(stall_valid), .stall_counts(stall_counts), .stall_take(stall_take),
        .entry_valid(entry_valid), .entry(entry), .entry_take(entry_take),
        .byte_valid(byte_valid), .byte_in(byte_in), .byte_take(byte_take),
        .written_gray(written_gray), .sent(sent_seen), .put(put), .put_at(put_at),
        .put_bytes(put_bytes), .put_data(put_data));

    slot_memory slots (
        .write_clock(core_clock), .write(put), .write_at(put_at), .write_bytes(put_bytes),
        .in(put_data), .read_clock(link_clock), .read(read_slot), .read_word(read_word), .out(word));
    gray_reader #(.BITS(4)) written_crossing (
        .clock(link_clock), .gray(written_gray), .binary(written));
    gray_counter #(.BITS(4)) sent_counter (
        .clock(link_clock), .step(slot_done), .binary(sent), .gray(sent_gray));
    gray_reader #(.BITS(4)) sent_crossing (
        .clock(core_clock), .gray(sent_gray), .binary(sent_seen));

    frame_sender sender (
        .clock(link_clock), .written(written), .slot_done(slot_done), .sent(sent),
        .read(read_slot), .read_word(read_word), .word(word), .valid(sender_valid),
        .out(sender_byte), .take(sender_take), .idle(sender_idle));
    ft245_port port (
        .clock(link_clock), .can_write(can_write), .can_read(can_read), .data_in(data_in),
        .data_next(data_next), .drive_next(drive_next), .write_next(write_next),
        .read_next(read_next), .output_next(output_next), .flush_next(flush_next),
        .valid(sender_valid), .in(sender_byte), .take(sender_take), .idle(sender_idle),
        .received(received), .out(received_byte), .room(byte_ready));
endmodule
