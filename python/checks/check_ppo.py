"""The tests of `jarmo.sb3` pass, and the example of MaskablePPO beats random play in at least 95 % of 500 games of jarmo."""

import re
import subprocess
import sys
from pathlib import Path

root = Path(__file__).resolve().parents[1]
subprocess.run([sys.executable, "-m", "pytest", "-q", root / "tests" / "test_sb3.py"], check=True)
example = root / "examples" / "maskable_ppo.py"
run = subprocess.run([sys.executable, example, "--minutes", "1"], check=True, stdout=subprocess.PIPE, text=True)
print(run.stdout)
wins = int(re.search(r"500 games against random: (\d+) won", run.stdout)[1])
assert wins >= 475, f"it won {wins} of 500 games"
