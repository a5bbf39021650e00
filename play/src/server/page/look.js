// How the page looks: light or dark, and the board of wood or stone.

import { store } from "./store.js";

const $ = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");
const BOARDS = ["wood", "stone"];

// The theme chosen here, or else that of the system.
const theme = () => store.getItem("theme") ?? (dark.matches ? "dark" : "light");
const boardTheme = () => (BOARDS.includes(store.getItem("board")) ? store.getItem("board") : BOARDS[0]);

function paint() {
  document.documentElement.dataset.theme = theme();
  document.documentElement.dataset.board = boardTheme();
}

function turnBoard() {
  store.setItem("board", BOARDS[(BOARDS.indexOf(boardTheme()) + 1) % BOARDS.length]);
  paint();
}

// Only a choice that differs from the system is kept, so that the page otherwise follows the system.
function turnTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  if (next === (dark.matches ? "dark" : "light")) store.removeItem("theme");
  else store.setItem("theme", next);
  paint();
}

export function prepareLook() {
  $("theme").onclick = turnTheme;
  $("board-theme").onclick = turnBoard;
  dark.addEventListener("change", paint);
  paint();
}
