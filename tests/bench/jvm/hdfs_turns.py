#!/usr/bin/env python3
"""Measures what queries cost the client of a running HDFS (tests/bench/jvm/hdfs).

Beside the HDFS that is watched there is a twin that never is: half a second of an operation on one, then on the other, and so on, so that what else
the machine does is not taken for cost; what is told of a turn is how much more the one takes than the other. A turn follows a change of what is woven,
and a time in which machines compile what was changed, until operations do not take less any more: that is not measured. Turns without any query (base)
lie between all others, and each is compared with the two that are beside it: twins are not quite alike. Turns without a query are compared among each
other in the same way: that is noise. What it costs to have the agent attached can be seen once only, since it stays: two turns before, and two after.

Told are the time that an operation takes (mean and median), and the processor time that all machines together take for one, without that of their
compilers."""
import argparse
import collections
import os
import signal
import statistics
import subprocess
import sys
import time

OPERATIONS = ["read8k", "open", "create", "rename"]
SLICE = 0.5  # seconds of one operation on one of the two, then on the other
SETTLED = 0.97  # of the processor time of the pass before
# (What carries is woven for a query that packs; nobody comes where "nothing" would pack something.)
SETTINGS = {"nothing": ["From n In Cost.never Join t In First(Cost.never) On t -> n Select COUNT"],
            "tuple1": ["From n In Cost.never Join t In First(StressTest.DoNextOp) On t -> n Select t.host"],
            "tuples60": ["From n In Cost.never Join t In Cost.note On t -> n Select t.i"],
            "section61": ["q3", "q4", "q5", "q6", "q7"],
            "section62": ["methods", "waited", "located", "served"]}
SILENT = {"nothing", "tuple1", "tuples60"}  # that tell nothing
COMPILERS = ("C1 Compiler", "C2 Compiler")


def queries(setting):
    """Of a setting, or those that are named: q4+q5."""
    return SETTINGS.get(setting) or setting.split("+")


def of_process(pid):
    """Its processor time in seconds, with threads that have ended."""
    return time.clock_gettime(~pid << 3 | 2)


def of_compilers(pid):
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            if open(f"/proc/{pid}/task/{tid}/comm").read().startswith(COMPILERS):
                total += int(open(f"/proc/{pid}/task/{tid}/schedstat").read().split()[0])
        except OSError:
            pass  # it has ended
    return total / 1e9


class System:
    """A running HDFS and its client."""

    def __init__(self, folder, pids):
        self.folder = folder
        self.pids = [int(p) for p in pids.split(",")]
        self.say = open(f"{folder}/say", "w")
        self.hear = open(f"{folder}/hear")

    def heard(self):
        lines = []
        for line in self.hear:
            if line == "ok\n":
                return lines
            lines.append(line.split())
        sys.exit("hdfs: the client has ended")

    def slice(self, operation, seconds):
        """Mean and median of one operation and processor time of all for one, in µs; seconds that compilers took."""
        was = sum(map(of_process, self.pids)), sum(map(of_compilers, self.pids))
        nr, mean, median = self.ordered(operation, seconds)
        compiled = sum(map(of_compilers, self.pids)) - was[1]
        return mean, median, (sum(map(of_process, self.pids)) - was[0] - compiled) / nr * 1e6, compiled

    def ordered(self, operation, seconds):
        """Has the client do so many seconds of it: how many there were, mean and median in µs."""
        self.say.write(f"{operation} {seconds}\n")
        self.say.flush()
        (_, nr, mean, median), = self.heard()
        return int(nr), float(mean), float(median)


class Asker:
    """Hub, agent and queries."""

    def __init__(self, options):
        self.o = options
        self.texts = dict(line.rstrip("\n").split("\t") for line in open(options.queries))
        self.hub = f"ipc://{options.folder}/hub.sock"
        self.err = open(f"{options.folder}/asked.err", "w")
        self.started = []
        self.culprit("hub", "--queries", "--listen", self.hub, "--state", f"{options.folder}/hub")

    def culprit(self, *arguments, out=subprocess.DEVNULL):
        p = subprocess.Popen([f"{self.o.build}/culprit", *arguments], stdout=out, stderr=self.err)
        self.started.append(p)
        return p

    def ask(self, setting):
        agent = self.culprit("agent", "--queries", "--hub", self.hub, "--name", "cost", "--pid", self.o.pids, "--overhead", "50%")
        asked = [self.culprit("query", "--live", "--hub", self.hub, "--tracepoints", self.o.tracepoints, "--json", self.texts.get(q, q),
                              out=open(f"{self.o.folder}/{setting}.{i}.answer", "w")) for i, q in enumerate(queries(setting))]
        time.sleep(3)
        return asked + [agent]

    def unask(self, setting, asked):
        """What was woven is taken out. A query that told nothing was not measured."""
        for p in asked:
            p.send_signal(signal.SIGINT)
            p.wait(60)
        for i, q in enumerate(queries(setting)):
            if setting not in SILENT and not os.path.getsize(f"{self.o.folder}/{setting}.{i}.answer"):
                print(f"hdfs: query {q} has told nothing", file=sys.stderr)
        time.sleep(2)

    def end(self):
        for p in self.started:
            if p.poll() is None:
                p.kill()
                p.wait()


class Bench:
    def __init__(self, options):
        self.o = options
        self.watched = System(options.folder, options.pids)
        self.twin = System(options.twin_folder, options.twin_pids)
        self.asker = Asker(options)
        self.watched.heard()
        self.twin.heard()

    def settle(self):
        """Until what is compiled is; not for ever, where other work takes the processors away."""
        from_, last = time.monotonic(), []
        while time.monotonic() < from_ + 4 * self.o.warm:
            told = self.turn(3 * SLICE * len(OPERATIONS))
            last.append(statistics.geometric_mean(told[o][2] for o in OPERATIONS))
            if time.monotonic() > from_ + self.o.warm and len(last) > 1 and last[-1] > SETTLED * min(last[-4:-1]) and told["compiled"] < 0.1:
                break

    def turn(self, seconds):
        """By operation: how many times as much as the twin it takes (mean, median, processor time), and its median in µs; seconds that its
        compilers took of each."""
        pairs = collections.defaultdict(list)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for operation in OPERATIONS:
                pairs[operation].append((self.watched.slice(operation, SLICE), self.twin.slice(operation, SLICE)))
        told = {o: [statistics.median(one[i] / other[i] for one, other in v) for i in range(3)] +
                [statistics.median(one[1] for one, _ in v)] for o, v in pairs.items()}
        told["compiled"] = sum(one[3] for v in pairs.values() for one, _ in v) / seconds
        return told

    def measured(self, name):
        self.settle()
        told = self.turn(self.o.seconds)
        print(f"{name:<10}" + "".join(f"{told[o][3]:8.0f}" + "".join(f" {100 * (told[o][i] - 1):+6.1f}" for i in range(3)) for o in OPERATIONS) +
              f"   compilers {100 * told['compiled']:.0f} %", flush=True)
        return told

    def attached(self):
        """Turns before the agent is in, and after."""
        self.turn(4 * self.o.warm)
        before = [self.measured("before"), self.measured("before")]
        for p in self.watched.pids:
            self.asker.culprit("attach", str(p)).wait()
        return before, [self.measured("attached"), self.measured("attached")]

    def run(self):
        """base, setting, base, …"""
        turns = []
        for _ in range(self.o.rounds):
            for setting in self.o.settings.split(","):
                turns.append(("base", self.measured("base")))
                asked = self.asker.ask(setting)
                turns.append((setting, self.measured(setting)))
                self.asker.unask(setting, asked)
        turns.append(("base", self.measured("base")))
        return turns


def shares(turns, operation, which):
    """By setting: each turn as a ratio to those without a query before and after it."""
    found = collections.defaultdict(list)
    for i in range(1, len(turns) - 1):
        name, told = turns[i]
        step = 2 if name == "base" else 1
        if step <= i < len(turns) - step:
            beside = (turns[i - step][1][operation][which] + turns[i + step][1][operation][which]) / 2
            found[name].append(told[operation][which] / beside)
    return found


def cell(ratios):
    """Of mean, median and processor time: in percent more, and by how much the last differ."""
    mean, median, processor = ([100 * (x - 1) for x in v] for v in ratios)
    if not mean:
        return "-"
    return "%+7.1f %+6.1f %+6.1f (%.1f)" % (statistics.median(mean), statistics.median(median), statistics.median(processor),
                                          (max(processor) - min(processor)) / 2)


def row(name, by_operation):
    spent = [statistics.median(r[2]) for r in by_operation if r[2]]
    print("%-10s" % name + "".join("%26s" % cell(r) for r in by_operation) +
          ("%+10.1f" % (100 * (statistics.mean(spent) - 1)) if spent else ""))


def table(before, after, turns, settings):
    print("\n%-10s" % "" + "".join("%26s" % o for o in OPERATIONS) + "%10s" % "all")
    first = {o: [(before[0][o][i] + before[1][o][i]) / 2 for i in range(3)] for o in OPERATIONS}
    row("attached", [[[t[o][i] / first[o][i] for t in after] for i in range(3)] for o in OPERATIONS])
    for name in settings + ["base"]:
        row(name, [[shares(turns, o, i)[name] for i in range(3)] for o in OPERATIONS])
    print("percent more than without: mean time, median time, processor time (half of how much turns differ); all: mean of processor time\n"
          "attached: than before; others: than turns beside them without a query; base: those themselves, in the same way, which is noise")


def main():
    p = argparse.ArgumentParser()
    for name in ("build", "folder", "queries", "tracepoints", "pids", "twin-folder", "twin-pids"):
        p.add_argument("--" + name)
    p.add_argument("--rounds", type=int)
    p.add_argument("--seconds", type=float)
    p.add_argument("--warm", type=float)
    p.add_argument("--settings", default=",".join(SETTINGS))
    p.add_argument("--operations", default=",".join(OPERATIONS))
    o = p.parse_args()
    OPERATIONS[:] = o.operations.split(",")
    b = Bench(o)
    try:
        print("%-10s" % "" + "".join("%29s" % name for name in OPERATIONS) + "   (median in µs; percent more than the twin: mean, median, processor)")
        before, after = b.attached()
        table(before, after, b.run(), o.settings.split(","))
    finally:
        b.asker.end()


if __name__ == "__main__":
    main()
