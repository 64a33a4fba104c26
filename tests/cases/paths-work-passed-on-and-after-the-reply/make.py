"""usage: make.py SEED LOSS      a message trace on stdout, its truth on stderr: the path of each request

A front asks a broker, which passes the work on to one of two workers; the worker answers the front. When the front has
answered its client, it still calls an audit service. No message has an id but those that the broker passes on.
"""
import random
import sys

random.seed(int(sys.argv[1]))
loss = float(sys.argv[2])
messages = []
at = 1700000000.0


def around(ms):
    return random.uniform(0.9, 1.1) * ms / 1000


for i in range(600):
    at += random.expovariate(1) * 0.03 + 0.012
    t, worker = at, random.choice(("worker1", "worker2"))
    call = f"r{i}"

    def say(op, sender, receiver, name=None):
        messages.append((t, op, sender, receiver, name or call))

    say("CALL_SENT", "client", "front")
    t += around(1)
    say("CALL_SENT", "front", "broker", call + "b")
    t += around(0.5)
    say("SENT", "broker", worker, "-")
    t += around(6)
    say("RET_SENT", worker, "front", call + "b")
    t += around(1)
    say("RET_SENT", "front", "client")
    t += around(2)
    say("CALL_SENT", "front", "audit", call + "a")
    t += around(1)
    say("RET_SENT", "audit", "front", call + "a")
    print(f"front(broker({worker}),audit)", file=sys.stderr)
messages.sort()
for t, *rest in messages:
    if random.random() >= loss:
        print(f"{t:.6f}", *rest)
