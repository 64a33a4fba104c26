#!/usr/bin/env python3
"""A client that asks a front, which asks a back, over HTTP on loopback addresses; then it all ends by itself.

usage: record_http.py REQUESTS [CLIENTS [BYTES]]

Client 127.0.0.1, front 127.0.0.3:8003, back 127.0.0.2:8002. Every request of the client makes exactly one of the front; the
back sleeps 5 ms and answers with BYTES. Prints how many requests were answered, when it has ended.
"""
import http.client
import http.server
import sys
import threading
import time

BACK, FRONT = ("127.0.0.2", 8002), ("127.0.0.3", 8003)
requests = int(sys.argv[1])
clients = int(sys.argv[2]) if len(sys.argv) > 2 else 1
answer = b"x" * (int(sys.argv[3]) if len(sys.argv) > 3 else 2)


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
        time.sleep(0.005)
        self.answer(answer)


class Front(Handler):
    def do_GET(self):
        back = http.client.HTTPConnection(*BACK, source_address=(FRONT[0], 0))
        back.request("GET", "/stock", headers={"X-Request-Id": self.headers["X-Request-Id"]})
        body = back.getresponse().read()
        back.close()
        self.answer(body)


def ask(nr, client):
    front = http.client.HTTPConnection(*FRONT)
    for i in range(nr):
        front.request("GET", "/cart", headers={"X-Request-Id": f"req-{client}-{i}"})
        if front.getresponse().read() != answer:
            sys.exit("a wrong answer")
    front.close()


http.server.ThreadingHTTPServer.request_queue_size = 128
for at, handler in ((BACK, Back), (FRONT, Front)):
    server = http.server.ThreadingHTTPServer(at, handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
threads = [threading.Thread(target=ask, args=(requests // clients, i)) for i in range(clients)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(f"{requests // clients * clients} answered")
