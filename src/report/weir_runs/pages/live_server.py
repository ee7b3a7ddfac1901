"""weir-report --serve: the page and the metrics of one run over HTTP, while it goes on and afterwards.

A reader beside the run: it takes nothing but the files that the run writes, reads when someone asks, and rests nineteen
times as long as that took of a processor. No path of a request names a file."""

import contextlib
import hmac
import ipaddress
import math
import os
import re
import secrets
import socket
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from ..basics.errors import ReportError
from ..reading import metrics, openmetrics
from ..reading.groups_record import is_groups_record
from ..reading.run import run_of
from ..reading.run_record import read_record
from ..reading.run_state import RUNNING
from ..version import VERSION
from .report_page import report_content

TOKEN_VARIABLE = "WEIR_REPORT_TOKEN"
_TOKEN = re.compile(r"[A-Za-z0-9_.~-]{16,200}")
_CONNECTIONS_MAX = 8
_CONNECTION_S = 30.0  # a request and its answer
_REFRESH_S = 5
_REST = 19
_HEADERS = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                                        "img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"))


def serve(run, where, quiet):
    """Answers until the process is ended. `where`: [ADDRESS:]PORT. Raises ReportError."""
    host, port = _place(where)
    directory, record = read_record(run)
    if is_groups_record(record):
        raise ReportError(f"--serve: {run} is a job with several groups; give the directory of one of them")
    token = _token()
    try:
        server = _Server(host, port, token, _Documents(directory))
    except OSError as error:
        raise ReportError(f"--serve: {where}: {error.strerror}") from None
    if not quiet:
        if not ipaddress.ip_address(server.server_address[0]).is_loopback:
            print("plain HTTP: who can listen on the network can read the token")
        name = f"[{host}]" if ":" in host else host
        print(f"page     http://{name}:{server.server_address[1]}/?token={token}\n"
              "Ctrl-C ends it; for Prometheus there is /metrics", flush=True)
    os.nice(19)  # the run's ranks may be on this host
    with server:
        server.serve_forever()


def _place(where):
    host, _, port = where.rpartition(":")
    if not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > 65535:
        raise ReportError(f"--serve: '{where}' is not PORT or ADDRESS:PORT with a port from 0 to 65535; the run stands "
                          "before it")
    return host.strip("[]").lower() or "127.0.0.1", int(port)


def _token():
    given = os.environ.get(TOKEN_VARIABLE)
    if given is None:
        return secrets.token_urlsafe(24)
    if not _TOKEN.fullmatch(given):
        raise ReportError(f"{TOKEN_VARIABLE}: not 16 to 200 letters, digits, '-', '_', '.' or '~'")
    return given


class _Documents:
    """What is answered, made anew when it is asked for and old enough."""

    def __init__(self, directory):
        self._directory, self._lock, self._kept = directory, threading.Lock(), {}
        self._makers = {"/": self._page, "/metrics": self._metrics}

    def get(self, path):
        """(content, its type, seconds until a page should ask again or None); None: there is no such thing."""
        if path not in self._makers:
            return None
        with self._lock:
            document, until = self._kept.get(path, (None, 0.0))
            if time.monotonic() >= until:
                begin = time.thread_time()
                document = self._makers[path]()
                took_s = time.thread_time() - begin
                self._kept[path] = document, time.monotonic() + max(1.0, _REST * took_s)
        return document

    def _page(self):
        begin = time.thread_time()
        run = run_of(*read_record(self._directory))
        content, _ = report_content([run], None, (), f"Served by weir-report {VERSION}.")
        again_s = max(_REFRESH_S, math.ceil((_REST + 1) * (time.thread_time() - begin)))
        return content.encode(), "text/html; charset=utf-8", again_s if run.status == RUNNING else None

    def _metrics(self):
        families = metrics.families(self._directory, history=False)
        return ("".join(openmetrics.openmetrics_lines(families)).encode(),
                "application/openmetrics-text; version=1.0.0; charset=utf-8", None)


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host, port, token, documents):
        self.address_family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        if ipaddress.ip_address(address[0]).is_unspecified:
            raise ReportError(f"--serve: {host} is every address of this host; name one")
        self.token, self.documents = token, documents
        # Another name that leads here is one that someone else's page has: DNS rebinding.
        self.names = {"localhost", "127.0.0.1", "::1", host, address[0]}
        self._free = threading.BoundedSemaphore(_CONNECTIONS_MAX)
        super().__init__(address, _Request)

    def process_request(self, request, client_address):
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request, client_address):
        # Limits of single reads would let a client that sends a byte now and then stay.
        limit = threading.Timer(_CONNECTION_S, _shut, (request,))
        limit.daemon = True
        limit.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            limit.cancel()
            self._free.release()

    def handle_error(self, request, client_address):
        """A client that went away."""


def _shut(request):
    with contextlib.suppress(OSError):
        request.shutdown(socket.SHUT_RDWR)


class _Request(BaseHTTPRequestHandler):
    server_version, sys_version, timeout = f"weir/{VERSION}", "", _CONNECTION_S

    def do_GET(self):
        try:
            [host] = self.headers.get_all("Host", [])
            url, name = urlsplit(self.path), urlsplit(f"//{host}").hostname
            tokens = parse_qs(url.query, max_num_fields=8).get("token", [])
        except ValueError:
            return self._say(400, "This is no request that can be answered.")
        if name not in self.server.names:
            return self._say(421, "This is not the server's name: use the address that weir-report printed.")
        if not self._is_known(tokens):
            return self._say(403, "The token is missing or wrong: use the address that weir-report printed.")
        try:
            document = self.server.documents.get(url.path)
        except (ReportError, OSError) as error:  # a file that is written just now, or damaged
            return self._say(503, str(error))
        if document is None:
            return self._say(404, "There are / and /metrics.")
        return self._send(200, *document)

    def _is_known(self, tokens):
        kind, _, given = self.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "bearer":
            tokens = [given.strip()]
        return len(tokens) == 1 and hmac.compare_digest(tokens[0].encode(errors="replace"), self.server.token.encode())

    def _say(self, status, sentence):
        self._send(status, f"{sentence}\n".encode(errors="replace"), "text/plain; charset=utf-8", None)

    def _send(self, status, content, kind, again_s):
        self.send_response(status)
        for name, value in (*_HEADERS, ("Content-Type", kind), ("Content-Length", str(len(content)))):
            self.send_header(name, value)
        if again_s is not None:
            self.send_header("Refresh", str(again_s))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Addresses hold the token."""
