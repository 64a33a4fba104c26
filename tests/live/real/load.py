"""The load of the live test: load.py ADDRESS:PORT CONCURRENCY REQUESTS SECONDS SEED

So many clients send requests one after the other over a connection each, until all are sent or the time is over. Each
request carries a traceparent of its own. Prints how many were answered.
"""
import random
import socket
import sys
import threading
import time


def client(where, dice, deadline, left, done):
    host, _, port = where.partition(":")
    s = socket.create_connection((host, int(port)))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.settimeout(20)
    while time.monotonic() < deadline:
        try:
            left.pop()
        except IndexError:
            break
        path = dice.choices((f"/item/{dice.randrange(1000)}", "/report", "/ping"), (8, 2, 1))[0]
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: shop\r\n"
                  f"traceparent: 00-{dice.getrandbits(128):032x}-{dice.getrandbits(64):016x}-01\r\n\r\n".encode())
        answer = b""
        while b"\r\n\r\n" not in answer or not answer.endswith(b"done\n"):
            got = s.recv(4096)
            if not got:
                raise SystemExit("the connection was closed: " + answer.decode(errors="replace"))
            answer += got
        if not answer.startswith(b"HTTP/1.1 200"):
            raise SystemExit(answer.decode(errors="replace"))
        done.append(1)
        time.sleep(dice.random() * 0.01)
    s.close()


def main():
    where, concurrency, requests, seconds, seed = sys.argv[1], *map(int, sys.argv[2:6])
    left, done = [1] * requests, []
    deadline = time.monotonic() + seconds
    threads = [threading.Thread(target=client, args=(where, random.Random(seed * 1000 + i), deadline, left, done))
               for i in range(concurrency)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(done))


main()
