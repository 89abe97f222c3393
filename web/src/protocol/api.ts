/**
 * What the page may ask of the protocol, and what it is told.
 *
 * Everything that draws is built on this file alone; what is behind it is begun
 * with `openPage()` of src/platform/page.ts. There is no DOM here.
 *
 *     const page = await openPage();
 *     await page.join(location.href);            // an invitation, once
 *     const host = page.link(page.hosts()[0].id);
 *     const sessions = await host.sessions();
 *     const session = host.attach(sessions[0].id, { mode: "operate" });
 *     const stop = session.listen((event) => { … });
 *     await session.type("ls\r");
 *
 * Every promise is refused with a `HoldfastError` and with nothing else. Names,
 * titles, texts and paths were written by strangers: show them as text nodes.
 */

import type { Shown } from "./attachment.js";
import type { HoldfastError } from "./errors.js";
import type { HostStatus } from "./host-status.js";
import type { ImageInfo } from "./image-record.js";
import type { LostInfo } from "./lost-record.js";
import type {
  Attached,
  Behind,
  BlameReport,
  Cells,
  Checkpointed,
  CommandReport,
  CommandStarted,
  Evidence,
  Graph,
  Inherited,
  Pending,
  Preflight,
  Presence,
  Screen,
  Settled,
  ShellCommand,
  Tried,
  TurnPassed,
} from "./messages.js";
import type { SessionInfo } from "./session-record.js";

export type {
  Attached,
  Behind,
  BlameReport,
  Cells,
  Checkpointed,
  CommandReport,
  CommandStarted,
  Evidence,
  Graph,
  HoldfastError,
  Inherited,
  Pending,
  Preflight,
  Presence,
  Screen,
  Settled,
  ShellCommand,
  Tried,
  TurnPassed,
};

export type HostId = string;
export type SessionId = string;
export type ActorId = string;

/** Ends what a `listen` has begun. */
export type Stop = () => void;

// ── how a link stands ────────────────────────────────────────────────────────

/**
 * The state of a link. `waiting` tries again by itself; after `failed` and `over`
 * nothing is tried any more.
 *
 *   idle        nothing was asked of it yet, or it was closed
 *   connecting  it is on its way; `attempt` counts from 1
 *   live        it is up
 *   waiting     it was cut, or nobody answers: the next attempt is in `retryInMs`
 *   moving      the session goes to another host, and is followed there
 *   failed      it cannot be had, and `because` says which page to show
 *   over        the session has ended: its exit status, or null if it was lost
 */
export type LinkState =
  | { readonly is: "idle" }
  | { readonly is: "connecting"; readonly attempt: number }
  | { readonly is: "live" }
  | {
      readonly is: "waiting";
      readonly attempt: number;
      readonly retryInMs: number;
      readonly error: HoldfastError;
    }
  | { readonly is: "moving"; readonly to: string }
  | { readonly is: "failed"; readonly because: Failure; readonly error: HoldfastError }
  | { readonly is: "over"; readonly status: number | null; readonly why: string };

/**
 *   version      the other side speaks no version that this page speaks: reload
 *   revoked      the host does not know our key any more: ask for an invitation
 *   refused      we may not go there, or not do that
 *   wrong-host   the machine that answers is not that host: do not continue
 *   gone         there is no such session
 *   stopped      the session was put to disk, and can be restored from there
 *   elsewhere    the session moved to a host that does not know this browser
 *   unsupported  this browser lacks what is needed
 */
export type Failure =
  | "version"
  | "revoked"
  | "refused"
  | "wrong-host"
  | "gone"
  | "stopped"
  | "elsewhere"
  | "unsupported";

// ── the page: who we are, and which hosts we know ────────────────────────────

/** A host that we have joined. */
export interface KnownHost {
  readonly id: HostId;
  /** What it calls itself; the page may show another name of its user's choice. */
  readonly name: string;
  /** What we are called there. */
  readonly operator: string;
  readonly relays: readonly string[];
  /** What was promised when we joined; a session may grant more, or revoke. */
  readonly rights: readonly string[];
  /** The only session that we may see there, or empty for all. */
  readonly session: SessionId | "";
  /** When the promise runs out, in milliseconds since 1970; null for never. */
  readonly expiresMs: number | null;
  /** Four groups of letters, to be compared by people. */
  readonly fingerprint: string;
}

export interface Invited {
  readonly host: HostId;
  readonly fingerprint: string;
  /** The same key in eight words, to be compared by voice. */
  readonly words: string;
  readonly relays: readonly string[];
}

/** What an invitation gives, as its host tells it before it is used. */
export interface Terms {
  readonly host: string;
  /** The name that we would have there; another one may be faster to take it. */
  readonly operator: string;
  /** Whether the host knows this browser already, which keeps what it has. */
  readonly isKnown: boolean;
  readonly rights: readonly string[];
  /** The one session that they are for, or empty for all of them. */
  readonly session: string;
  readonly expiresMs: number | null;
  /** Until when the invitation itself can be used. */
  readonly goodUntilMs: number | null;
}

export interface Page {
  /** Who we are, on every host: made of the public key of this browser. */
  readonly actor: ActorId;
  /** The short fingerprint of our own key. */
  readonly fingerprint: string;
  hosts(): readonly KnownHost[];
  /** Told whenever the address book changes, in another tab too. */
  listen(changed: (hosts: readonly KnownHost[]) => void): Stop;
  /** What an invitation leads to; nothing is sent. Throws `malformed-invite`. */
  read(link: string): Promise<Invited>;
  /** Ask the host what an invitation gives. Nothing is used up, and nobody joins. */
  terms(link: string): Promise<Terms>;
  /** Use up an invitation, and remember its host. */
  join(link: string): Promise<KnownHost>;
  rename(host: HostId, name: string): Promise<void>;
  /** Forget a host; its links are closed. The host is not told. */
  forget(host: HostId): Promise<void>;
  /** The link to a host: one for each, made on the first call. */
  link(host: HostId): HostLink;
  /** Try at once whatever waits: the network is back, or the tab is seen again. */
  wake(): void;
  close(): void;
}

// ── a host ───────────────────────────────────────────────────────────────────

export type { HostStatus } from "./host-status.js";
export type { ImageInfo } from "./image-record.js";
export type { LostInfo } from "./lost-record.js";
export type { SessionInfo } from "./session-record.js";

export interface Creation {
  readonly name?: string;
  readonly command?: readonly string[];
  readonly cwd?: string;
  readonly size?: Cells;
  /** Behind walls, from where it can be put to disk; else as the host has it. */
  readonly runtime?: "capsule";
}

/** What a session does, who is there, and how its screen ends. */
export interface Glance {
  readonly evidence: Evidence;
  readonly presence: Presence;
  readonly title: string;
  /** The last line with anything on it, without what cannot be printed. */
  readonly lastLine: string;
}

/** What a host calls an operator, and whether that is a human, an agent or a service. */
export interface Named {
  readonly name: string;
  readonly kind: string;
}

export interface Sessions {
  readonly sessions: readonly SessionInfo[];
  readonly lost: readonly LostInfo[];
}

export interface HostLink {
  readonly host: KnownHost;
  readonly state: LinkState;
  listen(changed: (state: LinkState) => void): Stop;
  status(): Promise<HostStatus>;
  sessions(): Promise<readonly SessionInfo[]>;
  /** The sessions, and those that were lost with every process that held them. */
  listed(): Promise<Sessions>;
  /** Start a lost session again, under its own id. */
  recover(lost: LostInfo): Promise<{ readonly id: SessionId; readonly name: string }>;
  /** The images of one session or of all, the newest first; those that we may know of. */
  images(session?: SessionId): Promise<readonly ImageInfo[]>;
  /** Let a session go on from an image, under its own id; it must not be alive. */
  restore(image: ImageInfo): Promise<{ readonly id: SessionId; readonly name: string }>;
  /** Begin a new session that goes on from an image of another, which may live. */
  branch(image: string, name: string): Promise<{ readonly id: SessionId; readonly name: string }>;
  removeImage(image: ImageInfo): Promise<void>;
  create(wish: Creation): Promise<{ readonly id: SessionId; readonly name: string }>;
  rename(session: SessionId, name: string): Promise<void>;
  keep(session: SessionId, kept: boolean): Promise<void>;
  forget(session: SessionId): Promise<void>;
  /** How these operators are called there; those that it does not know are left out. */
  names(actors: readonly ActorId[]): Promise<ReadonlyMap<ActorId, Named>>;
  /** Entries of the logbook from byte `from` on, or its last; `next` is where to go on. */
  log(session: SessionId, from?: number | { readonly last: number }): Promise<LogPart>;
  /** What a session has printed in a stretch of its stream; null if that is not kept. */
  output(session: SessionId, stretch: Stretch): Promise<Uint8Array | null>;
  /** Look at a session without attaching; a link is kept for the next look. */
  glance(session: SessionId): Promise<Glance>;
  attach(session: SessionId, options?: AttachOptions): SessionLink;
  /** Hang up. What is asked next dials again. */
  close(): void;
}

/** A stretch of what a session prints, in one of its lives. */
export interface Stretch {
  readonly incarnation: number;
  readonly start: number;
  readonly end: number;
}

/** One entry of a logbook, as docs/spec/logbook.md says; `more` are its own. */
export interface LogEntry {
  readonly index: number;
  readonly epoch: number;
  readonly incarnation: number;
  /** Milliseconds since 1970, by the host's clock. */
  readonly at: number;
  readonly kind: string;
  readonly more: Readonly<Record<string, string | number | boolean | null>>;
}

export interface LogPart {
  readonly entries: readonly LogEntry[];
  readonly next: number;
  /** Bytes there are by now; all was read when `next` is as many. */
  readonly size: number;
}

// ── a session ────────────────────────────────────────────────────────────────

export interface AttachOptions {
  readonly mode?: "observe" | "operate";
  /** The size of the viewer; it does not change the session. */
  readonly size?: Cells;
  /** Where in the stream of which life to begin; else with a picture of the screen. */
  readonly after?: { readonly incarnation: number; readonly offset: number };
}

/**
 * What happens in a session.
 *
 * `painted` and `printed` are for the terminal, in this order: at the first part
 * of a keyframe (`isFirst`) the terminal is reset and given `size`, and each
 * part is written to it. If the listener returns a promise for one of them, the
 * next comes only when it is fulfilled: return one that is fulfilled by the
 * terminal's write callback. A listener too slow for the stream skips some of it,
 * and gets a `gap` and a new picture.
 */
export type SessionEvent =
  | { readonly is: "link"; readonly state: LinkState }
  | { readonly is: "attached"; readonly attached: Attached }
  | Shown
  | { readonly is: "resized"; readonly size: Cells }
  | { readonly is: "turn-passed"; readonly passed: TurnPassed }
  | { readonly is: "turn-asked"; readonly asker: ActorId; readonly waitMs: number }
  | { readonly is: "inherited"; readonly inherited: Inherited }
  | { readonly is: "presence"; readonly presence: Presence }
  | { readonly is: "pending"; readonly pending: Pending }
  | { readonly is: "settled"; readonly settled: Settled }
  | { readonly is: "state"; readonly state: string }
  | { readonly is: "command-started"; readonly command: ShellCommand }
  | { readonly is: "command-ended"; readonly command: ShellCommand }
  | {
      readonly is: "noted";
      readonly name: string;
      readonly fields: Readonly<Record<string, string | number>>;
    }
  | { readonly is: "exited"; readonly status: number };

/** The state of a session, as far as it is known; kept from link to link. */
export interface SessionView {
  readonly name: string;
  readonly size: Cells;
  /** A word of wire.md; `frozen` is to be unmistakable. */
  readonly state: string;
  readonly us: ActorId;
  /** Who has the turn; empty means nobody. */
  readonly holder: ActorId | "";
  readonly epoch: number;
  /** Which of its lives the offsets of events belong to. */
  readonly incarnation: number;
  readonly hasTurn: boolean;
  /** Whether typing would be taken: our turn, or nobody's. */
  readonly mayWrite: boolean;
  /** How many of our inputs have no answer yet. */
  readonly openInputs: number;
  /** The inputs that wait for approval, by request number. */
  readonly pending: readonly Pending[];
}

export interface SessionLink {
  readonly session: SessionId;
  readonly host: HostId;
  readonly mode: "observe" | "operate";
  readonly state: LinkState;
  /** Null before the first ATTACHED. */
  readonly view: SessionView | null;
  /** The first listener starts the link. */
  listen(hear: (event: SessionEvent) => void | Promise<void>): Stop;

  /**
   * Inputs. Fulfilled when the terminal has taken every byte; refused with why
   * not. What has no answer when a link is cut is sent again under its id, so
   * that nothing is typed twice. `keys` are sent in order, whether awaited or not.
   */
  type(keys: string | Uint8Array): Promise<void>;
  command(line: string): Promise<void>;
  /** The answer to a program that asks for a secret; it is stored nowhere. */
  answer(secret: string): Promise<void>;
  signal(number: number): Promise<void>;
  /** Only the operator who has the turn sets the size. */
  resize(size: Cells): Promise<void>;

  /** The turn; fulfilled with the state after the request. */
  take(): Promise<Presence>;
  /** Fulfilled when the turn is ours; refused when it was not given. */
  ask(timeoutMs: number): Promise<Presence>;
  reply(asker: ActorId, granted: boolean): Promise<Presence>;
  give(to: ActorId): Promise<Presence>;
  drop(): Promise<Presence>;
  seize(halt: "none" | "freeze" | "interrupt"): Promise<Presence>;
  freeze(): Promise<Presence>;
  thaw(): Promise<Presence>;
  approve(pending: Pending): Promise<Presence>;
  deny(pending: Pending): Promise<Presence>;
  grant(actor: ActorId, rights: readonly string[], forMs: number): Promise<Presence>;
  revoke(actor: ActorId): Promise<Presence>;
  /** Fulfilled with the exit status. */
  end(signal: number): Promise<number>;

  /** Put it to disk; with `stop` it ends then. Never asked for twice. */
  checkpoint(wish: { readonly stop: boolean; readonly label: string }): Promise<Checkpointed>;
  /** Make an image for one branch of it, as `HostLink.branch` wants it. */
  imageForBranch(): Promise<Checkpointed>;
  /** What keeps it from being put to disk. */
  preflight(): Promise<Preflight>;

  who(): Promise<Presence>;
  evidence(): Promise<Evidence>;
  screen(cells?: boolean): Promise<Screen>;
  graph(descriptors?: boolean): Promise<Graph>;
  blame(what: string, name: string, atMs?: number): Promise<BlameReport>;
  tryOut(actor: ActorId, kind: string, payload: Uint8Array): Promise<Tried>;
  lastCommand(): Promise<CommandReport>;

  /** Try at once if it waits. */
  wake(): void;
  /** Detach. The session does not notice. */
  close(): void;
}
