// Learning in this tab: players, a learner and a judge, each a worker with an instance of the same program, which exchange
// bytes. Knows nothing of the document; `tell(what)` is called whenever something has changed.

import { agentOf, exams, levels, load } from "./folder.js";
import { keep } from "./learn_store.js";

const SLICE = 8; // training steps between two messages
const SAVE = 30_000; // milliseconds between two saves
const SOON = 5_000; // milliseconds to the first one
const REST = 2; // the judge rests for this many times as long as it worked
const MOST_CHECKPOINTS = 24;
const PAIRS = 10; // of games, for a rung of the ladder
const SHARES = [.7, .8, .9, .95, .98]; // of right decisions, for milestones
const PHASES = ["opening", "middle", "end"];
const IN_PHASE = .95; // the share that is a milestone in a phase of the game
const LEAST = 50; // decisions of a phase, or moves, for a milestone
const CAPTURE_PAIRS = 10; // of games, to see how often pieces are lost
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const json = (bytes) => JSON.parse(decoder.decode(bytes));
const right = ({ right, decisions }) => right / decisions;
const pause = (time) => new Promise((done) => setTimeout(done, time));

// A worker with an instance of the program.
class Instance {
  constructor(module, heard) {
    this.worker = new Worker(new URL("learn_worker.js", import.meta.url), { type: "module" });
    this.open = new Map();
    this.count = 0;
    this.worker.onmessage = ({ data }) => {
      const waiting = this.open.get(data.id);
      this.open.delete(data.id);
      if (!waiting) return heard?.(data);
      if (data.error) waiting.failed(new Error(data.error));
      else waiting.done(data.number ?? data.bytes);
    };
    this.worker.onerror = (event) => {
      const error = new Error(event.message || "a worker has stopped");
      for (const { failed } of this.open.values()) failed(error);
      this.open.clear();
      heard?.({ failed: error.message });
    };
    this.ready = this.post({ module });
  }

  post(message) {
    const id = ++this.count;
    return new Promise((done, failed) => {
      this.open.set(id, { done, failed });
      this.worker.postMessage({ id, ...message });
    });
  }

  ask(name, bytes, ...args) {
    return this.post({ name, bytes: typeof bytes === "string" ? encoder.encode(bytes) : bytes, args });
  }

  number(name, ...args) {
    return this.post({ name, args, number: true });
  }

  async told(name, bytes, ...args) {
    return json(await this.ask(name, bytes, ...args));
  }

  end() {
    this.worker.terminate();
    for (const { failed } of this.open.values()) failed(new Ended());
    this.open.clear();
  }
}

// The work of a trainer that was stopped.
class Ended extends Error {}

// The opponents of the ladder: names and specs. `b` is the shipped agent of the game.
export const ladder = (game) => [
  ...["random", "greedy", "rollout:100"].map((spec) => [spec, spec]),
  ...levels[game].map(([name, spec]) => [name, spec.replace("trained", "b")]),
  ["alphabeta:200000", "alphabeta:200000"],
];

// The text of the settings that the program reads: a KEY=VALUE in each line.
function textOf({ game, width, blocks, simulations, rate }, seed) {
  const lines = [`game.name=${game}`, `net.width=${width}`, `net.blocks=${blocks}`, `selfplay.simulations=${simulations}`];
  lines.push("selfplay.games=256", `learner.rate=${rate}`, `run.seed=${seed}`);
  return lines.join("\n");
}

// What is kept of a run, besides its settings: at first, this.
const fresh = () => ({
  checkpoint: null, owed: 0, step: 0, positions: 0, games: 0, seconds: 0, files: [], next: 0, // of the learner
  points: [], losses: [], checkpoints: [], milestones: [], rungs: {}, reached: {}, lost: null, // what was seen of it
});

export class Trainer {
  // `run` is what was kept of an earlier one, `agent` the file of an agent to begin with; both may be null.
  constructor(settings, run, agent, tell) {
    this.settings = settings;
    this.first = agent;
    this.tell = tell;
    Object.assign(this, fresh(), run);
    this.isNew = !run; // nothing of it is kept
    this.queue = []; // files of samples that the learner has not seen
    this.running = false;
    this.speed = 0;
    this.newest = null;
    this.game = null;
    this.ended = false;
    this.resting = null; // the promise of a pause
    this.counted = [0]; // games finished by each player
    this.recent = [];
  }

  async begin() {
    const { settings } = this;
    const module = await WebAssembly.compile(await load("learn.bin"));
    this.learner = new Instance(module);
    this.judge = new Instance(module);
    this.adviser = new Instance(module);
    this.exam = exams.includes(settings.game) ? await load(`${settings.game}.exam.bin`) : null;
    const text = textOf(settings, settings.seed);
    for (const one of [this.learner, this.judge, this.adviser]) {
      await one.ready;
      await one.ask("open", text);
    }
    if (this.checkpoint) {
      await this.learner.ask("resume_learning", this.checkpoint, this.owed);
      for (const { bytes } of this.files) await this.learner.ask("add_samples", bytes, 0);
    } else {
      await this.learner.ask("begin_learning", this.first ?? undefined);
    }
    if (this.exam) await this.judge.ask("take_exam", this.exam);
    this.newest = { step: this.step, agent: await this.learner.ask("agent", undefined, this.games) };
    this.players = [];
    this.counted = Array(settings.workers).fill(0);
    for (let number = 0; number < settings.workers; number++) {
      const player = new Instance(module, (heard) => this.heard(number, heard));
      await player.ready;
      await player.ask("open", textOf(settings, settings.seed + 1 + number + 1000 * this.points.length));
      await player.ask("play_with", this.newest.agent);
      this.players.push(player);
    }
    this.saved = performance.now() - SAVE + SOON;
    this.judging().catch((error) => this.fail(error));
    this.go();
  }

  // An error in one of the loops ends the learning.
  fail(error) {
    if (error instanceof Ended || this.ended) return;
    this.end();
    this.tell({ failed: error.message });
  }

  heard(number, { file, positions, games, failed }) {
    if (failed) {
      if (!this.ended) this.tell({ failed });
      return this.end();
    }
    if (!file) return;
    this.positions += positions;
    this.games += games - this.counted[number];
    this.counted[number] = games;
    const now = performance.now();
    this.recent.push([now, positions]);
    while (this.recent.length > 1 && now - this.recent[0][0] > 20_000) this.recent.shift();
    const span = (now - this.recent[0][0]) / 1000;
    if (span > 0) this.speed = this.recent.slice(1).reduce((sum, [, count]) => sum + count, 0) / span;
    this.queue.push(file);
    this.drive();
    this.feed();
  }

  // Players wait for a learner that is behind.
  drive() {
    const play = this.running && this.queue.length <= this.players.length;
    for (const player of this.players) player.worker.postMessage({ play });
  }

  go() {
    if (this.running || this.ended) return;
    this.running = true;
    this.since = performance.now();
    this.recent = [];
    this.drive();
    this.feed();
    this.tell({});
  }

  // Resolves once everything is kept, also if someone paused before.
  pause() {
    if (this.running) this.resting = this.rest();
    return this.resting;
  }

  async rest() {
    this.count();
    this.running = false;
    this.drive();
    this.tell({});
    await this.feeding;
    await this.save();
  }

  count() {
    if (!this.running) return;
    const now = performance.now();
    this.seconds += (now - this.since) / 1000;
    this.since = now;
  }

  end() {
    this.count();
    this.running = false;
    this.ended = true;
    for (const one of [this.learner, this.judge, this.adviser, ...(this.players ?? [])]) one?.end();
  }

  feed() {
    this.feeding ??= this.learn().catch((error) => this.fail(error)).finally(() => {
      this.feeding = null;
      if (this.running && this.queue.length) this.feed();
    });
  }

  // The learner sees the files that wait, and takes the steps that are due for them.
  async learn() {
    while (this.running && this.queue.length) {
      const bytes = this.queue.shift();
      await this.learner.ask("add_samples", bytes, 1);
      this.files.push({ number: this.next++, bytes });
      this.files.splice(0, this.files.length - await this.learner.number("files"));
      let due = await this.learner.number("steps_due");
      const steps = [];
      while (due > 0 && this.running) {
        steps.push(...await this.learner.told("learn", undefined, Math.min(due, SLICE)));
        due -= SLICE;
      }
      this.count();
      if (steps.length) {
        this.step = steps.at(-1).step;
        const mean = (part) => steps.reduce((sum, step) => sum + step[part], 0) / steps.length;
        this.losses.push({ seconds: this.seconds, total: mean("total"), policy: mean("policy"), result: mean("result") });
        if (this.losses.length > 600) this.losses = this.losses.filter((_, index) => index % 2 === 1);
        const agent = await this.learner.ask("agent", undefined, this.games);
        this.newest = { step: this.step, agent };
        for (const player of this.players) player.ask("play_with", agent).catch(() => {});
      }
      this.drive();
      this.tell({});
      if (performance.now() - this.saved > SAVE) await this.save();
    }
  }

  // Keeps everything. Called between two turns of the learner.
  async save() {
    if (this.ended || this.step === 0) return;
    this.saved = performance.now();
    this.checkpoint = await this.learner.ask("checkpoint");
    this.owed = await this.learner.number("owed");
    const run = { settings: this.settings };
    for (const name of Object.keys(fresh())) run[name] = this[name];
    run.files = [...this.files];
    try {
      await keep(run, this.isNew);
      this.isNew = false;
      for (const file of run.files) file.bytes = null; // the store has them, and the learner what is in them
      this.tell({ saved: true });
    } catch (error) {
      this.tell({ unsaved: error?.name === "QuotaExceededError" ? "full" : String(error?.message ?? error) });
    }
  }

  async judging() {
    for (let judged = -1; !this.ended; ) {
      if (!this.running || !this.newest || this.newest.step === judged) {
        await pause(300);
        continue;
      }
      const since = performance.now();
      const { step, agent } = this.newest;
      judged = step;
      this.count();
      const point = { step, seconds: this.seconds, positions: this.positions, games: this.games };
      await this.judge.ask("take_agent", agent, 0);
      if (this.exam) {
        const [alone, searched] = [await this.judge.told("examine", agent, 0, 2000), await this.judge.told("examine", agent, 64, 400)];
        Object.assign(point, { alone: right(alone), searched: right(searched) });
        this.mark(point, searched);
      }
      this.points.push(point);
      this.checkpoints.push({ step, seconds: point.seconds, agent });
      if (this.checkpoints.length > MOST_CHECKPOINTS) this.checkpoints = this.checkpoints.filter((_, index) => index % 2 === 0 || index > MOST_CHECKPOINTS - 3);
      this.tell({ judged: true });
      const [game] = (await this.pair("a?sims=32&sampling=1", "a?sims=32&sampling=1", step)).games;
      const [begun, played] = [await this.scenes({ start: "", moves: [] }), await this.scenes(game)];
      this.game = { step, moves: game.moves, result: game.result, layout: played.layout, scenes: [...begun.scenes, ...played.scenes] };
      this.tell({ game: true });
      await this.watchPieces(step);
      if (step > 0) await this.climb(step);
      await pause(Math.max(2000, REST * (performance.now() - since)));
    }
  }

  pair(first, second, seed) {
    return this.judge.told("play_pair", JSON.stringify({ first, second }), seed);
  }

  scenes(game) {
    return this.judge.told("scenes", JSON.stringify(game));
  }

  // Plays against the next opponent of the ladder, until it is clear whether more than half the points will be won.
  async climb(step) {
    const { game } = this.settings;
    const [opponent, spec] = ladder(game).find(([name]) => !this.rungs[name]?.won) ?? [];
    if (!opponent) return;
    if (spec.startsWith("b") && !this.shipped) {
      this.shipped = await agentOf(game).catch(() => null);
      if (!this.shipped) return; // offline, and never fetched before: the ladder waits
      await this.judge.ask("take_agent", this.shipped, 1);
    }
    const rung = { step, points: 0, games: 0 };
    this.rungs[opponent] = rung;
    const needed = 1.1 * PAIRS; // of 2 * PAIRS
    for (let number = 0; number < PAIRS && rung.points < needed && rung.points + 2 * PAIRS - rung.games >= needed; number++) {
      while (!this.running && !this.ended) await pause(300);
      const { score } = await this.pair("a?sims=64", spec, 100 * step + number);
      rung.points += score;
      rung.games += 2;
      this.tell({ climbing: true });
    }
    if (rung.points < needed) return;
    rung.won = true;
    this.milestones.push({ seconds: this.seconds, key: "beats", values: { opponent, points: rung.points, games: rung.games } });
    this.tell({ climbing: true });
  }

  // How often a piece is lost at once after a move of the network alone, against an opponent that takes what it can. Half as
  // often as at first is a milestone.
  async watchPieces(step) {
    if (this.lost === 0 || this.reached.fewer_lost) return;
    let [moves, lost] = [0, 0];
    for (let number = 0; number < CAPTURE_PAIRS; number++) {
      const { games } = await this.pair("a?sims=0", "greedy", number);
      for (const [place, game] of games.entries()) {
        const player = ["white", "black"][place];
        const { scenes } = await this.scenes(game);
        const left = scenes.map(({ pieces }) => pieces.filter((piece) => piece.player === player).length);
        for (let at = 2; at < scenes.length; at++) {
          if (scenes[at - 2].to_move !== player || scenes[at - 1].to_move === player) continue;
          moves += 1;
          lost += left[at] < left[at - 1];
        }
      }
    }
    const share = lost / moves;
    this.lost ??= step === 0 ? share : 0; // what a run began with is not known later
    if (moves < LEAST || share >= this.lost / 2) return;
    this.reached.fewer_lost = true;
    this.milestones.push({ seconds: this.seconds, key: "fewer_lost", values: { share, first: this.lost } });
    this.tell({ judged: true });
  }

  // Shares of right decisions that were reached for the first time, in all positions of the exam and in a phase of the game.
  // What the first network could do was not learned here.
  mark({ step, seconds }, score) {
    const marks = [{ key: "reached", shares: SHARES, tally: score }, ...PHASES.map((phase) => ({ key: `${phase}_right`, shares: [IN_PHASE], tally: score[phase] }))];
    for (const { key, shares, tally } of marks) {
      if (tally.decisions < LEAST) continue;
      for (const share of shares) {
        if (right(tally) < share || this.reached[key] >= share) continue;
        this.reached[key] = share;
        if (step > 0) this.milestones.push({ seconds, key, values: { share } });
      }
    }
  }

  // What the agent of a checkpoint thinks of a position.
  async opinion(agent, position) {
    // Without a pause between the two messages, so that no other agent takes its place.
    const [, opinion] = await Promise.all([this.adviser.ask("take_agent", agent, 0), this.adviser.told("opinion", position)]);
    return opinion;
  }

  // A match of two checkpoints; `heard(points, games)` follows it.
  async match(first, second, heard) {
    let points = 0;
    for (let number = 0; number < PAIRS; number++) {
      // Both agents again: meanwhile the adviser may have been asked what another one thinks.
      const [, , { score }] = await Promise.all([
        this.adviser.ask("take_agent", first, 0),
        this.adviser.ask("take_agent", second, 1),
        this.adviser.told("play_pair", JSON.stringify({ first: "a?sims=64", second: "b?sims=64" }), number),
      ]);
      points += score;
      heard(points, 2 * (number + 1));
    }
  }
}
