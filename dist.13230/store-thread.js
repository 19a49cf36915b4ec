import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  Packer,
  Unpacker
} from "./chunk-I64HZR76.js";
import {
  StoreError,
  StoreFull
} from "./chunk-QUS7FO4W.js";
import "./chunk-K3AUPHIL.js";

// src/store/lmdb/thread.ts
import { join } from "node:path";
import { receiveMessageOnPort, workerData } from "node:worker_threads";

// src/store/lmdb/tables.ts
import { open } from "lmdb";
var formatVersion = 1, formatKey = Buffer.from("format"), stateKey = Buffer.from("state"), rawValues = {
  encoder: {
    encode: (bytes) => bytes,
    decode: (bytes) => bytes.subarray(0, bytes.length)
  }
};
function openTables(directory2) {
  let root = open({
    path: directory2,
    // Else a commit can be seen before it is durable, and can be seen although its sync failed.
    overlappingSync: !1,
    keyEncoding: "binary",
    maxDbs: 8,
    mapSize: 1073741824,
    permissionsMode: 384,
    ...rawValues
  }), table = (name) => root.openDB(name, { keyEncoding: "binary", ...rawValues }), [current, history, log] = [table("current"), table("history"), table("log")], tables = { root, current, history, log, expiry: table("expiry"), meta: table("meta") };
  return checkFormat(tables), tables;
}
function checkFormat({ root, meta }) {
  let format = meta.get(formatKey)?.readUInt32BE(0);
  if (format === formatVersion) return;
  if (format !== void 0)
    throw new StoreError(
      `the data has format ${format}, this program reads format ${formatVersion}: use the newer program`
    );
  let bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(formatVersion), root.transactionSync(() => {
    write(meta, formatKey, bytes), writeState(meta, { revision: 1, oldest: 1 });
  });
}
function readState(meta) {
  let bytes = meta.get(stateKey);
  if (bytes?.length !== 16) throw new StoreError("the data file is damaged: its state is missing");
  return { revision: readRevision(bytes, 0), oldest: readRevision(bytes, 8) };
}
function writeState(meta, state) {
  let bytes = Buffer.alloc(16);
  writeRevision(bytes, state.revision, 0), writeRevision(bytes, state.oldest, 8), write(meta, stateKey, bytes);
}
function write(table, key, value) {
  if (table.putSync(key, value) !== !0) throw new StoreError("the data file is damaged: a record could not be written");
}
function append(table, key, value) {
  if (table.putSync(key, value, { append: !0 }) !== !0) throw new StoreError("the data file is damaged: a record is not the last");
}
function remove(table, key) {
  if (table.removeSync(key) !== !0) throw new StoreError("the data file is damaged: a record to delete is missing");
}
function readRevision(bytes, offset) {
  return bytes.readUInt32BE(offset) * 2 ** 32 + bytes.readUInt32BE(offset + 4);
}
function writeRevision(bytes, revision, offset) {
  bytes.writeUInt32BE(Math.floor(revision / 2 ** 32), offset), bytes.writeUInt32BE(revision >>> 0, offset + 4);
}
function revisionKey(revision) {
  let bytes = Buffer.allocUnsafe(8);
  return writeRevision(bytes, revision, 0), bytes;
}
function versionKey(key, revision) {
  let bytes = Buffer.allocUnsafe(key.length + 9);
  return bytes.set(key), bytes[key.length] = 0, writeRevision(bytes, revision, key.length + 1), bytes;
}
function dueKey(due, revision) {
  let bytes = Buffer.allocUnsafe(16);
  return writeRevision(bytes, due, 0), writeRevision(bytes, revision, 8), bytes;
}
var keyAt = 11;
function logRecord(previous, deletes, key, replaced) {
  let bytes = Buffer.allocUnsafe(keyAt + key.length + replaced.length);
  return writeRevision(bytes, previous, 0), bytes[8] = deletes ? 1 : 0, bytes.writeUInt16BE(key.length, 9), bytes.set(key, keyAt), bytes.set(replaced, keyAt + key.length), bytes;
}
function readLogRecord(bytes) {
  let size = bytes.readUInt16BE(9);
  return {
    previous: readRevision(bytes, 0),
    deletes: bytes[8] === 1,
    key: Buffer.copyBytesFrom(bytes, keyAt, size),
    replaced: bytes.subarray(keyAt + size)
  };
}

// src/store/lmdb/read.ts
var listSlice = { keys: 500, bytes: 1024 * 1024 }, countSlice = { keys: 5e3, bytes: Number.POSITIVE_INFINITY }, logSliceBytes = 1024 * 1024, maxUndone = 2e3;
function getEntry({ current }, key) {
  let packed = new Packer(), held = current.get(Buffer.from(key));
  return held !== void 0 && (packed.number(readRevision(held, 0)), packed.bytes(held.subarray(8))), packed.finish();
}
function listEntries(tables, newest, range, limit) {
  if (range.revision === newest) return listNewest(tables, range, limit);
  let slice = readSlice(
    tables,
    newest,
    range,
    { keys: Math.min(limit, listSlice.keys), bytes: listSlice.bytes },
    !0
  ), wanted = slice.found.slice(0, limit), packed = new Packer(4096 + slice.bytes + 64 * wanted.length);
  for (let { key, revision, value } of wanted)
    packed.number(revision), packed.bytes(key), packed.bytes(value);
  let resume = wanted.length < slice.found.length ? wanted.at(-1)?.key : slice.resume;
  return { entries: packed.finish(), resume: resume?.toString() };
}
function listNewest({ current }, range, limit) {
  let { start, end } = keyRange(range), packed = new Packer(256 * 1024), keys = Math.min(limit, listSlice.keys), looked = 0, last;
  for (let { key, value } of current.getRange(end ? { start, end } : { start })) {
    if (last && (looked >= keys || packed.size >= listSlice.bytes))
      return { entries: packed.finish(), resume: last.toString() };
    looked++, last = asBuffer(key), packed.number(readRevision(value, 0)), packed.bytes(last), packed.bytes(value.subarray(8));
  }
  return { entries: packed.finish(), resume: void 0 };
}
function countEntries(tables, newest, range) {
  if (newest - range.revision <= maxUndone) return { count: countNewest(tables, range), resume: void 0 };
  let { found, resume } = readSlice(tables, newest, range, countSlice, !1);
  return { count: found.length, resume: resume?.toString() };
}
function countNewest({ current, log }, range) {
  let { start, end } = keyRange(range), changed = /* @__PURE__ */ new Map();
  for (let { value } of log.getRange({ start: revisionKey(range.revision + 1) })) {
    let { key, previous, deletes } = readLogRecord(value);
    if (Buffer.compare(key, start) < 0 || end && Buffer.compare(key, end) >= 0) continue;
    let now = deletes ? 0 : 1, known = changed.get(key.toString());
    known ? known.now = now : changed.set(key.toString(), { before: previous === 0 ? 0 : 1, now });
  }
  let count = current.getKeysCount(end ? { start, end } : { start });
  return [...changed.values()].reduce((sum, { before, now }) => sum + before - now, count);
}
function readSlice(tables, newest, range, bounds, values) {
  let { start, end } = keyRange(range), live = readCurrent(tables, range.revision, { start, end }, bounds, values);
  if (range.revision === newest) return live;
  let replaced = readHistory(
    tables,
    range.revision,
    { start, end: live.resume ? after(live.resume) : end },
    bounds,
    values
  );
  return merge(live, replaced);
}
function readCurrent({ current }, at, { start, end }, bounds, values) {
  let found = [], bytes = 0, looked = 0, last;
  for (let { key, value } of current.getRange(end ? { start, end } : { start })) {
    if (last && (looked >= bounds.keys || bytes >= bounds.bytes)) return { found, bytes, resume: last };
    looked++, last = asBuffer(key);
    let revision = readRevision(value, 0);
    revision > at || (found.push({ key: last, revision, value: values ? copyValue(value) : void 0 }), bytes += value.length);
  }
  return { found, bytes, resume: void 0 };
}
var stepsBeforeJump = 4;
function readHistory(tables, at, { start, end }, bounds, values) {
  let found = [], bytes = 0, looked = 0, last, from = start;
  for (; from; ) {
    let jump, steps = 0;
    for (let version of tables.history.getKeys(end ? { start: from, end } : { start: from })) {
      let key = asBuffer(version).subarray(0, version.length - 9);
      if (last?.equals(key)) {
        if (++steps < stepsBeforeJump) continue;
        jump = after(last);
        break;
      }
      if (last && (looked >= bounds.keys || bytes >= bounds.bytes)) return { found, bytes, resume: last };
      looked++, steps = 0, last = key;
      let entry = versionAt(tables, key, at, values);
      entry !== void 0 && (found.push(entry), bytes += entry.value?.length ?? 0);
    }
    from = jump;
  }
  return { found, bytes, resume: void 0 };
}
function versionAt(tables, key, at, values) {
  let newestFirst = { start: versionKey(key, at), end: versionKey(key, 0), reverse: !0, limit: 1 };
  for (let { key: version, value } of tables.history.getRange(newestFirst)) {
    let replacedAt = readRevision(value, 0);
    if (replacedAt <= at) return;
    let revision = readRevision(asBuffer(version), key.length + 1);
    return { key, revision, value: values ? Buffer.copyBytesFrom(replacedBy(tables, replacedAt)) : void 0 };
  }
}
function merge(live, replaced) {
  if (replaced.found.length === 0 && replaced.resume === void 0) return live;
  let resume = replaced.resume ?? live.resume, inReach = ({ key }) => resume === void 0 || Buffer.compare(key, resume) <= 0;
  return { found: [...live.found, ...replaced.found].filter(inReach).sort((a, b) => Buffer.compare(a.key, b.key)), bytes: live.bytes + replaced.bytes, resume };
}
function keyRange({ prefix, after: last }) {
  let start = Buffer.from(prefix), end = endOfPrefix(start), next = last === void 0 ? void 0 : after(Buffer.from(last));
  return next && Buffer.compare(next, start) > 0 ? { start: next, end } : { start: start.length > 0 ? start : Buffer.of(1), end };
}
function after(key) {
  return Buffer.concat([key, Buffer.of(1)]);
}
function endOfPrefix(prefix) {
  if (prefix.length === 0) return;
  let end = Buffer.from(prefix);
  return end[end.length - 1] += 1, end;
}
function readLog(tables, after2, limit) {
  let packed = new Packer(65536);
  for (let revision of logRevisions(tables, after2, limit)) {
    if (packed.size >= logSliceBytes) break;
    packRecord(tables, revision, packed);
  }
  return packed.finish();
}
function packRecord(tables, revision, packed) {
  let { previous, deletes, key, replaced } = logRecordAt(tables, revision);
  packed.number(revision), packed.number(deletes ? 1 : 0), packed.bytes(key), packed.number(previous), previous !== 0 && packed.bytes(replaced), deletes || packed.bytes(writtenAt(tables, key, revision));
}
function logRevisions({ log }, after2, limit) {
  let found = [];
  for (let key of log.getKeys({ start: revisionKey(after2 + 1), limit })) found.push(readRevision(asBuffer(key), 0));
  return found;
}
function writtenAt(tables, key, revision) {
  let held = tables.current.get(key);
  if (held !== void 0 && readRevision(held, 0) === revision) return held.subarray(8);
  let replacedAt = tables.history.get(versionKey(key, revision));
  if (replacedAt === void 0)
    throw new StoreError(`the data file is damaged: version ${revision} of a key is missing`);
  return replacedBy(tables, readRevision(replacedAt, 0));
}
function replacedBy(tables, revision) {
  return logRecordAt(tables, revision).replaced;
}
function logRecordAt({ log }, revision) {
  let record = log.get(revisionKey(revision));
  if (record === void 0) throw new StoreError(`the data file is damaged: change ${revision} is missing`);
  return readLogRecord(record);
}
function copyValue(lent) {
  return Buffer.copyBytesFrom(lent, 8, lent.length - 8);
}
function asBuffer(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// src/store/lmdb/room.ts
import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
var pageSize = 4096, spareBytes = 1024 * 1024, zeros = Buffer.alloc(1024 * 1024);
function bytesNeeded(writes, valueBytes) {
  return 2 * valueBytes + (64 + 8 * writes) * pageSize;
}
var Room = class {
  #tables;
  #file;
  #size;
  constructor(tables, path) {
    this.#tables = tables, this.#file = openSync(path, "r+"), this.#size = fstatSync(this.#file).size;
  }
  /** Throws StoreFull unless a transaction that writes this much has room. `frees`: it may use what is spared. */
  ensure(bytes, { frees }) {
    let used = usedBytes(this.#tables), wanted = used + bytes + spareBytes;
    if (this.#size >= wanted) return;
    if (this.#grow(wanted + zeros.length), this.#size - used + freeBytes(this.#tables) / usableShare < (frees ? bytes : bytes + spareBytes)) throw new StoreFull(`no room for ${bytes} bytes of data`);
  }
  close() {
    closeSync(this.#file);
  }
  #grow(size) {
    try {
      for (; this.#size < size; ) this.#size += writeSync(this.#file, zeros, 0, zeros.length, this.#size);
    } catch (error) {
      if (!isFull(error)) throw error;
      this.#size = fstatSync(this.#file).size;
    }
  }
};
function isFull(error) {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}
function usedBytes({ root }) {
  let { env } = root;
  return (env.info().lastPageNumber + 1) * pageSize;
}
var usableShare = 4;
function freeBytes(tables) {
  let { root, current, history, log, expiry, meta } = tables, stats = [current, history, log, expiry, meta].map((table) => table.getStats());
  root.resetReadTxn();
  let held = [...stats, stats[0].root, stats[0].free].reduce(
    (sum, tree) => sum + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages,
    2
  );
  return Math.max(0, usedBytes(tables) - held * pageSize);
}

// src/store/lmdb/write.ts
function commitGroup(tables, state, batches) {
  return tables.root.transactionSync(() => {
    checkSoleWriter(tables, state);
    let revision = state.revision, replies = batches.map((batch) => {
      let reply = new Packer(Math.max(4096, batch.byteLength)), writes = new Unpacker(batch);
      for (; !writes.done; ) revision = commitOne(tables, revision, writes, reply);
      return reply.finish();
    }), next = { revision, oldest: state.oldest };
    return revision > state.revision && writeState(tables.meta, next), { state: next, replies };
  });
}
function checkSoleWriter({ meta }, state) {
  if (readState(meta).revision !== state.revision)
    throw new StoreError("another process has written to this data directory");
}
function commitOne(tables, revision, writes, reply) {
  let expected = writes.number(), deletes = writes.number() === 1, due = writes.number(), key = writes.bytes(), value = writes.bytes(), guarded = readGuards(tables, writes), held = tables.current.get(key), previous = held === void 0 ? 0 : readRevision(held, 0), next = previous === expected && guarded ? revision + 1 : revision;
  reply.number(next === revision ? 0 : next), reply.number(previous);
  let replaced = held && reply.bytes(held).subarray(8);
  return next !== revision && apply(tables, { revision: next, previous, replaced, key, value: deletes ? void 0 : value }), next !== revision && due > 0 && write(tables.expiry, dueKey(due, next), key), next;
}
function readGuards({ current }, writes) {
  let hold = !0;
  for (let left = writes.number(); left > 0; left--) {
    let revision = writes.number(), held = current.get(writes.bytes());
    (held === void 0 ? 0 : readRevision(held, 0)) !== revision && (hold = !1);
  }
  return hold;
}
function apply(tables, { revision, previous, replaced, key, value }) {
  let record = logRecord(previous, value === void 0, key, replaced ?? nothing);
  append(tables.log, revisionKey(revision), record), replaced && write(tables.history, versionKey(key, previous), revisionKey(revision)), value === void 0 ? remove(tables.current, key) : (writeRevision(value, revision, 0), write(tables.current, key, value));
}
var nothing = new Uint8Array(0), expiryStep = { records: 50, bytes: 1024 * 1024 };
function readDue({ expiry, current }, now) {
  let due = [];
  for (let { key, value } of expiry.getRange({ end: revisionKey(now + 1), limit: expiryStep.records }))
    due.push({ record: Buffer.from(key), key: Buffer.from(value) });
  let bytes = 0, reach = due.findIndex(({ key }, i) => (bytes += current.get(key)?.length ?? 0, i > 0 && bytes > expiryStep.bytes));
  return { due: reach === -1 ? due : due.slice(0, reach), bytes };
}
function expireStep(tables, state, due) {
  let changes = new Packer();
  return tables.root.transactionSync(() => {
    checkSoleWriter(tables, state);
    let { revision } = state;
    for (let { record, key } of due) {
      remove(tables.expiry, record);
      let held = tables.current.get(key), previous = readRevision(record, 8);
      if (held === void 0 || readRevision(held, 0) !== previous) continue;
      let replaced = packDeletion(changes, { revision: ++revision, previous, key, replaced: held.subarray(8) });
      apply(tables, { revision, previous, replaced, key, value: void 0 });
    }
    let next = { revision, oldest: state.oldest };
    return revision > state.revision && writeState(tables.meta, next), { state: next, changes: changes.finish() };
  });
}
function packDeletion(changes, { revision, previous, key, replaced }) {
  return changes.number(revision), changes.number(1), changes.bytes(key), changes.number(previous), changes.bytes(replaced);
}
var recordsAtATime = 64;
function compactStep(tables, state, { oldest, upTo, budgetMs }) {
  let end = performance.now() + budgetMs;
  return tables.root.transactionSync(() => {
    checkSoleWriter(tables, state);
    let next = { revision: state.revision, oldest: Math.max(state.oldest, oldest) };
    next.oldest !== state.oldest && writeState(tables.meta, next);
    let records = oldestRecords(tables, upTo);
    for (; records.length > 0; ) {
      for (let [key, record] of records) forget(tables, key, record);
      if (performance.now() >= end) break;
      records = oldestRecords(tables, upTo);
    }
    return { state: next, more: records.length > 0 };
  });
}
function oldestRecords({ log }, upTo) {
  let found = [];
  for (let { key, value } of log.getRange({ end: revisionKey(upTo + 1), limit: recordsAtATime }))
    found.push([key, readLogRecord(value)]);
  return found;
}
function forget({ log, history }, key, record) {
  remove(log, key), record.previous !== 0 && remove(history, versionKey(record.key, record.previous));
}

// src/store/lmdb/thread.ts
var compactionBudgetMs = 2, compactionPages = 16, StoreThread = class {
  #port;
  #tables;
  #room;
  #state;
  #failed;
  #commits = [];
  #others = [];
  constructor(port2, directory2) {
    this.#port = port2, this.#tables = openTables(directory2), this.#state = readState(this.#tables.meta), this.#room = new Room(this.#tables, join(directory2, "data.mdb"));
  }
  start() {
    this.#port.on("message", (request) => this.#work(request)), this.#answer(0, { ...this.#state });
  }
  #work(request) {
    for (this.#take(request); this.#commits.length > 0 || this.#others.length > 0; ) {
      this.#takeWaiting(), this.#commits.length > 0 && this.#commit();
      let other = this.#others.shift();
      other && this.#serve(other);
    }
  }
  #takeWaiting() {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port))
      this.#take(next.message);
  }
  #take(request) {
    request.type === "commit" ? this.#commits.push(request) : this.#others.push(request);
  }
  #commit() {
    let group = this.#commits;
    this.#commits = [];
    try {
      this.#assertSound();
      let batches = group.map(({ writes }) => writes);
      this.#room.ensure(roomFor(group), { frees: group.every(({ deletesOnly }) => deletesOnly) });
      let { state, replies } = commitGroup(this.#tables, this.#state, batches);
      this.#state = state;
      for (let [i, reply] of replies.entries()) this.#answerBlock(group[i].id, reply);
    } catch (error) {
      let failure = this.#failure(error);
      for (let { id } of group) this.#refuse(id, failure);
    }
  }
  #serve(request) {
    try {
      this.#run(request);
    } catch (error) {
      this.#refuse(request.id, this.#failure(error));
    } finally {
      request.type !== "close" && this.#tables.root.resetReadTxn();
    }
  }
  #run(request) {
    switch (request.type) {
      case "get":
        this.#answerBlock(request.id, getEntry(this.#tables, request.key));
        break;
      case "list":
        this.#list(request);
        break;
      case "count":
        this.#answer(request.id, countEntries(this.#tables, this.#state.revision, request.range));
        break;
      case "log":
        this.#answerBlock(request.id, readLog(this.#tables, request.after, request.limit));
        break;
      case "compact":
        this.#compact(request);
        break;
      case "expire":
        this.#expire(request);
        break;
      case "close":
        this.#close(request.id);
    }
  }
  #list({ id, range, limit }) {
    let reply = listEntries(this.#tables, this.#state.revision, range, limit);
    this.#answer(id, reply, [reply.entries]);
  }
  #compact({ id, oldest, upTo }) {
    this.#assertSound(), this.#room.ensure(bytesNeeded(compactionPages, 0), { frees: !0 });
    let { state, more } = compactStep(this.#tables, this.#state, { oldest, upTo, budgetMs: compactionBudgetMs });
    this.#state = state, this.#answer(id, { more });
  }
  #expire({ id, now }) {
    let { due, bytes } = readDue(this.#tables, now);
    if (due.length === 0) {
      this.#answer(id, void 0);
      return;
    }
    this.#assertSound(), this.#room.ensure(bytesNeeded(due.length, bytes), { frees: !0 });
    let { state, changes } = expireStep(this.#tables, this.#state, due);
    this.#state = state, this.#answerBlock(id, changes);
  }
  #close(id) {
    this.#room.close(), this.#tables.root.close().then(
      () => this.#answer(id, void 0),
      (error) => this.#refuse(id, this.#failure(error))
    );
  }
  #answerBlock(id, block) {
    this.#answer(id, block, [block]);
  }
  #answer(id, result, transfer = []) {
    this.#port.postMessage({ id, result }, transfer);
  }
  #refuse(id, failure) {
    this.#port.postMessage({ id, failure });
  }
  #failure(error) {
    let failure = toFailure(error);
    return failure.kind === "failed" && (this.#failed ??= failure), failure;
  }
  #assertSound() {
    if (this.#failed) throw new StoreError(`nothing is written any more: ${this.#failed.message}`);
  }
};
function roomFor(group) {
  let writes = group.reduce((sum, { count }) => sum + count, 0), bytes = group.reduce((sum, request) => sum + request.writes.byteLength, 0);
  return bytesNeeded(writes, bytes);
}
var fullCodes = [28, 122, -30792], failedCodes = [5, -30795];
function toFailure(error) {
  let message = error instanceof Error ? error.message : String(error), code = error instanceof Error && "code" in error ? Number(error.code) : Number.NaN;
  return error instanceof StoreFull ? { kind: "full", message } : error instanceof StoreError ? { kind: "error", message } : message.includes("MDB_PANIC") ? { kind: "failed", message: `the data file failed: ${message}` } : fullCodes.includes(code) ? { kind: "full", message: `no room for the data: ${message}` } : failedCodes.includes(code) ? { kind: "failed", message: `the data file failed: ${message}` } : { kind: "error", message: `the data file: ${message}` };
}
var { port, directory } = workerData;
try {
  new StoreThread(port, directory).start();
} catch (error) {
  port.postMessage({ id: 0, failure: toFailure(error) }), port.close();
}
