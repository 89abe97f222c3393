import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { HostLink } from "../../src/protocol/api.js";
import type { LivePage } from "../../src/protocol/page.js";
import { eventually, Stage, sockets, somebody, Viewer, whoKnows } from "./stage.js";

const ALL = "observe,input,command,signal,resize,take,seize,grant,approve,end,create";

let stage: Stage;
let anna: LivePage;
let host: HostLink;

beforeAll(async () => {
  stage = await Stage.open();
  anna = await somebody();
  const known = await anna.join(await stage.tell("invite", "--as", "anna", "--can", ALL));
  host = anna.link(known.id);
}, 60_000);

afterAll(async () => {
  anna?.close();
  await stage?.close();
}, 60_000);

async function opened(name: string, command = ["bash", "--norc"]) {
  const session = await stage.tell("new", name, ...command);
  const viewer = new Viewer(host.attach(session));
  await viewer.live();
  return { session, viewer, link: viewer.link };
}

describe("an invitation", () => {
  it("is not used up by asking what it gives", async () => {
    const link = await stage.tell("invite", "--as", "bert", "--can", "observe,input");
    const bert = await somebody();

    const terms = await bert.terms(link);
    expect([terms.operator, terms.isKnown, terms.session]).toEqual(["bert", false, ""]);
    expect([...terms.rights].sort()).toEqual(["input", "observe"]);
    expect(terms.goodUntilMs).toBeGreaterThan(Date.now());
    expect(bert.hosts()).toEqual([]);

    const joined = await bert.join(link);
    expect([joined.name, joined.operator]).toEqual([terms.host, "bert"]);
    expect((await bert.terms(link)).isKnown).toBe(true);
    await expect((await somebody()).terms(link)).rejects.toHaveProperty("code", "invite-used");
    bert.close();
  });
});

describe("a host", () => {
  it("tells who it is, and lists, creates, renames and forgets sessions", async () => {
    expect((await host.status()).version).toMatch(/^\d/);
    const made = await host.create({
      name: "made",
      command: ["true"],
      size: { columns: 100, rows: 30 },
    });
    await eventually("it has ended", async () =>
      (await host.sessions()).some((one) => one.id === made.id && one.exit === 0),
    );

    await host.rename(made.id, "other");
    const [listed] = (await host.sessions()).filter((one) => one.id === made.id);
    expect([listed!.name, listed!.state, listed!.command]).toEqual(["other", "exited", ["true"]]);
    await host.forget(made.id);
    expect((await host.sessions()).some((one) => one.id === made.id)).toBe(false);
  });

  it("refuses with what is wrong, and goes on", async () => {
    await expect(host.rename("s_aaaaaaaaaaaaaaaa", "x")).rejects.toHaveProperty(
      "code",
      "session-not-found",
    );
    expect(host.state.is).toBe("live");
  });

  it("is asked again when the channel was gone", async () => {
    await host.status();
    sockets.forEach((socket) => socket.terminate());

    expect((await host.status()).name).not.toBe("");
  });
});

describe("a session", () => {
  it("shows what is typed, once it was taken", async () => {
    const { viewer, link } = await opened("typed");

    await link.type("echo it-is-$((6*7))\r");

    await viewer.shows("it-is-42");
    expect(viewer.pictures).toBe(1);
    expect(link.view).toMatchObject({
      us: anna.actor,
      holder: anna.actor,
      hasTurn: true,
      openInputs: 0,
    });
    link.close();
  });

  it("tells who is there, what runs, what it does, and what is to be seen", async () => {
    const { session, link } = await opened("asked");
    await link.type("sleep 1000 & echo started-$((1+1))\r");
    // A painter that has to be started on a busy machine may not be in time at first.
    const screen = () => link.screen().catch(() => null);
    await eventually(
      "the screen shows it",
      async () => (await screen())?.text.includes("started-2") ?? false,
    );

    const [graph, presence, evidence] = await Promise.all([
      link.graph(),
      link.who(),
      link.evidence(),
    ]);

    expect(graph.processes.map((one) => one.command)).toContain("sleep 1000");
    expect(presence.present.map((one) => [one.name, one.program])).toContainEqual(["anna", "web"]);
    expect(evidence.state).toBeTypeOf("string");
    expect((await host.glance(session)).presence.present).toHaveLength(1);
    await eventually(
      "its last line is told",
      async () => (await host.glance(session)).lastLine !== "",
    );
    link.close();
  });

  it("has a logbook that says who typed", async () => {
    const { session, link } = await opened("logged");
    await link.type("true\r");

    let part = await host.log(session);
    const entries = [...part.entries];
    while (part.next < part.size) {
      part = await host.log(session, part.next);
      entries.push(...part.entries);
    }
    const inputs = entries.filter((one) => one.kind === "input" && one.more["input"] === "keys");
    expect(inputs.map((one) => one.more["actor"])).toEqual([anna.actor]);
    link.close();
  });

  it("passes the turn, freezes and thaws", async () => {
    const { viewer, link } = await opened("turned");

    expect((await link.take()).holder).toBe(anna.actor);
    expect((await link.drop()).holder).toBe("");
    expect((await link.seize("freeze")).frozen).toBe(true);
    await eventually("it is frozen", () => link.view!.state === "frozen");
    await expect(link.type("x")).rejects.toHaveProperty("code", "frozen");
    expect((await link.thaw()).frozen).toBe(false);
    expect((await link.ask(1000)).holder).toBe(anna.actor);
    await expect(link.give("a_".padEnd(34, "a"))).rejects.toHaveProperty(
      "code",
      "operator-not-here",
    );
    expect(viewer.saw("turn-passed")).toBe(true);
    link.close();
  });

  it("is asked for by one and given by another", async () => {
    const { session, link } = await opened("asked-for");
    await link.take();
    const ben = await somebody();
    const { id } = await ben.join(await stage.tell("invite", "--as", "ben", "--can", ALL));
    const other = new Viewer(ben.link(id).attach(session));
    await other.live();
    const asker = new Promise<string>((fulfil) => {
      link.listen((event) => {
        if (event.is === "turn-asked") fulfil(event.asker);
      });
    });

    const asked = other.link.ask(10_000);
    await link.reply(await asker, true);

    expect((await asked).holder).toBe(ben.actor);
    await expect(link.type("x")).rejects.toHaveProperty("code", "not-your-turn");
    ben.close();
    link.close();
  });

  it("says that it has ended, and how", async () => {
    const { viewer, link } = await opened("ended");

    // The answer to this may come too late, and then says so.
    const typed = link.type("exit 7\r").catch((error: unknown) => error);

    await eventually("it is over", () => link.state.is === "over");
    expect(link.state).toMatchObject({ status: 7 });
    expect(viewer.saw("exited")).toBe(true);
    expect([undefined, "session-over"]).toContain(
      ((await typed) as { code?: string } | undefined)?.code,
    );
    await expect(link.type("x")).rejects.toHaveProperty("code", "session-over");
  });

  it("that ended while nobody was linked is known to be over", async () => {
    const { link } = await opened("gone");
    await stage.tell("kill-relay");
    await stage.tell("run", "end", "gone");
    await stage.tell("start-relay");
    link.wake();

    await eventually("it is known", () => link.state.is === "over" || link.state.is === "failed");
  });
});

describe("a cut", () => {
  it("loses no byte and types nothing twice", async () => {
    const { viewer, link } = await opened("cut", ["bash", "--norc"]);
    await link.type('i=0; while read -r l; do i=$((i+1)); echo "line $i is $l."; done\r');
    const typed: Promise<void>[] = [];
    for (let number = 1; number <= 60; number += 1) {
      typed.push(link.type(`word${number}\r`));
      if (number % 20 === 0)
        sockets.filter((one) => one.readyState === 1).forEach((one) => one.terminate());
      await new Promise((fulfil) => setTimeout(fulfil, 5));
    }

    await Promise.all(typed);
    await viewer.shows("line 60 is word60.");
    expect(viewer.holes).toBe(0);
    for (let number = 1; number <= 60; number += 1) {
      expect(viewer.text.split(`line ${number} is word${number}.`)).toHaveLength(2);
    }
    link.close();
  }, 20_000);

  it("by a relay that dies is healed when it is back", async () => {
    const { viewer, link } = await opened("healed");
    await link.type("echo before\r");
    await viewer.shows("before\r\n");
    await stage.tell("kill-relay");
    await eventually("it is noticed", () => link.state.is === "waiting");
    const typed = link.type("echo af''ter\r");

    await stage.tell("start-relay");
    link.wake();
    await typed;

    await viewer.shows("after");
    expect([viewer.holes, viewer.pictures]).toEqual([0, 1]);
    link.close();
  }, 20_000);

  it("by a holder that dies is healed by the next one", async () => {
    const { session, viewer, link } = await opened("replaced");
    await link.type("echo before\r");
    await viewer.shows("before\r\n");

    await stage.tell("kill-holder", session);
    await link.type("echo af''ter\r");

    await viewer.shows("after");
    expect(viewer.holes).toBe(0);
    link.close();
  }, 20_000);

  it("is found out when the link is silently dead", async () => {
    const { viewer, link } = await opened("silent");
    // We hear nothing any more, and nobody says so.
    sockets.filter((one) => one.readyState === 1).forEach((one) => (one.onmessage = null));

    link.wake();

    await eventually("it was noticed", () =>
      viewer.events.some((event) => event.is === "link" && event.state.is === "waiting"),
    );
    await viewer.live();
    await link.type("echo he''re\r");
    await viewer.shows("here");
    link.close();
  }, 20_000);
});

describe("a paste", () => {
  it("of a megabyte goes in whole, and once", async () => {
    const { viewer, link } = await opened("paste");
    await link.type("stty -echo; wc -c\r");
    await eventually("wc waits", async () => (await link.evidence()).state !== "at-prompt");

    await link.type(`${"x".repeat(1023)}\n`.repeat(1024));
    await link.type("\u0004");

    await viewer.shows("1048576");
    link.close();
  }, 30_000);

  it("is dropped with the turn, and does not go in under a later one", async () => {
    const { viewer, link } = await opened("dropped");
    await link.type("stty raw -echo; sleep 1000\r");
    await eventually("it sleeps", async () => {
      const { state, canonical } = await link.evidence();
      return state === "busy" && !canonical;
    });
    const pasted = link.type("y".repeat(2_000_000)).catch((error: { code: string }) => error.code);
    await stage.tell("run", "seize", "dropped");

    expect(["turn-moved", "not-your-turn", "stale-epoch", "input-cut"]).toContain(await pasted);
    expect(link.view!.openInputs).toBe(0);
    expect(viewer.saw("turn-passed")).toBe(true);
    link.close();
  }, 30_000);
});

describe("a flood", () => {
  it("is skipped by a viewer that is too slow, which ends with the right picture", async () => {
    const { viewer, link } = await opened("flood");
    viewer.delay = 5;
    const typed = link.type("head -c 30000000 /dev/zero | tr '\\0' x; echo; echo flood-''over\r");

    await typed;
    await viewer.shows("flood-over");

    expect(viewer.pictures).toBeGreaterThan(1);
    expect(viewer.saw("gap")).toBe(true);
    // It was never shown as a lost link.
    expect(
      viewer.events.filter((event) => event.is === "link" && event.state.is === "waiting"),
    ).toEqual([]);
    viewer.delay = 0;
    await link.type("echo still-''here\r");
    await viewer.shows("still-here");
    link.close();
  }, 30_000);
});

describe("whoever may not", () => {
  it("cannot use an invitation twice", async () => {
    const invitation = await stage.tell("invite", "--as", "once");
    const [first, second] = [await somebody(), await somebody()];
    await first.join(invitation);

    await expect(second.join(invitation)).rejects.toHaveProperty("code", "invite-used");
    first.close();
    second.close();
  });

  it("is hung up on when its key is revoked", async () => {
    const page = await somebody();
    const { id } = await page.join(await stage.tell("invite", "--as", "mallory", "--can", ALL));
    const session = await stage.tell("new", "revoked", "bash", "--norc");
    const viewer = new Viewer(page.link(id).attach(session));
    await viewer.live();

    await stage.tell("run", "revoke", "--everywhere", "@mallory");

    await eventually("it is told", () => viewer.link.state.is === "failed");
    expect(["revoked", "refused"]).toContain((viewer.link.state as { because: string }).because);
    // From then on a relay tells it no more than a stranger.
    const code = await page
      .link(id)
      .status()
      .catch((error: { code: string }) => error.code);
    expect(["revoked", "not-reachable"]).toContain(code);
    page.close();
  });

  it("hears that a session is not there", async () => {
    const viewer = new Viewer(host.attach("s_aaaaaaaaaaaaaaaa"));

    await eventually("it is told", () => viewer.link.state.is === "failed");
    expect(viewer.link.state).toMatchObject({ because: "gone" });
  }, 20_000);

  it("may watch and not type", async () => {
    const page = await somebody();
    const { id, rights } = await page.join(
      await stage.tell("invite", "--as", "eve", "--can", "observe"),
    );
    const session = await stage.tell("new", "watched", "bash", "--norc");
    const viewer = new Viewer(page.link(id).attach(session, { mode: "observe" }));
    await viewer.live();

    expect(rights).toEqual(["observe"]);
    await expect(viewer.link.type("x")).rejects.toHaveProperty("code", "not-allowed");
    await expect(page.link(id).create({})).rejects.toHaveProperty("code", "not-allowed");
    page.close();
  });
});

describe("a host that is proven, and odd", () => {
  it.each([
    ["another-version", "version"],
    ["nonsense", "version"],
    ["revoked", "revoked"],
    ["another-identity", "wrong-host"],
  ])("in that it has %s is given up as %s", async (oddity, because) => {
    const [page, id] = await whoKnows(stage, oddity);
    const viewer = new Viewer(page.link(id).attach("s_aaaaaaaaaaaaaaaa"));

    await eventually("it is given up", () => viewer.link.state.is === "failed");

    expect(viewer.link.state).toMatchObject({ because });
    expect(
      viewer.events.filter((event) => event.is === "link" && event.state.is === "connecting"),
    ).toHaveLength(1);
    page.close();
  });

  it("in that it cuts a frame is tried again", async () => {
    const [page, id] = await whoKnows(stage, "a-cut-frame");
    const viewer = new Viewer(page.link(id).attach("s_aaaaaaaaaaaaaaaa"));

    await eventually(
      "it is tried again",
      () => viewer.link.state.is === "waiting" && viewer.link.state.attempt > 1,
    );
    page.close();
  });
});
