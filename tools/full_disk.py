"""Runs training, matches and table builds on a disk that is full, then makes room and goes on.

    python3 tools/full_disk.py target/release/jarmo

Linux only: it mounts small file systems in memory, in a namespace of its own (`unshare`), and needs no rights. Each
command runs on a disk that is too small. It must fail with a message that names the file or what is missing; then the
disk grows a little, and the command is resumed, until it ends. The outcome must be that of a run with enough room.
Needs Python alone.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kill import SETTINGS, finish, is_begun, run_of

KIB = 1024


def mount(folder, size, again=False):
    options = f"size={size}" + (",remount" if again else "")
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)


def grow_until_done(folder, first, again, size, step):
    """Runs a command on a disk that grows each time it fails; returns the number of failures."""
    mount(folder, size)
    failures = 0
    command = first
    while True:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return failures
        told = done.stderr.lower()
        if done.returncode != 1 or not ("no space" in told or "not enough disk space" in told):
            sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
        failures += 1
        size += step
        mount(folder, size, again=True)
        command = again() or first


def train(program, scratch):
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    command = [program, "train", "--config", "configs/smoke.toml", *settings, "--run"]
    whole, disk = scratch / "whole", scratch / "disk"
    finish([*command, str(whole)])
    disk.mkdir()

    def again():
        if is_begun(disk / "run"):
            return [program, "train", "--resume", str(disk / "run")]
        shutil.rmtree(disk / "run", ignore_errors=True)
        return None

    failures = grow_until_done(disk, [*command, str(disk / "run")], again, 40 * KIB, 120 * KIB)
    return failures, run_of(whole) == run_of(disk / "run")


def tables(program, scratch):
    def command(out):
        return [program, "tables", "build", "--force", "5", "--out", str(out)]

    whole, disk = scratch / "whole", scratch / "disk"
    finish(command(whole))
    disk.mkdir()
    failures = grow_until_done(disk, command(disk / "tables"), lambda: None, 64 * KIB, 16 * 1024 * KIB)
    names = [f"force-{force:02}.table" for force in range(2, 6)]
    return failures, all((whole / name).read_bytes() == (disk / "tables" / name).read_bytes() for name in names)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 tools/full_disk.py PROGRAM")
    if "JARMO_FULL_DISK" not in os.environ:
        command = ["unshare", "--map-root-user", "--mount", sys.executable, *sys.argv]
        os.execvpe("unshare", command, {**os.environ, "JARMO_FULL_DISK": "1"})
    sound = True
    for name, trial in [("training", train), ("tables", tables)]:
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            failures, same = trial(sys.argv[1], scratch)
            subprocess.run(["umount", str(scratch / "disk")], check=True)
        print(f"{name}: the disk was full {failures} times, outcome {'the same' if same else 'DIFFERENT'}", flush=True)
        sound &= same
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
