// Simulations per second of CPU time of the page without a server, from the start of each game:
//
//     node lab/tools/page_speed.mjs FOLDER [SIMULATIONS] [KERNEL,KERNEL…]
//
// FOLDER is what tools/build_page made. Each figure is the median of twelve searches.
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

const [page, sims = "10000", kernels = "portable,int8"] = process.argv.slice(2);
const folder = path.join(page, fs.readdirSync(page).find((name) => /^[0-9a-f]{16}$/.test(name)));
const load = (name) => zlib.gunzipSync(fs.readFileSync(path.join(folder, name)));
const imports = { page: { now: () => performance.now() } };
const program = (await WebAssembly.instantiate(load("program.bin"), imports)).instance.exports;

const encoder = new TextEncoder();
function put(bytes) {
  const place = program.room(bytes.length);
  new Uint8Array(program.memory.buffer, place, bytes.length).set(bytes);
}

let count = 0;
function seconds(game, kernel) {
  const body = JSON.stringify({ game, white: `trained?sims=${sims}&kernel=${kernel}`, black: "human" });
  put(encoder.encode(JSON.stringify({ path: "/api/sessions?lang=en", session: "", body, id: `${++count}`, seed: 1 })));
  const length = program.ask();
  const answer = new Uint8Array(program.memory.buffer, program.answer(), length);
  const { status, text } = JSON.parse(new TextDecoder().decode(answer));
  if (status !== 200) throw new Error(text);
  const before = process.cpuUsage();
  program.think();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

for (const game of ["jarmo", "guard", "tammi", "connect_four"]) {
  const name = encoder.encode(game);
  put(new Uint8Array([...name, ...load(`${game}.bin`)]));
  program.take_agent(name.length);
  for (const kernel of kernels.split(",")) {
    const all = Array.from({ length: 12 }, () => seconds(game, kernel)).sort((left, right) => left - right);
    console.log(game, kernel, Math.round(sims / all[6]));
  }
}
