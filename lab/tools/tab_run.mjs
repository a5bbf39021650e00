// Learns as a browser tab does, in Node, for this many minutes of CPU time:
//
//     node lab/tools/tab_run.mjs LEARN.wasm SETTINGS MINUTES RUN
//
// SETTINGS has a KEY=VALUE in each line. RUN gets the checkpoints and the times of a run of `jarmo train`, as far as
// time_to_strength.py reads them. At the end it prints how fast the player and the learner are, each by itself.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { learned } from "../../web/learn/tests/learning.mjs";

const [program, settings, minutes, run] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(program));
const checkpoints = path.join(run, "checkpoints");
mkdirSync(checkpoints, { recursive: true });
const { losses, positions, spent } = learned(module, readFileSync(settings), Infinity, (step, agent) => {
  const { user, system } = process.cpuUsage();
  const seconds = (user + system) / 1e6;
  writeFileSync(path.join(checkpoints, `step-${String(step).padStart(9, "0")}.safetensors`), agent);
  appendFileSync(path.join(run, "metrics.jsonl"), `${JSON.stringify({ step, timing: { cpu_seconds: seconds } })}\n`);
  return seconds < 60 * minutes;
});
console.log(`${Math.round((1000 * positions) / spent.playing)} positions/s, ${(spent.learning / losses.length).toFixed(1)} ms per training step`);
