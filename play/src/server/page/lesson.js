// The guided lesson of a game: which step is shown. The steps are the server's.

import { text } from "./texts.js";

export class Lesson {
  constructor(game, language) {
    this.game = game;
    this.language = language; // of the query
    this.step = 0;
    this.steps = 1;
  }

  ask(ask, move) {
    return ask(`/api/lesson?${this.language()}`, { game: this.game, step: this.step, ...(move && { text: move }) });
  }

  async load(ask) {
    const { title, text: lesson, task, steps, solution, boards } = await this.ask(ask);
    this.steps = steps;
    this.answer = solution;
    const heading = text("lesson_step", { n: this.step + 1, all: steps, title });
    return { heading, lines: [lesson, task], boards, player: "white" };
  }

  async play(ask, move) {
    const { answer, boards } = await this.ask(ask, move);
    const over = answer.right;
    const said = over && !this.hasNext() ? `${answer.said} ${text("lesson_over")}` : answer.said;
    return { said, right: answer.right, over, boards };
  }

  solution(ask) {
    return this.play(ask, this.answer);
  }

  hasNext() {
    return this.step + 1 < this.steps;
  }

  hasBack() {
    return this.step > 0;
  }

  next() {
    this.step++;
  }

  back() {
    this.step--;
  }
}
