// The clocks of a game of two, in the cards of the players. The server measures; until its next answer the page counts on
// from the last one.

import { element } from "./panels.js";
import { playerName, text } from "./texts.js";

const $ = (id) => document.getElementById(id);
const LAST = 10_000; // from here on, in milliseconds, tenths of a second are shown

// What can be chosen for a game: minutes for each player, and seconds that a move adds.
const CHOICES = [[1, 0], [3, 2], [5, 3], [10, 5], [30, 20]];

const named = (minutes, seconds) => text("clock_control", { minutes, seconds });

// Fills the list of time controls, and keeps what is chosen.
export function clockChoices(select) {
  const chosen = select.value;
  select.replaceChildren(new Option(text("clock_none"), ""), ...CHOICES.map(([minutes, seconds]) => new Option(named(minutes, seconds), JSON.stringify([60 * minutes, seconds]))));
  select.value = chosen;
}

export const clockName = ({ initial, increment }) => named(initial / 60_000, increment / 1000);

// 1:02:03, 2:03, or 0:03.4.
function shown(left) {
  const digits = (number) => String(number).padStart(2, "0");
  const seconds = left < LAST ? Math.floor(left / 100) / 10 : Math.ceil(left / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = left < LAST ? seconds.toFixed(1).padStart(4, "0") : digits(seconds % 60);
  return hours ? `${hours}:${digits(minutes)}:${rest}` : `${minutes}:${rest}`;
}

// An eighth of the time, but from 10 s to a minute.
const isLow = (left, { initial }) => left < Math.min(60_000, Math.max(LAST, initial / 8));

export class Clocks {
  constructor() {
    this.clock = null; // of the answer that came `since`
    this.since = 0;
    this.low = {}; // the players whose time was announced as low
  }

  show(view, flipped) {
    const clock = view.duel?.clock ?? null;
    if (clock !== this.clock) [this.clock, this.since] = [clock, performance.now()];
    this.draw(view, flipped);
  }

  draw(view, flipped) {
    clearTimeout(this.waiting);
    if (!this.clock) {
      for (const node of document.querySelectorAll(".strip .clock")) node.remove();
      $("time-said").textContent = "";
      return;
    }
    const goes = view.duel.here.includes(true) && this.clock.running;
    for (const [index, player] of ["white", "black"].entries()) {
      const passed = goes === player ? performance.now() - this.since : 0;
      const left = Math.max(0, this.clock.left[index] - passed);
      const card = $((player === "white") !== flipped ? "strip-bottom" : "strip-top");
      const node = card.querySelector(".clock") ?? card.appendChild(element("span", { className: "clock", role: "timer" }));
      node.ariaLabel = `${playerName(player, view.game)}: ${text("clock")}`;
      node.textContent = shown(left);
      node.classList.toggle("runs", goes === player);
      const low = isLow(left, this.clock);
      node.classList.toggle("low", low);
      if (goes !== player) continue;
      if (low && !this.low[player]) $("time-said").textContent = text("clock_low", { player: playerName(player, view.game), n: Math.ceil(left / 1000) });
      this.low[player] = low;
      if (left > 0) this.waiting = setTimeout(() => this.draw(view, flipped), left < LAST + 1000 ? 100 : (left % 1000) + 1);
    }
  }
}
