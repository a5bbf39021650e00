// node steps.mjs PROGRAM.wasm SETTINGS STEPS AGENT: learns, writes the agent, and prints what it took as JSON.
import { readFileSync, writeFileSync } from "node:fs";
import { Program, checksum, learned } from "./learning.mjs";

const [, , program, settings, steps, out] = process.argv;
const exam = new URL("../../../checkpoints/connect_four.exam", import.meta.url);
const module = new WebAssembly.Module(readFileSync(program));
const { agent, losses, positions, spent, learner } = learned(module, readFileSync(settings), Number(steps));
writeFileSync(out, agent);
let refused = "";
try {
  learner.ask("add_samples", new Uint8Array(100), 1);
} catch (error) {
  refused = error.message;
}
const judge = new Program(module, readFileSync(settings));
judge.ask("take_exam", readFileSync(exam));
const begun = performance.now();
const tally = judge.told("examine", agent, 16, 1000);
const judging = performance.now() - begun;
judge.ask("take_agent", agent, 0);
const players = new TextEncoder().encode(JSON.stringify({ first: "a?sims=16", second: "random" }));
let score = 0;
for (let seed = 0; seed < 10; seed++) score += judge.told("play_pair", players, seed).score / 20;
console.log(JSON.stringify({
  checksum: await checksum(agent),
  first: losses[0].total,
  last: losses.at(-1).total,
  ms_per_step: spent.learning / losses.length,
  positions_per_s: (1000 * positions) / spent.playing,
  exam_s: judging / 1000,
  right: tally.right / tally.decisions,
  score,
  mb: learner.exports.memory.buffer.byteLength / 2 ** 20,
  refused,
}));
