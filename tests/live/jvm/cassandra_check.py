"""cassandra_check.py FOLDER NODE...: what queries answered (reads, writes, back: FOLDER/NAME.answer) against what the client of each node
counted (FOLDER/NODE.truth): both nodes have done all of it. Says each difference."""
import collections
import json
import sys


def answered(path):
    """Later lines of a second replace the earlier ones."""
    seconds, rows = {}, collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if "n" in row:
                seconds[row["time"], row["a"], row["b"], row["c"]] = row["n"]
    for key, n in seconds.items():
        rows[key[1:]] += n
    return rows


folder, nodes = sys.argv[1], sys.argv[2:]
want = collections.defaultdict(collections.Counter)
for asked in nodes:
    with open("%s/%s.truth" % (folder, asked), encoding="utf-8") as truth:
        for line in truth:
            what, table, n = line.split()
            for node in nodes:
                want[what][asked, node, table] += int(n)
want["back"] = want["reads"]
wrong = 0
for name in ("reads", "writes", "back"):
    got = answered("%s/%s.answer" % (folder, name))
    for key in sorted(set(got) | set(want[name])):
        print("%s: %s: %d of %d" % (name, " ".join(key), got[key], want[name][key]))
        wrong += got[key] != want[name][key]
sys.exit(1 if wrong else 0)
