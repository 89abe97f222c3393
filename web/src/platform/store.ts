/**
 * Keys and address book in IndexedDB.
 *
 * Nothing of it is in localStorage, a cookie or a URL. The private keys are kept as
 * CryptoKeys that cannot be exported: a script of this page can use them for as long
 * as it runs, and cannot take them away.
 */

import { HoldfastError } from "../protocol/errors.js";
import type { Store, StoredHost } from "../protocol/page.js";
import type { Identity } from "../protocol/ports.js";
import type { StoredKeys, WebCryptoSuite } from "./webcrypto.js";

const DATABASE = "holdfast";
const VERSION = 1;
const KEYS = "keys";
const HOSTS = "hosts";
const OWN = "own";
const CHANNEL = "holdfast-hosts";

export class IndexedDbStore implements Store {
  private readonly others = new BroadcastChannel(CHANNEL);

  private constructor(
    private readonly database: IDBDatabase,
    private readonly suite: WebCryptoSuite,
  ) {
    // A newer page in another tab must not wait for this one.
    database.onversionchange = () => database.close();
  }

  static async open(suite: WebCryptoSuite): Promise<IndexedDbStore> {
    const asked = indexedDB.open(DATABASE, VERSION);
    asked.onupgradeneeded = () => {
      asked.result.createObjectStore(KEYS);
      asked.result.createObjectStore(HOSTS, { keyPath: "id" });
    };
    return new IndexedDbStore(await answer(asked), suite);
  }

  async identity(): Promise<Identity> {
    const found = await this.one<StoredKeys>(KEYS, OWN);
    if (found !== undefined) return this.suite.identity(found);
    // Made before the transaction, which does not wait for the primitives: if
    // another tab was first, its keys stand and these are forgotten.
    const made = await this.suite.newKeys();
    const transaction = this.database.transaction(KEYS, "readwrite");
    const keys = transaction.objectStore(KEYS);
    const first = await answer<StoredKeys | undefined>(keys.get(OWN));
    if (first === undefined) keys.put(made, OWN);
    await committed(transaction);
    return this.suite.identity(first ?? made);
  }

  async hosts(): Promise<readonly StoredHost[]> {
    const store = this.database.transaction(HOSTS).objectStore(HOSTS);
    const found = await answer<StoredHost[]>(store.getAll());
    return found.sort((a, b) => a.name.localeCompare(b.name));
  }

  async put(host: StoredHost): Promise<void> {
    await this.change((hosts) => hosts.put(host));
  }

  async remove(id: string): Promise<void> {
    await this.change((hosts) => hosts.delete(id));
  }

  listen(changed: () => void): () => void {
    const hear = (): void => changed();
    this.others.addEventListener("message", hear);
    return () => this.others.removeEventListener("message", hear);
  }

  close(): void {
    this.others.close();
    this.database.close();
  }

  private one<Value>(store: string, key: string): Promise<Value | undefined> {
    return answer(this.database.transaction(store).objectStore(store).get(key));
  }

  private async change(what: (hosts: IDBObjectStore) => void): Promise<void> {
    const transaction = this.database.transaction(HOSTS, "readwrite");
    what(transaction.objectStore(HOSTS));
    await committed(transaction);
    this.others.postMessage("changed");
  }
}

function answer<Value>(asked: IDBRequest<Value>): Promise<Value> {
  return new Promise((fulfil, refuse) => {
    asked.onsuccess = () => fulfil(asked.result);
    asked.onerror = () => refuse(unkept(asked.error));
  });
}

function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((fulfil, refuse) => {
    transaction.oncomplete = () => fulfil();
    transaction.onabort = () => refuse(unkept(transaction.error));
    transaction.onerror = () => refuse(unkept(transaction.error));
  });
}

/** The disk is full, or the browser keeps nothing for this page. */
function unkept(why: DOMException | null): HoldfastError {
  const text = `the browser keeps nothing for this page: ${why?.message ?? "no reason"}`;
  const nextStep = "Leave private browsing, or make room on the disk.";
  return new HoldfastError("browser-keeps-nothing", text, {}, { retryable: true, nextStep });
}
