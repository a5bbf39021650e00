"""How fast a fleet is: whether samples arrive in proportion to the workers, and how much one learner can take.

    python3 lab/tools/fleet_speed.py [--part workers|intake|machines] [--seconds 30] [--jarmo FILE] [--server FILE]

Prints three tables:

    workers    samples a second that arrive from 1, 2, 4, 8 and 16 workers with a twentieth of a core each, with a tiny
               network, and the deviation from so many times one worker
    intake     files that real workers recorded (64 simulations), fed to a learner that hardly learns, as fast as the
               server takes them; bytes a sample before and after compression; then the same files, and the learner
               learns as usual, with the default network: the rate at which learning itself is the limit
    machines   samples a second of a core of a worker with the default network, and how many such cores keep one learner
               busy; --rate 64=400 gives a rate instead of measuring it

A fed file is a recorded one with an empty frame behind it, so that its name is another one. Needs Python alone; to
throttle, the right to make control groups, or else the script stops and continues the workers itself.
"""

import argparse
import contextlib
import json
import os
import re
import signal
import struct
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tools"))
from fleet_kit import Client, Fleet, add_tools, tools, until

BEHIND = "the learner is the limit"  # as the view says it
SHARE, PERIOD = 0.05, 0.1  # of a core; seconds
REAL = {"run.first_samples": 1024, "run.threads": 1, "run.steps": 10**9, "evaluation.every": 0,
        "run.checkpoint": 10_000, "fleet.queue": 100_000, "fleet.max_age": 10**9}


# Throttled workers.


class Groups:
    """A control group for each worker, or none."""

    def __init__(self):
        self.made = []
        second, first = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/cpu")
        self.home = second if (second / "cgroup.controllers").exists() else first
        self.is_second = self.home == second
        self.works = True
        try:
            self.make()
        except OSError:
            self.works = False

    def make(self):
        group = self.home / f"jarmo-speed-{os.getpid()}-{len(self.made)}"
        group.mkdir()
        self.made.append(group)
        period = int(PERIOD * 1e6)
        if self.is_second:
            (group / "cpu.max").write_text(f"{int(SHARE * period)} {period}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(period))
            (group / "cpu.cfs_quota_us").write_text(str(int(SHARE * period)))
        return group

    def close(self):
        for group in self.made:
            for _ in range(50):  # until the processes in it are gone
                with contextlib.suppress(OSError):
                    group.rmdir()
                    break
                time.sleep(0.1)


def hamper(fleet, over):
    """Lets all workers run for their share of each period."""

    def say(what):
        for worker, _ in fleet.workers:
            with contextlib.suppress(OSError):
                worker.send_signal(what)

    while not over.is_set():
        say(signal.SIGCONT)
        time.sleep(SHARE * PERIOD)
        say(signal.SIGSTOP)
        time.sleep((1 - SHARE) * PERIOD)
    say(signal.SIGCONT)


class Clock(threading.Thread):
    """Notes when each file of each worker was sent: (seconds, samples)."""

    def __init__(self, fleet):
        super().__init__(daemon=True)
        self.fleet, self.files, self.over = fleet, {}, threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(0.05):
            now = time.monotonic()
            for worker in range(len(self.fleet.workers)):
                files = self.files.setdefault(worker, [])
                for file in self.fleet.events(worker, "sent")[len(files):]:
                    files.append((now, file["samples"]))

    def rate(self, worker):
        """Samples a second between the first and the last file."""
        files = self.files[worker]
        return sum(samples for _, samples in files[1:]) / (files[-1][0] - files[0][0])


def workers_table(options):
    rows, alone = [], None
    groups = Groups()
    try:
        for count in options.workers:
            with tempfile.TemporaryDirectory() as folder:
                settings = {"selfplay.simulations": 32, "run.reuse": 0.01}
                with Fleet(tools(options), folder, options.port, settings) as fleet:
                    fleet.start_server()
                    fleet.start_learner()
                    for _ in range(count):
                        join = None
                        if groups.works:
                            path = str(groups.make() / "cgroup.procs")
                            join = lambda path=path: Path(path).write_text("0")
                        fleet.start_worker(before=join)
                    over = threading.Event()
                    if not groups.works:
                        threading.Thread(target=hamper, args=(fleet, over), daemon=True).start()
                    clock = Clock(fleet)
                    until("all workers send", lambda: all(clock.files.get(one) for one in range(count)), 180)
                    time.sleep(options.seconds)
                    rates = [clock.rate(worker) for worker in range(count)]
                    clock.over.set()
                    over.set()
                    queued = json.loads(fleet.status())["runs"][0]["queued"]
                    limit = "learner" if BEHIND in fleet.said("learner") else ""
            total = sum(rates)
            alone = alone or total / count
            rows.append([
                count, f"{total:.0f}", f"{total / count:.0f}", f"{min(rates):.0f} to {max(rates):.0f}",
                f"{100 * (total / count / alone - 1):+.1f} %", queued, limit,
            ])
    finally:
        groups.close()
    how = "control groups" if groups.works else "stopped and continued"
    print(f"\nWorkers with {SHARE:.0%} of a core each ({how}), {options.seconds} s\n")
    table(["workers", "samples/s", "each", "range", "from linear", "files waiting", "limit in the view"], rows)


# The intake.


def plain_size(content):
    """The size that the header of a zstd frame states."""
    descriptor = content[4]
    kind, single = descriptor >> 6, descriptor >> 5 & 1
    place = 5 + (not single) + [0, 1, 2, 4][descriptor & 3]
    if kind == 0:
        return content[place] if single else None
    size = struct.unpack_from([None, "<H", "<I", "<Q"][kind], content, place)[0]
    return size + 256 if kind == 1 else size


def renamed(content, number):
    """The same file with an empty frame behind it."""
    return content + struct.pack("<III", 0x184D2A50, 4, number)


def processor_time(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def record(fleet, count):
    """Files of workers: (content, samples)."""
    fleet.start_server()
    fleet.start_learner()
    for _ in range(2):
        fleet.start_worker()
    kept = fleet.collect(count, 900)
    fleet.stop_workers()
    fleet.drain()
    fleet.stop_learner()
    samples = {line["id"]: line["samples"] for line in fleet.order() if "id" in line}
    return [(content, samples[name]) for name, content in kept.items()]


def feed(fleet, files, megabytes, first):
    """Puts files into the queue. Returns how many, and MB a second."""
    begun, number, size = time.monotonic(), 0, 0
    client = Client(fleet.port)
    subjects = [fleet.subject(f"feeder-{one}") for one in range(8)]
    while size < megabytes * 1e6:
        content = renamed(files[number % len(files)][0], first + number)
        # Under many names, because each key has half of the queue.
        answer = json.loads(client.ask(subjects[number % len(subjects)], content))
        if "error" in answer:
            raise SystemExit(f"the queue refused a file: {answer}")
        number, size = number + 1, size + len(content)
    client.close()
    return number, size / 1e6 / (time.monotonic() - begun)


def taken(fleet, most):
    """What the learner takes until the queue is empty or the time is over: samples, bytes, steps, seconds, CPU
    seconds; from the first file on."""
    before = len(fleet.order())
    fleet.start_learner()
    until("the first file", lambda: len(fleet.order()) > before, 120, 0.01)
    begun, cpu, first = time.monotonic(), processor_time(fleet.learner), len(fleet.order())
    with contextlib.suppress(Exception):
        until("all", lambda: fleet.unacknowledged() == 0, most, 0.2)
    lines = fleet.order()
    seconds, cpu = time.monotonic() - begun, processor_time(fleet.learner) - cpu
    behind = BEHIND in fleet.said("learner")
    fleet.stop_learner()
    steps = lines[-1]["step"] - lines[first - 1]["step"]
    return sum(line["samples"] for line in lines[first:]), len(lines) - first, steps, seconds, cpu, behind


def set_in_run(fleet, key, value):
    config = fleet.run / "config.toml"
    text, count = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", config.read_text())
    if count != 1:
        raise SystemExit(f"{config} has no {key}")
    config.write_text(text)


def intake_table(options):
    """Returns, for each game, the samples a second of the intake and of learning."""
    rows, limits = [], {}
    for game in options.games:
        with tempfile.TemporaryDirectory() as folder:
            settings = {"run.reuse": 0.001, "replay.capacity": 400_000, "selfplay.simulations": 64, **REAL}
            with Fleet(tools(options), folder, options.port, settings, game) as fleet:
                files = record(fleet, options.files)
                samples = sum(count for _, count in files)
                size = sum(len(content) for content, _ in files)
                before = sum(plain_size(content) for content, _ in files)
                _, speed = feed(fleet, files, options.megabytes, 1_000_000)
                got, number, _, seconds, cpu, _ = taken(fleet, 600)
                each = size / samples
                limits[game] = [got / seconds]
                rows.append([
                    game, "intake alone", f"{got / seconds:.0f}", f"{got * each / 1e6 / seconds:.1f}",
                    f"{got / cpu:.0f}", f"{before / samples:.0f}", f"{each:.0f}", f"{size / len(files) / 1e3:.0f}",
                    f"{speed:.0f}", "",
                ])
                batch = int(re.search(r"(?m)^batch = (\d+)", (fleet.run / "config.toml").read_text())[1])
                set_in_run(fleet, "reuse", "4.0")
                set_in_run(fleet, "queue", "64")
                number, _ = feed(fleet, files, options.megabytes, 2_000_000)
                got, _, steps, seconds, cpu, behind = taken(fleet, options.seconds)
                learned = steps * batch / 4 / seconds
                limits[game].append(learned)
                rows.append([
                    game, "learning, reuse 4", f"{learned:.0f}", f"{learned * each / 1e6:.2f}",
                    f"{steps * batch / 4 / cpu:.0f}", "", "", "", "", "says so" if behind else "no",
                ])
    print("\nWhat one learner takes\n")
    table([
        "game", "learner", "samples/s", "MB/s", "samples per CPU second", "bytes a sample, plain", "compressed",
        "kB a file", "server took, MB/s", "view: the learner is the limit",
    ], rows)
    return limits


# Machines.


def machines_table(options, limits):
    given = dict(rate.split("=") for rate in options.rate)
    rows = []
    for game in options.games:
        for simulations in options.simulations:
            rate, how = given.get(f"{game}:{simulations}", given.get(str(simulations))), "given"
            if rate is None:
                rate, how = worker_rate(options, game, simulations), "measured"
            rate = float(rate)
            numbers = [f"{limit / rate:.0f}" for limit in limits.get(game, [])]
            rows.append([game, simulations, f"{rate:.0f} ({how})", *numbers])
    print("\nHow many cores of workers one learner can use\n")
    table(["game", "simulations", "samples/s of a core", "cores for the intake", "cores for learning"], rows)


def worker_rate(options, game, simulations):
    """Samples per CPU second of a worker with one thread, so that a busy machine does no harm."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"run.reuse": 0.001, "selfplay.simulations": simulations, **REAL}
        with Fleet(tools(options), folder, options.port, settings, game) as fleet:
            fleet.start_server()
            fleet.start_learner()
            worker = fleet.start_worker()
            until("the worker plays", lambda: fleet.events(worker, "network"), 60)
            process = fleet.workers[worker][0]

            def report():
                """Positions and CPU seconds at the worker's next report."""

                def positions():
                    workers = json.loads(fleet.status())["workers"]
                    return workers[0]["positions"] if workers else 0

                before = positions()
                after = until("a report", lambda: max(positions() - before, 0) and positions(), 120, 0.2)
                return after, processor_time(process)

            report()
            first, cpu = report()
            time.sleep(options.seconds)
            last, end = report()
            return (last - first) / (end - cpu)


def table(heads, rows):
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=["workers", "intake", "machines"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--games", nargs="+", default=["jarmo", "connect_four"])
    parser.add_argument("--simulations", type=int, nargs="+", default=[64, 256, 800])
    parser.add_argument("--seconds", type=float, default=30, help="of each measurement")
    parser.add_argument("--files", type=int, default=8, help="recorded files of each game")
    parser.add_argument("--megabytes", type=float, default=60, help="of files that are fed")
    parser.add_argument("--rate", action="append", default=[], metavar="[GAME:]SIMULATIONS=RATE")
    parser.add_argument("--limit", action="append", default=[], metavar="GAME=INTAKE,LEARNING")
    add_tools(parser, 4400)
    options = parser.parse_args()
    parts = options.part or ["workers", "intake", "machines"]
    limits = {}
    for limit in options.limit:
        game, numbers = limit.split("=")
        limits[game] = [float(number) for number in numbers.split(",")]
    if "workers" in parts:
        workers_table(options)
    if "intake" in parts:
        limits |= intake_table(options)
    if "machines" in parts:
        machines_table(options, limits)


if __name__ == "__main__":
    main()
