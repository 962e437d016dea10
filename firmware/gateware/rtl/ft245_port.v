// Link domain: the synchronous FIFO of an FT232H or FT2232H (FT245 protocol, 60 MHz). All pins have registers.
// TXE# and RXF#, which decide whether the next rising edge transfers a byte, are sampled on the falling edge
// before it: a byte may be written in every clock, and one that is refused is offered again. Reading a
// byte takes six clocks, in which none is written. 1 is asserted; a port that ends in _next is the pin's level
// after the next rising edge.
module ft245_port (
    input  wire       clock,
    input  wire       can_write,   // TXE# at the next rising edge
    input  wire       can_read,    // RXF# at the next rising edge
    input  wire [7:0] data_in,     // the data pins at the last rising edge
    output wire [7:0] data_next,
    output wire       drive_next,  // the board drives the data pins
    output wire       write_next,  // WR#
    output wire       read_next,   // RD#
    output wire       output_next, // OE#: the chip drives the data pins
    output wire       flush_next,  // SIWU#: the chip sends a short packet

    // frame_sender
    input  wire       valid,
    input  wire [7:0] in,
    output wire       take,
    input  wire       idle,        // no frame waits

    // the word_crossing of commands
    output wire       received,    // `out` is a byte
    output wire [7:0] out,
    input  wire       room
);
    // --- a buffer of three bytes: `take` needs not follow TXE# within half a clock, and a byte goes out in each clock ---
    reg  [7:0] first, second, third;
    reg  [1:0] count = 2'd0;
    reg        writing = 1'b0;                        // `first` is on the pins
    wire       accepted = writing && can_write;
    assign take = valid && count != 2'd3;
    wire [1:0] left = count - {1'b0, accepted};
    assign data_next = accepted ? second : first;

    always @(posedge clock) begin
        count <= left + {1'b0, take};
        if (take && left == 0)
            first <= in;
        else if (accepted)
            first <= second;
        if (take && left == 2'd1)
            second <= in;
        else if (accepted)
            second <= third;
        if (take)
            third <= in;
    end

    // --- the data pins are driven by the board (WRITE), nobody, the chip, nobody ---
    localparam [2:0] WRITE = 3'd0, RELEASE = 3'd1, DRIVEN = 3'd2, READ = 3'd3, TAKE = 3'd4, RETURN = 3'd5;
    reg  [2:0] phase = WRITE;
    wire       turn = phase == WRITE && can_read && room && !just_received;
    reg        just_received = 1'b0;
    reg        reading = 1'b0; // RD# is low
    wire       taken = reading && can_read;
    reg        got = 1'b0;
    wire       write_now = phase == WRITE && !turn && left != 0;
    assign write_next = write_now;
    assign drive_next = phase == WRITE ? !turn : phase == RETURN;
    assign output_next = phase == RELEASE || phase == DRIVEN;
    assign read_next = phase == DRIVEN;

    always @(posedge clock) begin
        writing <= write_now;
        reading <= read_next;
        got <= taken;
        just_received <= got || (just_received && !room);
        case (phase)
        WRITE: if (turn) phase <= RELEASE;
        RELEASE: phase <= DRIVEN;
        DRIVEN: phase <= READ;
        READ: phase <= TAKE;
        TAKE: phase <= RETURN;
        default: phase <= WRITE;
        endcase
    end
    assign received = got;
    assign out = data_in;

    // --- when the board has nothing more to send, the chip sends a short packet at once ---
    reg unsent = 1'b0; // bytes were written since the last flush
    assign flush_next = unsent && idle && count == 0 && !writing && phase == WRITE;
    always @(posedge clock)
        unsent <= accepted || (unsent && !flush_next);
endmodule
