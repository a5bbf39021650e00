// One instance of the program that learns. Each message calls one of its functions. A player also plays by itself, between
// the messages, and sends files of samples.

const decoder = new TextDecoder();
const turns = new MessageChannel(); // a turn of playing, after the messages that came before
let program = null;
let playing = false;
let positions = 0; // searched since the last file

// A library of the program could call a page of its own kind, but has no occasion to.
function importsOf(module) {
  const imports = { page: { random: () => Math.random() } };
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] ??= () => { throw new Error(`${name} is not there`); };
  }
  return imports;
}

function call(name, bytes = new Uint8Array(), args = []) {
  const place = program.room(bytes.length);
  new Uint8Array(program.memory.buffer, place, bytes.length).set(bytes);
  const value = program[name](...args);
  return { value, bytes: (length) => new Uint8Array(program.memory.buffer, program.answer(), length).slice() };
}

function asked(name, bytes, args) {
  const { value, bytes: answer } = call(name, bytes, args);
  if (value < 0) throw new Error(decoder.decode(answer(-value)));
  return answer(value);
}

turns.port1.onmessage = () => {
  if (!playing) return;
  try {
    const { value, bytes } = call("play_round");
    if (value < 0) throw new Error(decoder.decode(bytes(-value)));
    positions += value;
    const file = asked("samples");
    if (file.length > 0) {
      postMessage({ file, positions, games: program.games() }, [file.buffer]);
      positions = 0;
    }
    turns.port2.postMessage(0);
  } catch (error) {
    playing = false;
    postMessage({ failed: String(error.message ?? error) });
  }
};

onmessage = async ({ data: { id, module, name, bytes, args, number, play } }) => {
  try {
    if (module) program = (await WebAssembly.instantiate(module, importsOf(module))).exports;
    if (play !== undefined) {
      if (play && !playing) turns.port2.postMessage(0);
      playing = play;
    }
    if (name && number) postMessage({ id, number: call(name, bytes, args).value });
    else if (name) {
      const answer = asked(name, bytes, args);
      postMessage({ id, bytes: answer }, [answer.buffer]);
    } else postMessage({ id });
  } catch (error) {
    postMessage({ id, error: String(error.message ?? error) });
  }
};
