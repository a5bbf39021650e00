// A board for games that have only a drawing: squares, drops, and pieces by letter, read from the texts of the position
// and of the moves. A move that names no square of the board is a button.

import { element } from "./panels.js";
import { words } from "./texts.js";

const NONE = { from: null, to: null, captured: null };
const DROP = /^[a-z]$/i;

// The rows of a position such as `8/3wb3/8 w 0`, the top one first, with a letter or null for each square; null if the
// text begins with no such board.
function rowsOf(position) {
  const squares = (row) => [...row.matchAll(/\d+|./g)].flatMap(([sign]) => (/\d/.test(sign) ? Array(Math.min(26, Number(sign))).fill(null) : [/[a-z]/i.test(sign) ? sign : null]));
  const rows = position.split(" ")[0].split("/").map(squares);
  const [{ length }] = rows;
  return rows.length > 1 && length > 1 && length <= 26 && rows.every((row) => row.length === length) ? rows : null;
}

// Whose piece a letter is: w and x are White's, b and o Black's; of other letters the large ones are White's.
function owner(letter) {
  if (/[wx]/i.test(letter)) return "white";
  if (/[bo]/i.test(letter)) return "black";
  return letter === letter.toUpperCase() ? "white" : "black";
}

// The cells that the text of a move names.
function gestureOf(move, { columns, rows }, isTaken) {
  const cellAt = (column, row) => (column < columns && row >= 0 && row < rows ? row * columns + column : null);
  const column = (letter) => letter.toLowerCase().charCodeAt(0) - 97;
  if (DROP.test(move)) {
    const free = Array.from({ length: rows }, (_, row) => cellAt(column(move), row)).find((cell) => cell !== null && !isTaken(cell));
    return { ...NONE, to: free ?? null };
  }
  const cells = [...move.matchAll(/([a-z])(\d{1,2})/gi)].map(([, letter, row]) => cellAt(column(letter), row - 1));
  if (cells.length === 0 || cells.includes(null)) return NONE;
  return { ...NONE, from: cells.length > 1 ? cells[0] : null, to: cells.at(-1) };
}

// A view with a board; a view that has one stays as it is.
export function withBoard(view) {
  if (view.drawing === null) return view;
  const rows = rowsOf(view.position);
  if (!rows) return view;
  const { scene, moves } = view;
  const texts = [...scene.legal, ...moves].map((move) => move.text);
  const small = texts.some((move) => /[a-z]/.test(move));
  const [columns, height] = [rows[0].length, rows.length];
  const names = Array.from({ length: columns }, (_, column) => String.fromCharCode((small ? 97 : 65) + column));
  const cells = rows.flatMap((_, row) => names.map((name, column) => ({ name: `${name}${row + 1}`, column, row })));
  const style = texts.length && texts.every((move) => DROP.test(move)) ? "slots" : "grid";
  const layout = { style, columns, rows: height, cells, lines: [] };
  const pieces = cells.flatMap(({ column, row }, cell) => {
    const letter = rows[height - 1 - row][column];
    return letter ? [{ cell, player: owner(letter), strong: false, leaving: false, letter, svg: words.pieces[view.game]?.[letter] }] : [];
  });
  const taken = new Set(pieces.map(({ cell }) => cell));
  const gesture = (move) => gestureOf(move, layout, (cell) => taken.has(cell));
  const known = new Set();
  const legal = scene.legal.map(({ text }) => {
    const found = gesture(text);
    const key = `${found.from} ${found.to}`;
    const other = known.has(key); // the second move between the same squares is a button
    known.add(key);
    return { text, ...(other ? NONE : found) };
  });
  const drawn = (thought) => thought && { ...thought, candidates: thought.candidates.map((idea) => ({ ...idea, gesture: gesture(idea.text) })) };
  // The stone that fell last is the top one of its column.
  const latest = moves[view.cursor - 1]?.text;
  const landed = latest && DROP.test(latest) ? gestureOf(latest, layout, (cell) => taken.has(cell + columns)) : null;
  const last = latest === undefined ? null : landed ?? gesture(latest);
  return { ...view, layout, scene: { ...scene, pieces, legal, last: last?.to === null ? null : last }, thought: drawn(view.thought), hint: drawn(view.hint) };
}

let drawnRest = ""; // the moves that have a button; a new button would get no click of one who has begun to press the old one

// The drawing of a game without squares, and a button for each legal move that names none.
export function drawRest(seen, play) {
  const { drawing, layout, scene, human } = seen;
  const bare = drawing !== null && layout.cells.length === 0;
  const box = document.getElementById("drawing");
  box.hidden = !bare;
  box.textContent = bare ? drawing : "";
  const rest = drawing !== null && human && !scene.outcome ? scene.legal.filter(({ from, to }) => from === null && to === null) : [];
  const wanted = JSON.stringify(rest.map(({ text }) => text));
  if (wanted !== drawnRest) {
    const buttons = rest.map(({ text }) => {
      const button = element("button", { textContent: text });
      button.onclick = () => play(text);
      return button;
    });
    document.getElementById("others").replaceChildren(...buttons);
  }
  drawnRest = wanted;
  document.documentElement.toggleAttribute("data-drawn", drawing !== null);
  document.documentElement.toggleAttribute("data-bare", bare);
}
