// A report from its data. The file has board.js of the page, with the class Board, and the page's STYLE before this.

const data = JSON.parse(document.getElementById("data").textContent);
const report = document.getElementById("report");

// The rules of the page for the board alone, with the host of a shadow root in place of the root.
const SHEET = new CSSStyleSheet();
SHEET.replaceSync(`${STYLE.replace(/^:root(\[\S+\])/gm, ":host($1)").replace(/^:root/gm, ":host")}
:host { display: block; } .board { display: block; width: 100%; border-radius: 10px; print-color-adjust: exact; }`);

const DARK = matchMedia("screen and (prefers-color-scheme: dark)");

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

// A part of the report; without content there is none.
function part(title, ...content) {
  report.append(element("section", {}, element("h2", {}, title), ...content));
}

const isNumber = (text) => /^[-+−]?[\d.,]+%?( ±.*)?$/.test(text);

const percent = (share, digits = 2) => `${(100 * share).toFixed(digits)}%`;
const elo = (rating) => (rating < 0 ? "−" : "+") + Math.abs(rating).toFixed(0);

// A table that scrolls sideways where it is too wide, also by keys.
function table(label, head, rows) {
  const kind = head.map((_, column) => (rows.every((row) => isNumber(row[column])) ? { class: "number" } : {}));
  const cell = (text, column) => (column === 0 ? element("th", { scope: "row", ...kind[0] }, text) : element("td", kind[column], text));
  const line = (row) => element("tr", {}, ...row.map(cell));
  const names = head.map((text, column) => element("th", { scope: "col", ...kind[column] }, text));
  const top = head.length ? element("thead", {}, element("tr", {}, ...names)) : null;
  const whole = element("table", { "aria-label": label }, top, element("tbody", {}, ...rows.map(line)));
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, whole);
}

// Pictures of curves as they were drawn, with their titles as names.
function pictures(drawn) {
  const all = element("div", { class: "pictures" });
  for (const text of drawn) {
    const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", [...svg.querySelectorAll("text")].at(-1).textContent);
    all.append(document.importNode(svg, true));
  }
  return all;
}

// A board that only shows. Its cells are no buttons then.
function board(label) {
  const host = element("div");
  host.dataset.game = data.game;
  const follow = () => (host.dataset.theme = DARK.matches ? "dark" : "light");
  DARK.addEventListener("change", follow);
  follow();
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [SHEET];
  const svg = make("svg", { class: "board", role: "img", "aria-label": label });
  root.append(svg);
  const drawn = new Board(svg, () => {}, () => "", () => {}, () => {});
  const show = (scene, cursor, ideas = []) => {
    drawn.show({ game: data.game, layout: data.layout, scene, cursor, human: false }, ideas);
    for (const cell of drawn.cells) for (const name of ["role", "tabindex", "aria-label"]) cell.removeAttribute(name);
  };
  return { host, svg, show };
}

const hasBoard = data.layout.cells.length > 0;
const player = (name) => name[0].toUpperCase() + name.slice(1);
const result = (outcome) => (!outcome ? "Not finished" : outcome.winner ? `${player(outcome.winner)} wins` : outcome.truncated ? "Draw by the move limit" : "Draw");

// A game with buttons that step through it.
function game({ moves, outcome, scenes }, number) {
  const title = `Game ${number}: ${result(outcome)} after ${moves.length} plies`;
  const { host, svg, show } = board(title);
  const said = element("p", { class: "dim", role: "status" });
  let at = scenes.length - 1;
  const go = (to) => () => {
    at = Math.max(0, Math.min(scenes.length - 1, to()));
    show(scenes[at], at);
    said.textContent = at ? `${at}. ${moves[at - 1]}` : "Start";
    svg.setAttribute("aria-label", `${title}. Shown: ${said.textContent}`);
    back.disabled = first.disabled = at === 0;
    next.disabled = last.disabled = at === scenes.length - 1;
  };
  const button = (text, label, to) => {
    const node = element("button", { type: "button", "aria-label": `${label}, game ${number}` }, text);
    node.addEventListener("click", go(to));
    return node;
  };
  const first = button("«", "First position", () => 0);
  const back = button("‹", "Previous position", () => at - 1);
  const next = button("›", "Next position", () => at + 1);
  const last = button("»", "Last position", () => scenes.length - 1);
  go(() => scenes.length - 1)();
  return element("figure", {}, host, element("div", { class: "buttons" }, first, back, next, last), said,
    element("figcaption", {}, title, element("p", { class: "dim" }, moves.join(" "))));
}

// A wrong decision, with arrows for what was played and what was right.
function mistake({ position, scene, chosen, got, better, missed }) {
  const text = `${player(scene.to_move)} played ${chosen.text} (${got}). Right is ${better.text} (${missed}).`;
  const { host, show } = board(text);
  show(scene, 0, [{ gesture: better, rank: 0, text: "right" }, { gesture: chosen, rank: 1, text: "played" }]);
  return element("figure", {}, host, element("figcaption", {}, text, element("p", { class: "dim" }, position)));
}

// Facts at the top: pairs of a label and a text.
function facts() {
  const { run, agent } = data;
  const rows = [["Game", data.game]];
  if (run) rows.push(["State", run.problem ? `broken: ${run.problem}` : run.state], ["Training", `${run.steps} steps, ${(run.cpu_seconds / 60).toFixed(1)} minutes of CPU time`]);
  if (agent) {
    const { provenance, net, results } = agent;
    rows.push(["Network", net.width ? `mlp ${net.width}x${net.blocks}` : JSON.stringify(net)], ["Checkpoint", `step ${provenance.step}, after ${provenance.games} games`]);
    if (!run) rows.push(["Made by", `${provenance.program}, run ${provenance.run}, seed ${provenance.seed}`]);
    for (const { settings, opponent, wins, draws, losses } of results) rows.push(["Match", `${settings}: ${wins} won, ${draws} drawn, ${losses} lost against ${opponent}`]);
  }
  return rows;
}

// The share of wrong critical decisions, and half its 95% interval, by Agresti and Coull.
function wrong({ critical, critical_right: right }) {
  const [z, lost] = [1.96, critical - right];
  const cases = critical + z * z;
  const middle = (lost + z * z / 2) / cases;
  return `${percent(lost / critical)} ±${percent(z * Math.sqrt(middle * (1 - middle) / cases))}`;
}

// Settings are 32-bit numbers, whose digits as 64-bit ones say nothing.
const short = (text) => (/^-?\d+\.\d{9,}$/.test(text) ? String(Number(Number(text).toPrecision(7))) : text);

function settings() {
  const head = ["setting", "value", "default"];
  const all = data.settings.map((row) => row.map(short));
  const changed = all.filter(([, value, usual]) => value !== usual);
  const option = ([key, value]) => ` --set '${key}=${value.replaceAll("'", `'\\''`)}'`;
  const command = `${data.command} train --game ${data.game}${changed.filter(([key]) => key !== "game.name").map(option).join("")}`;
  const whole = element("details", {}, element("summary", {}, `All ${all.length} settings`), table("All settings", head, all));
  part("Settings", changed.length ? table("Settings that differ from the defaults", head, changed) : "All settings have their defaults.", whole,
    element("p", {}, "This command starts such a run:"), element("pre", {}, command));
  const started = [...data.manifest.matchAll(/^(\w+) = (.*)$/gm)].map(([, key, value]) => [key.replaceAll("_", " "), key === "started" ? new Date(1000 * value).toUTCString() : value.replaceAll('"', "")]);
  if (started.length) part("Machine and program", table("Machine and program", [], started));
}

function exam({ scores: [alone, searched], made, picture, causes, mistakes }) {
  const phases = ["all", "opening", "middle", "end"].map((phase) => [phase, ...[alone, searched].map((score) => (phase === "all" ? score : score[phase]))]);
  const lines = phases.filter(([, one]) => one.critical > 0)
    .map(([phase, one, other]) => [phase, String(one.decisions), percent(one.right / one.decisions), percent(other.right / other.decisions), String(one.critical), wrong(one), wrong(other)]);
  part("Exam", element("p", {}, "A right decision keeps the best possible result. In a critical position some action loses it. The network takes the exam without search and with 64 simulations."),
    table("Exam by phase", ["phase", "decisions", "right", "right at 64", "critical", "wrong", "wrong at 64"], lines), element("p", { class: "dim" }, made));
  const why = { policy: "the policy gives the right actions a probability below 1%", search: "ten times the simulations find a right action", value: "the values are wrong, and more search does not help" };
  const counted = (causes ?? []).filter(([, count]) => count > 0).map(([cause, count]) => [cause, String(count), why[cause]]);
  part("Where decisions are lost", pictures([picture]), ...(counted.length ? [element("p", {}, "Causes of wrong decisions with 64 simulations:"), table("Causes", ["cause", "decisions", "meaning"], counted)] : []));
  if (hasBoard && mistakes.length) part("The worst decisions with 64 simulations", element("div", { class: "boards" }, ...mistakes.map(mistake)));
}

function ladder(rated) {
  const played = (matches) => matches.map(({ score, opponent }) => `${percent(score, 0)} ${opponent}`).join(", ");
  const lines = rated.map(({ step, elo: rating, elo_low: low, elo_high: high, matches }) => [String(step), elo(rating), `${elo(low)} to ${elo(high)}`, played(matches)]);
  part("Ratings of checkpoints", element("p", {}, `From the run's own matches; ${rated.at(-1).anchor} has rating 0.`), table("Ratings of checkpoints", ["step", "Elo", "95% interval", "points against"], lines));
}

document.title = data.name;
report.append(element("h1", {}, data.name), table("About this report", [], facts()));
if (data.pictures?.length) part("Training", pictures(data.pictures));
if (data.ladder?.length) ladder(data.ladder);
if (data.exam) exam(data.exam);
if (hasBoard && data.games?.length) part("Games against itself", element("p", {}, "With 64 simulations per move, after two random plies."), element("div", { class: "boards" }, ...data.games.map((one, index) => game(one, index + 1))));
if (data.run) settings();
report.append(element("p", { class: "dim" }, `Written by ${data.program}.`));
