// The person's own mistakes, and the puzzles tried: they come back as exercises when FSRS says so. They never leave this
// browser, except as a file.

import { createEmptyCard, fsrs, Rating } from "./fsrs.js";
import { make } from "./board.js";
import { stored } from "./kept.js";
import { element } from "./panels.js";
import { save } from "./share.js";
import { store } from "./store.js";
import { percent, text, words } from "./texts.js";

const $ = (id) => document.getElementById(id);
const NAME = "deck";
const MOST = 1200;
const [BEFORE, AFTER] = [6, 7]; // days before and after today that are drawn
const RECALLED = 30; // days of the curve of retention
const scheduler = fsrs({ enable_short_term: false }); // an exercise comes back on another day

const TEXTS = ["game", "position", "player", "move", "best"];
const isCard = (card) => (card?.puzzle ? TEXTS.slice(0, 2) : TEXTS).every((name) => typeof card?.[name] === "string") && Number.isFinite(Date.parse(card.state?.due));
const isPair = (pair) => pair.length === 2 && pair.every(Number.isInteger);
const isDeck = (deck) => Array.isArray(deck.cards) && deck.cards.every(isCard) && Object.values(deck.days).every(Number.isInteger) && Object.values(deck.recalled ?? {}).every(isPair);

// {cards, days, recalled}: the cards with the `state` that FSRS has given them, the exercises done by day, and of those that had
// come back the number solved and the number of all.
const deck = () => ({ recalled: {}, ...stored(NAME, isDeck, { cards: [], days: {} }) });

const write = ({ cards, ...log }) => store.setItem(NAME, JSON.stringify({ cards: cards.slice(-MOST), ...log }));

const isSame = (one, other) => one.game === other.game && one.position === other.position;

// The day of a time here, such as 2026-11-29, some days later.
function dayOf(time, later = 0) {
  const date = new Date(time);
  return new Date(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate() + later)).toISOString().slice(0, 10);
}

// Adds mistakes that are not there yet.
export function addMistakes(mistakes) {
  const now = deck();
  const fresh = mistakes.filter((one) => !now.cards.some((card) => isSame(card, one)));
  const state = createEmptyCard();
  if (fresh.length) write({ ...now, cards: [...now.cards, ...fresh.map((one) => ({ ...one, state }))] });
}

// The cards that are due by the end of today, those that wait longest first.
export function dueCards() {
  const today = dayOf(Date.now());
  return deck().cards.filter(({ state }) => dayOf(state.due) <= today).sort((a, b) => Date.parse(a.state.due) - Date.parse(b.state.due));
}

// Notes how the first try at a card ended. A puzzle that is not in the deck joins it; it stays away longer if it was solved at
// once. Another card that is not there, and one that is done before it is due, change nothing.
export function countCard(tried, solved) {
  const { cards, days, recalled } = deck();
  let card = cards.find((one) => isSame(one, tried));
  const today = dayOf(Date.now());
  if (!card && tried.puzzle) cards.push(card = { ...tried, state: createEmptyCard() });
  if (!card || dayOf(card.state.due) > today) return;
  const isBack = card.state.reps > 0;
  const good = card.puzzle && !isBack ? Rating.Easy : Rating.Good;
  const [right, all] = recalled[today] ?? [0, 0];
  if (isBack) recalled[today] = [right + (solved ? 1 : 0), all + 1];
  card.state = scheduler.next(card.state, new Date(), solved ? good : Rating.Again).card;
  write({ cards, days: { ...days, [today]: (days[today] ?? 0) + 1 }, recalled });
}

// Takes a card away, such as one of a puzzle that there is no more.
export function forgetCard(gone) {
  const { cards, ...log } = deck();
  write({ ...log, cards: cards.filter((card) => !isSame(card, gone)) });
}

// The dialog of the deck; `practise(cards)` begins exercises.
export class Deck {
  constructor(practise) {
    $("deck").onclick = () => this.open();
    $("deck-start").onclick = () => {
      $("deck-box").close();
      practise(dueCards());
    };
    $("deck-save").onclick = () => save(JSON.stringify(deck()), "application/json", "review.json");
    $("deck-open").onclick = () => $("deck-file").click();
    $("deck-file").onchange = (event) => this.load(event.target);
  }

  open() {
    this.draw();
    $("deck-message").textContent = "";
    $("deck-box").showModal();
  }

  draw() {
    const { cards, days, recalled } = deck();
    const due = dueCards().length;
    $("deck-about").textContent = cards.length ? text("deck_here") : text("deck_about");
    $("deck-count").textContent = text("deck_count", { due, all: cards.length });
    $("deck-start").disabled = due === 0;
    $("deck-save").disabled = cards.length === 0;
    $("deck-days").hidden = cards.length === 0;
    $("deck-days").replaceChildren(...this.days(cards, days));
    this.curve(recalled);
  }

  // A bar for each day: the exercises done, or those that will be due.
  days(cards, done) {
    const now = Date.now();
    const today = dayOf(now);
    const bars = Array.from({ length: BEFORE + 1 + AFTER }, (_, place) => {
      const day = dayOf(now, place - BEFORE);
      const due = cards.filter(({ state }) => dayOf(state.due) === day || (day === today && dayOf(state.due) < today)).length;
      return { day, done: done[day] ?? 0, due: day < today ? 0 : due };
    });
    const most = Math.max(1, ...bars.map((bar) => bar.done + bar.due));
    return bars.map(({ day, done: made, due }) => {
      const part = (className, count) => {
        const bar = element("span", { className });
        bar.style.height = `${(3 * count) / most}rem`;
        return count ? [bar] : [];
      };
      const name = new Date(`${day}T12:00`).toLocaleDateString(words.language, { day: "numeric", month: "short" });
      const parts = [element("b", { textContent: made + due || "" }), ...part("due", due), ...part("done", made), element("small", { textContent: Number(day.slice(8)) })];
      return element("li", { title: `${name}: ${made + due}`, className: day === today ? "today" : "" }, ...parts);
    });
  }

  // The share of the exercises remembered by day, of those that had come back.
  curve(recalled) {
    const now = Date.now();
    const known = Array.from({ length: RECALLED }, (_, place) => [place, recalled[dayOf(now, place + 1 - RECALLED)]]).filter(([, pair]) => pair);
    const [right, all] = known.reduce(([right, all], [, pair]) => [right + pair[0], all + pair[1]], [0, 0]);
    $("deck-recall").hidden = known.length === 0;
    if (known.length === 0) return;
    const about = text("deck_recall", { days: RECALLED, share: percent(right / all), n: all });
    $("deck-recalled").textContent = about;
    const spots = known.map(([place, [solved, tried]]) => [34 + (260 * place) / (RECALLED - 1), 66 - (60 * solved) / tried]);
    const grid = [1, 0.5, 0].flatMap((part) => [make("line", { class: "grid", x1: 0, x2: 300, y1: 66 - 60 * part, y2: 66 - 60 * part }), make("text", { x: 0, y: 64 - 60 * part }, percent(part))]);
    const dots = spots.map(([x, y]) => make("circle", { cx: x, cy: y, r: 3 }));
    $("deck-curve").setAttribute("aria-label", about);
    $("deck-curve").replaceChildren(...grid, make("polyline", { points: spots.join(" ") }), ...dots);
  }

  // Adds the cards of a file.
  async load(input) {
    const [file] = input.files;
    input.value = ""; // the same file can be chosen again
    if (!file) return;
    let found = null;
    try {
      found = JSON.parse(await file.text());
    } catch {
      // It is no JSON.
    }
    const fine = found?.days && isDeck(found);
    if (fine) {
      const { cards, days, recalled } = deck();
      const others = found.cards.filter((one) => !cards.some((card) => isSame(card, one)));
      write({ cards: [...cards, ...others], days: { ...found.days, ...days }, recalled: { ...found.recalled, ...recalled } });
    }
    this.draw();
    $("deck-message").textContent = fine ? "" : text("deck_unreadable");
  }
}
