// What slot_counts.v assumes of the programs of frame_program.v, and frame_programs.v proves.
function may_put(input [6:0] step);
    may_put = (step >= PROGRAM_CLOSE && step < PROGRAM_LOSS) || (step >= PROGRAM_HEADER && step < PROGRAM_RESET);
endfunction

// A program's last step.
function must_end(input [6:0] step);
    case (step)
    PROGRAM_ADD_UP + 7'd11, PROGRAM_CLOSE + 7'd3, PROGRAM_OPEN + 7'd6, PROGRAM_LOSS + 7'd6, PROGRAM_HEADER + 7'd7,
    PROGRAM_REPLY, PROGRAM_IDENTITY + 7'd1, PROGRAM_COUNTERS + 7'd5, PROGRAM_PATTERN + 7'd6, PROGRAM_TAIL + 7'd2,
    PROGRAM_RESET + 7'd2, PROGRAM_TEST + 7'd2: must_end = 1'b1;
    default: must_end = 1'b0;
    endcase
endfunction
