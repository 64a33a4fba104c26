#!/usr/bin/env python3
"""Holds what was told of requests on virtual threads (Virtual.java) against what the program says of itself.

usage: virtual_check.py done|pair|after|took SAID TOLD [some]
       virtual_check.py spans SAID SPANS

some: not all of it was asked for.
"""
import json
import os
import sys
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from record_check import load, shape  # noqa: E402


def lines(said, what):
    return [f[1:] for f in map(str.split, open(said)) if f[1:] and f[0] == what]


def rows(told, is_all):
    """Rows that found no room are missing, where not all is asked for."""
    v = [json.loads(line) for line in open(told)]
    lost = {k: n for row in v for k, n in row.get("losses", {}).items() if is_all or k != "rows_dropped"}
    assert not lost, lost
    return [row for row in v if "losses" not in row]


def joined(what, said, told, is_all):
    """How many of each customer's were joined in each scenario: all that were behind, and none of another request's."""
    truth = {(f[0], f[1]): int(f[2]) for f in lines(said, what) if int(f[2])}
    found = Counter()
    for r in rows(told, is_all):
        assert (r["j.scenario"], r["j.name"]) == (r["e.scenario"], r["e.name"]), r
        found[r["e.scenario"], r["e.name"]] += r["COUNT"]
    bad = {k: (found.get(k, 0), truth.get(k, 0)) for k in truth.keys() | found.keys()
           if (found.get(k, 0) != truth.get(k, 0) if is_all else found.get(k, 0) > truth.get(k, 0))}
    assert truth and found and not bad, bad


def took(said, told, is_all):
    """No call is told as shorter than what it waited, nor as longer than what was measured around it (the clocks differ by a little); and the
    thread is the virtual one."""
    truth = {int(f[0]): tuple(map(int, f[1:])) for f in lines(said, "took")}
    found = {}
    for r in rows(told, is_all):
        assert r["w.id"] not in found, r
        found[r["w.id"]] = r["w.took"], r["w.thread"]
    assert found and (found.keys() == truth.keys() if is_all else found.keys() <= truth.keys()), (len(found), len(truth))

    def is_right(took, thread, least, most, virtual):
        return least * 0.99 - 50000 <= took <= most * 1.01 + 50000 and (thread == virtual if virtual else thread < 1 << 32)

    bad = [(k, v, truth[k]) for k, v in found.items() if v[0] is None or not is_right(*v, *truth[k])]
    assert not bad, (len(bad), bad[:5])
    assert not is_all or len({t[2] for t in truth.values()}) > 100


def spans(said, path):
    truth = {int(f[0]): int(f[1]) for f in lines(said, "span")}
    traces = load(path)
    roots = [k for k, v in truth.items() if not v]
    assert roots and len(traces) == len(roots), (len(traces), len(roots))
    found = {}
    for all_of in traces.values():
        shape(all_of)
        by_id = {s["id"]: int(s["attrs"]["id"]) for s in all_of}
        for s in all_of:
            assert int(s["attrs"]["id"]) not in found, s
            found[int(s["attrs"]["id"])] = by_id[s["parent"]] if s["parent"] else 0
    bad = {k: (found.get(k), truth.get(k)) for k in truth.keys() | found.keys() if found.get(k) != truth.get(k)}
    assert not bad, (len(bad), list(bad.items())[:5])


what, said, told, *some = sys.argv[1:]
if what == "spans":
    spans(said, told)
elif what == "took":
    took(said, told, not some)
else:
    joined(what, said, told, not some)
