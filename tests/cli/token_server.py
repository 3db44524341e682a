#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A token endpoint and metadata server for tests/cli/secrets.sh.

token_server.py DIRECTORY: answers every request with the status on the first line of
DIRECTORY/answer and the rest of that file as the body, appends what it was asked to
DIRECTORY/asked, and writes its port to DIRECTORY/port once it listens.
"""
import http.server
import pathlib
import sys

directory = pathlib.Path(sys.argv[1])


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with open(directory / "asked", "ab") as asked:
            asked.write(f"{self.requestline}\n{self.headers}".encode() + body + b"\n")
        status, text = (directory / "answer").read_text().split("\n", 1)
        self.send_response(int(status))
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_POST = answer

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
(directory / "port.new").write_text(str(server.server_port))
(directory / "port.new").rename(directory / "port")
server.serve_forever()
