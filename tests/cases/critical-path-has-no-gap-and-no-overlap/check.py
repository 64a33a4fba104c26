"""Fails when the sections of a request leave a gap, overlap, or do not cover the request."""
import json
import sys


def read(path, field):
    """The objects of a JSON lines file that have the field, by their request."""
    objects = [json.loads(line) for line in open(path, encoding="utf-8")]
    return {o.get("id", o.get("request")): o for o in objects if field in o}


requests, paths = read(sys.argv[1], "duration"), read(sys.argv[2], "sections")
if not requests or requests.keys() != paths.keys():
    sys.exit(f"{len(requests)} requests, {len(paths)} paths")
for nr, request in requests.items():
    at = request["start"]
    for section in paths[nr]["sections"]:
        if section["start"] != at or section["end"] < section["start"]:
            sys.exit(f"request {nr} ({request['key']}): a gap or an overlap at {at}: {section}")
        at = section["end"]
    if at != request["end"]:
        sys.exit(f"request {nr} ({request['key']}): the path ends at {at}, the request at {request['end']}")
print("every nanosecond once")
