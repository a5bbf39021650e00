"""The public names of the package are the recorded ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parent.parent / "tools/api.py"


def test_modules_are_imported_when_they_are_used() -> None:
    code = "import sys, jarmo; before = 'jarmo.yardstick' in sys.modules; assert jarmo.yardstick.VERSIONS and not before"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_public_api_is_the_recorded_one() -> None:
    run = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{run.stdout}If the change is meant, run python/tools/api.py --write"
