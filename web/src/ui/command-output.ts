/** What a command has printed, as text: from what has come here, or asked for. */

import type { CommandBlock } from "../app/command-blocks.js";
import { OutputWindow } from "../app/output-window.js";
import type { SessionEvent, SessionLink } from "../protocol/api.js";
import { page } from "./state.js";

const KEPT = 1024 * 1024;

export class CommandOutput {
  readonly #window = new OutputWindow(KEPT);
  readonly #told = new Set<() => void>();
  #incarnation = 0;
  #end = 0;

  constructor(private readonly link: SessionLink) {}

  /** Be told when a command has begun or ended. */
  listen(hear: () => void): () => void {
    this.#told.add(hear);
    return () => this.#told.delete(hear);
  }

  hear(event: SessionEvent): void {
    if (event.is === "printed") {
      this.#window.add(event.offset, event.data);
      this.#end = event.offset + event.data.length;
    } else if (event.is === "attached") {
      if (event.attached.incarnation !== this.#incarnation) {
        this.#window.clear();
      }
      this.#incarnation = event.attached.incarnation;
      this.#end = event.attached.end;
    } else if (event.is === "command-started" || event.is === "command-ended") {
      this.#told.forEach((hear) => hear());
    }
  }

  /** Return the text; throws if the output is not kept any more. */
  async text(block: CommandBlock, columns: number): Promise<string> {
    const { incarnation, start } = block;
    const { host, session } = this.link;
    const stretch = { incarnation, start, end: block.end ?? this.#end };
    const isOfNow = incarnation === this.#incarnation;
    const found =
      (isOfNow ? this.#window.slice(start, stretch.end) : null) ??
      (await page.peek()?.link(host).output(session, stretch)) ??
      null;
    if (found === null) {
      throw new Error("Its output is no longer available.");
    }
    const { printedText } = await import("./terminal.js");
    return printedText(found, columns);
  }
}
