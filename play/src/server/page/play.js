// The page: shows the session that the server holds, and sends the player's commands.

import { invitation, invitationTo, isOfRecord, linkTo, readLink, writeAddress } from "./address.js";
import { Board, falls } from "./board.js";
import { Clocks } from "./clock.js";
import { countCard, Deck, dueCards } from "./deck.js";
import { Drill, Judge } from "./drill.js";
import { Editor } from "./editor.js";
import { Exercise } from "./exercise.js";
import { Explorer } from "./explorer.js";
import { Friend, keepSeat, ownSeat, secretFor } from "./friend.js";
import { forget, gameKey, indexOf, isKept, keep, keptGames, sessionOf } from "./kept.js";
import { Lesson } from "./lesson.js";
import { prepareLook } from "./look.js";
import { bar, cards, element, gameList, graph, ideaTable, ideas, lineCount, mistakes, moveList, paragraphs, remarks, seatDialog } from "./panels.js";
import { drawRest, withBoard } from "./plain.js";
import { Puzzles } from "./puzzle.js";
import { Report } from "./report.js";
import { onAgent, request } from "./server.js";
import { Share } from "./share.js";
import { prepareSound, sound } from "./sound.js";
import { handedOver, store } from "./store.js";
import { Study } from "./study.js";
import { Tabs } from "./tabs.js";
import { analysed, cellLabel, chance, isRedeploy, lookedBack, notes, personOf, playerName, rulesOf, said, saidPicked, searched, seatName, status, text, useWords, words } from "./texts.js";
import { isFirstVisit, prepareWelcome, welcome } from "./welcome.js";

const $ = (id) => document.getElementById(id);
const PACE = 700; // milliseconds from a move of two agents to the next one
const storedSession = () => /^[0-9a-f.]{32,65}$/.exec(store.getItem("session"))?.[0] ?? null;
let session = storedSession();
let waiting = new AbortController(); // ends the request for news when another session is opened
let view = null;
let left = null; // the key of the game that the one shown has replaced
let linked = null; // the key of the game that a link has opened
let paused = false; // two agents wait
let paced = ""; // the position in which one of two agents is to move soon
let redeployed = null; // a sentence about the last move, if it brought back a piece
let wantHint = false;
let board = null;
const clocks = new Clocks();
let turned = false;
let exercise = null; // a lesson or puzzles; while it is on, the game is not shown
let travelling = null; // through the history: the address that the person has gone to; null while they stay
let written = null; // the address as it was written last; another one is about to be followed
let study, report, explorer, friend, deck, tabs; // what is seen beside the game, what it was like, openings, the game of two, own mistakes, and other tabs
const spoken = { game: "", thought: "", found: "", picked: "" }; // for screen readers

// The server.

// The text of an answer; one that says what is wrong is thrown, with its status.
async function askText(path, body, signal, of = session) {
  const { status, text: answer } = await request(path, of, body && JSON.stringify(body), signal);
  if (status >= 400) throw Object.assign(new Error(JSON.parse(answer).error), { status });
  return answer;
}

const ask = async (...question) => JSON.parse(await askText(...question));

const language = () => `lang=${encodeURIComponent(store.getItem("language") ?? navigator.language)}`;

// Opens a session, in which two agents wait for this page before each move.
const begun = (opening) => ask(`/api/sessions?${language()}`, { ...opening, stepwise: true });

async function open(opening) {
  take(await begun(opening));
}

// Goes over to another session, whose view has come.
function take(answer) {
  session = answer.id;
  store.setItem("session", session);
  if (answer.duel?.you) keepSeat(session.split(".")[0], session);
  say("");
  show(answer);
  waiting.abort();
  if (view.evaluating && !view.duel && store.getItem("evaluate") === "off") send({ do: "evaluate", on: false });
}

// Whether the person chooses to stay in a running game with a clock, which would continue for the other person.
const stays = () => Boolean(view?.duel?.you && view.duel.clock && !view.duel.over && !confirm(text("leave_duel")));

// Opens a session in place of the game shown; returns whether it did.
async function leaveFor(opening) {
  if (stays()) return false;
  await open(opening);
  return true;
}

const tryOpen = (opening) => leaveFor(opening).catch((error) => complain(error));

// Puts a lesson or puzzles on the board. The way back leads to the game.
async function train(task, hash) {
  const inPlace = exercise.on && history.state?.exercise;
  if (inPlace || location.hash !== hash) writeAddress(!inPlace, { exercise: true }, hash);
  await exercise.open(task);
}

const learn = (game) => train(new Lesson(game, language), `#learn=${game}`);
const solve = (game, from) => train(new Puzzles(game, { ...practice(), from }), from ? location.hash : `#puzzles=${game}`);
const drill = (cards) => train(new Drill(cards, practice()), "#deck");

// What exercises need; one session judges all their moves.
function practice() {
  let judge = null;
  return { judge: () => (judge ??= new Judge((of, path, body) => ask(path, body, undefined, of), language)), language, count: countCard };
}

// A page in another folder, which has a page of its own to play, leads back to this one.
const watch = (game) => { location.href = `${words.watch}#game=${game}${words.watch.includes("/") ? "&back=.." : ""}`; };

// Begins with the cards that are due. Without any the game stays, and its address; on the way through the history, nothing
// else is shown.
function practise() {
  if (dueCards().length) return drill(dueCards());
  const known = history.state?.exercise;
  if (exercise.on) exercise.leave();
  written = location.href;
  note(false);
  if (!known) deck.open();
}

// The game whose puzzles are shown in a game: its own, or else those of the first game that has some.
const puzzled = (game) => (words.puzzles.includes(game) ? game : words.puzzles[0]);

// What opens the lesson or the puzzles that an address names; null if it names none that there are.
function taskOf(hash) {
  if (hash === "#deck") return practise;
  const [, task, named, from] = /^#(learn|puzzles)(?:=(\w+))?(?:&from=(\S+))?$/.exec(hash) ?? [];
  const game = named ?? (task === "puzzles" ? words.puzzles[0] : undefined);
  if (task === "learn" && words.games.includes(game)) return () => learn(game);
  if (task === "puzzles" && words.puzzles.includes(game)) return () => solve(game, from && decodeURI(from).replaceAll("_", " "));
  return null;
}

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

// Shows what the address of the page names: the game of its entry in the history, or else that of the address itself.
// Returns whether there was something.
async function arrive() {
  const { hash } = location;
  const { session: known, key } = history.state ?? {};
  const isThere = () => view && (key === undefined || key === gameKey(view));
  if (known && known === (view && session) && isThere()) return true;
  if (known && known !== (view && session) && await enter(known) && isThere()) return true;
  const kept = keptGames().find((game) => game.key === key);
  if (kept) return resume(kept).then(() => true);
  const name = invitation(hash);
  if (name) return join(name).then(() => true);
  if (!hash || taskOf(hash)) return false;
  try {
    const link = readLink(hash);
    if (link === null) throw new Error(hash);
    await followLink(link);
  } catch (error) {
    const reason = error.status ? error.message : text("link_unreadable", { part: error.message });
    throw Object.assign(error, { told: text("link_wrong", { reason }) });
  }
  return true;
}

// Opens the game of a link: one that this browser has kept, with its players; or else with people on both sides. A link
// without moves or position is a new game against the usual opponent.
async function followLink({ record, place }) {
  const { game, position, max_plies: limit, moves } = JSON.parse(record);
  const [white, black] = history.state?.seats ?? []; // before the first move, the address does not name them
  if (!position && limit === undefined && !moves.length && words.games.includes(game)) return open({ game, white, black });
  const kept = keptGames().find((one) => !one.live && isOfRecord(one.record, record, words.plies));
  const shown = place ?? moves.length;
  if (kept && await enter(sessionOf(kept)) && gameKey(view) === kept.key) return showIndex(shown);
  if (kept) return resume({ ...kept, place: shown });
  await open({ record, place });
  linked = gameKey(view);
  redraw();
}

// Shows the position with an index in the text of the record.
async function showIndex(place) {
  const node = place === 0 ? view.line[0] : view.tree[place - 1]?.node;
  if (node !== undefined && place !== indexOf(view)) await update(`/api/session?${language()}`, { do: "show", node });
}

// Writes the game shown into the address of the page; another game than before is a step in the history.
function note(another) {
  const expected = travelling ?? written;
  if (exercise.on || (expected !== null && expected !== location.href)) return;
  const address = view.duel ? invitationTo(session) : linkTo(JSON.parse(view.record), indexOf(view), words.plies);
  const entry = { session, key: gameKey(view), seats: view.duel ? null : view.seats };
  const known = JSON.stringify(history.state) === JSON.stringify(entry) && address === location.href;
  if (!known) writeAddress(another && travelling === null, entry, address);
  written = location.href;
  if (travelling !== null) travelling = location.href;
}

// Shows what the address names that the person has gone to, unless they have gone on meanwhile.
async function travel(address) {
  if (address !== location.href) return;
  const task = taskOf(location.hash);
  if (task) {
    task(); // it can be left before it is shown, so the next journey does not wait for it
    return;
  }
  travelling = address;
  try {
    if (exercise.on) exercise.leave();
    await arrive().catch(complain);
    note(false); // an address that shows no game is not kept
  } finally {
    travelling = null;
  }
}

async function join(name) {
  const own = ownSeat(name);
  if (own && await enter(own)) return;
  const before = session;
  const secret = secretFor(name);
  session = name;
  try {
    take(await insist(() => ask(`/api/join?${language()}`, { secret })));
    if (!view.duel.you) keepSeat(name, null); // the seat was taken
  } catch (error) {
    session = before;
    throw error.status === 404 ? Object.assign(error, { told: text("invitation_gone") }) : error;
  }
}

// Asks again where no answer comes, for a question that may be asked twice.
async function insist(question, times = 3) {
  try {
    return await question();
  } catch (error) {
    if (error.status) throw error;
    if (times === 1) throw Object.assign(error, { told: text("connection_lost") });
  }
  await new Promise((done) => setTimeout(done, 1000));
  return insist(question, times - 1);
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
  if (["go", "show"].includes(command.do) && study.retry) return study.endRetry();
  if (["go", "show"].includes(command.do) && study.shown) study.leave();
  try {
    await update(`/api/session?${language()}`, command);
    if (command.do === "play") left = null; // the new game has begun
  } catch (error) {
    if (error.status === 404) await reopen().catch(complain);
    else complain(error);
  }
  if (view) redraw();
}

// Two requests may find out at once that the session is gone.
let reopening = null;
const reopen = () => (reopening ??= goOn().finally(() => { reopening = null; }));

// Continues the same game in a new session after the server has closed the old one, or in the session that another tab
// has opened for it.
async function goOn() {
  const gone = keptGames().find(({ key }) => (view ? key === gameKey(view) : key.startsWith(`${session}-`)));
  const { analysing } = view ?? {};
  const other = storedSession();
  travelling = location.href; // it is no other game
  try {
    if (gone && !gone.live) await resume(gone, true);
    else if (!gone && other && other !== session && await enter(other)) return;
    else await open(view && !view.duel ? { game: view.game, ...players() } : {});
    if (analysing && gone) await update(`/api/session?${language()}`, { do: "analyse", on: true });
  } finally {
    travelling = null;
  }
  left = gone?.live ? gone.key : null;
  redraw();
  if (gone?.live) say(text("session_gone"));
}

// Goes on with a kept game, in a session of its kind.
async function resume(game, anew = false) {
  say("");
  try {
    const { game: kind } = JSON.parse(game.record);
    if (game.live && await enter(game.live) && gameKey(view) === game.key) return;
    const { record, seats, place, match, values = [] } = game;
    // In a session of its own, if the one shown is gone or of another kind.
    const usable = !anew && view && kind === view.game && !view.duel && game.key.startsWith(`${session}-`);
    const id = usable ? session : (await begun({ game: kind })).id;
    const answer = await ask(`/api/session?${language()}`, { do: "restore", record, seats, place, match, values }, undefined, id);
    if (usable) show(answer);
    else take({ ...answer, id });
    const gone = seats.find((who, index) => who !== "friend" && who !== view.seats[index]);
    if (gone) say(text("agent_gone", { agent: seatName(gone) }));
    else forget(game.key); // it is kept under its new key
    if (left === game.key) left = null;
    redraw();
  } catch (error) {
    if (!view) throw error;
    complain(error);
  }
}

// Waits for new versions of the session forever, and reconnects after failures.
async function follow() {
  for (;;) {
    waiting = new AbortController();
    try {
      await update(`/api/session?${language()}&since=${view.version}`, undefined, waiting.signal);
    } catch (error) {
      if (error.name === "AbortError") continue; // another session was opened
      if (error.status === 404) await reopen().catch(complain);
      else say(text("connection_lost"));
      await new Promise((done) => setTimeout(done, 1500));
    }
  }
}

// Showing.

function say(message) {
  $("message").textContent = message;
}

// Says why something has failed: in the words of the server, if it has answered.
function complain(error) {
  say(error?.told ?? (error?.status ? error.message : text("connection_lost")));
}

// Tells a screen reader about the game, while it is on the board: what happened, what the agent thinks, what the analysis
// has found; or, while a piece is picked, where it may go.
function announce(news) {
  Object.assign(spoken, news);
  const sentences = spoken.picked || [spoken.game, spoken.thought, spoken.found].filter(Boolean).join(" ");
  if ((spoken.picked || !exercise.on) && $("said").textContent !== sentences) $("said").textContent = sentences;
}

function show(answer) {
  const next = withBoard({ ...answer, session });
  const before = view;
  const again = before !== null && gameKey(before) === gameKey(next);
  if (before?.session === session && next.version < before.version) return; // a late, older answer
  if ($("message").textContent === text("connection_lost")) say("");
  if (before?.trouble && !next.trouble) say("");
  if (!again || next.line[next.cursor] !== before.line[before.cursor]) {
    wantHint = false;
    const forward = again && next.line[next.cursor - 1] === before.line[before.cursor];
    const sentence = forward ? said(before, next) : again ? lookedBack(next, next.cursor) : "";
    if (forward) sound(next.scene);
    redeployed = forward && isRedeploy(next, next.scene.last) ? sentence : null;
    announce({ game: sentence, thought: "", found: "" });
  }
  if (before && !again && isKept(before)) {
    left = gameKey(before);
    announce({ game: text("game_kept") });
  }
  if (left === gameKey(next)) left = null;
  if (!again || next.seats.includes("human")) paused = false;
  if (next.removed && !before?.removed) announce({ game: text("removed", { n: next.removed }) });
  if (again && next.analysing && next.unstudied !== before.unstudied) {
    if (!before.analysing) announce({ found: text("analysing", { n: next.unstudied }) });
    else if (next.unstudied === 0) announce({ found: analysed(next) });
  }
  study.check(next);
  view = next;
  note(before !== null && !again);
  tabs.enter(session);
  keep(view);
  bar(view, isFlipped(), again);
  redraw();
  if (view.trouble) say(view.trouble);
}

function isFlipped() {
  return !falls(view.layout) && (view.seats[1] === "human" && view.seats[0] !== "human") !== turned;
}

// The answer of the agent at the cursor, in analysis mode or after a request for a hint.
function shownThought() {
  return (wantHint && view.hint) || (view.analysing && view.thought) || null;
}

function redraw() {
  if (exercise.on) {
    // The clocks of a game of two keep running.
    clocks.show(view, exercise.flipped);
    return;
  }
  const focused = document.activeElement;
  const seen = study.seen(view);
  const sentence = study.status() ?? status({ ...seen, thinking: seen.thinking && !paused });
  board.flipped = isFlipped();
  if (seen.layout.cells.length) board.show(seen, study.shown || study.retry ? [] : ideas(view, shownThought()));
  drawRest(seen, play);
  $("title").textContent = text(`game_${view.game}`);
  document.title = `${text(`game_${view.game}`)} – ${sentence}`;
  $("game").value = document.documentElement.dataset.game = view.game;
  if ($("status").textContent !== sentence) $("status").textContent = sentence;
  const alone = linked === gameKey(view) && view.seats.every((who) => who === "human");
  const lines = [tabs.others.size ? text("two_tabs") : null, study.shown ? null : redeployed, ...notes(seen), alone ? text("both_sides") : null].filter(Boolean);
  $("notes").replaceChildren(...lines.map((line) => element("p", { textContent: line })));
  cards(seen, board.flipped, view.duel ? null : (player) => seatDialog(view, player, send));
  clocks.show(view, board.flipped);
  graph(study.retry ? seen : view, send);
  mistakes(study.retry ? { ...view, assessments: null } : view, send);
  remarks(study.shown || study.retry || view.duel ? { ...view, analysing: false } : view, send);
  const thought = study.retry ? null : shownThought();
  ideaTable(view, thought, study);
  explorer.show(seen, !view.analysing || Boolean(view.duel) || study.retry !== null);
  const mover = view.scene.to_move === "white" ? 1 : -1;
  $("searched").textContent = searched(view);
  const best = thought ? `${text("hint_best", { move: thought.text })}, ${chance(mover * thought.value)}.` : "";
  announce({ thought: best, ...(board.picked === null && { picked: "" }) });
  report.show(view, study.retry !== null);
  friend.show(view);
  buttons();
  study.buttons(view);
  moveList(study.listed(view), send); // scrolls, so it comes after what takes room from it
  if (focused?.closest("[hidden]")) $("board").focus({ preventScroll: true }); // a button that hides when it is pressed
  pace();
}

// Whether two agents play each other, and one of them is to move.
const isWatched = () => view.thinking && !view.seats.includes("human");

// Asks for the next move of two agents, after a time in which people can follow.
function pace() {
  const here = `${gameKey(view)}-${view.line[view.cursor]}`;
  if (!isWatched() || here === paced) return;
  paced = here;
  setTimeout(async () => {
    const node = view.line[view.cursor];
    const goes = isWatched() && !paused && !study.shown && !study.retry && !exercise.on && here === `${gameKey(view)}-${node}`;
    if (!goes || await update(`/api/session?${language()}`, { do: "advance", node }).catch(() => true)) paced = "";
  }, PACE);
}

// The buttons of the moment share a row, and their texts may be cut; so each has its text as a title.
function buttons() {
  const end = view.moves.length;
  const over = Boolean(view.scene.outcome);
  document.documentElement.dataset.turn = over ? "over" : view.thinking ? "agent" : "human";
  document.documentElement.dataset.result = over ? ending(view) : "";
  if (over || study.shown || study.retry) delete document.documentElement.dataset.mover;
  else document.documentElement.dataset.mover = view.scene.to_move;
  document.documentElement.toggleAttribute("data-analysing", view.analysing && !view.duel);
  const seen = study.seen(view);
  const pass = seen.human && seen.drawing === null && seen.scene.legal.find((move) => move.from === null && move.to === null);
  $("pass").hidden = !pass;
  $("pass").onclick = () => play(pass.text);
  $("undo").disabled = $("back").disabled = $("first").disabled = view.cursor === 0;
  $("redo").disabled = $("forward").disabled = $("last").disabled = view.cursor === end;
  $("hint").disabled = over || (view.thinking && !isWatched());
  $("flip").disabled = falls(view.layout);
  $("resume").hidden = view.live || over;
  $("pause").hidden = !isWatched();
  $("pause").textContent = $("pause").title = text(paused ? "go_on" : "pause");
  $("next").hidden = !(view.match?.game === 1 && over && view.live);
  $("rematch").hidden = !(over && view.live && (!view.match || view.match.over));
  $("return").hidden = !keptGames().some(({ key }) => key === left);
  $("removed").hidden = !view.removed || Boolean(view.duel);
  $("removed").firstElementChild.textContent = text("removed", { n: view.removed });
  $("evaluate").setAttribute("aria-pressed", view.evaluating);
  $("deepen").setAttribute("aria-pressed", view.deepening);
  $("analyse").setAttribute("aria-selected", view.analysing && !report.on);
  $("moves-tab").setAttribute("aria-selected", !view.analysing);
  $("mistakes").hidden = $("lines-box").hidden = study.retry !== null;
  const hidden = !view.evaluating || study.retry !== null;
  $("graph-box").hidden = hidden;
  $("bar").classList.toggle("off", hidden);
  const other = puzzled(view.game);
  $("puzzles").hidden = other === undefined;
  $("puzzles").textContent = view.game === other ? text("puzzles") : `${text("puzzles")} (${text(`game_${other}`)})`;
  // A game of two has neither help nor other players.
  document.documentElement.toggleAttribute("data-duel", Boolean(view.duel));
  for (const id of ["swap", "match", "evaluate", "analyse", "undo", "redo", "hint"]) $(id).hidden = Boolean(view.duel);
  if (view.duel) for (const id of ["resume", "next", "rematch"]) $(id).hidden = true;
  $("agent").textContent = view.refused ? text("trained_refused", { problem: view.refused }) : view.trained || !view.evaluates ? "" : text("untrained");
  for (const id of ["learn", "rules-learn", "help-learn"]) $(id).hidden = !words.lessons.includes(view.game);
  $("rules").hidden = rulesOf(view.game) === undefined;
}

// How the game ended for the only person: won, lost, or draw; empty if there is no such person.
function ending({ seats, scene: { outcome } }) {
  const person = personOf(seats);
  if (!person) return "";
  return outcome.winner ? (outcome.winner === person ? "won" : "lost") : "draw";
}

// Start and controls.

async function loadTexts() {
  useWords(await ask(`/api/texts?${language()}`));
  document.documentElement.lang = words.language;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = text(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", text(node.dataset.label));
    if (!["DIALOG", "DIV", "OL"].includes(node.tagName)) node.title = text(node.dataset.label);
  }
  for (const node of document.querySelectorAll(".now button")) node.title = node.textContent;
  $("return").title = text("game_kept");
  $("board").setAttribute("aria-label", text("board_label"));
  $("language").replaceChildren(...words.languages.map(({ code, name }) => new Option(name, code)));
  $("language").value = words.language;
  $("invite").hidden = !words.friends;
  $("watch").hidden = !words.watch;
  $("game").replaceChildren(...words.games.map((game) => new Option(text(`game_${game}`), game)));
}

// What the page offers to share.js, editor.js, explorer.js, friend.js, study.js and report.js.
const pageParts = {
  ask, open: leaveFor, send, play, playOn, say, language,
  view: () => view,
  seen: () => study.seen(view),
  redraw: () => redraw(),
  here: (path) => study.here(path),
  drill: (cards) => drill(cards),
  fetchText: (path) => askText(path),
  // Returns whether the game was loaded.
  async load(record, place) {
    if (stays()) return false;
    if (view.duel) await open({ record });
    else await update(`/api/session?${language()}`, { do: "load", record });
    if (place !== undefined) await showIndex(place);
    say("");
    return true;
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
  else if (study.shown || study.retry) study.play(move);
  else if (view.asks) playOn({ do: "play", text: move });
  else send({ do: "play", text: move });
}

// Sends a command that makes a game go on elsewhere, once the person has said so. An analysis only has one variation more.
function playOn(command) {
  if (view.analysing) return send(command);
  const close = (more) => async () => {
    $("ask-box").close();
    for (const one of more) await send(one);
  };
  $("ask-play").onclick = close([command]);
  $("ask-analyse").onclick = close([{ do: "analyse", on: true }, command]);
  $("ask-box").showModal();
}

// Goes where the buttons for earlier and later positions lead.
function step(by, place) {
  if (!study.step(by)) send({ do: "go", place });
}

let turnedWheel = 0; // how far since the last step, in pixels

// The wheel goes through the game while the pointer is over the board; elsewhere, and at the ends, it scrolls the page.
function turnWheel(event) {
  if (exercise.on || event.ctrlKey || event.deltaY === 0) return;
  const button = $(event.deltaY < 0 ? "back" : "forward");
  if (button.disabled) return;
  event.preventDefault();
  if (document.activeElement === $("comment")) $("comment").blur(); // saves it
  if (Math.sign(turnedWheel) !== Math.sign(event.deltaY)) turnedWheel = 0;
  turnedWheel += event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : 50 * event.deltaY;
  if (Math.abs(turnedWheel) < 50) return;
  turnedWheel = 0;
  button.click();
}

function page(box, ...content) {
  $(`${box}-text`).replaceChildren(...content);
  $(`${box}-box`).showModal();
  $(`${box}-box`).scrollTop = 0; // the button at the end has the focus
}

function listGames() {
  gameList(keptGames(), (game) => {
    $("games-box").close();
    if (game.key !== gameKey(view) && !stays()) resume(game);
  });
  $("games-box").showModal();
}

// The buttons that the keys press.
const KEYS = {
  u: "undo", r: "redo", h: "hint", n: "new", v: "evaluate", a: "analyse", f: "flip", g: "games", z: "return", l: "learn", o: "puzzles", m: "deck", "?": "help",
  t: "retry", s: "record-open", "<": "back", ">": "forward", ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last",
};

function controls() {
  const simple = { new: "new_game", undo: "undo", redo: "redo", resume: "resume", swap: "swap", next: "next_game", match: "new_match", rematch: "rematch" };
  for (const [id, what] of Object.entries(simple)) $(id).onclick = () => send({ do: what });
  $("new").onclick = () => (view.duel ? tryOpen({ game: view.game }) : send({ do: "new_game" }));
  $("unremove").onclick = () => send({ do: "unremove" });
  $("pause").onclick = () => {
    paused = !paused;
    redraw();
  };
  $("hint").onclick = async () => {
    await send({ do: "hint" });
    wantHint = true;
    redraw();
  };
  $("evaluate").onclick = () => {
    store.setItem("evaluate", view.evaluating ? "off" : "on"); // for later sessions
    send({ do: "evaluate", on: !view.evaluating });
  };
  $("analyse").onclick = () => {
    report.on = false;
    send({ do: "analyse", on: true });
  };
  $("deepen").onclick = () => send({ do: "deepen", on: !view.deepening });
  $("moves-tab").onclick = () => send({ do: "analyse", on: false });
  $("lines").replaceChildren(...Array.from({ length: 8 }, (_, index) => new Option(index + 1, index + 1)));
  $("lines").value = lineCount();
  $("lines").onchange = (event) => { store.setItem("lines", event.target.value); redraw(); };
  $("menu").onclick = (event) => event.target.closest("button") && $("menu").hidePopover();
  $("first").onclick = () => send({ do: "go", place: 0 });
  $("back").onclick = () => step(-1, Math.max(0, view.cursor - 1));
  $("forward").onclick = () => step(1, view.cursor + 1);
  $("last").onclick = () => send({ do: "go", place: view.moves.length });
  $("flip").onclick = () => { turned = !turned; show(view); };
  $("return").onclick = () => stays() || resume(keptGames().find(({ key }) => key === left));
  $("games").onclick = listGames;
  $("game").onchange = async (event) => {
    if (!await tryOpen({ game: event.target.value, ...players() })) redraw(); // and the list shows the game again
  };
  $("board").addEventListener("wheel", turnWheel, { passive: false });
  $("language").onchange = async (event) => {
    store.setItem("language", event.target.value);
    await loadTexts();
    say("");
    redraw();
    if (exercise.on) await exercise.load(exercise.over);
  };
  // A dialog that was opened from the menu cannot give the focus back to it.
  document.addEventListener("close", () => {
    if (document.activeElement === document.body) $("menu-open").focus();
  }, true);
  $("watch").onclick = () => watch(view.game);
  $("rules").onclick = () => page("rules", ...paragraphs(rulesOf((exercise.view ?? view).game)));
  for (const id of ["learn", "rules-learn", "help-learn"]) $(id).onclick = () => learn((exercise.view ?? view).game);
  $("puzzles").onclick = () => solve(puzzled((exercise.view ?? view).game));
  $("welcome-open").onclick = () => welcome(view);
  prepareWelcome({ open: tryOpen, learn, solve, watch, begin: () => view.layout.cells.length && board.focus(0) });
  $("help").onclick = () => page("help", ...paragraphs(text("shortcuts")));
  document.addEventListener("keydown", (event) => {
    const busy = event.target.closest("input, select, textarea, dialog");
    if (busy || event.ctrlKey || event.metaKey || event.altKey) return;
    if (exercise.on && event.key !== "?") return;
    const key = event.key === "a" && view.analysing ? "moves-tab" : Object.hasOwn(KEYS, event.key) && KEYS[event.key];
    if (key && !$(key).disabled && !$(key).hidden) $(key).click();
  });
}

// Shows the game of the address, or else that of the session, or a new one. Returns why the game of the address cannot be
// shown.
async function beginGame() {
  let told = "";
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
  return told;
}

async function begin() {
  prepareLook();
  prepareSound();
  await loadTexts();
  // What nothing else reports: most buttons wait for no answer. A request that was given up is no failure.
  addEventListener("unhandledrejection", ({ reason }) => reason?.name !== "AbortError" && complain(reason));
  study = new Study(pageParts);
  report = new Report(pageParts);
  explorer = new Explorer(pageParts);
  friend = new Friend(pageParts);
  new Share(pageParts);
  new Editor(pageParts);
  deck = new Deck(drill);
  const shown = () => exercise.view ?? study.seen(view);
  const label = (cell, state) => cellLabel(shown(), cell, state);
  board = new Board($("board"), play, label, (cell, targets) => announce({ picked: saidPicked(shown(), cell, targets) }), (piece) => {
    const { layout, scene, game } = shown();
    const message = text("foreign_piece", { cell: layout.cells[piece.cell].name, player: playerName(piece.player, game), mover: playerName(scene.to_move, game) });
    if (exercise.on) exercise.say(message, false);
    else say(message);
  });
  exercise = new Exercise(board, {
    ask: (path, body) => ask(path, body),
    left: () => {
      written = location.href;
      if (travelling === null && !history.state?.exercise) note(false);
      redraw();
      $("menu-open").focus();
    },
    analyse: (record) => tryOpen({ record, analyse: true }),
  });
  tabs = new Tabs(() => view && redraw());
  controls();
  onAgent((name) => send({ do: "seat", player: view.seats[0] === "human" ? "black" : "white", who: name }));
  const { hash } = location; // a new game replaces it
  const sent = hash && !history.state && !/^#game=\w+$/.test(hash); // someone has sent this address
  const learned = JSON.parse(handedOver("opponent")); // an agent that has learned in this tab: see learn.js
  while (!view) {
    try {
      const told = await beginGame();
      if (told) say(told);
    } catch (error) {
      complain(error);
      await new Promise((done) => setTimeout(done, 1500));
    }
  }
  let travels = Promise.resolve(); // one after another, because each changes the session
  addEventListener("popstate", () => {
    $("welcome-box").close(); // someone knows where to go
    const { href } = location;
    travels = travels.then(() => travel(href)).catch(complain);
  });
  taskOf(hash)?.();
  document.documentElement.dataset.ready = "true";
  performance.mark("ready");
  if (learned) tryOpen({ game: learned.game, white: "human", black: learned.name });
  else if (!sent && isFirstVisit() && view.moves.length < 2 && !view.duel) welcome(view);
  follow();
}

begin().catch((error) => say(error.message));
