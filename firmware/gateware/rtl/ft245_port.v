// The synchronous FIFO of an FT232H or FT2232H (FT245 protocol, 60 MHz). All pins have registers; the
// two inputs that decide whether the next rising edge transfers a byte are sampled on the falling edge
// before it, so that the byte after an accepted one follows in the next clock, and a refused one is
// offered again.
//
// Outputs are the values after the next rising edge.
module ft245_port (
    input  wire       clock,
    input  wire       can_write,   // TXE# low at the next rising edge
    input  wire       can_read,    // RXF# low at the next rising edge
    input  wire [7:0] data_in,     // the data pins at the last one
    output wire [7:0] data_next,
    output wire       drive_next,
    output wire       write_next,  // WR# low
    output wire       read_next,   // RD# low
    output wire       output_next, // OE# low: the chip drives the data pins
    output wire       flush_next,  // SIWU# low

    input  wire       valid,       // from frame_sender
    input  wire [7:0] in,
    output wire       take,
    input  wire       idle,

    output wire       received,    // to the word_crossing of commands
    output wire [7:0] out,
    input  wire       room
);
    // --- two bytes wait, so that frame_sender needs not know within half a clock ---
    reg  [7:0] first, second;
    reg  [1:0] count = 2'd0;
    reg        writing = 1'b0;                        // `first` is on the pins
    wire       accepted = writing && can_write;
    assign take = valid && !count[1];
    wire [1:0] left = count - {1'b0, accepted};
    assign data_next = accepted ? second : first;

    always @(posedge clock) begin
        count <= left + {1'b0, take};
        if (take && left == 0)
            first <= in;
        else if (accepted)
            first <= second;
        if (take)
            second <= in;
    end

    // --- who drives the data pins: the board, nobody, the chip, nobody ---
    localparam [2:0] WRITE = 3'd0, RELEASE = 3'd1, LISTEN = 3'd2, READ = 3'd3, TAKE = 3'd4, RETURN = 3'd5;
    reg  [2:0] phase = WRITE;
    wire       turn = phase == WRITE && can_read && room && !just_received;
    reg        just_received = 1'b0;
    reg        reading = 1'b0; // RD# is low
    wire       taken = reading && can_read;
    reg        got = 1'b0;
    wire       write_now = phase == WRITE && !turn && left != 0;
    assign write_next = write_now;
    assign drive_next = phase == WRITE ? !turn : phase == RETURN;
    assign output_next = phase == RELEASE || phase == LISTEN;
    assign read_next = phase == LISTEN;

    always @(posedge clock) begin
        writing <= write_now;
        reading <= read_next;
        got <= taken;
        just_received <= got || (just_received && !room);
        case (phase)
        WRITE: if (turn) phase <= RELEASE;
        RELEASE: phase <= LISTEN;
        LISTEN: phase <= READ;
        READ: phase <= TAKE;
        TAKE: phase <= RETURN;
        default: phase <= WRITE;
        endcase
    end
    assign received = got;
    assign out = data_in;

    // --- the chip sends a partial packet at once when the board has nothing more ---
    reg unsent = 1'b0;
    assign flush_next = unsent && idle && count == 0 && !writing && phase == WRITE;
    always @(posedge clock)
        unsent <= accepted || (unsent && !flush_next);
endmodule
