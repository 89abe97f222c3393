import { describe, expect, it } from "vitest";

import { Pulse } from "../../src/protocol/pulse.js";
import { HandClock } from "../hand-clock.js";

function watched() {
  const clock = new HandClock();
  const patient = {
    pings: 0,
    isGone: false,
    unread: false,
    ping: () => {
      patient.pings += 1;
    },
    hasUnread: () => patient.unread,
    giveUp: () => {
      patient.isGone = true;
    },
  };
  return { clock, patient, pulse: new Pulse(clock, patient) };
}

describe("a link", () => {
  it("that is heard of is left alone", () => {
    const { clock, patient, pulse } = watched();
    for (let seconds = 0; seconds < 120; seconds += 5) {
      clock.pass(5_000);
      pulse.heard(false);
    }

    expect([patient.pings, patient.isGone]).toEqual([0, false]);
  });

  it("that is silent is asked, and given up if it does not answer", () => {
    const { clock, patient } = watched();
    clock.pass(20_000);
    expect(patient.pings).toBe(1);
    clock.pass(7_999);
    expect(patient.isGone).toBe(false);

    clock.pass(1);
    expect(patient.isGone).toBe(true);
  });

  it("that answers is watched on", () => {
    const { clock, patient, pulse } = watched();
    clock.pass(20_000);
    clock.pass(100);
    pulse.heard(true);
    clock.pass(7_900);

    expect(patient.isGone).toBe(false);
    clock.pass(20_000);
    expect(patient.pings).toBe(2);
  });

  it("of which only old news comes is asked again, and then given up", () => {
    const { clock, patient, pulse } = watched();
    pulse.wake();
    clock.pass(1);
    pulse.heard(false);
    clock.pass(2_999);
    expect([patient.pings, patient.isGone]).toEqual([2, false]);

    clock.pass(3_000);
    expect(patient.isGone).toBe(true);
  });

  it("that has slept for an hour is asked at once, and given less time", () => {
    const { clock, patient } = watched();
    clock.pass(3_600_000);
    expect(patient.pings).toBe(1);

    clock.pass(3_000);
    expect(patient.isGone).toBe(true);
  });

  it("whose messages wait to be shown is not given up", () => {
    const { clock, patient, pulse } = watched();
    patient.unread = true;
    pulse.wake();
    clock.pass(3_000);

    expect(patient.isGone).toBe(false);
  });

  it("that was ended is asked no more", () => {
    const { clock, patient, pulse } = watched();
    pulse.stop();
    clock.pass(3_600_000);

    expect(patient.pings).toBe(0);
  });
});
