#!/usr/bin/env python3
"""Puts `play --web` under load and reports what a normal user notices.

    tools/load.py target/release/play

Starts the server, which needs Linux. Clients at several loopback addresses open as many sessions as they get, with
heavy agents on both sides, and leave; others keep watchers, send malformed chunks, slow heads and bodies, bodies
without an end, rubbish in pipelines, and requests for the texts without waiting for answers. Meanwhile a normal user
at an address of its own plays against the best level. At the end the server must rest: the report has its processor
time and memory.

The exit status is 1 if the user waited longer than --worst seconds for an answer, or if the server does not rest.
"""

import argparse
import http.client
import json
import random
import re
import socket
import subprocess
import sys
import threading
import time

USER = "127.0.0.200"
HEAVY = "alphabeta:2000000"


class Load:
    """The server's address, and counts of what was done to it."""

    def __init__(self, port, slow):
        self.port = port
        self.slow = slow  # connections that a dawdler holds
        self.counts = {}
        self.lock = threading.Lock()
        self.over = threading.Event()

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + number

    def connect(self, client, timeout=30):
        return socket.create_connection(
            ("127.0.0.1", self.port), timeout=timeout, source_address=(client, 0)
        )

    def request(self, client, method, path, body=None, session=None, timeout=60):
        """Status and parsed body of one request; status 0 if the connection is refused or reset."""
        link = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=timeout, source_address=(client, 0)
        )
        headers = {"Content-Type": "application/json"}
        if session:
            headers["X-Session"] = session
        try:
            data = None if body is None else json.dumps(body)
            link.request(method, path, data, headers)
            answer = link.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        except (OSError, http.client.HTTPException, ValueError):
            return 0, None
        finally:
            link.close()


def greedy(load, client):
    """Opens sessions that think on both sides until the server refuses, and leaves."""
    for _ in range(120):
        if load.over.is_set():
            return
        body = {"game": "jarmo", "white": HEAVY, "black": HEAVY}
        status, _ = load.request(client, "POST", "/api/sessions", body)
        load.count(f"sessions answered by {status}")


def watcher(load, client):
    """Opens a session and leaves in the middle of waiting for news, again and again."""
    while not load.over.is_set():
        status, view = load.request(
            client, "POST", "/api/sessions", {"white": HEAVY, "black": "human"}
        )
        load.count(f"sessions answered by {status}")
        if status != 201:
            load.over.wait(0.5)
            continue
        with load.connect(client) as link:
            link.sendall(
                (
                    f"GET /api/session?since=999 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                    f"X-Session: {view['id']}\r\n\r\n"
                ).encode()
            )
            load.count("watchers that leave")
            load.over.wait(random.uniform(0.1, 1.0))


HEAD = (
    "POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
)


def rubbish(load, client):
    """Sends what no browser sends: malformed chunks, bodies without an end, pipelines of noise."""
    noise = random.Random(client)
    chunked = HEAD + "Transfer-Encoding: chunked\r\n\r\n"
    kinds = {
        "malformed chunks": lambda: (chunked + "zz\r\n{}\r\n0\r\n\r\n").encode(),
        "chunks without an end": lambda: (chunked + ("400\r\n" + " " * 1024 + "\r\n") * 300).encode(),
        "bodies too long": lambda: (HEAD + "Content-Length: 9000000\r\n\r\n" + " " * 200000).encode(),
        "negative lengths": lambda: (HEAD + "Content-Length: -1\r\n\r\n{}").encode(),
        "two lengths": lambda: (HEAD + "Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}").encode(),
        "pipelines": lambda: b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 50 + noise.randbytes(500),
        "noise": lambda: noise.randbytes(noise.randrange(1, 4000)),
        "long heads": lambda: b"GET / HTTP/1.1\r\nX-Long: " + b"y" * 500000,
        "bad JSON": lambda: (HEAD + 'Content-Length: 7\r\n\r\n{"a":[[').encode(),
    }
    while not load.over.is_set():
        for name, make in kinds.items():
            try:
                with load.connect(client, timeout=2) as link:
                    link.sendall(make())
                    answer = link.recv(4096)
                    found = re.match(rb"HTTP/1.1 (\d+)", answer)
                    status = found.group(1).decode() if found else "nothing"
            except OSError:
                status = "a reset or silence"
            load.count(f"{name} answered by {status}")


def dawdler(load, client):
    """Holds connections whose head or body arrives one byte at a time."""
    links = []
    while not load.over.is_set():
        while len(links) < load.slow and not load.over.is_set():
            try:
                link = load.connect(client)
                slow_body = len(links) % 2 == 0
                link.sendall((HEAD + "Content-Length: 5000\r\n\r\n" if slow_body else HEAD).encode())
                links.append(link)
                load.count("slow requests")
            except OSError:
                break
        for link in list(links):
            try:
                link.sendall(b"x")
            except OSError:
                links.remove(link)
                load.count("slow requests ended by the server")
        load.over.wait(0.2)
    for link in links:
        link.close()


def read_all(link):
    """Reads and forgets answers until the connection ends."""
    try:
        while link.recv(1 << 20):
            pass
    except OSError:
        pass


def pipeliner(load, client):
    """Asks for the texts without ever waiting for an answer."""
    ask = b"GET /api/texts HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 100
    while not load.over.is_set():
        try:
            with load.connect(client) as link:
                drain = threading.Thread(target=read_all, args=(link,))
                drain.start()
                while not load.over.is_set():
                    link.sendall(ask)
                    load.count("requests in pipelines", 100)
                link.shutdown(socket.SHUT_RDWR)
                drain.join()
        except OSError:
            load.over.wait(0.1)


def visitor(load, times):
    """Opens the start page again and again; `times` gets the seconds of every answer."""
    while not load.over.is_set():
        began = time.monotonic()
        status, answer = "nothing", b""
        try:
            with load.connect("127.0.0.201") as link:
                link.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                while part := link.recv(1 << 16):
                    answer = answer or part
            status = answer[9:12].decode() or status
        except OSError:
            pass
        load.count(f"start pages answered by {status}")
        times.append((time.monotonic() - began, "start page"))
        load.over.wait(0.2)


def user(load, seconds, times):
    """Plays against the best level, game after game in one session; `times` gets the seconds of every answer."""
    end = time.monotonic() + seconds
    began = time.monotonic()
    status, view = load.request(USER, "POST", "/api/sessions", {"white": "human", "black": "best"})
    times.append((time.monotonic() - began, "new game"))
    if status != 201:
        raise SystemExit(f"the user got no game: status {status}")
    session = view["id"]
    while time.monotonic() < end:
        began = time.monotonic()
        if view["scene"]["outcome"] is None:
            command = {"do": "play", "text": random.choice(view["scene"]["legal"])["text"]}
        else:
            command = {"do": "new_game"}
        status, view = load.request(USER, "POST", "/api/session", command, session)
        while status == 200 and view["thinking"]:
            path = f"/api/session?since={view['version']}"
            status, view = load.request(USER, "GET", path, session=session)
        times.append((time.monotonic() - began, "move"))
        if status != 200:
            raise SystemExit(f"the user's game ended with status {status}")


KINDS = {"greedy": greedy, "watcher": watcher, "rubbish": rubbish, "dawdler": dawdler, "pipeliner": pipeliner}


def processor_seconds(process):
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def memory_mib(process, key):
    with open(f"/proc/{process}/status") as status:
        return int(re.search(rf"{key}:\s+(\d+)", status.read()).group(1)) / 1024


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("play", help="the program `play`")
    options.add_argument("--seconds", type=float, default=30, help="length of the attack [30]")
    options.add_argument("--clients", type=int, default=6, help="addresses of each kind of attacker [6]")
    options.add_argument("--slow", type=int, default=60, help="connections of each slow address [60]")
    options.add_argument("--only", action="append", choices=list(KINDS), help="this kind of attacker; repeatable [all]")
    options.add_argument("--worst", type=float, default=10, help="seconds that an answer may take [10]")
    options.add_argument("--rest", type=float, default=60, help="seconds until the server must rest [60]")
    given = options.parse_args()

    server = subprocess.Popen(
        [given.play, "--web", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        sys.exit(attack(given, server))
    finally:
        server.terminate()
        server.wait(10)


def attack(given, server):
    port = int(re.search(r":(\d+)/", server.stdout.readline()).group(1))
    load = Load(port, given.slow)
    calm = []
    user(load, 5, calm)
    before = memory_mib(server.pid, "VmRSS")

    threads = []
    for number in range(given.clients):
        for network, (name, kind) in enumerate(KINDS.items(), 1):
            client = f"127.0.{network}.{number + 1}"
            if name in (given.only or KINDS):
                threads.append(threading.Thread(target=kind, args=(load, client)))
    times = []
    threads.append(threading.Thread(target=visitor, args=(load, times)))
    for thread in threads:
        thread.start()
    try:
        user(load, given.seconds, times)
    finally:
        load.over.set()
        for thread in threads:
            thread.join()

    left = time.monotonic()
    resting = None
    while time.monotonic() - left < given.rest:
        used = processor_seconds(server.pid)
        time.sleep(1)
        if processor_seconds(server.pid) - used <= 0.02:
            resting = time.monotonic() - left
            break
    time.sleep(25)  # idle threads give their memory back
    after = memory_mib(server.pid, "VmRSS")

    for what, number in sorted(load.counts.items()):
        print(f"{number:7} {what}")
    for name, measured in [("before", calm), ("during", times)]:
        for kind in ["start page", "new game", "move"]:
            some = sorted(seconds for seconds, one in measured if one == kind)
            if some:
                print(
                    f"{kind} {name} the attack: {len(some)} times, median {some[len(some) // 2]:.2f} s, "
                    f"worst {some[-1]:.2f} s"
                )
    print(f"memory: {before:.0f} MiB before, {after:.0f} MiB after, "
          f"{memory_mib(server.pid, 'VmHWM'):.0f} MiB at most")
    print("the server does not rest" if resting is None else f"the server rests after {resting:.0f} s")
    worst = max(seconds for seconds, _ in times)
    return 0 if worst <= given.worst and resting is not None else 1


if __name__ == "__main__":
    main()
