// The person's own mistakes, which come back as exercises when FSRS says so. They never leave this browser, except as a file.

import { createEmptyCard, fsrs, Rating } from "./fsrs.js";
import { stored } from "./kept.js";
import { element } from "./panels.js";
import { save } from "./share.js";
import { text, words } from "./texts.js";

const $ = (id) => document.getElementById(id);
const NAME = "deck";
const MOST = 500;
const [BEFORE, AFTER] = [6, 7]; // days before and after today that are drawn
const scheduler = fsrs({ enable_short_term: false }); // an exercise comes back on another day

const TEXTS = ["game", "position", "player", "move", "best"];
const isCard = (card) => TEXTS.every((name) => typeof card?.[name] === "string") && Number.isFinite(Date.parse(card.state?.due));
const isDeck = (deck) => Array.isArray(deck.cards) && deck.cards.every(isCard) && Object.values(deck.days).every(Number.isInteger);

// {cards, days}: the cards with the `state` that FSRS has given them, and the exercises done by day.
const deck = () => stored(NAME, isDeck, { cards: [], days: {} });

function write({ cards, days }) {
  try {
    localStorage.setItem(NAME, JSON.stringify({ cards: cards.slice(-MOST), days }));
  } catch {
    // The browser gives the page no room; exercises work without it.
  }
}

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
export function dueMistakes() {
  const today = dayOf(Date.now());
  return deck().cards.filter(({ state }) => dayOf(state.due) <= today).sort((a, b) => Date.parse(a.state.due) - Date.parse(b.state.due));
}

// Notes how the first try at a mistake ended. One that is not in the deck, or was done before it is due, changes nothing there.
export function countMistake(mistake, solved) {
  const { cards, days } = deck();
  const card = cards.find((one) => isSame(one, mistake));
  const today = dayOf(Date.now());
  if (!card || dayOf(card.state.due) > today) return;
  card.state = scheduler.next(card.state, new Date(), solved ? Rating.Good : Rating.Again).card;
  write({ cards, days: { ...days, [today]: (days[today] ?? 0) + 1 } });
}

// The dialog of the deck; `practise(cards)` begins exercises.
export class Deck {
  constructor(practise) {
    $("deck").onclick = () => this.open();
    $("deck-start").onclick = () => {
      $("deck-box").close();
      practise(dueMistakes());
    };
    $("deck-save").onclick = () => save(JSON.stringify(deck()), "application/json", "mistakes.json");
    $("deck-open").onclick = () => $("deck-file").click();
    $("deck-file").onchange = (event) => this.load(event.target);
  }

  open() {
    this.draw();
    $("deck-message").textContent = "";
    $("deck-box").showModal();
  }

  draw() {
    const { cards, days } = deck();
    const due = dueMistakes().length;
    $("deck-about").textContent = cards.length ? text("deck_here") : text("deck_about");
    $("deck-count").textContent = text("deck_count", { due, all: cards.length });
    $("deck-start").disabled = due === 0;
    $("deck-save").disabled = cards.length === 0;
    $("deck-days").hidden = cards.length === 0;
    $("deck-days").replaceChildren(...this.days(cards, days));
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

  // Adds the mistakes of a file.
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
      const { cards, days } = deck();
      const others = found.cards.filter((one) => !cards.some((card) => isSame(card, one)));
      write({ cards: [...cards, ...others], days: { ...found.days, ...days } });
    }
    this.draw();
    $("deck-message").textContent = fine ? "" : text("deck_unreadable");
  }
}
