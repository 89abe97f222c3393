import { expect, test } from "vitest";
import { asWritten, branches, type Process, startedMs } from "../../src/app/process-tree.js";
import type { Graph } from "../../src/protocol/api.js";

function process(pid: number, parent: number, started = pid): Process {
  return { pid, parent, command: `p${pid}`, started_ticks: started } as Process;
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

test("a process belongs to the command that started the one below the shell", () => {
  const [shell, make, compiler] = [process(10, 1), process(20, 10), process(30, 20)];
  const seen = graph([shell, make, compiler]);

  expect([shell, make, compiler].map((one) => startedMs(seen, one))).toEqual([null, 200, 200]);
});

test("a process whose parents are gone is known by when it began itself", () => {
  const daemon = process(40, 1);

  expect(startedMs(graph([process(10, 1), daemon]), daemon)).toBe(400);
});

test("a parent that is younger than its child is none", () => {
  const [shell, child, usurper] = [process(10, 1), process(20, 30, 20), process(30, 10, 90)];

  expect(startedMs(graph([shell, child, usurper]), child)).toBe(200);
});

test("processes that name each other as parents are traced all the same", () => {
  const [one, other] = [process(20, 30, 50), process(30, 20, 50)];

  expect(startedMs(graph([process(10, 1), one, other]), one)).toBe(500);
});

test.each([
  ["/bin/bash --rcfile /opt/x/shell/integration.bash", "/bin/bash"],
  ["bash --rcfile /opt/x/integration.bash -i", "bash -i"],
  ["fish --init-command source '/opt/x/integration.fish'", "fish"],
  ["bash --rcfile /home/anna/.mine", "bash --rcfile /home/anna/.mine"],
  ["vim integration.bash", "vim integration.bash"],
])("%s is shown as %s", (command, written) => {
  expect(asWritten(command)).toBe(written);
});
