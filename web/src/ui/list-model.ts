/**
 * The sessions of every known host, polled.
 *
 * A page in the background polls seldom, and only if it may notify. Only a few
 * sessions are looked at closely, because each look keeps a link; the rest are
 * listed as their host describes them.
 */

import { signal } from "@preact/signals";
import { byUrgency, type Listed, type Need, needOf } from "../app/urgency.js";
import type {
  Glance,
  HostLink,
  KnownHost,
  LinkState,
  LostInfo,
  SessionInfo,
} from "../protocol/api.js";
import { learnNames } from "./names.js";
import { notifyAbout, permission } from "./notifications.js";
import { page } from "./state.js";

const PAUSE_MS = 2500;
const HIDDEN_PAUSE_MS = 5000;
const GLANCED = 16;

export interface HostList {
  readonly host: KnownHost;
  readonly state: LinkState;
  /** Null until the host has answered for the first time. */
  readonly sessions: readonly Listed[] | null;
  /** Those that were lost, the last one first. */
  readonly lost: readonly LostInfo[];
  /** Notices from the host, such as a policy not yet applied. */
  readonly notices: readonly string[];
}

export class HostModel {
  readonly list;
  readonly link: HostLink;
  readonly #glances = new Map<string, Glance>();
  readonly #needs = new Map<string, Need>();
  readonly #stop: () => void;
  #infos: readonly SessionInfo[] | null = null;
  #lost: readonly LostInfo[] = [];
  #notices: readonly string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(host: KnownHost, link: HostLink) {
    this.link = link;
    this.list = signal<HostList>({
      host,
      state: link.state,
      sessions: null,
      lost: [],
      notices: [],
    });
    this.#stop = link.listen(() => this.#publish());
    void this.#go();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#stop();
  }

  /** Poll now, whatever the clock says. */
  async look(): Promise<void> {
    const listed = await this.link.listed();
    this.#infos = listed.sessions;
    this.#lost = [...listed.lost].sort((one, other) => other.seenMs - one.seenMs);
    this.#publish();
    this.#notices = (await this.link.status()).notices;
    this.#publish();
    const living = this.#infos.filter((one) => one.exit === null).slice(0, GLANCED);
    await Promise.all(living.map((one) => this.#glance(one)));
  }

  async #go(): Promise<void> {
    if (!document.hidden || permission.value === "granted") {
      try {
        await this.look();
      } catch {
        this.#publish(); // The link's state says what is wrong.
      }
    }
    if (!this.#isClosed) {
      const pause = document.hidden ? HIDDEN_PAUSE_MS : PAUSE_MS;
      this.#timer = setTimeout(() => void this.#go(), pause);
    }
  }

  async #glance(info: SessionInfo): Promise<void> {
    try {
      const glance = await this.link.glance(info.id);
      this.#glances.set(info.id, glance);
      learnNames(this.link.host.id, glance.presence.present);
      this.#notify(info, needOf({ info, glance }));
      this.#publish();
    } catch {
      this.#glances.delete(info.id);
    }
  }

  #notify(info: SessionInfo, need: Need): void {
    const isNews = this.#needs.get(info.id) !== need;
    this.#needs.set(info.id, need);
    if (isNews && ["approval", "secret", "input"].includes(need)) {
      notifyAbout(
        info.name,
        need === "approval" ? "It waits for approval." : "It waits for input.",
      );
    }
  }

  #publish(): void {
    if (this.#isClosed) {
      return;
    }
    const infos = this.#infos;
    this.list.value = {
      host: this.link.host,
      state: this.link.state,
      notices: this.#notices,
      lost: this.#lost,
      sessions:
        infos === null
          ? null
          : byUrgency(infos.map((info) => ({ info, glance: this.#glances.get(info.id) ?? null }))),
    };
  }
}

/** Return a model for each host. */
export function hostModels(known: readonly KnownHost[]): HostModel[] {
  const found = page.value;
  return found === null ? [] : known.map((host) => new HostModel(host, found.link(host.id)));
}
