"""Damages every file of a small run and of an agent, and counts what `jarmo` makes of it.

    python3 tools/damage.py target/release/jarmo [--each 50] [--seed 1]

Trains for a minute, then damages one file at a time: a bit flipped at a random place, the end cut off, or bytes
added. A damaged run is resumed; a damaged agent is inspected and plays. The table counts, for each file:

    refused   the command fails, and its message names the file
    reported  the command succeeds, and a warning names the file
    same      the command succeeds with the outcome of the undamaged file
    believed  it succeeds with another outcome, and says nothing
    unnamed   it fails or warns without naming the file
    crashed   it panics, is killed by a signal, or does not end

The last three must be 0, or the exit status is 1. Needs Python alone.
"""

import argparse
import json
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SAVED, LATER = 40, 60
SETTINGS = [
    "net.width=32", "selfplay.games=96", "selfplay.simulations=4", "replay.capacity=9000", "run.threads=1",
    "run.reuse=1.25", "run.checkpoint=20", "evaluation.every=0", f"run.steps={SAVED}",
]
KINDS = ["refused", "reported", "same", "believed", "unnamed", "crashed"]
SECONDS = 120  # a command that takes longer does not end


def run(program, *arguments):
    """The exit status of a command (None if it does not end), and all that it prints."""
    command = [program, *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, b"", ""
    return done.returncode, done.stdout, (done.stdout + done.stderr).decode(errors="replace")


def damaged(content, chance):
    """The content with one flipped bit, a missing end, or more bytes at its end."""
    way = chance.randrange(4)
    if way < 2 and content:
        place = chance.randrange(len(content))
        flipped = bytes([content[place] ^ 1 << chance.randrange(8)])
        return content[:place] + flipped + content[place + 1:]
    if way == 2 and content:
        return content[: chance.randrange(len(content))]
    return content + bytes(chance.randrange(256) for _ in range(chance.choice([1, 8, 4096])))


def tensors(agent):
    """The bytes of an agent file behind its header."""
    content = agent.read_bytes()
    return content[8 + struct.unpack("<Q", content[:8])[0]:]


def learned(program, folder):
    """What a run becomes that goes on: its agent, and its metrics but for the time."""
    status, _, said = run(program, "train", "--resume", folder, "--steps", LATER)
    if status != 0:
        return status, said
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        del line["timing"], line["check"]
    return tensors(folder / f"checkpoints/step-{LATER:08}.safetensors"), lines


def resume(program, folder):
    """Resumes a run that has reached its limit; its outcome is what it learns if it goes on."""
    status, _, said = run(program, "train", "--resume", folder, "--steps", SAVED)
    return status, said, lambda: learned(program, folder)


def inspect(program, agent):
    status, shown, said = run(program, "inspect", agent, "--position", "start", "--json")
    return status, said, lambda: shown


def play(program, agent):
    arguments = ["--game", "connect_four", "--games", "4", "--seed", "1", "--json"]
    status, shown, said = run(program, "arena", f"{agent}?sims=8", "random", *arguments)
    return status, said, lambda: [
        [match[key] for key in ["wins", "draws", "losses"]] for match in json.loads(shown)["matches"]
    ]


def kind(status, said, outcome, name, expected):
    if status is None or status < 0 or status > 100 or "panicked" in said:
        return "crashed"
    if status != 0:
        return "refused" if name in said else "unnamed"
    if "warning:" in said:
        return "reported" if name in said else "unnamed"
    return "same" if outcome() == expected else "believed"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("program", type=Path)
    arguments.add_argument("--each", type=int, default=50, help="damages for each file and command")
    arguments.add_argument("--seed", type=int, default=1)
    arguments = arguments.parse_args()
    program, chance = arguments.program.resolve(), random.Random(arguments.seed)
    root = Path(__file__).resolve().parent.parent
    counts = {}
    with tempfile.TemporaryDirectory() as home:
        home = Path(home)
        whole, copy = home / "whole", home / "copy" / "run"
        start = ["train", "--config", root / "configs/smoke.toml", "--run", whole]
        status, _, said = run(program, *start, *(word for pair in SETTINGS for word in ["--set", pair]))
        if status != 0:
            sys.exit(said)
        agent = f"checkpoints/step-{SAVED:08}.safetensors"
        files = [path.relative_to(whole) for path in sorted(whole.rglob("*")) if path.is_file()]
        files = [name for name in files if name.name != "lock"]
        attacks = [(name, resume, "") for name in files]
        attacks += [(Path(agent), inspect, agent), (Path(agent), play, agent)]
        for name, attack, target in attacks:
            content = (whole / name).read_bytes()

            def attempt(content):
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(whole, copy)
                (copy / name).write_bytes(content)
                return attack(program, copy / target)

            status, said, outcome = attempt(content)
            if status != 0:
                sys.exit(f"{name} without damage: {said}")
            expected = outcome()
            row = counts.setdefault((str(name), attack.__name__), dict.fromkeys(KINDS, 0))
            for _ in range(arguments.each):
                status, said, outcome = attempt(damaged(content, chance))
                found = kind(status, said, outcome, str(name), expected)
                row[found] += 1
                if found in KINDS[3:]:
                    print(f"{found}: {name}, {attack.__name__}: {said[-400:]}", file=sys.stderr)
    print(f"| file | command | {' | '.join(KINDS)} |\n|---|---|{'---|' * len(KINDS)}")
    for (name, command), row in counts.items():
        print(f"| `{name}` | {command} | {' | '.join(str(row[one]) for one in KINDS)} |")
    print(f"\n{arguments.each * len(counts)} damages, seed {arguments.seed}")
    sys.exit(any(row[one] for row in counts.values() for one in KINDS[3:]))


if __name__ == "__main__":
    main()
