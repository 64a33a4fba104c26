"""cassandra_kinds_check.py COPIES FOLDER NODE...: what queries answered (FOLDER/NAME.answer) against what the client of each node counted
(FOLDER/NODE.truth, CqlKinds.java), and what is told of requests against all that nodes did. Says each difference."""
import collections
import json
import sys


def answered(folder, name, keys):
    """Later lines of a second replace the earlier ones."""
    seconds, rows = {}, collections.Counter()
    with open("%s/%s.answer" % (folder, name), encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if "n" in row:
                seconds[(row["time"],) + tuple(row[k] for k in keys)] = row["n"]
    for key, n in seconds.items():
        rows[key[1:]] += n
    return rows


def truth(folder, nodes):
    """(what, node that was asked, table or kind): number."""
    want = collections.Counter()
    for asked in nodes:
        with open("%s/%s.truth" % (folder, asked), encoding="utf-8") as file:
            for line in file:
                what, of, n = line.rstrip("\n").split("\t")
                want[what, asked, of] += int(n)
    return want


class Judge:
    def __init__(self):
        self.wrong = self.right = 0

    def equal(self, what, got, want):
        if got == want:
            self.right += 1
            return
        self.wrong += 1
        print("%s: %s, and not %s" % (what, got, want))


def shares(judge, what, got, nodes, copies, n):
    """got: of each node. All of them have done it where all have a copy."""
    if copies == len(nodes):
        for node in nodes:
            judge.equal("%s by %s" % (what, node), got[node], n)
    judge.equal(what, sum(got.values()), n * copies)


def by_node(rows, first, last=()):
    return collections.Counter({key[1]: n for key, n in rows.items() if key[0] == first and key[2:] == last})


def of_replicas(judge, folder, nodes, copies, want):
    """What they read and wrote is told of who was asked, comes back to it, and is all that was done."""
    for what, back in (("reads", "back"), ("writes", "backw")):
        got, came = answered(folder, what, "abc"), answered(folder, back, "abc")
        for (said, asked, table), n in want.items():
            if said == what:
                shares(judge, "%s %s asked of %s" % (what, table, asked), by_node(got, asked, (table,)), nodes, copies, n)
                # who waits for one of them goes on when that is there
                if table not in ("one", "spec"):
                    shares(judge, "%s %s back at %s" % (what, table, asked), by_node(came, asked, (table,)), nodes, copies, n)
            elif said == "some" + what:
                judge.equal("%s %s asked of %s" % (what, table, asked), sum(by_node(got, asked, (table,)).values()), n)
        everything, told = answered(folder, "all" + what, "bc"), collections.Counter()
        for (asked, node, table), n in got.items():
            told[node, table] += n
        for key in sorted(set(everything) | set(told)):
            judge.equal("%s by %s of %s, told of who asked" % ((what,) + key), told[key], everything[key])


def of_clients(judge, folder):
    """… and of the program that asked that node."""
    for what, name in (("reads", "clients"), ("writes", "clientw")):
        got, told = answered(folder, what, "abc"), answered(folder, name, "abc")
        named = {("client-" + key[0],) + key[1:]: n for key, n in got.items()}
        for key in sorted(set(named) | set(told)):
            judge.equal("%s for %s by %s of %s" % ((what,) + key), told[key], named.get(key, 0))


def of_requests(judge, folder, nodes, copies, want):
    for name, what in (("prepared", "prepared"), ("proposed", "proposed"), ("backc", "prepared"), ("backp", "proposed")):
        got = answered(folder, name, "ab")
        for asked in nodes:
            shares(judge, "%s asked of %s" % (name, asked), by_node(got, asked), nodes, copies, want[what, asked, "cas"])
    for name in ("rows", "batches", "levels", "requests"):
        got = answered(folder, name, "abc" if name == "levels" else "ab")
        for (said, asked, of), n in want.items():
            if said == name and of != "QUERY":  # which the driver sends as well
                judge.equal("%s %s asked of %s" % (name, of, asked), got[(asked,) + tuple(of.split(" "))], n)
    addresses = answered(folder, "addresses", "ab")
    for asked in nodes:
        # all of them came over one connection
        nr = sum(n for (said, a, _), n in want.items() if said == "requests" and a == asked)
        judge.equal("requests of one address, asked of %s" % asked, max(by_node(addresses, asked).values()), nr)
    written = answered(folder, "written", "abc")
    for key, n in answered(folder, "writes", "abc").items():
        judge.equal("rows written: %s" % (key,), written[key], n)  # one each time


def main():
    copies, folder, nodes = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    want, judge = truth(folder, nodes), Judge()
    of_replicas(judge, folder, nodes, copies, want)
    of_clients(judge, folder)
    of_requests(judge, folder, nodes, copies, want)
    print("%d right, %d wrong" % (judge.right, judge.wrong))
    return 1 if judge.wrong else 0


sys.exit(main())
