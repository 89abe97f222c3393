/**
 * A WebSocket as a Carrier.
 *
 * A browser reads as fast as messages come, whether they are consumed or not. So
 * unread bytes are counted: a reader may skip when there are too many, and no peer
 * can make us keep more than MAX_UNREAD.
 */

import type { HoldfastError } from "../protocol/errors.js";
import { linkEnded, malformed } from "../protocol/errors.js";
import type { Carrier, Dial } from "../protocol/ports.js";
import { unreachable } from "../protocol/relay-messages.js";
import { printable } from "../protocol/text.js";

/** Milliseconds for a relay to answer at all. */
const DIALLING_MS = 10_000;

/** Bytes kept for a slow reader; then the link is cut. */
const MAX_UNREAD = 32 * 1024 * 1024;

const NORMAL = 1000;
const MAX_REASON = 100;

/** The constructor, so that Node can bring its own. */
export type Sockets = new (url: string) => WebSocket;

class SocketCarrier implements Carrier {
  unread = 0;
  private readonly queue: Uint8Array[] = [];
  private ended: HoldfastError | null = null;
  private waiting: {
    readonly fulfil: (message: Uint8Array) => void;
    readonly refuse: (error: HoldfastError) => void;
  } | null = null;

  constructor(private readonly socket: WebSocket) {
    socket.onmessage = (event: MessageEvent<unknown>) => this.heard(event.data);
    socket.onclose = (event) => this.end(linkEnded(printable(event.reason, MAX_REASON)));
    socket.onerror = () => this.end(linkEnded(""));
  }

  send(message: Uint8Array): void {
    if (this.ended !== null) throw this.ended;
    this.socket.send(message as unknown as ArrayBufferView<ArrayBuffer>);
  }

  receive(): Promise<Uint8Array> {
    const message = this.queue.shift();
    if (message !== undefined) {
      this.unread -= message.length;
      return Promise.resolve(message);
    }
    if (this.ended !== null) return Promise.reject(this.ended);
    return new Promise((fulfil, refuse) => {
      this.waiting = { fulfil, refuse };
    });
  }

  close(code = ""): void {
    this.queue.length = 0;
    this.unread = 0;
    this.end(linkEnded(code));
    this.socket.close(NORMAL, code.slice(0, MAX_REASON));
  }

  private heard(data: unknown): void {
    if (this.ended !== null) return;
    if (!(data instanceof ArrayBuffer)) {
      this.end(malformed("relay message", "a text"));
      this.socket.close(NORMAL);
      return;
    }
    const message = new Uint8Array(data);
    const waiting = this.waiting;
    if (waiting !== null) {
      this.waiting = null;
      waiting.fulfil(message);
      return;
    }
    this.queue.push(message);
    this.unread += message.length;
    if (this.unread > MAX_UNREAD) this.close("slow-peer");
  }

  private end(error: HoldfastError): void {
    this.ended ??= error;
    const waiting = this.waiting;
    this.waiting = null;
    waiting?.refuse(this.ended);
  }
}

/** Return what opens links; `sockets` is the browser's own unless told otherwise. */
export function dialBy(sockets: Sockets = WebSocket): Dial {
  return (url) =>
    new Promise((fulfil, refuse) => {
      const name = url.replace(/^wss?:\/\//, "").replace(/\/.*$/, "");
      const fail = (why: string): void => {
        clearTimeout(timer);
        refuse(unreachable(name, why));
      };
      const timer = setTimeout(() => {
        fail("it does not answer");
        socket?.close();
      }, DIALLING_MS);
      let socket: WebSocket | null = null;
      try {
        // What the page's own policy forbids is thrown here, or told as an error.
        socket = new sockets(url);
      } catch {
        fail("this page may not dial it");
        return;
      }
      socket.binaryType = "arraybuffer";
      socket.onerror = () => fail("nobody answers there");
      socket.onclose = () => fail("it hung up");
      const opened = socket;
      socket.onopen = () => {
        clearTimeout(timer);
        fulfil(new SocketCarrier(opened));
      };
    });
}
