/**
 * The view that belongs to an address.
 *
 * Everything after the `#` stays in the browser: views are named there, and so
 * is the secret of an invitation, which is taken out of the address, and so out
 * of the history, before anything else is done with it.
 */

import { panel, type Route, route } from "./state.js";

const SESSION = /^#\/(h_[a-z2-7]{32})\/(s_[a-z2-7]{16})$/u;

/** Read the address, now and whenever it changes. */
export function followAddress(): void {
  const read = (): void => {
    route.value = parsed(location);
    panel.value = null;
    if (route.value.is === "join") {
      history.replaceState(null, "", "/");
    }
  };
  addEventListener("hashchange", read);
  read();
}

/** Show another view. */
export function show(next: Route): void {
  const hash = next.is === "session" ? `#/${next.host}/${next.session}` : "#/";
  if (next.is === "join") {
    route.value = next;
    return;
  }
  if (location.hash === hash || (hash === "#/" && location.hash === "")) {
    route.value = next;
    panel.value = null;
  } else {
    location.hash = hash;
  }
}

/** Return the address of a session, for a link. */
export function sessionAddress(host: string, session: string): string {
  return `#/${host}/${session}`;
}

function parsed({ pathname, hash, href }: Location): Route {
  if (pathname === "/j" && hash.length > 1) {
    return { is: "join", link: href };
  }
  const found = SESSION.exec(hash);
  return found === null
    ? { is: "list" }
    : { is: "session", host: found[1] ?? "", session: found[2] ?? "" };
}
