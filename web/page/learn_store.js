// What is kept of the learning of this browser: one run, in IndexedDB.

const NAME = "jarmo-learn";
const TABLE = "run";

function open() {
  return new Promise((done, failed) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
}

async function within(mode, work) {
  const database = await open();
  try {
    return await new Promise((done, failed) => {
      const transaction = database.transaction(TABLE, mode);
      const request = work(transaction.objectStore(TABLE));
      transaction.oncomplete = () => done(request?.result);
      transaction.onabort = transaction.onerror = () => failed(transaction.error);
    });
  } finally {
    database.close();
  }
}

// The run: {settings, state, files, checkpoints, ...}; null if there is none.
export async function kept() {
  const run = await within("readonly", (table) => table.get("state"));
  if (!run) return null;
  const part = (name) => within("readonly", (table) => table.get(name));
  run.files = await Promise.all(run.fileNumbers.map(async (number) => ({ number, bytes: await part(`file-${number}`) })));
  for (const one of run.checkpoints) one.agent = await part(`agent-${one.step}`);
  const isWhole = run.files.every(({ bytes }) => bytes) && run.checkpoints.every(({ agent }) => agent);
  return isWhole ? run : null;
}

// Keeps a run as it is now, all or nothing. Only what is new is written; a new run takes the place of the one before.
export async function keep({ files, checkpoints, ...state }, isNew) {
  const names = isNew ? [] : await within("readonly", (table) => table.getAllKeys());
  const parts = new Map([
    ...files.map(({ number, bytes }) => [`file-${number}`, bytes]),
    ...checkpoints.map(({ step, agent }) => [`agent-${step}`, agent]),
  ]);
  // Another tab can have deleted what this one kept, where a browser has no locks.
  const lost = [...parts].find(([name, bytes]) => !bytes && !names.includes(name));
  if (lost) throw new Error(`${lost[0]} was deleted`);
  const bare = checkpoints.map(({ agent, ...rest }) => rest);
  await within("readwrite", (table) => {
    if (isNew) table.clear();
    for (const name of names) if (name !== "state" && !parts.has(name)) table.delete(name);
    for (const [name, bytes] of parts) if (!names.includes(name)) table.put(bytes, name);
    return table.put({ ...state, checkpoints: bare, fileNumbers: files.map(({ number }) => number) }, "state");
  });
}

export const drop = () => within("readwrite", (table) => table.clear());
