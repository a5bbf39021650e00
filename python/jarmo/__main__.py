"""The command ``jarmo``, and ``python -m jarmo``."""

from __future__ import annotations

import os
import shutil
import signal
import sys

from jarmo._jarmo import run_program


def main() -> int:
    """Runs the program with the arguments of the process; returns the exit status."""
    # Ctrl-C is for the program, which saves its work or ends at once. In the background, where it is ignored, it stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_program([_typed(sys.argv[0]), *sys.argv[1:]])


def _typed(script: str) -> str:
    """What to type to start the program again: its name, unless the shell would find another one, or none."""
    found = shutil.which("jarmo")
    is_script = os.path.basename(script) != "__main__.py" and os.path.exists(script)
    return script if is_script and not (found and os.path.samefile(found, script)) else "jarmo"


if __name__ == "__main__":
    sys.exit(main())
