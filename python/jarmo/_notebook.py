"""What notebooks show: tables as HTML, and curves as SVG."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from jarmo._jarmo import Agent, VecEnv

Points: TypeAlias = "list[tuple[float, float]]"

COLOURS = ("#2f6f62", "#c8641e", "#2f62cc")
WIDTH, HEIGHT = 320, 210
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 34, 26  # the margins of a panel
MOST_POINTS = 300
MOST_BOARDS = 4


class Panel(NamedTuple):
    """Lines on common axes."""

    title: str
    lines: Mapping[str, Points]


def is_running() -> bool:
    """Whether the process is the kernel of a notebook."""
    return "ipykernel" in sys.modules


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as HTML; numbers are on the right."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _cell(value: object) -> str:
    if isinstance(value, bool | np.bool_ | str) or not isinstance(value, int | float | np.number):
        return f'<td style="text-align: left">{escape(str(value))}</td>'
    text = f"{value:,}" if isinstance(value, int | np.integer) else f"{value:.4g}"
    return f'<td style="text-align: right">{text}</td>'


def agent(shown: Agent) -> str:
    """What an agent is, as a table."""
    rows: list[tuple[str, object]] = [("agent", shown.spec), ("game", shown.game.name)]
    try:
        tensors = shown.network()
    except ValueError:
        rows.append(("network", "none"))
    else:
        rows.append(("weights", sum(tensor.size for tensor in tensors.values())))
    return table(("", ""), rows)


def games(env: VecEnv) -> str:
    """The first games of an environment as pictures."""
    positions = [env.position(slot) for slot in range(min(MOST_BOARDS, len(env)))]
    shown = "".join(f'<div style="width: 180px">{position._repr_svg_()}</div>' for position in positions)
    more = f", of which the first {MOST_BOARDS} are shown" if len(env) > MOST_BOARDS else ""
    caption = f"{len(env):,} {'game' if len(env) == 1 else 'games'} of {escape(env.game.name)}{more}"
    return f'<div>{caption}</div><div style="display: flex; flex-wrap: wrap; gap: 8px">{shown}</div>'


def percent(part: int, whole: int) -> str:
    """A share in percent; a dash where there is nothing to count."""
    return f"{part / whole:.1%}" if whole else "–"


def curves(panels: Sequence[Panel]) -> str:
    """Panels side by side as SVG, with the training step on the horizontal axis."""
    width = WIDTH * len(panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}" '
        'role="img" aria-label="Learning curves" font-family="sans-serif" font-size="11" fill="#23282c">',
        f'<rect width="{width}" height="{HEIGHT}" rx="8" fill="#fffdf8"/>',
    ]
    for index, panel in enumerate(panels):
        parts.append(f'<g transform="translate({WIDTH * index} 0)">{_panel(panel)}</g>')
    return "".join(parts) + "</svg>"


def _panel(panel: Panel) -> str:
    points = [point for line in panel.lines.values() for point in line]
    last = max(x for x, _ in points)
    low, high = min(y for _, y in points), max(y for _, y in points)
    if low == high:
        low, high = low - 0.5, high + 0.5
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def place(x: float, y: float) -> str:
        across = x / max(last, 1)
        up = (y - low) / (high - low)
        return f"{LEFT + across * (right - LEFT):.1f} {bottom - up * (bottom - TOP):.1f}"

    parts = [
        f'<path d="M{LEFT} {TOP} V{bottom} H{right}" fill="none" stroke="#8d7a5c"/>',
        f'<text x="{LEFT - 5}" y="{TOP + 4}" text-anchor="end">{high:.3g}</text>',
        f'<text x="{LEFT - 5}" y="{bottom}" text-anchor="end">{low:.3g}</text>',
        f'<text x="{right}" y="{HEIGHT - 9}" text-anchor="end">step {last:,.0f}</text>',
        f'<text x="{LEFT}" y="15" font-weight="bold">{escape(panel.title)}</text>',
    ]
    left = LEFT
    for colour, (name, line) in zip(COLOURS, panel.lines.items(), strict=False):
        path = " L".join(place(x, y) for x, y in _thinned(line))
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-linecap="round"/>')
        if len(panel.lines) > 1:
            parts.append(f'<text x="{left}" y="29" fill="{colour}">{escape(name)}</text>')
            left += 7 * len(name) + 12
    return "".join(parts)


def _thinned(line: Points) -> Points:
    """Means of neighbours, so that a long run has no more points than can be seen. A single point becomes a dot."""
    if len(line) == 1:
        return line * 2
    if len(line) <= MOST_POINTS:
        return line
    parts: Any = np.array_split(np.array(line), MOST_POINTS)
    return [(float(part[-1, 0]), float(part[:, 1].mean())) for part in parts]
