"""Prints 100 traces as OTLP JSON lines: front calls auth, then cart, which calls db. make.py SEED EXTRA_MS_IN_DB"""
import json
import random
import sys

random.seed(int(sys.argv[1]))
extra = float(sys.argv[2])


def span(trace, nr, parent, node, name, start, end):
    at = 1772359200000 + trace * 500
    return {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": node}}]},
            "scopeSpans": [{"spans": [{"traceId": f"{trace + 1:032x}", "spanId": f"{trace * 16 + nr + 1:016x}",
                                       "parentSpanId": f"{trace * 16 + parent + 1:016x}" if parent >= 0 else "",
                                       "name": name, "startTimeUnixNano": str(int((at + start) * 1e6)),
                                       "endTimeUnixNano": str(int((at + end) * 1e6))}]}]}


for trace in range(100):
    auth, db = random.uniform(4, 6), random.uniform(18, 22) + extra
    cart = db + random.uniform(5, 7)
    total = auth + cart + 3
    print(json.dumps({"resourceSpans": [
        span(trace, 0, -1, "front", "GET /cart", 0, total),
        span(trace, 1, 0, "auth", "check", 1, 1 + auth),
        span(trace, 2, 0, "cart", "load", 2 + auth, 2 + auth + cart),
        span(trace, 3, 2, "db", "select", 4 + auth, 4 + auth + db)]}))
