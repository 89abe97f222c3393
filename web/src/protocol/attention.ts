/** A session's call for attention, until someone types. */
export interface Attention {
  /** bell, message or needs-input. */
  readonly what: string;
  /** What was said; the caller chose it. */
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  /** `program`, or the id of the operator who called. */
  readonly source: string;
}
