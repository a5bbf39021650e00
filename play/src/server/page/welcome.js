// The dialog of the first visit: which game, which side, which opponent. It can be opened again later.

import { levelName, seatName, text, words } from "./texts.js";

const $ = (id) => document.getElementById(id);
const SEEN = "welcomed";

export const isFirstVisit = () => localStorage.getItem(SEEN) === null;

let usual = []; // the agents of the game shown that are not levels

// `open(opening)` starts a game, `learn(game)` the lesson, and `begin()` is called when the game can be played.
export function prepareWelcome(open, learn, begin) {
  const chosen = () => {
    const seats = $("welcome-side").value === "white" ? ["human", $("welcome-level").value] : [$("welcome-level").value, "human"];
    return { game: $("welcome-game").value, white: seats[0], black: seats[1] };
  };
  $("welcome-game").onchange = () => fill($("welcome-level").value);
  $("welcome-play").onclick = async () => {
    $("welcome-box").close();
    await open(chosen());
    begin();
  };
  $("welcome-learn").onclick = async () => {
    $("welcome-box").close();
    await open(chosen());
    await learn(chosen().game);
  };
  $("welcome-box").addEventListener("close", () => localStorage.setItem(SEEN, "true"));
}

// What depends on the game chosen: its aim, and the opponents with their ratings.
function fill(chosen) {
  const game = $("welcome-game").value;
  const [, aim] = (words.texts.rulebook[game] ?? words.rules[game] ?? "").trim().split("\n"); // after a heading
  $("welcome-about").textContent = aim ?? "";
  const isTaught = words.lessons.includes(game);
  $("welcome-learn").hidden = $("welcome-text").hidden = !isTaught;
  $("welcome-hint").hidden = !words.levels.some(({ ratings }) => ratings[game]);
  const levels = words.levels.map(({ name }) => new Option(levelName(name, game), name));
  $("welcome-level").replaceChildren(...levels, ...usual.map((who) => new Option(seatName(who), who)));
  $("welcome-level").value = chosen;
}

// Begins with the game and the players of a view.
export function welcome(view) {
  $("welcome-game").replaceChildren(...words.games.map((game) => new Option(text(`game_${game}`), game)));
  $("welcome-game").value = view.game;
  const person = view.seats[1] === "human" && view.seats[0] !== "human" ? 1 : 0;
  $("welcome-side").value = person === 1 ? "black" : "white";
  const other = view.seats[1 - person];
  const isLevel = words.levels.some(({ name }) => name === other);
  usual = isLevel || other === "human" || other === "friend" ? [] : [other];
  fill(isLevel || usual.length ? other : words.usual);
  $("welcome-box").showModal();
}
