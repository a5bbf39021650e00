// Keeps the page for use without a network. Another version of the page has another folder, and takes the place of this
// one as a whole. Other pages of the same host have caches, too, which are not touched.

const OURS = `jarmo ${registration.scope} `;
const CACHE = `${OURS}FOLDER`;
const FILES = [/* FILES */];

addEventListener("install", (event) => {
  // Past the cache of HTTP, which may still have files of the version before.
  const files = FILES.map((file) => new Request(file, { cache: "reload" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(files)));
  skipWaiting();
});

addEventListener("activate", (event) => {
  const isOld = (name) => name.startsWith(OURS) && name !== CACHE;
  const clean = async () => Promise.all((await caches.keys()).filter(isOld).map((name) => caches.delete(name)));
  event.waitUntil(clean().then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  const find = async () => (await (await caches.open(CACHE)).match(event.request, { ignoreSearch: true })) ?? fetch(event.request);
  event.respondWith(find());
});
