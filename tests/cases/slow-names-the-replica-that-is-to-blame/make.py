"""Prints 600 traces as OTLP JSON lines; one in fifty goes to db-2, which is slow. make.py SEED"""
import json
import random
import sys

random.seed(int(sys.argv[1]))


def span(trace, nr, parent, node, name, start, end):
    at = 1772359200000 + trace * 100
    return {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": node}}]},
            "scopeSpans": [{"spans": [{"traceId": f"{trace + 1:032x}", "spanId": f"{trace * 16 + nr + 1:016x}",
                                       "parentSpanId": f"{trace * 16 + parent + 1:016x}" if parent >= 0 else "",
                                       "name": name, "startTimeUnixNano": str(int((at + start) * 1e6)),
                                       "endTimeUnixNano": str(int((at + end) * 1e6))}]}]}


for trace in range(600):
    slow = trace % 50 == 30
    db = random.uniform(180, 220) if slow else random.uniform(18, 22)
    cart = db + random.uniform(5, 7)
    print(json.dumps({"resourceSpans": [
        span(trace, 0, -1, "front", "GET /cart", 0, cart + 4),
        span(trace, 1, 0, "cart", "load", 2, 2 + cart),
        span(trace, 2, 1, "db-2" if slow else "db-1", "select", 4, 4 + db)]}))
