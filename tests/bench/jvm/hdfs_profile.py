#!/usr/bin/env python3
"""Samples what one operation of a running HDFS does, without a query and with some (tests/bench/jvm/hdfs-profile).

Told is the processor time of one operation in µs, without and with, and the difference, largest first: by thread, by library, by function, and by
thread and these. Compilers are left out. Then how often each hop was passed for one operation."""
import argparse
import collections
import os
import re
import signal
import subprocess
import time

from hdfs_turns import COMPILERS, Asker, System

HERTZ = 4000
SECONDS = 12
SAMPLE = re.compile(r"\s*(.*?)\s+(\d+)/\d+\s+[0-9a-f]+\s+(.*?)\s+\(([^()]*(?:\([^()]*\))?[^()]*)\)\s*$")
ROLES = ["client", "NameNode"]


def role(pids, pid):
    at = pids.index(pid) if pid in pids else len(ROLES)
    return ROLES[at] if at < len(ROLES) else "DataNode"


def part(path):
    """A library; what machines compile is Java."""
    name = os.path.basename(path)
    return "Java" if name.startswith("perf-") else "culprit" if ".culprit-" in name else name


def samples(pids, data):
    """By each way to look at them, how many."""
    script = ["perf", "script", "-i", data, "-F", "comm,pid,tid,ip,sym,dso"]
    by = {way: collections.Counter() for way in ("thread", "library", "thread and library", "function", "thread and function")}
    for line in subprocess.run(script, capture_output=True, text=True, check=True).stdout.splitlines():
        m = SAMPLE.match(line)
        if not m or m[1].startswith(COMPILERS):
            continue
        where = role(pids, int(m[2]))
        thread, library = re.sub(r"[0-9]+", "#", m[1]), part(m[4])
        function = f"{library} {re.sub(r'[+]0x.*', '', m[3])}"
        by["thread"][f"{where}: {thread}"] += 1
        by["library"][f"{where}: {library}"] += 1
        by["thread and library"][f"{where}: {thread}: {library}"] += 1
        by["function"][f"{where}: {function}"] += 1
        by["thread and function"][f"{where}: {thread}: {function}"] += 1
    return by


def hops(build, pids):
    """By process and place, how often it was passed."""
    found = {}
    for pid in pids[:len(ROLES)]:
        told = subprocess.run([f"{build}/culprit", "attach", str(pid), "--hops"], capture_output=True, text=True, check=False).stdout
        for m in re.finditer(r"^\s+(\S+/\S+\s+\w+\s+\w+)((?:\s+[\d,]+){5})$", told, re.M):
            found[f"{role(pids, pid)}: {' '.join(m[1].split())}"] = sum(int(n.replace(",", "")) for n in m[2].split())
    return found


class Profile:
    def __init__(self, options):
        self.o = options
        self.system = System(options.folder, options.pids)
        self.asker = Asker(options)
        self.system.heard()

    def taken(self, name):
        """µs of one operation, by each way to look at it, and how many operations there were."""
        data = f"{self.o.folder}/{name}.data"
        perf = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(HERTZ), "-o", data, "-p", self.o.pids],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        nr, mean, median = self.system.ordered(self.o.operation, SECONDS)
        perf.send_signal(signal.SIGINT)
        perf.wait()
        for pid in self.system.pids:
            subprocess.run(["jcmd", str(pid), "Compiler.perfmap"], stdout=subprocess.DEVNULL, check=False)
        print(f"{name}: {nr} operations, mean {mean:.0f} µs, median {median:.0f} µs, sampled", flush=True)
        return {way: {k: v * 1e6 / HERTZ / nr for k, v in c.items()} for way, c in samples(self.system.pids, data).items()}, nr

    def warm(self, seconds):
        self.system.ordered(self.o.operation, seconds)

    def run(self):
        self.warm(30)
        without, _ = self.taken("without")
        asked = self.asker.ask(self.o.setting)
        self.warm(25)
        was = hops(self.o.build, self.system.pids)
        with_, nr = self.taken("with")
        passed = {k: (v - was.get(k, 0)) / nr for k, v in hops(self.o.build, self.system.pids).items()}
        self.asker.unask(self.o.setting, asked)
        return without, with_, passed


def show(without, with_, passed):
    for way, most in (("thread", 8), ("library", 12), ("thread and library", 24), ("function", 40), ("thread and function", 60)):
        a, b = without[way], with_[way]
        print(f"\nby {way}, µs of one operation: without {sum(a.values()):.1f}, with {sum(b.values()):.1f}")
        for k in sorted(a.keys() | b.keys(), key=lambda k: a.get(k, 0) - b.get(k, 0))[:most]:
            print(f"{a.get(k, 0):8.2f} {b.get(k, 0):8.2f} {b.get(k, 0) - a.get(k, 0):+8.2f}  {k}")
    print("\nhops passed in one operation")
    for k, v in sorted(passed.items(), key=lambda kv: -kv[1]):
        if v >= 0.05:
            print(f"{v:8.2f}  {k}")


def main():
    p = argparse.ArgumentParser()
    for name in ("build", "folder", "queries", "tracepoints", "pids", "operation", "setting"):
        p.add_argument("--" + name)
    profile = Profile(p.parse_args())
    try:
        show(*profile.run())
    finally:
        profile.asker.end()


if __name__ == "__main__":
    main()
