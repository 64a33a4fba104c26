"""Every kind of join, between every tracepoint and all others, against a nested loop over the closure of "after".

usage: check.py CULPRIT EVENTS...      event graphs, plain or gzip
"""
import collections
import gzip
import json
import os
import subprocess
import sys

KINDS = {"%s": lambda v: v, "First(%s)": lambda v: v[:1], "MostRecent(%s)": lambda v: v[-1:],
         "FirstN(3, %s)": lambda v: v[:3], "MostRecentN(3, %s)": lambda v: v[-3:]}


def read(path):
    """The events, and for each the set of those before it, as bits."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    place, past = {e["id"]: i for i, e in enumerate(events)}, []
    for event in events:
        bits = 0
        for cause in event["after"]:
            bits |= past[place[cause]] | 1 << place[cause]
        past.append(bits)
    return events, past


def nested_loop(events, past, point, taken):
    pairs = collections.Counter()
    those = [i for i, e in enumerate(events) if e["point"] == point]
    for i, event in enumerate(events):
        before = sorted((k for k in those if past[i] >> k & 1), key=lambda k: (events[k]["time"], k))
        pairs.update((events[k]["id"], event["id"]) for k in taken(before))
    return pairs


def ask(culprit, run, source):
    query = f"From b In `*` Join a In {source} On a -> b Select a.id As a, b.id As b"
    rows = subprocess.run([culprit, "query", run, query, "--json"], stdout=subprocess.PIPE, text=True, check=False).stdout
    return collections.Counter((row["a"], row["b"]) for row in map(json.loads, rows.splitlines()) if "a" in row)


def main():
    culprit = sys.argv[1]
    for path in sys.argv[2:]:
        events, past = read(path)
        subprocess.run([culprit, "analyze", path, "-o", "run.culprit"], stdout=subprocess.DEVNULL, check=True)
        points = sorted({e["point"] for e in events})
        wrong = [f"{point} {kind}" for point in points for kind, taken in KINDS.items()
                 if ask(culprit, "run.culprit", kind % f"`{point}`") != nested_loop(events, past, point, taken)]
        print(f"{os.path.basename(path)}: {len(points) * len(KINDS)} joins,", "wrong: " + ", ".join(wrong) if wrong else "all the same")


main()
