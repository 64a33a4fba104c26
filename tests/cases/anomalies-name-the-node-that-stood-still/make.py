"""Writes the logs of three nodes: make.py SEED FOLDER [paused]. Requests visit two of the nodes; paused: n2 does nothing from
8 s to 10.5 s, and whoever needs it waits."""
import os
import random
import sys
from datetime import datetime, timedelta

seed, folder, paused = int(sys.argv[1]), sys.argv[2], len(sys.argv) > 3
dice = random.Random(seed)
lines = {"n1": [], "n2": [], "n3": []}


def when(node, second):
    return 10.5 + dice.random() / 100 if paused and node == "n2" and 8 <= second < 10.5 else second


def say(node, second, text):
    lines[node].append((second, text))


free = [dice.random() for _ in range(8)]  # clients, and when each is free again
number = 0
while min(free) < 20:
    client = free.index(min(free))
    now, number = free[client], number + 1
    for node in dice.sample(sorted(lines), 2):
        now = when(node, now)
        say(node, now, f"request_id=r{number:05d} begins")
        now = when(node, now + 0.004 + dice.random() / 200)
        say(node, now, f"request_id=r{number:05d} is done")
    free[client] = now + dice.random() / 20
os.makedirs(folder)
for node, said in lines.items():
    with open(os.path.join(folder, node + ".log"), "w") as out:
        for second, text in sorted(said):
            stamp = datetime(2026, 3, 1, 12) + timedelta(seconds=second)
            out.write(f"{stamp:%Y-%m-%d %H:%M:%S},{stamp.microsecond // 1000:03d} INFO [main] app.Node: {text}\n")
