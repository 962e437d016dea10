// An entry of the FIFO between the bus and the core, 64 bits:
//
//   request      63:47 clocks since the entry before | 46:44 processor | 43:41 attribute
//                | 40:37 size | 36:32 code | 31:0 address
//   time or loss 63:47, 46:37, 31:28 clocks since the entry before, low bits first | 36:32 CODE_TIME
//                | 27:0 phases dropped since the entry before
//
// Codes 0 to 16 are the request types in the order of doc/wire-protocol.md, "Configure".
localparam [4:0] TYPE_FETCH = 5'd0, TYPE_MEMREAD = 5'd1, TYPE_MEMREADINV = 5'd2, TYPE_MEMWRITE = 5'd3,
                 TYPE_IOREAD = 5'd4, TYPE_IOWRITE = 5'd5, TYPE_DEFERREPLY = 5'd6, TYPE_INTA = 5'd7,
                 TYPE_CNTRLAGNTRES = 5'd8, TYPE_BRTRACEREC = 5'd9,
                 TYPE_SPECIAL = 5'd9, // plus the special transaction's byte enables, 1 to 7
                 CODE_ABOVE = 5'd17, CODE_UNDECODED = 5'd18, CODE_TIME = 5'd19;
// Sizes 0 to 8 are themselves.
localparam [3:0] SIZE_16 = 4'd9, SIZE_32 = 4'd10;
