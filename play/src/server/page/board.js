// The board as SVG: draws a view and turns clicks, drags and keys into moves, independent of the server.

const NS = "http://www.w3.org/2000/svg";
const UNIT = 120; // between neighbouring circles
const SQUARE = 92; // the side of a square, and between neighbouring holes
const FRAME = 36; // around squares, with the coordinates on it
export const PIECE_BOX = "-45 -43 90 94"; // around a piece with its shadow
const still = matchMedia("(prefers-reduced-motion: reduce)");

// From the edges of the picture to the middle of the outermost cells.
const MARGINS = {
  board: { left: 78, right: 62, top: 62, bottom: 78 },
  slots: { left: SQUARE / 2 + FRAME, right: SQUARE / 2 + 16, top: SQUARE / 2 + 12, bottom: SQUARE / 2 + FRAME + 4 },
};
const FRAMED = { left: SQUARE / 2 + FRAME, right: SQUARE / 2 + FRAME, top: SQUARE / 2 + FRAME, bottom: SQUARE / 2 + FRAME };

export function make(name, attributes = {}, ...children) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// Whether pieces fall: such a board is never turned, and a move names a column.
export const falls = (layout) => layout.style === "slots";

// A flat thing that lies on the board: its shadow, its side in the second tone, and its face.
function solid(name, shape, depth) {
  const part = (kind, y, more = {}) => make(name, { class: kind, ...shape, ...(y && { transform: `translate(0 ${y})` }), ...more });
  return [part("shadow", depth + 4), part("shadow near", depth + 2), part("side", depth), part("body", 0)];
}

const disc = (radius, depth = 4) => solid("circle", { r: radius }, depth);
const ring = (radius) => make("circle", { class: "groove", r: radius });
const path = (kind, d) => make("path", { class: kind, d });

// A bow with its arrow, seen from above; it points to the enemy.
function archer(piece, down) {
  const bow = [path("glyph", "M-22 3 C-22 -5 -13 -13 0 -13 C13 -13 22 -5 22 3"), path("glyph string", "M-22 3 L0 13 L22 3"), path("glyph shaft", "M0 20 V-20 M-5 27 L0 21 L5 27"), path("point", "M0 -31 L7 -18 L0 -21 L-7 -18 Z")];
  const mark = piece.strong ? [make("circle", { class: "ring edge", r: 34 }), make("circle", { class: "ring", r: 34 })] : [ring(29)];
  return [...disc(34), ...mark, make("g", down ? { transform: "rotate(180)" } : {}, ...bow)];
}

function guard() {
  const d = "M0 -36 L29 -26 V0 C29 19 15 30 0 36 C-15 30 -29 19 -29 0 V-26 Z";
  return [...solid("path", { d }, 4), path("groove", "M0 -29 L23 -21 V0 C23 15 12 24 0 29 C-12 24 -23 15 -23 0 V-21 Z"), path("glyph", "M0 -19 V18 M-13 -5 H13")];
}

// A man of draughts; a king is two of them, with a crown.
function draughtsman(piece) {
  if (!piece.strong) return [...disc(36), ring(28), ring(15)];
  return [...disc(36, 12), make("circle", { class: "side upper", r: 36, cy: 5 }), make("circle", { class: "body", r: 36 }), ring(30), path("point", "M-18 14 L-22 -11 L-10 0 L0 -18 L10 0 L22 -11 L18 14 Z")];
}

const star = (outer, inner) => `M${Array.from({ length: 10 }, (_, corner) => {
  const [radius, angle] = [corner % 2 ? inner : outer, (Math.PI * corner) / 5];
  return `${(radius * Math.sin(angle)).toFixed(1)} ${(-radius * Math.cos(angle)).toFixed(1)}`;
}).join(" L")} Z`;

// The parts of a piece of a game that brings none of its own. Those of a win have a ring, and stones a star.
function pieceParts(game, piece, down) {
  if (piece.letter) return [...disc(34), make("text", { class: "letter" }, piece.letter)];
  if (game === "connect_four") return [make("circle", { class: "body", r: 41 }), ring(28), path("point star", star(24, 10))];
  if (game === "tammi") return draughtsman(piece);
  return game === "guard" && piece.strong ? guard() : archer(piece, down);
}

// The shape of a piece, centred at (0, 0); `down` if its player plays towards the lower edge.
export function pieceShape(game, piece, down = false) {
  const group = make("g", { class: `piece ${piece.player}` });
  if (piece.svg) {
    const source = `<svg xmlns="${NS}">${piece.svg}</svg>`;
    group.append(...new DOMParser().parseFromString(source, "image/svg+xml").documentElement.childNodes);
  } else {
    group.append(...pieceParts(game, piece, down), make("circle", { class: "halo edge", r: 41 }), make("circle", { class: "halo", r: 41 }));
  }
  return group;
}

// The distance of a point from a segment.
function distance([x, y], [x1, y1], [x2, y2]) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const part = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy)));
  return Math.hypot(x - x1 - part * dx, y - y1 - part * dy);
}

export class Board {
  // Calls `play(text)` with each chosen move, `label(cell, state)` for the accessible name of a cell,
  // `picked(cell, targets)` when a piece is picked, and `foreign(piece)` when one of the opponent is tried.
  constructor(svg, play, label, picked, foreign) {
    this.svg = svg;
    this.play = play;
    this.label = label;
    this.tellPicked = picked;
    this.tellForeign = foreign;
    this.view = null;
    this.picked = null;
    this.over = null; // the cell under the pointer or the focus
    this.flipped = false;
    this.pieces = new Map(); // by cell: {node, piece}
    this.ideas = [];
    svg.addEventListener("pointerdown", (event) => this.down(event));
    svg.addEventListener("pointermove", (event) => this.moved(event));
    svg.addEventListener("pointerup", (event) => this.up(event));
    svg.addEventListener("pointercancel", () => this.dropDrag());
    window.addEventListener("pointerup", (event) => this.drag && event.pointerType === "mouse" && this.dropDrag()); // beside the board
    svg.addEventListener("pointerover", (event) => this.hover(this.cellOf(event.target)));
    svg.addEventListener("pointerleave", () => this.hover(null));
    svg.addEventListener("focusout", () => this.hover(null));
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("focusin", (event) => this.hover(this.cellOf(event.target)));
  }

  show(view, ideas) {
    const other = !this.view || this.view.game !== view.game || JSON.stringify(this.view.layout) !== JSON.stringify(view.layout);
    const before = this.view;
    this.view = view;
    this.ideas = ideas;
    if (other) this.picked = null;
    if (other || this.drawnFlipped !== this.flipped) this.build();
    if (this.picked !== null && (!view.human || !this.sources().has(this.picked))) this.picked = null;
    this.place(other ? null : before);
    this.mark();
  }

  point(cell) {
    const { layout } = this.view;
    const { column, row } = layout.cells[cell];
    const x = this.flipped ? layout.columns - 1 - column : column;
    const y = this.flipped ? row : layout.rows - 1 - row;
    return [this.margins.left + x * this.step, this.margins.top + y * this.step];
  }

  build() {
    const { layout } = this.view;
    this.drawnFlipped = this.flipped;
    this.step = layout.style === "board" ? UNIT : SQUARE;
    this.margins = MARGINS[layout.style] ?? FRAMED;
    const { left, right, top, bottom } = this.margins;
    const width = (layout.columns - 1) * this.step + left + right;
    const height = (layout.rows - 1) * this.step + top + bottom;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.dataset.style = layout.style;
    this.svg.closest(".table")?.style.setProperty("--ratio", width / height);
    const focused = this.cells?.indexOf(this.svg.getRootNode().activeElement) ?? -1;
    this.svg.replaceChildren();
    this.pieces.clear();
    this.over = null;
    const under = make("g");
    this.svg.append(under);
    const half = this.step / 2;
    const around = (more) => ({ x: left - half - more, y: top - half - more, width: this.step * layout.columns + 2 * more, height: this.step * layout.rows + 2 * more });
    if (layout.style === "board") {
      for (const [row, player] of [[0, "white"], [layout.rows - 1, "black"]]) {
        const cell = layout.cells.findIndex((other) => other.row === row);
        const [, y] = this.point(cell);
        under.append(make("rect", { class: `band ${player}`, x: left - 48, y: y - 48, width: width - left - right + 96, height: 96, rx: 48 }));
      }
    }
    if (layout.style === "squares") under.append(make("rect", { class: "square light", ...around(0) }), make("rect", { class: "inlay", ...around(3) }));
    if (layout.style === "slots") under.append(make("rect", { class: "wall back", ...around(8), rx: 18 }));
    this.labelAxes(under, width, height);
    this.lines = layout.lines.map(([a, b]) => {
      const [[x1, y1], [x2, y2]] = [this.point(a), this.point(b)];
      const gap = make("line", { class: "gap", x1, y1, x2, y2 });
      const line = make("line", { class: "line", x1, y1, x2, y2 });
      under.append(gap, line);
      return { a, b, gap, line };
    });
    this.cells = layout.cells.map((cell, index) => {
      const [x, y] = this.point(index);
      const group = make("g", { class: "cell", "data-cell": index, role: "button", tabindex: index === 0 ? 0 : -1, transform: `translate(${x} ${y})` });
      if (layout.style === "squares" || layout.style === "grid") {
        group.classList.add(layout.style === "grid" ? "grid" : "dark");
        group.append(make("rect", { class: "hole", x: -half, y: -half, width: this.step, height: this.step }));
        group.append(make("circle", { class: "dot", r: 15 }));
        group.append(make("rect", { class: "focus", x: 4 - half, y: 4 - half, width: this.step - 8, height: this.step - 8 }));
      } else {
        const radius = layout.style === "board" ? 24 : 37;
        group.classList.toggle("slot", layout.style === "slots");
        // A larger target for clicks; in a column there is no gap between two of them.
        const reach = falls(layout) ? make("rect", { x: -half, y: -half, width: this.step, height: this.step }) : make("circle", { r: 46 });
        reach.setAttribute("fill", "transparent");
        group.append(reach);
        const hole = make("circle", { class: "hole", r: radius });
        if (layout.style === "board") group.append(hole, path("plus", "M-13 0 H13 M0 -13 V13"));
        else group.append(path("lip", "M-36 -6 A37 37 0 0 1 36 -6"), hole);
        group.append(make("circle", { class: "focus", r: 45 }));
      }
      this.svg.append(group);
      return group;
    });
    this.arrows = make("g");
    this.layer = make("g");
    this.ghost = make("g", { class: "ghost" });
    this.cross = make("path", { class: "cross", d: "M-11 -11 L11 11 M-11 11 L11 -11" });
    this.tag = make("g", { class: "tag off" }, make("rect", { y: -15, height: 30, rx: 8 }), make("text"));
    this.svg.append(this.cross, this.ghost, this.layer, this.arrows, this.tag);
    if (falls(layout)) under.after(this.ghost, this.layer, path("wall", this.perforated(around(8))));
    if (focused >= 0) this.focus(Math.min(focused, this.cells.length - 1));
  }

  // The front of a board with slots: what falls is behind it.
  perforated({ x, y, width, height }) {
    const holes = this.view.layout.cells.map((_, cell) => {
      const [middle, row] = this.point(cell);
      return `M${middle - 37} ${row} a37 37 0 1 0 74 0 a37 37 0 1 0 -74 0 Z`;
    });
    const [corner, across, down] = [18, width - 36, height - 36];
    const turn = (dx, dy) => `a${corner} ${corner} 0 0 1 ${dx} ${dy}`;
    return `M${x + corner} ${y} h${across} ${turn(corner, corner)} v${down} ${turn(-corner, corner)} h${-across} ${turn(-corner, -corner)} v${-down} ${turn(corner, -corner)} Z ${holes.join(" ")}`;
  }

  // Whether a piece faces the lower edge.
  facesDown(player) {
    return (player === "black") !== this.flipped;
  }

  labelAxes(under, width, height) {
    const { layout } = this.view;
    const letter = (column) => layout.cells.find((cell) => cell.column === column).name[0];
    for (let column = 0; column < layout.columns; column++) {
      const cell = layout.cells.findIndex((other) => other.column === column);
      under.append(make("text", { class: "label", x: this.point(cell)[0], y: height - (layout.style === "board" ? 18 : FRAME / 2) }, letter(column)));
    }
    for (let row = 0; row < layout.rows; row++) {
      const cell = layout.cells.findIndex((other) => other.row === row);
      under.append(make("text", { class: "label", x: layout.style === "board" ? 17 : FRAME / 2, y: this.point(cell)[1] }, String(row + 1)));
    }
  }

  // Places the pieces and animates those that the last move moved.
  place(before) {
    const { scene, game } = this.view;
    const wanted = new Map(scene.pieces.map((piece) => [piece.cell, piece]));
    const old = this.pieces;
    const next = new Map();
    const step = scene.last;
    const forward = before && this.view.cursor === before.cursor + 1;
    const backward = before && this.view.cursor === before.cursor - 1;
    const route = forward && step ? [step.from, step.to] : backward && before.scene.last ? [before.scene.last.to, before.scene.last.from] : [null, null];
    const same = (a, b) => a && b && a.player === b.player && a.letter === b.letter;
    for (const [cell, piece] of wanted) {
      let source = cell;
      if (cell === route[1] && route[0] !== null && same(old.get(route[0])?.piece, piece)) source = route[0];
      const known = old.get(source);
      if (known && same(known.piece, piece) && !(source === cell && cell === route[0])) {
        old.delete(source);
        if (known.piece.strong !== piece.strong) {
          const fresh = pieceShape(game, piece, this.facesDown(piece.player));
          known.node.replaceChildren(...fresh.childNodes);
        }
        known.piece = piece;
        next.set(cell, known);
      } else {
        const node = pieceShape(game, piece, this.facesDown(piece.player));
        const [x, y] = this.point(cell);
        node.style.transform = `translate(${x}px, ${y}px)`;
        this.layer.append(node);
        if (falls(this.view.layout) && forward) this.fall(node, x, y);
        else node.classList.add("new");
        next.set(cell, { node, piece });
      }
    }
    for (const { node } of old.values()) {
      node.classList.add("gone");
      setTimeout(() => node.remove(), 320);
    }
    this.pieces = next;
    requestAnimationFrame(() => {
      for (const [cell, { node, piece }] of this.pieces) {
        const [x, y] = this.point(cell);
        node.classList.remove("new", "dragged");
        node.classList.toggle("leaving", piece.leaving);
        node.classList.toggle("won", scene.winning.includes(cell));
        node.style.transform = `translate(${x}px, ${y}px)`;
      }
    });
  }

  // Lets a piece fall to its place from above the board, where it bounces once.
  fall(node, x, y) {
    if (still.matches) return;
    const at = (height) => `translate(${x}px, ${height}px)`;
    const far = y + SQUARE;
    node.animate([
      { transform: at(-SQUARE), easing: "cubic-bezier(.5, 0, .9, .6)" },
      { transform: at(y), offset: .7, easing: "cubic-bezier(.1, .5, .5, 1)" },
      { transform: at(y - far * .07), offset: .84, easing: "cubic-bezier(.5, 0, .9, .5)" },
      { transform: at(y) },
    ], { duration: 24 * Math.sqrt(far) });
  }

  legal() {
    return this.view && this.view.human ? this.view.scene.legal : [];
  }

  sources() {
    return new Set(this.legal().filter((move) => move.from !== null).map((move) => move.from));
  }

  // Target cells of the picked piece, or of placements if none is picked, with their moves.
  targets() {
    const moves = this.legal().filter((move) => move.to !== null && move.from === this.picked);
    return new Map(moves.map((move) => [move.to, move.text]));
  }

  // Where a piece put on a cell comes to rest: where pieces fall, the free cell of the column.
  landing(cell) {
    const { layout } = this.view;
    const { column } = layout.cells[cell];
    if (!falls(layout)) return cell;
    return [...this.targets().keys()].find((target) => layout.cells[target].column === column) ?? cell;
  }

  // The name of the cell under the pointer or the focus; where pieces fall, it is that of the column.
  showTag() {
    const hidden = this.over === null || falls(this.view.layout);
    this.tag.classList.toggle("off", hidden);
    if (hidden) return;
    const [box, name] = this.tag.children;
    const [x, y] = this.point(this.over);
    name.textContent = this.view.layout.cells[this.over].name;
    const width = 12 * name.textContent.length + 14;
    box.setAttribute("x", -width / 2);
    box.setAttribute("width", width);
    this.tag.setAttribute("transform", `translate(${x + 34} ${y + 36})`);
  }

  // Shows where a piece would come to rest, under the pointer or the focus.
  showGhost() {
    const { layout, game, scene } = this.view;
    const cell = this.over !== null && falls(layout) ? this.landing(this.over) : null;
    if (!this.targets().has(cell)) return this.ghost.replaceChildren();
    const [x, y] = this.point(cell);
    this.ghost.replaceChildren(pieceShape(game, { player: scene.to_move, strong: false }));
    this.ghost.setAttribute("transform", `translate(${x} ${y})`);
  }

  // The cells of the move that is forbidden to the mover for a while; null if there is none.
  banned() {
    const { scene, layout } = this.view;
    const note = scene.notes.find(({ key, player }) => key === "note_shuttle" && player === scene.to_move);
    return note ? note.what.split("-").map((name) => layout.cells.findIndex((cell) => cell.name === name)) : null;
  }

  mark() {
    const sources = this.sources();
    const targets = this.targets();
    const { scene, layout } = this.view;
    const banned = this.banned();
    this.cells.forEach((cell, index) => {
      const state = {
        source: sources.has(index),
        target: targets.has(index),
        redeploy: targets.has(index) && this.picked === null && layout.style === "board",
        forbidden: banned !== null && banned[0] === this.picked && banned[1] === index,
        picked: this.picked === index,
        drop: falls(layout) && targets.has(this.landing(index)),
        taken: scene.pieces.some((piece) => piece.cell === index),
        last: scene.last && (scene.last.from === index || scene.last.to === index),
      };
      for (const [name, on] of Object.entries(state)) cell.classList.toggle(name, Boolean(on));
      cell.setAttribute("aria-label", this.label(index, state));
    });
    this.markBanned(banned);
    this.light(this.picked);
    this.showGhost();
    this.showTag();
    this.drawArrows();
  }

  // A broken line with a cross in its middle.
  markBanned(banned) {
    const { last } = this.view.scene;
    for (const { a, b, line } of this.lines) {
      line.classList.toggle("banned", banned !== null && banned.includes(a) && banned.includes(b));
      line.classList.toggle("last", last !== null && [a, b].includes(last.from) && [a, b].includes(last.to));
    }
    this.cross.classList.toggle("off", banned === null);
    if (banned === null) return;
    const [[x1, y1], [x2, y2]] = banned.map((cell) => this.point(cell));
    this.cross.setAttribute("transform", `translate(${(x1 + x2) / 2} ${(y1 + y2) / 2})`);
  }

  // Highlights the lines of a cell; lines that the picked piece may use stand out.
  light(cell, hovering = false) {
    const targets = this.targets();
    for (const { a, b, gap, line } of this.lines) {
      const touches = a === cell || b === cell;
      const playable = !hovering && this.picked === cell && cell !== null && touches && targets.has(a === cell ? b : a);
      line.classList.toggle("near", touches && !playable);
      line.classList.toggle("lit", playable);
      line.classList.toggle("faded", cell !== null && !touches);
      gap.classList.toggle("faded", cell !== null && !touches);
    }
    // Highlighted lines are drawn on top, uncut by the lines they cross.
    for (const { a, b, line } of this.lines) if (a === cell || b === cell) line.parentNode.append(line);
    this.cells.forEach((node, index) => {
      const near = this.lines.some(({ a, b }) => (a === cell && b === index) || (b === cell && a === index));
      node.classList.toggle("near", near);
    });
  }

  hover(cell) {
    if (!this.view || this.drag) return;
    this.over = cell;
    this.showGhost();
    this.showTag();
    if (this.picked !== null) this.light(this.picked);
    else this.light(cell, true);
  }

  // Draws the arrows, the best on top, and then their badges, each at the place with the lowest cost.
  drawArrows() {
    this.arrows.replaceChildren();
    const arrows = this.ideas.filter(({ gesture }) => gesture.to !== null).map(({ gesture, rank, text }) => {
      const end = this.point(gesture.to);
      if (gesture.from === null) return { rank, text, place: end };
      const start = this.point(gesture.from);
      const length = Math.hypot(end[0] - start[0], end[1] - start[1]);
      const way = [(end[0] - start[0]) / length, (end[1] - start[1]) / length];
      const along = ([x, y], far) => [x + way[0] * far, y + way[1] * far];
      return { rank, text, way, from: along(start, 36), to: along(end, -40) };
    });
    for (const { rank, way, from, to, place } of arrows.toReversed()) {
      const group = make("g", { class: "arrow", opacity: rank === 0 ? 1 : .6 });
      if (place) {
        group.append(make("circle", { class: "place", cx: place[0], cy: place[1], r: 40 }));
      } else {
        const corner = (far, aside) => `${to[0] + way[0] * far - way[1] * aside} ${to[1] + way[1] * far + way[0] * aside}`;
        const head = `M${corner(8, 0)} L${corner(-14, 15)} L${corner(-14, -15)} Z`;
        const [x2, y2] = [to[0] - way[0] * 12, to[1] - way[1] * 12];
        group.append(make("line", { x1: from[0], y1: from[1], x2, y2 }), make("path", { class: "head", d: head }));
      }
      this.arrows.append(group);
    }
    const taken = [];
    for (const arrow of arrows) {
      const width = 10 * arrow.text.length + 14;
      const [x, y] = this.badgePlace(arrow, width, arrows, taken);
      taken.push({ x, y, width });
      const badge = make("rect", { class: "badge", x: x - width / 2, y: y - 12, width, height: 24, rx: 12 });
      this.arrows.append(make("g", { class: "arrow" }, badge, make("text", { x, y }, arrow.text)));
    }
  }

  // The place along the arrow, or beside a placement, that covers fewest badges, other arrows and circles.
  badgePlace(arrow, width, arrows, taken) {
    const { from, to, way, place } = arrow;
    const along = (part) => [0, 1].map((axis) => from[axis] + part * (to[axis] - from[axis]));
    const beside = (aside) => [along(.5)[0] - aside * way[1], along(.5)[1] + aside * way[0]];
    const corners = [[24, -34], [-24, -34], [24, 34], [-24, 34]];
    const places = place
      ? corners.map(([x, y]) => [place[0] + x, place[1] + y])
      : [...[.5, .42, .58, .34, .66, .26, .74, .18].map(along), ...[-46, 46].map(beside)]; // for short arrows
    const cost = ([x, y]) => {
      const covers = taken.filter((other) => Math.abs(other.x - x) < (other.width + width) / 2 + 4 && Math.abs(other.y - y) < 28);
      const parts = [-1, 0, 1].map((side) => [x + (side * width) / 3, y]);
      const crosses = arrows.filter((other) => other !== arrow && other.from && parts.some((part) => distance(part, other.from, other.to) < 18));
      const hides = this.cells.filter((_, cell) => {
        const [cx, cy] = this.point(cell);
        return Math.hypot(Math.max(0, Math.abs(cx - x) - width / 2), Math.max(0, Math.abs(cy - y) - 12)) < 37;
      });
      return 100 * covers.length + 10 * crosses.length + hides.length;
    };
    return places.reduce((best, place) => (cost(place) < cost(best) ? place : best));
  }

  cellOf(node) {
    const group = node instanceof Element ? node.closest("[data-cell]") : null;
    return group ? Number(group.dataset.cell) : null;
  }

  // A click on a cell: play there, pick the piece, or unpick it.
  choose(cell) {
    const text = this.targets().get(this.landing(cell));
    if (text !== undefined) {
      this.picked = null;
      this.play(text);
    } else if (this.sources().has(cell) && this.picked !== cell) {
      this.pick(cell);
    } else if (this.picked !== null && this.picked !== cell && this.view.human) {
      // An illegal move: the answer of the server says why.
      const name = (index) => this.view.layout.cells[index].name;
      this.play(`${name(this.picked)}-${name(cell)}`);
      this.picked = null;
    } else {
      if (this.picked === null) this.explain(cell);
      this.picked = null;
    }
    this.mark();
  }

  pick(cell) {
    this.picked = cell;
    this.tellPicked(cell, [...this.targets().keys()]);
  }

  // A click on a piece that cannot move, or on a full column: tries a move, and the answer of the server says why not.
  explain(cell) {
    const { scene, layout } = this.view;
    const at = (index) => scene.pieces.find((piece) => piece.cell === index);
    if (scene.outcome || !at(cell)) return;
    if (falls(layout)) return this.play(layout.cells[cell].name[0]);
    if (at(cell).player !== scene.to_move) return this.tellForeign(at(cell));
    const near = this.steps(cell, at(cell));
    const step = near.find((other) => !at(other)) ?? near[0];
    if (step !== undefined) this.play(`${layout.cells[cell].name}-${layout.cells[step].name}`);
  }

  // The cells one step away: along the lines, or forward on the diagonals, and for a king also backward.
  steps(cell, piece) {
    const { layout } = this.view;
    if (layout.style !== "squares") return this.lines.filter(({ a, b }) => a === cell || b === cell).map(({ a, b }) => (a === cell ? b : a));
    const ahead = piece.player === "white" ? 1 : -1;
    const { column, row } = layout.cells[cell];
    return layout.cells.map((other, index) => ({ ...other, index }))
      .filter((other) => Math.abs(other.column - column) === 1 && (other.row - row === ahead || (piece.strong && other.row - row === -ahead)))
      .map(({ index }) => index);
  }

  down(event) {
    const cell = this.cellOf(event.target);
    if (cell === null || event.button !== 0) return;
    this.drag = { cell, x: event.clientX, y: event.clientY, moved: false, was: this.picked };
    if (this.sources().has(cell) && !this.targets().has(cell)) {
      if (this.picked !== cell) this.pick(cell);
      this.mark();
    }
  }

  moved(event) {
    const drag = this.drag;
    if (!drag) return;
    if (event.buttons === 0 && event.pointerType !== "touch") return this.dropDrag(); // released outside the window
    if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 8) return;
    const held = this.pieces.get(drag.cell);
    if (!held || this.picked !== drag.cell) return;
    drag.moved = true;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    held.node.classList.add("dragged");
    held.node.style.transform = `translate(${point.x}px, ${point.y}px)`;
    this.layer.append(held.node);
  }

  up(event) {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    if (!drag.moved) {
      // The press has already picked the piece; a second click unpicks it.
      if (!(this.picked === drag.cell && drag.was !== drag.cell)) this.choose(drag.cell);
      return;
    }
    // The board may be in a shadow root, where the document does not look.
    const over = this.cellOf(this.svg.getRootNode().elementFromPoint(event.clientX, event.clientY));
    this.place(this.view);
    if (over !== null && over !== drag.cell) this.choose(over);
  }

  dropDrag() {
    this.drag = null;
    if (this.view) this.place(this.view);
  }

  key(event) {
    const cell = this.cellOf(event.target);
    if (cell === null) return;
    const { layout } = this.view;
    const turn = this.flipped ? -1 : 1;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (event.key === "Enter" || event.key === " ") {
      this.choose(cell);
    } else if (event.key === "Escape") {
      this.picked = null;
      this.mark();
    } else if (steps[event.key]) {
      const [dx, dy] = steps[event.key].map((value) => value * turn);
      const { column, row } = layout.cells[cell];
      // A chequered board has no cell straight ahead; the cells beside it are tried.
      const near = dx ? [[dx, 0], [2 * dx, 0]] : [[0, dy], [1, dy], [-1, dy]];
      const cells = near.map(([x, y]) => layout.cells.findIndex((other) => other.column === column + x && other.row === row + y));
      const next = cells.find((other) => other >= 0);
      if (next !== undefined) this.focus(next);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  focus(cell) {
    this.cells.forEach((node, index) => node.setAttribute("tabindex", index === cell ? 0 : -1));
    this.cells[cell].focus();
  }
}
