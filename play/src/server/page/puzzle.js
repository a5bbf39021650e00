// Puzzles: which is next, and the person's rating, which never leaves this browser.

import { stored } from "./kept.js";
import { element } from "./panels.js";
import { text } from "./texts.js";

const USUAL = "jarmo";

// The name under which this browser keeps the progress in a game.
const kept = (game) => (game === USUAL ? "puzzles" : `puzzles-${game}`);

// The person's {rating, count, latest: [{position, solved}]}, the latest last.
function progress(game, scale) {
  const isRight = (kept) => [kept.rating, kept.count].every(Number.isFinite) && kept.latest.every((one) => typeof one.position === "string");
  return stored(kept(game), isRight, { rating: scale.start, count: 0, latest: [] });
}

export class Puzzles {
  constructor(game, language) {
    this.game = game;
    this.language = language; // of the query
    this.skipped = new Set();
  }

  ask(ask, done, move) {
    return ask(`/api/puzzle?${this.language()}`, { position: this.position, done, ...(move && { text: move }) });
  }

  // The puzzle next to the rating that is neither one of the latest nor skipped.
  choose() {
    const { rating, latest } = progress(this.game, this.scale);
    const seen = new Set([...latest.map((one) => one.position), ...this.skipped]);
    const left = this.all.filter(({ position }) => !seen.has(position));
    if (left.length === 0) this.skipped.clear();
    const away = (one) => Math.abs(one.rating - rating);
    return (left.length ? left : this.all).reduce((best, one) => (away(one) < away(best) ? one : best));
  }

  async load(ask) {
    if (!this.all) {
      const { scale, puzzles } = await ask("/api/puzzles");
      Object.assign(this, { scale, all: puzzles[this.game] });
    }
    if (!this.position) {
      const { position, rating } = this.choose();
      Object.assign(this, { position, rating, failed: false, counted: false, change: null });
    }
    const { task, player, plies, boards } = await this.ask(ask, 0);
    Object.assign(this, { plies, done: 0, analysis: null });
    return { heading: `${text(`game_${this.game}`)}: ${text("puzzle_rated", { rating: this.rating })}`, lines: [task], boards, player };
  }

  async play(ask, move) {
    const { answer, done, over, boards } = await this.ask(ask, this.done, move);
    this.done = done;
    if (over || (answer.legal && !answer.right)) this.keepForAnalysis(boards, answer.right ? [] : [move]);
    if (answer.legal && !answer.right) this.failed = true;
    if (over || this.failed) this.count();
    return { said: answer.said, right: answer.right, over, boards };
  }

  // Shows the rest of the solution.
  async solution(ask) {
    const from = this.done;
    const places = Array.from({ length: this.plies - from }, (_, place) => from + place + 1);
    const answers = await Promise.all(places.map((place) => this.ask(ask, place)));
    const boards = answers.flatMap((answer) => answer.boards);
    this.failed = true;
    this.done = this.plies;
    this.count();
    this.keepForAnalysis(boards, []);
    const line = boards.at(-1).moves.slice(from).map((move) => move.text).join(" ");
    return { said: text("puzzle_solution", { line }), right: true, over: true, boards };
  }

  // The game to analyse afterwards: after a wrong move, its refutation is what the agent sees there.
  keepForAnalysis(boards, more) {
    const moves = [...boards.at(-1).moves.map((move) => move.text), ...more];
    this.analysis = JSON.stringify({ game: this.game, position: this.position, moves });
  }

  // Counts the puzzle once: Elo against the puzzle's rating.
  count() {
    if (this.counted) return;
    this.counted = true;
    const { first, fall, last } = this.scale;
    const now = progress(this.game, this.scale);
    const expected = 1 / (1 + 10 ** ((this.rating - now.rating) / 400));
    const most = Math.max(last, first - fall * now.count);
    this.change = Math.round(most * ((this.failed ? 0 : 1) - expected));
    const latest = [...now.latest, { position: this.position, solved: !this.failed }];
    const next = { rating: now.rating + this.change, count: now.count + 1, latest: latest.slice(-Math.floor(this.all.length / 2)) };
    try {
      localStorage.setItem(kept(this.game), JSON.stringify(next));
    } catch {
      // The browser gives the page no room; the puzzles go on all the same.
    }
  }

  hasNext() {
    return true;
  }

  next() {
    this.skipped.add(this.position);
    this.position = null;
  }

  // The rating, and which of the last ten puzzles were solved.
  note() {
    if (!this.scale) return [];
    const { rating, latest } = progress(this.game, this.scale);
    const change = this.change === null ? "" : ` (${this.change < 0 ? "−" : "+"}${Math.abs(this.change)})`;
    const signs = latest.slice(-10).map(({ solved }) => element("b", { textContent: solved ? "✓" : "✗", className: solved ? "" : "bad" }));
    return [`${text("own_rating", { rating })}${change}. ${text("rating_here")} `, element("span", {}, ...signs)];
  }
}
