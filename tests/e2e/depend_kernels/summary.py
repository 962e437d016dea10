"""summary.py VERDICTS KERNELS TRUTH [check BASELINE | record BASELINE]: prints the figures and each dangerous verdict.

BASELINE says for each compiler and level how many verdicts may be needlessly serial, and names the kernels whose
verdicts were correct and not serial when it was first recorded. `record` again replaces the former only. `check` fails
on a dangerous verdict, if more verdicts are needlessly serial, or if less than 90 % of these kernels still have such a
verdict. A line COMPILER LEVEL KERNEL dangerous names a fault of depend that is known and not mended; it is printed.
"""
import collections, os, sys

CLASSES = ["independent", "privatizable", "reduction", "distance", "serial"]
rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
kernels = [line.split() for line in open(sys.argv[2])]
truths = {line.split()[0]: line.split()[1] for line in open(sys.argv[3])}
action, baseline = sys.argv[4:] or (None, None)
wrong = [f"{name}: declared {CLASSES[int(declared)]}, but the oracle says {CLASSES[int(truths[name])]}"
         for name, family, declared, flags in kernels if truths.get(name, declared) != declared]
names = [name for name, *_ in kernels]
wrong += [f"{name}: there are two" for name in set(names) if names.count(name) > 1]


def recorded(path):
    """For each run, how many verdicts may be needlessly serial, the correct kernels, and those known to be dangerous."""
    most, correct, unmended = {}, collections.defaultdict(set), collections.defaultdict(set)
    for compiler, level, *what in map(str.split, open(path) if os.path.exists(path) else []):
        if what[1:] == ["dangerous"]:
            unmended[compiler + " " + level].add(what[0])
        elif len(what) > 1:
            most[compiler + " " + level] = int(what[0])
        else:
            correct[compiler + " " + level].add(what[0])
    return most, correct, unmended


def print_table(title, keys):
    counts = collections.defaultdict(collections.Counter)
    for row in rows:
        counts[keys(row)][row[6]] += 1
    print(f"{title:<18}{'kernels':>9}{'verdicts':>10}{'dangerous':>11}{'needlessly serial':>19}{'correct parallel':>18}")
    for key, count in sorted(counts.items()):
        total = sum(count.values())
        print(f"{key:<18}{total:>9}{total - count['none']:>10}{count['dangerous']:>11}{count['needless']:>19}"
              f"{count['correct']:>18}")


for row in rows:
    if row[6] == "dangerous":
        print("dangerous:", *row[:2], row[3] + ":", row[5], "for", row[4] + ":", row[7])
print_table("class", lambda row: row[2])
print_table("compiler", lambda row: row[0] + " " + row[1])
print_table("all", lambda row: "")
print(f"{len(kernels)} kernels")

runs = collections.defaultdict(lambda: collections.defaultdict(list))
for row in rows:
    runs[row[0] + " " + row[1]][row[6]].append(row[3])
if action == "record":
    _, correct, unmended = recorded(baseline)
    with open(baseline, "w") as to:
        for run, found in sorted(runs.items()):
            print(run, len(found["needless"]), "needlessly serial", file=to)
            for name in sorted(unmended[run] & set(found["dangerous"])):
                print(run, name, "dangerous", file=to)
            for name in sorted(correct[run] or found["correct"]):
                print(run, name, file=to)
if action == "check":
    kept = known = 0
    most, correct, unmended = recorded(baseline)
    for run, found in sorted(runs.items()):
        known += len(correct[run])
        kept += len(correct[run] & set(found["correct"]))
        if len(found["needless"]) > most[run]:
            wrong.append(f"{run}: {len(found['needless'])} verdicts are needlessly serial, at most {most[run]} were")
        dangerous = set(found["dangerous"])
        if dangerous & unmended[run]:
            print(f"{run}: known and not mended: {' '.join(sorted(dangerous & unmended[run]))}")
        if dangerous - unmended[run]:
            wrong.append(f"{run}: dangerous verdicts: {' '.join(sorted(dangerous - unmended[run]))}")
        if unmended[run] - dangerous:
            wrong.append(f"{run}: mended, but still listed as dangerous: {' '.join(sorted(unmended[run] - dangerous))}")
    print(f"{kept} of {known} correct verdicts that were not serial when the figures were recorded still are")
    if kept < 0.9 * known:
        wrong.append("less than 90 % of the correct verdicts that are not serial are left")
    if len(kernels) < 300 or len(rows) < 0.95 * len(kernels) * len(runs):
        wrong.append(f"only {len(kernels)} kernels, {len(rows)} verdicts")
    if sum(len(found["none"]) for found in runs.values()) > 0.05 * len(rows):
        wrong.append("loops are missing in the reports")
sys.exit("\n".join(wrong) or None)
