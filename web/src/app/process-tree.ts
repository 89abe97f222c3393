/**
 * A session's processes as a tree, with what each has open and the command that it
 * belongs to.
 */

import type { Graph } from "../protocol/api.js";

export type Process = Graph["processes"][number];
export type Listener = Graph["listeners"][number];

/** Clock ticks of the kernel in a second, as on every common Linux. */
const TICKS = 100;

/** What holdfast adds to the command of a shell for its integration. */
const ADDED = / --rcfile \S*\/integration\.bash| --init-command source '?\S*\/integration\.fish'?/u;

export interface Branch {
  readonly process: Process;
  readonly depth: number;
  readonly listeners: readonly Listener[];
  readonly connections: number;
}

/** Return the processes, each after its parent; those without a parent first. */
export function branches(graph: Graph): Branch[] {
  const pids = new Set(graph.processes.map((one) => one.pid));
  const children = new Map<number, Process[]>();
  for (const one of graph.processes) {
    const parent = pids.has(one.parent) && one.parent !== one.pid ? one.parent : 0;
    children.set(parent, [...(children.get(parent) ?? []), one]);
  }
  const found: Branch[] = [];
  const seen = new Set<number>();
  const climb = (parent: number, depth: number): void => {
    for (const process of children.get(parent) ?? []) {
      if (!seen.has(process.pid)) {
        seen.add(process.pid);
        found.push(branch(graph, process, depth));
        climb(process.pid, depth + 1);
      }
    }
  };
  climb(0, 0);
  return found;
}

/** Return a command as a person would write it. */
export function asWritten(command: string): string {
  return command.replace(ADDED, "");
}

/**
 * Return when the process was started that tells which command another belongs to, in
 * milliseconds since the machine was; null for the session's own program. The twin of
 * core/provenance/lineage.py: what a shell starts belongs to the command of that moment, and so
 * does all below it. A parent that is younger than its child is none.
 */
export function startedMs(graph: Graph, process: Process): number | null {
  const known = new Map(graph.processes.map((one) => [one.pid, one]));
  const leader = graph.processes.reduce(older, process);
  const line = new Set([process]);
  for (let last = process; ; ) {
    if (last.pid === leader.pid) {
      return null;
    }
    const parent = known.get(last.parent);
    const isNone = parent === undefined || parent.started_ticks > last.started_ticks;
    if (isNone || parent.pid === leader.pid || line.has(parent)) {
      return Math.floor((last.started_ticks * 1000) / TICKS);
    }
    line.add(parent);
    last = parent;
  }
}

function older(one: Process, other: Process): Process {
  return other.started_ticks < one.started_ticks ? other : one;
}

function branch(graph: Graph, process: Process, depth: number): Branch {
  const isIts = (one: { readonly pid: number }): boolean => one.pid === process.pid;
  return {
    process,
    depth,
    listeners: graph.listeners.filter(isIts),
    connections: graph.connections.filter(isIts).length,
  };
}
