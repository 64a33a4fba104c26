#!/usr/bin/env python3
"""Programs that talk to each other over sockets, each a process with a name of its own; then it all ends by itself.

usage: record_sockets.py http REQUESTS [CLIENTS [BYTES]]   client -> front:8003 -> back:8002, over HTTP on 127.0.0.1
       record_sockets.py unix REQUESTS                     asker -> answerer, over a UNIX socket, words of no protocol
       record_sockets.py udp REQUESTS                      asker -> answerer:8004, datagrams that are all alike
       record_sockets.py pid REQUESTS FILE BEGIN           as http; writes the number of the process "front" to FILE and waits for
                                                           the file BEGIN first

Each request of the client makes exactly one of the front. Prints how many were answered, when all has ended.
"""
import http.client
import http.server
import os
import signal
import socket
import sys
import tempfile
import threading
import time

BACK, FRONT, DATAGRAMS = ("127.0.0.1", 8002), ("127.0.0.1", 8003), ("127.0.0.1", 8004)
kind, requests = sys.argv[1], int(sys.argv[2])
clients = int(sys.argv[3]) if kind == "http" and len(sys.argv) > 3 else 1
answer = b"x" * (int(sys.argv[4]) if kind == "http" and len(sys.argv) > 4 else 2)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Not on standard error."""


class Back(Handler):
    def do_GET(self):
        time.sleep(0.002)
        self.answer(answer)


class Front(Handler):
    def do_GET(self):
        back = http.client.HTTPConnection(*BACK)
        back.request("GET", "/stock")
        body = back.getresponse().read()
        back.close()
        self.answer(body)


def name(text):
    with open("/proc/self/comm", "w", encoding="ascii") as f:
        f.write(text)


def start(text, serve, *args):
    """A process of that name that serves until it is ended; answers when it is ready."""
    ready, said = os.pipe()
    pid = os.fork()
    if pid:
        os.close(said)
        os.read(ready, 1)
        os.close(ready)
        return pid
    name(text)
    serve(lambda: os.write(said, b"."), *args)
    return os._exit(0)


def serve_http(is_ready, at, handler):
    http.server.ThreadingHTTPServer.request_queue_size = 128
    server = http.server.ThreadingHTTPServer(at, handler)
    is_ready()
    server.serve_forever()


def serve_unix(is_ready, path):
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()
    is_ready()
    connection, _ = listening.accept()
    while asked := connection.recv(1000):
        connection.sendall(b"\1answer to " + asked)


def serve_datagrams(is_ready):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("0.0.0.0", DATAGRAMS[1]))
    is_ready()
    while True:
        asked, whose = s.recvfrom(1000)
        s.sendto(b"\1answer to " + asked, whose)


def ask_http(nr):
    front = http.client.HTTPConnection(*FRONT)
    for _ in range(nr):
        front.request("GET", "/cart")
        if front.getresponse().read() != answer:
            sys.exit("a wrong answer")
    front.close()


def ask_socket(family, type_, where):
    s = socket.socket(family, type_)
    s.connect(where)
    for _ in range(requests):
        s.send(b"\1the same words")
        s.recv(1000)
    s.close()


servers = []
if kind in ("http", "pid"):
    servers.append(start("back", serve_http, BACK, Back))
    servers.append(start("front", serve_http, FRONT, Front))
    if kind == "pid":
        with open(sys.argv[3], "w", encoding="ascii") as f:
            f.write(f"{servers[1]}\n")
        while not os.path.exists(sys.argv[4]):
            time.sleep(0.05)
    name("client")
    threads = [threading.Thread(target=ask_http, args=(requests // clients,)) for _ in range(clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
elif kind == "unix":
    path = os.path.join(tempfile.mkdtemp(), "s")
    servers.append(start("answerer", serve_unix, path))
    name("asker")
    ask_socket(socket.AF_UNIX, socket.SOCK_STREAM, path)
    os.unlink(path)
    os.rmdir(os.path.dirname(path))
else:
    servers.append(start("answerer", serve_datagrams))
    name("asker")
    ask_socket(socket.AF_INET, socket.SOCK_DGRAM, DATAGRAMS)
for server in servers:
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
print(f"{requests} answered", file=sys.stderr)
