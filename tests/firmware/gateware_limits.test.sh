#!/bin/bash
# What make gateware checks in a synthesised, placed and routed board: small designs with one fault each fail, and the
# one without a fault passes.
set -eu
for tool in yosys nextpnr-ice40; do
    command -v "$tool" >/dev/null || {
        echo "$tool is not installed: .ci/packages gateware"
        exit 77
    }
done
checks=$TOP/firmware/gateware

cat >design.v <<'END'
module design (
`ifdef OTHER_CLOCK
    input three,
`endif
    input one, input two, input a, input b, output q);
    wire a_in, b_in;
    reg both, first, second, held, last;
`ifdef NO_INPUT_REGISTER
    localparam INPUT = 6'b000001;
`else
    localparam INPUT = 6'b000000;
`endif
`ifdef NO_OUTPUT_REGISTER
    localparam OUTPUT = 6'b011001;
`else
    localparam OUTPUT = 6'b010101;
`endif
`ifdef OTHER_CLOCK
    wire clock = three;
`else
    wire clock = two;
`endif
    SB_IO #(.PIN_TYPE(INPUT)) pin_a (.PACKAGE_PIN(a), .INPUT_CLK(one), .D_IN_0(a_in));
    SB_IO #(.PIN_TYPE(6'b000000)) pin_b (.PACKAGE_PIN(b), .INPUT_CLK(one), .D_IN_0(b_in));
    SB_IO #(.PIN_TYPE(OUTPUT)) pin_q (.PACKAGE_PIN(q), .OUTPUT_CLK(clock), .D_OUT_0(last));
    always @(posedge one) both <= a_in ^ b_in;
    always @(posedge one) first <= both;
`ifdef LOGIC
    always @(posedge two) second <= first & both;
`else
    always @(posedge two) second <= first;
`endif
`ifdef LATCH
    always @* if (second) held = last;
`else
    always @(posedge two) held <= second & last;
`endif
    always @(posedge clock) last <= held ^ second;
endmodule
END

synthesise() { # NAME DEFINITIONS...
    yosys -q -p "read_verilog ${*:2} design.v" -p "synth_ice40 -abc9 -device hx -top design -json $1.json" >log 2>&1 || {
        cat log
        exit 1
    }
}
fails() { # EXPECTED COMMAND...
    local status=0
    "${@:2}" >output 2>&1 || status=$?
    cat output
    [ "$status" -eq 1 ] && grep -q "$1" output || { echo "exit status $status; expected: $1"; exit 1; }
}
check() { "$checks/check_netlist" "$1.json" crossings "${@:2}"; }

echo 'first -> second # why' >crossings
synthesise good
check good one two

faults=('LATCH|held.*: a latch' 'NO_INPUT_REGISTER|pin a.* has no register' 'NO_OUTPUT_REGISTER|pin q.* has no register'
    'OTHER_CLOCK|last.*: its clock .* has no limit' 'LOGIC|both -> second through logic: a crossing')
for fault in "${faults[@]}"; do
    synthesise bad "-D${fault%%|*}"
    fails "${fault#*|}" check bad one two
done
fails 'clock two has no limit' check good one
true >crossings
fails 'first -> second: a crossing that crossings does not list' check good one two
printf 'first -> second\nsecond -> first\n' >crossings
fails 'second -> first is not in the netlist' check good one two

nextpnr-ice40 --quiet --hx8k --package ct256 --json good.json --report report.json --asc good.asc >log 2>&1 || {
    cat log
    exit 1
}
icetime -d hx8k -t good.asc >icetime.txt 2>&1
"$checks/check_timing" report.json icetime.txt one=66 two=66 >table
grep -q '^| two | 66 | [0-9.]* | .* to .* |$' table
fails 'two reaches [0-9.]* MHz; the limit is 9999' "$checks/check_timing" report.json icetime.txt one=66 two=9999
fails 'the clock two.* has no limit' "$checks/check_timing" report.json icetime.txt one=66
fails 'the clock core is not in the report' "$checks/check_timing" report.json icetime.txt one=66 two=66 core=66
jq '.utilization.ICESTORM_LC.used = (.utilization.ICESTORM_LC.available * 0.91 | ceil)' report.json >full.json
fails 'logic cells are more than 90%' "$checks/check_timing" full.json icetime.txt one=66 two=66

printf '   %s   %s\n' LUT4 9000 CCU2C 1000 TRELLIS_FF 3000 DP16KD 20 >stat.txt
"$checks/count_ecp5" stat.txt >table
grep -q '^| LUT4 | 11000 | 12288 | 90% |$' table
sed -i 's/1000$/1100/; /DP16KD/d' stat.txt
fails '11200 LUT4 are more than 90%' "$checks/count_ecp5" stat.txt
fails 'no RAM blocks' "$checks/count_ecp5" stat.txt
