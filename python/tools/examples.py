"""Runs the Python examples of a document, from top to bottom: blocks that begin with ```python."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main() -> None:
    path = Path(sys.argv[1])
    text = path.read_text()
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        code = "\n" * line + block.group(1)  # so that errors name the line of the document
        exec(compile(code, str(path), "exec"), names)
    print(f"{path}: {len(blocks)} examples")
    assert blocks, "no examples"


main()
