"""summary.py VERDICTS KERNELS TRUTH: prints the figures, and each dangerous verdict."""
import collections, sys

CLASSES = ["independent", "privatizable", "reduction", "distance", "serial"]
rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
kernels = [line.split() for line in open(sys.argv[2])]
truths = {line.split()[0]: line.split()[1] for line in open(sys.argv[3])}
wrong = [f"{name}: declared {CLASSES[int(declared)]}, but the oracle says {CLASSES[int(truths[name])]}"
         for name, family, declared, flags in kernels if name in truths and truths[name] != declared]
for row in rows:
    if row[6] == "dangerous":
        print("dangerous:", *row[:2], row[3] + ":", row[5], "for", row[4] + ":", row[7])


def table(title, keys):
    counts = collections.defaultdict(collections.Counter)
    for row in rows:
        counts[keys(row)][row[6]] += 1
    print(f"{title:<24}{'kernels':>8}{'verdicts':>9}{'dangerous':>10}{'needlessly serial':>18}{'correct parallel':>17}")
    for key, count in sorted(counts.items()):
        print(f"{key:<24}{sum(count.values()):>8}{sum(count.values()) - count['none']:>9}{count['dangerous']:>10}"
              f"{count['needless']:>18}{count['correct']:>17}")


table("class", lambda row: row[2])
table("compiler", lambda row: row[0] + " " + row[1])
table("all", lambda row: "")
print(f"{len(kernels)} kernels")
sys.exit("\n".join(wrong) or None)
