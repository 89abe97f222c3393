/**
 * One attached session, as the components see it: signals and actions.
 *
 * The link is the protocol's; this carries its events into signals and onto the
 * screen, and typed keys to it. It decides one thing: keys typed without the turn
 * are not sent, but answered with a hint.
 */

import { batch, computed, signal } from "@preact/signals";
import type { CommandBlock } from "../app/command-blocks.js";
import { imageEventTold } from "../app/image-words.js";
import { isAutomatic, type Key, withControl } from "../app/keys.js";
import { shown } from "../app/shown-text.js";
import { callTold } from "../app/words.js";
import type {
  Cells,
  Evidence,
  Inherited,
  LinkState,
  Presence,
  SessionEvent,
  SessionLink,
  SessionView,
} from "../protocol/api.js";
import { CommandOutput } from "./command-output.js";
import { kindAt, learnNames, nameAt } from "./names.js";
import { notifyAbout } from "./notifications.js";
import { sessionAddress } from "./route.js";
import { attempt, page, say } from "./state.js";
import type { Screen } from "./terminal.js";

const ASK_MS = 60_000;
const RESIZE_PAUSE_MS = 120;

/** Milliseconds between two polls of its state while nothing happens. */
const LOOK_MS = 1000;

/** The same after something happened: a program prints, then waits for input. */
const LOOK_SOON_MS = 250;

export interface Asker {
  readonly actor: string;
  readonly untilMs: number;
}

export class SessionModel {
  readonly link: SessionLink;
  readonly state = signal<LinkState>({ is: "idle" });
  readonly view = signal<SessionView | null>(null);
  readonly presence = signal<Presence | null>(null);
  readonly title = signal("");
  /** The name that was given to it here; a link tells the name only when it attaches. */
  readonly renamed = signal<string | null>(null);
  readonly name = computed(() => this.renamed.value ?? this.view.value?.name ?? "");
  readonly inherited = signal<Inherited | null>(null);
  /** Whether what comes with the turn is worth showing. */
  readonly isHeir = computed(() => {
    const found = this.inherited.value;
    return found !== null && (found.staged.length > 0 || found.changed.length > 0);
  });
  readonly askers = signal<readonly Asker[]>([]);
  readonly isAsking = signal(false);
  readonly missed = signal(0);
  readonly isPainted = signal(false);
  readonly isControlDown = signal(false);
  /** Its state according to the kernel; polled, since nothing announces it. */
  readonly evidence = signal<Evidence | null>(null);
  readonly does = computed(() => {
    const told = this.view.value?.state ?? "";
    const link = this.state.value;
    if (link.is === "failed" && (link.because === "stopped" || link.because === "gone")) {
      return link.because === "stopped" ? "on disk" : "gone";
    }
    if (this.isFrozen.value) {
      return "frozen";
    }
    return told === "exited" ? told : (this.evidence.value?.state ?? told);
  });
  readonly isFrozen = computed(
    () => this.view.value?.state === "frozen" || this.presence.value?.frozen === true,
  );
  /** Its call for attention; null if there is none. */
  readonly call = signal<string | null>(null);
  readonly pending = computed(() => this.view.value?.pending ?? []);
  /** Whether it was lost, and this life of it was begun from what was kept. */
  readonly isReconstructed = signal(false);

  readonly #output: CommandOutput;
  #screen: Screen | null = null;
  #show: (screen: Screen) => void = () => undefined;
  readonly #shown = new Promise<Screen>((done) => {
    this.#show = done;
  });
  #wished: Cells | null = null;
  #resizing: ReturnType<typeof setTimeout> | null = null;
  readonly #stop: () => void;
  #looking: ReturnType<typeof setTimeout> | undefined;
  #looksAt = Number.POSITIVE_INFINITY;
  #isLooking = false;
  #isClosed = false;
  #hasAttached = false;
  #host: string;

  constructor(link: SessionLink) {
    this.link = link;
    this.#host = link.host;
    this.#output = new CommandOutput(link);
    this.#stop = link.listen((event) => this.#hear(event));
    this.#lookIn(0);
  }

  /** Leave. The session does not notice. */
  close(): void {
    if (this.#resizing !== null) {
      clearTimeout(this.#resizing);
    }
    clearTimeout(this.#looking);
    this.#isClosed = true;
    this.#stop();
    this.link.close();
  }

  /** Paint on this screen from now on. */
  show(screen: Screen): void {
    this.#screen = screen;
    if (this.view.value !== null) {
      screen.showSize(this.view.value.size);
    }
    this.#show(screen);
  }

  /** An actor's name here. */
  nameOf = (actor: string): string => {
    if (actor === this.view.value?.us) {
      return "you";
    }
    return nameAt(this.link.host, actor);
  };

  /** An actor's kind, as far as it is known. */
  kindOf = (actor: string): string => kindAt(this.link.host, actor);

  may(right: string): boolean {
    return this.presence.value?.rights.includes(right) ?? false;
  }

  /** Send typed keys if we have the turn; otherwise say who has it. */
  typed(data: string): void {
    const view = this.view.value;
    if (view === null || (isAutomatic(data) && !view.hasTurn) || !this.#mayType()) {
      return;
    }
    const keys = this.isControlDown.value ? withControl(data) : data;
    this.isControlDown.value = false;
    void attempt(this.link.type(keys));
  }

  /** Send a text that was written beforehand; false if nothing was sent. */
  compose(text: string, isEntered: boolean): boolean {
    if (this.view.value === null || !this.#mayType()) {
      return false;
    }
    if (text.includes("\n")) {
      this.#screen?.paste(text);
    } else if (text !== "") {
      void attempt(this.link.type(text));
    }
    if (isEntered) {
      void attempt(this.link.type("\r"));
    }
    this.#screen?.scrollToEnd();
    return true;
  }

  /** Be told when a command has begun or ended. */
  onCommand(hear: () => void): () => void {
    return this.#output.listen(hear);
  }

  /** What a command has printed, as text. */
  outputOf(block: CommandBlock): Promise<string> {
    return this.#output.text(block, this.view.value?.size.columns ?? 80);
  }

  /** Enter a line once more. */
  runAgain(line: string): void {
    if (this.view.value !== null && this.#mayType()) {
      void attempt(this.link.command(line));
    }
  }

  /** Whether keys would be taken; if not, it is said why. */
  #mayType(): boolean {
    const view = this.view.value;
    if (view !== null && !view.mayWrite) {
      say(
        this.link.mode === "observe"
          ? "You may only watch this session."
          : `${this.nameOf(view.holder)} has the turn. Ask for it, or seize it.`,
      );
      return false;
    }
    if (this.isFrozen.value) {
      say("The session is frozen and accepts no input. Thaw it first.");
      return false;
    }
    return true;
  }

  /** A key of the key row. */
  press(key: Key): void {
    const isApplication = this.#screen?.wantsApplicationKeys ?? false;
    this.typed((isApplication ? key.sendsToApplication : undefined) ?? key.sends);
    this.#screen?.scrollToEnd();
  }

  /** Text from the clipboard, marked as a paste. */
  paste(text: string): void {
    this.#screen?.paste(text);
  }

  /** Give the session a size, once the window has stopped moving. */
  wish(size: Cells | null): void {
    this.#wished = size;
    if (this.#resizing !== null || size === null) {
      return;
    }
    this.#resizing = setTimeout(() => {
      this.#resizing = null;
      this.#resize();
    }, RESIZE_PAUSE_MS);
  }

  /** Ask the operator who has the turn for it. */
  async ask(): Promise<void> {
    this.isAsking.value = true;
    await this.doing(this.link.ask(ASK_MS));
    this.isAsking.value = false;
  }

  /** Send a request about the turn, and show the state after it. */
  async doing(work: Promise<Presence>): Promise<void> {
    const presence = await attempt(work);
    if (presence !== null) {
      this.#met(presence);
    }
    this.#look();
  }

  /** Answer an asker. */
  async reply(actor: string, granted: boolean): Promise<void> {
    this.askers.value = this.askers.value.filter((one) => one.actor !== actor);
    await this.doing(this.link.reply(actor, granted));
  }

  #called(name: string, fields: Readonly<Record<string, unknown>>): void {
    if (name === "attention.cleared") {
      this.call.value = null;
    } else if (name === "attention.called") {
      this.call.value = callTold({ text: shown(String(fields["text"] ?? ""), 200) });
      notifyAbout(this.name.value, this.call.value);
    }
  }

  #heardOfImage(name: string, fields: Readonly<Record<string, string | number>>): void {
    const told = imageEventTold(name, fields, this.nameOf);
    // What this browser has done, it shows by itself.
    if (told !== "" && fields["actor"] !== this.view.value?.us) {
      say(told);
    }
  }

  async refresh(): Promise<void> {
    try {
      this.#met(await this.link.who());
    } catch {
      // The link is down, and its state says so.
    }
  }

  #resize(): void {
    const view = this.view.value;
    const size = this.#wished;
    const isNews =
      size !== null && (size.columns !== view?.size.columns || size.rows !== view?.size.rows);
    if (isNews && view?.hasTurn === true && this.may("resize") && !this.isFrozen.value) {
      void this.link.resize(size).catch(() => undefined); // The next change tries again.
    }
  }

  /** Learn how a life began that is not the first: only the host's list tells. */
  async #lookUp(incarnation: number): Promise<void> {
    if (incarnation === 1) {
      return;
    }
    try {
      const listed = (await page.value?.link(this.link.host).sessions()) ?? [];
      const info = listed.find((one) => one.id === this.link.session);
      this.isReconstructed.value = (info?.recoveredMs ?? 0) > 0;
    } catch {
      // The link's own state says what is wrong.
    }
  }

  #hear(event: SessionEvent): void | Promise<void> {
    this.#lookIn(LOOK_SOON_MS);
    this.#output.hear(event);
    if (event.is === "painted" || event.is === "printed") {
      return this.#paint(event);
    }
    batch(() => this.#note(event));
    return undefined;
  }

  /** Bytes may come before the terminal is loaded; they wait for it, and so does the link. */
  async #paint(event: SessionEvent & { is: "painted" | "printed" }): Promise<void> {
    const screen = this.#screen ?? (await this.#shown);
    if (event.is === "painted" && event.isFirst) {
      screen.reset(event.size);
    }
    await screen.write(event.data);
    if (!this.isPainted.value && (event.is === "printed" || event.isLast)) {
      this.isPainted.value = true;
    }
  }

  #note(event: SessionEvent): void {
    this.#look();
    switch (event.is) {
      case "link":
        this.state.value = event.state;
        break;
      case "attached":
        this.#follow();
        learnNames(this.link.host, event.attached.operators);
        this.renamed.value = null;
        this.#screen?.showSize(event.attached.size);
        // A session without output has nothing to draw.
        this.isPainted.value ||= event.attached.end === 0;
        // On first attach, what has rolled off was never ours to miss.
        if (!this.#hasAttached) this.missed.value = event.attached.start;
        this.#hasAttached = true;
        void this.#lookUp(event.attached.incarnation);
        void this.refresh();
        break;
      case "gap":
        this.missed.value += event.end - event.start;
        break;
      case "resized":
        this.#screen?.showSize(event.size);
        break;
      case "turn-passed":
        this.askers.value = [];
        this.inherited.value = null;
        void this.refresh();
        break;
      case "turn-asked":
        this.#asked(event.asker, event.waitMs);
        break;
      case "inherited":
        this.inherited.value = event.inherited;
        break;
      case "pending":
        notifyAbout(this.name.value, "An input waits for approval.");
        break;
      case "noted":
        this.#called(event.name, event.fields);
        this.#heardOfImage(event.name, event.fields);
        void this.refresh();
        break;
      default:
        break;
    }
  }

  /** Have the address lead to the host at which the session is now. */
  #follow(): void {
    const { host, session } = this.link;
    if (host === this.#host) {
      return;
    }
    this.#host = host;
    history.replaceState(null, "", sessionAddress(host, session));
    const name = page.value?.hosts().find((one) => one.id === host)?.name ?? host;
    say(`The session continues on ${shown(name)}.`);
  }

  /** Poll in that many milliseconds, unless a poll comes sooner. */
  #lookIn(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.#looksAt || this.#isClosed) {
      return;
    }
    clearTimeout(this.#looking);
    this.#looksAt = at;
    this.#looking = setTimeout(() => void this.#lookCloser(), ms);
  }

  async #lookCloser(): Promise<void> {
    this.#looksAt = Number.POSITIVE_INFINITY;
    if (!this.#isLooking && this.link.state.is === "live") {
      this.#isLooking = true;
      const before = this.does.value;
      // The state stays as last seen; the link's state says why.
      this.evidence.value = await this.link.evidence().catch(() => this.evidence.value);
      this.#isLooking = false;
      if (this.does.value !== before && this.does.value.startsWith("waiting-for-")) {
        notifyAbout(this.name.value, "It waits for input.");
      }
    }
    this.#lookIn(LOOK_MS);
  }

  #asked(actor: string, waitMs: number): void {
    const others = this.askers.value.filter((one) => one.actor !== actor);
    this.askers.value = [...others, { actor, untilMs: Date.now() + waitMs }];
    void this.refresh();
  }

  #look(): void {
    this.view.value = this.link.view;
    this.state.value = this.link.state;
  }

  #met(presence: Presence): void {
    this.presence.value = presence;
    learnNames(this.link.host, presence.present);
    this.#look();
  }
}
