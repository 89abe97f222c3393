/**
 * Turns the messages of a session into events for its listeners.
 */

import type { SessionEvent } from "./api.js";
import type { Message } from "./codec.js";

/** The event; null if the message says no such thing. */
export function eventFrom(message: Message): SessionEvent | null {
  switch (message.is) {
    case "RESIZED":
      return { is: "resized", size: message.body.size };
    case "TURN_PASSED":
      return { is: "turn-passed", passed: message.body };
    case "TURN_ASKED":
      return { is: "turn-asked", asker: message.body.asker, waitMs: message.body.wait_ms };
    case "INHERITED":
      return { is: "inherited", inherited: message.body };
    case "PRESENCE":
      return { is: "presence", presence: message.body };
    case "PENDING":
      return { is: "pending", pending: message.body };
    case "SETTLED":
      return { is: "settled", settled: message.body };
    case "STATE":
      return { is: "state", state: message.body.state };
    case "COMMAND_STARTED":
      return { is: "command-started", command: message.body.command };
    case "COMMAND_ENDED":
      return { is: "command-ended", command: message.body.command };
    case "EVENT":
      return { is: "noted", name: message.body.name, fields: message.body.fields };
    case "EXITED":
      return { is: "exited", status: message.body.status };
    default:
      return null;
  }
}
