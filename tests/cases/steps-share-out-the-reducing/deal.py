"""Deals records out to reducers by their chain, as an engine does: deal.py REDUCERS <chains; each gets a file of its own."""

import sys

nr = int(sys.argv[1])
out = [open("dealt.%d" % i, "wb") for i in range(nr)]
for line in sorted(sys.stdin.buffer):
    out[int(line[:8], 16) % nr].write(line)
