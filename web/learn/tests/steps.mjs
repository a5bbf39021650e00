// Learns with the program of the tab, as its workers would: one instance plays, the other learns, and they exchange bytes.
// node steps.mjs PROGRAM.wasm SETTINGS STEPS AGENT: writes the agent, and prints what it took as JSON.
import { readFileSync, writeFileSync } from "node:fs";

const [, , program, settings, steps, out] = process.argv;
const exam = new URL("../../../checkpoints/connect_four.exam", import.meta.url);
const module = new WebAssembly.Module(readFileSync(program));
const imports = { page: { random: () => Math.random() } };
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  (imports[from] ??= {})[name] ??= () => { throw new Error(`${name} is not there`); };
}

class Worker {
  constructor() {
    this.exports = new WebAssembly.Instance(module, imports).exports;
    this.ask("open", readFileSync(settings));
  }

  // Calls a function with bytes, and returns the bytes of its answer.
  ask(name, bytes = new Uint8Array(), ...more) {
    const place = this.exports.room(bytes.length);
    new Uint8Array(this.exports.memory.buffer, place, bytes.length).set(bytes);
    const length = this.exports[name](...more);
    const answer = new Uint8Array(this.exports.memory.buffer, this.exports.answer(), Math.abs(length)).slice();
    if (length < 0) throw new Error(new TextDecoder().decode(answer));
    return answer;
  }
}

const player = new Worker();
let learner = new Worker();
learner.ask("begin_learning");
player.ask("play_with", learner.ask("agent"));
const files = [];
const losses = [];
let positions = 0;
const spent = { playing: 0, learning: 0, judging: 0 };
const timed = (what, work) => {
  const begun = performance.now();
  const result = work();
  spent[what] += performance.now() - begun;
  return result;
};
while (losses.length < Number(steps)) {
  const due = Math.min(learner.exports.steps_due(), Number(steps) - losses.length);
  if (due > 0) {
    const learned = timed("learning", () => learner.ask("learn", undefined, due));
    losses.push(...JSON.parse(new TextDecoder().decode(learned)));
  }
  let file = new Uint8Array();
  while (file.length === 0) {
    positions += timed("playing", () => player.exports.play_round());
    file = player.ask("samples");
  }
  if (due > 0) player.ask("play_with", learner.ask("agent"));
  learner.ask("add_samples", file, 1);
  files.push(file);
  if (files.length === 2) {
    // The learner is closed, and another one continues from its checkpoint.
    const [checkpoint, owed] = [learner.ask("checkpoint"), learner.exports.owed()];
    learner = new Worker();
    learner.ask("resume_learning", checkpoint, owed);
    for (const file of files) learner.ask("add_samples", file, 0);
  }
}
const agent = learner.ask("agent");
writeFileSync(out, agent);
let refused = "";
try {
  learner.ask("add_samples", new Uint8Array(100), 1);
} catch (error) {
  refused = error.message;
}
const judge = new Worker();
const told = (bytes) => JSON.parse(new TextDecoder().decode(bytes));
judge.ask("take_exam", readFileSync(exam));
const tally = timed("judging", () => told(judge.ask("examine", agent, 16, 1000)));
judge.ask("take_agent", agent, 0);
const players = new TextEncoder().encode(JSON.stringify({ first: "a?sims=16", second: "random" }));
let score = 0;
for (let seed = 0; seed < 10; seed++) score += told(judge.ask("play_pair", players, seed)).score / 20;
console.log(JSON.stringify({
  first: losses[0].total,
  last: losses.at(-1).total,
  ms_per_step: spent.learning / losses.length,
  positions_per_s: (1000 * positions) / spent.playing,
  exam_s: spent.judging / 1000,
  right: tally.right / tally.decisions,
  score,
  mb: learner.exports.memory.buffer.byteLength / 2 ** 20,
  refused,
}));
