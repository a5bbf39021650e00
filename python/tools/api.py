"""The public names of the package with their signatures, from its sources, one a line.

    tools/api.py             # fails if api.txt, the recorded list, differs
    tools/api.py --write     # records the list

A removed or changed line breaks programs that use it.
"""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "api.txt"
SOURCES = [ROOT / "jarmo" / name for name in ("_jarmo.pyi", "_types.py", "_arena.py", "_play.py", "_runs.py", "_train.py")]
"""Where the names of `jarmo` itself come from."""

BEHIND = ["Tally", "Table", "NetSettings", "SelfPlaySettings", "ReplaySettings", "LearnerSettings", "EvaluationSettings"]
BEHIND += ["Limits", "RunSettings", "Settings"]
"""Types that `jarmo` does not export, whose fields its users write or read."""

Definition = ast.ClassDef | ast.FunctionDef | ast.AnnAssign | ast.Assign


def main() -> None:
    lines = [*package(), *(line for path in modules() for line in module(path))]
    if "--write" in sys.argv[1:]:
        RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")
    recorded = RECORD.read_text(encoding="utf-8").splitlines()
    changes = list(difflib.unified_diff(recorded, lines, "recorded", "now", lineterm="", n=0))
    print(*changes, f"{len(lines)} public names, {len(changes)} lines of changes", sep="\n")
    sys.exit(bool(changes))


def package() -> Iterator[str]:
    """What `jarmo` exports."""
    tree = ast.parse((ROOT / "jarmo/__init__.py").read_text(encoding="utf-8"))
    exported = next(ast.literal_eval(node.value) for node in tree.body if "__all__" in names(node))
    found = {name: node for path in SOURCES for node in definitions(path) for name in names(node)}
    for name in [*exported, *BEHIND]:
        yield from described(f"jarmo.{name}", found[name])


def modules() -> list[Path]:
    """The public modules."""
    return [path for path in sorted((ROOT / "jarmo").glob("[!_]*.py"))]


def module(path: Path) -> Iterator[str]:
    """What a module defines."""
    for node in definitions(path):
        for name in names(node):
            if not name.startswith("_"):
                yield from described(f"jarmo.{path.stem}.{name}", node)


def definitions(path: Path) -> list[Definition]:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return [node for node in body if isinstance(node, Definition)]


def names(node: ast.AST) -> list[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def described(name: str, node: Definition) -> Iterator[str]:
    """A definition, and the public ones in it."""
    if isinstance(node, ast.FunctionDef):
        yield f"{name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns) if node.returns else 'None'}"
    elif isinstance(node, ast.AnnAssign):
        yield f"{name}: {ast.unparse(node.annotation)}"
    elif isinstance(node, ast.Assign):
        yield f"{name} = {ast.unparse(node.value)}"
    else:
        yield f"{name}({', '.join(map(ast.unparse, node.bases))})"
        for inner in node.body:
            for own in names(inner):
                if own in ("__new__", "__init__") or not own.startswith("_"):
                    assert isinstance(inner, Definition)
                    yield from member(f"{name}.{own}", inner)


def member(name: str, node: Definition) -> Iterator[str]:
    """A method, a property or a field of a class."""
    is_property = isinstance(node, ast.FunctionDef) and "property" in map(ast.unparse, node.decorator_list)
    if is_property and isinstance(node, ast.FunctionDef) and node.returns:
        yield f"{name}: {ast.unparse(node.returns)}"
    else:
        yield from described(name, node)


if __name__ == "__main__":
    main()
