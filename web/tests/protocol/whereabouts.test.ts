import { describe, expect, it } from "vitest";

import type { HostKeys } from "../../src/protocol/reaching.js";
import { MOVING_MS, Whereabouts } from "../../src/protocol/whereabouts.js";

function keys(id: string): HostKeys {
  return { id, public: new Uint8Array(32), static: new Uint8Array(32), relays: [] };
}

const [alpha, beta, gamma] = [keys("alpha"), keys("beta"), keys("gamma")];

describe("a session that moves", () => {
  it("is looked for at both hosts in turn until one has it", () => {
    const where = new Whereabouts(alpha);
    where.follow(beta, "beta", 0);

    const tried = [where.host.id];
    for (let time = 0; time < 3; time += 1) {
      where.tryOther();
      tried.push(where.host.id);
    }
    expect(tried).toEqual(["beta", "alpha", "beta", "alpha"]);

    where.found();
    where.tryOther();
    expect(where.host).toBe(alpha);
  });

  it("is followed from host to host", () => {
    const where = new Whereabouts(alpha);
    where.follow(beta, "beta", 0);
    where.follow(gamma, "gamma", 10);
    expect([where.host.id, where.name]).toEqual(["gamma", "gamma"]);

    where.tryOther();
    expect(where.host.id).toBe("beta");
  });

  it("is expected for so long, however often two hosts point at each other", () => {
    const where = new Whereabouts(alpha);
    expect(where.isFollowing(0)).toBe(false);
    for (let now = 0; now < MOVING_MS; now += 1000) {
      where.follow(now % 2000 ? alpha : beta, "other", now);
      expect(where.isFollowing(now)).toBe(true);
    }
    expect(where.isFollowing(MOVING_MS)).toBe(false);
    where.follow(beta, "beta", MOVING_MS);
    expect(where.isFollowing(MOVING_MS)).toBe(false);
  });

  it("is expected anew after it was found", () => {
    const where = new Whereabouts(alpha);
    where.follow(beta, "beta", 0);
    where.found();
    expect([where.name, where.isFollowing(1)]).toEqual(["", false]);

    where.follow(alpha, "alpha", 2 * MOVING_MS);
    expect(where.isFollowing(2 * MOVING_MS + 1)).toBe(true);
  });

  it("is elsewhere if a host that it went to does not know us", () => {
    const where = new Whereabouts(alpha);
    expect(where.failure("revoked")).toBe("revoked");

    where.follow(beta, "beta", 0);
    expect(where.failure("revoked")).toBe("elsewhere");
    expect(where.failure("refused")).toBe("elsewhere");
    expect(where.failure("gone")).toBe("gone");
  });

  it("is not looked for at two hosts if it is said to have gone where it is", () => {
    const where = new Whereabouts(alpha);
    where.follow(alpha, "alpha", 0);
    where.tryOther();
    expect(where.host).toBe(alpha);
  });
});
