// The view: an agent learns in this tab, and people watch.

import { Board, make } from "./board.js";
import { drop, kept } from "./learn_store.js";
import { chosen, text } from "./learn_words.js";
import { store } from "./store.js";
import { Trainer, ladder } from "./trainer.js";

const $ = (id) => document.getElementById(id);
const SIZES = { small: [64, 1, .01], usual: [128, 2, .003], large: [256, 2, .002] };
const GAMES = ["jarmo", "guard", "tammi", "connect_four"];
const STEP = 900; // milliseconds between the moves of a replay
const dark = matchMedia("(prefers-color-scheme: dark)");
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const plain = (number) => new Intl.NumberFormat([chosen, "en"]).format(number);
const count = (number) => plain(Math.round(number));
const percent = (share, digits = 0) => new Intl.NumberFormat([chosen, "en"], { style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits }).format(share);

let trainer = null;
let run = null; // what was kept of an earlier visit
// The game on the board: {step, layout, scenes, moves, result}. Scenes are the start, the opening, and one after each move.
let shown = null;
let place = 0; // in that game
let replaying = !calm.matches;
let picked = null; // the step of the checkpoint that the slider stays at; null for the newest one
let advised = ""; // the step of the network whose thoughts are shown
let asked = 0; // opinions that were asked for, so that an old answer is not shown
let lock = null; // lets the other tabs learn again
let busy = false; // a start, or a match, is under way

function element(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

function time(seconds) {
  const [m, s] = [Math.floor(seconds / 60), Math.floor(seconds % 60)];
  return m ? text("minutes", { m, s }) : text("seconds", { s });
}

const say = (message) => { $("trouble").textContent = message; };

// The controls.

// The number in a field, within its limits.
function number(id) {
  const { value, defaultValue, min, max } = $(id);
  return Math.min(max, Math.max(min, Number(value) || (value === "0" ? 0 : Number(defaultValue))));
}

function settings() {
  const [width, blocks] = SIZES[$("network").value];
  return { game: $("game").value, width, blocks, simulations: Math.round(number("simulations")), rate: number("rate"), workers: Math.round(number("workers")), seed: Math.round(number("seed")) };
}

// The settings to continue with an agent: those chosen, with the game and the size that its file names. The program says what
// is wrong with a file without them.
function settingsFor(agent) {
  try {
    const length = Number(new DataView(agent.buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(agent.subarray(8, 8 + length)));
    const { game, net } = JSON.parse(header.__metadata__.jarmo);
    if (GAMES.includes(game) && net.width && net.blocks) return { ...settings(), game, width: net.width, blocks: net.blocks };
  } catch {
    // Not an agent.
  }
  return settings();
}

function paint() {
  document.documentElement.dataset.theme = store.getItem("theme") ?? (dark.matches ? "dark" : "light");
}

function prepare() {
  document.documentElement.lang = chosen;
  paint();
  document.documentElement.dataset.board = store.getItem("board") ?? "wood";
  document.title = text("title");
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = text(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", text(node.dataset.label));
  $("game").replaceChildren(...GAMES.map((game) => new Option(text(`game_${game}`), game)));
  const address = new URLSearchParams(location.hash.slice(1));
  const named = address.get("game");
  if (GAMES.includes(named)) $("game").value = named;
  if (address.get("back") === "..") $("home").href = "../"; // the page of the server, which has opened this one
  $("network").replaceChildren(...Object.entries(SIZES).map(([name, [width, blocks]]) => new Option(text(name, { size: `${width} × ${blocks}` }), name)));
  $("network").value = "usual";
  $("workers").defaultValue = Math.max(1, (navigator.hardwareConcurrency ?? 2) - 1);
  const rate = () => { $("rate").value = $("rate").defaultValue = SIZES[$("network").value].at(-1); };
  const lead = () => { $("lead").textContent = text("lead", { game: text(`game_${$("game").value}`) }); };
  $("network").onchange = rate;
  $("game").onchange = lead;
  rate();
  lead();
  replay(replaying);
}

// Why this browser cannot learn; an empty text if it can.
function obstacle() {
  if (typeof WebAssembly === "undefined") return text("no_wasm");
  const simd = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);
  if (!WebAssembly.validate(simd)) return text("no_simd");
  return typeof DecompressionStream === "undefined" ? text("old") : "";
}

// Only one tab of a browser learns at a time, since they keep one run.
async function hold() {
  if (!navigator.locks) return true;
  return new Promise((done) => {
    navigator.locks.request("jarmo-learn", { ifAvailable: true }, (held) => {
      done(held !== null);
      return held && new Promise((free) => { lock = free; });
    }).catch(() => done(true)); // the browser blocks it, as it does all that tabs share
  });
}

async function begin(continues, agent = null) {
  if (busy || trainer) return;
  busy = true;
  say("");
  try {
    if (!(await hold())) return say(text("busy"));
    run = await kept().catch(() => null); // another tab may have learned since
    if (continues ? !run : run && !confirm(text("replace"))) return stop();
    const before = continues ? run : null;
    trainer = new Trainer(before?.settings ?? (agent ? settingsFor(agent) : settings()), before, agent, hear);
    $("state").textContent = text("loading");
    controls();
    await trainer.begin();
    run = null;
    document.documentElement.dataset.learning = "true";
    if (document.activeElement === document.body) $("pause").focus();
  } catch (error) {
    if (!trainer) return; // it was deleted meanwhile
    stop();
    say(agent ? text("not_an_agent", { name: agent.name ?? "", reason: error.message }) : text("failed", { reason: error.message }));
  } finally {
    busy = false;
    draw();
  }
}

function stop() {
  trainer?.end();
  trainer = picked = null;
  lock?.();
  lock = null;
  delete document.documentElement.dataset.learning;
}

// The learning has failed. What was kept of it can be continued.
async function fail(reason) {
  if (!trainer) return;
  stop();
  say(text("failed", { reason }));
  run = await kept().catch(() => null);
  draw();
}

// The newest agent: the one that learns, or the last one that was kept.
const newest = () => (trainer ? trainer.newest : run?.checkpoints.at(-1));

function controls() {
  const before = document.activeElement;
  const running = trainer?.running ?? false;
  const hidden = {
    intro: trainer || run,
    "game-box": trainer || run,
    start: trainer || run,
    pause: !running,
    go: !(run && !trainer) && !(trainer?.newest && !running),
    open: trainer,
    delete: !(run || trainer),
    download: !newest(),
    against: trainer || !newest(), // later, below the board
    settings: trainer || run,
  };
  for (const [id, is] of Object.entries(hidden)) $(id).hidden = Boolean(is);
  // Whoever pressed a button that has gone stays where they were.
  if (before?.hidden) ["pause", "go", "start"].map($).find((button) => !button.hidden)?.focus();
  for (const name of ["curves", "more"]) document.querySelector(`.${name}`).hidden = !(trainer?.newest || run);
  document.querySelector(".watch").hidden = !(trainer?.newest && shown);
}

// What the trainer tells.

function hear({ failed, unsaved, saved, game }) {
  if (failed) return fail(failed);
  if (unsaved) say(unsaved === "full" ? text("full") : text("unsaved", { reason: unsaved }));
  if (saved) {
    document.documentElement.dataset.saved = trainer.step;
    say("");
  }
  if (game && (replaying || !shown)) show(trainer.game);
  draw();
}

function draw() {
  controls();
  const source = trainer ?? run;
  if (!source) {
    $("state").textContent = $("chosen").textContent = "";
    return;
  }
  const { settings: { game, width, blocks, simulations, workers, seed } } = source;
  const named = { game: text(`game_${game}`) };
  $("chosen").textContent = [`${text("network")} ${width} × ${blocks}`, text("simulated", { simulations }), text("working", { workers }), text("seeded", { seed })].join(" · ");
  if (trainer && !trainer.newest) return;
  const state = !trainer ? text("can_continue", { ...named, step: count(run.step), time: time(run.seconds) })
    : text(!trainer.running ? "paused" : trainer.step === 0 ? "collecting" : "learning", named);
  if ($("state").textContent !== state) $("state").textContent = state;
  figures();
  curves();
  lists();
  if (trainer) slider();
}

function figures() {
  trainer?.count();
  const { seconds, step: steps, games, positions, speed } = trainer ?? run;
  const rows = [["time", time(seconds)], ["steps", count(steps)], ["games", count(games)], ["positions", count(positions)], ["speed", speed ? count(speed) : "–"]];
  $("figures").replaceChildren(...rows.map(([name, value]) => element("div", {}, element("dt", { textContent: text(name) }), element("dd", { textContent: value }))));
}

// A chart of lines: each is {name, points: [[seconds, y], …]}; y runs from `low` to `high`.
function chart(svg, lines, [low, high], marks, show) {
  const [width, height, left, right, bottom] = [svg.clientWidth || 640, svg.clientHeight || 200, 44, 12, 24];
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const last = Math.max(60, ...lines.flatMap(({ points }) => points.map(([at]) => at)));
  const x = (seconds) => left + ((width - left - right) * seconds) / last;
  const y = (value) => 8 + (height - bottom - 8) * (1 - (value - low) / (high - low));
  const parts = [];
  for (let mark = 0; mark <= marks; mark++) {
    const value = low + ((high - low) * mark) / marks;
    parts.push(make("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    parts.push(make("text", { class: "mark end", x: left - 8, y: y(value) + 4 }, show(value)));
  }
  // Whole minutes, at most six of them; the last one ends at the edge.
  const every = Math.ceil(last / 360) * 60;
  for (let at = 0; at <= last; at += every) {
    const end = x(at) > width - 40;
    parts.push(make("text", { class: `mark ${end ? "end" : at ? "mid" : ""}`, x: end ? width - right : x(at), y: height - 6 }, at ? `${at / 60} min` : "0"));
  }
  for (const { name, points } of lines) {
    if (points.length === 0) continue;
    parts.push(make("polyline", { class: name, points: points.map(([at, value]) => `${x(at)},${y(value)}`).join(" ") }));
    const [at, value] = points.at(-1);
    parts.push(make("circle", { class: `dot ${name}`, cx: x(at), cy: y(value), r: 4 }));
  }
  svg.replaceChildren(...parts);
}

function curves() {
  const { points, losses, settings: { game } } = trainer ?? run;
  const names = ["alone", "searched"];
  const line = (name) => ({ name, points: points.filter((point) => point[name] !== undefined).map((point) => [point.seconds, point[name]]) });
  const lines = names.map(line);
  const known = game !== "guard";
  $("curve").toggleAttribute("hidden", !known);
  const lowest = Math.min(...lines.flatMap((one) => one.points.map(([, share]) => share)));
  const low = lowest === Infinity ? 5 : Math.min(9, Math.floor(10 * lowest)); // tenths
  if (known) chart($("curve"), lines, [low / 10, 1], { 9: 5, 8: 4 }[low] ?? 10 - low, (share) => percent(share));
  $("curve").dataset.points = lines[1].points.length;
  const latest = (name) => { const last = lines[names.indexOf(name)].points.at(-1); return last ? percent(last[1], 1) : "–"; };
  const sign = (name) => make("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" }, make("polyline", { class: name, points: "1,6 27,6" }));
  const key = (name) => element("span", {}, sign(name), `${text(name)}: `, element("b", { textContent: latest(name) }));
  $("key").replaceChildren(...(known ? [...names].reverse().map(key) : [text("no_exam")]));
  $("curve").setAttribute("aria-label", `${text("right")}: ${names.map((name) => `${text(name)} ${latest(name)}`).join(", ")}`);
  const all = losses.map(({ seconds, total }) => [seconds, total]);
  chart($("losses"), [{ name: "total", points: all }], [0, Math.max(1, Math.ceil(Math.max(0, ...all.map(([, value]) => value))))], 2, (value) => value.toFixed(1));
  $("losses").setAttribute("aria-label", `${text("loss")}: ${all.at(-1)?.[1].toFixed(2) ?? "–"}`);
}

function lists() {
  const { settings: { game }, rungs, milestones } = trainer ?? run;
  const opponents = ladder(game).map(([name]) => name);
  const current = opponents.find((name) => !rungs[name]?.won);
  $("ladder").replaceChildren(...opponents.map((opponent) => {
    const rung = rungs[opponent];
    const state = rung?.won ? text("won", { step: count(rung.step) }) : rung?.games ? text("now", { points: plain(rung.points), games: rung.games }) : opponent === current ? text("next") : "";
    return element("li", { className: rung?.won ? "won" : opponent === current ? "current" : "" }, element("span", { textContent: text(opponent) }), element("b", { textContent: state }));
  }));
  const told = milestones.map(({ seconds, key, values }) => {
    const forms = { opponent: text, points: plain, share: percent, first: percent };
    const named = Object.entries(values).map(([name, value]) => [name, forms[name]?.(value) ?? value]);
    return element("li", {}, element("span", { textContent: time(seconds) }), text(key, Object.fromEntries(named)));
  });
  $("milestones").replaceChildren(...(told.length ? told.reverse() : [element("li", { textContent: text("none_yet") })]));
}

// The board.

const board = new Board($("board"), () => {}, (cell) => shown.layout.cells[cell].name, () => {}, () => {});

function show(game) {
  shown = game;
  document.querySelector(".watch").hidden = false; // a board is drawn at its size
  step(0);
}

function step(to) {
  if (!shown) return;
  place = Math.max(0, Math.min(shown.scenes.length - 1, to));
  $("back").disabled = place === 0;
  $("forward").disabled = place === shown.scenes.length - 1;
  redraw([]);
  advise();
}

function redraw(arrows) {
  document.documentElement.dataset.game = trainer.settings.game;
  const scene = shown.scenes[place];
  board.show({ game: trainer.settings.game, layout: shown.layout, human: false, cursor: place, scene: { ...scene, legal: [], outcome: null } }, arrows);
}

function slider() {
  const { checkpoints } = trainer;
  const last = Math.max(0, checkpoints.length - 1);
  $("time").max = last;
  // Some checkpoints are dropped with time, so the same index is another one.
  const known = checkpoints.findLastIndex(({ step: at }) => at <= picked);
  $("time").value = picked === null ? last : Math.max(0, known);
  const one = checkpoints[$("time").value];
  $("challenge").disabled = !one;
  $("match").disabled = busy || last === 0 || Number($("time").value) === last;
  if (!one) return;
  $("moment").textContent = text("moment", { step: count(one.step), time: time(one.seconds) });
  $("time").setAttribute("aria-valuetext", time(one.seconds));
  if (shown && one.step !== advised) advise();
}

// White or Black, in the colours of the game.
const side = (player) => text(trainer.settings.game === "connect_four" ? `${player}_connect_four` : player);

// Writes what happened under the board, and what the network thinks of it.
function told(thought) {
  const moves = shown.moves.length;
  const number = place - 1;
  const happened = place < 2 ? text(["at_start", "opening"][place]) : text("move", { number, moves, move: shown.moves[number - 1] });
  $("said").replaceChildren(element("span", { textContent: happened }), element("span", { textContent: thought }));
  $("board").setAttribute("aria-label", happened);
  $("opinion").setAttribute("aria-label", thought || happened);
}

// What the network of the checkpoint chosen thinks of the position shown.
async function advise() {
  const number = ++asked;
  const one = trainer?.checkpoints[$("time").value];
  const scene = shown.scenes[place];
  const last = place === shown.scenes.length - 1;
  advised = $("opinion").dataset.step = one?.step ?? "";
  $("opinion").classList.toggle("none", last || !one);
  const result = ["white", "black"].includes(shown.result) ? text("wins", { player: side(shown.result) }) : text("draw_game");
  if (last || !one) return told(last ? result : "");
  let opinion;
  try {
    opinion = await trainer.opinion(one.agent, scene.position);
  } catch {
    return; // the learning was stopped meanwhile
  }
  if (number !== asked || !trainer) return;
  const arrows = opinion.moves.filter(({ share }) => share >= .05).slice(0, 3);
  redraw(arrows.map((move, rank) => ({ gesture: move, rank, text: percent(move.share) })));
  const { win, draw: even, loss } = opinion;
  const shares = scene.to_move === "white" ? { white: win, draw: even, black: loss } : { white: loss, draw: even, black: win };
  for (const [name, share] of Object.entries(shares)) $("opinion").querySelector(`.${name}`).style.flexGrow = share;
  const written = Object.fromEntries(Object.entries(shares).map(([name, share]) => [name, percent(share)]));
  told(text("chances", { first: side("white"), second: side("black"), player: side(scene.to_move), ...written }));
}

setInterval(() => {
  if (!document.hidden && replaying && trainer && shown) {
    if (place < shown.scenes.length - 1) step(place + 1);
    else if (trainer.game && trainer.game.step !== shown.step) show(trainer.game);
  }
  if (trainer?.running) figures();
}, STEP);

function replay(on) {
  replaying = on;
  $("run").setAttribute("aria-pressed", on);
}

// What people press.

async function play({ step: learned, agent }) {
  if (!globalThis.caches) throw new Error(text("insecure"));
  const { game } = (trainer ?? run).settings;
  const name = `learned-${game}-${learned}.safetensors`;
  const cache = await caches.open("own-agents");
  for (const key of await cache.keys()) if (key.url.includes("/learned-")) await cache.delete(key);
  await cache.put(new URL(`own/${encodeURIComponent(name)}`, import.meta.url), new Response(agent)).catch(({ message }) => { throw new Error(text("unsaved", { reason: message })); });
  sessionStorage.setItem("opponent", JSON.stringify({ game, name }));
  await leave("./");
}

// Goes to another page, once what was learned is kept.
async function leave(address) {
  await trainer?.pause();
  location.href = address;
}

async function match() {
  const { checkpoints } = trainer;
  const [first, second] = [checkpoints.at(-1), checkpoints[$("time").value]];
  busy = true;
  slider();
  try {
    await trainer.match(first.agent, second.agent, (points, games) => {
      $("matched").textContent = text("matched", { first: count(first.step), second: count(second.step), points: plain(points), games });
    });
  } catch (error) {
    if (trainer) say(text("failed", { reason: error.message }));
  }
  busy = false;
  if (trainer) slider();
}

function download() {
  const { step: learned, agent } = newest();
  const { game } = (trainer ?? run).settings;
  const link = element("a", { href: URL.createObjectURL(new Blob([agent])), download: `${game}-${learned}.safetensors` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function remove() {
  if (!confirm(text("sure"))) return;
  if (!trainer && !(await hold())) return say(text("busy"));
  trainer?.end();
  await drop();
  location.reload();
}

$("start").onclick = () => begin(false);
$("go").onclick = () => (trainer ? trainer.go() : begin(true));
$("pause").onclick = () => trainer.pause();
$("open").onclick = () => $("file").click();
$("file").onchange = async () => {
  const [file] = $("file").files;
  if (file) await begin(false, Object.assign(new Uint8Array(await file.arrayBuffer()), { name: file.name }));
  $("file").value = "";
};
$("download").onclick = download;
$("delete").onclick = remove;
$("challenge").onclick = () => play(trainer.checkpoints[$("time").value]).catch((error) => say(error.message));
$("against").onclick = () => play(newest()).catch((error) => say(error.message));
$("home").onclick = (event) => {
  if (!trainer || event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab leaves this one alone
  event.preventDefault();
  leave($("home").href);
};
$("match").onclick = match;
$("back").onclick = () => { replay(false); step(place - 1); };
$("forward").onclick = () => { replay(false); step(place + 1); };
$("run").onclick = () => replay(!replaying);
addEventListener("resize", draw);
$("time").oninput = () => {
  const isNewest = $("time").value === $("time").max;
  picked = isNewest ? null : trainer.checkpoints[$("time").value].step;
  replay(false); // one position, at other times
  slider();
};
// A browser may keep a page that was left as it is, so that it can come back. Another one can learn meanwhile.
addEventListener("pagehide", () => {
  trainer?.pause();
  lock?.();
});
addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });

dark.onchange = paint;
prepare();
const why = obstacle();
if (why) {
  $("start").disabled = $("open").disabled = true;
  say(why);
} else if (navigator.hardwareConcurrency === 1) say(text("one_core"));
kept().catch(() => null).then((found) => {
  run = found;
  draw();
  document.documentElement.dataset.ready = "true";
});
