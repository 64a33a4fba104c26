#!/usr/bin/env python3
"""Whether the code of a process is what its files have: prints where it is not, and fails.

usage: variance_unpatched.py PID [FUNCTION...]

With names of functions (of .symtab of the program), those must be among what was compared.
"""
import struct
import subprocess
import sys


def code_of(pid):
    """(start, end, offset, path) of each mapping of a file that may be run."""
    with open(f"/proc/{pid}/maps") as f:
        for line in f:
            part = line.split(None, 5)
            path = part[5].strip() if len(part) > 5 else ""
            if "x" in part[1] and path.startswith("/") and not path.startswith("/memfd"):
                start, end = (int(x, 16) for x in part[0].split("-"))
                yield start, end, int(part[2], 16), path


def code_bytes(path):
    """How much of the file is code: behind it, in its last page, nobody runs anything."""
    with open(path, "rb") as f:
        head = f.read(64)
        at, size, nr = *struct.unpack_from("<Q", head, 32), *struct.unpack_from("<HH", head, 54)
        f.seek(at)
        table = f.read(size * nr)
    for i in range(nr):
        kind, flags, offset, _, _, length = struct.unpack_from("<IIQQQQ", table, i * size)
        if kind == 1 and flags & 1:
            yield offset, length


def different(pid):
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for start, end, offset, path in code_of(pid):
            for begins, length in code_bytes(path):
                first, last = max(offset, begins), min(offset + end - start, begins + length)
                if first >= last:
                    continue
                with open(path, "rb") as f:
                    f.seek(first)
                    want = f.read(last - first)
                mem.seek(start + first - offset)
                got = mem.read(len(want))
                if got != want:
                    at = next(i for i in range(len(want)) if got[i] != want[i])
                    yield f"{path}+{first + at:#x}: {got[at:at + 8].hex()}, not {want[at:at + 8].hex()}"


def main():
    pid = int(sys.argv[1])
    bad = list(different(pid))
    for line in bad:
        print(line)
    if sys.argv[2:]:
        names = subprocess.run(["nm", f"/proc/{pid}/exe"], capture_output=True, text=True, check=True).stdout.split()
        bad += [n for n in sys.argv[2:] if n not in names]
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
