import { describe, expect, it } from "vitest";
import {
  blockersTold,
  checkpointTold,
  imageEventTold,
  imageFacts,
  imageName,
  imageTrouble,
} from "../../src/app/image-words.js";
import type { Checkpointed, ImageInfo } from "../../src/protocol/api.js";
import { HoldfastError } from "../../src/protocol/errors.js";

const MADE: Checkpointed = {
  image: "s_x.1",
  number: 1,
  size: 4 * 1024 * 1024,
  still_ms: 180,
  stopped: false,
  cuts: [{ pid: 7, program: "ssh", descriptor: 3, peer: "192.0.2.1:22" }],
};
const IMAGE: ImageInfo = {
  id: "s_x",
  number: 2,
  name: "web",
  label: "",
  madeMs: 1_000,
  size: 2048,
  incarnation: 1,
  once: false,
  problem: "",
};
const named = (actor: string): string => actor.toUpperCase();

describe("an image that was made", () => {
  it("is told with its size, how long the session stood still, and what is cut", () => {
    expect(checkpointTold(MADE)).toEqual([
      "Image 1 is on disk (4.0 MB). The session was stopped for 0.18 s, and continues.",
      "ssh (7): a restore closes the connection to 192.0.2.1:22.",
    ]);
  });

  it("says that the session has ended, if it has", () => {
    expect(checkpointTold({ ...MADE, stopped: true, cuts: [] })).toEqual([
      "The session is on disk as image 1 (4.0 MB), and has ended.",
    ]);
  });
});

describe("what is in the way", () => {
  const blocker = {
    kind: "descriptor",
    what: "it holds /dev/tty",
    why: "CRIU cannot dump it",
    remedy: "answer the question",
    pid: 7,
    program: "ss\u001bh",
    descriptor: 3,
  };

  it("is told with who has it and what to do, and nothing is obeyed", () => {
    const [told] = blockersTold({ blockers: [blocker], cuts: [], unlisted: 0 });

    expect(told?.what).toContain("(7): It holds /dev/tty. CRIU cannot dump it.");
    expect(told?.what).not.toContain("\u001b");
    expect(told?.remedy).toBe("answer the question");
  });

  it("says how much more there is, and of nobody in particular if nobody has it", () => {
    const told = blockersTold({ blockers: [{ ...blocker, pid: 0 }], cuts: [], unlisted: 3 });

    expect(told.map((one) => one.what)).toEqual([
      "It holds /dev/tty. CRIU cannot dump it.",
      "And 3 more.",
    ]);
    expect(blockersTold({ blockers: [], cuts: [], unlisted: 3 })).toEqual([]);
  });
});

describe("an image in a list", () => {
  it("is called by its label, or by its number", () => {
    expect(imageName(IMAGE)).toBe("Image 2");
    expect(imageName({ ...IMAGE, label: "before" })).toBe("before");
  });

  it("has its facts in one line", () => {
    expect(imageFacts(IMAGE, 1_500, false)).toBe("2.0 KB · just now");
    const labelled = { ...IMAGE, label: "before", once: true };
    expect(imageFacts(labelled, 61_000, true)).toBe(
      "web · image 2 · 2.0 KB · 1 min ago · the session ended with it",
    );
    expect(imageFacts({ ...IMAGE, madeMs: 0 }, 5, true)).toBe("web");
  });
});

describe("trouble with an image", () => {
  it("is told as a sentence with a next step that is none of a command line", () => {
    const busy = new HoldfastError("image-busy", "somebody uses the image");

    expect(imageTrouble(busy)).toBe("Somebody uses the image. Try again in a moment.");
    expect(imageTrouble(new HoldfastError("image-damaged", "it is cut."))).toBe(
      "It is cut. Restore another image of the session; this one cannot be repaired.",
    );
  });

  it("of another kind is told as it is", () => {
    expect(imageTrouble(new Error("oh no"))).toBe("Oh no.");
    expect(imageTrouble("x")).toBe("It did not work. Try again.");
    expect(imageTrouble(new Error(""))).toBe("");
  });
});

describe("an event about images", () => {
  it.each([
    [
      "session.checkpointed",
      { actor: "anna", still_ms: 12_000 },
      "ANNA saved the session to disk. It was stopped for 12 s.",
    ],
    ["session.forked", { actor: "anna" }, "ANNA made a branch of the session."],
    ["session.stopped", { actor: "anna" }, "ANNA saved the session to disk, and ended it."],
    ["session.restored", { incarnation: 2 }, "The session was restored from an image."],
    ["session.recovered", { incarnation: 2 }, "The session was lost, and was started again."],
    ["listener.gone", {}, ""],
  ])("%s %j is told as “%s”", (name, fields, told) => {
    expect(imageEventTold(name, fields as Record<string, string | number>, named)).toBe(told);
  });
});
