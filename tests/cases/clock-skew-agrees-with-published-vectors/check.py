"""Feeds each vector to culprit as a Jaeger trace and compares the exported times with the adjusted ones."""
import json
import os
import subprocess
import sys

BASE = 10**12  # microseconds: the vectors begin at zero, which no trace does


def trace_of(vector):
    processes, spans = {}, []
    for s in vector["spans"]:
        tags = [{"key": "ip", "type": "string", "value": s["host"]}] if s["host"] else []
        processes["p" + s["host"]] = {"serviceName": "service", "tags": tags}
        parent = {"refType": "CHILD_OF", "traceID": "1", "spanID": "%x" % s["parent"]}
        spans.append({
            "traceID": "1", "spanID": "%x" % s["id"], "operationName": "op%d" % s["id"],
            "references": [parent] if s["parent"] else [],
            "startTime": BASE + 1000 * s["start_ms"], "duration": 1000 * s["duration_ms"],
            "processID": "p" + s["host"],
            "logs": [{"timestamp": BASE + 1000 * e, "fields": [{"key": "event", "type": "string", "value": "x"}]}
                     for e in s["events_ms"]]})
    return {"data": [{"traceID": "1", "spans": spans, "processes": processes}]}


def adjusted(vector):
    with open("trace.json", "w") as f:
        json.dump(trace_of(vector), f)
    out = subprocess.run([os.environ["CULPRIT"], "export", "trace.json", "--format", "jaeger",
                          "--max-skew", "%dms" % vector["max_adjust_ms"]], check=True, capture_output=True, text=True)
    return {(int(s["spanID"], 16), s["startTime"] - BASE, tuple(sorted(e["timestamp"] - BASE for e in s["logs"])))
            for t in json.loads(out.stdout)["data"] for s in t["spans"]}


right = 0
vectors = json.load(open(sys.argv[1]))
for v in vectors:
    # a set, because a span that comes twice with the same id and times is one span
    want = {(s["id"], 1000 * s["adjusted_start_ms"], tuple(1000 * e for e in s["adjusted_events_ms"]))
            for s in v["spans"]}
    got = adjusted(v)
    right += got == want
    if got != want:
        print("%s: got %s, want %s" % (v["description"], sorted(got), sorted(want)))
print("%d of %d" % (right, len(vectors)))
