import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { HostLink } from "../../src/protocol/api.js";
import type { LivePage } from "../../src/protocol/page.js";
import { eventually, Stage, somebody, Viewer } from "./stage.js";

let stage: Stage;
let anna: LivePage;
let host: HostLink;

beforeAll(async () => {
  stage = await Stage.open();
  anna = await somebody();
  const known = await anna.join(await stage.tell("invite", "--as", "anna"));
  host = anna.link(known.id);
}, 60_000);

afterAll(async () => {
  anna?.close();
  await stage?.close();
}, 60_000);

async function coverage(session: string): Promise<readonly [number, number]> {
  const said = JSON.parse(await stage.tell("run", "log", session, "--verify", "--json"));
  expect(said).toMatchObject({ holds: true, void: [] });
  return [said.inputs_signed, said.inputs_unsigned];
}

describe("what is typed in a browser", () => {
  it("is signed by the browser's own key, also after its holder died", async () => {
    const session = await stage.tell("new", "signed", "bash", "--norc");
    const viewer = new Viewer(host.attach(session));
    await viewer.live();
    await viewer.link.type("echo it-is-$((6*7))\r");
    await viewer.shows("it-is-42");
    await stage.tell("kill-holder", session);
    await viewer.link.type("echo then-$((6*7))\r");
    await viewer.shows("then-42");

    await eventually("all of it is signed", async () => (await coverage(session))[1] === 0);
    await viewer.link.type("true\r");
    viewer.link.close();

    await eventually("the last is signed too", async () => (await coverage(session))[1] === 0);
    expect((await coverage(session))[0]).toBeGreaterThan(2);
  });
});
