// A lesson or puzzles on the board, in place of the game. The game stays with the server meanwhile.
//
// A task has `load(ask)`, which gives {heading, lines, boards, player}, and `play(ask, text, show)`, which gives
// {said, right, over, again, boards}; until then it may `show(boards, said)`. `boards` are shown one after another, and with
// `again` the person has to ask for another try. It may have a `note()`, the content of a line below the buttons.

import { writeAddress } from "./address.js";
import { falls } from "./board.js";
import { cards, element } from "./panels.js";
import { sound } from "./sound.js";
import { text } from "./texts.js";

const $ = (id) => document.getElementById(id);
const PAUSE = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 650; // milliseconds between boards

export class Exercise {
  // `ask(path, body)` asks the server; `left()` is called when the game comes back, and `analyse(record)` to analyse a
  // game in its place.
  constructor(board, { ask, left, analyse }) {
    this.board = board;
    this.ask = ask;
    this.left = left;
    this.task = null;
    this.view = null; // what is on the board; null if it is the game
    this.turn = 0; // counts what the person has asked for; an answer to something earlier is dropped
    this.waiting = false; // for an answer of the server; a second click on the same move does nothing
    this.loaded = false; // whether the board shows the task
    $("exercise-next").onclick = () => this.go("next");
    $("exercise-back").onclick = () => this.go("back");
    $("exercise-again").onclick = () => this.load(this.over);
    $("exercise-solution").onclick = () => this.solution();
    $("exercise-leave").onclick = () => (history.state?.exercise ? history.back() : this.leave());
    $("exercise-analyse").onclick = () => {
      const record = this.task.analysis;
      this.leave();
      analyse(record);
    };
  }

  get on() {
    return this.task !== null;
  }

  async open(task) {
    this.task = task;
    document.documentElement.dataset.mode = "exercise";
    this.view = null;
    $("exercise-heading").textContent = "";
    await this.load();
    $("exercise-heading").focus();
  }

  // Asks the server; null if the person has asked for something else meanwhile.
  async request(work) {
    const turn = ++this.turn;
    this.waiting = true;
    try {
      const answer = await work();
      return turn === this.turn && this.on ? answer : null;
    } catch (error) {
      if (turn === this.turn) {
        this.say(error.status ? error.message : text("connection_lost"), false);
        $("exercise-again").hidden = false;
      }
      return null;
    } finally {
      if (turn === this.turn) this.waiting = false;
    }
  }

  // Shows the task; one that is `over` stays so.
  async load(over = false) {
    this.over = over;
    this.loaded = false;
    const found = await this.request(() => this.task.load(this.ask));
    if (!found) return;
    this.loaded = true;
    const { heading, lines, boards, player } = found;
    this.flipped = player === "black" && !falls(boards[0].layout);
    $("exercise-heading").textContent = heading;
    if (this.task.address) writeAddress(false, history.state, this.task.address);
    document.title = `${text(`game_${boards[0].game}`)} – ${heading}`;
    $("title").textContent = text(`game_${boards[0].game}`);
    document.documentElement.dataset.game = boards[0].game;
    $("exercise-text").replaceChildren(...lines.map((line) => element("p", { textContent: line })));
    $("exercise-back").hidden = !this.task.back;
    $("exercise-back").disabled = this.task.back && !this.task.hasBack();
    this.themes(this.task.themes ?? []);
    this.buttons(over);
    this.say("", true);
    await this.draw(boards, !over);
  }

  // The themes to choose from, as {name, label}.
  themes(themes) {
    const box = $("exercise-theme");
    box.hidden = themes.length === 0;
    box.replaceChildren(...themes.map(({ name, label }) => new Option(label, name)));
    box.value = this.task.theme;
    box.onchange = () => {
      this.task.theme = box.value;
      this.task.next();
      this.load();
    };
  }

  // The main button is the next step once the task is done.
  buttons(over, again = false) {
    const last = over && !this.task.hasNext();
    $("exercise-again").hidden = !again;
    $("exercise-next").classList.toggle("main", over && !last);
    $("exercise-leave").classList.toggle("main", last);
    $("exercise-next").disabled = !this.task.hasNext();
    $("exercise-solution").disabled = over;
    $("exercise-note").replaceChildren(...(this.task.note?.() ?? []));
    $("exercise-analyse").hidden = !this.task.analysis;
  }

  say(said, right) {
    $("exercise-said").textContent = said;
    $("exercise-said").classList.toggle("bad", !right);
  }

  async draw(boards, playable) {
    const turn = this.turn;
    for (const [place, board] of boards.entries()) {
      if (place > 0) await new Promise((done) => setTimeout(done, PAUSE));
      if (turn !== this.turn || !this.on) return;
      const human = playable && place === boards.length - 1 && board.scene.outcome === null;
      if (this.view && board.scene.last) sound(board.scene);
      this.view = { ...board, human, seats: null };
      this.board.flipped = this.flipped;
      this.board.show(this.view, []);
      cards(this.view, this.flipped, null);
    }
  }

  async play(move) {
    if (this.waiting || !this.loaded) return;
    const answer = await this.request(() => {
      const { turn } = this;
      const show = (boards, said) => {
        if (turn !== this.turn) return;
        this.say(said, true);
        this.draw(boards, false);
      };
      return this.task.play(this.ask, move, show);
    });
    if (answer) await this.answered(answer);
  }

  async answered({ said, right, over, again = false, boards }) {
    this.over = over;
    this.say(said, right);
    this.buttons(over, again);
    await this.draw(boards, !over && !again);
  }

  async solution() {
    if (this.waiting || !this.loaded) return;
    const answer = await this.request(() => this.task.solution(this.ask));
    if (answer) await this.answered(answer);
  }

  async go(way) {
    if (this.waiting || (way === "next" && !this.task.hasNext())) return;
    this.task[way]();
    await this.load();
  }

  leave() {
    this.turn++;
    this.task = null;
    this.view = null;
    delete document.documentElement.dataset.mode;
    this.left();
  }
}
