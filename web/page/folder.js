// What lies in the folder of this version of the page, which `pack_page` has written.

// That of offline.js, which deletes it when another version takes the place of this one.
const CACHE = `jarmo ${new URL("../", import.meta.url)} FOLDER`;

// By game: the names of the levels from `easy` on, and the specs of their agents.
export const levels = {/* LEVELS */};

// The games that have an exam.
export const exams = [/* EXAMS */];

// A file of this folder, unpacked. It is kept for the next time.
export async function load(name) {
  const address = new URL(name, import.meta.url).href;
  const cache = await self.caches?.open(CACHE).catch(() => null); // null where the browser blocks it
  let found = await cache?.match(address);
  if (!found) {
    found = await fetch(address);
    if (!found.ok) throw new Error(`${name}: ${found.status}`);
    await cache?.put(address, found.clone()).catch(() => {}); // no room left in the storage
  }
  const unpacked = found.body.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

// The file of a game's shipped agent, whose even and odd bytes lie apart.
export async function agentOf(game) {
  const parts = await load(`${game}.bin`);
  const half = Math.ceil(parts.length / 2);
  return parts.map((_, place) => parts[(place % 2) * half + (place >> 1)]);
}
