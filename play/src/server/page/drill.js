// Exercises that come back: at each mistake a better move than the one played there, and puzzles of the collection.

import { Puzzles } from "./puzzle.js";
import { percent, playerName, text } from "./texts.js";

// A session of its own, in which the agent judges moves as an analysis does. `ask(session, path, body)` asks about a session.
export class Judge {
  constructor(ask, language) {
    Object.assign(this, { ask, language, session: null, record: null });
  }

  // Asks about the session. If the server has closed it, opens another one at the same position and asks again.
  async request(path, body) {
    try {
      return await this.ask(this.session, path, body);
    } catch (error) {
      if (error.status !== 404) throw error;
      await this.begin();
      return this.ask(this.session, path, body);
    }
  }

  tell(command) {
    return this.request(`/api/session?${this.language()}`, command);
  }

  async begin() {
    const view = await this.ask(null, `/api/sessions?${this.language()}`, { record: this.record, analyse: true });
    this.session = view.id;
    return view;
  }

  // Opens a position after some moves, and returns the view.
  async open(game, position, moves = []) {
    this.record = JSON.stringify({ game, position, moves });
    if (!this.session) return this.begin();
    await this.tell({ do: "load", record: this.record });
    return this.tell({ do: "analyse", on: true });
  }

  // Plays a move at a place: {view, right, lost, reply, boards} once it is judged. Before that, `show(view)` shows it. The
  // reply is the agent's answer to it, and is on the last board; there is none if the game is over.
  async play(place, move, show) {
    let view = await this.tell({ do: "line", place, moves: [move] });
    show(view);
    const judged = () => view.assessments[place]?.lost ?? null;
    while (judged() === null || !(view.thought || view.scene.outcome)) {
      view = await this.ask(this.session, `/api/session?${this.language()}&since=${view.version}`);
    }
    const reply = view.scene.outcome ? null : view.thought.text;
    const boards = reply === null ? [view] : [view, await this.after(view, place + 1, reply)];
    return { view, right: view.assessments[place].mark === "", lost: judged(), reply, boards };
  }

  // The view after a move at a place.
  async after(view, place, move) {
    const { scene } = await this.request(`/api/scene?${this.language()}&place=${place}&moves=${move}`);
    return { ...view, scene, cursor: place + 1, moves: [...view.moves.slice(0, place), { text: move }] };
  }
}

// A mistake: {game, position, player, move, best}.
class Mistake {
  constructor(card, page) {
    Object.assign(this, { card, judge: page.judge(), count: page.count, counted: false, analysis: null, view: null });
  }

  async load() {
    const { game, position, player, move } = this.card;
    this.view = this.view ? await this.judge.tell({ do: "go", place: 0 }) : await this.judge.open(game, position);
    return { lines: [text("retry_ask", { player: playerName(player, game), move })], boards: [this.view], player };
  }

  async play(_ask, move, show) {
    const { view, right, lost, reply, boards } = await this.judge.play(0, move, (tried) => show([tried], text("retry_checking", { move })));
    this.counts(right);
    if (right) return this.end(text("retry_good", { move }), [view]);
    const said = [text("retry_bad", { move, lost: percent(lost / 2) }), reply && text("drill_reply", { move: reply })];
    return { said: said.filter(Boolean).join(" "), right, over: false, again: true, boards };
  }

  async solution() {
    const { best } = this.card;
    this.counts(false);
    return this.end(text("retry_solution", { move: best }), [await this.judge.after(this.view, 0, best)]);
  }

  end(said, boards) {
    const { game, position } = this.card;
    this.analysis = JSON.stringify({ game, position, moves: boards.at(-1).moves.map((move) => move.text) });
    return { said, right: true, over: true, boards };
  }

  counts(solved) {
    if (!this.counted) this.count(this.card, solved);
    this.counted = true;
  }
}

export class Drill {
  // `cards` are mistakes, and puzzles as {game, position, puzzle}. `page` has judge(), language(), and count(card, solved), which
  // is told how the first try at a card ended.
  constructor(cards, page) {
    Object.assign(this, { cards, page, place: 0, part: null });
  }

  get analysis() {
    return this.part?.analysis;
  }

  async load(ask) {
    const card = this.cards[this.place];
    this.part ??= card.puzzle ? new Puzzles(card.game, { ...this.page, from: card.position, again: true }) : new Mistake(card, this.page);
    const heading = text("deck_heading", { game: text(`game_${card.game}`), n: this.place + 1, all: this.cards.length });
    return { ...(await this.part.load(ask)), heading };
  }

  async play(ask, move, show) {
    return this.told(await this.part.play(ask, move, show));
  }

  async solution(ask) {
    return this.told(await this.part.solution(ask));
  }

  told(answer) {
    return answer.over && !this.hasNext() ? { ...answer, said: `${answer.said} ${text("drill_over")}` } : answer;
  }

  hasNext() {
    return this.place + 1 < this.cards.length;
  }

  next() {
    this.place++;
    this.part = null;
  }
}
