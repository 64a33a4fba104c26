"""Scores what was inferred from a capture: score.py CAPTURE NAMES INSTANCES.jsonl

The truth is read from the packets: a call belongs to the request whose trace id stands in it. Within a request a call to
a server is caused by the one call to the server that made it. Prints calls, the share with the right parent, requests,
and the share of requests with exactly the right calls; then calls that culprit could not have seen, and the share that is
right of those of which it says to be 0.9 sure or more.
"""
import json
import re
import struct
import sys


def packets(path):
    """(ns, receiver's address, payload) of every TCP packet with one, Ethernet and IPv4."""
    with open(path, "rb") as f:
        head = f.read(24)
        unit = 1 if head[:4] == b"\x4d\x3c\xb2\xa1" else 1000
        while len(record := f.read(16)) == 16:
            seconds, part, size, _ = struct.unpack("<IIII", record)
            data = f.read(size)
            if data[12:14] != b"\x08\x00" or data[23] != 6:
                continue
            tcp = 14 + (data[14] & 15) * 4
            end = 14 + struct.unpack(">H", data[16:18])[0]
            payload = data[tcp + (data[tcp + 12] >> 4) * 4:end]
            if payload:
                yield seconds * 10**9 + part * unit, ".".join(map(str, data[30:34])), payload


def truth(path):
    """(ns, address) -> trace, of calls only: answers carry no trace id."""
    found = {}
    for ns, address, payload in packets(path):
        trace = re.search(rb"(?:traceparent: 00-|item:\d+:|/\* )([0-9a-f]{32})", payload)
        if trace:
            found[ns, address] = trace.group(1).decode()
    return found


def main():
    with open(sys.argv[2]) as f:
        names = dict(line.split() for line in f)
    traces = {(ns, names[address]): trace for (ns, address), trace in truth(sys.argv[1]).items()}
    calls_of, right_calls, nr_calls, wrong, unknown = {}, 0, 0, set(), 0
    sure = []
    for trace in traces.values():
        calls_of[trace] = calls_of.get(trace, 0) + 1
    roots = {}
    with open(sys.argv[3]) as f:
        for line in f:
            row = json.loads(line)
            if "calls" not in row:
                continue
            trace_of, count = {}, {}
            for call in row["calls"]:
                trace = traces.get((call["start"], call["to"]))
                if trace is None:
                    unknown += 1
                    continue
                trace_of[call["message"]] = (trace, call["to"])
                count[trace] = count.get(trace, 0) + 1
            for call in row["calls"]:
                if call["message"] not in trace_of:
                    continue
                trace, _ = trace_of[call["message"]]
                if not call["parent"]:
                    roots.setdefault(trace, []).append(count)
                    continue
                nr_calls += 1
                is_right = trace_of.get(call["parent"]) == (trace, call["from"])
                if call["confidence"] >= 0.9:
                    sure.append(is_right)
                if is_right:
                    right_calls += 1
                else:
                    wrong.add(trace)
    right = sum(1 for trace, nr in calls_of.items()
                if trace not in wrong and roots.get(trace) == [{trace: nr}])
    missing = sum(calls_of.values()) - len(calls_of) - nr_calls
    nr_calls += max(missing, 0)
    print(nr_calls, round(right_calls / max(nr_calls, 1), 4), len(calls_of), round(right / max(len(calls_of), 1), 4), unknown,
          round(sum(sure) / max(len(sure), 1), 4))


main()
