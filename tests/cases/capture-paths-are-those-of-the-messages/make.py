"""Writes a capture of a small shop: a balancer, two web servers over IPv6, a cache and a database.

usage: make.py SEED HEADERS > shop.pcap     HEADERS: traceparent, b3, sw8, none

Every request goes client -> balancer (10.0.0.1:80) -> web ([fd00::1]:8080 or [fd00::2]:8080) -> cache (6379), and for
half of them on to the database (5432). Truth goes to standard error: the path, and how often. Every packet is
there twice, as in a capture of both ends of each link.
"""
import base64
import random
import struct
import sys
from collections import Counter


class Connection:
    def __init__(self, client, server, port, rng):
        self.ends = ((client, rng.randrange(30000, 60000)), (server, port))
        self.seq = [rng.randrange(1 << 32), rng.randrange(1 << 32)]


def address(text):
    if ":" not in text:
        return bytes(map(int, text.split(".")))
    return bytes.fromhex("fd00") + bytes(13) + bytes([int(text.rsplit(":", 1)[1])])


def frame(c, side, data, flags):
    (source, sport), (dest, dport) = c.ends[side], c.ends[1 - side]
    tcp = struct.pack(">HHIIBBHHH", sport, dport, c.seq[side], c.seq[1 - side], 0x50, flags, 65535, 0, 0) + data
    c.seq[side] = (c.seq[side] + len(data) + (1 if flags & 3 else 0)) % (1 << 32)
    if ":" in source:
        head = struct.pack(">IHBB", 6 << 28, len(tcp), 6, 64) + address(source) + address(dest)
        return bytes(12) + b"\x86\xdd" + head + tcp
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + address(source) + address(dest)
    return bytes(12) + b"\x81\x00\x00\x07\x08\x00" + head + tcp  # in a virtual network


class Wire:
    def __init__(self):
        self.packets = []

    def say(self, time, c, side, data, flags=0x18):
        self.packets.append((time, frame(c, side, data, flags)))

    def open(self, time, c):
        self.say(time, c, 0, b"", 2)
        self.say(time + 20, c, 1, b"", 18)
        self.say(time + 30, c, 0, b"", 16)
        return time + 50

    def write(self, out):
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for time, data in sorted(self.packets, key=lambda p: p[0]):
            for copy in (0, 3):
                us = time + copy
                out.write(struct.pack("<IIII", 1700000000 + us // 1000000, us % 1000000, len(data), len(data)) + data)


def headers(kind, nr, rng):
    trace, span = f"{nr + 1:032x}", f"{rng.getrandbits(63) + 1:016x}"
    if kind == "traceparent":
        return f"traceparent: 00-{trace}-{span}-01\r\n"
    if kind == "b3":
        return f"X-B3-TraceId: {trace}\r\nX-B3-SpanId: {span}\r\n"
    if kind == "sw8":
        return f"sw8: 1-{base64.b64encode(trace.encode()).decode()}-c2Vn-0-c2Vy-aW5z-L2E=-aDox\r\n"
    return ""


def ask(wire, c, time, path, carried):
    wire.say(time, c, 0, f"GET {path} HTTP/1.1\r\nHost: shop\r\n{carried}\r\n".encode())


def answer(wire, c, time):
    wire.say(time, c, 1, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")


def request(wire, links, nr, start, kind, rng):
    web = nr % 2
    front, back, cache, database = links["front"][nr % 4], links["back"][web], links["cache"][web], links["db"][web]
    carried = headers(kind, nr, rng)
    time = start
    ask(wire, front, time, f"/cart/{nr}", carried)
    time += 200
    ask(wire, back, time, f"/api/cart/{nr}", carried)
    time += 500 + rng.randrange(100)
    wire.say(time, cache, 0, b"*2\r\n$3\r\nGET\r\n$4\r\ncart\r\n")
    time += 300
    wire.say(time, cache, 1, b"$-1\r\n" if nr % 4 < 2 else b"$2\r\nok\r\n")
    if nr % 4 < 2:
        time += 200
        sql = b"select * from cart\0"
        wire.say(time, database, 0, b"Q" + struct.pack(">I", 4 + len(sql)) + sql)
        time += 2000 + rng.randrange(500)
        wire.say(time, database, 1, b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I")
    time += 400
    answer(wire, back, time)
    time += 150
    answer(wire, front, time)
    below = "cache,db" if nr % 4 < 2 else "cache"
    return f"balancer(web({below}))"


def main():
    rng = random.Random(int(sys.argv[1]))
    wire = Wire()
    links = {
        "front": [Connection(f"10.0.9.{i + 1}", "10.0.0.1", 80, rng) for i in range(4)],
        "back": [Connection("fd00::9", f"fd00::{i + 1}", 8080, rng) for i in range(2)],
        "cache": [Connection(f"fd00::{i + 1}", "fd00::3", 6379, rng) for i in range(2)],
        "db": [Connection(f"fd00::{i + 1}", "fd00::4", 5432, rng) for i in range(2)],
    }
    time = 0
    for group in links.values():
        for c in group:
            time = wire.open(time, c)
    truth = Counter()
    for nr in range(200):
        time += 8000 + rng.randrange(2000)
        truth[request(wire, links, nr, time, sys.argv[2], rng)] += 1
    wire.write(sys.stdout.buffer)
    for path, count in sorted(truth.items()):
        print(path, count, file=sys.stderr)


main()
