/**
 * The protocol twin: everything the page says to relays, hosts and sessions.
 *
 * To draw a page, api.ts is all there is to know; src/platform/page.ts opens it.
 *
 *     api.ts            what can be asked, and what is told
 *     page.ts           who we are, which hosts we know, joining
 *     host-link.ts      one host: list, create, log, glance
 *     session-link.ts   one session: the stream, inputs, the turn, approvals
 *
 * To change it, from the outside in; each says which part of
 * src/holdfast it is the twin of, and which vectors both agree on:
 *
 *     attachment.ts, typing.ts, questions.ts   what outlives a link
 *     pulse.ts                      whether a link is there
 *     following.ts, whereabouts.ts, moved-word.ts   a session that moves to another host
 *     session-wire.ts               HELLO to IDENTIFY
 *     host-requests.ts, packets.ts  what is asked of a host
 *     reaching.ts, relay-messages.ts       the way through a relay
 *     sealed.ts, sealing.ts, handshake.ts, noise.ts, keys.ts   the seal
 *     records.ts, opening.ts, invites.ts
 *     codec.ts, frames.ts, shapes.ts   messages as bytes
 *     messages.ts, codes.ts            written by tools/write_web_protocol.py
 *
 * There is no DOM, no clock and no chance in this folder: they come in through
 * ports.ts, and src/platform has them.
 */

export * from "./api.js";
export { HoldfastError } from "./errors.js";
export type { Store, StoredHost } from "./page.js";
export { LivePage } from "./page.js";
