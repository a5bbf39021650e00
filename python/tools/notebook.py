"""Executes a notebook from top to bottom; an error in a cell is an error here. With --write its outputs are kept.

Words after the file come in pairs: what stands in the notebook, and what is executed in its place.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main() -> None:
    path = Path(sys.argv[1])
    notebook = nbformat.read(path, as_version=4)
    words = [word for word in sys.argv[2:] if word != "--write"]
    for old, new in zip(words[::2], words[1::2], strict=True):
        found = [cell for cell in notebook.cells if old in cell.source]
        assert found, f"{path} does not say {old}"
        for cell in found:
            cell.source = cell.source.replace(old, new)
    NotebookClient(notebook, timeout=300).execute()
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert "image/svg+xml" in kinds, "no picture"
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of day
    if "--write" in sys.argv:
        nbformat.write(notebook, path)
    print(f"{path}: {len(notebook.cells)} cells")


main()
