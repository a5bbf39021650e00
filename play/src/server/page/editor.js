// The editor of positions: pieces are put down and taken away by click or key, and the server says whether the position is legal.

import { Board, make, PIECE_BOX, pieceShape } from "./board.js";
import { element } from "./panels.js";
import { cellLabel, playerName, text, words } from "./texts.js";

const $ = (id) => document.getElementById(id);

// A board on which every cell can be chosen.
class SetupBoard extends Board {
  constructor(svg, touch, label) {
    super(svg, () => {}, label, () => {});
    this.touch = touch;
  }

  choose(cell) {
    this.touch(cell);
  }
}

export class Editor {
  // `page` has ask(path, body), view(), seen(), open(opening), say(message) and language().
  constructor(page) {
    this.page = page;
    this.asked = 0;
    this.checked = null; // the latest question about a position; `leave` waits for its answer
    this.position = null; // the text of the position, once it is known to be legal
    this.from = ""; // the position from which editing began; if the editor is opened there again, it still has the changes
    this.board = new SetupBoard($("editor-board"), (cell) => this.touch(cell), (cell) => cellLabel(this.view(), cell, {}));
    $("editor-open").onclick = () => this.open();
    $("editor-empty").onclick = () => {
      this.pieces.clear();
      this.check();
    };
    $("editor-start").onclick = () => this.take({ text: words.starts[this.game] });
    $("editor-text").onchange = (event) => this.take({ text: event.target.value });
    $("editor-play").onclick = () => this.leave({});
    $("editor-analyse").onclick = () => this.leave({ analyse: true });
  }

  async open() {
    const { position } = this.page.seen();
    const from = [words.language, this.page.view().game, position].join();
    if (from !== this.from) {
      this.from = "";
      this.game = this.page.view().game;
      this.board.view = null; // drawn anew
      if (!await this.take({ text: position })) return this.page.say($("editor-message").textContent);
      this.from = from;
    }
    $("editor-box").showModal();
    this.draw();
  }

  // What the board shows, in the form of a view.
  view() {
    const pieces = [...this.pieces].map(([cell, piece]) => ({ cell, ...piece, leaving: false }));
    const scene = { pieces, legal: [], notes: [], last: null, winning: [], outcome: null, to_move: this.mover };
    return { game: this.game, layout: this.layout, cursor: 0, human: true, scene };
  }

  draw() {
    this.board.show(this.view(), []);
  }

  // Takes over a position if it is legal; otherwise says why it is not.
  take(wanted) {
    return this.request(wanted, ({ scene, layout, palette, fields }) => {
      if (!scene) return;
      this.layout = layout;
      this.pieces = new Map(scene.pieces.map(({ cell, player, strong }) => [cell, { player, strong }]));
      this.mover = scene.to_move;
      this.palette = palette;
      this.form(fields);
      this.draw();
    });
  }

  // Asks whether the position on the board is legal.
  check() {
    this.draw();
    const pieces = [...this.pieces].map(([cell, piece]) => ({ cell, ...piece }));
    const setup = { pieces, to_move: this.mover, fields: this.palette.fields.map((field, index) => this.value(field, index)) };
    return this.request({ setup });
  }

  // Asks about a position; `took(answer)` is called before the answer is told. Returns whether there was one.
  request(wanted, took = () => {}) {
    this.position = null;
    this.checked = this.answer(wanted, took, ++this.asked);
    return this.checked;
  }

  async answer(wanted, took, asked) {
    try {
      const checked = await this.page.ask(`/api/setup?${this.page.language()}`, wanted);
      if (asked !== this.asked) return true; // another one was asked about meanwhile
      took(checked);
      this.tell(checked);
      return true;
    } catch (error) {
      if (asked !== this.asked) return true;
      $("editor-play").disabled = $("editor-analyse").disabled = true;
      this.complain(error);
      return false;
    }
  }

  tell({ text: position, problem, scene }) {
    this.position = problem ? null : position;
    $("editor-text").value = position;
    $("editor-play").disabled = $("editor-analyse").disabled = Boolean(problem);
    $("editor-message").textContent = problem ?? text(scene.outcome ? "editor_over" : "editor_fine");
    $("editor-message").classList.toggle("bad", Boolean(problem));
  }

  complain(error) {
    $("editor-message").textContent = error.status ? error.message : text("connection_lost");
    $("editor-message").classList.add("bad");
  }

  // The tools, the player to move, and the other fields of the position.
  form(values) {
    const { strong, mover, fields } = this.palette;
    const tools = ["white", "black"].flatMap((player) => (strong ? [false, true] : [false]).map((other) => ({ player, strong: other })));
    this.tools = [...tools, null];
    const radio = (group, index, checked, label, picture) => {
      const input = element("input", { type: "radio", name: group, value: index, checked });
      return element("label", {}, input, ...picture, label);
    };
    const before = document.querySelector("input[name=editor-tool]:checked");
    const chosen = this.formOf === this.game ? Number(before.value) : 0;
    this.formOf = this.game;
    $("editor-tools").replaceChildren(element("legend", { textContent: text("editor_tool") }), ...this.tools.map((tool, index) => {
      const checked = index === chosen;
      if (!tool) return radio("editor-tool", index, checked, text("editor_remove"), []);
      const picture = make("svg", { viewBox: PIECE_BOX, "aria-hidden": "true" }, pieceShape(this.game, tool));
      const name = text(`${tool.strong ? "strong" : "piece"}_${this.game}`);
      return radio("editor-tool", index, checked, `${playerName(tool.player, this.game)}: ${name}`, [picture]);
    }));
    $("editor-mover").hidden = !mover;
    $("editor-mover").replaceChildren(element("legend", { textContent: text("editor_mover") }), ...["white", "black"].map((player) => {
      const label = radio("editor-mover", player, player === this.mover, playerName(player, this.game), []);
      label.firstChild.onchange = () => {
        this.mover = player;
        this.check();
      };
      return label;
    }));
    $("editor-fields").replaceChildren(...fields.flatMap((field, index) => this.inputs(field, index, values[index])));
  }

  // The label and the inputs of a field.
  inputs(field, index, value) {
    const id = `editor-field-${index}`;
    const { key, kind } = field;
    const listen = (input) => {
      input.onchange = () => this.check();
      return input;
    };
    const label = element("label", { htmlFor: id, textContent: text(key) });
    if (kind.choice) {
      const select = listen(element("select", { id }));
      for (const word of kind.choice) select.append(new Option(text(`${key}_${word}`), word));
      select.value = value;
      return [label, select];
    }
    if (kind.text) {
      label.textContent += ` (${text("field_form", { text: kind.text })})`;
      return [label, listen(element("input", { id, value, placeholder: kind.text, spellcheck: false }))];
    }
    const number = (name, most, start, title) => listen(element("input", { id: name, type: "number", min: 0, max: most, value: start, ariaLabel: title }));
    if (kind.number !== undefined) return [label, number(id, kind.number, value, text(key))];
    label.textContent += ` (${playerName("white", this.game)}, ${playerName("black", this.game)})`;
    const [white, black] = value.split(",");
    const title = (player) => `${text(key)}, ${playerName(player, this.game)}`;
    return [label, element("span", { className: "pair" }, number(id, kind.pair, white, title("white")), number(`${id}-black`, kind.pair, black, title("black")))];
  }

  // The text of a field.
  value({ kind, usual }, index) {
    const id = `editor-field-${index}`;
    const read = (name, empty) => $(name).value.trim().replaceAll(/\s+/g, "") || empty;
    if (kind.pair === undefined) return read(id, usual);
    return `${read(id, "0")},${read(`${id}-black`, "0")}`;
  }

  // Puts down the chosen piece, or takes away what stands there. Stones fall, and the highest is taken first.
  touch(cell) {
    const tool = this.tools[Number(document.querySelector("input[name=editor-tool]:checked").value)];
    const place = this.layout.style === "slots" ? this.inColumn(cell, tool) : cell;
    const there = this.pieces.get(place);
    const same = tool && there?.player === tool.player && there.strong === tool.strong;
    if (!tool || same) this.pieces.delete(place);
    else this.pieces.set(place, { ...tool });
    this.check();
  }

  inColumn(cell, tool) {
    if (tool && this.pieces.has(cell)) return cell;
    const { cells } = this.layout;
    const column = cells.map((other, index) => index).filter((index) => cells[index].column === cells[cell].column);
    const free = column.filter((index) => !this.pieces.has(index));
    const low = (a, b) => cells[a].row - cells[b].row;
    if (tool) return free.sort(low)[0] ?? cell;
    return column.filter((index) => this.pieces.has(index)).sort(low).at(-1) ?? cell;
  }

  // Plays or analyses the position, once the latest change was checked.
  async leave(how) {
    await this.checked;
    if (this.position === null) return;
    const { seats: [white, black], duel } = this.page.view();
    const record = JSON.stringify({ game: this.game, position: this.position, moves: [] });
    const players = duel || how.analyse ? {} : { white, black };
    try {
      if (!await this.page.open({ record, ...players, ...how })) return;
      $("editor-box").close();
      this.from = "";
    } catch (error) {
      this.complain(error);
    }
  }
}
