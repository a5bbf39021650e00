// Puzzles: which is next, their addresses, and the person's rating, streak and history, which never leave this browser.

import { forgetCard } from "./deck.js";
import { stored } from "./kept.js";
import { element } from "./panels.js";
import { store } from "./store.js";
import { text } from "./texts.js";

const USUAL = "jarmo";
const SHOWN = 10; // of the latest puzzles; the rest are in the history

// The name under which this browser keeps the progress in a game.
const kept = (game) => (game === USUAL ? "puzzles" : `puzzles-${game}`);

// The person's {rating, count, best, latest: [{position, solved}]}: the longest streak, and the latest puzzles, the last one last.
function progress(game, scale) {
  const isRight = (kept) => [kept.rating, kept.count].every(Number.isFinite) && kept.latest.every((one) => typeof one.position === "string");
  return { best: 0, ...stored(kept(game), isRight, { rating: scale.start, count: 0, latest: [] }) };
}

// The number of puzzles solved in a row, up to the latest one.
const streakOf = (latest) => latest.length - 1 - latest.findLastIndex(({ solved }) => !solved);

const addressOf = (game, position) => `#puzzles=${game}&from=${position.replaceAll(" ", "_")}`;

export class Puzzles {
  // `page` has judge(), whose agent answers wrong moves, language(), and count(card, solved), which is told how the first try
  // at a puzzle ended; `from` is the position of the first one, and `again` whether it comes back, so that it is not rated.
  constructor(game, { judge, language, count, from = null, again = false }) {
    Object.assign(this, { game, judge, language, told: count, from, again, theme: "", skipped: new Set() });
  }

  get address() {
    return addressOf(this.game, this.position);
  }

  ask(ask, done, move) {
    return ask(`/api/puzzle?${this.language()}`, { position: this.position, done, ...(move && { text: move }) });
  }

  // All puzzles, and those of each theme that has been measured; none where the puzzle comes back.
  get themes() {
    const count = (name) => this.all.filter(({ themes }) => themes.includes(name)).length;
    const names = [...new Set(this.all.flatMap(({ themes }) => themes))].sort();
    if (this.again || names.length === 0) return [];
    const option = (name) => ({ name, label: `${text(`theme_${name}`)} (${count(name)})` });
    return [{ name: "", label: `${text("theme_all")} (${this.all.length})` }, ...names.map(option)];
  }

  // The puzzles of the theme chosen.
  get offered() {
    return this.theme ? this.all.filter(({ themes }) => themes.includes(this.theme)) : this.all;
  }

  // The puzzle next to the rating that is neither one of the latest nor skipped.
  choose() {
    const { rating, latest } = progress(this.game, this.scale);
    const seen = new Set([...latest.map((one) => one.position), ...this.skipped]);
    const left = this.offered.filter(({ position }) => !seen.has(position));
    if (left.length === 0) this.skipped.clear();
    const away = (one) => Math.abs(one.rating - rating);
    return (left.length ? left : this.offered).reduce((best, one) => (away(one) < away(best) ? one : best));
  }

  async load(ask) {
    if (!this.all) {
      const { scale, puzzles } = await ask("/api/puzzles");
      Object.assign(this, { scale, all: puzzles[this.game] });
    }
    if (!this.position) {
      const known = this.all.find((one) => one.position === this.from);
      if (this.again && !known) forgetCard({ game: this.game, position: this.from }); // the collection has changed
      const { position, rating } = known ?? this.choose();
      Object.assign(this, { position, rating, from: null, failed: false, counted: false, change: null, done: 0 });
    }
    const { task, player, plies, boards } = await this.ask(ask, this.done);
    Object.assign(this, { plies, analysis: null });
    if (this.done === plies) this.keepForAnalysis(boards, []);
    return { heading: `${text(`game_${this.game}`)}: ${text("puzzle_rated", { rating: this.rating })}`, lines: [task], boards, player };
  }

  async play(ask, move, show) {
    const { answer, done, over, boards } = await this.ask(ask, this.done, move);
    this.done = done;
    const wrong = answer.legal && !answer.right;
    if (over || wrong) this.keepForAnalysis(boards, wrong ? [move] : []);
    this.failed ||= wrong;
    if (over || this.failed) this.count();
    // A server that is full judges nothing; then only the puzzle says that the move is wrong.
    const refuted = wrong && await this.refute(boards.at(-1), move, answer.said, show).catch(() => null);
    return refuted || { said: answer.said, right: answer.right, over, boards };
  }

  // The board after a wrong move, and after the agent's reply to it.
  async refute({ moves }, move, said, show) {
    const judge = this.judge();
    const { position } = await judge.open(this.game, this.position, moves.map((played) => played.text));
    if (moves.length) await judge.open(this.game, position); // without moves that would be judged, too
    const { reply, boards } = await judge.play(0, move, (view) => show([view], said));
    return { said: reply ? `${said} ${text("drill_reply", { move: reply })}` : said, right: false, over: false, again: true, boards };
  }

  // Shows the rest of the solution, at least its last move.
  async solution(ask) {
    const from = Math.min(this.done, this.plies - 1);
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

  // Counts the puzzle once. One that is new is rated: Elo against the puzzle's rating.
  count() {
    if (this.counted) return;
    this.counted = true;
    const { game, position, failed } = this;
    this.told({ game, position, puzzle: true }, !failed);
    const { first, fall, last } = this.scale;
    const now = progress(game, this.scale);
    if (this.again || now.latest.some((one) => one.position === position)) return;
    const expected = 1 / (1 + 10 ** ((this.rating - now.rating) / 400));
    const most = Math.max(last, first - fall * now.count);
    this.change = Math.round(most * ((failed ? 0 : 1) - expected));
    const latest = [...now.latest, { position, solved: !failed }].slice(-Math.floor(this.all.length / 2));
    const next = { rating: now.rating + this.change, count: now.count + 1, best: Math.max(now.best, streakOf(latest)), latest };
    store.setItem(kept(game), JSON.stringify(next));
  }

  hasNext() {
    return true;
  }

  next() {
    this.skipped.add(this.position);
    this.position = null;
  }

  // The rating, the streak, the latest puzzles, and the history; a sign leads to its puzzle.
  note() {
    if (!this.scale) return [];
    const { rating, best, latest } = progress(this.game, this.scale);
    const change = this.change === null ? "" : ` (${this.change < 0 ? "−" : "+"}${Math.abs(this.change)})`;
    const sign = ({ position, solved }) => {
      const { rating: level } = this.all.find((one) => one.position === position) ?? {};
      const label = `${solved ? "✓" : "✗"} ${level ? text("puzzle_rated", { rating: level }) : ""}`;
      return element("a", { href: addressOf(this.game, position), textContent: solved ? "✓" : "✗", className: solved ? "" : "bad", ariaLabel: label, title: label });
    };
    const about = `${text("own_rating", { rating })}${change}. ${text("puzzle_streak", { n: streakOf(latest), best: Math.max(best, streakOf(latest)) })} ${text("rating_here")} `;
    const older = latest.slice(0, -SHOWN).map(sign);
    const history = older.length ? [element("details", {}, element("summary", { textContent: text("puzzle_history", { n: latest.length }) }), ...older.reverse())] : [];
    return [about, element("span", {}, ...latest.slice(-SHOWN).map(sign)), ...history];
  }
}
