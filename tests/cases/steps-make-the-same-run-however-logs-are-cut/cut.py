"""Cuts logs into parts as engines do: the lines that begin behind a multiple of BYTES and up to the next one.

cut.py BYTES FILE...: frames for "culprit step map --frames"; a file is called by its place in the plan
"""

import sys


def line_at_or_after(data, at):
    """Where the first line begins that a part from there on holds."""
    if at == 0:
        return 0
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end + 1


size = int(sys.argv[1])
for number, path in (a.split("=") for a in sys.argv[2:]):
    with open(path, "rb") as f:
        data = f.read()
    for start in range(0, len(data), size):
        lines = data[line_at_or_after(data, start) : line_at_or_after(data, start + size)]
        if lines and not lines.endswith(b"\n"):
            lines += b"\n"
        sys.stdout.buffer.write(b"%d %d %d\n" % (int(number), start, len(lines)) + lines)
