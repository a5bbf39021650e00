// Looking beside the game: earlier positions, the moves of a line, and a better move in place of a mistake. The game
// stays as it is until the person plays on from there.

import { gameKey } from "./kept.js";
import { withBoard } from "./plain.js";
import { lookedBack, percent, playerName, text } from "./texts.js";

const $ = (id) => document.getElementById(id);

export class Study {
  // `page` has ask(path), view(), send(command), playOn(command), say(message), redraw() and language().
  constructor(page) {
    this.page = page;
    this.shown = null; // {key, node, place, moves, at, scene, position}: the position after `at` moves of a line
    this.retry = null; // {key, node, place, player, played, best, tried, added}: moves that are tried are variations until the end
    this.asked = 0;
    $("line-play").onclick = () => this.playOn([]);
    $("line-leave").onclick = () => this.leave();
    $("retry").onclick = () => this.startRetry();
    $("retry-again").onclick = () => this.lookAgain([]);
    $("retry-show").onclick = () => this.lookAgain([this.retry.best]);
    $("retry-leave").onclick = () => this.endRetry();
  }

  // Shows the position after the first `at` moves of a line that begins at a place.
  async look(place, moves, at) {
    const asked = ++this.asked;
    const { cursor, line } = this.page.view();
    const [key, node] = [gameKey(this.page.view()), line[cursor]];
    try {
      const found = await this.page.ask(this.query("/api/scene", place, moves.slice(0, at)));
      if (asked !== this.asked) return; // another position was asked for meanwhile
      const played = [...this.page.view().moves.slice(0, place), ...moves.slice(0, at).map((move) => ({ text: move }))];
      const { scene, position, drawing } = withBoard({ ...this.page.view(), ...found, moves: played, cursor: place + at });
      this.shown = { key, node, place, moves, at, scene, position, drawing };
      this.page.redraw();
    } catch (error) {
      this.page.say(error.status ? error.message : text("connection_lost"));
    }
  }

  query(path, place, moves) {
    return `${path}?${this.page.language()}&place=${place}&moves=${moves.join(",")}`;
  }

  // The path to something about the board shown, such as its picture.
  here(path) {
    const { place, moves, at } = this.shown ?? { place: this.page.view().cursor, moves: [], at: 0 };
    return this.query(path, place, moves.slice(0, at));
  }

  leave() {
    this.asked++;
    this.shown = this.retry = null;
    this.page.redraw();
  }

  // Ends when the game goes on elsewhere.
  check(view) {
    if (this.retry && (this.retry.key !== gameKey(view) || !view.analysing)) {
      const { key, added } = this.retry;
      this.retry = null;
      if (key === gameKey(view)) this.remove(added.filter((node) => !view.line.includes(node)));
    }
    if (!this.shown) return;
    const { key, node, place } = this.shown;
    const moved = !view.duel && view.line[view.cursor] !== node;
    if (key !== gameKey(view) || moved || place > view.moves.length) this.shown = null;
  }

  // One move back or forward in the line; false if none is shown.
  step(by) {
    if (this.retry) return true;
    if (!this.shown) return false;
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
    const hidden = { evaluating: false, analysing: false, assessments: null, values: view.values.map(() => null) };
    if (!this.shown) return this.retry ? { ...view, ...hidden, human: false } : view;
    const { scene, position, drawing, place, at, moves } = this.shown;
    const beside = { scene, position, drawing, cursor: place + at, thinking: false, thought: null, hint: null, known: null, human: !view.duel };
    if (!this.retry) return { ...view, ...beside, values: moves.length ? [] : view.values };
    return { ...view, ...beside, ...hidden, human: at === 0 };
  }

  // The view for the list of moves, which has no marks while a better move is looked for.
  listed(view) {
    if (this.retry) return { ...view, cursor: this.retry.place, assessments: null };
    return this.shown && view.duel ? { ...view, cursor: this.shown.place } : view;
  }

  // A move on the board beside the game.
  play(move) {
    if (this.retry) this.tryMove(move);
    else this.playOn([move]);
  }

  // The moves up to the position shown and then these become moves of the game: a variation, while it is analysed.
  playOn(more) {
    const { place, moves, at } = this.shown;
    this.page.playOn({ do: "line", place, moves: [...moves.slice(0, at), ...more] });
  }

  startRetry() {
    const view = this.page.view();
    const mistake = view.assessments?.[view.cursor - 1];
    if (!mistake) return;
    const { place, player, text: played, best } = mistake;
    this.look(place, [], 0).then(() => {
      this.retry = { key: gameKey(view), node: view.line[view.cursor], place, player, played, best, tried: null, added: [] };
      this.page.redraw();
    });
  }

  // The position before the mistake, or after the best move.
  lookAgain(moves) {
    this.retry.tried = null;
    this.look(this.retry.place, moves, moves.length);
  }

  // A move in place of the mistake becomes a variation, which the analysis evaluates as any other.
  async tryMove(move) {
    const { retry } = this;
    const before = new Set(this.page.view().tree.map(({ node }) => node));
    await this.page.send({ do: "line", place: retry.place, moves: [move] });
    const { line } = this.page.view();
    const node = line[retry.place + 1];
    if (this.retry !== retry || this.shown) return; // it was refused
    retry.tried = node;
    if (!before.has(node)) retry.added.push(node);
    this.page.redraw();
  }

  // Takes the variations away again, and goes back to the mistake.
  async endRetry() {
    const { added, node } = this.retry;
    this.leave();
    await this.remove(added);
    await this.page.send({ do: "show", node });
  }

  async remove(variations) {
    for (const node of variations) await this.page.send({ do: "remove", node });
  }

  // What is shown, in words; null if it is the game.
  status() {
    if (this.retry) return this.judged();
    if (!this.shown) return null;
    const { moves, at, place } = this.shown;
    return at > 0 ? text("looking", { moves: moves.slice(0, at).join(" ") }) : lookedBack(this.page.view(), place);
  }

  // The task, or what became of the move that was tried.
  judged() {
    const { player, played, best, place, tried } = this.retry;
    if (this.shown) return this.shown.at === 0 ? text("retry_ask", { player: playerName(player, this.page.view().game), move: played }) : text("retry_solution", { move: best });
    const { assessments, line } = this.page.view();
    const { text: move, lost, mark } = assessments?.[place] ?? {};
    if (tried === null || line[place + 1] !== tried) return text("retry_ask", { player: playerName(player, this.page.view().game), move: played });
    if (lost === null) return text("retry_checking", { move });
    return mark === "" ? text("retry_good", { move }) : text("retry_bad", { move, lost: percent(lost / 2) });
  }

  buttons(view) {
    const line = this.shown !== null && !this.retry;
    const mistake = view.analysing && !this.shown && !this.retry && view.assessments?.[view.cursor - 1];
    const over = line && !view.analysing && this.shown.scene.outcome;
    $("line-play").hidden = !line || Boolean(view.duel || over);
    $("line-play").textContent = $("line-play").title = text(view.analysing ? "add_line" : "resume");
    $("line-leave").hidden = !line;
    $("retry").hidden = !mistake?.mark;
    for (const id of ["retry-show", "retry-leave"]) $(id).hidden = !this.retry;
    $("retry-again").hidden = !this.retry || this.shown?.at === 0;
    if (!this.shown && !this.retry) return;
    for (const id of ["resume", "next", "rematch", "return", "pause"]) $(id).hidden = true;
    $("back").disabled = $("first").disabled = Boolean(this.retry);
    const end = () => this.shown.at === this.shown.moves.length && this.shown.moves.length > 0;
    $("forward").disabled = Boolean(this.retry) || end();
    $("last").disabled = Boolean(this.retry);
    $("undo").disabled = $("redo").disabled = $("hint").disabled = true;
  }
}
