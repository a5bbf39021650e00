"""A thousand workers on one server: light clients that speak as workers do, with recorded files at the real rate.

    python3 lab/tools/fleet_simulation.py [--workers 100 300 1000] [--rate 228] [--seconds 60] [--plot FILE.svg]

A real server and a real learner of the game's default network take part; only the workers are simulated. Each of them
reads every new network, which a subscription announces. It sends a recorded file whenever a worker of this rate (samples
per second) would have filled one, and reports every 5 s. The learner hardly learns, so that it is not the bottleneck, and
publishes as often as it may. Each number of workers gives a row: the files that arrived, CPU seconds per second of server
and learner, the server's traffic, the age of a network when a worker has it, and the time until a file is acknowledged.

Everything runs on this machine; figures are per second of CPU time where that matters. Needs only Python.
"""

import argparse
import asyncio
import json
import random
import re
import tempfile
import time
import urllib.request
from pathlib import Path

from fleet_speed import REAL, plain_size, processor_time, record, renamed, table  # and finds the folder of fleet_kit
from fleet_kit import KIT, QUEUE, Fleet, add_tools, tools, until

REPORT = 5  # seconds
BUCKET, NETWORKS = "jarmo_runs", "jarmo_networks"
PROGRESS = json.dumps({
    "worker": "simulated-00000000", "program": "jarmo", "run": "", "threads": 1, "doing": "playing", "games": 1000,
    "positions": 100_000, "pairs": 0, "files": 10, "samples": 40_000, "bytes": 1_600_000, "weights": 0,
    "positions_per_s": 228.0, "games_per_s": 5.0, "since_played": 0.1,
}).encode()


class Counts:
    """What all workers saw while `on`."""

    def __init__(self):
        self.on, self.files, self.samples, self.refused, self.errors = False, 0, 0, 0, 0
        self.networks, self.waits, self.ages = 0, [], []


class Worker:
    """A simulated worker."""

    def __init__(self, name, run, files, rate, counts, chance):
        self.name, self.run, self.files, self.rate = name, run, files, rate
        self.counts, self.chance, self.asked, self.waiting = counts, chance, 0, {}
        self.newest = asyncio.Queue()

    async def start(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 21)
        await self.reader.readline()
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "user": KIT, "pass": KIT}
        self.say(f"CONNECT {json.dumps(options)}\r\n".encode())
        self.say(f"SUB _INBOX.{self.name}.* 1\r\nSUB $KV.{BUCKET}.> 2\r\n".encode())
        return [asyncio.create_task(task()) for task in (self.hear, self.read_networks, self.send, self.report)]

    def say(self, text):
        self.writer.write(text)

    async def ask(self, subject, payload=b"", message_id=None):
        self.asked += 1
        reply = f"_INBOX.{self.name}.{self.asked}"
        answer = self.waiting[reply] = asyncio.get_running_loop().create_future()
        head = f"NATS/1.0\r\nNats-Msg-Id: {message_id}\r\n\r\n".encode() if message_id else b""
        word = f"HPUB {subject} {reply} {len(head)} {len(head) + len(payload)}" if head else f"PUB {subject} {reply} {len(payload)}"
        self.say(word.encode() + b"\r\n" + head + payload + b"\r\n")
        await self.writer.drain()
        try:
            return await asyncio.wait_for(answer, 30)
        finally:
            del self.waiting[reply]

    async def hear(self):
        while line := await self.reader.readline():
            word, *words = line.decode().split()
            if word == "-ERR":
                sys.exit(f"the server says: {line.decode().strip()}")
            if word == "PING":
                self.say(b"PONG\r\n")
            if word not in ("MSG", "HMSG"):
                continue
            content = (await self.reader.readexactly(int(words[-1]) + 2))[:-2]
            head = int(words[-2]) if word == "HMSG" else 0
            if words[0] in self.waiting:
                if not self.waiting[words[0]].done():
                    self.waiting[words[0]].set_result((content[:head].decode(), content[head:]))
            elif words[0] == f"$KV.{BUCKET}.{self.run}.network":
                self.newest.put_nowait((time.monotonic(), json.loads(content[head:])))

    async def read_networks(self):
        _, content = await self.ask(f"$JS.API.DIRECT.GET.KV_{BUCKET}.$KV.{BUCKET}.{self.run}.network")
        said = time.monotonic(), json.loads(content)
        while True:
            begun, newest = said
            try:
                following = 1
                for _ in range(newest["parcel"]["chunks"]):
                    subject = f"$O.{NETWORKS}.C.{newest['parcel']['nuid']}"
                    wanted = json.dumps({"seq": following, "next_by_subj": subject}).encode()
                    head, chunk = await self.ask(f"$JS.API.DIRECT.GET.OBJ_{NETWORKS}", wanted)
                    following = int(re.search(r"Nats-Sequence: (\d+)", head)[1]) + 1
                if self.counts.on:
                    self.counts.networks += 1
                    self.counts.ages.append(time.monotonic() - begun)
            except (TimeoutError, TypeError):
                self.counts.errors += self.counts.on
            said = await self.newest.get()
            while not self.newest.empty():
                said = self.newest.get_nowait()

    async def send(self):
        content, samples = self.chance.choice(self.files)
        await asyncio.sleep(self.chance.uniform(0, samples / self.rate))
        while True:
            content, samples = self.chance.choice(self.files)
            begun = time.monotonic()
            name = renamed(content, self.chance.getrandbits(32))
            try:
                _, answer = await self.ask(f"jarmo.samples.{self.run}.{self.name}", name, f"{self.chance.getrandbits(64):x}")
                refused = b'"error"' in answer
            except TimeoutError:
                self.counts.errors += self.counts.on
                continue
            if self.counts.on:
                self.counts.files += not refused
                self.counts.samples += samples * (not refused)
                self.counts.refused += refused
                self.counts.waits.append(time.monotonic() - begun)
            await asyncio.sleep(max(0, begun + samples / self.rate - time.monotonic()))

    async def report(self):
        while True:
            await asyncio.sleep(self.chance.uniform(0.9, 1.1) * REPORT)
            self.say(f"PUB jarmo.progress.{self.name}.{self.name} {len(PROGRESS)}\r\n".encode() + PROGRESS + b"\r\n")


def moved(port):
    """What the server moved so far: messages and bytes, in and out; and its memory."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/varz") as page:
        said = json.load(page)
    return [said[key] for key in ("in_msgs", "out_msgs", "in_bytes", "out_bytes", "mem")]


def quantile(numbers, part):
    return sorted(numbers)[int(part * (len(numbers) - 1))] if numbers else float("nan")


async def simulate(fleet, files, count, rate, options):
    """One row."""
    counts, chance = Counts(), random.Random(f"{options.seed} {count}")  # no file of another row again
    workers = [Worker(f"simulated-{number}", fleet.run_name(), files, rate, counts, random.Random(chance.random()))
               for number in range(count)]
    tasks = []
    for worker in workers:
        tasks += await worker.start(fleet.port)
        await asyncio.sleep(0.005)
    await asyncio.sleep(options.settle)
    taken = fleet.report()["files"]  # order.jsonl forgets those that left the window
    before, begun = moved(fleet.port + 1), time.monotonic()
    cpu = [processor_time(process) for process in (fleet.server, fleet.learner)]
    own, counts.on = time.process_time(), True
    await asyncio.sleep(options.seconds)
    counts.on = False
    seconds = time.monotonic() - begun
    own = time.process_time() - own
    cpu = [processor_time(process) - past for process, past in zip((fleet.server, fleet.learner), cpu)]
    after = moved(fleet.port + 1)
    taken = fleet.report()["files"] - taken
    waiting = fleet.stream()["messages"]
    while tasks:  # again, because a wait that ends as it is cancelled goes on
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=1)
    for worker in workers:
        worker.writer.close()
    per = [(new - old) / seconds for new, old in zip(after, before)]
    return {
        "workers": count, "samples/s": counts.samples / seconds, "files/s": counts.files / seconds,
        "taken/s": taken / seconds, "files waiting": waiting, "refused": counts.refused, "errors": counts.errors,
        "server, cores": cpu[0] / seconds, "learner, cores": cpu[1] / seconds, "simulation, cores": own / seconds,
        "in, MB/s": per[2] / 1e6, "out, MB/s": per[3] / 1e6, "in, messages/s": per[0], "out, messages/s": per[1],
        "server, MB": after[4] / 1e6, "networks/s": counts.networks / seconds,
        "network, s": quantile(counts.ages, 0.5), "network 99 %, s": quantile(counts.ages, 0.99),
        "answer, ms": 1000 * quantile(counts.waits, 0.5), "answer 99 %, ms": 1000 * quantile(counts.waits, 0.99),
    }


def shown(number):
    if number != number:
        return ""
    return f"{number:.0f}" if abs(number) >= 100 or number == int(number) else f"{number:.2g}" if abs(number) < 1 else f"{number:.1f}"


def plot(rows, path):
    """CPU time of the server and what it sends, against workers."""
    width, height, left, low = 560, 300, 60, 40
    most = max(row["workers"] for row in rows)
    curves = [("server, cores", "#2060c0", 1.0), ("learner, cores", "#c06020", 1.0), ("out, MB/s", "#208040", 100.0)]
    place = lambda workers, part: (left + workers / most * (width - left - 20), height - low - part * (height - low - 20))
    highest = max(row[name] / scale for row in rows for name, _, scale in curves) * 1.1
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for tick in range(6):
        x, y = place(most * tick / 5, highest and tick / 5)
        parts.append(f'<text x="{x:.0f}" y="{height - 22}" text-anchor="middle">{most * tick / 5:.0f}</text>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{highest * tick / 5:.2f}</text>')
        parts.append(f'<path d="M{left} {y:.0f}H{width - 20}" stroke="#ddd"/>')
    parts.append(f'<text x="{width / 2:.0f}" y="{height - 6}" text-anchor="middle">workers</text>')
    for number, (name, color, scale) in enumerate(curves):
        points = [place(row["workers"], row[name] / scale / highest) for row in rows]
        parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{" ".join(f"{x:.0f},{y:.0f}" for x, y in points)}"/>')
        parts += [f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3" fill="{color}"/>' for x, y in points]
        label = name if scale == 1 else f"{name.split(',')[0]}, {scale:.0f} MB/s"
        parts.append(f'<text x="{left + 12}" y="{20 + 16 * number}" fill="{color}">{label}</text>')
    Path(path).write_text("\n".join([*parts, "</svg>"]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--rate", type=float, nargs="+", default=[228], help="samples a second of a worker")
    parser.add_argument("--game", default="jarmo")
    parser.add_argument("--files", type=int, default=8, help="recorded files")
    parser.add_argument("--seconds", type=float, default=60, help="of each measurement")
    parser.add_argument("--settle", type=float, default=25, help="seconds before it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", help="write a picture of the rows of the first rate")
    add_tools(parser, 4700)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        settings = {**REAL, "run.reuse": 0.01, "replay.capacity": 400_000, "selfplay.simulations": 64,
                    "fleet.publish": 1, "fleet.queue": 20_000, "run.checkpoint": 20}
        with Fleet(tools(options), folder, options.port, settings, options.game) as fleet:
            with fleet.config.open("a") as config:
                config.write(f"\nhttp: 127.0.0.1:{fleet.port + 1}\n")
            files = record(fleet, options.files)
            size = sum(len(content) for content, _ in files) / len(files)
            print(f"{len(files)} files, {size / 1e3:.0f} kB, {sum(map(lambda file: file[1], files)) / len(files):.0f} samples, "
                  f"{sum(plain_size(content) for content, _ in files) / len(files) / 1e3:.0f} kB plain")
            fleet.start_learner()
            until("a network", lambda: "parcel" in str(fleet.ask(
                f"$JS.API.DIRECT.GET.KV_{BUCKET}.$KV.{BUCKET}.{fleet.run_name()}.network")), 120)
            for rate in options.rate:
                for count in options.workers:
                    row = asyncio.run(simulate(fleet, files, count, rate, options))
                    rows.append({"rate": rate, **row})
                    print(json.dumps(rows[-1]), flush=True)
                    fleet.ask(f"$JS.API.STREAM.PURGE.{QUEUE}{fleet.run_name()}")
                    until("the queue is empty", lambda: fleet.unacknowledged() == 0, 120, 1)
    table(list(rows[0]), [[shown(number) for number in row.values()] for row in rows])
    if options.plot:
        plot([row for row in rows if row["rate"] == options.rate[0]], options.plot)


if __name__ == "__main__":
    main()
