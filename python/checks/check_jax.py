"""The example `jax_step.py` learns: after 75 updates it wins most games of connect four against random play."""

import re
import subprocess
import sys
from pathlib import Path

example = Path(__file__).resolve().parent.parent / "examples/jax_step.py"
ran = subprocess.run([sys.executable, example, "--updates", "75"], check=True, capture_output=True, text=True)
print(ran.stdout, end="")
won = float(re.findall(r"won ([\d.]+)%", ran.stdout)[-1])
sys.exit(won < 75)
