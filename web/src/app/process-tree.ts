/** How is a graph drawn: which process hangs under which, and what does it hold? */

import type { Graph } from "../protocol/api.js";

export type Process = Graph["processes"][number];
export type Listener = Graph["listeners"][number];

export interface Branch {
  readonly process: Process;
  readonly depth: number;
  readonly listeners: readonly Listener[];
  readonly connections: number;
}

/** Return the processes, each after its parent; whose parent is not there, first. */
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

function branch(graph: Graph, process: Process, depth: number): Branch {
  const isIts = (one: { readonly pid: number }): boolean => one.pid === process.pid;
  return {
    process,
    depth,
    listeners: graph.listeners.filter(isIts),
    connections: graph.connections.filter(isIts).length,
  };
}
