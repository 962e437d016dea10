// The core domain: requests of the bus and bytes of commands come in, frames go out into slot_memory. This
// module connects its parts and decides which of them uses state_memory, whose one read and one write
// port frame_maker has first, then record_packer, then command_reader.
module bustap_core #(parameter CORE_MHZ = 66, parameter [127:0] SERIAL = "0000000000000000") (
    input  wire        clock,
    input  wire [31:0] clock_hz,    // of the bus
    output wire        armed,

    // bus_stall: whether it may stall the bus; its counts, by a word_crossing
    output reg         stall_enable,
    input  wire        stall_valid,
    input  wire [18:0] stall_counts,
    output wire        stall_take,

    // entries of bus_front (entry_codes.vh), from the dual_clock_fifo
    input  wire        entry_valid,
    input  wire [63:0] entry,
    output wire        entry_take,

    // bytes from the host, by a word_crossing
    input  wire        byte_valid,
    input  wire [7:0]  byte_in,
    output wire        byte_take,

    // the queue: frames written and, by frame_sender, sent, modulo 16; writes to slot_memory
    output wire [3:0]  written_gray,
    input  wire [3:0]  sent,
    output wire        put,
    output wire [12:0] put_at,       // slot 12:10, byte in it 9:0
    output wire [3:0]  put_bytes,    // 1 to 8
    output wire [63:0] put_data
);
    // --- configuration and commands ---
    wire [16:0] types;
    wire [7:0]  processors;
    wire [3:0]  range_count;
    wire        outside, packing, stall, fill_start, fill_busy, in_range, look, combine;
    wire        command, command_done, at_rest, draining;
    wire [31:0] tag, argument;
    wire [7:0]  code;
    wire [2:0]  status;

    // --- state memory ---
    wire        maker_read, maker_store, slot_read, slot_write, reader_read, reader_store;
    wire [7:0]  maker_read_word, maker_store_word, reader_read_word, reader_store_word, reader_store_bytes;
    wire [63:0] maker_store_in, slot_in, reader_store_in, state;
    wire [3:0]  slot_read_word, slot_write_word;
    wire [2:0]  range_index;
    wire        may_read, may_write;
    wire        reader_read_granted = !maker_read && !may_read && !fill_busy;
    wire        reader_store_granted = !maker_store && !may_write;
    state_memory #(.SERIAL(SERIAL)) words (
        .clock(clock),
        .read(maker_read || slot_read || reader_read || fill_busy),
        .read_word(maker_read ? maker_read_word : may_read ? {4'd0, slot_read_word}
                   : fill_busy ? {5'b00110, range_index} : reader_read_word),
        .out(state),
        .write(maker_store || slot_write ? 8'hff : reader_store ? reader_store_bytes : 8'h00),
        .write_word(maker_store ? maker_store_word : may_write ? {4'd0, slot_write_word}
                    : reader_store_word),
        .in(maker_store ? maker_store_in : may_write ? slot_in : reader_store_in));

    command_reader reader (
        .clock(clock), .byte_valid(byte_valid), .byte_in(byte_in), .byte_take(byte_take),
        .command(command), .tag(tag), .code(code), .status(status), .argument(argument),
        .done(command_done), .at_rest(at_rest), .draining(draining), .types(types), .processors(processors),
        .range_count(range_count), .outside(outside), .packing(packing), .stall(stall),
        .fill_start(fill_start), .fill_busy(fill_busy), .read(reader_read), .read_word(reader_read_word),
        .read_granted(reader_read_granted), .state(state), .store(reader_store),
        .store_word(reader_store_word), .store_bytes(reader_store_bytes), .store_in(reader_store_in),
        .store_granted(reader_store_granted));

    address_ranges ranges (
        .clock(clock), .start(fill_start), .busy(fill_busy), .index(range_index), .bounds(state),
        .look(look), .address(entry[31:0]), .count(range_count), .combine(combine),
        .in_range(in_range));

    // --- records ---
    wire        hold, open, can_open, wants_open, wants_close, wants_loss, absorb, loss_done;
    wire        restart, quiet, lost_now, loss_pending, crowded, saw_above, saw_undecoded, begin_frame;
    wire        append, packer_ready, packer_busy, packer_full, packer_near_full;
    wire [27:0] missed;
    wire [63:0] tick;
    wire [31:0] address, record_time;
    wire [14:0] kind;
    wire [6:0]  clear;
    wire [69:0] events;
    wire [9:0]  record_bytes, record_count;
    recorder recorder (
        .clock(clock), .entry_valid(entry_valid), .entry(entry), .entry_take(entry_take),
        .types(types), .processors(processors), .ranges_used(range_count != 0), .outside(outside),
        .look(look), .combine(combine), .in_range(in_range),
        .armed(armed), .hold(hold), .open(open), .can_open(can_open), .stall(stall),
        .loss_pending(loss_pending), .wants_open(wants_open), .wants_close(wants_close),
        .wants_loss(wants_loss), .missed(missed), .absorb(absorb), .loss_done(loss_done),
        .restart(restart), .quiet(quiet), .tick(tick), .lost_now(lost_now), .append(append),
        .address(address), .kind(kind), .record_time(record_time), .packer_ready(packer_ready),
        .packer_busy(packer_busy), .packer_full(packer_full), .packer_near_full(packer_near_full),
        .frame_empty(record_count == 0 && !packer_busy), .clear(clear), .events(events),
        .crowded(crowded), .saw_above(saw_above), .saw_undecoded(saw_undecoded));

    wire        record_put;
    wire [3:0]  record_put_bytes;
    wire [63:0] record_put_data;
    record_packer packer (
        .clock(clock), .begin_frame(begin_frame), .packed_frame(packing), .append(append),
        .ready(packer_ready), .address(address), .kind(kind), .time_in(record_time),
        .busy(packer_busy), .may_read(may_read), .may_write(may_write), .full(packer_full),
        .near_full(packer_near_full), .bytes(record_bytes), .count(record_count), .slot_read(slot_read),
        .slot_read_word(slot_read_word), .slot(state), .slot_write(slot_write),
        .slot_write_word(slot_write_word), .slot_in(slot_in), .put(record_put),
        .put_bytes(record_put_bytes), .put_data(record_put_data));

    // --- frames ---
    wire        flush_due, heartbeat_due, load_flush, load_heartbeat, maker_put, commit;
    wire [3:0]  written, written_count;
    wire [6:0]  maker_put_word;
    wire [63:0] maker_put_data;
    frame_maker maker (
        .clock(clock), .clock_hz(clock_hz), .packing(packing), .hold(hold), .quiet(quiet),
        .wants_open(wants_open), .wants_close(wants_close), .wants_loss(wants_loss),
        .missed(missed), .absorb(absorb), .loss_done(loss_done), .restart(restart), .clear(clear),
        .events(events), .crowded(crowded), .saw_above(saw_above), .saw_undecoded(saw_undecoded),
        .tick(tick), .lost_now(lost_now), .loss_pending(loss_pending), .open(open),
        .can_open(can_open), .armed(armed), .begin_frame(begin_frame), .full(packer_full && !packer_busy),
        .record_bytes(record_bytes), .record_count(record_count), .command(command), .tag(tag),
        .code(code), .status(status), .argument(argument), .command_done(command_done),
        .at_rest(at_rest), .draining(draining), .stall_valid(stall_valid),
        .stall_counts(stall_counts), .stall_take(stall_take), .flush_due(flush_due),
        .heartbeat_due(heartbeat_due), .load_flush(load_flush), .load_heartbeat(load_heartbeat),
        .read(maker_read), .read_word(maker_read_word), .state(state), .store(maker_store),
        .store_word(maker_store_word), .store_in(maker_store_in), .written(written),
        .commit(commit), .sent(sent), .put(maker_put), .put_word(maker_put_word),
        .put_data(maker_put_data));

    timers #(.CORE_MHZ(CORE_MHZ)) timers (
        .clock(clock), .load_flush(load_flush), .load_heartbeat(load_heartbeat),
        .flush_us(state[31:0]), .heartbeat_ms(state[63:32]), .flush_due(flush_due),
        .heartbeat_due(heartbeat_due));

    initial stall_enable = 1'b0;
    always @(posedge clock)
        stall_enable <= stall && armed;

    gray_counter #(.BITS(4)) counter (
        .clock(clock), .step(commit), .binary(written_count), .gray(written_gray));
    assign put = maker_put || record_put;
    assign put_at = {written[2:0], maker_put ? {maker_put_word, 3'd0} : record_bytes + 10'd64};
    assign put_bytes = maker_put ? 4'd8 : record_put_bytes;
    assign put_data = maker_put ? maker_put_data : record_put_data;
endmodule
