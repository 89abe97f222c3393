import { expect, test } from "vitest";
import { MAX_ASKED, NameBook } from "../../src/app/name-book.js";
import type { Named } from "../../src/protocol/api.js";

class Host {
  readonly asked: (readonly string[])[] = [];
  readonly later: (() => void)[] = [];
  changes = 0;
  isAway = false;
  readonly book = new NameBook({
    ask: async (actors) => {
      this.asked.push(actors);
      if (this.isAway) throw new Error("it is away");
      const known = actors.filter((one) => one !== "a_stranger");
      return new Map(
        known.map((one): [string, Named] => [one, { name: `N${one}`, kind: "agent" }]),
      );
    },
    soon: (work) => this.later.push(work),
    changed: () => {
      this.changes += 1;
    },
  });

  async passes(): Promise<void> {
    this.later.splice(0).forEach((work) => work());
    await new Promise((done) => setTimeout(done, 0));
  }
}

test("whoever is not known is asked for, and known from then on", async () => {
  const host = new Host();

  expect(host.book.find("a_anna")).toBeNull();
  await host.passes();
  expect(host.book.find("a_anna")).toEqual({ name: "Na_anna", kind: "agent" });
  expect(host.changes).toBe(1);
});

test("no id is asked for twice, be it known or not (I1)", async () => {
  const host = new Host();

  for (let round = 0; round < 3; round += 1) {
    host.book.find("a_anna");
    host.book.find("a_stranger");
    await host.passes();
  }
  expect(host.asked).toEqual([["a_anna", "a_stranger"]]);
  expect(host.book.find("a_stranger")).toBeNull();
});

test("a host that was away is asked again (I1)", async () => {
  const host = new Host();
  host.isAway = true;
  host.book.find("a_anna");
  await host.passes();
  host.isAway = false;

  host.book.find("a_anna");
  await host.passes();
  expect(host.asked).toHaveLength(2);
  expect(host.book.find("a_anna")?.name).toBe("Na_anna");
});

test("many are asked for in several questions (I2)", async () => {
  const host = new Host();
  const letters = "abcdefghijkl";
  const actors = [...letters].flatMap((one) => [...letters].map((other) => `a_${one}${other}`));

  actors.forEach((actor) => host.book.find(actor));
  await host.passes();
  expect(host.asked.map((one) => one.length)).toEqual([MAX_ASKED, MAX_ASKED, 144 - 2 * MAX_ASKED]);
});

test("whoever is attached is known without a question (I3)", async () => {
  const host = new Host();
  host.book.learn([["a_anna", { name: "anna", kind: "human" }]]);

  expect(host.book.find("a_anna")?.name).toBe("anna");
  await host.passes();
  expect(host.asked).toEqual([]);
  host.book.learn([["a_anna", { name: "anna", kind: "human" }]]);
  expect(host.changes).toBe(1);
});

test("what is no operator's id is never asked for", async () => {
  const host = new Host();

  for (const actor of ["", "host", "a_", "a_<b>", "h_abc"]) host.book.find(actor);
  await host.passes();
  expect(host.asked).toEqual([]);
});
