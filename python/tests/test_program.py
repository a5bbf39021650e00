"""The command ``jarmo`` of the package, and that importing the package costs little."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import jarmo

SCRIPT = shutil.which("jarmo", path=os.path.dirname(sys.executable)) or "jarmo"
MODULE = [sys.executable, "-m", "jarmo"]


def ran(*arguments: str, command: list[str] = [SCRIPT], **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, *arguments], capture_output=True, text=True, env={**os.environ, **more})


@pytest.mark.parametrize("command", [[SCRIPT], MODULE])
def test_both_commands_are_the_program(command: list[str]) -> None:
    help = ran("--help", command=command)
    assert help.returncode == 0 and re.search(r"^  train +Train a network by self-play", help.stdout, re.M)
    assert re.search(r"^  play +Play a board game", help.stdout, re.M)
    version = ran("--version", command=command)
    assert version.stdout.startswith(f"jarmo {jarmo.__version__}") and "features: train" in version.stdout
    assert ran("perft", "--depth", "4", command=command).stdout == "17524\n"


def test_exit_statuses_and_streams_are_those_of_the_program() -> None:
    wrong = ran("perft", "--depth", "nine")
    assert wrong.returncode == 2 and wrong.stdout == "" and wrong.stderr.startswith("error: ")
    missing = ran("inspect", "none.safetensors", "--position", "start")
    assert missing.returncode == 1 and "none.safetensors: No such file" in missing.stderr
    unknown = ran("serve")
    assert unknown.returncode == 2 and "unrecognized subcommand" in unknown.stderr
    incomplete = ran("fleet")
    assert incomplete.returncode == 2
    assert ("needs the feature fleet" if os.name == "nt" else "Usage: jarmo fleet") in incomplete.stderr
    assert "Traceback" not in wrong.stderr + missing.stderr + unknown.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes of Unix")
def test_a_closed_pipe_is_no_error() -> None:
    program = subprocess.Popen([SCRIPT, "man"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert program.stdout is not None and program.stderr is not None
    program.stdout.close()
    assert program.stderr.read() == b"" and program.wait() == 0


def test_completions_know_play() -> None:
    script = ran("completions", "bash").stdout
    assert "complete -F _jarmo" in script and re.search(r"jarmo,play\)", script)
    assert "--completions" not in ran("play", "--help").stdout


def test_it_names_itself_as_it_was_started(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    options = ["train", "--game", "connect_four", "--steps", "1", "--run", str(folder), "--set=net.width=32"]
    options += ["--set=evaluation.every=0", "--set=evaluation.exam=none", "--set=selfplay.simulations=2"]
    bare = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    out = ran(*options, PATH=bare).stdout
    assert f"evaluate it: jarmo arena '{folder}" in out or f"evaluate it: jarmo arena {folder}" in out
    assert "play against it: jarmo play --game connect_four --opponent" in out
    again = ran("train", "--resume", str(folder), PATH="").stdout
    assert f"nothing to do: the run has reached its limit (--steps 1); give it a higher one, or 0 for none, with: {SCRIPT}" in again


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_stops_a_run_and_ends_everything_else(tmp_path: Path) -> None:
    def interrupted(*arguments: str, after: str, given: str = "") -> tuple[int, str]:
        program = subprocess.Popen(
            [SCRIPT, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # the tests may run in the background
        )
        assert program.stdin is not None and program.stdout is not None
        program.stdin.write(given)
        program.stdin.flush()
        text = ""
        while not re.search(after, text):
            line = program.stdout.readline()
            assert line, text
            text += line
        program.send_signal(signal.SIGINT)
        return program.wait(60), text + program.stdout.read()

    folder = str(tmp_path / "run")
    status, out = interrupted("train", "--run", folder, "--set=selfplay.games=64", after="Ctrl-C stops the run")
    assert status == 130 and "stopped; continue with: " in out and "Traceback" not in out
    game = '{"game":"connect_four","moves":[]}\n'
    status, out = interrupted("rules", "trace", after="outcome", given=game)
    assert status == -signal.SIGINT and out.count("\n") == 1
    status, out = interrupted("play", "--web", "--port", "0", after="http://")
    assert status == 0, out


def test_play_is_a_command(tmp_path: Path) -> None:
    played = subprocess.run(
        [SCRIPT, "play", "--plain", "--game", "connect_four", "--opponent", "random"],
        input="D\nquit\n",
        capture_output=True,
        text=True,
    )
    assert played.returncode == 0 and "D" in played.stdout
    assert ran("play", "--game", "chess", "--plain").returncode == 2
    assert ran("play", "--port", "x").returncode == 2
    server = subprocess.Popen([SCRIPT, "play", "--web", "--port", "0"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    here = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with here.open(address) as page:
        assert b"<html" in page.read()
    server.terminate()
    server.wait(30)


def test_importing_starts_no_threads_and_is_quick() -> None:
    code = "import numpy, time; s = time.process_time(); import jarmo; print(time.process_time() - s)"
    code += "; import os; print(len(os.listdir('/proc/self/task')) if os.path.exists('/proc/self/task') else 1)"
    before = "import numpy, os; print(len(os.listdir('/proc/self/task')) if os.path.exists('/proc/self/task') else 1)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    seconds = min(float(run.stdout.split()[0]) for run in runs)
    assert seconds < 0.2
    alone = subprocess.run([sys.executable, "-c", before], capture_output=True, text=True, check=True)
    assert runs[0].stdout.split()[1] == alone.stdout.strip()
