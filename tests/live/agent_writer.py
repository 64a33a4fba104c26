"""Writes numbered lines to a log that it rotates now and then. usage: agent_writer.py LOG NR-LINES LINES-PER-SECOND"""
import os
import random
import sys
import time


def rotate(log, how):
    for k in range(12, 0, -1):
        if os.path.exists(f"{log}.{k}"):
            os.rename(f"{log}.{k}", f"{log}.{k + 1}")
    if how == "rename":
        os.rename(log, log + ".1")
        return
    with open(log, "rb") as old, open(log + ".1", "wb") as copy:
        copy.write(old.read())
    os.truncate(log, 0)


def main():
    log, total, rate = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    random.seed(5)
    out = open(log, "a", encoding="ascii")  # pylint: disable=consider-using-with
    began, nr = time.time(), 0
    while nr < total:
        due = min(total, int((time.time() - began) * rate) + 1)
        while nr < due:
            now = time.time()
            stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now)) + ",%03d" % (now % 1 * 1000)
            out.write(f"{stamp} INFO [w-{nr % 4}] shop.Cart: order ord_{nr} of user_{nr // 100} done\n")
            nr += 1
            if random.random() < 0.0004:
                out.close()
                rotate(log, random.choice(["rename", "copy"]))
                out = open(log, "a", encoding="ascii")  # pylint: disable=consider-using-with
        out.flush()
        time.sleep(0.01)
    out.close()


main()
