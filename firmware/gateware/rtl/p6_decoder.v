// Bus domain: decodes a request phase of the P6 bus (doc/p6-decoding.md, firmware/p6.c) into the fields
// of a FIFO entry (entry_codes.vh). `done` follows `phase` by two clocks. 1 is asserted.
module p6_decoder (
    input  wire        clock,

    // valid with `phase`: the pins in the first (_a) and second (_b) clock of a request phase
    input  wire        phase,
    input  wire [35:3] address_a,
    input  wire [4:0]  request_a,
    input  wire [31:3] address_b,
    input  wire [4:0]  request_b,

    // valid with `done`
    output reg         done,
    output reg  [31:0] address,
    output reg  [4:0]  code,      // request type, above 4 GiB, or undecoded
    output reg  [3:0]  size,
    output reg  [2:0]  attribute,
    output reg  [2:0]  processor
);
`include "entry_codes.vh"

    // --- first clock: the rule that REQa selects, and the first requested byte ---
    // NONE: undecoded; SIZED: has an address and a length; DEFERRED: deferred reply; CENTRAL: interrupt
    // acknowledge, special transaction or central agent response; TRACE: branch trace message.
    localparam NONE = 3'd0, SIZED = 3'd1, DEFERRED = 3'd3, CENTRAL = 3'd4, TRACE = 3'd5;
    reg [2:0] rule;
    reg [4:0] request_type;
    reg       wide; // ASZ 01: 36 bits of address

    wire [7:0] enables = address_b[15:8];
    wire [1:0] length = request_b[1:0];
    // The enabled bytes whose predecessor is not enabled; byte 7 precedes byte 0.
    wire [7:0] starts = enables & ~{enables[6:0], enables[7]};
    wire [2:0] lowest = starts[0] ? 3'd0 : starts[1] ? 3'd1 : starts[2] ? 3'd2 : starts[3] ? 3'd3
                      : starts[4] ? 3'd4 : starts[5] ? 3'd5 : starts[6] ? 3'd6
                      : starts[7] ? 3'd7 : 3'd0;

    reg        phase_1 = 1'b0, above_1;
    reg [2:0]  rule_1, offset_1, attribute_1, agent_1;
    reg [4:0]  type_1;
    reg [1:0]  length_1;
    reg [7:0]  enables_1;
    reg [31:3] address_1;

    always @* begin
        rule = NONE;
        request_type = 5'd0;
        wide = 1'b0;
        case (request_a)
        5'b00000: begin rule = DEFERRED; request_type = TYPE_DEFERREPLY; end
        5'b00010, 5'b01010: begin rule = SIZED; request_type = TYPE_MEMREADINV; wide = request_a[3]; end
        5'b00100, 5'b01100: begin rule = SIZED; request_type = TYPE_FETCH; wide = request_a[3]; end
        5'b00110, 5'b01110: begin rule = SIZED; request_type = TYPE_MEMREAD; wide = request_a[3]; end
        5'b00101, 5'b00111, 5'b01101, 5'b01111: begin
            rule = SIZED; request_type = TYPE_MEMWRITE; wide = request_a[3];
        end
        5'b01000: begin rule = CENTRAL; request_type = TYPE_INTA; end
        5'b01001: begin rule = TRACE; request_type = TYPE_BRTRACEREC; end
        5'b10000: begin rule = SIZED; request_type = TYPE_IOREAD; end
        5'b10001: begin rule = SIZED; request_type = TYPE_IOWRITE; end
        default: ;
        endcase
    end

    always @(posedge clock) begin
        phase_1 <= phase;
        rule_1 <= rule;
        type_1 <= request_type;
        above_1 <= wide && address_a[35:32] != 0;
        length_1 <= length;
        enables_1 <= enables;
        offset_1 <= length == 0 && rule != DEFERRED ? lowest : 3'd0;
        attribute_1 <= address_b[26:24];
        agent_1 <= rule == DEFERRED ? address_a[22:20] : address_b[22:20];
        address_1 <= address_a[31:3];
    end

    // --- second clock: code and size ---
    wire [3:0] count = {3'd0, enables_1[0]} + {3'd0, enables_1[1]} + {3'd0, enables_1[2]}
                     + {3'd0, enables_1[3]} + {3'd0, enables_1[4]} + {3'd0, enables_1[5]}
                     + {3'd0, enables_1[6]} + {3'd0, enables_1[7]};
    wire [3:0] sized = length_1 == 0 ? count : length_1 == 1 ? SIZE_16 : SIZE_32;
    wire special = enables_1[7:3] == 0 && enables_1[2:0] != 0;

    initial done = 1'b0;
    always @(posedge clock) begin
        done <= phase_1;
        address <= {address_1, offset_1};
        attribute <= attribute_1;
        processor <= agent_1;
        size <= 4'd0;
        code <= type_1;
        case (rule_1)
        SIZED: begin
            size <= sized;
            if (length_1 == 3)
                code <= CODE_UNDECODED;
            else if (above_1)
                code <= CODE_ABOVE;
        end
        DEFERRED: ;
        CENTRAL:
            case (length_1)
            2'd0: size <= count;
            2'd1: code <= special ? TYPE_SPECIAL + {2'd0, enables_1[2:0]} : CODE_UNDECODED;
            default: code <= TYPE_CNTRLAGNTRES;
            endcase
        TRACE:
            if (length_1 == 0)
                size <= count;
            else
                code <= TYPE_CNTRLAGNTRES;
        default: code <= CODE_UNDECODED;
        endcase
    end
endmodule
