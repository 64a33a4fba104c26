"""What queries answered against what the clients of HDFS counted (StressTest.java).

hdfs_check.py placed QUERIES PROCESSES TP... <STATUS: by what the hub says, whether advice of all of them is in so many processes
hdfs_check.py answers QUERIES ANSWERS TRUTH...: TRUTH is NAME@HOST=FILE; ANSWERS has a file NAME.answer for each query; says each difference
hdfs_check.py sums ANSWER COLUMN: of all rows, by that column
"""
import collections
import json
import os
import re
import sys

CHUNK, CHECKSUM = 512, 4


def queries(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("\t") for line in file)


def places(sets):
    """Of each tracepoint the number of its places, and which of them begin a request."""
    at, begin, name = collections.Counter(), set(), ""
    for path in sets:
        with open(path, encoding="utf-8") as file:
            for line in file:
                word = line.split()
                if word[:1] == ["tracepoint"]:
                    name = word[1]
                elif word[:1] == ["at"]:
                    at[name] += 1
                elif word[:1] == ["begins"]:
                    begin.add(name)
    return at, begin


def placed(path, processes, status, sets):
    """Whether all queries that stand have all their advice in all processes; a query that packs has some where requests begin, too."""
    (at, begin), want, agents, texts = places(sets), 0, [], set()
    for line in status:
        row = json.loads(line)
        if "query" in row:
            named = set(re.findall(r"In (?:\w+\()?([\w.]+)", row["text"]))
            want += sum(at[name] for name in (named | begin if " Join " in row["text"] else named))
            texts.add(row["text"])
        elif row.get("role") == "agent":
            agents.append((row["processes"], row["tracepoints"]))
    print("%d queries, %d places in each process, agents with processes and places: %s" % (len(texts), want, agents))
    return texts == set(queries(path).values()) and sum(n for n, _ in agents) == processes and all(n * want == nr for n, nr in agents)


def truth(given):
    """By query: what each row must be. Keys are those of the columns a and b."""
    want = collections.defaultdict(collections.Counter)
    for one in given:
        client, path = one.split("=", 1)
        name, host = client.split("@")
        with open(path, encoding="utf-8") as file:
            for line in file:
                what, key, n = line.rstrip("\n").split("\t")
                n = int(n)
                if what.startswith("="):
                    want[what[1:]][key,] += n  # it names the query
                elif what == "bytes":
                    want["q2"][name,] += n + n // CHUNK * CHECKSUM  # which DataNodes count as well
                elif what == "written":
                    want["q2w"][name,] += n
                elif what == "file":
                    want["q4"][host, key] += n
                elif what == "replicas":
                    want["q5"][host, key] += n
                elif what == "datanode":
                    want["q3"][key,] += n
                    want["q6"][host, key] += n
                    want["served"][name, key] += n
                elif what == "remote":
                    want["q7"][tuple(key.split(" of "))] += n
                elif what == "method":
                    want["methods"][key,] += n
                    if key == "getBlockLocations":
                        want["located"][name,] += n
    return want


def answered(path):
    """By key the sum of all seconds: later lines of a second replace the earlier ones."""
    seconds, rows = {}, collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if "n" in row:
                seconds[(row["time"],) + tuple(str(row[k]) for k in ("a", "b", "c") if k in row)] = row["n"]
    for key, n in seconds.items():
        rows[key[1:]] += n
    return rows


def compare(name, want, got):
    """How many rows differ. Of remote calls only those are looked at that the client made as often as it knows of (servers make some, too)."""
    keys = set(want) if name in ("methods", "calls") else set(want) | set(got)
    wrong = sorted(k for k in keys if want[k] != got[k])
    for key in wrong[:20]:
        print("%s: %s is %d, and not %d" % (name, " ".join(key), got[key], want[key]))
    print("%s: %d rows, sum %d: %s" % (name, len(got), sum(got.values()), "%d wrong" % len(wrong) if wrong else "exact"))
    return len(wrong)


def answers(path, folder, given):
    want, wrong = truth(given), 0
    for name in queries(path):
        got = answered(os.path.join(folder, name + ".answer"))
        if name == "q1":
            continue  # the test compares it with what the DataNodes say of themselves
        if name == "waited":
            want[name] = got  # as many as there were calls: not known by client
            wrong += sum(got.values()) != sum(answered(os.path.join(folder, "methods.answer")).values())
        wrong += compare(name, want[name], got)
    return 1 if wrong else 0


def sums(path, column):
    by = collections.Counter()
    for key, n in answered(path).items():
        by[key["abc".index(column)]] += n
    for key in sorted(by):
        print(key, by[key])


if sys.argv[1] == "sums":
    sums(sys.argv[2], sys.argv[3])
elif sys.argv[1] == "placed":
    sys.exit(0 if placed(sys.argv[2], int(sys.argv[3]), sys.stdin, sys.argv[4:]) else 1)
else:
    sys.exit(answers(sys.argv[2], sys.argv[3], sys.argv[4:]))
