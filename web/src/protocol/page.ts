/**
 * This browser's identity, and the hosts it has joined.
 *
 * The address book is kept in a store; so are our keys, which nothing here can see.
 * There is one identity for all hosts, as there is one for a profile on a machine:
 * a host knows us by it, and revokes it.
 */

import type { HostLink, Invited, KnownHost, Page, SessionInfo, Stop, Terms } from "./api.js";
import { asError, HoldfastError } from "./errors.js";
import type { Guide } from "./following.js";
import { LiveHost } from "./host-link.js";
import { HostRequests } from "./host-requests.js";
import { actorId, hostId, shortFingerprint, spokenFingerprint } from "./ids.js";
import type { Invitation } from "./invites.js";
import { readInvitation } from "./invites.js";
import { Listeners } from "./listeners.js";
import type { MovedWord } from "./moved-word.js";
import type { Packet } from "./packets.js";
import { textOf } from "./packets.js";
import type { Identity, World } from "./ports.js";
import type { Dialler, HostKeys } from "./reaching.js";
import { joinHost } from "./reaching.js";
import { printable } from "./text.js";

const MAX_NAME = 64;

/** A host as it is kept: what may be shown, and the keys it is known by. */
export interface StoredHost extends KnownHost {
  readonly publicKey: Uint8Array;
  readonly staticKey: Uint8Array;
}

/** What outlives the page. */
export interface Store {
  /** Our keys; made on the first call, by whichever tab comes first. */
  identity(): Promise<Identity>;
  hosts(): Promise<readonly StoredHost[]>;
  put(host: StoredHost): Promise<void>;
  remove(id: string): Promise<void>;
  /** Told when another tab has changed something. */
  listen(changed: () => void): Stop;
  close(): void;
}

export class LivePage implements Page, Guide {
  private readonly links = new Map<string, LiveHost>();
  private readonly listeners = new Listeners<readonly KnownHost[]>();
  private readonly stop: Stop;

  private constructor(
    private readonly from: Dialler,
    private readonly store: Store,
    /** Our own relay: the only one that a browser lets its page reach for sure. */
    private readonly home: string,
    readonly fingerprint: string,
    private known: readonly StoredHost[],
  ) {
    this.stop = store.listen(() => void this.refresh());
  }

  static async open(world: World, store: Store, home: string): Promise<LivePage> {
    const us = await store.identity();
    const actor = await actorId(world.suite, us.public);
    const from = { world, us, actor, ways: new Map<string, string>() };
    const fingerprint = await shortFingerprint(world.suite, us.public);
    return new LivePage(from, store, home, fingerprint, await store.hosts());
  }

  get actor(): string {
    return this.from.actor;
  }

  hosts(): readonly KnownHost[] {
    return this.known.map(shown);
  }

  listen(changed: (hosts: readonly KnownHost[]) => void): Stop {
    return this.listeners.add(changed);
  }

  async read(link: string): Promise<Invited> {
    const { suite } = this.from.world;
    const invitation = await readInvitation(suite, link);
    return {
      host: await hostId(suite, invitation.hostPublic),
      fingerprint: await shortFingerprint(suite, invitation.hostPublic),
      words: await spokenFingerprint(suite, invitation.hostPublic),
      relays: invitation.relays,
    };
  }

  async terms(link: string): Promise<Terms> {
    const invitation = await readInvitation(this.from.world.suite, link);
    try {
      const [told] = await this.asked(invitation, "terms");
      return {
        host: printable(textOf(told, "host"), MAX_NAME),
        operator: printable(textOf(told, "operator"), MAX_NAME),
        isKnown: told["known"] === true,
        rights: texts(told, "rights"),
        session: textOf(told, "session"),
        expiresMs: whenOf(told, "expires_ms"),
        goodUntilMs: whenOf(told, "good_until_ms"),
      };
    } catch (thrown) {
      throw asError(thrown);
    } finally {
      invitation.secret.fill(0);
    }
  }

  async join(link: string): Promise<KnownHost> {
    const { suite } = this.from.world;
    const invitation = await readInvitation(suite, link);
    try {
      const [told, staticKey] = await this.asked(invitation, "join");
      const id = await hostId(suite, invitation.hostPublic);
      const host: StoredHost = {
        id,
        name: this.find(id)?.name ?? (printable(textOf(told, "host"), MAX_NAME) || id),
        operator: printable(textOf(told, "operator"), MAX_NAME),
        relays: invitation.relays,
        rights: texts(told, "rights"),
        session: textOf(told, "session"),
        expiresMs: whenOf(told, "expires_ms"),
        fingerprint: await shortFingerprint(suite, invitation.hostPublic),
        publicKey: invitation.hostPublic,
        staticKey,
      };
      await this.store.put(host);
      // A link that was refused by the old key, or that knows old relays, is of no use.
      this.unlink(id);
      await this.refresh();
      return shown(host);
    } catch (thrown) {
      throw asError(thrown);
    } finally {
      invitation.secret.fill(0);
    }
  }

  async rename(id: string, name: string): Promise<void> {
    await this.store.put({ ...this.demand(id), name: printable(name, MAX_NAME) });
    await this.refresh();
  }

  async forget(id: string): Promise<void> {
    await this.store.remove(id);
    await this.refresh();
  }

  link(id: string): HostLink {
    const found = this.links.get(id);
    if (found !== undefined) return found;
    const host = this.demand(id);
    const keys: HostKeys = {
      id,
      public: host.publicKey,
      static: host.staticKey,
      relays: this.homeFirst(host.relays),
    };
    const made = new LiveHost(this.from, keys, () => shown(this.find(id) ?? host), this);
    this.links.set(id, made);
    return made;
  }

  // ── sessions that move ────────────────────────────────────────────────────

  async lookUp(host: string, session: string): Promise<SessionInfo | null> {
    const listed = await this.link(host).sessions();
    return listed.find((one) => one.id === session) ?? null;
  }

  async wayTo(word: MovedWord): Promise<HostKeys> {
    const id = await hostId(this.from.world.suite, word.public);
    const known = this.find(id);
    return {
      id,
      public: word.public,
      static: known?.staticKey ?? word.static,
      relays: this.homeFirst(known?.relays ?? word.relays),
    };
  }

  async remember(word: MovedWord, from: string): Promise<void> {
    const { suite } = this.from.world;
    const id = await hostId(suite, word.public);
    if (this.find(id) !== undefined) return;
    const left = this.demand(from);
    await this.store.put({
      id,
      name: word.host || id,
      operator: left.operator,
      relays: word.relays,
      rights: left.rights,
      session: word.session,
      expiresMs: left.expiresMs,
      fingerprint: await shortFingerprint(suite, word.public),
      publicKey: word.public,
      staticKey: word.static,
    });
    await this.refresh();
  }

  wake(): void {
    for (const link of this.links.values()) link.wake();
  }

  close(): void {
    this.stop();
    for (const id of [...this.links.keys()]) this.unlink(id);
    this.store.close();
  }

  /** What the host says about an invitation, and its key for handshakes. */
  private async asked(
    invitation: Invitation,
    what: "join" | "terms",
  ): Promise<readonly [Packet, Uint8Array]> {
    const relays = this.homeFirst(invitation.relays);
    const sealed = await joinHost(this.from, { ...invitation, relays });
    const requests = new HostRequests(this.from.world.clock, sealed);
    try {
      return [await requests.ask({ do: what }), Uint8Array.from(requests.static)];
    } finally {
      requests.close();
    }
  }

  private homeFirst(relays: readonly string[]): readonly string[] {
    const isHome = (url: string): number => Number(url.replace(/\/$/, "") === this.home);
    return [...relays].sort((a, b) => isHome(b) - isHome(a));
  }

  private find(id: string): StoredHost | undefined {
    return this.known.find((host) => host.id === id);
  }

  private demand(id: string): StoredHost {
    const found = this.find(id);
    if (found === undefined) {
      throw new HoldfastError("host-not-known", "no such host was joined", { name: id });
    }
    return found;
  }

  private unlink(id: string): void {
    this.links.get(id)?.close();
    this.links.delete(id);
  }

  private async refresh(): Promise<void> {
    this.known = await this.store.hosts();
    for (const id of [...this.links.keys()]) {
      if (this.find(id) === undefined) this.unlink(id);
    }
    await this.listeners.tell(this.hosts());
  }
}

function shown({ publicKey: _, staticKey: __, ...host }: StoredHost): KnownHost {
  return host;
}

function whenOf(packet: Packet, name: string): number | null {
  const value = packet[name];
  return typeof value === "number" ? value : null;
}

function texts(packet: Packet, name: string): readonly string[] {
  const value = packet[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
