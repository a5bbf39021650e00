"""A fleet on this machine, for tools/fleet_faults.py and lab/tools/fleet_speed.py: a server, a learner, workers, and a
client of the server in a few lines. Needs Python alone, and `jarmo` and `nats-server`.

The server has the configuration that `jarmo fleet up` writes, with its accounts and keys. The client is one more user
of the learner's account, with a password, because a key would need a library for its signature.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

QUEUE = "JARMO_SAMPLES_"  # the run follows
KIT = "kit"  # name and password of the client
TINY = {
    "game.name": "connect_four", "net.width": 32, "net.blocks": 1, "selfplay.simulations": 128, "selfplay.games": 16,
    "fleet.games": 16, "fleet.max_age": 1_000_000_000, "fleet.publish": 50, "run.first_samples": 256,
    "run.reuse": 0.1, "run.batch": 64, "run.checkpoint": 50, "run.threads": 1, "run.steps": 1_000_000_000,
    "evaluation.every": 0, "replay.capacity": 100_000_000,
}


class Failed(Exception):
    """An expectation that did not hold."""


def until(what, true, seconds=60.0, pause=0.05):
    """Waits until `true()` is, and returns what it gives."""
    end = time.monotonic() + seconds
    while True:
        found = true()
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {seconds:.0f} s")
        time.sleep(pause)


class Client:
    """Speaks the text protocol of NATS."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.file = self.socket.makefile("rb")
        self.info = json.loads(self.file.readline().split(b" ", 1)[1])
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True}
        options |= {"user": KIT, "pass": KIT}
        self.say(f"CONNECT {json.dumps(options)}\r\n".encode())
        self.say(b"SUB _INBOX.kit.* 1\r\nPING\r\n")
        self.asked = 0

    def say(self, text):
        self.socket.sendall(text)

    def publish(self, subject, payload, reply="", message_id=None):
        if message_id is None:
            return self.say(f"PUB {subject} {reply} {len(payload)}\r\n".encode() + payload + b"\r\n")
        head = f"NATS/1.0\r\nNats-Msg-Id: {message_id}\r\n\r\n".encode()
        line = f"HPUB {subject} {reply} {len(head)} {len(head) + len(payload)}\r\n".encode()
        return self.say(line + head + payload + b"\r\n")

    def ask(self, subject, payload=b"", message_id=None):
        """The answer to a request; `None` without anyone to answer."""
        self.asked += 1
        reply = f"_INBOX.kit.{self.asked}"
        self.publish(subject, payload, reply, message_id)
        while True:
            line = self.file.readline()
            if not line:
                raise OSError("the server hung up")
            word, *words = line.decode().split()
            if word == "PING":
                self.say(b"PONG\r\n")
            if word not in ("MSG", "HMSG"):
                continue
            content = self.file.read(int(words[-1]) + 2)[:-2]
            if words[0] != reply:
                continue
            if word == "MSG":
                return content
            head = int(words[-2])
            return None if content.startswith(b"NATS/1.0 503") else content[head:]

    def close(self):
        self.file.close()
        self.socket.close()


class Proxy(threading.Thread):
    """A way to the server that can swallow what the server says."""

    def __init__(self, to):
        super().__init__(daemon=True)
        self.to, self.swallows, self.pairs = to, False, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            ready, _, _ = select.select([self.listener, *(side for pair in self.pairs for side in pair)], [], [], 1)
            for side in ready:
                if side is self.listener:
                    near, far = side.accept()[0], socket.create_connection(("127.0.0.1", self.to))
                    self.pairs.append((near, far))
                    continue
                pair = next((pair for pair in self.pairs if side in pair), None)
                if pair is None:
                    continue
                near, far = pair
                try:
                    content = side.recv(1 << 16)
                    if content and not (self.swallows and side is far):
                        (far if side is near else near).sendall(content)
                except OSError:
                    content = b""
                if not content:
                    self.hang_up(pair)

    def hang_up(self, pair):
        with contextlib.suppress(ValueError):
            self.pairs.remove(pair)
        for side in pair:
            side.close()

    def heal(self):
        """Ends the partition. What was swallowed is missing, so the old connections are useless."""
        self.swallows = False
        for near, far in list(self.pairs):
            for side in (near, far):
                with contextlib.suppress(OSError):
                    side.shutdown(socket.SHUT_RDWR)


def as_words(settings):
    """Settings for the command line."""
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


class Fleet:
    """A server with its data, a learner with its run, and workers, all inside one folder."""

    def __init__(self, tools, folder, port, settings, game=None):
        self.jarmo, self.nats = tools
        self.folder, self.port = Path(folder), port
        self.url = f"nats://127.0.0.1:{port}"
        self.run, self.data = self.folder / "run", self.folder / "server" / "data"
        self.game = game  # with its own settings; `None` for the tiny ones
        self.settings = settings if game else {**TINY, **settings}
        self.server = self.learner = None
        self.workers = []  # (process, file of its output)
        self.folder.mkdir(parents=True, exist_ok=True)
        server = self.folder / "server"
        up = [self.jarmo, "fleet", "up", "--write-only", "--dir", server, "--port", str(port)]
        subprocess.run(up, check=True, stdout=subprocess.DEVNULL)
        config = (server / "server.conf").read_text()
        self.config = server / "kit.conf"
        users = "learner: {\n    users: ["
        assert users in config
        self.config.write_text(config.replace(users, f"{users}{{ user: {KIT}, password: {KIT} }}, "))
        self.keys = {role: ["--key", server / f"{role}.key"] for role in ("learner", "worker-1", "status")}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [self.learner, self.server, *(worker for worker, _ in self.workers)]:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()

    def spawn(self, name, *command, before=None):
        with open(self.folder / f"{name}.log", "ab") as log:
            command = [str(word) for word in command]
            return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=before)

    def said(self, name):
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / f"{name}.log").read_text(errors="replace")
        return ""

    def start_server(self):
        self.server = self.spawn("server", self.nats, "-c", self.config)

        def answers():
            if self.server.poll() is not None:
                raise Failed(f"the server ended: {self.said('server')[-300:]}")
            with contextlib.suppress(OSError):
                self.ask("$JS.API.INFO")
                return True

        until("the server answers", answers)

    def start_learner(self, *more):
        if self.run.exists():
            words = ["--resume", self.run]
        else:
            words = ["--run", self.run, *(["--game", self.game] if self.game else [])]
            words += as_words(self.settings)
        words += ["--fleet", self.url, *self.keys["learner"], "--no-play", *more]
        self.learner = self.spawn("learner", self.jarmo, "train", *words)

    def start_worker(self, name="worker", url=None, before=None, threads=1):
        output = f"worker-{len(self.workers)}"
        url = url or self.url
        command = [self.jarmo, "worker", url, *self.keys["worker-1"], "--threads", threads, "--name", name, "--json"]
        worker = self.spawn(output, *command, before=before)
        self.workers.append((worker, output))
        return len(self.workers) - 1

    def events(self, worker, kind):
        """What a worker said of one kind."""
        found = []
        for line in self.said(self.workers[worker][1]).splitlines():
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                if event["event"] == kind:
                    found.append(event["of"])
        return found

    def sent(self, worker):
        return [file["id"] for file in self.events(worker, "sent")]

    def all_sent(self):
        return [name for worker in range(len(self.workers)) for name in self.sent(worker)]

    def stop_workers(self, only=None):
        """Lets workers send what they have."""
        some = [self.workers[one][0] for one in (range(len(self.workers)) if only is None else only)]
        for worker in some:
            if worker.poll() is None:
                worker.terminate()
        for worker in some:
            worker.wait(90)

    def stop_learner(self):
        self.learner.send_signal(signal.SIGINT)
        if self.learner.wait(120) != 0:
            raise Failed(f"the learner failed: {self.said('learner')[-300:]}")

    def ask(self, subject, payload=b"", message_id=None):
        client = Client(self.port)
        try:
            return client.ask(subject, payload, message_id)
        finally:
            client.close()

    def run_name(self):
        """The identity of the run that has a queue at the server, once there is one."""
        answer = json.loads(self.ask("$JS.API.STREAM.NAMES") or b"{}")
        names = [name for name in answer.get("streams") or [] if name.startswith(QUEUE)]
        return names[0].removeprefix(QUEUE) if names else "none"

    def subject(self, user):
        """The subject of a user's files."""
        return f"jarmo.samples.{self.run_name()}.{user}"

    def stream(self):
        """The state of the queue: `messages` that wait, `last_seq` of all that ever came."""
        answer = json.loads(self.ask(f"$JS.API.STREAM.INFO.{QUEUE}{self.run_name()}") or b"{}")
        return answer.get("state", {"messages": 0, "last_seq": 0})

    def unacknowledged(self):
        """Files that the learner has not acknowledged."""
        queue = f"{QUEUE}{self.run_name()}"
        names = json.loads(self.ask(f"$JS.API.CONSUMER.NAMES.{queue}") or b"{}").get("consumers") or ["none"]
        answer = json.loads(self.ask(f"$JS.API.CONSUMER.INFO.{queue}.{names[0]}") or b"{}")
        return answer["num_pending"] + answer["num_ack_pending"] if "num_pending" in answer else None

    def status(self):
        """What `jarmo fleet status` says, as JSON."""
        command = [self.jarmo, "fleet", "status", self.url, *self.keys["status"], "--json"]
        return subprocess.run(command, capture_output=True).stdout

    def order(self):
        """The lines of order.jsonl that came from workers."""
        with contextlib.suppress(FileNotFoundError):
            lines = (self.run / "order.jsonl").read_text().splitlines(keepends=True)
            return [json.loads(line) for line in lines if line.endswith("\n")]
        return []

    def window(self):
        return [line["id"] for line in self.order() if "id" in line]

    def inbox(self):
        """Names and contents of the files that are in no checkpoint yet."""
        files = []
        for path in (self.run / "inbox").glob("*.games"):
            with contextlib.suppress(FileNotFoundError):
                held, content = path.read_bytes().split(b"\n", 1)
                for name, size in json.loads(held):
                    files.append((name["id"], content[:size]))
                    content = content[size:]
        return files

    def report(self):
        """What the learner has counted since its last start, as its newest sign of life says."""
        with contextlib.suppress(ValueError, IndexError):
            return json.loads(self.status())["runs"][0]["report"]
        return {}

    def wait_for_files(self, more=1, seconds=60.0):
        """Waits until so many more files are in the window."""
        wanted = len(self.window()) + more
        until("files get into the window", lambda: len(self.window()) >= wanted, seconds)

    def collect(self, count, seconds):
        """So many files that workers sent, by name, before the learner deletes them."""
        kept = {}

        def enough():
            kept.update(self.inbox())
            return len(kept) >= count

        until("files of workers", enough, seconds, 0.01)
        return kept

    def drain(self, seconds=120.0):
        """Waits until the server and the inbox hold nothing that is not in the window."""
        until("all files are acknowledged", lambda: self.unacknowledged() == 0, seconds, 0.5)

        def taken():
            window = set(self.window())
            return all(name in window for name, _ in self.inbox())

        until("the inbox is in the window", taken, seconds, 0.5)


def tools(options):
    """The absolute paths of `jarmo` and `nats-server`."""
    found = [shutil.which(name) for name in (options.jarmo, options.server)]
    for name, path in zip((options.jarmo, options.server), found):
        if path is None:
            sys.exit(f"{name} is not on the path")
    return [os.path.abspath(path) for path in found]


def add_tools(parser, port):
    parser.add_argument("--jarmo", default="jarmo", help="the built program")
    parser.add_argument("--server", default="nats-server", help="the program nats-server")
    parser.add_argument("--port", type=int, default=port, help="the first port that is used")
