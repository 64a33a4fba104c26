#!/usr/bin/env python3
"""Asks a program of ours that knows what it does (Handoffs, Http), and compares what a live query tells with what the program says.

usage: handoffs.py CULPRIT CLASSES handoffs done|after|pair REQUESTS [SCENARIO...]
       handoffs.py CULPRIT CLASSES PROGRAM served|after|alone|unasked REQUESTS [SERVER'S WORDS...]

PROGRAM is one that both serves and asks: Http, Grpc, …; alone: only the client is watched, unasked: only the server.
Says what differs, and nothing else; the status is 1 then. Options of the machine come from JOPT, the machine itself from JAVA.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

POINTS = """
tracepoint Handoffs.request
  at class Handoffs.request entry
  begins a request
  export scenario = arg0, name = arg1
tracepoint Handoffs.done
  at class Handoffs.done entry
  export scenario = arg0, name = arg1
tracepoint Handoffs.after
  at class Handoffs.after entry
  export scenario = arg0, name = arg1
"""
# of a program that serves, and asks
WIRE = """
tracepoint {0}.request
  at class {0}.request entry
  begins a request
  export scenario = arg0, name = arg1
tracepoint {0}.served
  at class {0}.served entry
  export scenario = arg0, name = arg1
tracepoint {0}.after
  at class {0}.after entry
  export scenario = arg0, name = arg1
"""

# which tracepoint emits, and what it joins
ASKED = {"done": ("Handoffs.done", "First(Handoffs.request)"), "after": ("Handoffs.after", "Handoffs.done"),
         "pair": ("Handoffs.done", "Handoffs.done")}
# parts of a request that happen one after another: how many of those before are seen by those after, for each request
PAIRS = {"apply": 3, "forked": 2, "stream": 4, "each": 4, "dispatched": 1, "cache": 1, "batched": 1}
# how many run one after another is a matter of luck
LUCK = {"caller", "compose", "stream", "each"}
NOBODYS = {"numbers", "mixed"}  # handed over so that nobody can tell for whom: each is counted
CACHE_FEW = 12  # of three threads and two entries, while nobody knows yet
BEGAN = time.time() - 1
PATIENCE_S = 180  # for what must happen, on a machine that may have much else to do


def start(classes, *words):
    java = [os.environ.get("JAVA", "java"), *os.environ.get("JOPT", "").split(), "-cp", classes, *words]
    p = subprocess.Popen(java, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    ready = p.stdout.readline().split()
    return p, ready


def nr_woven(pid, asker, method):
    """In how many machines the agent has answered to who asks by now that it has woven this."""
    top, nr = f"/proc/{pid}/root/tmp", 0
    for name in os.listdir(top):
        try:
            # (another one that had its number, and was killed, may have left some behind)
            if name.startswith(f".culprit-{asker}-") and os.stat(f"{top}/{name}").st_mtime >= BEGAN:
                with open(f"{top}/{name}") as f:
                    text = f.read()
                nr += method in text and "done\n" in text
        except OSError:
            pass
    return nr


def query(culprit, pids, points, emits, joins):
    keys = "j.scenario, j.name, e.scenario, e.name"
    text = f"From e In {emits} Join j In {joins} On j -> e GroupBy {keys} Select {keys}, COUNT"
    q = subprocess.Popen([culprit, "query", "--live", "-p", ",".join(pids), "--for", "1200s", "--tracepoints", points, "--json", text],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + PATIENCE_S
    while nr_woven(pids[0], q.pid, emits.split(".")[0] + ".") < len(pids):
        if q.poll() is not None or time.monotonic() > until:
            sys.exit("the query does not run: " + q.communicate()[1])
        time.sleep(0.05)
    return q


def said(p):
    """What the program says until its end."""
    truth = {}
    for line in p.stdout:
        words = line.split()
        if words == ["end"]:
            break
        if len(words) != 4 or words[0] in ("error", "missed"):
            sys.exit("the program says: " + line)
        truth[tuple(words[:3])] = int(words[3])
    return truth


def ended(q):
    """Rows by who was joined and who has emitted, and losses. All was told a second ago at the latest."""
    time.sleep(1.5)
    q.send_signal(signal.SIGINT)
    out, _ = q.communicate(timeout=PATIENCE_S)
    rows, losses = {}, {}
    for line in out.splitlines():
        one = json.loads(line)
        if "losses" in one:
            losses = one["losses"]
            continue
        key = tuple(one[k] for k in ("j.scenario", "j.name", "e.scenario", "e.name"))
        rows[key] = rows.get(key, 0) + one["COUNT"]
    return rows, losses


def expected(truth, what, requests):
    v = {}
    for (kind, scenario, name), nr in truth.items():
        if what == "pair" and kind == "done":
            nr = PAIRS.get(scenario, 0) * requests
        elif kind != what:
            continue
        if nr and scenario not in NOBODYS:
            v[scenario, name, scenario, name] = nr
    return v


def compare(rows, want, luck=()):
    bad = 0
    for key in sorted(set(rows) | set(want)):
        is_luck = key[0] in luck and key[0] == key[2] and key[1] == key[3]
        if rows.get(key, 0) != want.get(key, 0) and not is_luck:
            print("joined", key[:2], "at", key[2:], "told", rows.get(key, 0), "is", want.get(key, 0))
            bad += 1
    return bad


def handoffs(culprit, classes, points, what, requests, scenarios):
    p, ready = start(classes, "Handoffs", str(requests), *scenarios)
    q = query(culprit, [ready[1]], points, *ASKED[what])
    p.stdin.write("go\n")
    truth = said(p)
    rows, losses = ended(q)
    p.stdin.close()
    p.wait(PATIENCE_S)
    bad = 0
    if what == "pair" and ("mixed", "ann") in {k[:2] for k in rows}:
        # three at a time by one thread, which works for nobody then; not with those before and after
        nr = sum(rows.pop(k) for k in [k for k in rows if k[0] == k[2] == "mixed"])
        if nr != 3 * requests:
            print("mixed: told", nr, "is", 3 * requests)
            bad += 1
    bad += compare(rows, expected(truth, what, requests), LUCK if what == "pair" else ())
    shared = sum(3 * requests for s in NOBODYS if not scenarios or s in scenarios)
    # entries of the cache are known to be everybody's when two requests have had one
    few = CACHE_FEW if not scenarios or "cache" in scenarios else 0
    if set(losses) - {"bags_shared"} or not shared <= losses.get("bags_shared", 0) <= shared + few:
        print("lost", losses)
        bad += 1
    return bad


def wire(culprit, classes, points, program, what, requests, words):
    server, at = start(classes, program, "serve", *words)
    client, ready = start(classes, program, "ask", at[2], str(requests))
    emits, joins, pids = {"served": ("served", f"First({program}.request)", [ready[1], at[1]]),
                          "after": ("after", f"{program}.served", [ready[1], at[1]]),
                          "alone": ("after", f"First({program}.request)", [ready[1]]),
                          "unasked": ("served", f"{program}.served", [at[1]])}[what]
    q = query(culprit, pids, points, f"{program}.{emits}", joins)
    client.stdin.write("go\n")
    truth = said(client)
    server.stdin.write("go\n")
    truth.update(said(server))
    rows, losses = ended(q)
    for p in (client, server):
        p.stdin.close()
        p.wait(PATIENCE_S)
    # a call that nobody sent anything with is no part of another one
    bad = compare(rows, expected(truth, emits, requests) if what != "unasked" else {})
    if losses:
        print("lost", losses)
        bad += 1
    return bad


def main():
    culprit, classes, which, what, requests, *words = sys.argv[1:]
    with tempfile.NamedTemporaryFile("w", suffix=".tp") as f:
        f.write(POINTS if which == "handoffs" else WIRE.format(which))
        f.flush()
        if which == "handoffs":
            bad = handoffs(culprit, classes, f.name, what, int(requests), words)
        else:
            bad = wire(culprit, classes, f.name, which, what, int(requests), words)
    sys.exit(1 if bad else 0)


main()
