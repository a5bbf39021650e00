"""Pictures as arrays: draws the SVG of a position, and only what occurs in it.

A pixel is covered by how far it lies inside a shape, so edges are smooth. Strokes have round ends. Letters and digits are
drawn as lines, so no font is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Distance: TypeAlias = Callable[[Floats, Floats], Floats]
"""How far places are outside of a shape, in units; below 0 inside."""
Box: TypeAlias = tuple[float, float, float, float]
"""The least and the greatest x, then y."""

SCALE = 0.64
"""Pixels per unit."""

GLYPHS = {
    "A": "00 26 40|12 32",
    "B": "00 06 36 45 44 33 03|33 42 41 30 00",
    "C": "45 36 16 05 01 10 30 41",
    "D": "00 06 36 45 41 30 00",
    "E": "46 06 00 40|03 33",
    "F": "46 06 00|03 33",
    "G": "45 36 16 05 01 10 30 41 43 23",
    "H": "00 06|40 46|03 43",
    "1": "15 26 20",
    "2": "05 16 36 45 44 00 40",
    "3": "06 46 24 34 43 41 30 10 01",
    "4": "30 36 02 42",
    "5": "46 06 03 33 42 41 30 00",
    "6": "36 16 05 01 10 30 41 42 33 03",
    "7": "06 46 10",
    "8": "13 04 05 16 36 45 44 33 13 02 01 10 30 41 42 33",
}
"""Lines of x and y, four wide and six high, from the left end of the baseline."""


def draw(svg: str) -> NDArray[np.uint8]:
    """The picture as ``[height, width, 3]``, of even height and width, which videos need."""
    root = ElementTree.fromstring(svg)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    shape = [2 * round(length * SCALE / 2) for length in (height, width)]
    canvas = _Canvas(np.full((*shape, 3), 255, np.float32))
    canvas.group(root, 0.0, 0.0, 1.0)
    return canvas.pixels.round().astype(np.uint8)


class _Canvas:
    def __init__(self, pixels: Floats) -> None:
        self.pixels = pixels

    def group(self, parent: ElementTree.Element, x: float, y: float, opacity: float) -> None:
        for element in parent:
            tag = element.tag.rpartition("}")[2]
            if tag == "g":
                right, down = map(float, re.findall(r"-?[\d.]+", element.get("transform", "0 0")))
                self.group(element, x + right, y + down, opacity * float(element.get("opacity", 1)))
            elif tag != "title":
                box, distance, is_line = _shape(tag, element)
                self.element(element, (box, distance), is_line, (x, y, opacity))

    def element(
        self, element: ElementTree.Element, shape: tuple[Box, Distance], is_line: bool, at: tuple[float, float, float]
    ) -> None:
        box, distance = shape
        x, y, opacity = at
        place = (box[0] + x, box[1] + x, box[2] + y, box[3] + y)

        def shifted(xs: Floats, ys: Floats) -> Floats:
            return distance(xs - np.float32(x), ys - np.float32(y))

        fill, stroke = element.get("fill", "#000000"), element.get("stroke", "none")
        half = float(element.get("stroke-width", 1)) / 2
        if is_line and stroke == "none":  # letters, which have a fill only
            stroke, half = fill, float(element.get("font-size", 16)) / 20
        if fill != "none" and not is_line:
            self.paint(place, shifted, fill, opacity)
        if stroke != "none":
            wide = (place[0] - half, place[1] + half, place[2] - half, place[3] + half)
            opacity *= float(element.get("stroke-opacity", 1))
            self.paint(wide, lambda xs, ys: np.abs(shifted(xs, ys)) - np.float32(half), stroke, opacity)

    def paint(self, box: Box, distance: Distance, colour: str, opacity: float) -> None:
        rows, columns = self.pixels.shape[:2]
        left, right = max(int(box[0] * SCALE) - 1, 0), min(int(box[1] * SCALE) + 2, columns)
        top, bottom = max(int(box[2] * SCALE) - 1, 0), min(int(box[3] * SCALE) + 2, rows)
        xs = (np.arange(left, right, dtype=np.float32) + 0.5) / SCALE
        ys = (np.arange(top, bottom, dtype=np.float32) + 0.5) / SCALE
        covered = opacity * np.clip(0.5 - SCALE * distance(xs[None, :], ys[:, None]), 0, 1)[:, :, None]
        rgb = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)], np.float32)
        part = self.pixels[top:bottom, left:right]
        part += (rgb - part) * covered


def _shape(tag: str, element: ElementTree.Element) -> tuple[Box, Distance, bool]:
    """Its box and distance, and whether it has no inside."""

    def number(name: str) -> float:
        return float(element.get(name, 0))

    if tag == "circle":
        x, y, radius = number("cx"), number("cy"), number("r")
        box = (x - radius, x + radius, y - radius, y + radius)
        return box, lambda xs, ys: np.hypot(xs - x, ys - y) - radius, False
    if tag == "rect":
        x, y, width, height, corner = (number(name) for name in ("x", "y", "width", "height", "rx"))
        return (x, x + width, y, y + height), _rounded(x, y, width, height, corner), False
    if tag == "line":
        return *_of_lines([np.array([[number("x1"), number("y1")], [number("x2"), number("y2")]])]), True
    if tag == "text":
        return *_of_lines(_letters(element.text or "", number("x"), number("y"), number("font-size"))), True
    if tag == "path":
        lines = _path(element.get("d", ""))
        if element.get("fill") == "none":
            dashes = [float(length) for length in element.get("stroke-dasharray", "").split()]
            return *_of_lines(_dashed(lines, dashes) if dashes else lines), True
        box, outside = _of_lines(lines)
        return box, lambda xs, ys: np.where(_inside(lines, xs, ys), -1, 1) * outside(xs, ys), False
    raise ValueError(f"a picture with <{tag}> cannot be drawn as an array")


def _rounded(x: float, y: float, width: float, height: float, corner: float) -> Distance:
    def distance(xs: Floats, ys: Floats) -> Floats:
        right = np.abs(xs - (x + width / 2)) - (width / 2 - corner)
        down = np.abs(ys - (y + height / 2)) - (height / 2 - corner)
        outside = np.hypot(np.maximum(right, 0), np.maximum(down, 0))
        return np.asarray(outside + np.minimum(np.maximum(right, down), 0) - corner)

    return distance


def _of_lines(lines: list[NDArray[np.float64]]) -> tuple[Box, Distance]:
    """The distance from the nearest of some lines through points, ``[points, 2]``."""
    points = np.concatenate(lines) if lines else np.zeros((1, 2))
    box = (points[:, 0].min(), points[:, 0].max(), points[:, 1].min(), points[:, 1].max())

    def distance(xs: Floats, ys: Floats) -> Floats:
        nearest = np.full(np.broadcast_shapes(xs.shape, ys.shape), np.inf, np.float32)
        for line in lines:
            for (x, y), (to_x, to_y) in zip(line, line[1:], strict=False):
                right, down = to_x - x, to_y - y
                along = ((xs - x) * right + (ys - y) * down) / max(right * right + down * down, 1e-9)
                along = np.clip(along, 0, 1)
                np.minimum(nearest, np.hypot(xs - x - along * right, ys - y - along * down), out=nearest)
        return nearest

    return (float(box[0]), float(box[1]), float(box[2]), float(box[3])), distance


def _inside(lines: list[NDArray[np.float64]], xs: Floats, ys: Floats) -> NDArray[np.bool_]:
    """Where an odd number of edges lies to the right."""
    inside = np.zeros(np.broadcast_shapes(xs.shape, ys.shape), np.bool_)
    for line in lines:
        for (x, y), (to_x, to_y) in zip(line, np.roll(line, -1, axis=0), strict=True):
            if y != to_y:
                crossed = ((y > ys) != (to_y > ys)) & (xs < x + (ys - y) * (to_x - x) / (to_y - y))
                inside ^= crossed
    return inside


def _path(text: str) -> list[NDArray[np.float64]]:
    """The lines of a path, curves as eight of them."""
    lines: list[list[tuple[float, float]]] = []
    for command, rest in re.findall(r"([A-Z])([^A-Z]*)", text):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", rest)]
        if command == "M":
            lines.append([(numbers[0], numbers[1])])
            continue
        line = lines[-1]
        x, y = line[-1]
        if command == "L":
            line.append((numbers[0], numbers[1]))
        elif command == "H":
            line.append((numbers[0], y))
        elif command == "V":
            line.append((x, numbers[0]))
        elif command == "Z":
            line.append(line[0])
        elif command == "C":
            controls = np.array([x, y, *numbers]).reshape(4, 2)
            for part in np.linspace(0, 1, 9)[1:]:
                weights = [(1 - part) ** 3, 3 * part * (1 - part) ** 2, 3 * part**2 * (1 - part), part**3]
                point = weights @ controls
                line.append((float(point[0]), float(point[1])))
        else:
            raise ValueError(f"a path with {command} cannot be drawn as an array")
    return [np.array(line) for line in lines]


def _dashed(lines: list[NDArray[np.float64]], dashes: list[float]) -> list[NDArray[np.float64]]:
    """The dashes of straight lines."""
    long, gap = dashes
    parts = []
    for start, end in ((line[0], line[-1]) for line in lines):
        length = float(np.hypot(*(end - start)))
        for first in np.arange(0, length, long + gap):
            last = min(first + long, length)
            parts.append(start + (end - start) * np.array([[first], [last]]) / length)
    return parts


def _letters(text: str, x: float, y: float, size: float) -> list[NDArray[np.float64]]:
    """The lines of letters around x on the baseline y."""
    unit = size * 0.11
    lines = []
    for index, letter in enumerate(text.upper()):
        left = x + unit * (6 * (index - len(text) / 2) + 1)
        for line in GLYPHS[letter].split("|"):
            points = np.array([[int(place[0]), -int(place[1])] for place in line.split()])
            lines.append(np.array([left, y]) + unit * points)
    return lines
