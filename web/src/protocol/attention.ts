/** What a session calls for somebody with, until somebody types. */
export interface Attention {
  /** bell, message or needs-input. */
  readonly what: string;
  /** What was said; whoever called chose it. */
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  /** `program`, or the id of the operator who called. */
  readonly source: string;
}
