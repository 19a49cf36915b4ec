import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  Tail,
  assertKey,
  assertWrite
} from "./chunk-CBUB4TCL.js";
import {
  systemClock
} from "./chunk-QJOKRXJQ.js";
import {
  Packer,
  Unpacker
} from "./chunk-I64HZR76.js";
import {
  RevisionAhead,
  RevisionGone,
  StoreError,
  StoreFull,
  ValueTooLarge
} from "./chunk-QUS7FO4W.js";
import "./chunk-K3AUPHIL.js";

// src/store/lmdb/commits.ts
var maxBatches = 2, maxWrites = 2e3, maxBytes = 4 * 1024 * 1024, Commits = class {
  #connection;
  #onCommitted;
  #queue = [];
  #batches = 0;
  #scheduled = !1;
  #onIdle = [];
  constructor(connection, onCommitted) {
    this.#connection = connection, this.#onCommitted = onCommitted;
  }
  /** `due`: the time from which on the key is to go by itself; 0: it stays. */
  add(write, due) {
    return new Promise((resolve, reject) => {
      this.#queue.push({ write, due, resolve, reject }), this.#schedule();
    });
  }
  /** Resolves when every commit added so far has been answered. */
  idle() {
    return new Promise((resolve) => {
      this.#onIdle.push(resolve), this.#settle();
    });
  }
  #schedule() {
    this.#scheduled || (this.#scheduled = !0, setImmediate(() => {
      this.#scheduled = !1, this.#send();
    }));
  }
  #send() {
    for (; this.#queue.length > 0 && this.#batches < maxBatches; ) this.#sendBatch(this.#takeBatch());
    this.#settle();
  }
  #takeBatch() {
    let bytes = 0, size = 0;
    for (; size < this.#queue.length && size < maxWrites && bytes < maxBytes; )
      bytes += this.#queue[size++].write.value?.length ?? 0;
    let batch = this.#queue.slice(0, size);
    return this.#queue = this.#queue.slice(size), batch;
  }
  #sendBatch(batch) {
    this.#batches++;
    let writes = pack(batch), deletesOnly = batch.every(({ write }) => write.value === void 0);
    this.#connection.send({ type: "commit", writes, count: batch.length, deletesOnly }, [writes], {
      resolve: (reply) => this.#answer(batch, new Unpacker(reply)),
      reject: (error) => this.#refuse(batch, error)
    });
  }
  #answer(batch, reply) {
    this.#batches--;
    let changes = [], outcomes = batch.map(({ write }) => readOutcome(write, reply, changes));
    this.#onCommitted(changes);
    for (let [i, { resolve }] of batch.entries()) resolve(outcomes[i]);
    this.#send();
  }
  #refuse(batch, error) {
    this.#batches--;
    for (let { reject } of batch) reject(error);
    this.#send();
  }
  #settle() {
    if (!(this.#queue.length > 0 || this.#batches > 0))
      for (let resolve of this.#onIdle.splice(0)) resolve();
  }
}, headroom = 8;
function pack(batch) {
  let packed = new Packer(batch.reduce((sum, { write }) => sum + sizeOf(write), 0));
  for (let { write, due } of batch) {
    packed.number(write.expected), packed.number(write.value === void 0 ? 1 : 0), packed.number(due), packed.key(write.key), packed.bytes(write.value ?? nothing, headroom), packed.number(write.guards?.length ?? 0);
    for (let guard of write.guards ?? [])
      packed.number(guard.revision), packed.key(guard.key);
  }
  return packed.finish();
}
var nothing = new Uint8Array(0);
function sizeOf({ key, value }) {
  return 40 + headroom + 3 * key.length + (value?.length ?? 0);
}
function readOutcome(write, reply, changes) {
  let revision = reply.number(), held = reply.number(), previous = held === 0 ? void 0 : { key: write.key, revision: held, value: reply.bytes().subarray(headroom) };
  return revision === 0 ? { outcome: "conflict", current: previous } : (changes.push({ key: write.key, revision, value: write.value, previous }), { outcome: "committed", revision });
}

// src/store/lmdb/connection.ts
import { MessageChannel, Worker } from "node:worker_threads";
var Connection = class _Connection {
  #worker;
  #port;
  #waiting = /* @__PURE__ */ new Map();
  #exited;
  #lastId = 0;
  #ended;
  /** Starts the thread and waits until it has opened the file. `onEnd` is told when the thread is gone. */
  static async open(directory, onEnd) {
    let connection = new _Connection(directory, onEnd);
    try {
      let state = await new Promise((resolve, reject) => connection.#expect(0, { resolve, reject }, !1));
      return { connection, state };
    } catch (error) {
      throw await connection.#exited, error;
    }
  }
  constructor(directory, onEnd) {
    let { port1, port2 } = new MessageChannel();
    this.#port = port1, this.#worker = new Worker(threadUrl(), {
      workerData: { port: port2, directory },
      transferList: [port2],
      execArgv: []
    }), this.#port.on("message", (reply) => this.#receive(reply));
    let cause;
    this.#worker.on("error", (error) => {
      cause = error;
    }), this.#exited = new Promise((resolve) => {
      this.#worker.on("exit", () => {
        this.#end(cause), onEnd(this.#ended), resolve();
      });
    });
  }
  request(request) {
    return new Promise((resolve, reject) => this.send(request, [], { resolve, reject }));
  }
  send(request, transfer, receiver) {
    if (this.#ended) {
      receiver.reject(this.#ended);
      return;
    }
    let id = ++this.#lastId;
    this.#expect(id, receiver, request.type === "commit"), this.#port.postMessage({ ...request, id }, transfer);
  }
  /** Lets the thread close the file and waits for its end. */
  async close() {
    try {
      this.#ended || await this.request({ type: "close" });
    } finally {
      this.#port.close(), await this.#exited;
    }
  }
  #expect(id, receiver, writes) {
    this.#waiting.set(id, { receiver, writes });
  }
  #receive(reply) {
    let receiver = this.#waiting.get(reply.id)?.receiver;
    this.#waiting.delete(reply.id), "failure" in reply ? receiver?.reject(toError(reply.failure)) : receiver?.resolve(reply.result);
  }
  #end(cause) {
    this.#ended = new StoreError("the thread of the store has ended", { cause });
    let waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (let { receiver, writes } of waiting)
      receiver.reject(writes ? new StoreError(this.#ended.message, { cause, ambiguous: !0 }) : this.#ended);
    this.#port.close();
  }
};
function toError({ kind, message }) {
  return kind === "full" ? new StoreFull(message) : new StoreError(message, { ambiguous: kind === "failed" });
}
function threadUrl() {
  return new URL(import.meta.url.endsWith(".ts") ? "./thread.ts" : "./store-thread.js", import.meta.url);
}

// src/store/lmdb/directory.ts
import { once } from "node:events";
import { chmod, mkdir, open, stat, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
var neededBytes = 1024 * 1024;
async function prepareDirectory(directory) {
  try {
    await mkdir(directory, { recursive: !0, mode: 448 }), await chmod(directory, 448);
  } catch (cause) {
    throw new StoreError(`the data directory ${directory} cannot be used: ${cause.message}`, { cause });
  }
  let { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < neededBytes)
    throw new StoreFull(`no room in ${directory}: ${bavail * bsize} bytes are free, ${neededBytes} are needed`);
  await checkFile(join(directory, "data.mdb"));
}
async function claimDirectory(directory) {
  if (process.platform !== "linux") return async () => {
  };
  let { dev, ino } = await stat(directory), claim = createServer((socket) => socket.destroy());
  claim.unref(), claim.listen(`\0orch-store-${dev}-${ino}`);
  try {
    await once(claim, "listening");
  } catch (cause) {
    throw new StoreError(
      `the data directory ${directory} is in use by another process: stop that one, or use another directory`,
      { cause }
    );
  }
  return () => new Promise((resolve) => claim.close(() => resolve()));
}
var magicAt = 24, pageSizeAt = 48, lastPageAt = 144, transactionAt = 152, magic = 3203383518, pageSizes = [4096, 8192, 16384, 32768, 65536];
async function checkFile(path) {
  let { size } = await stat(path).catch(absent);
  if (size === 0) return;
  let file = await open(path, "r+");
  try {
    let wanted = sizeByMeta(await readMeta(file));
    if (wanted === void 0) throw new StoreError(`the data file ${path} is damaged, or not one of this program`);
    wanted > size && await file.truncate(wanted);
  } finally {
    await file.close();
  }
}
function absent(error) {
  if (error.code === "ENOENT") return { size: 0 };
  throw new StoreError(`the data file cannot be read: ${error.message}`, { cause: error });
}
async function readMeta(file) {
  let first = await readAt(file, 0, 4096), pageSize = first.readUInt32LE(pageSizeAt);
  return pageSizes.includes(pageSize) ? [first, await readAt(file, pageSize, 4096)] : [first];
}
function sizeByMeta(pages) {
  if (pages.length < 2 || pages.some((page) => page.readUInt32LE(magicAt) !== magic)) return;
  let [older, newer] = pages.toSorted(
    (a, b) => Number(a.readBigUInt64LE(transactionAt) - b.readBigUInt64LE(transactionAt))
  ), size = (Number(newer.readBigUInt64LE(lastPageAt)) + 1) * older.readUInt32LE(pageSizeAt);
  return size <= 2 ** 46 ? size : void 0;
}
async function readAt(file, position, size) {
  let bytes = Buffer.alloc(size);
  return await file.read(bytes, 0, size, position), bytes;
}

// src/store/lmdb/marks.ts
var TimeMarks = class {
  #marks = [];
  add(time, revision) {
    this.#marks.push({ time, revision });
  }
  /** The newest revision that had been reached by `time`; older marks are dropped. Undefined: none is that old. */
  reachedBy(time) {
    let next = this.#marks.findIndex((mark) => mark.time > time), last = (next === -1 ? this.#marks.length : next) - 1;
    if (!(last < 0))
      return this.#marks = this.#marks.slice(last), this.#marks[0].revision;
  }
};

// src/store/lmdb/store.ts
var maxValueBytes = 8 * 1024 * 1024, defaultHistoryMs = 300 * 1e3, marksPerHistory = 20, expiryTickMs = 1e3, LmdbStore = class _LmdbStore {
  #connection;
  #release;
  #tail;
  #commits;
  #options;
  #clock;
  #pins = /* @__PURE__ */ new Map();
  #oldest;
  #sweep = Promise.resolve();
  #expiring = !1;
  #expiryFailure;
  #stopTimers = [];
  #closing;
  static async open(options) {
    await prepareDirectory(options.directory);
    let release = await claimDirectory(options.directory), store;
    try {
      let { connection, state } = await Connection.open(options.directory, (error) => {
        store && store.#end(error);
      });
      return store = new _LmdbStore(connection, state, options, release), store.#startTimers(), store;
    } catch (error) {
      throw await release(), error;
    }
  }
  constructor(connection, state, options, release) {
    this.#connection = connection, this.#release = release, this.#options = options, this.#clock = options.clock ?? storeClock, this.#oldest = state.oldest, this.#tail = new Tail(state.revision), this.#commits = new Commits(connection, (changes) => this.#tail.append(changes));
  }
  async commit(write) {
    this.#assertOpen(), assertWrite(write);
    let size = write.value?.length ?? 0;
    if (size > maxValueBytes) throw new ValueTooLarge(size, maxValueBytes);
    let { lifetimeSeconds } = write;
    return this.#commits.add(write, lifetimeSeconds === void 0 ? 0 : this.#clock.now() + 1e3 * lifetimeSeconds);
  }
  revision() {
    return this.#assertOpen(), this.#tail.revision;
  }
  async get(key) {
    this.#assertOpen(), assertKey(key);
    let reply = new Unpacker(await this.#connection.request({ type: "get", key }));
    return reply.done ? void 0 : { key, revision: reply.number(), value: reply.bytes() };
  }
  async list({
    prefix,
    after,
    limit = Number.POSITIVE_INFINITY,
    revision,
    count = !0
  }) {
    this.#assertOpen();
    let at = revision ?? this.#tail.revision;
    if (at > this.#tail.revision) throw new RevisionAhead(at, this.#tail.revision);
    this.#assertKept(at), this.#pin(at);
    try {
      let { entries, resume } = await this.#readEntries({ prefix, after, revision: at }, limit), remaining = resume === void 0 ? 0 : count ? await this.#countEntries(resume) : 1;
      return { revision: at, entries, remaining };
    } finally {
      this.#unpin(at);
    }
  }
  async *watch(options) {
    this.#assertOpen(), yield* this.#tail.follow(options, (after, limit) => this.#readLog(after, limit));
  }
  async compact(revision) {
    if (this.#assertOpen(), revision > this.#tail.revision) throw new RevisionAhead(revision, this.#tail.revision);
    if (revision <= this.#oldest) return;
    this.#oldest = revision, this.#tail.forget(revision);
    let sweep = this.#sweep.then(() => this.#sweepOut());
    this.#sweep = sweep.catch(() => {
    }), await sweep;
  }
  close() {
    return this.#closing ??= this.#close(), this.#closing;
  }
  #end(error) {
    for (let stop of this.#stopTimers.splice(0)) stop();
    this.#tail.end(error);
  }
  async #close() {
    this.#end(new StoreError("the store is closed"));
    try {
      await this.#commits.idle(), await this.#sweep, await this.#connection.close();
    } finally {
      await this.#release();
    }
  }
  async #readEntries(range, limit) {
    let entries = [], rest = range;
    for (; rest && entries.length < limit; ) {
      let request = { type: "list", range: rest, limit: limit - entries.length }, reply = await this.#connection.request(request);
      readEntries(new Unpacker(reply.entries), entries), rest = reply.resume === void 0 ? void 0 : { ...range, after: reply.resume };
    }
    return { entries, resume: rest };
  }
  async #countEntries(range) {
    let count = 0, rest = range;
    for (; rest; ) {
      let reply = await this.#connection.request({ type: "count", range: rest });
      count += reply.count, rest = reply.resume === void 0 ? void 0 : { ...range, after: reply.resume };
    }
    return count;
  }
  async #readLog(after, limit) {
    this.#assertKept(after);
    let reply = await this.#connection.request({ type: "log", after, limit });
    return this.#assertKept(after), readChanges(new Unpacker(reply));
  }
  #startTimers() {
    this.#stopTimers = [this.#keepHistory(), this.#clock.every(expiryTickMs, () => this.#expire())];
  }
  #keepHistory() {
    let { historyMs = defaultHistoryMs } = this.#options, clock = this.#clock, marks = new TimeMarks(), mark = () => marks.add(clock.monotonic(), this.#tail.revision);
    return mark(), clock.every(Math.max(10, historyMs / marksPerHistory), () => {
      mark();
      let target = marks.reachedBy(clock.monotonic() - historyMs);
      target !== void 0 && this.compact(target).catch((error) => this.#report(error));
    });
  }
  /** Deletes what is due, a step after the other. */
  #expire() {
    this.#expiring || this.#closing || (this.#expiring = !0, this.#connection.send({ type: "expire", now: this.#clock.now() }, [], {
      resolve: (reply) => this.#expired(reply),
      reject: (error) => this.#failedToExpire(error)
    }));
  }
  /** Like commits, what was deleted joins the tail before anything that the thread answers later is seen. */
  #expired(changes) {
    this.#expiring = !1, this.#expiryFailure = void 0, changes !== void 0 && (this.#tail.append(readChanges(new Unpacker(changes))), this.#expire());
  }
  /** Tried again at the next tick; the same failure is reported once. */
  #failedToExpire(error) {
    this.#expiring = !1, error.message !== this.#expiryFailure && this.#report(error), this.#expiryFailure = error.message;
  }
  #report(error) {
    if (this.#closing) return;
    (this.#options.onUpkeepError ?? ((failure) => process.emitWarning(failure)))(error);
  }
  /** Deletes what is older than `#oldest` and read by nobody, in steps. */
  async #sweepOut() {
    for (let more = !0; more && !this.#closing; ) {
      let upTo = Math.min(this.#oldest, ...this.#pins.keys());
      more = (await this.#connection.request({ type: "compact", oldest: this.#oldest, upTo })).more;
    }
  }
  #pin(revision) {
    this.#pins.set(revision, (this.#pins.get(revision) ?? 0) + 1);
  }
  #unpin(revision) {
    let readers = this.#pins.get(revision) - 1;
    readers === 0 ? this.#pins.delete(revision) : this.#pins.set(revision, readers);
  }
  #assertKept(revision) {
    if (revision < this.#oldest) throw new RevisionGone(revision, this.#oldest);
  }
  #assertOpen() {
    if (this.#closing) throw new StoreError("the store is closed");
  }
}, storeClock = {
  ...systemClock,
  every(milliseconds, run) {
    let timer = setInterval(run, milliseconds);
    return timer.unref(), () => clearInterval(timer);
  }
};
function readEntries(packed, entries) {
  for (; !packed.done; ) {
    let revision = packed.number();
    entries.push({ key: packed.key(), revision, value: packed.bytes() });
  }
}
function readChanges(packed) {
  let changes = [];
  for (; !packed.done; ) changes.push(readChange(packed));
  return changes;
}
function readChange(packed) {
  let revision = packed.number(), deletes = packed.number() === 1, key = packed.key(), held = packed.number(), previous = held === 0 ? void 0 : { key, revision: held, value: packed.bytes() }, value = deletes ? void 0 : packed.bytes();
  return { key, revision, value, previous };
}
export {
  LmdbStore
};
