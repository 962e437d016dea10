// Programs of frame_program.v, by their first step.
localparam [6:0] PROGRAM_NONE = 7'd0, PROGRAM_ADD_UP = 7'd1, PROGRAM_CLOSE = 7'd13, PROGRAM_OPEN = 7'd17,
                 PROGRAM_LOSS = 7'd26, PROGRAM_HEADER = 7'd33, PROGRAM_REPLY = 7'd43,
                 PROGRAM_IDENTITY = 7'd44, PROGRAM_COUNTERS = 7'd47, PROGRAM_PATTERN = 7'd53,
                 PROGRAM_TAIL = 7'd60, PROGRAM_RESET = 7'd63, PROGRAM_TEST = 7'd66;

// `add`: 1 to 7 are events of the recorder.
localparam [3:0] ADD_ZERO = 4'd0, ADD_SEEN = 4'd1, ADD_ACCEPTED = 4'd2, ADD_FILTERED = 4'd3,
                 ADD_ABOVE = 4'd4, ADD_UNDECODED = 4'd5, ADD_LOST = 4'd6, ADD_KEPT = 4'd7,
                 ADD_ONE = 4'd8, ADD_SEQUENCE = 4'd9, ADD_MISSED = 4'd10, ADD_PATTERN = 4'd11,
                 ADD_PATTERN_FRAME = 4'd12, ADD_STALLED = 4'd13, ADD_STALLS = 4'd14;
localparam [2:0] STORE_SUM = 3'd0, STORE_TICK = 3'd1, STORE_ZERO = 3'd2, STORE_ARGUMENT = 3'd3,
                 STORE_CLOCK = 3'd4;
localparam [2:0] PUT_KIND = 3'd0, PUT_STATE = 3'd1, PUT_TICK = 3'd2, PUT_COUNT = 3'd3, PUT_REPLY = 3'd4,
                 PUT_QUEUE = 3'd5, PUT_SESSION = 3'd6, PUT_PHASE = 3'd7;
// `condition`: always, in a session, in a session or for PATTERN, for END.
localparam [1:0] IF_ALWAYS = 2'd0, IF_SESSION = 2'd1, IF_NUMBERED = 2'd2, IF_END = 2'd3;
