"""Traces of a shop of replicas, as OTLP JSON lines: usage: make.py SEED; says on standard error what is true."""
import collections
import json
import random
import sys

dice = random.Random(int(sys.argv[1]))
truth = collections.Counter()
start = 1_700_000_000_000_000_000
ms = 1_000_000


def emit(trace, calls):
    """calls: (node, parent or None, start, end), in ms from the start of the trace"""
    for i, (node, parent, begin, end) in enumerate(calls, 1):
        span = {"traceId": f"{trace:032x}", "spanId": f"{i:016x}", "name": "work", "kind": 2,
                "startTimeUnixNano": str(start + int((trace * 100 + begin) * ms)),
                "endTimeUnixNano": str(start + int((trace * 100 + end) * ms))}
        if parent:
            span["parentSpanId"] = f"{parent:016x}"
        print(json.dumps({"resourceSpans": [{
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": node}}]},
            "scopeSpans": [{"scope": {"name": "make"}, "spans": [span]}]}]}))


for trace in range(1, 201):
    web, app = dice.choice(["web1", "web2"]), dice.choice(["app1", "app2"])
    kind = dice.choices(["login", "order", "report"], [5, 3, 2])[0]
    if kind == "login":
        emit(trace, [(web, None, 0, 10), ("auth", 1, 1, 8), ("auth", 2, 2, 7), ("db1", 3, 3, 6)])
        truth[f"{web}(auth(db1))"] += 1
    elif kind == "order":
        emit(trace, [(web, None, 0, 30), ("auth", 1, 1, 8), ("db1", 2, 3, 6), (app, 1, 9, 28), ("db2", 4, 10, 20)])
        truth[f"{web}(auth(db1),{app}(db2))"] += 1
    else:
        emit(trace, [(web, None, 0, 60), (app, 1, 5, 55)] + [("db2", 2, 10 + 3 * i, 12 + 3 * i) for i in range(12)])
        truth[f"{web}({app}(db2*12))"] += 1
for path, count in sorted(truth.items()):
    print(path, count, file=sys.stderr)
