"""verdicts.py COMPILER LEVEL PROGRAM TRUTH TABLE: judges all kernels of PROGRAM, and writes a row for each to TABLE."""
import collections, json, subprocess, sys

CLASSES = ["independent", "privatizable", "reduction", "distance", "serial"]
DECLARED, INNER, SINKS, ONCE, EITHER = 1, 2, 4, 8, 16
GROUP, TIMES = 8, 16
compiler, level, program, truth_file, table_file = sys.argv[1:]

kernels = [line.split() for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()]
truths = {name: (int(truth), int(distance)) for name, truth, distance in map(str.split, open(truth_file))}


def loops_of(first, count, times):
    report = program + ".json"
    subprocess.run(["bustap", "depend", "--json", "-o", report, program, str(first), str(count), str(times)], check=True,
                   stdout=subprocess.DEVNULL)
    loops = collections.defaultdict(list)
    result = json.load(open(report))
    for loop in result["loops"]:
        function = (result["places"][loop["place"]].get("function") or "").split(".")[0].split("(")[0]
        loops[function].append(loop)
    return loops


def pick(loops, flags):
    """The loop of a function that is LOOP: the one with most instructions, or of the loops inside it."""
    if flags & INNER and loops:
        outer = min(loop["entries"] for loop in loops)
        loops = [loop for loop in loops if loop["entries"] > outer]
    return max(loops, key=lambda loop: loop["instructions"], default=None)


def opinion(verdict, distance, truth, least):
    """dangerous, needlessly serial, correct (parallel, allowed), or serial."""
    if verdict == "serial":
        return "needless" if truth < CLASSES.index("distance") else "serial"
    if verdict == "distance":
        if truth < CLASSES.index("distance"):
            return "needless"
        return "correct" if truth == CLASSES.index("distance") and distance <= least else "dangerous"
    return "correct" if CLASSES.index(verdict) >= truth else "dangerous"


rows = []
for first in range(0, len(kernels), GROUP):
    loops = loops_of(first, GROUP, TIMES)
    for index, (name, family, declared, flags) in enumerate(kernels[first:first + GROUP]):
        flags, declared = int(flags), int(declared)
        loop = pick(loops.get("k_" + name, []), flags)
        if not loop or loop["verdict"] in (None, "unjudged"):  # fewer than one hundredth of the instructions
            loop = pick(loops_of(first + index, 1, 256 * TIMES).get("k_" + name, []), flags)
        truth, least = truths.get(name, (declared, 1))
        if not loop or loop["verdict"] in (None, "unjudged"):
            verdict, found = "none", "none"
        else:
            verdict = loop["verdict"]
            if flags & SINKS and level != "-O0" and truth == CLASSES.index("privatizable"):
                truth = 0
            if flags & ONCE and "no entry had a second iteration" in loop["reasons"]:
                truth = 0
            found = "serial" if flags & EITHER and verdict == "serial" else opinion(verdict, loop["distance"], truth, least)
        reasons = "; ".join(loop["reasons"]) if loop else ""
        shown = verdict + (" %d" % loop["distance"] if verdict == "distance" else "")
        rows.append((compiler, level, family, name, CLASSES[truth] + (" %d" % least if truth == 3 else ""), shown, found,
                     reasons))
with open(table_file, "w") as table:
    for row in rows:
        table.write("\t".join(row) + "\n")
