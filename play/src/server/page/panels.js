// What stands around the board: players, evaluation, moves, and what the agent sees. Each function draws one panel.

import { make, pieceShape } from "./board.js";
import { certain, chance, count, levelName, playerName, result, seatName, text, words } from "./texts.js";

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

// Above and below the board: each player with the tallies.
export function strips(view, flipped) {
  for (const player of ["white", "black"]) {
    const below = (player === "white") !== flipped;
    const strip = $(below ? "strip-bottom" : "strip-top");
    const index = player === "white" ? 0 : 1;
    const chip = element("span", { className: `chip ${player}` });
    const name = view.seats ? `${playerName(player)} · ${seatName(view.seats[index])}` : playerName(player);
    const who = element("span", { className: "who" }, chip, name);
    const tallies = view.scene.tallies.map(({ key, values }) => element("span", { className: "tally" }, `${text(key)} `, element("b", { textContent: values[index] })));
    strip.replaceChildren(who, ...tallies, ...tray(view, player, index));
    strip.classList.toggle("turn", !view.scene.outcome && view.scene.to_move === player);
  }
}

// The captured archers.
function tray(view, player, index) {
  const captured = view.scene.tallies.find(({ key }) => key.startsWith("tally_captured"));
  if (!captured || captured.values[index] === 0) return [];
  const box = element("span", { className: "tray" });
  for (let count = 0; count < captured.values[index]; count++) {
    box.append(make("svg", { viewBox: "-40 -40 80 80", "aria-hidden": "true" }, pieceShape(view.game, { player, strong: false })));
  }
  return [box];
}

export function seatsForm(view, send) {
  const box = $("seats");
  if (box.contains(document.activeElement)) return; // the form is in use
  box.replaceChildren();
  view.seats.forEach((who, index) => {
    const player = index === 0 ? "white" : "black";
    const label = element("label", { textContent: playerName(player), htmlFor: `seat-${player}` });
    const select = element("select", { id: `seat-${player}` });
    const known = ["human", ...words.levels.map(({ name }) => name)];
    for (const one of known.includes(who) ? known : [...known, who]) select.append(new Option(levelName(one, view.game), one));
    select.append(new Option(text("other_agent"), "…"));
    select.value = who;
    select.onchange = () => {
      if (select.value !== "…") {
        select.blur();
        send({ do: "seat", player, who: select.value });
        return;
      }
      const input = element("input", { placeholder: "rollout:800", ariaLabel: text("agent_spec") });
      input.onchange = () => {
        const wanted = input.value.trim();
        input.blur();
        send({ do: "seat", player, who: wanted });
      };
      select.after(input);
      input.focus();
    };
    box.append(label, select);
  });
}

// The evaluation at the cursor; `again` if the view before was of the same game, whose value stays until the new one is known.
export function bar(view, flipped, again) {
  const value = view.values[view.cursor] ?? null;
  $("bar").classList.toggle("off", !view.evaluating);
  $("bar").classList.toggle("flipped", flipped);
  if (value === null && again) return;
  $("bar-white").style.height = value === null ? "50%" : chance(value).replace("\u00a0", "");
  $("bar-text").textContent = value === null ? "" : Math.round(50 * (value + 1));
  $("bar").setAttribute("aria-label", value === null ? text("evaluation") : `${text("evaluation")}: ${playerName("white")} ${chance(value)}`);
}

export function graph(view, send) {
  const svg = $("graph");
  const { values } = view;
  const x = (place) => (values.length > 1 ? (300 * place) / (values.length - 1) : 0);
  const y = (value) => 30 - 28 * value;
  const points = values.map((value, place) => (value === null ? null : `${x(place)},${y(value)}`)).filter(Boolean);
  svg.replaceChildren(make("line", { class: "zero", x1: 0, x2: 300, y1: 30, y2: 30 }));
  if (points.length > 1) {
    const ends = values.map((value, place) => (value === null ? null : place)).filter((place) => place !== null);
    svg.append(make("polygon", { class: "area", points: `${x(ends[0])},30 ${points.join(" ")} ${x(ends.at(-1))},30` }));
    svg.append(make("polyline", { class: "curve", points: points.join(" ") }));
  }
  svg.append(make("line", { class: "now", x1: x(view.cursor), x2: x(view.cursor), y1: 0, y2: 60 }));
  const now = values[view.cursor] ?? null;
  const value = now === null ? "…" : chance(now);
  $("graph-now").textContent = text("graph_now", { n: view.cursor, player: playerName("white"), value });
  $("graph-end").textContent = values.length - 1;
  svg.setAttribute("aria-label", `${text("graph_label")}. ${$("graph-now").textContent}`);
  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect();
    send({ do: "go", place: Math.round(((event.clientX - box.left) / box.width) * (values.length - 1)) });
  };
}

// The moves, a row for the moves of White and those of Black after them. A row has the number of its first move.
export function moveList(view, send) {
  const list = $("moves");
  if (view.moves.length === 0) return list.replaceChildren(element("li", { className: "none", textContent: text("no_moves_yet") }));
  const rows = [];
  view.moves.forEach(({ text: move, player }, place) => {
    if (place === 0 || (player === "white" && view.moves[place - 1].player === "black")) {
      rows.push({ number: place + 1, white: [], black: [] });
    }
    const button = element("button", { textContent: move, ariaLabel: `${place + 1} ${move}` });
    if (place + 1 === view.cursor) button.setAttribute("aria-current", "true");
    if (place + 1 > view.cursor) button.classList.add("after");
    const mark = view.assessments?.[place]?.mark;
    if (mark) button.append(element("span", { textContent: ` ${mark}`, className: "bad" }));
    if (mark) button.ariaLabel += ` ${mark}`;
    button.onclick = () => send({ do: "go", place: place + 1 });
    rows.at(-1)[player].push(button);
  });
  list.replaceChildren(...rows.map(({ number, white, black }) => element("li", {}, element("span", { textContent: number }), element("div", {}, ...white), element("div", {}, ...black))));
  const now = list.querySelector('[aria-current="true"]');
  if (now) list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 2;
}

// The marked moves of each player; a click goes there.
export function mistakes(view, send) {
  const lines = ["white", "black"].map((player) => {
    const bad = (view.assessments ?? []).filter((one) => one.player === player && one.mark);
    const buttons = bad.map(({ place, text: move, mark }) => {
      const button = element("button", { textContent: `${place + 1} ${move} ${mark}` });
      button.onclick = () => send({ do: "go", place: place + 1 });
      return button;
    });
    return element("p", {}, `${playerName(player)}: `, ...(buttons.length ? buttons : ["–"]));
  });
  $("mistakes").replaceChildren(...lines);
}

// Turns White's value into the mover's.
const mine = (view, value) => (view.scene.to_move === "white" ? value : -value);

// The arrows for an answer of the agent.
export function ideas(view, thought) {
  if (!thought) return [];
  const all = thought.candidates.slice(0, Math.min(3, lineCount()));
  if (all.length === 0) {
    const move = view.scene.legal.find(({ text: other }) => other === thought.text);
    return move ? [{ gesture: move, rank: 0, text: "★" }] : [];
  }
  return all.map((idea, rank) => ({ gesture: idea.gesture, rank, text: `${rank + 1}: ${chance(mine(view, idea.value))}` }));
}

// How many lines the person wants to see.
export const lineCount = () => Number(localStorage.getItem("lines")) || 5;

let drawnIdeas = ""; // what the table of ideas shows, so that it is drawn anew only if that changes

// What the agent sees. Each move of a line is a button that shows the position after it.
export function ideaTable(view, thought, study) {
  const wanted = thought ? JSON.stringify([view.session, view.number, view.cursor, words.language, lineCount(), thought]) : "";
  if (wanted !== drawnIdeas) $("ideas").replaceChildren(...(thought ? [ideaRows(view, thought, study), ...ideaNote(view, thought)] : []));
  drawnIdeas = wanted;
  const { place, moves, at } = study.shown ?? {};
  for (const button of $("ideas").querySelectorAll(".move")) {
    const here = place === view.cursor && at === button.at && moves.slice(0, at).join() === button.line.slice(0, at).join();
    if (here) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

// Why a move may stand above one of a higher value.
function ideaNote(view, thought) {
  const [first, ...others] = thought.candidates.slice(0, lineCount()).map((idea) => chance(mine(view, idea.value)));
  const above = others.some((value) => Number.parseInt(value, 10) > Number.parseInt(first, 10));
  return above ? [element("p", { className: "small", textContent: text("ideas_order") })] : [];
}

function ideaRows(view, thought, study) {
  const caption = [text("hint_best", { move: thought.text }), certain(thought.proven), !view.analysing && `${text("positions")}: ${count(thought.nodes)}`].filter(Boolean).join(" · ");
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
    Object.assign(row.insertCell(), { textContent: chance(mine(view, idea.value)), className: unsure ? "unsure" : "" });
    row.insertCell().textContent = idea.visits > 0 ? count(idea.visits) : "";
    row.insertCell().append(...[certain(idea.proven), ...rest].filter(Boolean));
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
    const end = record.outcome ? result(record.outcome, game.seats) : text("unfinished");
    const day = new Date(game.at).toLocaleString(words.language, { dateStyle: "short", timeStyle: "short" });
    const about = `${white} – ${black} · ${text("moves")}: ${record.moves.length} · ${day}`;
    const button = element("button", {}, element("b", { textContent: `${text(`game_${record.game}`)} · ${end}` }), element("span", { textContent: about }));
    button.onclick = () => open(game);
    return element("li", {}, button);
  }));
}
