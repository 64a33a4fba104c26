"""Writes a message trace: make.py SEED REQUESTS PARALLELISM TRACELETS [delay=NODE:MS] [share=1] [odds=3,1] [free=1]

TRACELETS is a word for each pattern, "CL1:WS2(AP2(DB1,DB2))": a client and what it calls, one after the other, or at
the same time where "|" stands. "DB1/DB2" is a replica chosen by lot. PARALLELISM clients send one request after the
other, patterns by their odds. Work takes about 50 ms before each call and 10 ms before the return. A delayed NODE works
MS longer, before its first call, in a share of the requests. free=1 writes messages that are neither call nor return.
"""
import random
import sys


def parse(text):
    """A call is (nodes, [(beside, call)...])."""
    at = 0

    def call():
        nonlocal at
        begin = at
        while at < len(text) and text[at] not in "(),|":
            at += 1
        nodes, kids, beside = text[begin:at].split("/"), [], False
        if at < len(text) and text[at] == "(":
            while text[at] != ")":
                at += 1
                kids.append((beside, call()))
                beside = text[at] == "|"
            at += 1
        return nodes, kids

    return call()


def main():
    seed, requests, parallelism, words = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split()
    options = dict(word.split("=") for word in sys.argv[5:])
    slow, _, ms = options.get("delay", ":0").partition(":")
    share = float(options.get("share", 1))
    odds = [float(x) for x in options.get("odds", ",".join("1" for _ in words)).split(",")]
    free = options.get("free") == "1"
    dice = random.Random(seed)
    patterns = [(word.partition(":")[0], parse(word.partition(":")[2])) for word in words]
    messages, nr_ids = [], 0

    def delay(mean):
        return max(1e-6, dice.gauss(mean, 0.2 * mean))

    def run(start, caller, call, late):
        nonlocal nr_ids
        nodes, kids = call
        node = dice.choice(nodes)
        nr_ids += 1
        number, now, before = nr_ids, start, start
        messages.append((start, "SENT" if free else "CALL_SENT", caller, node, "-" if free else number))
        now += late if node == slow else 0
        for beside, kid in kids:
            before = before if beside else now + delay(0.05)
            now = max(now, run(before, node, kid, late))
        now += delay(0.01)
        messages.append((now, "SENT" if free else "RET_SENT", node, caller, "-" if free else number))
        return now

    clocks = [dice.random() for _ in range(parallelism)]
    for i in range(requests):
        client, call = dice.choices(patterns, odds)[0]
        late = float(ms) / 1000 if dice.random() < share else 0
        k = i % parallelism
        clocks[k] = run(clocks[k] + dice.random() * 0.1, client, call, late)
    for t, operation, sender, receiver, number in sorted(messages):
        print(f"{1e9 + t:.6f}", operation, sender, receiver, number)


main()
