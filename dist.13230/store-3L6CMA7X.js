import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  Tail,
  assertKey,
  assertWrite
} from "./chunk-CBUB4TCL.js";
import {
  RevisionAhead,
  RevisionGone,
  StoreError,
  StoreFull,
  ValueTooLarge
} from "./chunk-QUS7FO4W.js";
import {
  WireReader,
  WireWriter
} from "./chunk-EPZHDLNM.js";
import "./chunk-K3AUPHIL.js";

// src/base/shared-lookup.ts
var SharedLookup = class {
  #current;
  #next;
  #look;
  #patienceMs;
  constructor(look, patienceMs2 = 100) {
    this.#look = look, this.#patienceMs = patienceMs2;
  }
  ask() {
    return this.#current === void 0 ? this.#begin() : (this.#next ??= this.#beginAfter(this.#current), this.#next);
  }
  #begin() {
    let look = this.#look().finally(() => {
      this.#current === look && (this.#current = void 0);
    });
    return this.#current = look, look;
  }
  async #beginAfter(current) {
    return await settledOr(current, this.#patienceMs), this.#next = void 0, this.#begin();
  }
};
function settledOr(promise, ms) {
  return new Promise((resolve) => {
    let timer = setTimeout(resolve, ms), done = () => {
      clearTimeout(timer), resolve();
    };
    promise.then(done, done);
  });
}

// src/store/etcd/grpc.ts
var status = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16
}, CallError = class extends Error {
  name = "CallError";
  /** The gRPC status; undefined: the transport failed before there was one. */
  code;
  /** False when the request surely never reached the member. */
  sent;
  constructor(message, options) {
    super(message, options), this.code = options.code, this.sent = options.sent;
  }
};
function seal(framed) {
  return framed[0] = 0, framed.writeUInt32BE(framed.length - 5, 1), framed;
}
var MessageCutter = class {
  #pending = [];
  #length = 0;
  /** Takes a chunk and returns the messages that are complete with it. */
  push(chunk) {
    this.#pending.push(chunk), this.#length += chunk.length;
    let messages = [];
    for (; this.#length >= 5; ) {
      let size = this.#nextSize();
      if (this.#length < 5 + size) break;
      messages.push(this.#shift(5 + size).subarray(5));
    }
    return messages;
  }
  #nextSize() {
    let head = this.#pending[0].length >= 5 ? this.#pending[0] : this.#join();
    if (head[0] !== 0) throw new CallError("a compressed message, which was not asked for", { sent: !0 });
    let size = head.readUInt32BE(1);
    if (size > 67108864) throw new MessageTooLarge(size);
    return size;
  }
  #shift(count) {
    let all = this.#join();
    return this.#pending = count === all.length ? [] : [all.subarray(count)], this.#length -= count, all.subarray(0, count);
  }
  // Called when a message is complete or its header is split, so the bytes of a message are joined once.
  #join() {
    let all = this.#pending.length === 1 ? this.#pending[0] : Buffer.concat(this.#pending);
    return this.#pending = [all], all;
  }
}, MessageTooLarge = class extends CallError {
  constructor(size) {
    super(`an answer of ${size} bytes is over the limit of 67108864`, { sent: !0 });
  }
};
function failureOf(headers) {
  let code = headers["grpc-status"];
  if (!(code === void 0 || code === "0"))
    return new CallError(decodeMessage(String(headers["grpc-message"] ?? `gRPC status ${code}`)), {
      code: Number(code),
      sent: !0
    });
}
function decodeMessage(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
function timeoutHeader(ms) {
  return `${Math.max(1, Math.ceil(ms))}m`;
}

// src/store/etcd/failure.ts
var requestLimit = 1572864, compacted = "etcdserver: mvcc: required revision has been compacted", future = "etcdserver: mvcc: required revision is a future revision", noSpace = "etcdserver: mvcc: database space exceeded", tooLarge = "etcdserver: request is too large", noLease = "etcdserver: requested lease not found";
function isCompacted(error) {
  return error instanceof CallError && error.code === status.outOfRange && error.message === compacted;
}
function isFuture(error) {
  return error instanceof CallError && error.code === status.outOfRange && error.message === future;
}
function isFull(error) {
  return error instanceof CallError && error.code === status.resourceExhausted && error.message === noSpace;
}
function isLeaseGone(error) {
  return error instanceof CallError && error.code === status.notFound && error.message === noLease;
}
function readFailure(error) {
  return error instanceof StoreError ? error : new StoreError(`etcd: ${textOf(error)}`, { cause: error });
}
function noteFailure(error) {
  return isFull(error) ? new StoreFull("etcd has no space left: writes are refused", { cause: error }) : readFailure(error);
}
function writeFailure(error, size) {
  return error instanceof StoreError ? error : isTooLarge(error) ? new ValueTooLarge(size, requestLimit) : isFull(error) ? new StoreFull(`etcd: ${textOf(error)}`, { cause: error, ambiguous: !0 }) : new StoreError(`etcd: ${textOf(error)}`, { cause: error, ambiguous: mayHaveHappened(error) });
}
function isTooLarge(error) {
  return error instanceof CallError ? error.code === status.invalidArgument ? error.message === tooLarge : error.code === status.resourceExhausted && error.message.includes("message larger than max") : !1;
}
var refusals = [
  status.invalidArgument,
  status.notFound,
  status.permissionDenied,
  status.failedPrecondition,
  status.outOfRange,
  status.unimplemented,
  status.unauthenticated
];
function mayHaveHappened(error) {
  return error instanceof CallError ? error.sent ? error.code === void 0 ? !0 : error.message === "etcdserver: no leader" || error.message === "etcdserver: too many requests" ? !1 : !refusals.includes(error.code) : !1 : !0;
}
function textOf(error) {
  return error instanceof Error ? error.message : String(error);
}

// src/store/etcd/messages.ts
var methods = {
  range: "/etcdserverpb.KV/Range",
  put: "/etcdserverpb.KV/Put",
  txn: "/etcdserverpb.KV/Txn",
  compact: "/etcdserverpb.KV/Compact",
  grantLease: "/etcdserverpb.Lease/LeaseGrant",
  watch: "/etcdserverpb.Watch/Watch",
  status: "/etcdserverpb.Maintenance/Status"
};
function encodeRange(request) {
  return encode((writer) => writeRange(writer, request));
}
function encodePut(key, value) {
  return encode((writer) => writePut(writer, key, value));
}
function encodeSwap({ key, compare, value, lease, guards }) {
  return encode(
    (writer) => {
      writer.message(1, (inner) => writeCompare(inner, key, compare));
      for (let guard of guards ?? []) writer.message(1, (inner) => writeCompare(inner, guard.key, guard.compare));
      writer.message(2, (op) => {
        value === void 0 ? op.message(3, (deletion) => deletion.bytes(1, key)) : op.message(2, (put) => writePut(put, key, value, lease));
      }), writer.message(3, (op) => op.message(1, (range) => writeRange(range, { key })));
    },
    (value?.length ?? 0) + 3 * key.length
  );
}
function encodeCompact(revision) {
  return encode((writer) => writer.integer(1, revision));
}
function encodeLeaseGrant(seconds) {
  return encode((writer) => writer.integer(1, seconds));
}
function encodeWatch({ key, end, start }) {
  return encode(
    (writer) => writer.message(1, (create) => {
      create.bytes(1, key), create.bytes(2, end), create.integer(3, start), create.bool(6, !0), create.bool(8, !0);
    })
  );
}
function encodeStatus() {
  return encode(() => {
  });
}
function encode(write, payload = 0) {
  let writer = new WireWriter(5, payload + 256);
  return write(writer), seal(writer.finish());
}
function writeRange(writer, { key, end, limit, revision, countOnly: countOnly2 }) {
  writer.bytes(1, key), end !== void 0 && writer.bytes(2, end), limit !== void 0 && writer.integer(3, limit), revision !== void 0 && writer.integer(4, revision), countOnly2 && writer.bool(9, !0);
}
function writePut(writer, key, value, lease) {
  writer.bytes(1, key), writer.bytes(2, value), lease !== void 0 && writer.integer(3, lease);
}
function writeCompare(writer, key, { target, equals }) {
  writer.integer(1, 0), writer.integer(2, target === "version" ? 0 : 2), writer.bytes(3, key), writer.integer(target === "version" ? 4 : 6, equals);
}
function decodeRange(bytes) {
  return readRange(new WireReader(bytes));
}
function readRange(reader) {
  let response = { revision: 0, entries: [], count: 0 };
  for (let field = reader.next(); field !== 0; field = reader.next())
    field === 1 ? response.revision = readHeader(reader.message()).revision : field === 2 ? response.entries.push(readKeyValue(reader.message())) : field === 4 ? response.count = reader.int64() : reader.skip();
  return response;
}
function decodeHeaderOnly(bytes) {
  let reader = new WireReader(bytes), revision = 0;
  for (let field = reader.next(); field !== 0; field = reader.next())
    field === 1 ? revision = readHeader(reader.message()).revision : reader.skip();
  return revision;
}
function decodeLeaseGrant(bytes) {
  let reader = new WireReader(bytes), id = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next())
    field === 2 ? id = reader.int64Big() : reader.skip();
  return id;
}
function decodeSwap(bytes) {
  let reader = new WireReader(bytes), response = { revision: 0, succeeded: !1, current: void 0 };
  for (let field = reader.next(); field !== 0; field = reader.next())
    field === 1 ? response.revision = readHeader(reader.message()).revision : field === 2 ? response.succeeded = reader.bool() : field === 3 ? response.current = readOperation(reader.message()) : reader.skip();
  return response;
}
function readOperation(reader) {
  let entry;
  for (let field = reader.next(); field !== 0; field = reader.next())
    field === 1 ? entry = readRange(reader.message()).entries[0] : reader.skip();
  return entry;
}
function decodeWatch(bytes) {
  let reader = new WireReader(bytes), response = {
    created: !1,
    canceled: !1,
    compactRevision: 0,
    reason: "",
    fragment: !1,
    events: []
  };
  for (let field = reader.next(); field !== 0; field = reader.next())
    field === 3 ? response.created = reader.bool() : field === 4 ? response.canceled = reader.bool() : field === 5 ? response.compactRevision = reader.int64() : field === 6 ? response.reason = reader.string() : field === 7 ? response.fragment = reader.bool() : field === 11 ? response.events.push(readEvent(reader.message())) : reader.skip();
  return response;
}
function readEvent(reader) {
  let event = { deleted: !1, entry: emptyKeyValue(), previous: void 0 };
  for (let field = reader.next(); field !== 0; field = reader.next())
    field === 1 ? event.deleted = reader.int32() === 1 : field === 2 ? event.entry = readKeyValue(reader.message()) : field === 3 ? event.previous = readKeyValue(reader.message()) : reader.skip();
  return event;
}
function decodeStatus(bytes) {
  let reader = new WireReader(bytes), response = { clusterId: 0n, version: "", leader: 0n, learner: !1 };
  for (let field = reader.next(); field !== 0; field = reader.next())
    field === 1 ? response.clusterId = readClusterId(reader.message()) : field === 2 ? response.version = reader.string() : field === 4 ? response.leader = reader.uint64Big() : field === 10 ? response.learner = reader.bool() : reader.skip();
  return response;
}
function readClusterId(reader) {
  let id = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next())
    field === 1 ? id = reader.uint64Big() : reader.skip();
  return id;
}
function readHeader(reader) {
  let revision = 0;
  for (let field = reader.next(); field !== 0; field = reader.next())
    field === 3 ? revision = reader.int64() : reader.skip();
  return { revision };
}
function readKeyValue(reader) {
  let entry = emptyKeyValue();
  for (let field = reader.next(); field !== 0; field = reader.next())
    field === 1 ? entry.key = textOf2(reader.view()) : field === 2 ? entry.createRevision = reader.int64() : field === 3 ? entry.modRevision = reader.int64() : field === 4 ? entry.version = reader.int64() : field === 5 ? entry.value = reader.bytes() : reader.skip();
  return entry;
}
function emptyKeyValue() {
  return { key: "", createRevision: 0, modRevision: 0, version: 0, value: new Uint8Array(0) };
}
function textOf2(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

// src/store/etcd/compactor.ts
var longestTimerMs = 2 ** 31 - 1, Compactor = class {
  /** Why the last period came to nothing; undefined: it did not. */
  failure;
  /** How often the note had been written when we last saw it. */
  #version = 0;
  #seen;
  #stopped = !1;
  #timer;
  #options;
  constructor(options) {
    this.#options = options, this.#schedule();
  }
  stop() {
    this.#stopped = !0, clearTimeout(this.#timer);
  }
  #schedule() {
    if (this.#stopped) return;
    let ms = Math.min(this.#options.historyMs, longestTimerMs);
    this.#timer = setTimeout(() => {
      this.#period().then(() => this.#schedule());
    }, ms), this.#timer.unref();
  }
  // A period that fails is made up for by the next, of this server or another.
  async #period() {
    try {
      let target = this.#seen;
      this.#seen = await this.#options.revision(), await this.#win(this.#seen) && target !== void 0 && await this.#options.compact(target), this.failure = void 0;
    } catch (error) {
      this.failure = readFailure(error);
    }
  }
  async #win(revision) {
    let { connection, space } = this.#options, request = encodeSwap({
      key: space.note("compact"),
      compare: { target: "version", equals: this.#version },
      value: Buffer.from(String(revision))
    });
    try {
      let { succeeded, current } = decodeSwap(await connection.call(methods.txn, request, { effect: "write" }));
      return this.#version = succeeded ? this.#version + 1 : current?.version ?? 0, succeeded;
    } catch (error) {
      if (isFull(error)) return !0;
      throw error;
    }
  }
};

// src/store/etcd/connection.ts
import { setTimeout as delay } from "node:timers/promises";

// src/store/etcd/session.ts
import * as http2 from "node:http2";
var pingAnswerMs = 1500, calls = { silenceMs: 1500, pingSpacingMs: 6e3 }, watches = { silenceMs: 15e3, pingSpacingMs: 15e3 }, windowBytes = 2 * 1024 * 1024, maxSessionMemory = 1024, Session = class _Session {
  endpoint;
  #heard = performance.now();
  #pinged = 0;
  #calls = 0;
  #streams = 0;
  #watchdog;
  #http;
  /** Resolves when the member has accepted the connection, TLS included. */
  static async open({ endpoint, tls, connectMs, signal }) {
    let http = http2.connect(endpoint, {
      ...tls,
      maxSessionMemory,
      settings: { initialWindowSize: windowBytes, enablePush: !1 }
    });
    return await connected(http, connectMs, signal), http.setLocalWindowSize(8 * windowBytes), new _Session(endpoint, http);
  }
  constructor(endpoint, http) {
    this.endpoint = endpoint, this.#http = http, http.on("error", () => this.destroy()), http.on("close", () => clearInterval(this.#watchdog)), this.#watchdog = setInterval(() => this.#checkSilence(), 500), this.#watchdog.unref();
  }
  /** False once no new call can be made: closed, or the member has announced that it is going away. */
  get usable() {
    return !this.#http.closed && !this.#http.destroyed;
  }
  /** True once nothing is left of it, not even calls under way. */
  get gone() {
    return this.#http.destroyed;
  }
  /** One request, one answer, before `deadline` (on the monotonic clock). */
  call(method, request, deadline) {
    return new Promise((resolve, reject) => {
      let left = Math.max(0, deadline - performance.now()), stream = this.#request(method, { "grpc-timeout": timeoutHeader(left) }), answer = new Answer(), timer = setTimeout(() => answer.fail(late()), left), settle = () => {
        if (clearTimeout(timer), this.#calls--, !answer.failure) return resolve(answer.message);
        stream.close(http2.constants.NGHTTP2_CANCEL), reject(answer.failure);
      };
      answer.onSettled = settle, this.#calls++, stream.on("response", (headers) => {
        this.#heard = performance.now(), answer.headers(headers);
      }), stream.on("data", (chunk) => {
        this.#heard = performance.now(), answer.data(chunk);
      }), stream.on("trailers", (headers) => answer.trailers(headers)), stream.on("end", () => answer.end()), stream.on("error", (error) => answer.settled || answer.fail(broken(error, stream.rstCode))), stream.on("close", () => answer.settled || answer.fail(broken(void 0, stream.rstCode))), stream.end(request);
    });
  }
  /** One request, then messages until the member ends the stream or `signal` aborts. */
  async *stream(method, request, signal) {
    if (signal.aborted) return;
    let stream = this.#request(method, {}), cancel = () => stream.close(http2.constants.NGHTTP2_CANCEL), cutter = new MessageCutter();
    stream.on("error", () => {
    });
    let failure;
    stream.on("response", (headers) => {
      failure = failureOf(headers) ?? httpFailure(headers);
    }), stream.on("trailers", (headers) => {
      failure = failureOf(headers);
    }), signal.addEventListener("abort", cancel), this.#streams++;
    try {
      stream.write(request);
      for await (let chunk of stream)
        this.#heard = performance.now(), yield* cutter.push(chunk);
      if (!signal.aborted) throw failure ?? new CallError("the stream was ended by the member", { sent: !0 });
    } catch (error) {
      if (signal.aborted) return;
      throw failure ?? (error instanceof CallError ? error : broken(error, stream.rstCode));
    } finally {
      this.#streams--, signal.removeEventListener("abort", cancel), stream.closed || cancel();
    }
  }
  /** Takes no new calls; ends when those under way have ended. */
  retire() {
    this.usable && this.#http.close();
  }
  /** Ends the session at once, and everything under way on it. */
  destroy() {
    clearInterval(this.#watchdog), this.#http.destroy();
  }
  #request(method, extra) {
    try {
      return this.#http.request({
        ":method": "POST",
        ":path": method,
        "content-type": "application/grpc",
        te: "trailers",
        // A member that has lost its leader then says so instead of letting the call wait.
        hasleader: "true",
        ...extra
      });
    } catch (cause) {
      throw new CallError("the session is closed", { cause, sent: !1 });
    }
  }
  // A member is only asked when something is under way and nothing has been heard: that tells a dead one from a slow one.
  #checkSilence() {
    if (this.#calls + this.#streams === 0) return;
    let { silenceMs, pingSpacingMs } = this.#calls > 0 ? calls : watches, now = performance.now();
    if (now - this.#heard < silenceMs || now - this.#pinged < pingSpacingMs) return;
    this.#pinged = now;
    let answered = !1, timer = setTimeout(() => setImmediate(() => answered || this.destroy()), pingAnswerMs);
    timer.unref(), !this.gone && this.#http.ping(() => {
      answered = !0, clearTimeout(timer);
    }) || clearTimeout(timer);
  }
}, Answer = class {
  message;
  failure;
  onSettled = () => {
  };
  settled = !1;
  #ended = !1;
  #status = "pending";
  #cutter = new MessageCutter();
  headers(headers) {
    let failure = failureOf(headers) ?? httpFailure(headers);
    failure && this.fail(failure);
  }
  data(chunk) {
    try {
      for (let message of this.#cutter.push(chunk)) this.message ??= message;
    } catch (error) {
      this.fail(error);
    }
  }
  trailers(headers) {
    let failure = failureOf(headers);
    failure ? this.fail(failure) : headers["grpc-status"] === "0" && (this.#status = "ok"), this.#ended && this.end();
  }
  end() {
    this.#ended = !0, this.#status === "ok" && this.message !== void 0 && this.#settle();
  }
  fail(error) {
    this.settled || (this.failure = error, this.#settle());
  }
  #settle() {
    this.settled || (this.settled = !0, this.onSettled());
  }
};
function connected(http, connectMs, signal) {
  return new Promise((resolve, reject) => {
    let giveUp = () => http.destroy(new Error(`no connection within ${connectMs} ms`)), stop = () => http.destroy(), timer = setTimeout(giveUp, connectMs);
    signal.addEventListener("abort", stop);
    let settle = (settled) => {
      clearTimeout(timer), signal.removeEventListener("abort", stop), settled();
    }, fail = (cause) => {
      let message = cause ? explain(cause) : "the connection was closed";
      settle(() => reject(new CallError(message, { cause, sent: !1 })));
    };
    http.on("error", fail), http.on("close", fail), http.once("connect", () => settle(resolve));
  });
}
function explain(error) {
  return typeof error.reason == "string" ? `the TLS handshake failed: ${error.reason}` : /^(UNABLE_TO_|CERT_|SELF_SIGNED_|DEPTH_|ERR_TLS_CERT_)/.test(String(error.code)) ? `its certificate is not accepted: ${error.code}` : error.message;
}
function httpFailure(headers) {
  let code = Number(headers[":status"]), type = String(headers["content-type"] ?? "");
  if (!(code === 200 && type.startsWith("application/grpc")))
    return new CallError(`not a gRPC answer: HTTP status ${code}, content type '${type}'`, { sent: !0 });
}
function broken(cause, rstCode) {
  let refused = rstCode === http2.constants.NGHTTP2_REFUSED_STREAM, message = cause instanceof Error ? explain(cause) : "the connection was lost before the answer";
  return new CallError(message, { cause, sent: !refused });
}
function late() {
  return new CallError("no answer before the deadline", { sent: !0 });
}

// src/store/etcd/connection.ts
var firstPauseMs = 50, longestPauseMs = 1e3, Connection = class {
  deadlineMs;
  #endpoints;
  #tls;
  #closing = new AbortController();
  /** Every session that is open; the current one is for new calls, others finish what is under way. */
  #sessions = /* @__PURE__ */ new Set();
  #current;
  #connecting;
  /** The member to try next. */
  #turn = 0;
  #failures = 0;
  /** Why the last round over the members failed. */
  #refusal;
  #clusterId;
  constructor({ endpoints, tls, deadlineMs }) {
    if (endpoints.length === 0) throw new StoreError("no etcd endpoints");
    this.#endpoints = endpoints.map((endpoint) => parseEndpoint(endpoint, tls)), this.#tls = tls, this.deadlineMs = deadlineMs;
  }
  get signal() {
    return this.#closing.signal;
  }
  /** One request and its answer. Throws CallError: what it means for the store is said in failure.ts. */
  async call(method, request, options) {
    let { effect, deadline = performance.now() + this.deadlineMs } = options;
    for (let attempt = 0; ; attempt++) {
      let session = await this.#acquire(deadline);
      try {
        return await session.call(method, request, deadline);
      } catch (error) {
        if (!(error instanceof CallError) || !mayRepeat(error, effect) || performance.now() + pauseMs(attempt) >= deadline || this.signal.aborted) throw error;
        this.#leave(session), await this.#pause(pauseMs(attempt));
      }
    }
  }
  /** One request and a stream of messages, until the member ends it or `signal` aborts. Never tried again. */
  async *stream(method, request, signal) {
    let session = await this.#acquire(performance.now() + this.deadlineMs);
    try {
      yield* session.stream(method, request, AbortSignal.any([signal, this.signal]));
    } catch (error) {
      throw error instanceof CallError && mayRepeat(error, "read") && this.#leave(session), error;
    }
  }
  /** Gives up the member in use, so that the next call goes to another one. */
  moveOn() {
    this.#current && this.#leave(this.#current);
  }
  close() {
    this.#closing.abort();
    for (let session of this.#sessions) session.destroy();
    this.#sessions.clear(), this.#current = void 0;
  }
  async #acquire(deadline) {
    for (; ; ) {
      if (this.signal.aborted) throw new CallError("the connection is closed", { sent: !1 });
      if (this.#current?.usable) return this.#current;
      this.#forgetDead(), this.#connecting ??= this.#connect().finally(() => {
        this.#connecting = void 0;
      });
      try {
        return await this.#within(this.#connecting, deadline);
      } catch (error) {
        let pause = pauseMs(this.#failures);
        if (performance.now() + pause >= deadline) throw error;
        await this.#pause(pause);
      }
    }
  }
  async #within(connecting, deadline) {
    let timer, late2 = new Promise((_, reject) => {
      let before = this.#refusal ? `; before that: ${this.#refusal}` : "", error = new CallError(`no connection to etcd before the deadline${before}`, { sent: !1 });
      timer = setTimeout(() => reject(error), Math.max(0, deadline - performance.now()));
    });
    try {
      return await Promise.race([connecting, late2]);
    } finally {
      clearTimeout(timer);
    }
  }
  /** One round over the members; the first that serves is the current one from now on. */
  async #connect() {
    let reasons = [];
    for (let i = 0; i < this.#endpoints.length; i++) {
      let endpoint = this.#endpoints[this.#turn % this.#endpoints.length];
      try {
        let session = await this.#enter(endpoint);
        return this.#failures = 0, this.#refusal = void 0, session;
      } catch (error) {
        this.#turn++, reasons.push(`${endpoint.origin}: ${error instanceof Error ? error.message : String(error)}`);
      }
      if (this.signal.aborted) break;
    }
    throw this.#failures++, this.#refusal = `no member of etcd can be used: ${reasons.join("; ")}`, new CallError(this.#refusal, { sent: !1 });
  }
  async #enter(endpoint) {
    let connectMs = Math.max(500, this.deadlineMs / 2 / this.#endpoints.length), session = await Session.open({ endpoint, tls: this.#tls, connectMs, signal: this.signal });
    try {
      await this.#inspect(session, performance.now() + connectMs);
    } catch (error) {
      throw session.destroy(), error;
    }
    return this.#sessions.add(session), this.#current = session, session;
  }
  async #inspect(session, deadline) {
    let member = decodeStatus(await session.call(methods.status, encodeStatus(), deadline));
    if (this.signal.aborted) throw new CallError("the connection is closed", { sent: !1 });
    if (member.leader === 0n) throw new CallError("the member knows no leader", { sent: !1 });
    if (member.learner) throw new CallError("the member is a learner", { sent: !1 });
    if (this.#clusterId ??= member.clusterId, member.clusterId !== this.#clusterId)
      throw new CallError("the member belongs to another cluster than those before it", { sent: !1 });
  }
  // With one member there is nowhere to go while its session still works.
  #leave(session) {
    this.#current !== session || session.usable && this.#endpoints.length === 1 || (this.#current = void 0, this.#turn++, session.retire());
  }
  #forgetDead() {
    for (let session of this.#sessions) session.gone && this.#sessions.delete(session);
  }
  async #pause(ms) {
    await delay(ms, void 0, { signal: this.signal }).catch(() => {
      throw new CallError("the connection is closed", { sent: !1 });
    });
  }
};
function mayRepeat(error, effect) {
  return error instanceof MessageTooLarge ? !1 : !error.sent || refusedUpFront(error) ? !0 : effect === "read" && (error.code === void 0 || error.code === status.unavailable);
}
function refusedUpFront(error) {
  return error.code === status.unavailable ? error.message === "etcdserver: no leader" : error.code === status.resourceExhausted && error.message === "etcdserver: too many requests";
}
function parseEndpoint(endpoint, tls) {
  let text = endpoint.includes("://") ? endpoint : `${tls ? "https" : "http"}://${endpoint}`, url = URL.canParse(text) ? new URL(text) : void 0;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "" || url.pathname !== "/")
    throw new StoreError(`not an etcd endpoint: ${JSON.stringify(endpoint.slice(0, 200))}`);
  return url;
}
function pauseMs(failures) {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 10)) * (0.75 + Math.random() / 4);
}

// src/store/etcd/feed.ts
import { setTimeout as delay2 } from "node:timers/promises";

// src/store/etcd/watch.ts
async function* watchFrom(connection, space, { after, signal }) {
  if (space.etcdRevision(after) < 1) throw new RevisionGone(after, space.revision(1));
  let request = encodeWatch({ ...space.everything(), start: space.etcdRevision(after) + 1 }), first = !0, held = [];
  try {
    for await (let message of connection.stream(methods.watch, request, signal)) {
      let response = decodeWatch(message);
      if (response.compactRevision > 0) throw new RevisionGone(after, space.revision(response.compactRevision));
      if (response.canceled) throw new StoreError(`etcd: the watch was ended: ${response.reason}`);
      let events = held.concat(response.events), whole = response.fragment ? wholeRevisions(events) : events.length;
      held = events.slice(whole), whole !== 0 && (first && await assertKept(connection, space, after), first = !1, yield toBatch(space, events.slice(0, whole)));
    }
  } catch (error) {
    throw readFailure(error);
  }
}
async function assertKept(connection, space, after) {
  let request = encodeRange({ key: space.note("tick"), countOnly: !0, revision: space.etcdRevision(after) });
  try {
    await connection.call(methods.range, request, { effect: "read" });
  } catch (error) {
    throw isCompacted(error) ? new RevisionGone(after, after + 1) : error;
  }
}
function wholeRevisions(events) {
  let last = events.at(-1)?.entry.modRevision;
  return events.findIndex((event) => event.entry.modRevision === last);
}
function toBatch(space, events) {
  let through = space.revision(events.at(-1).entry.modRevision);
  for (let event of events) assertPrevious(space, event, through);
  for (let event of events) if (space.isOffset(event.entry)) throw new OffsetChanged();
  return { changes: events.filter((event) => !space.isNote(event.entry)).map((event) => space.change(event)), through };
}
var OffsetChanged = class extends StoreError {
  constructor() {
    super("the store was restored or migrated while it was open: open it again");
  }
};
function assertPrevious(space, { deleted, entry, previous }, through) {
  if ((deleted || entry.createRevision !== entry.modRevision) && previous === void 0) throw new RevisionGone(space.revision(entry.modRevision - 1), through);
}

// src/store/etcd/feed.ts
var pauses = [20, 50, 100, 200, 500, 1e3], Feed = class {
  tail;
  /** The revision of the last change of a key; as long as there was none, that of the beginning. */
  newest;
  /** True once `tail.revision` is a revision that etcd's watch tells, and not merely the beginning. */
  anchored = !1;
  #failure;
  #waiting = /* @__PURE__ */ new Set();
  #options;
  #stopping = new AbortController();
  #done;
  constructor(options) {
    this.#options = options, this.tail = new Tail(options.revision), this.newest = options.revision, this.#done = this.#run();
  }
  /** Why the feed stands still or has ended; undefined while it flows. */
  get failure() {
    return this.#failure;
  }
  /** Resolves to whether the feed has told everything up to `revision`, at the latest after `ms`. */
  async reached(revision, ms) {
    let deadline = performance.now() + ms;
    for (; this.tail.revision < revision && !this.#stopping.signal.aborted; ) {
      let left = deadline - performance.now();
      if (left <= 0) return !1;
      await this.#more(left);
    }
    return this.tail.revision >= revision;
  }
  /** Ends the feed and all readers of its tail. */
  async stop(reason) {
    this.#end(reason), await this.#done;
  }
  #end(reason) {
    this.#failure = reason, this.#stopping.abort(), this.tail.end(reason), this.#wake();
  }
  async #run() {
    let { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await this.#follow(() => {
          failures = 0;
        });
      } catch (error) {
        this.#failure = readFailure(error), error instanceof OffsetChanged && this.#end(error), error instanceof RevisionGone && await this.#beginAnew(error);
      }
      let pause = pauses[Math.min(failures, pauses.length - 1)];
      await delay2(pause, void 0, { signal }).catch(() => {
      });
    }
  }
  async #follow(onBatch) {
    let { connection, space } = this.#options, after = this.tail.revision;
    for await (let batch of watchFrom(connection, space, { after, signal: this.#stopping.signal }))
      this.#failure = void 0, onBatch(), this.#take(batch);
  }
  #take({ changes, through }) {
    let last = changes.at(-1);
    last && (this.newest = last.revision), this.anchored = !0, last && this.tail.append(changes), this.tail.advance(through), this.#wake();
  }
  async #beginAnew(gone) {
    try {
      let revision = await this.#options.present();
      this.tail.end(gone), this.tail = new Tail(revision), this.newest = revision, this.anchored = !1, this.#wake();
    } catch (error) {
      this.#failure = readFailure(error);
    }
  }
  #more(ms) {
    return new Promise((resolve) => {
      let done = () => {
        clearTimeout(timer), this.#waiting.delete(done), resolve();
      }, timer = setTimeout(done, ms);
      this.#waiting.add(done);
    });
  }
  #wake() {
    for (let done of [...this.#waiting]) done();
  }
};

// src/store/etcd/history.ts
var History = class {
  #batches;
  /** The revision of the last change handed out. */
  #after = -1;
  /** Every change up to here has been handed out, and there may be none at it. */
  #through = -1;
  #connection;
  #space;
  #signal;
  constructor(connection, space, signal) {
    this.#connection = connection, this.#space = space, this.#signal = signal;
  }
  /** Changes after a revision; none: there are none up to `meeting`, which must be a revision that the watch tells. */
  async read(after, meeting) {
    for ((this.#batches === void 0 || this.#after !== after) && await this.#restart(after); this.#through < meeting; ) {
      let { value, done } = await this.#batches.next();
      if (done) return [];
      if (this.#through = value.through, value.changes.length !== 0)
        return this.#after = value.changes.at(-1).revision, value.changes;
    }
    return [];
  }
  async close() {
    await this.#batches?.return(void 0);
  }
  async #restart(after) {
    await this.close(), this.#after = after, this.#through = after, this.#batches = watchFrom(this.#connection, this.#space, { after, signal: this.#signal });
  }
};

// src/store/etcd/key-space.ts
var KeySpace = class {
  prefix;
  /** What is added to etcd's revision. Restoring and migrating raise it, so that no revision is ever reused. */
  offset;
  constructor(prefix, offset) {
    if (prefix === "" || prefix.includes("\0")) throw new StoreError(`not an etcd prefix: ${JSON.stringify(prefix)}`);
    if (!Number.isSafeInteger(offset) || offset < 0) throw new StoreError(`not a revision offset: ${offset}`);
    this.prefix = prefix, this.offset = offset;
  }
  key(key) {
    return Buffer.from(this.prefix + key);
  }
  note(name) {
    return Buffer.from(`${this.prefix}\0${name}`);
  }
  /** A note of ours, or a stranger's write to the bare prefix: no key of the contract. */
  isNote(entry) {
    return entry.key.length === this.prefix.length || entry.key.charCodeAt(this.prefix.length) === 0;
  }
  isOffset(entry) {
    return entry.key === `${this.prefix}\0offset`;
  }
  /** Everything under the prefix, notes included. */
  everything() {
    let key = Buffer.from(this.prefix);
    return { key, end: endOf(key) };
  }
  /** The keys that start with `prefix` and come after `after`. No key is empty, so `\x01` is where keys begin. */
  range(prefix, after) {
    let stem = this.key(prefix), first = prefix === "" ? this.key("") : stem, next = after === void 0 ? first : this.key(`${after}\0`);
    return { key: Buffer.compare(next, first) > 0 ? next : first, end: endOf(stem) };
  }
  revision(etcdRevision) {
    return etcdRevision + this.offset;
  }
  /** At most 0 for a revision from before the offset was raised. */
  etcdRevision(revision) {
    return revision - this.offset;
  }
  entry(entry) {
    return {
      key: entry.key.slice(this.prefix.length),
      revision: this.revision(entry.modRevision),
      value: entry.value
    };
  }
  change({ deleted, entry, previous }) {
    return {
      key: entry.key.slice(this.prefix.length),
      revision: this.revision(entry.modRevision),
      value: deleted ? void 0 : entry.value,
      previous: previous && this.entry(previous)
    };
  }
};
function endOf(stem) {
  let end = Buffer.from(stem);
  return end[end.length - 1] += 1, end;
}

// src/store/etcd/lease.ts
var attempts = 3;
async function withLease(connection, seconds, write) {
  let deadline = performance.now() + connection.deadlineMs;
  for (let attempt = 1; ; attempt++) {
    let lease = await grant(connection, seconds, deadline);
    try {
      return await write(lease, deadline);
    } catch (error) {
      if (attempt === attempts || !isLeaseGone(error)) throw error;
    }
  }
}
async function grant(connection, seconds, deadline) {
  let request = encodeLeaseGrant(seconds);
  try {
    return decodeLeaseGrant(await connection.call(methods.grantLease, request, { effect: "read", deadline }));
  } catch (error) {
    throw noteFailure(error);
  }
}

// src/store/etcd/pages.ts
var firstPage = 128, largestPage = 4096, wantedBytes = 4 * 1024 * 1024;
async function readPages({ key, end, limit = Number.POSITIVE_INFINITY, revision }, read) {
  if (limit <= 0) return countOnly({ key, end, limit, revision }, read);
  let entries = [], at = revision, start = key, page = firstPage;
  for (; ; ) {
    let asked = Math.min(page, limit - entries.length), request = { key: start, end, limit: asked, ...at === void 0 ? {} : { revision: at } }, response = await read(request).catch(tooLarge2);
    if (response === void 0 && asked > 1) {
      page = Math.max(1, Math.floor(asked / 8));
      continue;
    }
    if (response === void 0) throw new MessageTooLarge(wantedBytes);
    for (let entry of response.entries) entries.push(entry);
    at ??= response.revision;
    let remaining = response.count - response.entries.length, last = response.entries.at(-1);
    if (remaining <= 0 || last === void 0 || entries.length >= limit)
      return { revision: at, entries, remaining: Math.max(0, remaining) };
    start = Buffer.from(`${last.key}\0`), page = nextPage(response.entries, page);
  }
}
async function countOnly({ key, end, revision }, read) {
  let request = { key, end, countOnly: !0, ...revision === void 0 ? {} : { revision } }, response = await read(request);
  return { revision: revision ?? response.revision, entries: [], remaining: response.count };
}
function tooLarge2(error) {
  if (!(error instanceof MessageTooLarge))
    throw error;
}
function nextPage(entries, page) {
  let bytes = 0;
  for (let entry of entries) bytes += entry.key.length + entry.value.length + 50;
  let fitting = Math.floor(wantedBytes * entries.length / bytes);
  return Math.max(1, Math.min(fitting, page * 8, largestPage));
}

// src/store/etcd/store.ts
var defaultDeadlineMs = 1e4, patienceMs = 10, EtcdStore = class _EtcdStore {
  #closed = !1;
  /** The newest of our own commits. */
  #acknowledged = 0;
  /** A revision that history no longer reaches behind; others may have forgotten more by now. */
  #oldest = 0;
  #connection;
  #space;
  #feed;
  #compactor;
  #present = new SharedLookup(() => this.#lookUp());
  #ticks = new SharedLookup(() => this.#tick());
  /** Throws StoreError within the deadline when no member can be used. */
  static async open(options) {
    let { endpoints, tls, deadlineMs = defaultDeadlineMs } = options, prefix = withSlash(options.prefix ?? "/orch/"), connection = new Connection({ endpoints, tls, deadlineMs });
    try {
      let note = encodeRange({ key: new KeySpace(prefix, 0).note("offset") }), { revision, entries } = decodeRange(await connection.call(methods.range, note, { effect: "read" })), offset = entries[0] === void 0 ? 0 : Number(Buffer.from(entries[0].value).toString());
      return new _EtcdStore(connection, new KeySpace(prefix, offset), revision, options);
    } catch (error) {
      throw connection.close(), readFailure(error);
    }
  }
  constructor(connection, space, etcdRevision, options) {
    this.#connection = connection, this.#space = space;
    let revision = space.revision(etcdRevision);
    this.#feed = new Feed({ connection, space, revision, present: () => this.#lookUp() }), this.#compactor = new Compactor({
      connection,
      space,
      historyMs: options.historyMs,
      revision: () => this.revision(),
      compact: (target) => this.compact(target)
    });
  }
  async commit(write) {
    this.#assertOpen(), assertWrite(write);
    let { succeeded, revision, current } = await this.#swap(write);
    return succeeded ? (this.#acknowledged = Math.max(this.#acknowledged, this.#space.revision(revision)), { outcome: "committed", revision: this.#space.revision(revision) }) : { outcome: "conflict", current: current && this.#space.entry(current) };
  }
  async revision() {
    return this.#assertOpen(), this.#settled(await this.#present.ask());
  }
  async get(key) {
    this.#assertOpen(), assertKey(key);
    let { entries } = await this.#range({ key: this.#space.key(key) });
    return entries[0] && this.#space.entry(entries[0]);
  }
  async list({ prefix, after, limit, revision }) {
    this.#assertOpen();
    let range = this.#space.range(prefix, after), at = revision === void 0 ? void 0 : this.#readableAt(revision);
    try {
      let page = await readPages({ ...range, limit, revision: at }, (request) => this.#callRange(request)), entries = page.entries.map((entry) => this.#space.entry(entry));
      return { revision: revision ?? await this.#settled(this.#space.revision(page.revision)), entries, remaining: page.remaining };
    } catch (error) {
      throw await this.#listFailure(error, revision ?? this.#feed.newest);
    }
  }
  async *watch(options) {
    this.#assertOpen();
    let { tail } = this.#feed, history = new History(this.#connection, this.#space, options.signal);
    try {
      yield* tail.follow(options, async (after) => {
        if (after < this.#oldest) throw new RevisionGone(after, this.#oldest);
        return history.read(after, await this.#anchor(tail.revision));
      });
    } finally {
      await history.close();
    }
  }
  async compact(revision) {
    this.#assertOpen();
    let present = await this.#present.ask();
    if (revision > present) throw new RevisionAhead(revision, await this.#settled(present));
    if (!(this.#space.etcdRevision(revision) < 1)) {
      await this.#settled(revision);
      try {
        let request = encodeCompact(this.#space.etcdRevision(revision));
        await this.#connection.call(methods.compact, request, { effect: "read" });
      } catch (error) {
        if (!isCompacted(error)) throw readFailure(error);
      }
      this.#oldest = Math.max(this.#oldest, revision), this.#feed.tail.forget(revision);
    }
  }
  async close() {
    if (this.#closed) return;
    this.#closed = !0, this.#compactor.stop();
    let stopped = this.#feed.stop(new StoreError("the store is closed"));
    this.#connection.close(), await stopped;
  }
  // A revision from before the offset names nothing that exists; -1 is what no key has.
  #expectation(expected) {
    return { target: "modRevision", equals: expected === 0 ? 0 : Math.max(-1, this.#space.etcdRevision(expected) || -1) };
  }
  async #swap(write) {
    let { key, expected, value, lifetimeSeconds } = write, guards = (write.guards ?? []).map((guard) => ({
      key: this.#space.key(guard.key),
      compare: this.#expectation(guard.revision)
    })), request = { key: this.#space.key(key), compare: this.#expectation(expected), value, guards };
    try {
      return lifetimeSeconds === void 0 ? await this.#callSwap(request) : await withLease(
        this.#connection,
        lifetimeSeconds,
        (lease, deadline) => this.#callSwap({ ...request, lease }, { deadline })
      );
    } catch (error) {
      throw isFull(error) ? await this.#fullFailure(write, error) : writeFailure(error, value?.length ?? 0);
    }
  }
  async #callSwap(request, options = {}) {
    let answer = await this.#connection.call(methods.txn, encodeSwap(request), { effect: "write", ...options });
    return decodeSwap(answer);
  }
  /** etcd answers NOSPACE also to the write that filled it, having done it; so the key is looked at. */
  async #fullFailure(write, error) {
    let ambiguous = await this.get(write.key).then(
      (entry) => (entry?.revision ?? 0) !== write.expected,
      () => !0
    );
    return new StoreFull("etcd has no space left: writes are refused", { cause: error, ambiguous });
  }
  /** etcd's revision, linearizable: asked by reading a key that need not exist. */
  async #lookUp() {
    let { revision } = await this.#range({ key: this.#space.note("tick"), countOnly: !0 });
    return this.#space.revision(revision);
  }
  /** The revision to tell for `revision`, once the feed has told all up to it. See the top of the file. */
  async #settled(revision) {
    let feed = this.#feed, before = feed.tail.revision;
    for (; !await feed.reached(revision, patienceMs); ) {
      if (this.#assertOpen(), feed.tail.revision === before) {
        await this.#push(revision);
        break;
      }
      before = feed.tail.revision;
    }
    return Math.min(revision, feed.newest);
  }
  /** Makes a feed that stands still pass `revision`. It may yet come by itself, so a tick that fails is not the end. */
  async #push(revision) {
    let cause;
    if (this.#ticks.ask().catch((error) => {
      cause = error;
    }), !await this.#feed.reached(revision, this.#connection.deadlineMs))
      throw this.#assertOpen(), cause ??= this.#feed.failure, new StoreError("etcd: the watch does not come to the revision of the store", { cause });
  }
  async #tick() {
    let request = encodePut(this.#space.note("tick"), new Uint8Array(0));
    try {
      let answer = await this.#connection.call(methods.put, request, { effect: "read" });
      return this.#space.revision(decodeHeaderOnly(answer));
    } catch (error) {
      throw noteFailure(error);
    }
  }
  /** A revision at or behind `revision` that etcd's watch is sure to tell. */
  async #anchor(revision) {
    return this.#feed.anchored ? revision : this.#ticks.ask();
  }
  /**
   * Where to read the state of a revision. If nothing of ours changed since, at the present of the feed, where the
   * state is the same: the revision itself may be compacted although it is our newest.
   */
  #readableAt(revision) {
    let { newest, tail } = this.#feed, unchanged = newest <= revision && revision <= tail.revision, at = this.#space.etcdRevision(unchanged ? tail.revision : revision);
    if (at < 1) throw new RevisionGone(revision, this.#space.revision(1));
    return at;
  }
  async #range(request) {
    try {
      return await this.#callRange(request);
    } catch (error) {
      throw readFailure(error);
    }
  }
  /**
   * Linearizable. Some versions of etcd give a stale answer after a pause of the member; one that lies behind what was
   * known before asking is such, and another member is asked.
   */
  async #callRange(request) {
    let known = this.#space.etcdRevision(Math.max(this.#acknowledged, this.#feed.tail.revision)), encoded = encodeRange(request);
    for (let attempt = 0; attempt < 3; attempt++) {
      let response = decodeRange(await this.#connection.call(methods.range, encoded, { effect: "read" }));
      if (response.revision >= known) return response;
      this.#connection.moveOn();
    }
    throw new StoreError("etcd: its revision lies behind one that it has told before");
  }
  async #listFailure(error, revision) {
    return isCompacted(error) ? new RevisionGone(revision, await this.#oldestAbove(revision)) : isFuture(error) ? new RevisionAhead(revision, await this.revision()) : readFailure(error);
  }
  /** The oldest revision kept, above one that is gone: as we know it, or as etcd tells it to a watch from below. */
  async #oldestAbove(revision) {
    if (revision < this.#oldest) return this.#oldest;
    let signal = AbortSignal.timeout(1e3), after = Math.max(this.#space.revision(1), revision - 1), batches = watchFrom(this.#connection, this.#space, { after, signal });
    try {
      await batches.next();
    } catch (error) {
      if (!(error instanceof RevisionGone)) throw error;
      this.#oldest = Math.max(this.#oldest, error.oldest);
    } finally {
      await batches.return(void 0);
    }
    return Math.max(this.#oldest, revision + 1);
  }
  #assertOpen() {
    if (this.#closed) throw new StoreError("the store is closed");
  }
};
function withSlash(prefix) {
  return prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
}
export {
  EtcdStore
};
