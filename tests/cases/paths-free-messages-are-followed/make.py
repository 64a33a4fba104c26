"""A trace of messages that are neither call nor return: usage: make.py SEED; says on standard error what is true."""
import collections
import random
import sys

dice = random.Random(int(sys.argv[1]))
# nodes in the order of the messages, mean delay in ms of each node, weight
paths = [("CL WS1 AUTH DB1 AUTH WS1 AP1 DB2 AP1 WS1 CL", (50, 50, 10, 10, 50, 50, 10, 10, 10), 4),
         ("CL WS1 WS2 DB1 WS2 WS1 CL", (20, 30, 25, 10, 5), 4),
         ("CL WS1 CL", (4,), 2)]
messages, truth = [], collections.Counter()
for request in range(1500):
    path, delays, _ = dice.choices(paths, [weight for _, _, weight in paths])[0]
    nodes, time = path.split(), 1_700_000_000 + dice.random() * 150
    truth["(".join(nodes[1:]) + ")" * (len(nodes) - 2)] += 1
    for k in range(len(nodes) - 1):
        if k:
            time += max(1e-5, dice.gauss(delays[k - 1], delays[k - 1] * 0.1) / 1e3)
        messages.append((time, nodes[k], nodes[k + 1]))
for time, sender, receiver in sorted(messages):
    print(f"{time:.6f} SENT {sender} {receiver} -")
for path, count in truth.items():
    print(path, count, file=sys.stderr)
