"""A message trace of a shop, each message stamped by the clock of its sender.

usage: make.py SEED [NODE MS]     the clock of NODE is ahead by MS"""
import random
import sys

dice = random.Random(int(sys.argv[1]))
wrong, ahead = (sys.argv[2], float(sys.argv[3]) / 1e3) if len(sys.argv) > 2 else ("", 0)
calls = {"web": ["auth", "app"], "app": ["db", "cache", "db"], "auth": ["db"]}
messages, ids = [], 0


def send(time, op, sender, receiver, number):
    messages.append((time + (ahead if sender == wrong else 0), op, sender, receiver, number))


def call(caller, node, time):
    global ids
    ids += 1
    number = ids
    send(time, "CALL_SENT", caller, node, number)
    time += dice.uniform(0.001, 0.003)
    for callee in calls.get(node, []):
        time = call(node, callee, time) + dice.uniform(0.0005, 0.0015)
    send(time, "RET_SENT", node, caller, number)
    return time + 0.0002


for request in range(500):
    call("user", "web", 1_700_000_000 + request * 0.06 + dice.random() * 0.03)
for time, op, sender, receiver, number in sorted(messages):
    print(f"{time:.6f} {op} {sender} {receiver} {number}")
