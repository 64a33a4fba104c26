"""Prints whether the sections that the program found are those that the case expects, and how they differ."""
import json
import os
import sys

case = json.load(open(sys.argv[1], encoding="utf-8"))
got = []
for line in open(sys.argv[2], encoding="utf-8"):
    found = json.loads(line)
    if "sections" in found:
        got = [(s["span"], s["start"] // 1000, s["end"] // 1000) for s in found["sections"]]
want = [(s["spanID"], s["sectionStart"], s["sectionEnd"]) for s in reversed(case["criticalPathSections"])]
name = os.path.basename(sys.argv[1])
print(f"{name}: the same" if got == want else f"{name}:\n  want {want}\n  got  {got}")
