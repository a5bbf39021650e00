// Exercises with mistakes: at each position a better move than the one played there. A session of its own judges every try, as
// an analysis does, and its answer to a wrong one is played on the board.

import { percent, playerName, text } from "./texts.js";

export class Drill {
  // `cards` are {game, position, player, move, best}. `ask(session, path, body)` asks about a session, and `count(card, solved)`
  // is told how the first try at a card ended.
  constructor(cards, { ask, language, count = () => {} }) {
    Object.assign(this, { cards, server: ask, language, count, place: 0, session: null, shown: null });
  }

  get card() {
    return this.cards[this.place];
  }

  tell(command) {
    return this.server(this.session, `/api/session?${this.language()}`, command);
  }

  async load() {
    const { card } = this;
    const { game, position, player, move } = card;
    if (this.shown === card) {
      this.view = await this.tell({ do: "go", place: 0 });
    } else {
      Object.assign(this, { counted: false, analysis: null });
      await this.open(JSON.stringify({ game, position, moves: [] }));
      this.shown = card;
    }
    const heading = text("deck_heading", { game: text(`game_${game}`), n: this.place + 1, all: this.cards.length });
    return { heading, lines: [text("retry_ask", { player: playerName(player), move })], boards: [this.view], player };
  }

  // Opens a position in the session of this task.
  async open(record) {
    if (this.session) {
      await this.tell({ do: "load", record });
      this.view = await this.tell({ do: "analyse", on: true });
    } else {
      this.view = await this.server(null, `/api/sessions?${this.language()}`, { record, analyse: true });
      this.session = this.view.id;
    }
  }

  async play(_ask, move, show) {
    this.view = await this.tell({ do: "line", place: 0, moves: [move] });
    show([this.view], text("retry_checking", { move }));
    const judged = () => this.view.assessments[0]?.lost ?? null;
    while (judged() === null || !(this.view.thought || this.view.scene.outcome)) {
      this.view = await this.server(this.session, `/api/session?${this.language()}&since=${this.view.version}`);
    }
    const right = this.view.assessments[0].mark === "";
    this.counts(right);
    if (right) return this.end(text("retry_good", { move }), [this.view]);
    const said = text("retry_bad", { move, lost: percent(judged() / 2) });
    if (this.view.scene.outcome) return { said, right, over: false, again: true, boards: [this.view] };
    const reply = this.view.thought.text;
    const boards = [this.view, await this.after(1, reply)];
    return { said: `${said} ${text("drill_reply", { move: reply })}`, right, over: false, again: true, boards };
  }

  // The board after a move at a place.
  async after(place, move) {
    const { scene } = await this.server(this.session, `/api/scene?${this.language()}&place=${place}&moves=${move}`);
    return { ...this.view, scene, cursor: place + 1, moves: [...this.view.moves.slice(0, place), { text: move }] };
  }

  async solution() {
    const { best } = this.card;
    this.counts(false);
    return this.end(text("retry_solution", { move: best }), [await this.after(0, best)]);
  }

  end(said, boards) {
    const { game, position } = this.card;
    this.analysis = JSON.stringify({ game, position, moves: boards.at(-1).moves.map((move) => move.text) });
    return { said: this.hasNext() ? said : `${said} ${text("drill_over")}`, right: true, over: true, boards };
  }

  counts(solved) {
    if (!this.counted) this.count(this.card, solved);
    this.counted = true;
  }

  hasNext() {
    return this.place + 1 < this.cards.length;
  }

  next() {
    this.place++;
  }

  note() {
    return [];
  }
}
