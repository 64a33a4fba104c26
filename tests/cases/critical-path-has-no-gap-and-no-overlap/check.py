"""Fails when the sections of request 1 leave a gap, overlap, or do not cover the request."""
import json
import sys

requests = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
paths = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
request = next(r for r in requests if r.get("id") == 1)
sections = next(p for p in paths if "sections" in p)["sections"]
at = request["start"]
for section in sections:
    if section["start"] != at or section["end"] < section["start"]:
        sys.exit(f"a gap or an overlap at {at}: {section}")
    at = section["end"]
if at != request["end"]:
    sys.exit(f"ends at {at}, the request at {request['end']}")
