"""Prints traces as OTLP JSON lines; what each step took is written to truth.json. make.py SEED"""
import json
import random
import sys

random.seed(int(sys.argv[1]))
truth = []


def span(trace, nr, parent, node, name, start, end, rows=None):
    at = 1772359200000000000 + trace * 1000000000
    attributes = [] if rows is None else [{"key": "rows", "value": {"intValue": str(rows)}}]
    return {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": node}}]},
            "scopeSpans": [{"spans": [{"traceId": f"{trace + 1:032x}", "spanId": f"{trace * 16 + nr + 1:016x}",
                                       "parentSpanId": f"{trace * 16 + parent + 1:016x}" if parent >= 0 else "",
                                       "name": name, "attributes": attributes, "startTimeUnixNano": str(at + start),
                                       "endTimeUnixNano": str(at + end)}]}]}


for trace in range(2000):
    rows = random.randrange(1, 400)
    check = random.randrange(900000, 1100000)
    scan = rows * 20000 + random.randrange(100000)
    load = random.randrange(500000)
    pay = 2000000 + (60000000 if random.randrange(40) == 0 else 0) + check // 2
    own = random.randrange(300000)
    truth.append({"check": check, "scan": scan, "body:load": load, "pay": pay, "body:order": own})
    a = check
    b = a + load + scan
    print(json.dumps({"resourceSpans": [
        span(trace, 0, -1, "front", "order", 0, b + pay + own),
        span(trace, 1, 0, "front", "check", 0, a),
        span(trace, 2, 0, f"store@{trace % 3}", "load", a, b),
        span(trace, 3, 2, f"db@{trace % 2}", "scan", a + load, b, rows),
        span(trace, 4, 0, "bank", "pay", b, b + pay)]}))
json.dump(truth, open("truth.json", "w"))
