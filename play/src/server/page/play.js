// The page: shows the session that the server holds, and sends the player's commands.

import { Board } from "./board.js";
import { Exercise } from "./exercise.js";
import { forget, gameKey, keep, keptGames } from "./kept.js";
import { Lesson } from "./lesson.js";
import { bar, element, gameList, graph, ideaTable, ideas, moveList, paragraphs, seatsForm, strips } from "./panels.js";
import { Puzzles } from "./puzzle.js";
import { cellLabel, isRedeploy, notes, said, saidPicked, status, text, useWords, words } from "./texts.js";
import { isFirstVisit, prepareWelcome, welcome } from "./welcome.js";

const $ = (id) => document.getElementById(id);
const store = window.localStorage;
const dark = matchMedia("(prefers-color-scheme: dark)");
let session = store.getItem("session");
let waiting = new AbortController(); // ends the request for news when another session is opened
let view = null;
let left = null; // the key of the game that the one shown has replaced
let redeployed = null; // a sentence about the last move, if it brought back a piece
let wantHint = false;
let board = null;
let turned = false;
let exercise = null; // a lesson or puzzles; while it is on, the game is not shown

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
  say("");
  show(answer);
  waiting.abort();
}

const tryOpen = (opening) => open(opening).catch((error) => say(error.message));

const learn = (game) => exercise.open(new Lesson(game, language));

// Asks about the session, and shows the answer unless another session was opened meanwhile.
async function update(path, body, signal) {
  const asked = session;
  const answer = await ask(path, body, signal);
  if (asked === session) show(answer);
}

async function send(command) {
  say("");
  try {
    await update(`/api/session?${language()}`, command);
    if (command.do === "play") left = null; // the new game has begun
  } catch (error) {
    if (error.status === 404) await reopen();
    else say(error.status ? error.message : text("connection_lost"));
  }
  if (view) redraw();
}

// Opens a new session in place of one that the server no longer has.
async function reopen() {
  const gone = session;
  await open({});
  left = keptGames().find(({ key }) => key.startsWith(`${gone}-`))?.key ?? null;
  redraw();
  say(text("session_gone"));
}

// Goes on with a kept game, in a session of its kind.
async function resume(game) {
  say("");
  try {
    const { game: kind } = JSON.parse(game.record);
    if (kind !== view.game) await open({ game: kind });
    const { record, seats, place, games } = game;
    await update(`/api/session?${language()}`, { do: "restore", record, seats, place, games });
    forget(game.key); // it is kept under its new key
    if (left === game.key) left = null;
    redraw();
  } catch (error) {
    say(error.status ? error.message : text("connection_lost"));
  }
}

// Waits for new versions of the session for ever, and reconnects after failures.
async function follow() {
  for (;;) {
    waiting = new AbortController();
    try {
      await update(`/api/session?${language()}&since=${view.version}`, undefined, waiting.signal);
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

// Tells a screen reader about the game, while it is on the board.
function announce(sentence) {
  if (!exercise.on) $("said").textContent = sentence;
}

function show(next) {
  next.session = session;
  const before = view;
  const again = before !== null && gameKey(before) === gameKey(next);
  if (before?.session === session && next.version < before.version) return; // a late, older answer
  if (before && $("message").textContent === text("connection_lost")) say("");
  if (before?.trouble && !next.trouble) say("");
  if (!again || next.cursor !== before.cursor) {
    wantHint = false;
    const forward = again && next.cursor === before.cursor + 1;
    const sentence = forward ? said(before, next) : "";
    redeployed = forward && isRedeploy(next, next.scene.last) ? sentence : null;
    announce(sentence);
  }
  if (before && !again && before.moves.length > 0) {
    left = gameKey(before);
    announce(text("game_kept"));
  }
  view = next;
  keep(view);
  bar(view, isFlipped(), again);
  redraw();
  if (view.trouble) say(view.trouble);
}

function isFlipped() {
  return (view.seats[1] === "human" && view.seats[0] !== "human") !== turned;
}

// The answer of the agent at the cursor, in analysis mode or after a request for a hint.
function shownThought() {
  return (wantHint && view.hint) || (view.analysing && view.thought) || null;
}

function redraw() {
  if (exercise.on) return;
  board.flipped = isFlipped();
  board.show(view, ideas(view, shownThought()));
  $("title").textContent = text(`game_${view.game}`);
  document.title = `${text(`game_${view.game}`)} – ${status(view)}`;
  $("game").value = document.documentElement.dataset.game = view.game;
  if ($("status").textContent !== status(view)) $("status").textContent = status(view);
  const lines = [redeployed, ...notes(view)].filter(Boolean);
  $("notes").replaceChildren(...lines.map((line) => element("p", { textContent: line })));
  strips(view, board.flipped);
  seatsForm(view, send);
  graph(view, send);
  moveList(view, send);
  ideaTable(view, shownThought());
  buttons();
}

// The buttons of the moment share a row, and their texts may be cut; so each has its text as a title.
function buttons() {
  const end = view.moves.length;
  const over = Boolean(view.scene.outcome);
  document.documentElement.dataset.turn = over ? "over" : view.thinking ? "agent" : "human";
  const pass = view.human && view.scene.legal.find((move) => move.from === null && move.to === null);
  $("pass").hidden = !pass;
  $("pass").onclick = () => send({ do: "play", text: pass.text });
  $("undo").disabled = $("back").disabled = $("first").disabled = view.cursor === 0;
  $("redo").disabled = $("forward").disabled = $("last").disabled = view.cursor === end;
  $("hint").disabled = over;
  $("resume").hidden = view.cursor === end && !view.analysing;
  $("next").hidden = !(view.match?.game === 1 && over && view.cursor === end);
  $("rematch").hidden = !(over && view.cursor === end && (!view.match || view.match.over));
  $("return").hidden = !keptGames().some(({ key }) => key === left);
  $("evaluate").setAttribute("aria-pressed", view.evaluating);
  $("analyse").setAttribute("aria-pressed", view.analysing);
  $("graph-box").classList.toggle("off", !view.evaluating);
  $("agent").textContent = view.refused ? text("trained_refused", { problem: view.refused }) : view.trained ? "" : text("untrained");
}

// Start and controls.

async function loadTexts() {
  useWords(await ask(`/api/texts?${language()}`));
  document.documentElement.lang = words.language;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = text(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", text(node.dataset.label));
    if (node.tagName !== "DIALOG") node.title = text(node.dataset.label);
  }
  for (const node of document.querySelectorAll(".now button")) node.title = node.textContent;
  $("return").title = text("game_kept");
  $("board").setAttribute("aria-label", text("board_label"));
  $("language").replaceChildren(...words.languages.map(({ code, name }) => new Option(name, code)));
  $("language").value = words.language;
  $("game").replaceChildren(...words.games.map((game) => new Option(text(`game_${game}`), game)));
}

// The theme chosen here, or else that of the system.
const theme = () => store.getItem("theme") ?? (dark.matches ? "dark" : "light");

function paint() {
  document.documentElement.dataset.theme = theme();
}

// Only a choice that differs from the system is kept, so that the page otherwise follows the system.
function turnTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  if (next === (dark.matches ? "dark" : "light")) store.removeItem("theme");
  else store.setItem("theme", next);
  paint();
}

async function record() {
  const answer = await fetch("/api/record", { headers: { "X-Session": session } });
  $("record-text").value = await answer.text();
  $("record-message").textContent = "";
  $("record-box").showModal();
}

async function loadRecord() {
  try {
    await update(`/api/session?${language()}`, { do: "load", record: $("record-text").value });
    say("");
    $("record-box").close();
  } catch (error) {
    $("record-message").textContent = error.message;
  }
}

async function copyRecord() {
  $("record-text").select();
  // Browsers allow the clipboard on this machine and over HTTPS only; elsewhere the text stays selected.
  const done = await navigator.clipboard?.writeText($("record-text").value).then(() => true, () => false);
  if (done) $("record-message").textContent = text("copied");
}

function page(box, ...content) {
  $(`${box}-text`).replaceChildren(...content);
  $(`${box}-box`).showModal();
}

function listGames() {
  gameList(keptGames(), (game) => {
    $("games-box").close();
    if (game.key !== gameKey(view)) resume(game);
  });
  $("games-box").showModal();
}

// The buttons that the keys press.
const KEYS = {
  u: "undo", r: "redo", h: "hint", n: "new", v: "evaluate", a: "analyse", f: "flip", g: "games", z: "return", t: "learn", o: "puzzles", "?": "help",
  "<": "back", ">": "forward", ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last",
};

function controls() {
  const simple = { new: "new_game", undo: "undo", redo: "redo", resume: "resume", swap: "swap", next: "next_game", match: "new_match", rematch: "rematch" };
  for (const [id, what] of Object.entries(simple)) $(id).onclick = () => send({ do: what });
  $("hint").onclick = async () => {
    await send({ do: "hint" });
    wantHint = true;
    redraw();
  };
  $("evaluate").onclick = () => send({ do: "evaluate", on: !view.evaluating });
  $("analyse").onclick = () => send({ do: "analyse", on: !view.analysing });
  $("first").onclick = () => send({ do: "go", place: 0 });
  $("back").onclick = () => send({ do: "go", place: Math.max(0, view.cursor - 1) });
  $("forward").onclick = () => send({ do: "go", place: view.cursor + 1 });
  $("last").onclick = () => send({ do: "go", place: view.moves.length });
  $("flip").onclick = () => { turned = !turned; show(view); };
  $("return").onclick = () => resume(keptGames().find(({ key }) => key === left));
  $("games").onclick = listGames;
  $("game").onchange = (event) => tryOpen({ game: event.target.value, white: view.seats[0], black: view.seats[1] });
  $("theme").onclick = turnTheme;
  dark.addEventListener("change", paint);
  $("language").onchange = async (event) => {
    store.setItem("language", event.target.value);
    await loadTexts();
    say("");
    redraw();
    if (exercise.on) await exercise.load();
  };
  $("rules").onclick = () => page("rules", ...paragraphs(words.texts.rulebook[(exercise.view ?? view).game]));
  for (const id of ["learn", "rules-learn", "help-learn"]) $(id).onclick = () => learn((exercise.view ?? view).game);
  $("puzzles").onclick = () => exercise.open(new Puzzles(language));
  $("set-up").onclick = () => welcome(view);
  prepareWelcome(tryOpen, learn);
  $("help").onclick = () => page("help", ...paragraphs(text("shortcuts")));
  $("record-open").onclick = record;
  $("record-copy").onclick = copyRecord;
  $("record-load").onclick = loadRecord;
  document.addEventListener("keydown", (event) => {
    const busy = event.target.closest("input, select, textarea, dialog");
    if (busy || event.ctrlKey || event.metaKey || event.altKey) return;
    const button = Object.hasOwn(KEYS, event.key) ? $(KEYS[event.key]) : null;
    if (button && !button.disabled && button.checkVisibility()) button.click();
  });
}

async function begin() {
  paint();
  await loadTexts();
  const play = (move) => (exercise.on ? exercise.play(move) : send({ do: "play", text: move }));
  const shown = () => exercise.view ?? view;
  const label = (cell, state) => cellLabel(shown(), cell, state);
  board = new Board($("board"), play, label, (cell, targets) => { $("said").textContent = saidPicked(shown(), cell, targets); });
  exercise = new Exercise(board, (path, body) => ask(path, body), () => {
    redraw();
    $("learn").focus();
  });
  controls();
  try {
    if (!session) await open({});
    else await update(`/api/session?${language()}`);
  } catch (error) {
    if (error.status === 404 || error.status === 400) await reopen();
    else throw error;
  }
  document.documentElement.dataset.ready = "true";
  performance.mark("ready");
  if (isFirstVisit() && view.moves.length === 0 && location.hash === "") welcome(view);
  follow();
}

begin().catch((error) => say(error.message));
