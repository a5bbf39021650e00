// The opening explorer of an analysis: each legal move with its exact result, how often the shipped agents play it, and how
// those games went. What is known comes from a file for each game (`lab explorer`) and from exact tables, if there are any.

import { element } from "./panels.js";
import { store } from "./store.js";
import { certain, percent, playerName, text, words } from "./texts.js";

const $ = (id) => document.getElementById(id);
const GAMES = ["jarmo", "connect_four"];
const MOST = 1 << 22; // bytes of a file, unpacked
const OPEN = "openings"; // whether the person has opened the explorer

// The file of a game. Damage shows in the checksum of gzip, or else in what is checked here.
async function load(game) {
  const found = await fetch(new URL(`${game}.explorer`, import.meta.url));
  if (!found.ok) throw new Error(`${game}.explorer: ${found.status}`);
  const reader = found.body.pipeThrough(new DecompressionStream("gzip")).getReader();
  const parts = [];
  for (let size = 0, part; !(part = await reader.read()).done;) {
    if ((size += part.value.length) > MOST) throw new Error("too large");
    parts.push(part.value);
  }
  const file = JSON.parse(await new Blob(parts).text());
  const isCounted = (moves) => Object.values(moves).every((counts) => counts.length === 3 && counts.every(Number.isInteger));
  const right = [
    file.format === 1, file.game === game, Number.isInteger(file.games), Object.values(file.played).every(isCounted),
    Object.values(file.winners).every((sign) => ["w", "b", "="].includes(sign)), file.plies.every((signs) => /^[.0-Z]+$/.test(signs)),
  ];
  if (right.includes(false)) throw new Error("unknown content");
  return { ...file, tables: [new Map([["//////", file.plies[0]]])] };
}

// The name of a position in the file, which is also that of its mirror image, and whether it is that of the image.
function named(game, position) {
  const [board, mover] = position.split(" ");
  if (game === "jarmo") return { key: `${board} ${mover}`, turned: false };
  const rows = board.split("/").reverse().map((row) => row.replaceAll(/\d/g, (holes) => ".".repeat(holes)));
  return keyOf(Array.from({ length: 7 }, (_, column) => rows.map((row) => row[column]).join("").replaceAll(".", "")));
}

function keyOf(columns) {
  const [seen, image] = [columns.join("/"), columns.toReversed().join("/")];
  return image < seen ? { key: image, turned: true } : { key: seen, turned: false };
}

// The results of all positions with this many stones: those that follow the positions with one stone less, in order.
function tableOf({ plies, tables }, stones) {
  if (stones >= plies.length) return new Map();
  while (tables.length <= stones) {
    const stone = tables.length % 2 ? "w" : "b";
    const keys = new Set();
    for (const [key, sign] of tables.at(-1)) {
      if (sign === "0") continue; // the game is over
      const columns = key.split("/");
      columns.forEach((column, index) => column.length < 6 && keys.add(keyOf(columns.with(index, column + stone)).key));
    }
    const signs = plies[tables.length];
    if (signs.length !== keys.size) throw new Error("some positions have no result");
    tables.push(new Map([...keys].sort().map((key, index) => [key, signs[index]])));
  }
  return tables[stones];
}

const PLAYERS = { w: "white", b: "black", "=": null };

// The result of a move that leads to a position: {winner, plies}; null if the file does not have it.
function resultOf(file, position, mover) {
  const { key } = named(file.game, position);
  if (file.game === "jarmo") return key in file.winners ? { winner: PLAYERS[file.winners[key]], plies: null } : null;
  const sign = tableOf(file, key.length - 6).get(key);
  if (!sign) return null;
  if (sign === ".") return { winner: null };
  const plies = sign.charCodeAt(0) - 48;
  const other = mover === "white" ? "black" : "white";
  return { winner: plies % 2 ? other : mover, plies: plies + 1 };
}

const count = (games) => games.toLocaleString(words.language);
const mirrored = (move) => String.fromCharCode("A".charCodeAt(0) + "G".charCodeAt(0) - move.charCodeAt(0));

// What is known of a position, and of each move, the most played first, then the better ones: {own, moves: [{text, result, counts}]}.
function movesOf(file, { position, to_move: mover, moves }) {
  const { key, turned } = named(file.game, position);
  const played = file.played[key] ?? {};
  const lost = PLAYERS[file.winners[key]];
  const all = moves.map(({ text: move, position: next, known }) => {
    const certainly = known && { ...known, plies: known.plies === null ? null : known.plies + 1 }; // counted from here
    const result = certainly ?? resultOf(file, next, mover) ?? (lost && lost !== mover ? { winner: lost, plies: null } : null);
    return { text: move, result, counts: played[turned ? mirrored(move) : move] ?? [0, 0, 0] };
  });
  const worth = ({ result }) => (result ? (result.winner ? (result.winner === mover ? 1 : -1) * (1 - (result.plies ?? 0) / 1000) : 0) : -0.5);
  const own = file.winners[key] ? { winner: PLAYERS[file.winners[key]], plies: null } : null;
  return { own, moves: all.sort((one, other) => other.counts[0] - one.counts[0] || worth(other) - worth(one)) };
}

export class Explorer {
  // `page` has ask(path), play(move), and here(path): the path to what is known about the position shown.
  constructor(page) {
    this.page = page;
    this.files = new Map(); // by game, loaded or still to come
    this.drawn = "";
    this.isEmpty = false; // on a board that the file does not know
    $("explorer").open = store.getItem(OPEN) !== null;
    $("explorer").ontoggle = () => {
      if ($("explorer").open) store.setItem(OPEN, "true");
      else store.removeItem(OPEN);
      if (this.view) this.show(this.view, false);
    };
  }

  // Draws the position of a view, unless it is `hidden`.
  async show(view, hidden) {
    this.view = view;
    const { game, position, scene } = view;
    const box = $("explorer");
    box.hidden = hidden || !GAMES.includes(game) || scene.outcome !== null;
    const wanted = box.hidden || !box.open ? "" : [game, position, words.language].join();
    if (wanted === this.drawn) {
      box.hidden ||= this.isEmpty;
      return;
    }
    Object.assign(this, { drawn: wanted, isEmpty: false });
    if (!wanted) return;
    const parts = await this.content(view).catch(() => {
      this.files.delete(game);
      return [element("p", { className: "bad", textContent: text("openings_unreadable") })];
    });
    if (this.drawn !== wanted) return;
    box.hidden = this.isEmpty = parts.length === 0;
    $("openings").replaceChildren(...parts);
  }

  async content({ game, layout }) {
    if (!this.files.has(game)) this.files.set(game, load(game));
    const [file, asked] = await Promise.all([this.files.get(game), this.page.ask(this.page.here("/api/moves"))]);
    const lines = layout.lines.map(([from, to]) => `${layout.cells[from].name}-${layout.cells[to].name}`);
    if (file.board && lines.sort().join() !== file.board.split(" ").sort().join()) return []; // another board
    const { own, moves } = movesOf(file, asked);
    const games = moves.reduce((sum, { counts }) => sum + counts[0], 0);
    const isSolved = moves.some(({ result }) => result);
    const all = { n: count(file.games) };
    if (!isSolved && !own && !games) return [element("p", { textContent: text("openings_unknown", all) })];
    const about = games ? text("openings_games", { n: count(games) }) : text("openings_no_games", all);
    const results = isSolved ? null : own ? certain(own, game) : text("openings_no_result");
    const table = element("table", {}, element("caption", { textContent: [results, about].filter(Boolean).join(" · ") }));
    const known = moves.filter(({ counts: [played] }) => isSolved || played > 0);
    table.append(...known.map((move) => this.row(game, move, games)));
    const rest = moves.length - known.length;
    return rest === 0 ? [table] : [table, element("p", { className: "small", textContent: text("openings_rest", { n: rest }) })];
  }

  row(game, { text: move, result, counts: [played, white, black] }, games) {
    const button = element("button", { className: "move", textContent: move.replaceAll("-", "\u2011") });
    button.onclick = () => this.page.play(move);
    const cells = [button, result ? certain(result, game) : "–", played ? percent(played / games) : "", played ? this.bar(game, played, white, black) : ""];
    return element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
  }

  // How the games with a move ended, as a bar.
  bar(game, played, white, black) {
    const parts = [["white", white], ["draw", played - white - black], ["black", black]];
    const name = (part) => (part === "draw" ? text("draw") : playerName(part, game));
    const label = `${count(played)}: ${parts.map(([part, number]) => `${name(part)} ${percent(number / played)}`).join(", ")}`;
    const bar = element("div", { className: "ends", role: "img", ariaLabel: label, title: label });
    for (const [part, number] of parts) {
      const share = element("span", { className: part });
      share.style.width = `${(100 * number) / played}%`;
      bar.append(share);
    }
    return bar;
  }
}
