import { expect, test } from "vitest";
import { branches, type Process } from "../../src/app/process-tree.js";
import type { Graph } from "../../src/protocol/api.js";

function process(pid: number, parent: number): Process {
  return { pid, parent, command: `p${pid}` } as Process;
}

function graph(processes: readonly Process[], listeners: Graph["listeners"] = []): Graph {
  return { processes, listeners, connections: [], descriptors: [], more: false };
}

function drawn(found: Graph): string[] {
  return branches(found).map((one) => `${"-".repeat(one.depth)}${one.process.pid}`);
}

test("each process stands under its parent", () => {
  expect(drawn(graph([process(3, 2), process(1, 0), process(2, 1), process(4, 1)]))).toEqual([
    "1",
    "-2",
    "--3",
    "-4",
  ]);
});

test("a process whose parent is not there stands by itself", () => {
  expect(drawn(graph([process(5, 99), process(6, 5)]))).toEqual(["5", "-6"]);
});

test("a process that says it is its own parent is shown once", () => {
  expect(drawn(graph([process(7, 7)]))).toEqual(["7"]);
});

test("what listens is shown with the process that does", () => {
  const listener = { pid: 1, address: "0.0.0.0", port: 80, protocol: "tcp" };
  const [first] = branches(graph([process(1, 0)], [listener]));

  expect(first?.listeners).toEqual([listener]);
});
