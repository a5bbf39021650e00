// The dialog of the first visit: which game, which side, which opponent. It can be opened again later.

import { levelName, text, words } from "./texts.js";

const $ = (id) => document.getElementById(id);
const SEEN = "welcomed";

export const isFirstVisit = () => localStorage.getItem(SEEN) === null;

// `open(opening)` starts a game, `learn(game)` the lesson.
export function prepareWelcome(open, learn) {
  const chosen = () => {
    const seats = $("welcome-side").value === "white" ? ["human", $("welcome-level").value] : [$("welcome-level").value, "human"];
    return { game: $("welcome-game").value, white: seats[0], black: seats[1] };
  };
  $("welcome-game").onchange = () => levels($("welcome-level").value);
  $("welcome-play").onclick = async () => {
    $("welcome-box").close();
    await open(chosen());
  };
  $("welcome-learn").onclick = async () => {
    $("welcome-box").close();
    await open(chosen());
    await learn(chosen().game);
  };
  $("welcome-box").addEventListener("close", () => localStorage.setItem(SEEN, "true"));
}

function levels(chosen) {
  const game = $("welcome-game").value;
  $("welcome-level").replaceChildren(...words.levels.map(({ name }) => new Option(levelName(name, game), name)));
  $("welcome-level").value = chosen;
}

// Begins with the game and the players of a view.
export function welcome(view) {
  $("welcome-game").replaceChildren(...words.games.map((game) => new Option(text(`game_${game}`), game)));
  $("welcome-game").value = view.game;
  const person = view.seats[1] === "human" && view.seats[0] !== "human" ? 1 : 0;
  $("welcome-side").value = person === 1 ? "black" : "white";
  const other = view.seats[1 - person];
  levels(words.levels.some(({ name }) => name === other) ? other : words.usual);
  $("welcome-box").showModal();
}
