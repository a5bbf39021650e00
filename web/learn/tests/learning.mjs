// Learns with the program of the tab, as its workers would: one instance plays, the other learns, and they exchange bytes.
// It runs in Node and in a browser.

export class Program {
  constructor(module, settings) {
    const imports = { page: { random: () => Math.random() } };
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      (imports[from] ??= {})[name] ??= () => { throw new Error(`${name} is not there`); };
    }
    this.exports = new WebAssembly.Instance(module, imports).exports;
    this.ask("open", settings);
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

  told(name, bytes, ...more) {
    return JSON.parse(new TextDecoder().decode(this.ask(name, bytes, ...more)));
  }
}

// Takes this many training steps. `spent` is in milliseconds. `seen(step, agent)` gets each agent that plays, and ends the
// training by returning `false`.
export function learned(module, settings, steps, seen = () => {}) {
  const player = new Program(module, settings);
  let learner = new Program(module, settings);
  learner.ask("begin_learning");
  player.ask("play_with", learner.ask("agent"));
  const files = [];
  const losses = [];
  let positions = 0;
  const spent = { playing: 0, learning: 0 };
  const timed = (what, work) => {
    const begun = performance.now();
    const result = work();
    spent[what] += performance.now() - begun;
    return result;
  };
  while (losses.length < steps) {
    const due = Math.min(learner.exports.steps_due(), steps - losses.length);
    if (due > 0) losses.push(...timed("learning", () => learner.told("learn", undefined, due)));
    let file = new Uint8Array();
    while (file.length === 0) {
      positions += timed("playing", () => player.exports.play_round());
      file = player.ask("samples");
    }
    if (due > 0) {
      const agent = learner.ask("agent");
      player.ask("play_with", agent);
      if (seen(losses.length, agent) === false) break;
    }
    learner.ask("add_samples", file, 1);
    if (files.length < 2 && files.push(file) === 2) {
      // The learner is closed, and another one continues from its checkpoint.
      const [checkpoint, owed] = [learner.ask("checkpoint"), learner.exports.owed()];
      learner = new Program(module, settings);
      learner.ask("resume_learning", checkpoint, owed);
      for (const file of files) learner.ask("add_samples", file, 0);
    }
  }
  return { agent: learner.ask("agent"), losses, positions, spent, learner };
}

// SHA-256 in hexadecimal.
export async function checksum(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
