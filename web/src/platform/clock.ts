/** The browser's clock and timers. */

import type { Clock } from "../protocol/ports.js";

export const clock: Clock = {
  now: () => performance.now(),
  after(ms, done) {
    const timer = setTimeout(done, ms);
    return () => clearTimeout(timer);
  },
};
