import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  StoreError
} from "./chunk-QUS7FO4W.js";

// src/store/key.ts
function assertKey(key) {
  if (!(key.length > 0 && key.length <= 1024 && Buffer.byteLength(key) <= 1024) || key.includes("\0") || !key.isWellFormed())
    throw new StoreError(`not a key: ${JSON.stringify(key.slice(0, 100))}`);
}
function assertWrite({ key, expected, value, lifetimeSeconds, guards }) {
  if (assertKey(key), assertRevision(expected), value === void 0 && expected === 0) throw new StoreError("a key that is absent cannot be deleted");
  lifetimeSeconds !== void 0 && assertLifetime(lifetimeSeconds, value);
  for (let guard of guards ?? [])
    assertKey(guard.key), assertRevision(guard.revision);
}
function assertRevision(revision) {
  if (!Number.isSafeInteger(revision) || revision < 0) throw new StoreError(`not a revision: ${revision}`);
}
function assertLifetime(seconds, value) {
  if (!(Number.isInteger(seconds) && seconds >= 1 && seconds <= 1e9)) throw new StoreError(`not a lifetime in seconds: ${seconds}`);
  if (value === void 0) throw new StoreError("a deletion has no lifetime");
}

// src/store/tail.ts
var defaultLimits = { maxChanges: 2e4, maxBytes: 33554432 }, batchSize = 1e3, Tail = class {
  /** The revision of the last change appended: what readers may see. */
  revision;
  /** Changes after this revision are all held; those up to it are not. */
  #floor;
  #changes = [];
  #bytes = 0;
  #waiting = /* @__PURE__ */ new Set();
  #ended;
  #limits;
  constructor(revision, limits = defaultLimits) {
    this.revision = revision, this.#floor = revision, this.#limits = limits;
  }
  /** Appends changes in revision order and wakes the readers. */
  append(changes) {
    for (let change of changes)
      this.#changes.push(change), this.#bytes += weight(change), this.revision = change.revision;
    this.#trim(), this.#wake();
  }
  /** Raises the revision where the log has a number without a change (another key space on the same counter). */
  advance(revision) {
    revision <= this.revision || (this.revision = revision, this.#wake());
  }
  /** Drops the changes up to a revision: a reader that still wants them is told by the backend whether they are gone. */
  forget(revision) {
    let drop = this.#indexAfter(revision);
    for (let change of this.#changes.slice(0, drop)) this.#bytes -= weight(change);
    this.#changes = this.#changes.slice(drop), this.#floor = Math.max(this.#floor, revision);
  }
  /** Ends every reader, now and later, with this error. */
  end(error) {
    this.#ended ??= error, this.#wake();
  }
  /** Follows the log after `options.after`: first from the backend where the tail does not reach, then from the tail. */
  async *follow(options, readLog) {
    let after = options.after, until = options.until ?? Number.POSITIVE_INFINITY, wanted = (change) => change.key.startsWith(options.prefix) && change.revision <= until, batch = (changes, through) => ({
      changes: changes.filter(wanted),
      through: Math.min(through, until)
    });
    for (; !options.signal.aborted && after < until; ) {
      if (this.#ended) throw this.#ended;
      if (after < this.#floor) {
        let floor = this.#floor, changes = await readLog(after, batchSize);
        if (options.signal.aborted) return;
        let last = changes.at(-1);
        after = last === void 0 ? floor : last.revision, yield batch(changes, after);
      } else if (after < this.revision) {
        let changes = this.#changes.slice(this.#indexAfter(after));
        after = this.revision, yield batch(changes, after);
      } else
        await this.#more(options.signal);
    }
  }
  #indexAfter(revision) {
    let low = 0, high = this.#changes.length;
    for (; low < high; ) {
      let middle = low + high >>> 1;
      this.#changes[middle].revision <= revision ? low = middle + 1 : high = middle;
    }
    return low;
  }
  // Drops in halves, so that a trim costs little per append.
  #trim() {
    let { maxChanges, maxBytes } = this.#limits;
    if (this.#changes.length <= maxChanges && this.#bytes <= maxBytes) return;
    let drop = 0;
    for (; drop < this.#changes.length - 1 && (this.#changes.length - drop > maxChanges / 2 || this.#bytes > maxBytes / 2); )
      this.#bytes -= weight(this.#changes[drop]), drop++;
    this.#floor = this.#changes[drop - 1]?.revision ?? this.#floor, this.#changes = this.#changes.slice(drop);
  }
  #more(signal) {
    return new Promise((resolve) => {
      let done = () => {
        this.#waiting.delete(done), signal.removeEventListener("abort", done), resolve();
      };
      this.#waiting.add(done), signal.addEventListener("abort", done), signal.aborted && done();
    });
  }
  #wake() {
    for (let done of [...this.#waiting]) done();
  }
};
function weight(change) {
  return 200 + change.key.length + (change.value?.length ?? 0) + (change.previous?.value.length ?? 0);
}

export {
  assertKey,
  assertWrite,
  Tail
};
