// The programs of frame_program end where slot_counts.v says, and only those of frames put words.
module frame_programs (input wire [6:0] step);
`include "frame_program.vh"
`include "frame_programs.vh"
    wire put, last;
    frame_program program (.step(step), .put(put), .last(last));
    always @* begin
        if (step == PROGRAM_NONE || !may_put(step))
            assert (!put);
        if (must_end(step))
            assert (last);
        if (step == PROGRAM_NONE)
            assert (!last);
    end
endmodule
