/**
 * Every message there is, its type and its shape.
 *
 * tools/write_web_protocol.py writes this file from the code in src/holdfast.
 */

import {
  bytes, facts, flag, int, list, oneOf, orNull, struct, text,
} from "./shapes.js";
import type { Facts } from "./shapes.js";

export const SPOKEN: readonly number[] = [1];

/** The first message of the side that dials: its versions, and what it is. */
export interface Hello {
  readonly versions: readonly number[];
  readonly product: string;
  readonly client: string;
}

/** The answer: the version that is spoken from here on. */
export interface Welcome {
  readonly version: number;
  readonly product: string;
}

/** Are you there? Any number. */
export interface Ping {
  readonly number: number;
}

/** I am. The number of the PING. */
export interface Pong {
  readonly number: number;
}

/** The last message of a side that hangs up, and why. */
export interface Goodbye {
  readonly code: string;
  readonly text: string;
}

/** Say who you are, and prove it with this. */
export interface Challenge {
  readonly nonce: Uint8Array;
}

/** I am this operator, and this proves it (crypto.proof). */
export interface Identify {
  readonly actor: string;
  readonly proof: Uint8Array;
}

export type Mode = "observe" | "operate";

/** A terminal's size in character cells. */
export interface Cells {
  readonly columns: number;
  readonly rows: number;
}

/** Let me watch, or watch and act. Continue after byte `after`, if any. */
export interface Attach {
  readonly session: string;
  readonly client: string;
  readonly mode: Mode;
  readonly size: Cells | null;
  readonly incarnation: number | null;
  readonly after: number | null;
  readonly keyframe: boolean;
}

export type ActorKind = "human" | "agent" | "service" | "device";

/** One attachment of one operator. Its name is for people, never identity. */
export interface Operator {
  readonly actor: string;
  readonly kind: ActorKind;
  readonly name: string;
  readonly client: string;
}

/** You are attached; this is how things stand. */
export interface Attached {
  readonly session: string;
  readonly name: string;
  readonly incarnation: number;
  readonly epoch: number;
  readonly holder: string;
  readonly start: number;
  readonly end: number;
  readonly state: string;
  readonly size: Cells;
  readonly operators: readonly Operator[];
}

/** I leave; the session does not notice. */
export interface Detach {}

/** What the terminal printed, from byte `offset` of the stream on. */
export interface Output {
  readonly offset: number;
  readonly data: Uint8Array;
}

/** The bytes from `start` up to `end` are gone; the stream goes on at `end`. */
export interface Gap {
  readonly start: number;
  readonly end: number;
}

/** Bytes that paint the screen as it was at `offset`; `more` of them follow. */
export interface Keyframe {
  readonly offset: number;
  readonly size: Cells;
  readonly more: boolean;
  readonly data: Uint8Array;
}

/** The session has another size from byte `offset` on. */
export interface Resized {
  readonly offset: number;
  readonly size: Cells;
}

/** Asks for the screen, with colours or without. */
export interface ScreenRequest {
  readonly cells: boolean;
}

/** Text in one row that looks the same. */
export interface ScreenRun {
  readonly row: number;
  readonly text: string;
  readonly foreground: number;
  readonly background: number;
  readonly look: number;
}

/** Characters `start` to `end` of a row that a person would not see, and why. */
export interface ScreenHidden {
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}

/** What is to be seen at `offset`, or a part of it, when `more` follows. */
export interface Screen {
  readonly offset: number;
  readonly size: Cells;
  readonly cursor_row: number;
  readonly cursor_column: number;
  readonly cursor_visible: boolean;
  readonly title: string;
  readonly alternate: boolean;
  readonly exact: boolean;
  readonly text: string;
  readonly runs: readonly ScreenRun[];
  readonly hidden: readonly ScreenHidden[];
  readonly above: number;
  readonly more: boolean;
}

export type InputKind = "keys" | "command" | "signal" | "resize" | "answer" | "start";

/** An input. Who sends it is known from the link, and not said here. */
export interface Submit {
  readonly client: string;
  readonly sequence: number;
  readonly kind: InputKind;
  readonly incarnation: number;
  readonly epoch: number;
  readonly payload: Uint8Array;
  readonly seen: number | null;
  readonly waits: boolean;
}

/** The logbook's head at the entry acknowledged, signed by the host. */
export interface Receipt {
  readonly head: Uint8Array;
  readonly signature: Uint8Array;
}

/** The terminal took every byte of the input, logged at `index`. */
export interface Acknowledge {
  readonly client: string;
  readonly sequence: number;
  readonly index: number;
  readonly receipt: Receipt | null;
}

/** A message of kind `refused` was not obeyed, and nothing was done. */
export interface Refuse {
  readonly refused: number;
  readonly client: string;
  readonly sequence: number;
  readonly code: string;
  readonly text: string;
  readonly facts: Facts;
  readonly retryable: boolean;
  readonly next_step: string;
}

export type Ending = "dropped" | "cut" | "unknown";

/** An accepted input ended otherwise than applied; `written` bytes went in. */
export interface Report {
  readonly client: string;
  readonly sequence: number;
  readonly outcome: Ending;
  readonly index: number;
  readonly written: number;
}

/** What became of this input? ACKNOWLEDGE, REFUSE or REPORT answers. */
export interface Inquire {
  readonly client: string;
  readonly sequence: number;
}

/** What I do next is this `act`, with these parameters, for this reason. */
export interface Intend {
  readonly act: string;
  readonly intent: string;
  readonly effect: string;
  readonly parameters: string;
  readonly prompt: string;
  readonly expects: string;
  readonly idempotent: boolean;
  readonly attempt: number;
}

/** These are my next inputs, up to `last`; I have signed that. */
export interface Sign {
  readonly client: string;
  readonly last: number;
  readonly steps: Uint8Array;
  readonly key: Uint8Array;
  readonly rotations: Uint8Array;
  readonly signature: Uint8Array;
}

/** The book has your statements up to the input `last`. */
export interface Signed {
  readonly client: string;
  readonly last: number;
}

/** The session needs input, and this is why. */
export interface Notify {
  readonly text: string;
}

/** Give me the turn, which is free. */
export interface Take {}

/** Ask the operator who has the turn for it, and wait at most so long. */
export interface Ask {
  readonly timeout_ms: number;
}

/** I have the turn, and `asker` gets it or does not. */
export interface Answer {
  readonly asker: string;
  readonly granted: boolean;
}

/** I have the turn, and `to` gets it. */
export interface Give {
  readonly to: string;
}

/** I have the turn, and want it no more. */
export interface Drop {}

export type Halt = "none" | "freeze" | "interrupt";

/** Give me the turn, even if another operator has it. */
export interface Seize {
  readonly halt: Halt;
}

/** The turn went from `former` to `holder`, and what was thrown away for it. */
export interface TurnPassed {
  readonly former: string;
  readonly holder: string;
  readonly epoch: number;
  readonly reason: string;
  readonly dropped_inputs: number;
  readonly dropped_bytes: number;
}

/** `asker` wants the turn, and waits this much longer for it. */
export interface TurnAsked {
  readonly asker: string;
  readonly wait_ms: number;
}

/** One process of the graph; `actor` started it, as far as is known. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly started_ticks: number;
  readonly command: string;
  readonly state: string;
  readonly actor: string;
  readonly rss: number;
  readonly cpu_ms: number;
  readonly age_ms: number;
  readonly unlisted: number | null;
}

/** Something that was put there in this session, and by whom. */
export interface Staged {
  readonly what: string;
  readonly name: string;
  readonly by: readonly string[];
  readonly command: number;
  readonly sure: boolean;
}

/** You have the turn now: this is what you take over with it. */
export interface Inherited {
  readonly epoch: number;
  readonly staged: Uint8Array;
  readonly by: readonly string[];
  readonly jobs: readonly Process[];
  readonly changed: readonly Staged[];
}

/** What an input did in a branch; numbers of things, and a text that tells them. */
export interface Preview {
  readonly ran: boolean;
  readonly ended: boolean;
  readonly exit: number | null;
  readonly duration_ms: number;
  readonly files: number;
  readonly processes: number;
  readonly ports: number;
  readonly tried: number;
  readonly text: string;
  readonly digest: Uint8Array;
}

/** An input of `actor` waits for approval; `excerpt` is how it begins. */
export interface Pending {
  readonly ticket: number;
  readonly actor: string;
  readonly kind: InputKind;
  readonly epoch: number;
  readonly digest: Uint8Array;
  readonly size: number;
  readonly excerpt: Uint8Array;
  readonly rule: string;
  readonly program: string;
  readonly runs: string;
  readonly uses: readonly Staged[];
  readonly preview: Preview | null;
}

/** Let the input through that waits under `ticket`, this epoch and digest. */
export interface Approve {
  readonly ticket: number;
  readonly epoch: number;
  readonly digest: Uint8Array;
}

/** Refuse the input that waits under `ticket` and has this digest. */
export interface Deny {
  readonly ticket: number;
  readonly digest: Uint8Array;
}

export type Verdict = "allow" | "deny" | "ask" | "preview";

/** Nothing waits under `ticket` any more; nobody means time or the turn. */
export interface Settled {
  readonly ticket: number;
  readonly verdict: Verdict;
  readonly by: string;
}

/** What would happen to this input by `actor` now? Nothing is done. */
export interface Try {
  readonly actor: string;
  readonly kind: InputKind;
  readonly payload: Uint8Array;
  readonly candidate: Uint8Array | null;
}

/** What would happen, by which rule, and why; what would run, as things are. */
export interface Tried {
  readonly verdict: Verdict;
  readonly rule: string;
  readonly why: string;
  readonly runs: string;
  readonly uses: readonly Staged[];
  readonly policy: string;
}

/** Asks for processes and ports, with open files or without. */
export interface GraphRequest {
  readonly descriptors: boolean;
}

/** A socket on which a process of the graph waits for connections. */
export interface Listener {
  readonly pid: number;
  readonly address: string;
  readonly port: number;
  readonly protocol: string;
}

/** A socket of a process of the graph that is connected to another one. */
export interface Connection {
  readonly pid: number;
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
  readonly peer: string;
  readonly peer_port: number;
}

/** Something that a process of the graph has open, and where it is in it. */
export interface Descriptor {
  readonly pid: number;
  readonly number: number;
  readonly kind: string;
  readonly name: string;
  readonly offset: number;
  readonly access: string;
  readonly lock: string;
}

/** The process graph, or a part of it, when `more` follows. */
export interface Graph {
  readonly processes: readonly Process[];
  readonly listeners: readonly Listener[];
  readonly connections: readonly Connection[];
  readonly descriptors: readonly Descriptor[];
  readonly more: boolean;
}

/** Asks who is behind something. */
export interface BlameRequest {
  readonly what: string;
  readonly name: string;
  readonly at_ms: number;
}

/** A command, or the last of several of which one is meant, from `first` on. */
export interface Behind {
  readonly command: number;
  readonly first: number;
  readonly trigger: string;
  readonly authors: readonly string[];
  readonly line: string;
  readonly at_ms: number;
}

/** So many bytes of an unfinished line, and who typed them. */
export interface Stretch {
  readonly size: number;
  readonly actor: string;
}

/** Who is behind it. */
export interface BlameReport {
  readonly standing: string;
  readonly how: string;
  readonly digest: Uint8Array;
  readonly behind: Behind | null;
  readonly used: Behind | null;
  readonly silent: boolean;
  readonly staged: Uint8Array;
  readonly by: readonly Stretch[];
  readonly others: readonly string[];
  readonly edited: boolean;
  readonly hidden: number;
}

/** Asks whether the session could be checkpointed now, and what prevents it. */
export interface PreflightRequest {}

/** One thing that is in the way; `pid` is as the session numbers processes. */
export interface Blocker {
  readonly kind: string;
  readonly what: string;
  readonly why: string;
  readonly remedy: string;
  readonly pid: number;
  readonly program: string;
  readonly descriptor: number | null;
}

/** A connection that would be closed when the session is restored. */
export interface Cut {
  readonly pid: number;
  readonly program: string;
  readonly descriptor: number;
  readonly peer: string;
}

/** The answer: yes, if there are no blockers. */
export interface Preflight {
  readonly blockers: readonly Blocker[];
  readonly cuts: readonly Cut[];
  readonly unlisted: number;
}

/** Put the session to disk; with `stop`, it is on disk alone from then on. */
export interface CheckpointRequest {
  readonly stop: boolean;
  readonly label: string;
  readonly branch: boolean;
  readonly key: string;
}

/** The image is on disk, whole. */
export interface Checkpointed {
  readonly image: string;
  readonly number: number;
  readonly size: number;
  readonly still_ms: number;
  readonly stopped: boolean;
  readonly cuts: readonly Cut[];
}

/** Stop every process of the session where it stands. */
export interface Freeze {}

/** Let the session's processes run again. */
export interface Thaw {}

/** End the session with this signal, and what has left its shell too. */
export interface End {
  readonly signal: number;
  readonly leave: boolean;
}

/** What the session does now, by a word of docs/spec/wire.md. */
export interface State {
  readonly state: string;
  readonly incarnation: number;
}

/** The leader's exit status; below zero, the signal that ended it. */
export interface Exited {
  readonly status: number;
}

/** End the session, unless it is in use; with `stop`, put it to disk first. */
export interface Reap {
  readonly stop: boolean;
  readonly quiet_ms: number;
  readonly idle_ms: number;
  readonly why: string;
}

/** Asks for the session's state and its evidence. */
export interface StateRequest {}

/** A process that has the terminal, and what it sleeps in. */
export interface Asleep {
  readonly pid: number;
  readonly name: string;
  readonly state: string;
  readonly where: string;
}

/** What the session does, whether that is sure, why, and what was seen. */
export interface Evidence {
  readonly state: string;
  readonly program: string;
  readonly incarnation: number;
  readonly sure: boolean;
  readonly why: readonly string[];
  readonly foreground: number;
  readonly echo: boolean;
  readonly canonical: boolean;
  readonly unread: number;
  readonly sleepers: readonly Asleep[];
}

/** Asks who is attached, who has the turn, and what is pending. */
export interface Who {}

/** One attachment: whose, by what sort of program, and for how long. */
export interface Present {
  readonly actor: string;
  readonly kind: ActorKind;
  readonly name: string;
  readonly client: string;
  readonly program: string;
  readonly mode: Mode;
  readonly for_ms: number;
}

/** Who is here, and how things stand between them. */
export interface Presence {
  readonly present: readonly Present[];
  readonly holder: string;
  readonly epoch: number;
  readonly waiting: readonly string[];
  readonly frozen: boolean;
  readonly pending: readonly Pending[];
  readonly rights: readonly string[];
}

/** Let `actor` do this here, for so long; 0 means until it is revoked. */
export interface Grant {
  readonly actor: string;
  readonly rights: readonly string[];
  readonly for_ms: number;
}

/** Let `actor` do nothing here any more. */
export interface Revoke {
  readonly actor: string;
}

/** Have a client leave; it may come back. */
export interface DetachClient {
  readonly client: string;
}

/** One command; it runs as long as it has no `end`. */
export interface ShellCommand {
  readonly number: number;
  readonly client: string;
  readonly line: string;
  readonly start: number;
  readonly end: number | null;
  readonly status: number | null;
  readonly duration_ms: number;
  readonly cwd: string;
}

/** The shell executes a command. */
export interface CommandStarted {
  readonly command: ShellCommand;
}

/** The shell is done with a command. */
export interface CommandEnded {
  readonly command: ShellCommand;
}

/** Asks for the shell's phase, and for the outcome of `client`'s command. */
export interface CommandRequest {
  readonly client: string;
}

/** Where the shell is, and the command asked for, if it is known. */
export interface CommandReport {
  readonly phase: string;
  readonly command: ShellCommand | null;
}

/** Something happened to a session (model.events). */
export interface Event {
  readonly name: string;
  readonly session: string;
  readonly fields: Facts;
}

/** A host: I am the one with this key, and will answer for it. */
export interface Register {
  readonly key: Uint8Array;
  readonly signature: Uint8Array;
}

/** A host: I come for this knock. */
export interface Meet {
  readonly key: Uint8Array;
  readonly ticket: Uint8Array;
  readonly signature: Uint8Array;
}

/** An operator: join me with this host, or with the host of this session. */
export interface Reach {
  readonly key: Uint8Array;
  readonly target: string;
  readonly invite: Uint8Array;
  readonly signature: Uint8Array;
}

/** Send me these actors, and who comes with these invitations. */
export interface Admit {
  readonly resets: boolean;
  readonly actors: readonly string[];
  readonly invites: readonly Uint8Array[];
}

/** Do not send me these any more. */
export interface Dismiss {
  readonly actors: readonly string[];
  readonly invites: readonly Uint8Array[];
}

/** These sessions are with me; those no longer. */
export interface Publish {
  readonly resets: boolean;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Let me speak for this session. */
export interface LeaseAsk {
  readonly ask: number;
  readonly session: string;
  readonly life: number;
  readonly seen: number;
  readonly speaking: boolean;
}

/** I have fenced it, and let go. */
export interface LeaseRelease {
  readonly session: string;
  readonly life: number;
}

/** The session is over for good. */
export interface LeaseEnd {
  readonly session: string;
  readonly life: number;
}

/** These hosts, and no others but me, may claim the session after me. */
export interface Entrust {
  readonly session: string;
  readonly hosts: readonly string[];
}

/** The relay's first word on every link: sign this. */
export interface Greet {
  readonly version: number;
  readonly nonce: Uint8Array;
}

/** You are the host of this id from now on. */
export interface Registered {
  readonly host: string;
}

/** From the next message on, you speak with the other end: this host's. */
export interface Joined {
  readonly host: string;
}

/** No, and why. The relay hangs up after it, unless it is about a lease. */
export interface Refused {
  readonly code: string;
  readonly text: string;
  readonly facts: Facts;
}

/** An operator wants to reach you: dial, and present this ticket. */
export interface Knock {
  readonly ticket: Uint8Array;
  readonly actor: string;
  readonly target: string;
  readonly invite: Uint8Array;
}

/** The relay is being stopped: no knock will come any more. */
export interface Leaving {}

/** You may, as this incarnation, for so long from when you asked. */
export interface LeaseGrant {
  readonly ask: number;
  readonly life: number;
  readonly ttl_ms: number;
}

/** You may not, and why. */
export interface LeaseRefuse {
  readonly ask: number;
  readonly code: string;
  readonly text: string;
  readonly facts: Facts;
}

/** Asks for a connection to the host, or to one of its sessions. */
export interface Open {
  readonly version: number;
  readonly target: string;
}

/** Grants it: what follows belongs to that connection. */
export interface Opened {
  readonly version: number;
}

/** Refuses it, and says why; nothing follows. */
export interface Declined {
  readonly code: string;
  readonly text: string;
  readonly facts: Facts;
}

export const HELLO = struct<Hello>({
  versions: list(int(0, 65535), 1, 16),
  product: text(64),
  client: text(64, /^[a-z][a-z0-9.-]*$/),
});

export const WELCOME = struct<Welcome>({
  version: int(0, 65535),
  product: text(64),
});

export const PING = struct<Ping>({
  number: int(0, 9007199254740991),
});

export const PONG = struct<Pong>({
  number: int(0, 9007199254740991),
});

export const GOODBYE = struct<Goodbye>({
  code: text(64, /^[a-z][a-z0-9.-]*$/),
  text: text(1024),
});

export const CHALLENGE = struct<Challenge>({
  nonce: bytes(32, 32),
});

export const IDENTIFY = struct<Identify>({
  actor: text(34, /^a_[a-z2-7]{32}$/),
  proof: bytes(32, 32),
});

export const CELLS = struct<Cells>({
  columns: int(1, 1000),
  rows: int(1, 1000),
});

export const ATTACH = struct<Attach>({
  session: text(18, /^s_[a-z2-7]{16}$/),
  client: text(18, /^c_[a-z2-7]{16}$/),
  mode: oneOf("observe", "operate"),
  size: orNull(CELLS),
  incarnation: orNull(int(1, 9007199254740991)),
  after: orNull(int(0, 9007199254740991)),
  keyframe: flag,
});

export const OPERATOR = struct<Operator>({
  actor: text(34, /^a_[a-z2-7]{32}$/),
  kind: oneOf("human", "agent", "service", "device"),
  name: text(64),
  client: text(18, /^c_[a-z2-7]{16}$/),
});

export const ATTACHED = struct<Attached>({
  session: text(18, /^s_[a-z2-7]{16}$/),
  name: text(64),
  incarnation: int(1, 9007199254740991),
  epoch: int(0, 9007199254740991),
  holder: text(34, /^$|^a_[a-z2-7]{32}$/),
  start: int(0, 9007199254740991),
  end: int(0, 9007199254740991),
  state: text(64, /^[a-z][a-z0-9.-]*$/),
  size: CELLS,
  operators: list(OPERATOR, 0, 256),
});

export const DETACH = struct<Detach>({});

export const OUTPUT = struct<Output>({
  offset: int(0, 9007199254740991),
  data: bytes(1, 65536),
});

export const GAP = struct<Gap>({
  start: int(0, 9007199254740991),
  end: int(0, 9007199254740991),
});

export const KEYFRAME = struct<Keyframe>({
  offset: int(0, 9007199254740991),
  size: CELLS,
  more: flag,
  data: bytes(0, 131072),
});

export const RESIZED = struct<Resized>({
  offset: int(0, 9007199254740991),
  size: CELLS,
});

export const SCREEN_REQUEST = struct<ScreenRequest>({
  cells: flag,
});

export const SCREEN_RUN = struct<ScreenRun>({
  row: int(0, 999),
  text: text(256),
  foreground: int(0, 33554431),
  background: int(0, 33554431),
  look: int(0, 511),
});

export const SCREEN_HIDDEN = struct<ScreenHidden>({
  row: int(0, 999),
  start: int(0, 16000),
  end: int(1, 16000),
  reason: text(64, /^[a-z][a-z0-9.-]*$/),
});

export const SCREEN = struct<Screen>({
  offset: int(0, 9007199254740991),
  size: CELLS,
  cursor_row: int(0, 999),
  cursor_column: int(0, 999),
  cursor_visible: flag,
  title: text(1024),
  alternate: flag,
  exact: flag,
  text: text(32768),
  runs: list(SCREEN_RUN, 0, 64),
  hidden: list(SCREEN_HIDDEN, 0, 256),
  above: int(0, 9007199254740991),
  more: flag,
});

export const SUBMIT = struct<Submit>({
  client: text(18, /^c_[a-z2-7]{16}$/),
  sequence: int(1, 9007199254740991),
  kind: oneOf("keys", "command", "signal", "resize", "answer", "start"),
  incarnation: int(1, 9007199254740991),
  epoch: int(0, 9007199254740991),
  payload: bytes(0, 65536),
  seen: orNull(int(0, 9007199254740991)),
  waits: flag,
});

export const RECEIPT = struct<Receipt>({
  head: bytes(32, 32),
  signature: bytes(64, 64),
});

export const ACKNOWLEDGE = struct<Acknowledge>({
  client: text(18, /^c_[a-z2-7]{16}$/),
  sequence: int(1, 9007199254740991),
  index: int(0, 9007199254740991),
  receipt: orNull(RECEIPT),
});

export const REFUSE = struct<Refuse>({
  refused: int(0, 255),
  client: text(18, /^$|^c_[a-z2-7]{16}$/),
  sequence: int(0, 9007199254740991),
  code: text(64, /^[a-z][a-z0-9.-]*$/),
  text: text(1024),
  facts: facts(16),
  retryable: flag,
  next_step: text(1024),
});

export const REPORT = struct<Report>({
  client: text(18, /^c_[a-z2-7]{16}$/),
  sequence: int(1, 9007199254740991),
  outcome: oneOf("dropped", "cut", "unknown"),
  index: int(0, 9007199254740991),
  written: int(0, 65536),
});

export const INQUIRE = struct<Inquire>({
  client: text(18, /^c_[a-z2-7]{16}$/),
  sequence: int(1, 9007199254740991),
});

export const INTEND = struct<Intend>({
  act: text(64, /^[a-z][a-z0-9.-]*$/),
  intent: text(500),
  effect: text(500),
  parameters: text(2048),
  prompt: text(200),
  expects: text(2048),
  idempotent: flag,
  attempt: int(1, 100),
});

export const SIGN = struct<Sign>({
  client: text(18, /^c_[a-z2-7]{16}$/),
  last: int(1, 9007199254740991),
  steps: bytes(48, 12288),
  key: bytes(32, 32),
  rotations: bytes(0, 3072),
  signature: bytes(64, 64),
});

export const SIGNED = struct<Signed>({
  client: text(18, /^c_[a-z2-7]{16}$/),
  last: int(0, 9007199254740991),
});

export const NOTIFY = struct<Notify>({
  text: text(1024),
});

export const TAKE = struct<Take>({});

export const ASK = struct<Ask>({
  timeout_ms: int(1, 86400000),
});

export const ANSWER = struct<Answer>({
  asker: text(34, /^a_[a-z2-7]{32}$/),
  granted: flag,
});

export const GIVE = struct<Give>({
  to: text(34, /^a_[a-z2-7]{32}$/),
});

export const DROP = struct<Drop>({});

export const SEIZE = struct<Seize>({
  halt: oneOf("none", "freeze", "interrupt"),
});

export const TURN_PASSED = struct<TurnPassed>({
  former: text(34, /^$|^a_[a-z2-7]{32}$/),
  holder: text(34, /^$|^a_[a-z2-7]{32}$/),
  epoch: int(0, 9007199254740991),
  reason: text(64, /^[a-z][a-z0-9.-]*$/),
  dropped_inputs: int(0, 9007199254740991),
  dropped_bytes: int(0, 9007199254740991),
});

export const TURN_ASKED = struct<TurnAsked>({
  asker: text(34, /^a_[a-z2-7]{32}$/),
  wait_ms: int(0, 86400000),
});

export const PROCESS = struct<Process>({
  pid: int(1, 9007199254740991),
  parent: int(0, 9007199254740991),
  started_ticks: int(0, 9007199254740991),
  command: text(128),
  state: text(64, /^[a-z][a-z0-9.-]*$/),
  actor: text(34, /^$|^a_[a-z2-7]{32}$/),
  rss: int(0, 9007199254740991),
  cpu_ms: int(0, 9007199254740991),
  age_ms: int(0, 9007199254740991),
  unlisted: orNull(int(0, 9007199254740991)),
});

export const STAGED = struct<Staged>({
  what: text(64, /^[a-z][a-z0-9.-]*$/),
  name: text(120),
  by: list(text(34, /^a_[a-z2-7]{32}$/), 0, 4),
  command: int(0, 9007199254740991),
  sure: flag,
});

export const INHERITED = struct<Inherited>({
  epoch: int(0, 9007199254740991),
  staged: bytes(0, 4096),
  by: list(text(34, /^a_[a-z2-7]{32}$/), 0, 16),
  jobs: list(PROCESS, 0, 64),
  changed: list(STAGED, 0, 32),
});

export const PREVIEW = struct<Preview>({
  ran: flag,
  ended: flag,
  exit: orNull(int(0, 255)),
  duration_ms: int(0, 9007199254740991),
  files: int(0, 9007199254740991),
  processes: int(0, 9007199254740991),
  ports: int(0, 9007199254740991),
  tried: int(0, 9007199254740991),
  text: text(2560),
  digest: bytes(32, 32),
});

export const PENDING = struct<Pending>({
  ticket: int(0, 9007199254740991),
  actor: text(34, /^a_[a-z2-7]{32}$/),
  kind: oneOf("keys", "command", "signal", "resize", "answer", "start"),
  epoch: int(0, 9007199254740991),
  digest: bytes(32, 32),
  size: int(0, 65536),
  excerpt: bytes(0, 4096),
  rule: text(1024),
  program: text(1024),
  runs: text(256),
  uses: list(STAGED, 0, 6),
  preview: orNull(PREVIEW),
});

export const APPROVE = struct<Approve>({
  ticket: int(0, 9007199254740991),
  epoch: int(0, 9007199254740991),
  digest: bytes(32, 32),
});

export const DENY = struct<Deny>({
  ticket: int(0, 9007199254740991),
  digest: bytes(32, 32),
});

export const SETTLED = struct<Settled>({
  ticket: int(0, 9007199254740991),
  verdict: oneOf("allow", "deny", "ask", "preview"),
  by: text(34, /^$|^a_[a-z2-7]{32}$/),
});

export const TRY = struct<Try>({
  actor: text(34, /^a_[a-z2-7]{32}$/),
  kind: oneOf("keys", "command", "signal", "resize", "answer", "start"),
  payload: bytes(0, 65536),
  candidate: orNull(bytes(0, 131072)),
});

export const TRIED = struct<Tried>({
  verdict: oneOf("allow", "deny", "ask", "preview"),
  rule: text(1024),
  why: text(1024),
  runs: text(256),
  uses: list(STAGED, 0, 6),
  policy: text(64),
});

export const GRAPH_REQUEST = struct<GraphRequest>({
  descriptors: flag,
});

export const LISTENER = struct<Listener>({
  pid: int(1, 9007199254740991),
  address: text(108),
  port: int(0, 65535),
  protocol: text(64, /^[a-z][a-z0-9.-]*$/),
});

export const CONNECTION = struct<Connection>({
  pid: int(1, 9007199254740991),
  protocol: text(64, /^[a-z][a-z0-9.-]*$/),
  address: text(108),
  port: int(0, 65535),
  peer: text(108),
  peer_port: int(0, 65535),
});

export const DESCRIPTOR = struct<Descriptor>({
  pid: int(1, 9007199254740991),
  number: int(0, 9007199254740991),
  kind: text(64, /^[a-z][a-z0-9.-]*$/),
  name: text(256),
  offset: int(0, 9007199254740991),
  access: text(64, /^[a-z][a-z0-9.-]*$/),
  lock: text(64, /^[a-z][a-z0-9.-]*$/),
});

export const GRAPH = struct<Graph>({
  processes: list(PROCESS, 0, 96),
  listeners: list(LISTENER, 0, 32),
  connections: list(CONNECTION, 0, 32),
  descriptors: list(DESCRIPTOR, 0, 64),
  more: flag,
});

export const BLAME_REQUEST = struct<BlameRequest>({
  what: text(64, /^[a-z][a-z0-9.-]*$/),
  name: text(4096),
  at_ms: int(0, 9007199254740991),
});

export const BEHIND = struct<Behind>({
  command: int(0, 9007199254740991),
  first: int(0, 9007199254740991),
  trigger: text(34, /^$|^a_[a-z2-7]{32}$/),
  authors: list(text(34, /^a_[a-z2-7]{32}$/), 0, 16),
  line: text(1024),
  at_ms: int(0, 9007199254740991),
});

export const STRETCH = struct<Stretch>({
  size: int(0, 9007199254740991),
  actor: text(34, /^a_[a-z2-7]{32}$/),
});

export const BLAME_REPORT = struct<BlameReport>({
  standing: text(64, /^[a-z][a-z0-9.-]*$/),
  how: text(32),
  digest: bytes(0, 32),
  behind: orNull(BEHIND),
  used: orNull(BEHIND),
  silent: flag,
  staged: bytes(0, 4096),
  by: list(STRETCH, 0, 1024),
  others: list(text(34, /^a_[a-z2-7]{32}$/), 0, 16),
  edited: flag,
  hidden: int(0, 9007199254740991),
});

export const PREFLIGHT_REQUEST = struct<PreflightRequest>({});

export const BLOCKER = struct<Blocker>({
  kind: text(64, /^[a-z][a-z0-9.-]*$/),
  what: text(256),
  why: text(256),
  remedy: text(256),
  pid: int(0, 9007199254740991),
  program: text(256),
  descriptor: orNull(int(0, 9007199254740991)),
});

export const CUT = struct<Cut>({
  pid: int(0, 9007199254740991),
  program: text(256),
  descriptor: int(0, 9007199254740991),
  peer: text(256),
});

export const PREFLIGHT = struct<Preflight>({
  blockers: list(BLOCKER, 0, 32),
  cuts: list(CUT, 0, 32),
  unlisted: int(0, 9007199254740991),
});

export const CHECKPOINT_REQUEST = struct<CheckpointRequest>({
  stop: flag,
  label: text(64),
  branch: flag,
  key: text(64),
});

export const CHECKPOINTED = struct<Checkpointed>({
  image: text(64),
  number: int(1, 9007199254740991),
  size: int(0, 9007199254740991),
  still_ms: int(0, 9007199254740991),
  stopped: flag,
  cuts: list(CUT, 0, 32),
});

export const FREEZE = struct<Freeze>({});

export const THAW = struct<Thaw>({});

export const END = struct<End>({
  signal: int(1, 64),
  leave: flag,
});

export const STATE = struct<State>({
  state: text(64, /^[a-z][a-z0-9.-]*$/),
  incarnation: int(1, 9007199254740991),
});

export const EXITED = struct<Exited>({
  status: int(-64, 255),
});

export const REAP = struct<Reap>({
  stop: flag,
  quiet_ms: int(0, 9007199254740991),
  idle_ms: int(0, 9007199254740991),
  why: text(64, /^[a-z][a-z0-9.-]*$/),
});

export const STATE_REQUEST = struct<StateRequest>({});

export const ASLEEP = struct<Asleep>({
  pid: int(1, 9007199254740991),
  name: text(64),
  state: text(64, /^[a-z][a-z0-9.-]*$/),
  where: text(1024),
});

export const EVIDENCE = struct<Evidence>({
  state: text(64, /^[a-z][a-z0-9.-]*$/),
  program: text(64),
  incarnation: int(1, 9007199254740991),
  sure: flag,
  why: list(text(1024), 0, 8),
  foreground: int(0, 9007199254740991),
  echo: flag,
  canonical: flag,
  unread: int(0, 9007199254740991),
  sleepers: list(ASLEEP, 0, 16),
});

export const WHO = struct<Who>({});

export const PRESENT = struct<Present>({
  actor: text(34, /^a_[a-z2-7]{32}$/),
  kind: oneOf("human", "agent", "service", "device"),
  name: text(64),
  client: text(18, /^c_[a-z2-7]{16}$/),
  program: text(64, /^[a-z][a-z0-9.-]*$/),
  mode: oneOf("observe", "operate"),
  for_ms: int(0, 9007199254740991),
});

export const PRESENCE = struct<Presence>({
  present: list(PRESENT, 0, 256),
  holder: text(34, /^$|^a_[a-z2-7]{32}$/),
  epoch: int(0, 9007199254740991),
  waiting: list(text(34, /^a_[a-z2-7]{32}$/), 0, 32),
  frozen: flag,
  pending: list(PENDING, 0, 5),
  rights: list(text(64, /^[a-z][a-z0-9.-]*$/), 0, 32),
});

export const GRANT = struct<Grant>({
  actor: text(34, /^a_[a-z2-7]{32}$/),
  rights: list(text(64, /^[a-z][a-z0-9.-]*$/), 0, 32),
  for_ms: int(0, 9007199254740991),
});

export const REVOKE = struct<Revoke>({
  actor: text(34, /^a_[a-z2-7]{32}$/),
});

export const DETACH_CLIENT = struct<DetachClient>({
  client: text(18, /^c_[a-z2-7]{16}$/),
});

export const SHELL_COMMAND = struct<ShellCommand>({
  number: int(1, 9007199254740991),
  client: text(18, /^$|^c_[a-z2-7]{16}$/),
  line: text(4096),
  start: int(0, 9007199254740991),
  end: orNull(int(0, 9007199254740991)),
  status: orNull(int(0, 255)),
  duration_ms: int(0, 9007199254740991),
  cwd: text(4096),
});

export const COMMAND_STARTED = struct<CommandStarted>({
  command: SHELL_COMMAND,
});

export const COMMAND_ENDED = struct<CommandEnded>({
  command: SHELL_COMMAND,
});

export const COMMAND_REQUEST = struct<CommandRequest>({
  client: text(18, /^$|^c_[a-z2-7]{16}$/),
});

export const COMMAND_REPORT = struct<CommandReport>({
  phase: text(64, /^[a-z][a-z0-9.-]*$/),
  command: orNull(SHELL_COMMAND),
});

export const EVENT = struct<Event>({
  name: text(64, /^[a-z][a-z0-9.-]*$/),
  session: text(18, /^s_[a-z2-7]{16}$/),
  fields: facts(16),
});

export const REGISTER = struct<Register>({
  key: bytes(32, 32),
  signature: bytes(64, 64),
});

export const MEET = struct<Meet>({
  key: bytes(32, 32),
  ticket: bytes(16, 16),
  signature: bytes(64, 64),
});

export const REACH = struct<Reach>({
  key: bytes(32, 32),
  target: text(34, /^h_[a-z2-7]{32}$|^s_[a-z2-7]{16}$/),
  invite: bytes(0, 32),
  signature: bytes(64, 64),
});

export const ADMIT = struct<Admit>({
  resets: flag,
  actors: list(text(34, /^a_[a-z2-7]{32}$/), 0, 800),
  invites: list(bytes(1, 32), 0, 800),
});

export const DISMISS = struct<Dismiss>({
  actors: list(text(34, /^a_[a-z2-7]{32}$/), 0, 800),
  invites: list(bytes(1, 32), 0, 800),
});

export const PUBLISH = struct<Publish>({
  resets: flag,
  added: list(text(18, /^s_[a-z2-7]{16}$/), 0, 800),
  removed: list(text(18, /^s_[a-z2-7]{16}$/), 0, 800),
});

export const LEASE_ASK = struct<LeaseAsk>({
  ask: int(0, 9007199254740991),
  session: text(18, /^s_[a-z2-7]{16}$/),
  life: int(0, 9007199254740991),
  seen: int(0, 9007199254740991),
  speaking: flag,
});

export const LEASE_RELEASE = struct<LeaseRelease>({
  session: text(18, /^s_[a-z2-7]{16}$/),
  life: int(1, 9007199254740991),
});

export const LEASE_END = struct<LeaseEnd>({
  session: text(18, /^s_[a-z2-7]{16}$/),
  life: int(1, 9007199254740991),
});

export const ENTRUST = struct<Entrust>({
  session: text(18, /^s_[a-z2-7]{16}$/),
  hosts: list(text(34, /^h_[a-z2-7]{32}$/), 0, 16),
});

export const GREET = struct<Greet>({
  version: int(0, 65535),
  nonce: bytes(32, 32),
});

export const REGISTERED = struct<Registered>({
  host: text(34, /^h_[a-z2-7]{32}$/),
});

export const JOINED = struct<Joined>({
  host: text(34, /^h_[a-z2-7]{32}$/),
});

export const REFUSED = struct<Refused>({
  code: text(64, /^[a-z][a-z0-9.-]*$/),
  text: text(1024),
  facts: facts(16),
});

export const KNOCK = struct<Knock>({
  ticket: bytes(16, 16),
  actor: text(34, /^a_[a-z2-7]{32}$/),
  target: text(34, /^h_[a-z2-7]{32}$|^s_[a-z2-7]{16}$/),
  invite: bytes(0, 32),
});

export const LEAVING = struct<Leaving>({});

export const LEASE_GRANT = struct<LeaseGrant>({
  ask: int(0, 9007199254740991),
  life: int(1, 9007199254740991),
  ttl_ms: int(0, 9007199254740991),
});

export const LEASE_REFUSE = struct<LeaseRefuse>({
  ask: int(0, 9007199254740991),
  code: text(64, /^[a-z][a-z0-9.-]*$/),
  text: text(1024),
  facts: facts(16),
});

export const OPEN = struct<Open>({
  version: int(1, 1),
  target: text(18, /^(host|s_[a-z2-7]{16})$/),
});

export const OPENED = struct<Opened>({
  version: int(1, 1),
});

export const DECLINED = struct<Declined>({
  code: text(64, /^[a-z][a-z0-9.-]*$/),
  text: text(1024),
  facts: facts(16),
});

/** The number of each kind of frame. */
export const KINDS = {
  HELLO: 0x01,
  WELCOME: 0x02,
  PING: 0x03,
  PONG: 0x04,
  GOODBYE: 0x05,
  CHALLENGE: 0x06,
  IDENTIFY: 0x07,
  ATTACH: 0x10,
  ATTACHED: 0x11,
  DETACH: 0x12,
  OUTPUT: 0x14,
  GAP: 0x15,
  KEYFRAME: 0x16,
  RESIZED: 0x17,
  SCREEN_REQUEST: 0x18,
  SCREEN: 0x19,
  SUBMIT: 0x20,
  ACKNOWLEDGE: 0x21,
  REFUSE: 0x22,
  REPORT: 0x23,
  INQUIRE: 0x24,
  INTEND: 0x25,
  SIGN: 0x26,
  SIGNED: 0x27,
  NOTIFY: 0x28,
  TAKE: 0x30,
  ASK: 0x31,
  ANSWER: 0x32,
  GIVE: 0x33,
  DROP: 0x34,
  SEIZE: 0x35,
  TURN_PASSED: 0x36,
  TURN_ASKED: 0x37,
  INHERITED: 0x38,
  PENDING: 0x40,
  APPROVE: 0x41,
  DENY: 0x42,
  SETTLED: 0x43,
  TRY: 0x44,
  TRIED: 0x45,
  GRAPH_REQUEST: 0x50,
  GRAPH: 0x51,
  BLAME_REQUEST: 0x52,
  BLAME_REPORT: 0x53,
  PREFLIGHT_REQUEST: 0x54,
  PREFLIGHT: 0x55,
  CHECKPOINT_REQUEST: 0x56,
  CHECKPOINTED: 0x57,
  FREEZE: 0x60,
  THAW: 0x61,
  END: 0x62,
  STATE: 0x63,
  EXITED: 0x64,
  REAP: 0x66,
  STATE_REQUEST: 0x68,
  EVIDENCE: 0x69,
  WHO: 0x90,
  PRESENCE: 0x91,
  GRANT: 0x92,
  REVOKE: 0x93,
  DETACH_CLIENT: 0x94,
  COMMAND_STARTED: 0xa0,
  COMMAND_ENDED: 0xa1,
  COMMAND_REQUEST: 0xa2,
  COMMAND_REPORT: 0xa3,
  EVENT: 0x70,
} as const;

export interface Bodies {
  readonly HELLO: Hello;
  readonly WELCOME: Welcome;
  readonly PING: Ping;
  readonly PONG: Pong;
  readonly GOODBYE: Goodbye;
  readonly CHALLENGE: Challenge;
  readonly IDENTIFY: Identify;
  readonly ATTACH: Attach;
  readonly ATTACHED: Attached;
  readonly DETACH: Detach;
  readonly OUTPUT: Output;
  readonly GAP: Gap;
  readonly KEYFRAME: Keyframe;
  readonly RESIZED: Resized;
  readonly SCREEN_REQUEST: ScreenRequest;
  readonly SCREEN: Screen;
  readonly SUBMIT: Submit;
  readonly ACKNOWLEDGE: Acknowledge;
  readonly REFUSE: Refuse;
  readonly REPORT: Report;
  readonly INQUIRE: Inquire;
  readonly INTEND: Intend;
  readonly SIGN: Sign;
  readonly SIGNED: Signed;
  readonly NOTIFY: Notify;
  readonly TAKE: Take;
  readonly ASK: Ask;
  readonly ANSWER: Answer;
  readonly GIVE: Give;
  readonly DROP: Drop;
  readonly SEIZE: Seize;
  readonly TURN_PASSED: TurnPassed;
  readonly TURN_ASKED: TurnAsked;
  readonly INHERITED: Inherited;
  readonly PENDING: Pending;
  readonly APPROVE: Approve;
  readonly DENY: Deny;
  readonly SETTLED: Settled;
  readonly TRY: Try;
  readonly TRIED: Tried;
  readonly GRAPH_REQUEST: GraphRequest;
  readonly GRAPH: Graph;
  readonly BLAME_REQUEST: BlameRequest;
  readonly BLAME_REPORT: BlameReport;
  readonly PREFLIGHT_REQUEST: PreflightRequest;
  readonly PREFLIGHT: Preflight;
  readonly CHECKPOINT_REQUEST: CheckpointRequest;
  readonly CHECKPOINTED: Checkpointed;
  readonly FREEZE: Freeze;
  readonly THAW: Thaw;
  readonly END: End;
  readonly STATE: State;
  readonly EXITED: Exited;
  readonly REAP: Reap;
  readonly STATE_REQUEST: StateRequest;
  readonly EVIDENCE: Evidence;
  readonly WHO: Who;
  readonly PRESENCE: Presence;
  readonly GRANT: Grant;
  readonly REVOKE: Revoke;
  readonly DETACH_CLIENT: DetachClient;
  readonly COMMAND_STARTED: CommandStarted;
  readonly COMMAND_ENDED: CommandEnded;
  readonly COMMAND_REQUEST: CommandRequest;
  readonly COMMAND_REPORT: CommandReport;
  readonly EVENT: Event;
}

export const SHAPES = {
  HELLO: HELLO,
  WELCOME: WELCOME,
  PING: PING,
  PONG: PONG,
  GOODBYE: GOODBYE,
  CHALLENGE: CHALLENGE,
  IDENTIFY: IDENTIFY,
  ATTACH: ATTACH,
  ATTACHED: ATTACHED,
  DETACH: DETACH,
  OUTPUT: OUTPUT,
  GAP: GAP,
  KEYFRAME: KEYFRAME,
  RESIZED: RESIZED,
  SCREEN_REQUEST: SCREEN_REQUEST,
  SCREEN: SCREEN,
  SUBMIT: SUBMIT,
  ACKNOWLEDGE: ACKNOWLEDGE,
  REFUSE: REFUSE,
  REPORT: REPORT,
  INQUIRE: INQUIRE,
  INTEND: INTEND,
  SIGN: SIGN,
  SIGNED: SIGNED,
  NOTIFY: NOTIFY,
  TAKE: TAKE,
  ASK: ASK,
  ANSWER: ANSWER,
  GIVE: GIVE,
  DROP: DROP,
  SEIZE: SEIZE,
  TURN_PASSED: TURN_PASSED,
  TURN_ASKED: TURN_ASKED,
  INHERITED: INHERITED,
  PENDING: PENDING,
  APPROVE: APPROVE,
  DENY: DENY,
  SETTLED: SETTLED,
  TRY: TRY,
  TRIED: TRIED,
  GRAPH_REQUEST: GRAPH_REQUEST,
  GRAPH: GRAPH,
  BLAME_REQUEST: BLAME_REQUEST,
  BLAME_REPORT: BLAME_REPORT,
  PREFLIGHT_REQUEST: PREFLIGHT_REQUEST,
  PREFLIGHT: PREFLIGHT,
  CHECKPOINT_REQUEST: CHECKPOINT_REQUEST,
  CHECKPOINTED: CHECKPOINTED,
  FREEZE: FREEZE,
  THAW: THAW,
  END: END,
  STATE: STATE,
  EXITED: EXITED,
  REAP: REAP,
  STATE_REQUEST: STATE_REQUEST,
  EVIDENCE: EVIDENCE,
  WHO: WHO,
  PRESENCE: PRESENCE,
  GRANT: GRANT,
  REVOKE: REVOKE,
  DETACH_CLIENT: DETACH_CLIENT,
  COMMAND_STARTED: COMMAND_STARTED,
  COMMAND_ENDED: COMMAND_ENDED,
  COMMAND_REQUEST: COMMAND_REQUEST,
  COMMAND_REPORT: COMMAND_REPORT,
  EVENT: EVENT,
} as const;

/** What a relay and its peers say: docs/spec/relay.md. */
export const RELAY_MESSAGES = {
  "register": REGISTER,
  "meet": MEET,
  "reach": REACH,
  "admit": ADMIT,
  "dismiss": DISMISS,
  "publish": PUBLISH,
  "lease-ask": LEASE_ASK,
  "lease-release": LEASE_RELEASE,
  "lease-end": LEASE_END,
  "entrust": ENTRUST,
  "greet": GREET,
  "registered": REGISTERED,
  "joined": JOINED,
  "refused": REFUSED,
  "knock": KNOCK,
  "leaving": LEAVING,
  "lease-grant": LEASE_GRANT,
  "lease-refuse": LEASE_REFUSE,
} as const;

/** What a channel begins with: docs/spec/channel.md, section 7. */
export const OPENING = {
  "open": OPEN,
  "opened": OPENED,
  "declined": DECLINED,
} as const;
