// Looking beside the game: earlier positions, the moves of a line, and a better move in place of a mistake. The game
// stays as it is; who plays on from such a position opens another game.

import { gameKey } from "./kept.js";
import { withBoard } from "./plain.js";
import { percent, playerName, text } from "./texts.js";

const $ = (id) => document.getElementById(id);

export class Study {
  // `page` has ask(path), view(), send(command), open(opening), say(message), redraw() and language().
  constructor(page) {
    this.page = page;
    this.shown = null; // {key, cursor, place, moves, at, scene, position}: the position after `at` moves of a line
    this.retry = null; // {place, player, played, best}
    this.asked = 0;
    $("line-play").onclick = () => this.branch([]);
    $("line-leave").onclick = () => this.leave();
    $("retry").onclick = () => this.startRetry();
    $("retry-again").onclick = () => this.look(this.retry.place, [], 0);
    $("retry-show").onclick = () => this.look(this.retry.place, [this.retry.best], 1);
    $("retry-leave").onclick = () => this.leave();
  }

  // Shows the position after the first `at` moves of a line that begins at a place.
  async look(place, moves, at) {
    const asked = ++this.asked;
    const { cursor } = this.page.view();
    const key = gameKey(this.page.view());
    try {
      const found = await this.page.ask(this.query("/api/scene", place, moves.slice(0, at)));
      if (asked !== this.asked) return; // another position was asked for meanwhile
      const played = [...this.page.view().moves.slice(0, place), ...moves.slice(0, at).map((move) => ({ text: move }))];
      const { scene, position, drawing } = withBoard({ ...this.page.view(), ...found, moves: played, cursor: place + at });
      this.shown = { key, cursor, place, moves, at, scene, position, drawing };
      this.page.redraw();
    } catch (error) {
      this.page.say(error.status ? error.message : text("connection_lost"));
    }
  }

  query(path, place, moves) {
    return `${path}?${this.page.language()}&place=${place}&moves=${moves.join(",")}`;
  }

  // The path to the picture of the board shown.
  picture() {
    const { place, moves, at } = this.shown ?? { place: this.page.view().cursor, moves: [], at: 0 };
    return this.query("/api/picture", place, moves.slice(0, at));
  }

  leave() {
    this.asked++;
    this.shown = this.retry = null;
    this.page.redraw();
  }

  // Ends when the game goes on elsewhere.
  check(view) {
    if (!this.shown) return;
    const { key, cursor, place } = this.shown;
    const moved = !view.duel && view.cursor !== cursor;
    if (key !== gameKey(view) || moved || place > view.moves.length) this.shown = this.retry = null;
  }

  // One move back or forward in the line; false if none is shown.
  step(by) {
    if (!this.shown || this.retry) return false;
    const { place, moves, at } = this.shown;
    if (moves.length === 0) this.goTo(place + by);
    else if (at + by <= 0) this.leave();
    else if (at + by <= moves.length) this.look(place, moves, at + by);
    return true;
  }

  // Shows an earlier position of a game whose position the page may not change.
  goTo(place) {
    if (place >= this.page.view().moves.length) this.leave();
    else this.look(Math.max(0, place), [], 0);
  }

  // The view with the position shown in place of that of the game.
  seen(view) {
    if (!this.shown) return view;
    const { scene, position, drawing, place, at, moves } = this.shown;
    const beside = { scene, position, drawing, cursor: place + at, thinking: false, thought: null, hint: null, known: null, human: !view.duel };
    if (!this.retry) return { ...view, ...beside, values: moves.length ? [] : view.values };
    const hidden = { evaluating: false, analysing: false, assessments: null, values: view.values.map(() => null), human: at === 0 };
    return { ...view, ...beside, ...hidden };
  }

  // The view for the list of moves, which has no marks while a better move is looked for.
  listed(view) {
    if (this.retry) return { ...view, cursor: this.retry.place, assessments: null };
    return this.shown && view.duel ? { ...view, cursor: this.shown.place } : view;
  }

  // A move on the board beside the game.
  play(move) {
    if (this.retry) this.page.send({ do: "try", place: this.retry.place, text: move }).then(() => this.showTried(move));
    else this.branch([move]);
  }

  // Another game from the position shown, with these moves more. The old one is kept.
  branch(more) {
    const view = this.page.view();
    const { place, moves, at } = this.shown;
    const record = JSON.parse(view.record);
    const line = [...record.moves.slice(0, place), ...moves.slice(0, at), ...more];
    const branch = { game: record.game, position: record.position, max_plies: record.max_plies, moves: line };
    const [white, black] = view.seats;
    const players = view.analysing ? { analyse: true } : { white, black };
    this.page.open({ record: JSON.stringify(branch), ...players }).catch((error) => this.page.say(error.message));
  }

  startRetry() {
    const view = this.page.view();
    const mistake = view.assessments?.[view.cursor - 1];
    if (!mistake) return;
    this.look(mistake.place, [], 0).then(() => {
      this.retry = { place: mistake.place, player: mistake.player, played: mistake.text, best: mistake.best };
      this.page.redraw();
    });
  }

  // Shows the position after a move that was tried, unless it was refused.
  showTried(move) {
    const { tried } = this.page.view();
    if (this.retry && tried?.place === this.retry.place && tried.text === move) this.look(tried.place, [move], 1);
  }

  // What is shown, in words; null if it is the game.
  status() {
    if (!this.shown) return null;
    const { moves, at, place } = this.shown;
    if (!this.retry) return at > 0 ? text("looking", { moves: moves.slice(0, at).join(" ") }) : text("looking_back", { n: place });
    const { player, played, best } = this.retry;
    if (at === 0) return text("retry_ask", { player: playerName(player), move: played });
    const [move] = moves;
    const { tried } = this.page.view();
    if (tried?.text !== move || tried.place !== place) return text("retry_solution", { move: best });
    if (tried.good === null) return text("retry_checking", { move });
    return tried.good ? text("retry_good", { move }) : text("retry_bad", { move, lost: percent(tried.lost / 2) });
  }

  buttons(view) {
    const line = this.shown !== null && !this.retry;
    const mistake = view.analysing && !this.shown && view.assessments?.[view.cursor - 1];
    $("line-play").hidden = !line || Boolean(view.duel);
    $("line-leave").hidden = !line;
    $("retry").hidden = !mistake?.mark;
    for (const id of ["retry-show", "retry-leave"]) $(id).hidden = !this.retry;
    $("retry-again").hidden = !this.retry || this.shown.at === 0;
    if (!this.shown) return;
    for (const id of ["resume", "next", "rematch", "return"]) $(id).hidden = true;
    $("back").disabled = $("first").disabled = Boolean(this.retry);
    const end = this.shown.at === this.shown.moves.length && this.shown.moves.length > 0;
    $("forward").disabled = Boolean(this.retry) || end;
    $("last").disabled = Boolean(this.retry);
    $("undo").disabled = $("redo").disabled = $("hint").disabled = true;
  }
}
