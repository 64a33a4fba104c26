#!/usr/bin/env python3
"""A web server behind nginx that takes 0.5 ms for a request, and 30 ms for one in ten. usage: variance_slow_server.py PORT"""
import http.server
import random
import socketserver
import sys
import time


class Slow(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        time.sleep(0.03 if random.random() < 0.1 else 0.0005)
        body = b"x" * 1000
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


random.seed(7)
Server(("127.0.0.1", int(sys.argv[1])), Slow).serve_forever()
