/**
 * How long a client waits and how much it takes; core/client says why.
 *
 * tools/write_web_protocol.py writes this file from the code in src/holdfast.
 */

/** Milliseconds for a holder to greet us. */
export const GREETING_MS = 8_000;

/** Milliseconds for the answer to a question. */
export const ANSWER_MS = 10_000;

/** Milliseconds for an image. */
export const CHECKPOINT_MS = 330_000;

/** Milliseconds for a session to end. */
export const END_MS = 20_000;

/** Milliseconds until an input is sent again that there was no room for. */
export const RETRY_MS = 100;

/** Milliseconds between two statements about keys. */
export const CADENCE_MS = 1_000;

/** Inputs that wait to be signed. */
export const MAX_UNSIGNED = 4_096;

/** Links on which one statement is sent. */
export const MAX_LINKS = 4;

/** Bytes of one input. */
export const MAX_INPUT = 65_536;

/** How many rights there are. */
export const ALL_RIGHTS = 14;

/** Parts taken of one graph. */
export const MAX_GRAPH_PARTS = 1_024;

/** Parts taken of one screen. */
export const MAX_SCREEN_PARTS = 512;
