// The page: shows the session that the server holds, and sends the player's commands.

import { invitation, invitationTo, readLink } from "./address.js";
import { Board } from "./board.js";
import { Editor } from "./editor.js";
import { Exercise } from "./exercise.js";
import { Friend, keepSeat, ownSeat } from "./friend.js";
import { forget, gameKey, isKept, keep, keptGames } from "./kept.js";
import { Lesson } from "./lesson.js";
import { bar, element, gameList, graph, ideaTable, ideas, moveList, paragraphs, seatsForm, strips } from "./panels.js";
import { Puzzles } from "./puzzle.js";
import { Share } from "./share.js";
import { Study } from "./study.js";
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
let arrived = null; // the key of the game that the address of the page names
let study, friend; // what is seen beside the game, and the game of two

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
  take(await ask(`/api/sessions?${language()}`, opening));
}

// Goes over to another session, whose view has come.
function take(answer) {
  session = answer.id;
  store.setItem("session", session);
  if (answer.duel?.you) keepSeat(session);
  say("");
  show(answer);
  note();
  waiting.abort();
}

const tryOpen = (opening) => open(opening).catch((error) => say(error.message));

const learn = (game) => exercise.open(new Lesson(game, language));

// Goes over to a session that is open; false if the server no longer has it.
async function enter(key) {
  const before = session;
  session = key;
  try {
    take({ ...await ask(`/api/session?${language()}`), id: key });
    return true;
  } catch (error) {
    session = before;
    if (error.status === 404) return false;
    throw error;
  }
}

// Shows what the address of the page names. The history knows the session of each address that was here before.
// Returns whether there was something.
async function arrive() {
  const { hash } = location;
  const { session: known, key } = history.state ?? {};
  if (view && known === session && (!hash || key === gameKey(view))) return true;
  arrived = null;
  if ((hash || view) && known && known !== (view && session) && await enter(known)) return nameAddress(hash);
  const name = invitation(hash);
  if (name) return nameAddress(hash, await join(name));
  if (!hash) return false;
  try {
    const link = readLink(hash);
    if (link === null) throw new Error(hash);
    await open(link);
  } catch (error) {
    const reason = error.status ? error.message : text("link_unreadable", { part: error.message });
    throw Object.assign(error, { told: text("link_wrong", { reason }) });
  }
  return nameAddress(hash);
}

// Notes in the history what is shown at the address. A game of two always has the address of its invitation.
function note() {
  const address = view.duel ? invitationTo(session) : location.href;
  history.replaceState({ session, key: gameKey(view) }, "", address);
  if (view.duel) arrived = gameKey(view);
}

function nameAddress(hash) {
  arrived = hash ? gameKey(view) : null;
  return true;
}

async function join(name) {
  const own = ownSeat(name);
  if (own && await enter(own)) return;
  const before = session;
  session = name;
  try {
    take(await ask(`/api/join?${language()}`, {}));
  } catch (error) {
    session = before;
    throw error.status === 404 ? Object.assign(error, { told: text("invitation_gone") }) : error;
  }
}

// Asks about the session, and shows the answer unless another session was opened meanwhile.
async function update(path, body, signal) {
  const asked = session;
  const answer = await ask(path, body, signal);
  if (asked === session) show(answer);
}

async function send(command) {
  say("");
  if (command.do === "go" && view.duel) return study.goTo(command.place);
  if (command.do === "go" && study.shown) study.leave();
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
    if (game.live && await enter(game.live) && gameKey(view) === game.key) return;
    if (kind !== view.game || view.duel) await open({ game: kind });
    const { record, seats, place, match } = game;
    await update(`/api/session?${language()}`, { do: "restore", record, seats, place, match });
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
  if (before && !again && isKept(before)) {
    left = gameKey(before);
    announce(text("game_kept"));
  }
  if (location.hash && arrived && arrived !== gameKey(next) && !next.duel) {
    history.pushState({}, "", location.pathname); // the address named the game before
    arrived = null;
    queueMicrotask(note);
  }
  study.check(next);
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
  const seen = study.seen(view);
  const sentence = study.status() ?? status(seen);
  board.flipped = isFlipped();
  board.show(seen, study.shown ? [] : ideas(view, shownThought()));
  $("title").textContent = text(`game_${view.game}`);
  document.title = `${text(`game_${view.game}`)} – ${sentence}`;
  $("game").value = document.documentElement.dataset.game = view.game;
  if ($("status").textContent !== sentence) $("status").textContent = sentence;
  const lines = [study.shown ? null : redeployed, ...notes(seen)].filter(Boolean);
  $("notes").replaceChildren(...lines.map((line) => element("p", { textContent: line })));
  strips(seen, board.flipped);
  seatsForm(view, send);
  graph(study.retry ? seen : view, send);
  moveList(study.listed(view), send);
  ideaTable(view, study.retry ? null : shownThought(), study);
  friend.show(view);
  buttons();
  study.buttons(view);
}

// The buttons of the moment share a row, and their texts may be cut; so each has its text as a title.
function buttons() {
  const end = view.moves.length;
  const over = Boolean(view.scene.outcome);
  document.documentElement.dataset.turn = over ? "over" : view.thinking ? "agent" : "human";
  const seen = study.seen(view);
  const pass = seen.human && seen.scene.legal.find((move) => move.from === null && move.to === null);
  $("pass").hidden = !pass;
  $("pass").onclick = () => play(pass.text);
  $("undo").disabled = $("back").disabled = $("first").disabled = view.cursor === 0;
  $("redo").disabled = $("forward").disabled = $("last").disabled = view.cursor === end;
  $("hint").disabled = over;
  $("resume").hidden = view.cursor === end && !view.analysing;
  $("next").hidden = !(view.match?.game === 1 && over && view.cursor === end);
  $("rematch").hidden = !(over && view.cursor === end && (!view.match || view.match.over));
  $("return").hidden = !keptGames().some(({ key }) => key === left);
  $("evaluate").setAttribute("aria-pressed", view.evaluating);
  $("analyse").setAttribute("aria-pressed", view.analysing);
  const hidden = !view.evaluating || study.retry !== null;
  $("graph-box").classList.toggle("off", hidden);
  $("bar").classList.toggle("off", hidden);
  // A game of two has neither help nor other players.
  document.documentElement.toggleAttribute("data-duel", Boolean(view.duel));
  if (view.duel) {
    $("undo").disabled = $("redo").disabled = $("hint").disabled = true;
    for (const id of ["resume", "next", "rematch"]) $(id).hidden = true;
  }
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

// What the page offers to share.js, editor.js, friend.js and study.js.
const pageParts = {
  ask, open, send, say, language,
  view: () => view,
  seen: () => study.seen(view),
  redraw: () => redraw(),
  picture: () => study.picture(),
  async fetchText(path) {
    const answer = await fetch(path, { headers: { "X-Session": session } });
    return answer.text();
  },
  async load(record) {
    if (view.duel) await open({ record });
    else await update(`/api/session?${language()}`, { do: "load", record });
    say("");
  },
};

// The players for the next game; after a game of two, those that the server begins with.
function players() {
  const [white, black] = view.seats;
  return view.duel ? {} : { white, black };
}

// Plays a move in the game, or beside it.
function play(move) {
  if (exercise.on) exercise.play(move);
  else if (study.shown) study.play(move);
  else send({ do: "play", text: move });
}

// Goes where the buttons for earlier and later positions lead.
function step(by, place) {
  if (!study.step(by)) send({ do: "go", place });
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
  u: "undo", r: "redo", h: "hint", n: "new", v: "evaluate", a: "analyse", f: "flip", g: "games", z: "return", l: "learn", o: "puzzles", "?": "help",
  t: "retry", s: "record-open", "<": "back", ">": "forward", ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last",
};

function controls() {
  const simple = { new: "new_game", undo: "undo", redo: "redo", resume: "resume", swap: "swap", next: "next_game", match: "new_match", rematch: "rematch" };
  for (const [id, what] of Object.entries(simple)) $(id).onclick = () => send({ do: what });
  // The game of two goes on for the other person.
  $("new").onclick = () => (view.duel ? open({ game: view.game }).catch((error) => say(error.message)) : send({ do: "new_game" }));
  $("hint").onclick = async () => {
    await send({ do: "hint" });
    wantHint = true;
    redraw();
  };
  $("evaluate").onclick = () => send({ do: "evaluate", on: !view.evaluating });
  $("analyse").onclick = () => send({ do: "analyse", on: !view.analysing });
  $("first").onclick = () => send({ do: "go", place: 0 });
  $("back").onclick = () => step(-1, Math.max(0, view.cursor - 1));
  $("forward").onclick = () => step(1, view.cursor + 1);
  $("last").onclick = () => send({ do: "go", place: view.moves.length });
  $("flip").onclick = () => { turned = !turned; show(view); };
  $("return").onclick = () => resume(keptGames().find(({ key }) => key === left));
  $("games").onclick = listGames;
  $("game").onchange = (event) => tryOpen({ game: event.target.value, ...players() });
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
  $("welcome-open").onclick = () => welcome(view);
  prepareWelcome(tryOpen, learn);
  $("help").onclick = () => page("help", ...paragraphs(text("shortcuts")));
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
  study = new Study(pageParts);
  friend = new Friend(pageParts);
  new Share(pageParts);
  new Editor(pageParts);
  const shown = () => exercise.view ?? study.seen(view);
  const label = (cell, state) => cellLabel(shown(), cell, state);
  board = new Board($("board"), play, label, (cell, targets) => { $("said").textContent = saidPicked(shown(), cell, targets); });
  exercise = new Exercise(board, (path, body) => ask(path, body), () => {
    redraw();
    $("learn").focus();
  });
  controls();
  let told = ""; // why the game of the address cannot be shown
  const there = await arrive().catch((error) => {
    told = error.told ?? error.message;
    return false;
  });
  try {
    if (!there && !session) await open({});
    else if (!there) await update(`/api/session?${language()}`);
  } catch (error) {
    if (error.status === 404 || error.status === 400) await reopen();
    else throw error;
  }
  if (!there) note();
  if (told) say(told);
  addEventListener("popstate", () => {
    if (exercise.on) exercise.leave();
    arrive().catch((error) => say(error.told ?? error.message));
  });
  document.documentElement.dataset.ready = "true";
  performance.mark("ready");
  if (!there && isFirstVisit() && view.moves.length === 0) welcome(view);
  follow();
}

begin().catch((error) => say(error.message));
