// Answers the page without a server: the program runs in a worker beside it. Takes the place of the file of this name
// that the program serves.

const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const open = new Map(); // the requests that wait for an answer
let count = 0;

worker.onmessage = ({ data: { id, answer } }) => {
  open.get(id)?.(answer);
  open.delete(id);
};

function post(message, signal) {
  const id = ++count;
  return new Promise((done, failed) => {
    open.set(id, done);
    worker.postMessage({ id, ...message });
    signal?.addEventListener("abort", () => {
      if (!open.delete(id)) return;
      worker.postMessage({ id, leave: true });
      failed(new DOMException("another session was opened", "AbortError"));
    });
  });
}

// {status, text}; see server.js of the program.
export const request = (path, session, body, signal) => post({ asked: { path, session: session ?? "", body: body ?? null } }, signal);

// An agent file that is dropped on the page plays: `play(name)`.
export function onAgent(play) {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", async (event) => {
    event.preventDefault();
    for (const file of event.dataTransfer.files) {
      if (!file.name.endsWith(".safetensors")) continue;
      const { status, text } = await post({ own: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
      if (status === 200) await play(text);
    }
  });
}

// The page works offline after the first visit.
navigator.serviceWorker?.register(new URL("../offline.js", import.meta.url)).catch(() => {});
