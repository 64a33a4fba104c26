"""Writes real logs anew, piece by piece, into a directory that is followed, and rotates them on the way.

usage: follow_writer.py FROM TO [SEED]      all files below FROM; pieces end where an event begins

Each rotation is one of: rename; copy and cut; pack and delete.
"""
import gzip
import os
import random
import re
import shutil
import sys
import time

BEGINS = re.compile(rb"^(\d{4}-\d\d-\d\d|[A-Z]+ +\[)")
PIECES, PIECE_BYTES, ROTATIONS_MAX = 14, 3000, 40


def rotate(path):
    for nr in range(ROTATIONS_MAX, 0, -1):
        for end in ("", ".gz"):
            if os.path.exists(f"{path}.{nr}{end}"):
                os.rename(f"{path}.{nr}{end}", f"{path}.{nr + 1}{end}")
    how = random.choice(("rename", "copy", "pack"))
    if how == "rename":
        os.rename(path, path + ".1")
    elif how == "copy":
        shutil.copy(path, path + ".1")
        time.sleep(0.05)
        os.truncate(path, 0)
    else:
        with open(path, "rb") as plain, gzip.open(path + ".1.gz", "wb") as packed:
            shutil.copyfileobj(plain, packed)
        os.unlink(path)


def cut(data, at):
    """The last place up to at where an event begins; all of it when there is none."""
    place = data.rfind(b"\n", 0, at) + 1
    while place and not BEGINS.match(data[place:place + 40]):
        place = data.rfind(b"\n", 0, place - 1) + 1
    return place or len(data)


def write(path, piece):
    """In two steps, so that a line is not whole for a moment."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    half = random.randrange(len(piece) + 1)
    with open(path, "ab", buffering=0) as out:
        out.write(piece[:half])
        time.sleep(0.005)
        out.write(piece[half:])


def main():
    source, to = sys.argv[1:3]
    random.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 7)
    left = {}
    for where, _, names in sorted(os.walk(source)):
        for name in sorted(names):
            with open(os.path.join(where, name), "rb") as file:
                left[os.path.relpath(os.path.join(where, name), source)] = file.read()
    for step in range(PIECES + 1):
        for name in [name for name, data in left.items() if data]:
            data, path = left[name], os.path.join(to, name)
            at = cut(data, max(PIECE_BYTES, len(data) // 4)) if step < PIECES else len(data)
            write(path, data[:at])
            left[name] = data[at:]
            if left[name] and random.random() < 0.6:
                rotate(path)
        time.sleep(0.2)


main()
