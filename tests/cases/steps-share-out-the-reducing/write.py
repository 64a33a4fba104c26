"""Writes the logs of three nodes over an hour: files are written in turns, some of them slowly enough to cross windows of time."""

import random

draw = random.Random(7)
logs = {"front": [], "disk1": [], "disk2": []}


def say(node, at, thread, text):
    stamp = "2024-05-01 %02d:%02d:%06.3f" % (10 + at // 3600000, at // 60000 % 60, at % 60000 / 1000)
    logs[node].append((at, "%s INFO  [%s] shop.%s: %s" % (stamp.replace(".", ","), thread, node.capitalize(), text)))


for i in range(1500):
    at = i * 2400 + draw.randrange(900)
    disk = "disk%d" % draw.randrange(1, 3)
    slow = draw.randrange(30000, 110000) if i % 9 == 0 else draw.randrange(5, 400)
    say("front", at, "handler-%d" % (i % 8), "create /files/f%05d" % i)
    say("front", at + 3, "handler-%d" % (i % 8), "allocate blk_%d for /files/f%05d" % (770000 + i * 13, i))
    say(disk, at + 5, "receiver-%d" % (i % 5), "receiving blk_%d" % (770000 + i * 13))
    say(disk, at + 6 + slow, "receiver-%d" % (i % 5), "received blk_%d of %d bytes" % (770000 + i * 13, draw.randrange(10**6)))
    say("front", at + 9 + slow, "handler-%d" % ((i + 3) % 8), "complete /files/f%05d" % i)
for node, lines in logs.items():
    with open("logs/%s.log" % node, "w") as f:
        f.write("".join(text + "\n" for at, text in sorted(lines)))
