// The report on a finished game: how well each player played, when the game turned, and what is wrong with each mistake. It
// knows what the analysis of the session has found.

import { addMistakes } from "./deck.js";
import { element } from "./panels.js";
import { chance, moveBefore, percent, personOf, playerName, text, words } from "./texts.js";

const $ = (id) => document.getElementById(id);
const PHASES = ["phase_start", "phase_middle", "phase_end"];
const AHEAD = 0.1; // a smaller lead is none; it is also the loss from which a move is marked

// lichess's accuracy of a move, from 0 to 1, by the share of the points that it loses.
const accuracyOf = (share) => Math.min(1, Math.max(0, 1.031668 * Math.exp(-4.354 * share) - 0.031669));

// A player's accuracy over a game; null without a move.
function accuracy(assessments, player) {
  const own = assessments.filter((one) => one.player === player && one.lost !== null);
  return own.length ? own.reduce((sum, { lost }) => sum + accuracyOf(lost / 2), 0) / own.length : null;
}

// The number of moves played before the one that gave the winner a lead for good; null if there is none.
function turningPoint({ values }, winner) {
  const lead = (value) => (winner === "white" ? value : -value);
  const place = values.findLastIndex((value) => value !== null && lead(value) <= AHEAD);
  return place < 0 || place + 1 >= values.length ? null : place;
}

const inPlies = (plies) => (plies > 1 ? text("report_plies", { n: plies }) : plies === 1 ? text("report_ply") : "");

// What is wrong with a move, and whether that is proven: {sentence, proven}, with the key of the text that says how far.
function reason({ assessments }, { place, player, text: move, best, before, after, certain }, outcome) {
  const share = (value) => chance(player === "white" ? value : -value);
  const next = assessments[place + 1];
  const end = next ? next.certain : { winner: outcome.winner ?? null, plies: 0 };
  const reply = next?.best ? text("report_reply", { move: next.best }) : "";
  const holds = certain && (certain.winner === player ? "wins" : certain.winner === null ? "draws" : null);
  const fails = end && (end.winner === null ? "draws" : end.winner === player ? null : "loses");
  const good = text(`report_best_${holds || "worth"}`, { move: best, plies: inPlies(certain?.plies), share: share(before) });
  const bad = text(`report_move_${fails || "worth"}`, { move, plies: inPlies(end?.plies), share: share(after), reply });
  const known = Number(Boolean(holds)) + Number(Boolean(fails));
  return { sentence: `${good}; ${bad}.`, proven: ["opinion", "partly_proven", "proven"][known] };
}

// How a finished game ended whose main line is shown; null of any other.
function outcomeOf(view) {
  const { outcome, moves } = JSON.parse(view.record);
  const isMain = moves.length === view.moves.length && moves.every((move, place) => move === view.moves[place].text);
  return isMain && !view.duel && view.evaluates ? outcome ?? null : null;
}

export class Report {
  // `page` has view(), send(command), ask(path), language(), redraw(), and drill(cards) for exercises with mistakes.
  constructor(page) {
    this.page = page;
    this.on = false;
    this.drawn = "";
    $("report-open").onclick = async () => {
      await page.send({ do: "analyse", on: true });
      this.on = true;
      page.redraw();
    };
  }

  // Draws the report, if it is open and the game is over. It is hidden while a better move is looked for.
  show(view, retrying) {
    const outcome = outcomeOf(view);
    $("report-open").hidden = !outcome;
    this.on &&= view.analysing && outcome !== null;
    document.documentElement.toggleAttribute("data-report", this.on && !retrying);
    $("report-open").setAttribute("aria-selected", this.on);
    const wanted = this.on ? JSON.stringify([view.session, view.number, words.language, view.unstudied, view.assessments]) : "";
    if (wanted === this.drawn) return;
    this.drawn = wanted;
    $("report").replaceChildren(...(this.on ? this.content(view, outcome) : []));
  }

  content(view, outcome) {
    if (view.unstudied > 0) {
      const label = text("analysing", { n: view.unstudied });
      return [element("p", { textContent: label }), element("progress", { max: view.values.length, value: view.values.length - view.unstudied, ariaLabel: label })];
    }
    const marked = view.assessments.filter(({ mark }) => mark);
    const parts = [this.table(view, marked)];
    const turn = outcome.winner ? turningPoint(view, outcome.winner) : null;
    if (turn !== null) parts.push(element("p", { className: "turn", textContent: text("turning_point", { move: moveBefore(view, turn + 1), player: playerName(outcome.winner, view.game) }) }));
    if (marked.length === 0) return [...parts, element("p", { textContent: text("no_mistakes") })];
    const person = personOf(view.seats);
    const own = marked.filter(({ player }) => player === (person ?? player));
    if (person) this.cards(view, own).then(addMistakes);
    const learn = element("button", { className: "main", textContent: text("learn_mistakes"), disabled: own.length === 0 });
    learn.onclick = () => this.learn(view, own);
    const rows = marked.map((one) => {
      const { sentence, proven } = reason(view, one, outcome);
      const button = element("button", { textContent: `${moveBefore(view, one.place + 1)} ${one.mark}` });
      button.onclick = () => this.page.send({ do: "go", place: one.place + 1 });
      return element("li", {}, button, element("span", { className: `sure ${proven}`, textContent: text(proven) }), element("p", { textContent: sentence }));
    });
    return [...parts, learn, element("ol", {}, ...rows)];
  }

  // A column for each player: the accuracy, and the marked moves of each third of the game.
  table(view, marked) {
    const thirdOf = ({ place }) => Math.min(2, Math.floor((3 * place) / view.moves.length));
    const players = ["white", "black"];
    const cells = (values) => values.map((value) => element("td", { textContent: value }));
    const share = (player) => {
      const found = accuracy(view.assessments, player);
      return found === null ? "–" : percent(found);
    };
    const head = (name) => element("th", { scope: "row", textContent: text(name) });
    const rows = PHASES.map((phase, third) => element("tr", {}, head(phase), ...cells(players.map((player) => marked.filter((one) => one.player === player && thirdOf(one) === third).length))));
    const names = players.map((player) => element("th", { scope: "col", textContent: playerName(player, view.game) }));
    return element("table", {}, element("tr", {}, element("td"), ...names), element("tr", { className: "accuracy" }, head("accuracy"), ...cells(players.map(share))), ...rows);
  }

  // Exercises with these mistakes.
  async learn(view, mistakes) {
    this.page.drill(await this.cards(view, mistakes));
  }

  // The positions before these mistakes.
  cards(view, mistakes) {
    return Promise.all(mistakes.map(async ({ place, player, text: move, best }) => {
      const { position } = await this.page.ask(`/api/scene?${this.page.language()}&place=${place}`);
      return { game: view.game, position, player, move, best };
    }));
  }
}
