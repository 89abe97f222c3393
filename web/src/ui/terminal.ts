/**
 * The terminal: xterm.js, restricted to what a viewer may do.
 *
 * Theory of operation
 * -------------------
 * What a session prints is written here and obeyed by the emulator alone. Queries
 * are answered by the session's own side, so here every handler that would reply
 * is replaced by one that does not. The operator who has the turn gets a terminal
 * that fills the window, and the session's size follows; everybody else sees the
 * session's own size, in a font small enough to fit or with a scroll bar.
 *
 * This file is the lazy chunk: nothing but session-view.tsx imports it.
 */

import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { type ITheme, Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { safeLink } from "../app/safe-link.js";
import type { Cells } from "../protocol/api.js";
import { TouchScroll } from "./touch-scroll.js";

const SCROLLBACK = 5000;
const MAX_TEXT_ROWS = 2000;
/** Below this, a session that is wider than the window is scrolled sideways. */
const LEAST_FONT = 11;
const FONT =
  'ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** The colours of matches: legible under the text in the dark and in the light. */
const MATCHES = {
  matchBackground: "#7a5c00",
  matchOverviewRuler: "#b58900",
  activeMatchBackground: "#0b7a63",
  activeMatchColorOverviewRuler: "#5ad1b4",
};

export interface Hearing {
  /** The user leaves the terminal for the rest of the page. */
  left(): void;
  searched(): void;
  /** Keys pressed here, or a mouse report. */
  typed(data: string): void;
  titled(title: string): void;
  linked(link: URL): void;
  /** A finger rests on it. */
  held(): void;
}

export class Screen {
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #search = new SearchAddon();
  readonly #place: HTMLElement;
  readonly #touch: TouchScroll;
  #font = 14;
  #size: Cells = { columns: 80, rows: 24 };
  #isOurs = false;

  constructor(place: HTMLElement, hearing: Hearing, isDark: boolean, font: number) {
    this.#place = place;
    this.#font = font;
    const open = (_: MouseEvent, text: string): void => {
      const link = safeLink(text);
      if (link !== null) {
        hearing.linked(link);
      }
    };
    this.#terminal = new Terminal({
      allowProposedApi: true,
      cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
      fontFamily: FONT,
      fontSize: font,
      lineHeight: 1.15,
      linkHandler: { activate: open, allowNonHttpProtocols: false },
      minimumContrastRatio: 4.5,
      scrollback: SCROLLBACK,
      theme: themeOf(isDark),
    });
    this.#terminal.loadAddon(this.#fit);
    this.#terminal.loadAddon(this.#search);
    this.#terminal.loadAddon(new Unicode11Addon());
    this.#terminal.loadAddon(new WebLinksAddon(open));
    this.#terminal.unicode.activeVersion = "11";
    this.#muteReplies();
    this.#terminal.open(place);
    this.#terminal.onData((data) => hearing.typed(data));
    this.#terminal.onBinary((data) => hearing.typed(data));
    this.#terminal.onTitleChange((title) => hearing.titled(title));
    this.#terminal.attachCustomKeyEventHandler((event) => !this.#isPages(event, hearing));
    this.#prepareForPhones();
    this.#touch = new TouchScroll(this.#terminal, place, () => hearing.held());
  }

  /** Fulfilled when the emulator has processed the bytes. */
  write(data: Uint8Array): Promise<void> {
    return new Promise((done) => this.#terminal.write(data, done));
  }

  /** Start over with an empty terminal of this size. */
  reset(size: Cells): void {
    this.#terminal.reset();
    this.showSize(size);
  }

  /** Show the size that the session has. */
  showSize(size: Cells): void {
    this.#size = size;
    this.#layOut();
  }

  /** Set whether we have the turn; return the size the session should then have. */
  arrange(isOurs: boolean, font: number): Cells | null {
    this.#isOurs = isOurs;
    this.#font = font;
    this.#layOut();
    if (!isOurs) {
      return null;
    }
    const found = this.#fit.proposeDimensions();
    if (found === undefined || !(found.cols > 1 && found.rows > 0)) {
      return null;
    }
    return { columns: Math.min(found.cols, 1000), rows: Math.min(found.rows, 1000) };
  }

  /** Use the colours of the page's theme. */
  dress(isDark: boolean): void {
    this.#terminal.options.theme = themeOf(isDark);
  }

  /** Find text; false if there is no match. */
  find(text: string, isBackwards: boolean): boolean {
    const options = { decorations: MATCHES };
    return isBackwards
      ? this.#search.findPrevious(text, options)
      : this.#search.findNext(text, options);
  }

  /** Be told which of how many matches is shown, from 1; 0 if there are too many to say. */
  onFound(hear: (at: number, count: number) => void): () => void {
    const found = this.#search.onDidChangeResults(({ resultIndex, resultCount }) =>
      hear(resultIndex + 1, resultCount),
    );
    return () => found.dispose();
  }

  stopFinding(): void {
    this.#search.clearDecorations();
    this.#terminal.clearSelection();
  }

  /** The selected text; empty if nothing is. */
  selected(): string {
    return this.#terminal.getSelection();
  }

  /** The last rows as text; a line that was wrapped is one line again. */
  text(): string {
    return bufferText(this.#terminal, MAX_TEXT_ROWS);
  }

  /** Type text as a paste, which the program can tell from keys. */
  paste(text: string): void {
    this.#terminal.paste(text.replaceAll("\x1b", ""));
  }

  get wantsApplicationKeys(): boolean {
    return this.#terminal.modes.applicationCursorKeysMode;
  }

  focus(): void {
    this.#terminal.focus();
  }

  scrollToEnd(): void {
    this.#terminal.scrollToBottom();
  }

  close(): void {
    this.#touch.close();
    this.#terminal.dispose();
  }

  #layOut(): void {
    const { columns, rows } = this.#size;
    const font = this.#isOurs ? this.#font : this.#fittingFont(columns);
    if (this.#terminal.options.fontSize !== font) {
      this.#terminal.options.fontSize = font;
    }
    if (this.#terminal.cols !== columns || this.#terminal.rows !== rows) {
      this.#terminal.resize(columns, rows);
    }
  }

  /** A font size at which the session's width fits, but still legible. */
  #fittingFont(columns: number): number {
    const pen = document.createElement("canvas").getContext("2d");
    const room = this.#place.clientWidth - 16;
    if (pen === null || room <= 0) {
      return this.#font;
    }
    pen.font = `100px ${FONT}`;
    const perPixel = pen.measureText("W").width / 100;
    const fitting = Math.floor((room / columns / perPixel) * 2) / 2;
    return Math.max(LEAST_FONT, Math.min(this.#font, fitting));
  }

  /** Terminal queries are answered once, by the session's side, never here. */
  #muteReplies(): void {
    const { parser } = this.#terminal;
    const mute = (): boolean => true;
    for (const prefix of ["", ">", "="] as const) {
      parser.registerCsiHandler(prefix === "" ? { final: "c" } : { prefix, final: "c" }, mute);
    }
    parser.registerCsiHandler({ final: "n" }, mute);
    parser.registerCsiHandler({ prefix: "?", final: "n" }, mute);
    parser.registerCsiHandler({ prefix: ">", final: "q" }, mute);
    parser.registerCsiHandler({ final: "t" }, mute);
    parser.registerCsiHandler({ intermediates: "$", final: "p" }, mute);
    parser.registerCsiHandler({ prefix: "?", intermediates: "$", final: "p" }, mute);
    parser.registerDcsHandler({ intermediates: "$", final: "q" }, mute);
    for (const colour of [4, 10, 11, 12]) {
      parser.registerOscHandler(colour, (data) => data.includes("?"));
    }
    parser.registerOscHandler(52, mute);
  }

  /** The few keys that the page handles: all others go to the program. */
  #isPages(event: KeyboardEvent, hearing: Hearing): boolean {
    if (event.type !== "keydown" || !event.shiftKey) {
      return false;
    }
    if (event.key === "F6") {
      hearing.left();
    } else if (event.ctrlKey && event.code === "KeyF") {
      hearing.searched();
    } else if (event.ctrlKey && event.code === "KeyC" && this.selected() !== "") {
      void navigator.clipboard.writeText(this.selected());
    } else {
      return false;
    }
    event.preventDefault();
    return true;
  }

  /** Phone keyboards must neither correct nor capitalise what is typed. */
  #prepareForPhones(): void {
    const { textarea } = this.#terminal;
    if (textarea === undefined) {
      return;
    }
    textarea.setAttribute("autocomplete", "off");
    textarea.setAttribute("autocorrect", "off");
    textarea.setAttribute("autocapitalize", "none");
    textarea.setAttribute("spellcheck", "false");
    textarea.setAttribute("enterkeyhint", "enter");
    textarea.setAttribute("aria-label", "Terminal. Shift+F6 leaves it.");
  }
}

/** Return what bytes look like on a terminal of that width: without colours and moves. */
export async function printedText(data: Uint8Array, columns: number): Promise<string> {
  const size = { cols: Math.max(2, columns), rows: 2 };
  const terminal = new Terminal({ ...size, allowProposedApi: true, scrollback: SCROLLBACK });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = "11";
  await new Promise<void>((done) => terminal.write(data, done));
  const text = bufferText(terminal, SCROLLBACK);
  terminal.dispose();
  return text;
}

function bufferText({ buffer }: Terminal, most: number): string {
  const { active } = buffer;
  let text = "";
  for (let at = Math.max(0, active.length - most); at < active.length; at += 1) {
    const row = active.getLine(at);
    text += (row?.isWrapped || text === "" ? "" : "\n") + (row?.translateToString(true) ?? "");
  }
  return text.trimEnd();
}

function themeOf(isDark: boolean): ITheme {
  return isDark ? DARK : LIGHT;
}

const DARK: ITheme = {
  background: "#0b0e13",
  foreground: "#dfe6ee",
  cursor: "#5ad1b4",
  cursorAccent: "#0b0e13",
  selectionBackground: "#2d4f6b",
  black: "#1b222c",
  red: "#ff7b72",
  green: "#62d196",
  yellow: "#e3b341",
  blue: "#79b8ff",
  magenta: "#d2a8ff",
  cyan: "#56d4dd",
  white: "#c9d3de",
  brightBlack: "#78838f",
  brightRed: "#ffa198",
  brightGreen: "#85e5b0",
  brightYellow: "#f2cc60",
  brightBlue: "#a5d2ff",
  brightMagenta: "#e2c5ff",
  brightCyan: "#8ae6ec",
  brightWhite: "#ffffff",
};

const LIGHT: ITheme = {
  background: "#fbfcfd",
  foreground: "#1c232b",
  cursor: "#0b7a63",
  cursorAccent: "#fbfcfd",
  selectionBackground: "#b9d7ee",
  black: "#1c232b",
  red: "#b3261e",
  green: "#116b3f",
  yellow: "#7a5600",
  blue: "#0a58a8",
  magenta: "#7436b8",
  cyan: "#0b6b77",
  white: "#5b6672",
  brightBlack: "#525c67",
  brightRed: "#c9362c",
  brightGreen: "#177e4c",
  brightYellow: "#8a6400",
  brightBlue: "#1769bd",
  brightMagenta: "#8445cc",
  brightCyan: "#0e7c8a",
  brightWhite: "#2a323b",
};
