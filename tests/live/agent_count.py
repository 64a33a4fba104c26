"""Counts how often each numbered line is in a hub's journal. usage: agent_count.py JOURNAL-DIR NR-LINES"""
import collections
import glob
import struct
import sys

HEAD = 13  # length, hash, kind


def records(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + HEAD <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        yield data[at + 12:at + 13], data[at + HEAD:at + HEAD + length]
        at += HEAD + length


def count_message(message, counts):
    strings, lines = [b""], 0
    for item in message.split(b"] ", 1)[1].split(b" "):
        if item[:1] == b"=":
            strings.append(item[1:])
        elif item[:1] == b"@":
            lines = int(item.split(b",")[-1], 16)
        elif item[:1] == b":":
            value = strings[int(item.split(b",")[-1], 16)]
            if value.startswith(b"ord_"):
                counts[int(value[4:])] += lines


def main():
    counts = collections.Counter()
    for path in sorted(glob.glob(sys.argv[1] + "/*.journal")):
        for kind, message in records(path):
            if kind == b"M":
                count_message(message, counts)
    total = int(sys.argv[2])
    lost = [nr for nr in range(total) if not counts[nr]]
    twice = [nr for nr in range(total) if counts[nr] > 1]
    print(f"lost {len(lost)} twice {len(twice)}", lost[:5], twice[:5])
    return 1 if lost or twice else 0


sys.exit(main())
