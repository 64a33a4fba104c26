#!/usr/bin/env python3
"""Holds recorded requests against what the program says of itself.

usage: record_check.py shop|office|hdfs SAID SPANS [NODE=HOST...]
"""
import json
import sys
from collections import Counter


def value(attr):
    return next(iter(attr["value"].values()))


def load(path):
    """Traces by id: a list of spans each, with attributes, thread, times as numbers."""
    traces = {}
    for line in open(path):
        for resource in json.loads(line)["resourceSpans"]:
            node = next(value(a) for a in resource["resource"]["attributes"] if a["key"] == "service.name")
            for scope in resource["scopeSpans"]:
                for s in scope["spans"]:
                    attrs = {a["key"]: value(a) for a in s["attributes"]}
                    traces.setdefault(s["traceId"], []).append({
                        "id": s["spanId"], "parent": s.get("parentSpanId", ""), "name": s["name"], "node": node, "attrs": attrs, "thread": attrs["thread.name"],
                        "start": int(s["startTimeUnixNano"]), "end": int(s["endTimeUnixNano"]), "failed": s["status"].get("code") == 2,
                        "lines": [(e["name"], {a["key"]: value(a) for a in e["attributes"]}) for e in s.get("events", [])]})
    return traces


def shape(spans):
    """What is below what, as text; and that spans lie within those that wait for them."""
    by_id = {s["id"]: s for s in spans}
    assert len(by_id) == len(spans), spans
    roots = [s for s in spans if not s["parent"]]
    assert len(roots) == 1, spans

    def told(s):
        below = sorted(told(k) for k in spans if k["parent"] == s["id"])
        return s["name"].split(".")[-1] + ("(" + " ".join(below) + ")" if below else "")

    for s in spans:
        up = by_id.get(s["parent"])
        assert s["end"] > s["start"], s
        assert not up or (up["start"] < s["start"] and (s["end"] < up["end"] or s["attrs"].get("culprit.follows"))), (s, up)
    return told(roots[0])


def one(spans, name):
    found = [s for s in spans if s["name"] == name]
    assert len(found) == 1, (name, spans)
    return found[0]


def shop(said, traces):
    orders = sum(int(f[1]) for f in said if len(f) == 3 and f[1].isdigit())
    assert orders and len(traces) == orders, (orders, len(traces))
    threads = set()
    for spans in traces.values():
        assert shape(spans) == "order(sell(pack))", shape(spans)
        order, sell, pack = (one(spans, "Shop." + n) for n in ("order", "sell", "pack"))
        assert order["thread"] != sell["thread"] == pack["thread"], spans
        threads.add(order["thread"])
    assert len(threads) == 1, threads


def office(said, traces):
    truth = next(dict(zip(f[::2], map(int, f[1::2]))) for f in said if f[0] == "requests")
    seen = Counter()
    ids = set()
    assert len(traces) == truth["requests"], (truth, len(traces))
    for spans in traces.values():
        number = one(spans, "Office.serve")["attrs"]["id"]
        failed = int(number) % 10 == 0
        ids.add(number)
        assert {s["attrs"]["id"] for s in spans} == {number}, spans
        assert shape(spans) == ("serve(check file work(tidy))" if failed else "serve(check file work(stamp tidy))"), shape(spans)
        work = one(spans, "Office.work")
        assert [s["name"] for s in spans if s["failed"]] == (["Office.work"] if failed else []), spans
        if failed:
            assert work["attrs"]["exception.type"] == "java.lang.IllegalStateException", work
            assert work["attrs"]["exception.message"] == "no paper", work
        else:
            assert int(work["attrs"]["result"]) == int(number) + 1, work
        assert one(spans, "Office.serve")["thread"] != work["thread"]
        lines = {s["name"].split(".")[1]: [(text, a["culprit.level"], a["culprit.point"]) for text, a in s["lines"]] for s in spans if s["lines"]}
        want = {"serve": [("served " + number, "info", "office.Desk")], "check": [("checking " + number, "info", "office.Desk")]}
        if not failed:
            want["work"] = [("working on " + number, "warn", "office.Desk")]
        assert lines == want, (lines, want)
        seen["failed"] += failed
        seen["lines"] += sum(map(len, lines.values()))
    assert len(ids) == truth["requests"]
    assert (seen["failed"], seen["lines"]) == (truth["failed"], truth["lines"]), (seen, truth)


def hdfs(said, traces):
    """Reads are asked of the NameNode, which writes a line of it, and answered by the DataNode that the client counted."""
    truth = {(f[0], f[1]): int(f[2]) for f in said if len(f) == 3}
    host_of = dict(a.split("=") for a in sys.argv[4:])
    reads = [t for t in traces.values() if any(s["name"] == "StressTest.doNextOp" for s in t)]
    served = Counter()
    assert len(reads) == truth["operations", "FSread"], (len(reads), truth)
    for spans in reads:
        by_id = {s["id"]: s for s in spans}
        roots = [s for s in spans if not s["parent"]]
        assert [s["name"] for s in roots] == ["StressTest.doNextOp"], spans
        # besides, the client asks once for defaults of the server
        asked = [s for s in spans if s["node"] == "NameNode" and s["attrs"].get("method") == "getBlockLocations"]
        assert [s["name"] for s in asked] == ["rpc.handle"], spans
        assert by_id[asked[0]["parent"]]["name"] == "rpc.call", spans
        # the NameNode's audit log
        assert [text.startswith("allowed=true") for text, _ in asked[0]["lines"]] == [True], asked
        data = [s for s in spans if s["name"] == "data.read"]
        assert len(data) == 1, spans
        served[host_of[data[0]["node"]]] += 1
    assert served == {k[1]: n for k, n in truth.items() if k[0] == "datanode"}, (served, truth)


checks = {"shop": shop, "office": office, "hdfs": hdfs}
if __name__ == "__main__":
    checks[sys.argv[1]]([line.split() for line in open(sys.argv[2])], load(sys.argv[3]))
