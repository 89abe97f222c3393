/**
 * Scrolling by touch, which xterm.js 6.0.0 does not do.
 *
 * A finger scrolls first what hides part of the terminal, then the scrollback. A
 * program that has the whole screen, or that tracks the mouse, gets wheel events
 * instead: xterm.js makes of each what the program asked for. Sideways the browser
 * scrolls by itself (`touch-action: pan-x`).
 */

import type { Terminal } from "@xterm/xterm";
import { Swipe } from "../app/swipe.js";

/** A finger that stays this long, and about where it is, wants to select. */
const HOLD_MS = 500;
const STILL_PX = 10;

const LINE = 1;

export class TouchScroll {
  #swipe: Swipe | null = null;
  #finger = { x: 0, y: 0 };
  #begun = 0;
  #isMoved = false;
  #coasting = 0;
  #holding: ReturnType<typeof setTimeout> | undefined;
  readonly #end = new AbortController();

  constructor(
    private readonly terminal: Terminal,
    private readonly place: HTMLElement,
    private readonly held: () => void,
  ) {
    const { signal } = this.#end;
    const on = (name: string, hear: (event: TouchEvent) => void): void =>
      place.addEventListener(name, hear as EventListener, { signal, passive: false });
    on("touchstart", (event) => this.#start(event));
    on("touchmove", (event) => this.#move(event));
    on("touchend", (event) => this.#stop(event));
    on("touchcancel", () => this.#forget());
  }

  close(): void {
    this.#forget();
    this.#end.abort();
  }

  #start(event: TouchEvent): void {
    this.#forget();
    const [finger] = event.touches;
    if (finger === undefined || event.touches.length > 1) {
      return;
    }
    this.#finger = { x: finger.clientX, y: finger.clientY };
    this.#begun = finger.clientY;
    this.#isMoved = false;
    this.#swipe = new Swipe(finger.clientY, event.timeStamp, this.#rowHeight);
    this.#holding = setTimeout(() => {
      this.#forget();
      this.held();
    }, HOLD_MS);
  }

  #move(event: TouchEvent): void {
    const [finger] = event.touches;
    if (finger === undefined || this.#swipe === null) {
      return;
    }
    this.#isMoved ||= Math.abs(finger.clientY - this.#begun) > STILL_PX;
    if (!this.#isMoved) {
      return;
    }
    clearTimeout(this.#holding);
    if (event.cancelable) {
      event.preventDefault();
    }
    this.#finger = { x: finger.clientX, y: finger.clientY };
    this.#scroll(this.#swipe.move(finger.clientY, event.timeStamp));
  }

  #stop(event: TouchEvent): void {
    clearTimeout(this.#holding);
    const swipe = this.#swipe;
    if (swipe === null || !this.#isMoved) {
      return;
    }
    // Else the browser makes a click of it, which opens the keyboard.
    event.preventDefault();
    if (swipe.release(event.timeStamp)) {
      this.#coast(swipe);
    }
  }

  #coast(swipe: Swipe): void {
    this.#coasting = requestAnimationFrame((now) => {
      const [rows, isOver] = swipe.coast(now);
      this.#scroll(rows);
      if (!isOver && this.#swipe === swipe) {
        this.#coast(swipe);
      }
    });
  }

  #forget(): void {
    clearTimeout(this.#holding);
    cancelAnimationFrame(this.#coasting);
    this.#swipe = null;
  }

  #scroll(rows: number): void {
    if (rows === 0) {
      return;
    }
    if (this.#isPrograms()) {
      this.#wheel(rows);
    } else if (rows < 0) {
      this.terminal.scrollLines(this.#uncover(rows));
    } else {
      const { viewportY, baseY } = this.terminal.buffer.active;
      const inside = Math.min(rows, baseY - viewportY);
      this.terminal.scrollLines(inside);
      this.#uncover(rows - inside);
    }
  }

  /** Scroll the pane itself, where the session is taller; return the rows that are left. */
  #uncover(rows: number): number {
    const before = this.place.scrollTop;
    this.place.scrollTop += rows * this.#rowHeight;
    return Math.trunc(rows - (this.place.scrollTop - before) / this.#rowHeight);
  }

  /** Whether what is scrolled is the program's business. */
  #isPrograms(): boolean {
    const { buffer, modes } = this.terminal;
    return modes.mouseTrackingMode !== "none" || buffer.active.type === "alternate";
  }

  #wheel(rows: number): void {
    const target = this.terminal.element?.querySelector(".xterm-screen");
    for (let count = Math.abs(rows); count > 0; count -= 1) {
      target?.dispatchEvent(
        new WheelEvent("wheel", {
          bubbles: true,
          cancelable: true,
          clientX: this.#finger.x,
          clientY: this.#finger.y,
          deltaMode: LINE,
          deltaY: Math.sign(rows),
        }),
      );
    }
  }

  get #rowHeight(): number {
    const screen = this.terminal.element?.querySelector(".xterm-screen");
    return Math.max(8, (screen?.clientHeight ?? 0) / this.terminal.rows);
  }
}
