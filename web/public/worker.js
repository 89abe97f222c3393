/**
 * Keeps the shell of the page, so that it opens without a network.
 *
 * Only what the build made is kept: the page itself and its hashed files. Nothing
 * of a session ever passes here, since it all travels by WebSocket. The page is
 * asked for first, so that a relay's new version is had at once.
 */

const SHELL = "holdfast-shell-1";
const PAGES = ["/", "/j"];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELL).then((cache) => cache.add("/")));
  self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== self.location.origin) {
    return;
  }
  if (PAGES.includes(pathname)) {
    event.respondWith(freshest());
  } else if (pathname.startsWith("/assets/")) {
    event.respondWith(kept(pathname));
  }
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(
    self.clients
      .matchAll({ type: "window" })
      .then(([first]) => (first === undefined ? self.clients.openWindow("/") : first.focus())),
  );
});

async function freshest() {
  const cache = await caches.open(SHELL);
  try {
    // By its bare path: what follows a # must not be kept.
    const found = await fetch("/");
    if (found.ok) {
      await renew(cache, found.clone());
    }
    return found;
  } catch (error) {
    const known = await cache.match("/");
    if (known === undefined) {
      throw error;
    }
    return known;
  }
}

/** Keep a new page, and none of the files of the one before. */
async function renew(cache, found) {
  const text = await found.clone().text();
  const before = await cache.match("/");
  await cache.put("/", found);
  if (before !== undefined && (await before.text()) !== text) {
    const files = (await cache.keys()).filter(({ url }) => new URL(url).pathname !== "/");
    await Promise.all(files.map((file) => cache.delete(file)));
  }
}

async function kept(path) {
  const cache = await caches.open(SHELL);
  const known = await cache.match(path);
  if (known !== undefined) {
    return known;
  }
  const found = await fetch(path);
  if (found.ok) {
    await cache.put(path, found.clone());
  }
  return found;
}
