"""Executes a notebook from top to bottom; an error in a cell is an error here. With --write its outputs are kept."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main() -> None:
    path = Path(sys.argv[1])
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300).execute()
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert "image/svg+xml" in kinds, "no picture"
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of day
    if "--write" in sys.argv:
        nbformat.write(notebook, path)
    print(f"{path}: {len(notebook.cells)} cells")


main()
