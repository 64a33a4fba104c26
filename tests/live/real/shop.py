"""The application server of the live test: shop.py ADDRESS PORT CACHE:PORT DATABASE:PORT

GET /item/N asks the cache, on a miss the database, and fills the cache; GET /report asks the database twice; GET /ping
asks nobody. A thread serves a connection; connections to the cache and the database are shared by all threads, as in any
server. Each call carries the trace id where its protocol has room for one (key, SQL comment): that is the truth which
the test reads from the packets.
"""
import queue
import re
import socket
import struct
import sys
import threading

CONNECTIONS = 24


def connect(where):
    host, _, port = where.partition(":")
    s = socket.create_connection((host, int(port)))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


class Redis:
    def __init__(self, where):
        self.socket = connect(where)
        self.lines = self.socket.makefile("rb")

    def call(self, *words):
        text = b"*%d\r\n" % len(words)
        for word in words:
            text += b"$%d\r\n%s\r\n" % (len(word), word)
        self.socket.sendall(text)
        head = self.lines.readline()
        if not head or head[:1] == b"-":
            raise RuntimeError(head)
        if head[:1] == b"$" and head != b"$-1\r\n":
            return self.lines.read(int(head[1:]) + 2)[:-2]
        return None


class Postgres:
    def __init__(self, where):
        self.socket = connect(where)
        self.bytes = self.socket.makefile("rb")
        start = struct.pack(">i", 196608) + b"user\0postgres\0database\0postgres\0\0"
        self.socket.sendall(struct.pack(">i", len(start) + 4) + start)
        self.answer()

    def answer(self):
        rows = []
        while True:
            kind, size = struct.unpack(">ci", self.bytes.read(5))
            body = self.bytes.read(size - 4)
            if kind == b"D":
                rows.append(body)
            elif kind == b"E":
                raise RuntimeError(body)
            elif kind == b"Z":
                return rows

    def call(self, sql):
        text = sql.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack(">i", len(text) + 4) + text)
        return self.answer()


class Shop:
    def __init__(self, cache, database):
        self.caches, self.databases = queue.LifoQueue(), queue.LifoQueue()
        for _ in range(CONNECTIONS):
            self.caches.put(Redis(cache))
            self.databases.put(Postgres(database))

    def cache(self, *words):
        one = self.caches.get()
        try:
            return one.call(*words)
        finally:
            self.caches.put(one)

    def database(self, sql):
        one = self.databases.get()
        try:
            return one.call(sql)
        finally:
            self.databases.put(one)

    def serve(self, path, trace):
        if path.startswith("/item/"):
            key = f"item:{path[6:]}:{trace}".encode()
            if int(path[6:]) % 2 and not self.cache(b"GET", key):
                rows = self.database(f"SELECT name FROM item WHERE id = {int(path[6:])} /* {trace} */")
                self.cache(b"SET", key, b"".join(rows))
            else:
                self.cache(b"GET", key)
        elif path == "/report":
            self.database(f"SELECT count(*) FROM item /* {trace} */")
            self.database(f"SELECT max(name) FROM item WHERE id < 50 /* {trace} */")
        return b"done\n"


def connection(shop, peer):
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    lines = peer.makefile("rb")
    while True:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = lines.readline()
            if not line:
                return
            head += line
        text = head.decode()
        trace = re.search(r"(?i)traceparent: 00-([0-9a-f]{32})", text)
        body = shop.serve(text.split(" ")[1], trace.group(1) if trace else "none")
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def main():
    shop = Shop(sys.argv[3], sys.argv[4])
    listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=256)
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=connection, args=(shop, peer), daemon=True).start()


main()
