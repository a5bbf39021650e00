"""The stubs and the extension module say the same."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jarmo
from jarmo import _jarmo

STUBS = Path(jarmo.__file__).with_name("_jarmo.pyi")


def documented(body: list[ast.stmt], owner: Any) -> Iterator[tuple[str, str, str]]:
    """The name of each documented thing, its text in the stubs, and its text at run time."""
    for node in body:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            continue
        found = getattr(owner, node.name)
        text = ast.get_docstring(node)
        if text:
            yield node.name, text, inspect.getdoc(found) or ""
        if isinstance(node, ast.ClassDef):
            yield from documented(node.body, found)


def test_documentation_is_the_same_at_run_time() -> None:
    checked = 0
    for name, written, shown in documented(ast.parse(STUBS.read_text()).body, _jarmo):
        assert " ".join(written.split()) == " ".join(shown.split()), name
        checked += 1
    assert checked > 40


def test_every_property_is_documented() -> None:
    checked = 0
    for name in _jarmo.__all__ if hasattr(_jarmo, "__all__") else dir(_jarmo):
        owner = getattr(_jarmo, name)
        for member, thing in vars(owner).items() if inspect.isclass(owner) else ():
            if inspect.isdatadescriptor(thing) and not member.startswith("_"):
                assert inspect.getdoc(thing), f"{name}.{member}"
                checked += 1
    assert checked > 20


def test_everything_exported_is_documented() -> None:
    for name in jarmo.__all__:
        thing = getattr(jarmo, name)
        if not isinstance(thing, (str, list)):
            assert inspect.getdoc(thing), name
