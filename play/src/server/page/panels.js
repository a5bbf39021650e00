// What stands around the board: players, evaluation, moves, and what the agent sees. Each function draws one panel.

import { make, PIECE_BOX, pieceShape } from "./board.js";
import { store } from "./store.js";
import { aimOf, certain, chance, count, levelName, moveBefore, moveNumber, numbered, playerName, result, seatName, text, words } from "./texts.js";

const $ = (id) => document.getElementById(id);

export const element = (name, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
};

// Rules: lines, "# " before a heading, "- " before a point.
export function paragraphs(source) {
  return source.trim().split("\n").map((line) => {
    const heading = line.startsWith("# ");
    return element(heading ? "h2" : "p", { textContent: heading ? line.slice(2) : line.replace(/^- /, "• ") });
  });
}

// Above and below the board: the card of each player, with a piece, the name, who plays, and the tallies. Only what changes
// is written, because a button may have the focus. `choose(player)` asks who is to play; without it nobody can be chosen.
export function cards(view, flipped, choose) {
  for (const player of ["white", "black"]) {
    const below = (player === "white") !== flipped;
    const card = $(below ? "strip-bottom" : "strip-top");
    const index = player === "white" ? 0 : 1;
    if (!card.firstChild) card.append(make("svg", { viewBox: PIECE_BOX, "aria-hidden": "true" }), element("span", { className: "who" }), element("button", { className: "level", ariaHasPopup: "dialog" }), element("span", { className: "tallies" }));
    const [picture, name, level, tallies] = card.children;
    const wanted = JSON.stringify([view.game, player, words.language, view.scene.tallies]);
    if (card.dataset.drawn !== wanted) {
      card.dataset.drawn = wanted;
      const plain = words.texts[`piece_${view.game}`] ? {} : { letter: " " }; // a disc for a game that this page does not know
      picture.replaceChildren(pieceShape(view.game, { player, strong: false, ...plain }));
      tallies.replaceChildren(...view.scene.tallies.map(({ key, values }) => tally(view, player, key, values[index])));
    }
    const who = view.seats?.[index];
    name.textContent = playerName(player, view.game) + (who ? " · " : "");
    level.id = `seat-${player}`;
    level.hidden = !who;
    level.disabled = !choose;
    const rated = who ? levelName(who, view.game) : "";
    if (level.title !== rated || level.dataset.who !== who) {
      level.title = rated;
      level.dataset.who = who;
      const rating = who && rated.slice(seatName(who).length);
      level.ariaLabel = `${playerName(player, view.game)}: ${rated}`;
      level.replaceChildren(who ? seatName(who) : "", ...(rating ? [element("span", { className: "rating", textContent: rating })] : []));
    }
    level.onclick = () => choose?.(player);
    card.classList.toggle("turn", !view.scene.outcome && view.scene.to_move === player);
  }
}

// The pieces that a tally counts: those of the opponent, once they are captured; guards and kings are the strong ones.
const COUNTED = {
  tally_captured: { captured: true }, tally_captured_archers: { captured: true }, tally_placements: {}, tally_reserve: { strong: true },
  tally_men: {}, tally_kings: { strong: true },
};

// A number of a player: captured pieces one by one, others as a piece with the number; in words for screen readers.
function tally(view, player, key, value) {
  const label = `${text(key)}: ${value}`;
  const number = element("b", { textContent: value });
  const counted = COUNTED[key];
  if (!counted) return element("span", { className: "tally", title: label }, element("span", { className: "word", textContent: `${text(key)}\u00a0` }), number);
  const other = player === "white" ? "black" : "white";
  const piece = { player: counted.captured ? other : player, strong: Boolean(counted.strong) };
  const picture = () => make("svg", { viewBox: PIECE_BOX, "aria-hidden": "true" }, pieceShape(view.game, piece));
  const box = element("span", { className: "tally", role: "img", ariaLabel: label, title: label });
  if (counted.captured) box.append(...Array.from({ length: value }, picture));
  else if (value > 0 || key !== "tally_placements") box.append(picture(), number);
  return box;
}

// The dialog in which the player of a side is chosen.
export function seatDialog(view, player, send) {
  const now = view.seats[player === "white" ? 0 : 1];
  const known = ["human", ...words.levels.map(({ name }) => name)];
  const take = (who) => {
    $("seat-box").close();
    send({ do: "seat", player, who });
  };
  $("seat-heading").textContent = playerName(player, view.game);
  $("seat-list").replaceChildren(...(known.includes(now) ? known : [...known, now]).map((who) => {
    const rating = levelName(who, view.game).slice(seatName(who).length).replace(/[ ()]/g, "");
    const button = element("button", {}, seatName(who), element("span", { textContent: rating }));
    button.dataset.who = who;
    button.setAttribute("aria-pressed", who === now);
    button.onclick = () => take(who);
    return button;
  }));
  $("seat-spec").value = "";
  $("seat-other").onsubmit = (event) => {
    event.preventDefault();
    if ($("seat-spec").value.trim()) take($("seat-spec").value.trim());
  };
  $("seat-box").showModal();
}

// The evaluation at the cursor; `again` if the view before was of the same game, whose value stays until the new one is known.
export function bar(view, flipped, again) {
  const value = view.values[view.cursor] ?? null;
  $("bar").classList.toggle("off", !view.evaluating);
  $("bar").classList.toggle("flipped", flipped);
  if (value === null && again) return;
  $("bar-white").style.height = `${Math.round(50 * ((value ?? 0) + 1))}%`;
  $("bar-text").textContent = value === null ? "" : Math.round(50 * (value + 1));
  $("bar").setAttribute("aria-label", value === null ? text("evaluation") : `${text("evaluation")}: ${playerName("white", view.game)} ${chance(value)}`);
}

const GRAPH = { width: 300, height: 100, edge: 6 }; // the edge keeps dots whole

// White's share of the points from move to move, filled as the bar is.
export function graph(view, send) {
  const svg = $("graph");
  const { values } = view;
  const { width, height, edge } = GRAPH;
  const last = values.length - 1;
  const x = (place) => edge + (last > 0 ? ((width - 2 * edge) * place) / last : 0);
  const y = (value) => height / 2 - (height / 2 - edge) * value;
  const known = values.flatMap((value, place) => (value === null ? [] : [[x(place), y(value), place]]));
  svg.replaceChildren();
  if (known.length) {
    // From edge to edge; one value alone fills the whole width.
    const begin = known.length === 1 || known[0][2] === 0 ? 0 : known[0][0];
    const end = known.length === 1 || known.at(-1)[2] === last ? width : known.at(-1)[0];
    const points = [[begin, known[0][1]], ...known, [end, known.at(-1)[1]]].map(([across, down]) => `${across},${down}`).join(" ");
    svg.append(make("rect", { class: "black-part", x: begin, y: 0, width: end - begin, height }));
    svg.append(make("polygon", { class: "white-part", points: `${begin},${height} ${points} ${end},${height}` }));
    svg.append(make("polyline", { class: "curve", points }));
  }
  svg.append(make("line", { class: "zero", x1: 0, x2: width, y1: height / 2, y2: height / 2 }));
  svg.append(make("line", { class: "now", x1: x(view.cursor), x2: x(view.cursor), y1: 0, y2: height }));
  // A dot after each mistake, which leads there: lines without length, because the drawing is stretched.
  for (const { place, mark } of view.assessments ?? []) {
    const value = values[place + 1] ?? null;
    if (!mark || value === null) continue;
    const spot = { x1: x(place + 1), x2: x(place + 1), y1: y(value), y2: y(value) };
    const name = make("title", {}, `${moveBefore(view, place + 1)} ${mark}`);
    const dot = make("g", { class: "mistake" }, name, make("line", { class: "dot edge", ...spot }), make("line", { class: "dot", ...spot }));
    dot.onclick = (event) => {
      event.stopPropagation();
      send({ do: "go", place: place + 1 });
    };
    svg.append(dot);
  }
  for (const [place, player] of [["up", "white"], ["down", "black"]]) $("graph-box").querySelector(`.${place}`).textContent = text("graph_better", { player: playerName(player, view.game) });
  const now = values[view.cursor] ?? null;
  const [player, value] = [playerName("white", view.game), now === null ? "…" : chance(now)];
  $("graph-now").textContent = view.cursor > 0 ? text("graph_now", { n: moveBefore(view, view.cursor), player, value }) : `${text("editor_start")}: ${player} ${value}`;
  $("graph-end").textContent = view.moves.at(-1)?.number ?? 0;
  svg.setAttribute("aria-label", `${text("graph_label")}. ${$("graph-now").textContent}`);
  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width) * width;
    const place = Math.round(((share - edge) / (width - 2 * edge)) * last);
    send({ do: "go", place: Math.max(0, Math.min(last, place)) });
  };
}

// Brings the move shown to the middle of the list.
function scrollMoves() {
  const list = $("moves");
  const now = list.querySelector('[aria-current="true"]');
  if (now) list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 2;
}

// What stands beside the list takes room from it, or hides it.
new ResizeObserver(scrollMoves).observe($("moves"));

let drawnMoves = ""; // what the list shows; it is drawn and scrolled only if that changes, because someone may be using it

// The moves, a row for the moves of White and those of Black after them, and after each row the variations that begin there.
export function moveList(view, send) {
  const list = $("moves");
  const marks = view.assessments?.map(({ mark }) => mark);
  const wanted = JSON.stringify([view.session, view.number, view.game, words.language, view.line, view.cursor, marks, view.tree.map(({ value, ...move }) => move)]);
  if (wanted === drawnMoves) return;
  drawnMoves = wanted;
  const before = document.activeElement;
  const hasFocus = before !== list && list.contains(before);
  if (view.tree.length === 0) return list.replaceChildren(element("li", { className: "none" }, ...[text("no_moves_yet"), aimOf(view.game)].map((line) => element("p", { textContent: line }))));
  const places = new Map(view.line.map((node, place) => [node, place]));
  const shown = view.line[view.cursor];
  const after = new Map(); // the moves from a position, the main one first
  for (const played of view.tree) after.set(played.parent, [...(after.get(played.parent) ?? []), played]);
  const button = (played) => {
    const place = places.get(played.node);
    const mark = played.mark || (place && view.assessments?.[place - 1]?.mark);
    const label = [numbered(played), mark, played.comment].filter(Boolean).join(" ");
    const node = element("button", { textContent: played.text, ariaLabel: label });
    node.dataset.node = played.node;
    if (played.node === shown) node.setAttribute("aria-current", "true");
    else if (place === undefined || place > view.cursor) node.classList.add("after");
    if (mark) node.append(element("span", { textContent: ` ${mark}`, className: mark.includes("!") && mark !== "?!" ? "good" : "bad" }));
    node.onclick = () => send(place === undefined ? { do: "show", node: played.node } : { do: "go", place });
    return node;
  };
  const remark = ({ comment }) => (comment ? [element("i", { textContent: comment })] : []);
  // The moves of a variation in a row, with those that begin in it in brackets.
  const variation = (first) => {
    const nodes = [];
    let numberless = false; // the move follows one of White directly
    for (let [played, others] = [first, []]; played;) {
      if (played.player === "white" || !numberless) nodes.push(element("span", { textContent: moveNumber(played) }));
      nodes.push(button(played), ...remark(played), ...others.flatMap((other) => ["(", ...variation(other), ")"]));
      numberless = played.player === "white" && !others.length && !played.comment;
      [played, ...others] = after.get(played.node) ?? [];
    }
    return nodes;
  };
  const rows = [];
  let row = null;
  for (let [played, ...others] = after.get(view.line[0]) ?? []; played;) {
    if (!row || row.number !== played.number) {
      row = { number: played.number, white: [], black: [] };
      rows.push(row);
    }
    row[played.player].push(button(played));
    const aside = [...(played.comment ? [remark(played)] : []), ...others.map(variation)];
    if (aside.length) {
      rows.push(...aside.map((nodes) => ({ nodes })));
      row = null;
    }
    [played, ...others] = after.get(played.node) ?? [];
  }
  list.replaceChildren(...rows.map(({ number, white, black, nodes }) => {
    if (nodes) return element("li", { className: "aside" }, ...nodes);
    return element("li", {}, element("span", { textContent: `${number}.` }), element("div", {}, ...(white.length ? white : ["…"])), element("div", {}, ...black));
  }));
  if (hasFocus) (list.querySelector(`[data-node="${before.dataset.node}"]`) ?? list).focus({ preventScroll: true });
  scrollMoves();
}

const MARKS = ["!!", "!", "!?", "?!", "?", "??"];

// What can be done with the move shown while the game is analysed: marks, a comment, and its variation.
export function remarks(view, send) {
  const played = view.analysing ? view.tree.find(({ node }) => node === view.line[view.cursor]) : undefined;
  const box = $("remark");
  box.hidden = !played;
  if (!played) return;
  const { node, mark, comment } = played;
  const write = (change) => send({ do: "remark", node, mark, comment, ...change });
  const marks = $("marks"); // its buttons stay, so that the focus does
  if (!marks.firstChild) marks.append(...MARKS.map((one) => element("button", { textContent: one })));
  for (const button of marks.children) {
    const one = button.textContent;
    button.ariaLabel = `${text("mark")} ${one}`;
    button.setAttribute("aria-pressed", one === mark);
    button.onclick = () => write({ mark: one === mark ? "" : one });
  }
  const field = $("comment");
  if (document.activeElement !== field || field.dataset.node !== String(node)) field.value = comment;
  field.dataset.node = node;
  field.placeholder = text("comment");
  field.onchange = () => write({ comment: field.value });
  $("promote").disabled = !isVariation(view, played);
  $("promote").onclick = () => send({ do: "promote", node });
  $("remove").onclick = () => send({ do: "remove", node });
}

// Whether a move or one before it is not the first from its position.
function isVariation({ tree }, played) {
  for (let one = played; one; one = tree.find(({ node }) => node === one.parent)) {
    if (tree.find(({ parent }) => parent === one.parent) !== one) return true;
  }
  return false;
}

let drawnMistakes = ""; // as with the moves

// The marked moves of each player; a click goes there.
export function mistakes(view, send) {
  const marked = (view.assessments ?? []).filter(({ mark }) => mark).map(({ place, mark }) => [place, moveBefore(view, place + 1), mark]);
  const wanted = JSON.stringify([view.game, words.language, marked]);
  if (wanted === drawnMistakes) return;
  drawnMistakes = wanted;
  const lines = ["white", "black"].map((player) => {
    const bad = (view.assessments ?? []).filter((one) => one.player === player && one.mark);
    const buttons = bad.map(({ place, mark }) => {
      const button = element("button", { textContent: `${moveBefore(view, place + 1)} ${mark}` });
      button.onclick = () => send({ do: "go", place: place + 1 });
      return button;
    });
    return element("p", {}, `${playerName(player, view.game)}: `, ...(buttons.length ? buttons : ["–"]));
  });
  $("mistakes").replaceChildren(...lines);
}

// Turns White's value into the mover's.
const mine = (view, value) => (view.scene.to_move === "white" ? value : -value);

// The arrows for an answer of the agent.
export function ideas(view, thought) {
  if (!thought) return [];
  // A proven loss is no hint while there is anything else.
  const lost = ({ proven }) => proven?.winner && proven.winner !== view.scene.to_move;
  const fine = thought.candidates.filter((idea) => !lost(idea));
  const all = (fine.length ? fine : thought.candidates).slice(0, Math.min(3, lineCount()));
  if (all.length === 0) {
    const move = view.scene.legal.find(({ text: other }) => other === thought.text);
    return move ? [{ gesture: move, rank: 0, text: "★" }] : [];
  }
  return all.map((idea, rank) => ({ gesture: idea.gesture, rank, text: idea.equal ? `${rank + 1}: =` : `${rank + 1}: ${chance(mine(view, idea.value))}` }));
}

// How many lines the person wants to see.
export const lineCount = () => Number(store.getItem("lines")) || 5;

let drawnIdeas = ""; // what the table of ideas shows, so that it is drawn anew only if that changes

// What the agent sees. Each move of a line is a button that shows the position after it.
export function ideaTable(view, thought, study) {
  const wanted = thought ? JSON.stringify([view.session, view.number, view.cursor, words.language, lineCount(), view.analysing, thought]) : "";
  if (wanted !== drawnIdeas) $("ideas").replaceChildren(...(thought ? [ideaRows(view, thought, study), ...ideaNote(thought)] : []));
  drawnIdeas = wanted;
  const { place, moves, at } = study.shown ?? {};
  for (const button of $("ideas").querySelectorAll(".move")) {
    const here = place === view.cursor && at === button.at && moves.slice(0, at).join() === button.line.slice(0, at).join();
    if (here) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

// What the sign of equal values means.
function ideaNote(thought) {
  const equal = thought.candidates.slice(0, lineCount()).some((idea) => idea.equal);
  return equal ? [element("p", { className: "small", textContent: text("ideas_equal") })] : [];
}

function ideaRows(view, thought, study) {
  const caption = [text("hint_best", { move: thought.text }), certain(thought.proven, view.game), !view.analysing && `${text("positions")}: ${count(thought.nodes)}`].filter(Boolean).join(" · ");
  const table = element("table", {}, element("caption", { textContent: caption }));
  const most = Math.max(...thought.candidates.map((idea) => idea.visits));
  for (const idea of thought.candidates.slice(0, lineCount())) {
    const row = table.insertRow();
    const unsure = !idea.proven && idea.visits < most / 10;
    const line = idea.line.length > 0 ? idea.line : [idea.text];
    const [first, ...rest] = line.map((move, index) => {
      const button = element("button", { className: "move", textContent: move.replaceAll("-", "\u2011"), title: text("look_at"), line, at: index + 1 });
      button.onclick = () => study.look(view.cursor, line, index + 1);
      return button;
    });
    row.insertCell().append(first);
    const share = `${idea.equal ? "= " : ""}${chance(mine(view, idea.value))}`;
    Object.assign(row.insertCell(), { textContent: share, className: unsure ? "unsure" : "" });
    row.insertCell().textContent = idea.visits > 0 ? count(idea.visits) : "";
    row.insertCell().append(...[certain(idea.proven, view.game), ...rest].filter(Boolean));
  }
  return table;
}

// The list of kept games; `open(game)` goes on with one.
export function gameList(games, open) {
  const box = $("games-list");
  if (games.length === 0) return box.replaceChildren(element("li", { textContent: text("my_games_empty") }));
  box.replaceChildren(...games.map((game) => {
    const record = JSON.parse(game.record);
    const [white, black] = game.seats.map(seatName);
    const end = record.outcome ? result(record.game, record.outcome, game.seats) : text("unfinished");
    const day = new Date(game.at).toLocaleString(words.language, { dateStyle: "short", timeStyle: "short" });
    const about = `${white} – ${black} · ${text("moves")}: ${record.moves.length} · ${day}`;
    const button = element("button", {}, element("b", { textContent: `${text(`game_${record.game}`)} · ${end}` }), element("span", { textContent: about }));
    button.onclick = () => open(game);
    return element("li", {}, button);
  }));
}
