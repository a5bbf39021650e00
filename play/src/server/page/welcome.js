// The first screen: which game, which side, which opponent, or a lesson, puzzles, an agent that learns. It can be opened again.

import { make, pieceShape } from "./board.js";
import { element } from "./panels.js";
import { store } from "./store.js";
import { aimOf, levelName, playerName, seatName, text, words } from "./texts.js";

const $ = (id) => document.getElementById(id);
const SEEN = "welcomed";

export const isFirstVisit = () => store.getItem(SEEN) === null;

let usual = []; // the agents of the game shown that are not levels

const game = () => document.querySelector("input[name=welcome-game]:checked").value;

// `open(opening)` starts a game, `learn(game)` the lesson, `solve(game)` puzzles, `watch(game)` shows an agent that learns, and
// `begin()` is called when the game can be played.
export function prepareWelcome({ open, learn, solve, watch, begin }) {
  const chosen = () => {
    const seats = $("welcome-side").value === "white" ? ["human", $("welcome-level").value] : [$("welcome-level").value, "human"];
    return { game: game(), white: seats[0], black: seats[1] };
  };
  $("welcome-games").onchange = () => fill($("welcome-level").value);
  const leadsTo = (id, next) => {
    $(id).onclick = async () => {
      $("welcome-box").close();
      await next();
    };
  };
  leadsTo("welcome-play", () => open(chosen()).then(begin));
  leadsTo("welcome-learn", () => open(chosen()).then(() => learn(chosen().game)));
  leadsTo("welcome-watch", () => watch(game()));
  leadsTo("welcome-puzzles", () => solve(game()));
  $("welcome-box").addEventListener("close", () => store.setItem(SEEN, "true"));
}

// A part of a board by which a game is known at a glance, in a picture of 200 x 120: lines between circles, the dark squares,
// or holes in a wall, and pieces as [player, strong, across, down].
const KNIGHTS = [[40, 92, 100, 28], [100, 28, 160, 92], [100, 28, 160, 28], [40, 28, 100, 92]];
const PICTURES = {
  jarmo: { lines: KNIGHTS, pieces: [["black", false, 160, 28], ["white", true, 100, 28], ["white", false, 40, 92]] },
  guard: { lines: KNIGHTS, pieces: [["black", false, 100, 28], ["black", true, 160, 28], ["white", true, 40, 92]] },
  tammi: { squares: [[50, 0], [150, 0], [0, 60], [100, 60]], pieces: [["black", false, 75, 30], ["white", true, 125, 90]] },
  connect_four: { holes: true, pieces: [["black", false, 60, 100], ["white", false, 100, 100], ["black", false, 100, 60], ["white", false, 140, 100], ["black", false, 140, 60], ["white", false, 140, 20]] },
};

function picture(name) {
  const { lines = [], squares = [], holes, pieces } = PICTURES[name];
  const ends = [...new Map(lines.flatMap(([x1, y1, x2, y2]) => [[x1, y1], [x2, y2]]).map((end) => [end.join(), end])).values()];
  const places = holes ? [0, 1, 2].flatMap((row) => [0, 1, 2, 3, 4].map((column) => [20 + 40 * column, 20 + 40 * row])) : ends;
  const nodes = [
    ...lines.map(([x1, y1, x2, y2]) => make("line", { class: "line", x1, y1, x2, y2 })),
    ...squares.map(([x, y]) => make("rect", { class: "square", x, y, width: 50, height: 60 })),
    ...places.map(([cx, cy]) => make("circle", { class: "hole", cx, cy, r: holes ? 15 : 13 })),
    ...pieces.map(([player, strong, x, y]) => make("g", { transform: `translate(${x} ${y}) scale(${holes ? 0.36 : 0.62})` }, pieceShape(name, { player, strong }, player === "black"))),
  ];
  return make("svg", { viewBox: "0 0 200 120", class: "picture", "data-picture": name, "aria-hidden": "true" }, ...nodes);
}

// The games as cards, of which one is chosen.
function gameCards(chosen) {
  return words.games.map((name) => {
    const title = text(`game_${name}`);
    const input = element("input", { type: "radio", name: "welcome-game", value: name, checked: name === chosen, className: "unseen" });
    const shown = PICTURES[name] ? picture(name) : element("b", { className: "picture", textContent: title.slice(0, 1) });
    return element("label", {}, input, shown, title);
  });
}

// What depends on the game chosen: its aim, what there is besides play, and the opponents with their ratings.
function fill(chosen) {
  const name = game();
  $("welcome-about").textContent = aimOf(name);
  for (const side of $("welcome-side").options) side.textContent = playerName(side.value, name);
  $("welcome-learn").hidden = $("welcome-text").hidden = !words.lessons.includes(name);
  $("welcome-puzzles").hidden = !words.puzzles.includes(name);
  $("welcome-watch").hidden = !words.watch;
  $("welcome-hint").hidden = !words.levels.some(({ ratings }) => ratings[name]);
  const levels = words.levels.map((level) => new Option(levelName(level.name, name), level.name));
  $("welcome-level").replaceChildren(...levels, ...usual.map((who) => new Option(seatName(who), who)));
  $("welcome-level").value = chosen;
}

// Begins with the game and the players of a view.
export function welcome(view) {
  $("welcome-games").replaceChildren(element("legend", { className: "unseen", textContent: text("game") }), ...gameCards(view.game));
  const person = view.seats[1] === "human" && view.seats[0] !== "human" ? 1 : 0;
  $("welcome-side").value = person === 1 ? "black" : "white";
  const other = view.seats[1 - person];
  const isLevel = words.levels.some(({ name }) => name === other);
  usual = isLevel || other === "human" || other === "friend" ? [] : [other];
  fill(isLevel || usual.length ? other : words.usual);
  $("welcome-box").showModal();
}
