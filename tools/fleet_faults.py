"""Breaks a fleet in every way it should survive, and compares the files that were sent with those that were learned.

    python3 tools/fleet_faults.py [--times 20] [--only NAME ...] [--jarmo target/release/jarmo] [--server nats-server]

Each fault is repeated in one fleet of its own: a server, a learner that only learns, and workers, with a tiny network.
At the end the workers send what they have, the learner takes what waits and stops, and three things are compared: the
files that workers say the server has (`jarmo worker --json`), the files of the window (`order.jsonl`), and the number
of files in the server's queue. The table:

    sent      files that workers printed as acknowledged by the server
    window    files that entered the window
    lost      sent, and not in the window                                       must be 0
    twice     in the window more than once                                      must be 0
    queued    files that ever entered the server's queue
    dropped   what the learner counted since its last start, and why: again (known), blocked, bad

The tests in crates/fleet/tests/attacks, of what a stranger with a worker's key can do and of values at the server that
cannot be read, are run as often (`--only attacks`).

A file in the window that no worker printed is not a fault: a killed worker cannot print the last acknowledgement. A
file that the server delivers twice is dropped as known, although it was queued once.
The exit status is 1 if something was lost or taken twice, if learning again gives other weights, or if a fault did not
show what it must. Needs Python; `strace` for kills at exact places (otherwise they are at random moments), the right to
mount for a full disk (otherwise the server's own limit), and `zstd` for files of another version (otherwise left out).
"""

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from fleet_kit import QUEUE, Failed, Fleet, Proxy, add_tools, tools, until

STRACE, ZSTD = shutil.which("strace"), shutil.which("zstd")
SWALLOWED = 140  # seconds: longer than the server remembers names (120)
WAITING = "waiting_for_queue"


class LeftOut(Exception):
    """A fault that cannot be made here."""


class Trial:
    """A fault, the fleet that it happens to, and what was noted."""

    def __init__(self, fleet, times, chance):
        self.fleet, self.times, self.chance, self.notes = fleet, times, chance, []
        self.dropped = {}  # what the learner must say at the end
        self.result = None

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def start(self, workers=1):
        self.fleet.start_server()
        self.fleet.start_learner()
        for _ in range(workers):
            self.fleet.start_worker()
        self.fleet.wait_for_files()

    def finish(self):
        """Lets everything arrive, and compares."""
        if self.result is not None:
            return
        fleet = self.fleet
        for key, count in self.dropped.items():
            until(f"the learner counts {count} {key}", lambda: fleet.report().get(key, 0) >= count, 90, 0.5)
        fleet.stop_workers()
        fleet.drain()
        queued, left = fleet.stream()["last_seq"], fleet.stream()["messages"]
        if left:
            self.note(f"the server kept {left} files that the learner has acknowledged")
        report = fleet.report()
        fleet.stop_learner()
        sent, window = fleet.all_sent(), fleet.window()
        self.result = {
            "sent": len(set(sent)), "queued": queued, "window": len(window),
            "lost": len(set(sent) - set(window)), "twice": len(window) - len(set(window)),
        }
        names = {"duplicates": "again", "blocked": "blocked", "bad": "bad"}
        self.result["dropped"] = ", ".join(f"{report[key]} {name}" for key, name in names.items() if report.get(key))
        if not sent:
            raise Failed("no worker sent anything")
        if self.result["lost"] or self.result["twice"]:
            raise Failed("lost or taken twice")


# Kills.


def intake(learner):
    """The thread of the learner that takes files in."""
    for thread in Path(f"/proc/{learner.pid}/task").iterdir():
        if (thread / "comm").read_text().strip() == "intake":
            return thread.name
    return None


def kill_learner(trial, inject, hit):
    """Kills the learner at a system call of its intake. `hit` says whether the trace ends where it must."""
    fleet, kills = trial.fleet, 0
    trial.start(workers=2)
    log = fleet.folder / "trace"
    while kills < trial.times:
        if STRACE:
            thread = until("the learner takes files in", lambda: intake(fleet.learner))
            log.write_text("")
            command = [STRACE, "-y", "-o", str(log), "-p", thread, *inject(fleet)]
            trace = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            try:
                fleet.learner.wait(60)
            except subprocess.TimeoutExpired:
                raise Failed("the learner took nothing in for 60 s") from None
            finally:
                trace.kill()
                trace.wait()
            lines = [line for line in log.read_text().splitlines() if line[0].isalpha()]
            kills += bool(lines) and hit(lines[-1])
        else:
            trial.note("no strace: at random moments")
            time.sleep(trial.chance.uniform(0.1, 2))
            fleet.learner.kill()
            fleet.learner.wait()
            kills += 1
        fleet.start_learner()
        fleet.wait_for_files()


def learner_before_sync(trial):
    kill_learner(
        trial, lambda fleet: ["-e", "trace=fsync", "-e", "inject=fsync:signal=SIGKILL:when=1"],
        lambda line: ".tmp>" in line,
    )


def learner_before_acknowledgement(trial):
    kill_learner(
        trial,
        lambda fleet: ["-P", fleet.run / "inbox", "-e", "trace=fsync", "-e", "inject=fsync:signal=SIGKILL:when=1"],
        lambda line: line.startswith("fsync") and "inbox>" in line,
    )


def learner_after_acknowledgement(trial):
    # The intake opens a new file, then the folder, then acknowledges, then opens the next file.
    kill_learner(
        trial, lambda fleet: ["-e", "trace=openat", "-e", "inject=openat:signal=SIGKILL:when=3"],
        lambda line: ".tmp" in line,
    )


def worker_killed(trial):
    fleet = trial.fleet
    trial.start(workers=2)
    for _ in range(trial.times):
        worker = fleet.start_worker()
        until("a worker sends", lambda: fleet.sent(worker))
        time.sleep(trial.chance.uniform(0, 1))
        fleet.workers[worker][0].kill()
        fleet.workers[worker][0].wait()


def server_killed(trial):
    fleet = trial.fleet
    trial.start(workers=2)
    for _ in range(trial.times):
        time.sleep(trial.chance.uniform(0.2, 2))
        fleet.server.kill()
        fleet.server.wait()
        fleet.start_server()
        fleet.wait_for_files()


# The server's disk.


def disk_full(trial):
    fleet = trial.fleet
    fleet.data.mkdir(parents=True, exist_ok=True)
    mounted = False
    if os.geteuid() == 0:
        mount = ["mount", "-t", "tmpfs", "-o", "size=48m", "none", str(fleet.data)]
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    try:
        if mounted:
            trial.note("a real file system of 48 MB")
            fill_file_system(trial)
        else:
            trial.note("the server's own limit of 4 MB; no right to mount")
            fill_limit(trial)
        trial.finish()
    finally:
        fleet.__exit__()
        if mounted:
            subprocess.run(["umount", str(fleet.data)], check=True)


def fill_file_system(trial):
    fleet, recovers = trial.fleet, True
    trial.start(workers=2)
    for _ in range(trial.times):
        complaints = len(fleet.events(0, "warning")) + len(fleet.events(1, "warning"))
        ballast = fleet.data / "ballast"
        with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
        until(
            "workers say that the server takes nothing",
            lambda: len(fleet.events(0, "warning")) + len(fleet.events(1, "warning")) > complaints,
        )
        ballast.unlink()
        if recovers:
            try:
                fleet.wait_for_files(seconds=20)
            except Failed:
                recovers = False  # a stream of the server that could not write stays closed
        if not recovers:
            fleet.server.terminate()
            fleet.server.wait()
            fleet.start_server()
            fleet.wait_for_files()
    if not recovers:
        trial.note("with room again the server took nothing for 20 s, and had to be started again")


def fill_limit(trial):
    fleet = trial.fleet
    fleet.config.write_text(re.sub(r"max_file_store: \S+", "max_file_store: 4MB", fleet.config.read_text()))
    trial.start(workers=2)
    for _ in range(trial.times):
        complaints = len(fleet.events(0, "warning"))
        fleet.learner.send_signal(signal.SIGSTOP)
        until("a worker says so", lambda: len(fleet.events(0, "warning")) > complaints)
        fleet.learner.send_signal(signal.SIGCONT)
        fleet.wait_for_files()


# The network.


def partition(trial):
    """All repetitions at the same time, with a worker and a way to the server each."""
    fleet = trial.fleet
    fleet.start_server()
    fleet.start_learner()
    proxies = [Proxy(fleet.port) for _ in range(trial.times)]
    workers = [fleet.start_worker(url=f"nats://127.0.0.1:{proxy.port}") for proxy in proxies]
    for worker, proxy in zip(workers, proxies):
        until("a worker plays", lambda: fleet.events(worker, "network"), 180)
        proxy.swallows = True
    sent = len(fleet.all_sent())
    until("files arrive unanswered", lambda: len(fleet.window()) >= sent + trial.times, 180)
    time.sleep(SWALLOWED)
    before = [len(fleet.sent(worker)) for worker in workers]
    for proxy in proxies:
        proxy.heal()
    for worker, count in zip(workers, before):
        until("a worker is back", lambda: len(fleet.sent(worker)) > count, 120)
    trial.dropped["duplicates"] = trial.times
    trial.note(f"{SWALLOWED} s; all at the same time")


def garbage_on_port(trial):
    fleet = trial.fleet
    trial.start()
    kinds = [
        lambda: trial.chance.randbytes(4096),
        lambda: b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        lambda: b"\x16\x03\x01\x02\x00\x01\x00" + trial.chance.randbytes(512),
        lambda: b"CONNECT {}\r\nPUB jarmo.samples.x 99999999999999999999\r\n",
        lambda: b"CONNECT {}\r\nPUB jarmo.samples.x 2000000\r\n" + bytes(2_000_000),
        lambda: b"A" * 1_000_000,
        lambda: b"CONNECT {\"verbose\":1e999}\r\nSUB > \r\nHPUB a 12 3\r\n\r\n",
        lambda: b"CONNECT {}\r\nPUB jarmo.samples.x 10\r\nabc",  # and hangs up in the middle
    ]
    for number in range(trial.times):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", fleet.port), 5) as hole:
            hole.sendall(kinds[number % len(kinds)]())
            hole.settimeout(0.2)
            hole.recv(4096)
        if fleet.server.poll() is not None:
            raise Failed("the server died")
        fleet.wait_for_files()
    trial.note(f"{len(kinds)} kinds in turn")


# Workers.


def two_of_one_name(trial):
    fleet = trial.fleet
    trial.start()
    for number in range(trial.times):
        pair = [fleet.start_worker("twin") for _ in range(2)]
        for worker in pair:
            until("both send", lambda: fleet.sent(worker))
        if number == 0:
            names = [worker["worker"] for worker in json.loads(fleet.status())["workers"]]
            twins = {name for name in names if name.startswith("twin-")}
            if len(twins) != 2:
                raise Failed(f"fleet status shows {names}")
        fleet.stop_workers(pair)


def slow_learner(trial):
    fleet = trial.fleet
    limit, highest, over = fleet.settings["fleet.queue"], 0, threading.Event()
    trial.start(workers=2)
    slow = threading.Event()

    def hamper():
        while not over.is_set():
            if slow.is_set():
                fleet.learner.send_signal(signal.SIGSTOP)
                time.sleep(9)  # long enough for slow workers to fill the queue
                fleet.learner.send_signal(signal.SIGCONT)
            time.sleep(1 if slow.is_set() else 0.1)

    hampering = threading.Thread(target=hamper)
    hampering.start()
    try:
        for _ in range(trial.times):
            said = [fleet.events(worker, "doing").count(WAITING) for worker in range(2)]
            sent = len(fleet.all_sent())
            slow.set()

            def full():
                nonlocal highest
                highest = max(highest, fleet.stream()["messages"])
                now = [fleet.events(worker, "doing").count(WAITING) for worker in range(2)]
                return all(after > before for before, after in zip(said, now))

            until("both workers say that they wait", full, 120)
            slow.clear()
            until("workers go on", lambda: len(fleet.all_sent()) >= sent + 2 * limit, 60)
            highest = max(highest, fleet.stream()["messages"])
    finally:
        over.set()
        hampering.join()
    trial.finish()
    if highest > limit:
        raise Failed(f"the queue held {highest} files, the limit is {limit}")
    if "the learner is the limit" not in fleet.said("learner"):
        raise Failed("the view never said that the learner is the limit")
    trial.note(f"stopped for nine of ten seconds; queue at most {highest} of {limit}; both workers said that they wait")


# Bad files. They come from a client, besides a worker that sends good ones.


def of_other_run(trial, count, settings):
    """So many files that workers of another run sent."""
    with tempfile.TemporaryDirectory() as folder:
        with Fleet((trial.fleet.jarmo, trial.fleet.nats), folder, trial.fleet.port + 1, settings) as other:
            other.start_server()
            other.start_learner()
            for _ in range(2):
                other.start_worker()
            return list(other.collect(count, 300).values())[:count]


def good_file(fleet):
    """The name and the content of a file that the learner took, and has not yet put into a checkpoint."""

    return until("a file in the inbox", lambda: next(iter(fleet.inbox()), None), 60, 0.005)


def send_bad(trial, content_of, why, said=""):
    fleet = trial.fleet
    trial.start()
    for number in range(trial.times):
        content = content_of(number)
        answer = json.loads(fleet.ask(fleet.subject("stranger"), content) or b"{}")
        if "error" in answer or not answer.get("stream", "").startswith(QUEUE):
            raise Failed(f"the queue refused the file: {answer}")
        fleet.wait_for_files()
    trial.dropped[why] = trial.times
    if said:
        until(f"the learner says `{said}`", lambda: re.search(said, fleet.said("learner")))


def truncated_file(trial):
    def cut(_):
        _, content = good_file(trial.fleet)
        return content[: trial.chance.randrange(len(content))]

    send_bad(trial, cut, "bad", said="a bad file of stranger")


def garbage_file(trial):
    def garbage(number):
        content = trial.chance.randbytes(trial.chance.randrange(1, 100_000))
        return content if number % 2 else b"\x28\xb5\x2f\xfd" + content  # half of them begin like compressed ones

    send_bad(trial, garbage, "bad", said="a bad file of")


def plain(content):
    return subprocess.run([ZSTD, "-dc"], input=content, capture_output=True, check=True).stdout


def packed(content):
    return subprocess.run([ZSTD, "-c"], input=content, capture_output=True, check=True).stdout


def wrong_format(trial):
    """A file with the next version of the format. Its checksum is taken away, which is looked at after the version."""
    if not ZSTD:
        raise LeftOut("no zstd")

    def change(_):
        content = plain(good_file(trial.fleet)[1])
        newer = content.replace(rb'{\"format\":3,', rb'{\"format\":4,', 1)
        newer = newer.replace(rb'\"checksum\"', rb'\"checksuM\"', 1)
        if newer == content:
            raise Failed("the header of a file has no format")
        return packed(newer)

    return send_bad(trial, change, "bad", said="games format 4, this program reads 3")


def wrong_checksum(trial):
    """A file with one changed bit behind a whole compression."""
    if not ZSTD:
        raise LeftOut("no zstd")

    def change(_):
        content = bytearray(plain(good_file(trial.fleet)[1]))
        content[trial.chance.randrange(len(content) // 2, len(content))] ^= 1 << trial.chance.randrange(8)
        return packed(bytes(content))

    return send_bad(trial, change, "bad", said="its checksum does not match")


def wrong_rules(trial):
    files = of_other_run(trial, trial.times, {"game.name": "guard", "selfplay.simulations": 4})
    send_bad(trial, files.__getitem__, "bad", said="a bad file of stranger")
    trial.note("files of guard, played by workers of another run")


def another_run(trial):
    files = of_other_run(trial, trial.times, {})
    send_bad(trial, files.__getitem__, "bad", said="it belongs to another run")


def replayed_file(trial):
    """A file again: under its name, which the server refuses, and without one, which the learner must know."""
    fleet = trial.fleet

    def again(_):
        name, content = good_file(fleet)
        answer = json.loads(fleet.ask(fleet.subject("stranger"), content, message_id=name))
        if not answer.get("duplicate"):
            raise Failed(f"the server took a name twice: {answer}")
        return content

    send_bad(trial, again, "duplicates")
    trial.note("the server refused each one under its name; then sent without a name")


def wrong_protocol(trial):
    """The settings of the run say another version of the protocol: workers say so and stop."""
    fleet = trial.fleet
    trial.start()
    key = f"$KV.jarmo_runs.{fleet.run_name()}.settings"
    settings = json.loads(fleet.ask(f"$JS.API.DIRECT.GET.KV_jarmo_runs.{key}"))
    for number in range(trial.times):
        playing = fleet.start_worker()
        until("a worker sends", lambda: fleet.sent(playing))
        fleet.learner.send_signal(signal.SIGSTOP)  # it would write its settings again
        fleet.ask(key, json.dumps({**settings, "protocol": 100 + number}).encode())
        coming = fleet.start_worker()
        for worker in (playing, coming):
            process, output = fleet.workers[worker]
            if process.wait(60) == 0 or "use one version on all machines" not in fleet.said(output):
                raise Failed(f"a worker of another version: {fleet.said(output)[-300:]}")
        fleet.ask(key, json.dumps(settings).encode())
        fleet.learner.send_signal(signal.SIGCONT)
    trial.note("a playing worker sent what it had, and it and a new one stopped with the reason")


FAULTS = {
    "learner killed before the sync": (learner_before_sync, {}),
    "learner killed between sync and acknowledgement": (learner_before_acknowledgement, {}),
    "learner killed after the acknowledgement": (learner_after_acknowledgement, {}),
    "worker killed in the middle of games": (worker_killed, {}),
    "server killed": (server_killed, {}),
    "server's disk full": (disk_full, {}),
    "partition longer than the server's memory": (partition, {}),
    "two workers with one name": (two_of_one_name, {}),
    "truncated file": (truncated_file, {}),
    "garbage as a file": (garbage_file, {}),
    "file with a changed bit": (wrong_checksum, {}),
    "file of another format version": (wrong_format, {}),
    "file of other rules": (wrong_rules, {}),
    "file of another run": (another_run, {}),
    "replayed file": (replayed_file, {}),
    "learner with another protocol version": (wrong_protocol, {}),
    "garbage on the port": (garbage_on_port, {}),
    "learner ten times too slow": (slow_learner, {"fleet.queue": 4, "run.reuse": 8}),
}


def attempt(name, options, port):
    """One line of the table. Returns whether the fault did no harm."""
    fault, settings = FAULTS[name]
    begun, problem = time.monotonic(), None
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        with Fleet(tools(options), folder, port, settings) as fleet:
            trial = Trial(fleet, options.times, random.Random(options.seed))
            try:
                fault(trial)
                trial.finish()
            except LeftOut as reason:
                print(f"| {name} | left out: {reason} | | | | | | | |", flush=True)
                return True
            except (Failed, OSError, subprocess.TimeoutExpired) as error:
                problem = str(error)
            if problem and options.keep:
                shutil.copytree(folder, Path(options.keep) / name, dirs_exist_ok=True)
    result = trial.result or dict.fromkeys(["sent", "queued", "window", "lost", "twice", "dropped"], "?")
    notes = "; ".join([*trial.notes, *([f"FAILED: {problem}"] if problem else [])])
    row = [name, options.times, *result.values(), f"{time.monotonic() - begun:.0f}", notes]
    print("| " + " | ".join(map(str, row)) + " |", flush=True)
    return problem is None


def attack(options):
    """The attacks with a worker's key, which are tests: a line for each. Returns whether none did harm."""
    if not shutil.which("cargo"):
        print("| attacks | left out: no cargo | | | | | | | |", flush=True)
        return True
    packages = ["-p", "jarmo", "-p", "jarmo-fleet", "--features", "jarmo/fleet"]  # as other tests build them
    command = ["cargo", "test", "--locked", *packages, "--test", "attacks"]
    environment = {**os.environ, "JARMO_FLEET": "1", "JARMO_NATS_SERVER": tools(options)[1]}
    failed = {}
    for _ in range(options.times):
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=Path(__file__).parents[1])
        outcomes = re.findall(r"^test (\w+) \.\.\. (\w+)$", done.stdout, re.MULTILINE)
        for name, outcome in outcomes or [("attacks", done.stderr[-300:])]:
            failed[name] = failed.get(name, 0) + (outcome != "ok")
    for name, count in failed.items():
        print(f"| {name.replace('_', ' ')} | {options.times} | | | | | | | | {f'FAILED: {count}' if count else 'ok'} |", flush=True)
    return not any(failed.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=20, help="repetitions of each fault")
    parser.add_argument("--only", action="append", metavar="NAME", help="faults whose names contain this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", metavar="FOLDER", help="keep the fleet of a fault that failed")
    add_tools(parser, 4350)
    options = parser.parse_args()
    names = [name for name in FAULTS if not options.only or any(part in name for part in options.only)]
    print("| fault | times | sent | queued | window | lost | twice | dropped | seconds | |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    sound = [attempt(name, options, options.port + 2 * number) for number, name in enumerate(names)]
    if not options.only or "attacks" in options.only:
        sound.append(attack(options))
    sys.exit(0 if all(sound) else 1)


if __name__ == "__main__":
    main()
