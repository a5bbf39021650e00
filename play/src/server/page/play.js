// The page: shows the session that the server holds, and sends the player's commands.

import { Board, make, pieceShape } from "./board.js";

const $ = (id) => document.getElementById(id);
const store = window.localStorage;
let words = null; // the answer of /api/texts
let session = store.getItem("session");
let view = null;
let waiting = new AbortController(); // ends the request for news when another session is opened
let wantHint = false;
let board = null;
let turned = false;

// Texts.

function text(key, values = {}) {
  let found = words.texts[key] ?? key;
  for (const [name, value] of Object.entries(values)) found = found.replaceAll(`{${name}}`, value);
  return found;
}

const playerName = (player) => text(player);

function seatName(who) {
  if (who === "human") return text("human");
  return words.levels.includes(who) ? text(`level_${who}`) : who;
}

// Rules: lines, "# " before a heading, "- " before a point.
function paragraphs(source) {
  return source.trim().split("\n").map((line) => {
    const heading = line.startsWith("# ");
    const node = document.createElement(heading ? "h2" : "p");
    node.textContent = heading ? line.slice(2) : line.replace(/^- /, "• ");
    return node;
  });
}

// The server.

async function ask(path, body, signal) {
  const headers = { "X-Session": session ?? "" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const options = { headers, method: body === undefined ? "GET" : "POST", signal };
  if (body !== undefined) options.body = JSON.stringify(body);
  const answer = await fetch(path, options);
  const json = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(json.error), { status: answer.status });
  return json;
}

const language = () => `lang=${encodeURIComponent(store.getItem("language") ?? navigator.language)}`;

async function open(opening) {
  const answer = await ask(`/api/sessions?${language()}`, opening);
  session = answer.id;
  store.setItem("session", session);
  show(answer);
  waiting.abort();
}

async function send(command) {
  say("");
  try {
    const asked = session;
    const answer = await ask(`/api/session?${language()}`, command);
    if (asked === session) show(answer);
  } catch (error) {
    if (error.status === 404) await reopen();
    else say(error.status ? error.message : text("connection_lost"));
    if (board && view) board.show(view, ideas());
  }
}

async function reopen() {
  await open({});
  say(text("session_gone"));
}

// Waits for new versions of the session for ever, and reconnects after failures.
async function follow() {
  for (;;) {
    waiting = new AbortController();
    try {
      const asked = session;
      const answer = await ask(`/api/session?${language()}&since=${view.version}`, undefined, waiting.signal);
      if (asked === session) show(answer);
    } catch (error) {
      if (error.name === "AbortError") continue; // another session was opened
      if (error.status === 404) await reopen().catch(() => {});
      else say(text("connection_lost"));
      await new Promise((done) => setTimeout(done, 1500));
    }
  }
}

// Showing.

function say(message) {
  $("message").textContent = message;
}

function show(next) {
  if (view && next.version < view.version && next.id === undefined) return; // a late, older answer
  if (view && $("message").textContent === text("connection_lost")) say("");
  const elsewhere = !view || next.cursor !== view.cursor || next.game !== view.game;
  if (elsewhere) wantHint = false;
  view = next;
  const seats = view.seats;
  const blackOnly = seats[1] === "human" && seats[0] !== "human";
  board.flipped = blackOnly !== turned;
  board.show(view, ideas());
  $("title").textContent = text(`game_${view.game}`);
  document.title = `${text(`game_${view.game}`)} – ${status()}`;
  $("game").value = document.documentElement.dataset.game = view.game;
  if ($("status").textContent !== status()) $("status").textContent = status();
  $("notes").replaceChildren(...notes().map((line) => Object.assign(document.createElement("p"), { textContent: line })));
  if (view.trouble) say(view.trouble);
  strips();
  seatsForm();
  bar();
  graph();
  moveList();
  ideaTable();
  document.documentElement.dataset.turn = view.scene.outcome ? "over" : view.thinking ? "agent" : "human";
  const end = view.moves.length;
  const pass = view.human && view.scene.legal.find((move) => move.from === null && move.to === null);
  $("pass").hidden = !pass;
  $("pass").onclick = () => send({ do: "play", text: pass.text });
  $("undo").disabled = $("back").disabled = $("first").disabled = view.cursor === 0;
  $("redo").disabled = $("forward").disabled = $("last").disabled = view.cursor === end;
  $("hint").disabled = Boolean(view.scene.outcome);
  $("resume").hidden = view.cursor === end && !view.analysing;
  $("next").hidden = !(view.match && view.match.game === 1 && view.scene.outcome && view.cursor === end);
  $("evaluate").setAttribute("aria-pressed", view.evaluating);
  $("analyse").setAttribute("aria-pressed", view.analysing);
  $("graph-box").hidden = !view.evaluating;
  $("agent").textContent = view.refused ? text("trained_refused", { problem: view.refused }) : view.trained ? "" : text("untrained");
}

function status() {
  const { outcome, to_move: mover } = view.scene;
  if (!outcome) {
    return text(view.thinking ? "thinking" : "to_move", { player: playerName(mover) });
  }
  const score = outcome.score ? `, ${outcome.score[0]} : ${outcome.score[1]}` : "";
  if (outcome.truncated) return text("cut_off") + score;
  return (outcome.winner ? text("wins", { player: playerName(outcome.winner) }) : text("draw")) + score;
}

function certain(proven) {
  if (!proven) return null;
  if (!proven.winner) return text("surely_draw");
  const player = playerName(proven.winner);
  if (proven.plies === null) return text("surely_wins", { player });
  return proven.plies === 1 ? text("wins_in_one", { player }) : text("wins_in", { player, n: proven.plies });
}

function notes() {
  const lines = view.scene.notes.map((note) => text(note.key, { player: note.player ? playerName(note.player) : "", what: note.what }));
  if (view.match) {
    const [first, second] = view.match.points;
    lines.push(text(view.match.over ? "match_over" : "match_score", { game: view.match.game, first, second }));
  }
  if (view.evaluating || view.analysing) {
    if (view.known) lines.push(text("by_tables", { result: certain(view.known) }));
    else if (view.thought?.proven && !view.scene.outcome) lines.push(certain(view.thought.proven));
  }
  if (view.analysing) {
    if (view.unstudied > 0) lines.push(text("analysing", { n: view.unstudied }));
    else {
      const bad = (player) => view.assessments.filter((one) => one.player === player && one.mark).length;
      lines.push(text("analysed", { white: bad("white"), black: bad("black") }));
    }
    const judged = view.assessments.filter((one) => one.thrown !== null);
    if (judged.length) {
      const thrown = (player) => judged.filter((one) => one.player === player && one.thrown).length;
      lines.push(text("thrown", { white: thrown("white"), black: thrown("black") }));
    }
    const before = view.assessments[view.cursor - 1];
    if (before?.mark) lines.push(`${before.text} ${text("lost", { mark: before.mark, lost: percent(before.lost / 2), best: before.best })}`);
  }
  return lines;
}

const count = (number) => number.toLocaleString(words.language, { notation: "compact", maximumSignificantDigits: 3 });
const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
const chance = (value) => percent((value + 1) / 2); // White's value as a share

// Above and below the board: each player with the tallies.
function strips() {
  for (const player of ["white", "black"]) {
    const below = (player === "white") !== board.flipped;
    const strip = $(below ? "strip-bottom" : "strip-top");
    const index = player === "white" ? 0 : 1;
    const who = document.createElement("span");
    who.className = "who";
    const chip = document.createElement("span");
    chip.className = `chip ${player}`;
    who.append(chip, `${playerName(player)} · ${seatName(view.seats[index])}`);
    const tallies = view.scene.tallies.map(({ key, values }) => {
      const node = document.createElement("span");
      node.className = "tally";
      const number = document.createElement("b");
      number.textContent = values[index];
      node.append(`${text(key)} `, number);
      return node;
    });
    strip.replaceChildren(who, ...tallies, ...tray(player, index));
    strip.classList.toggle("turn", !view.scene.outcome && view.scene.to_move === player);
  }
}

// The captured archers.
function tray(player, index) {
  const captured = view.scene.tallies.find(({ key }) => key.startsWith("tally_captured"));
  if (!captured || captured.values[index] === 0) return [];
  const box = document.createElement("span");
  box.className = "tray";
  for (let count = 0; count < captured.values[index]; count++) {
    box.append(make("svg", { viewBox: "-40 -40 80 80", "aria-hidden": "true" }, pieceShape(view.game, { player, strong: false })));
  }
  return [box];
}

function seatsForm() {
  const box = $("seats");
  if (box.contains(document.activeElement)) return; // the form is in use
  box.replaceChildren();
  view.seats.forEach((who, index) => {
    const player = index === 0 ? "white" : "black";
    const label = Object.assign(document.createElement("label"), { textContent: playerName(player), htmlFor: `seat-${player}` });
    const select = Object.assign(document.createElement("select"), { id: `seat-${player}` });
    const known = ["human", ...words.levels];
    for (const one of known.includes(who) ? known : [...known, who]) select.append(new Option(seatName(one), one));
    select.append(new Option(text("other_agent"), "…"));
    select.value = who;
    select.onchange = () => {
      if (select.value !== "…") {
        select.blur();
        send({ do: "seat", player, who: select.value });
        return;
      }
      const input = Object.assign(document.createElement("input"), { placeholder: "rollout:800", ariaLabel: text("agent_spec") });
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

function bar() {
  const value = view.values[view.cursor];
  $("bar").hidden = !view.evaluating;
  $("bar").classList.toggle("flipped", board.flipped);
  const unknown = value === null || value === undefined;
  const started = view.cursor === 0;
  if (unknown && !started) return; // the value before, until this one is known
  $("bar-white").style.height = unknown ? "50%" : chance(value).replace("\u00a0", "");
  $("bar-text").textContent = unknown ? "" : Math.round(50 * (value + 1));
  $("bar").setAttribute("aria-label", unknown ? text("evaluation") : `${text("evaluation")}: ${playerName("white")} ${chance(value)}`);
}

function graph() {
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
  svg.setAttribute("aria-label", text("evaluation"));
  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect();
    send({ do: "go", place: Math.round(((event.clientX - box.left) / box.width) * (values.length - 1)) });
  };
}

function moveList() {
  const list = $("moves");
  if (view.moves.length === 0) {
    list.replaceChildren(Object.assign(document.createElement("li"), { textContent: text("no_moves_yet") }));
    return;
  }
  list.replaceChildren(...view.moves.map((move, place) => {
    const button = Object.assign(document.createElement("button"), { textContent: move.text, className: move.player });
    button.dataset.number = place + 1;
    if (place + 1 === view.cursor) button.setAttribute("aria-current", "true");
    if (place + 1 > view.cursor) button.classList.add("after");
    const mark = view.assessments?.[place]?.mark;
    if (mark) button.append(Object.assign(document.createElement("span"), { textContent: ` ${mark}`, className: "bad" }));
    button.onclick = () => send({ do: "go", place: place + 1 });
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  const now = list.querySelector('[aria-current="true"]');
  if (now) list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 2;
}

// The answer of the agent at the cursor, in analysis mode or after a request for a hint.
function shownThought() {
  return (wantHint && view.hint) || (view.analysing && view.thought) || null;
}

function ideas() {
  const thought = shownThought();
  if (!thought) return [];
  const all = thought.candidates.slice(0, 3);
  if (all.length === 0) {
    const move = view.scene.legal.find(({ text: other }) => other === thought.text);
    return move ? [{ gesture: move, rank: 0, text: "★" }] : [];
  }
  return all.map((idea, rank) => ({ gesture: idea.gesture, rank, text: `${rank + 1}: ${chance(mine(idea.value))}` }));
}

// Turns White's value into the mover's.
const mine = (value) => (view.scene.to_move === "white" ? value : -value);

function ideaTable() {
  const thought = shownThought();
  const box = $("ideas");
  if (!thought) return box.replaceChildren();
  const table = document.createElement("table");
  const caption = document.createElement("caption");
  caption.textContent = [text("hint_best", { move: thought.text }), certain(thought.proven), `${count(thought.nodes)} ${text("positions")} · ${thought.millis}\u00a0ms`].filter(Boolean).join(" · ");
  table.append(caption);
  for (const idea of thought.candidates.slice(0, 5)) {
    const row = table.insertRow();
    for (const cell of [idea.text, chance(mine(idea.value)), idea.visits > 0 ? count(idea.visits) : "", certain(idea.proven) ?? idea.line.slice(1, 5).join(" ").replaceAll("-", "\u2011")]) row.insertCell().textContent = cell;
  }
  box.replaceChildren(table);
}

function cellLabel(cell, state) {
  const { name } = view.layout.cells[cell];
  const piece = view.scene.pieces.find((one) => one.cell === cell);
  const kind = piece && text(`${piece.strong ? "strong" : "piece"}_${view.game}`);
  const parts = [piece ? text("piece_on", { cell: name, player: playerName(piece.player), piece: kind }) : text("empty_cell", { cell: name })];
  if (state.target) parts.push(text("target"));
  else if (state.source) parts.push(text("may_go"));
  if (state.last) parts.push(text("last_move"));
  return parts.join(", ");
}

// Start and controls.

async function loadTexts() {
  words = await ask(`/api/texts?${language()}`);
  document.documentElement.lang = words.language;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = text(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", text(node.dataset.label));
    node.title = text(node.dataset.label);
  }
  $("board").setAttribute("aria-label", text("board_label"));
  $("language").replaceChildren(...words.languages.map(({ code, name }) => new Option(name, code)));
  $("language").value = words.language;
  $("game").replaceChildren(...words.games.map((game) => new Option(text(`game_${game}`), game)));
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  store.setItem("theme", name);
}

async function record() {
  const answer = await fetch("/api/record", { headers: { "X-Session": session } });
  $("record-text").value = await answer.text();
  $("record-message").textContent = "";
  $("record-box").showModal();
}

function controls() {
  const simple = { undo: "undo", redo: "redo", resume: "resume", swap: "swap", next: "next_game", match: "new_match" };
  for (const [id, what] of Object.entries(simple)) $(id).onclick = () => send({ do: what });
  $("new").onclick = () => send({ do: "new_game" });
  $("hint").onclick = async () => {
    await send({ do: "hint" });
    wantHint = true;
    show(view);
  };
  $("evaluate").onclick = () => send({ do: "evaluate", on: !view.evaluating });
  $("analyse").onclick = () => send({ do: "analyse", on: !view.analysing });
  $("first").onclick = () => send({ do: "go", place: 0 });
  $("back").onclick = () => send({ do: "go", place: Math.max(0, view.cursor - 1) });
  $("forward").onclick = () => send({ do: "go", place: view.cursor + 1 });
  $("last").onclick = () => send({ do: "go", place: view.moves.length });
  $("flip").onclick = () => { turned = !turned; show(view); };
  $("game").onchange = (event) => open({ game: event.target.value, white: view.seats[0], black: view.seats[1] }).catch((error) => say(error.message));
  $("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  $("language").onchange = async (event) => {
    store.setItem("language", event.target.value);
    await loadTexts();
    show(view);
  };
  $("rules").onclick = () => {
    $("rules-text").replaceChildren(...paragraphs(words.texts.rulebook[view.game]));
    $("rules-box").showModal();
  };
  $("record-open").onclick = record;
  $("record-copy").onclick = async () => {
    $("record-text").select();
    // Browsers allow the clipboard on this machine and over HTTPS only; elsewhere the text stays selected.
    const done = await navigator.clipboard?.writeText($("record-text").value).then(() => true, () => false);
    if (done) $("record-message").textContent = text("copied");
  };
  $("record-load").onclick = async () => {
    try {
      show(await ask(`/api/session?${language()}`, { do: "load", record: $("record-text").value }));
      $("record-box").close();
    } catch (error) {
      $("record-message").textContent = error.message;
    }
  };
  document.addEventListener("keydown", (event) => {
    const busy = event.target.closest("input, select, textarea, dialog, [data-cell]");
    if (busy || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = { u: "undo", r: "redo", h: "hint", n: "new", v: "evaluate", ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };
    if (keys[event.key] && !$(keys[event.key]).disabled) $(keys[event.key]).click();
  });
}

async function begin() {
  theme(store.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  await loadTexts();
  board = new Board($("board"), (move) => send({ do: "play", text: move }), cellLabel);
  controls();
  try {
    if (!session) await open({});
    else show(await ask(`/api/session?${language()}`));
  } catch (error) {
    if (error.status === 404 || error.status === 400) await open({});
    else throw error;
  }
  document.documentElement.dataset.ready = "true";
  performance.mark("ready");
  follow();
}

begin().catch((error) => say(error.message));
