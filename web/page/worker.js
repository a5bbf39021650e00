// Runs the program: answers the page, and thinks in between.

import { load } from "./folder.js";

const PAUSE = 700; // milliseconds between the moves of two agents
const OWN = "own-agents";
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const waiting = new Map(); // what waits for news, by its id
let program = null;

// Starts the program, and again after a bug in it: then the page goes on with the game that it has kept.
async function start() {
  const imports = { page: { now: () => performance.now() } };
  const { instance } = await WebAssembly.instantiate(await load("program.bin"), imports);
  program = instance.exports;
  const cache = await self.caches?.open(OWN).catch(() => null);
  for (const key of (await cache?.keys()) ?? []) {
    const bytes = await (await cache.match(key)).arrayBuffer();
    give("take_own", decodeURIComponent(key.url.split("/").at(-1)), new Uint8Array(bytes));
  }
}

// Puts bytes where the program finds them.
function put(...parts) {
  let place = program.room(parts.reduce((sum, part) => sum + part.length, 0));
  for (const part of parts) {
    new Uint8Array(program.memory.buffer, place, part.length).set(part);
    place += part.length;
  }
}

const got = (length) => decoder.decode(new Uint8Array(program.memory.buffer, program.answer(), length));

function give(what, name, bytes) {
  const told = encoder.encode(name);
  put(told, bytes);
  return program[what](told.length);
}

function ask(asked) {
  const random = crypto.getRandomValues(new Uint8Array(16));
  const id = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
  put(encoder.encode(JSON.stringify({ ...asked, id, seed: parseInt(id.slice(0, 12), 16) })));
  return JSON.parse(got(program.ask()));
}

async function take({ id, asked, own, bytes, leave }) {
  if (leave) return waiting.delete(id);
  if (own) {
    const name = got(give("take_own", own, bytes));
    const cache = await self.caches?.open(OWN).catch(() => null);
    // Without room it plays until the page is closed.
    await cache?.put(new URL(`own/${encodeURIComponent(name)}`, import.meta.url), new Response(bytes)).catch(() => {});
    return postMessage({ id, answer: { status: 200, text: name } });
  }
  let answer = ask(asked);
  if (answer.status === 424) {
    // Offline, and never chosen before: the game is played with what is built in.
    give("take_agent", answer.text, await load(`${answer.text}.bin`).catch(() => new Uint8Array()));
    answer = ask(asked);
  }
  if (answer.status === 204) waiting.set(id, asked);
  else postMessage({ id, answer });
  tell();
  ponder(0);
}

// Answers what waited for news.
function tell() {
  for (const [id, asked] of waiting) {
    const answer = ask(asked);
    if (answer.status === 204) continue;
    waiting.delete(id);
    postMessage({ id, answer });
  }
}

let pondering = null;
function ponder(pause) {
  pondering ??= setTimeout(() => {
    pondering = null;
    let came;
    try {
      came = program.think();
    } catch {
      turn = turn.then(start).then(tell);
      return;
    }
    if (came === 0) return;
    tell();
    ponder(came === 2 ? PAUSE : 0); // messages that came meanwhile are first
  }, pause);
}

let turn = start();
onmessage = ({ data }) => {
  turn = turn.then(() => take(data)).catch((error) => {
    postMessage({ id: data.id, answer: { status: 500, text: JSON.stringify({ error: String(error) }) } });
    return error instanceof WebAssembly.RuntimeError ? start() : null;
  });
};
