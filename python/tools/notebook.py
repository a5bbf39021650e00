"""Executes a notebook from top to bottom; an error in a cell is an error here. With --write its outputs are kept.

Instead of --write, pairs of texts may follow: one that the notebook contains, and one that is executed in its place.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main() -> None:
    path = Path(sys.argv[1])
    notebook = nbformat.read(path, as_version=4)
    write = sys.argv[2:] == ["--write"]
    texts = [] if write else sys.argv[2:]
    for old, new in zip(texts[::2], texts[1::2], strict=True):
        found = [cell for cell in notebook.cells if old in cell.source]
        assert found, f"{path} does not say {old}"
        for cell in found:
            cell.source = cell.source.replace(old, new)
    NotebookClient(notebook, timeout=300).execute()
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert "image/svg+xml" in kinds, "no picture"
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of day
    if write:
        nbformat.write(notebook, path)
    print(f"{path}: {len(notebook.cells)} cells")


main()
