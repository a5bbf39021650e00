"""Serves a folder of files on this machine, for tools that look at pages in a browser."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Quiet(SimpleHTTPRequestHandler):
    """The files of a folder, without a line for each request."""

    sent = []  # the bytes of each answer

    def log_message(self, *_):
        pass

    def copyfile(self, source, outputfile):
        super().copyfile(source, outputfile)
        Quiet.sent.append(source.tell())


def serve(folder):
    """The address of the folder, until the process ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
