import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  systemClock
} from "./chunk-QJOKRXJQ.js";
import {
  watch
} from "./chunk-WQNAZYDG.js";
import {
  discover
} from "./chunk-TC2DJR36.js";
import {
  Client,
  pause
} from "./chunk-4V7T7OHM.js";
import {
  TransportError,
  isConflict,
  isExpired,
  isNotFound,
  objectKey,
  typeName,
  usualFiles
} from "./chunk-E6FJZVAF.js";
import {
  apiLevel,
  version
} from "./chunk-XWKYMXOX.js";
import {
  UsageError,
  flag,
  helpText,
  parseFlags,
  text
} from "./chunk-OWEQTUCH.js";
import {
  RevisionAhead,
  RevisionGone,
  StoreError,
  StoreFull,
  ValueTooLarge
} from "./chunk-QUS7FO4W.js";
import {
  MalformedDer,
  UnsoundInput,
  assertConsistent,
  canonicalNames,
  childrenOf,
  expectTag,
  generateKey,
  hasOneSignatureAlgorithm,
  keyFromPem,
  keyToPem,
  publicKeyOf,
  readNames,
  readSeveral,
  readWhole,
  sameNames,
  subjectOf,
  tags
} from "./chunk-A35W7TI5.js";
import {
  CacheEvent,
  HeaderReader,
  acceptsGzip,
  ageColumn,
  ago,
  checkAnnotations,
  checkConfigKey,
  checkDnsLabel,
  checkDnsSubdomain,
  checkEnvironmentName,
  checkIpAddress,
  checkLabelKey,
  checkLabelValue,
  checkLabels,
  checkPathSegment,
  checkPortName,
  checkQualifiedName,
  chooseType,
  column,
  compareQuantities,
  create,
  decode,
  deleteObject,
  deleteOptions,
  eventsOf,
  field,
  formatQuantity,
  formatVersion,
  groupVersions,
  handlePatch,
  handleUpdate,
  inlined,
  isTrue,
  jsonForm,
  jsonOf,
  keyOf,
  nameColumn,
  negotiate,
  openView,
  parseQuantity,
  parseVersion,
  preferredForm,
  projectedEvents,
  projectedForm,
  quantitySign,
  readMostRecent,
  readObject,
  readObjectBody,
  readOptionalContent,
  readRequest,
  readWriteOptions,
  replaceVersion,
  roundUpToMilli,
  s,
  sendBytes,
  sendChunks,
  sendObject,
  sendPageNotFound,
  sendStatus,
  sendText,
  serveKind,
  serveKinds,
  storedJson,
  stringifyJson,
  typeMeta,
  validate,
  verbsWithout,
  writeContext
} from "./chunk-ONTTXQ2L.js";
import {
  apiVersionOf,
  groupName,
  humanDuration,
  isVendorKey,
  profileNames,
  vendorKey,
  vendorOf
} from "./chunk-REFQO4EX.js";
import {
  timestamp
} from "./chunk-2XO67IZH.js";
import {
  ApiError,
  at,
  badRequest,
  child,
  duplicate,
  entityTooLarge,
  expired,
  failure,
  forbidden,
  forbiddenError,
  insufficientStorage,
  internalError,
  invalid,
  invalidObject,
  noSuchPath,
  notFound,
  notFound2,
  notSupported,
  required,
  serviceUnavailable,
  success,
  timeout,
  tooLong,
  unauthorized
} from "./chunk-SWUW5YWW.js";
import {
  compareUtf8
} from "./chunk-E4OOXGFG.js";
import {
  defined,
  isObject,
  own,
  sameJson,
  setKey
} from "./chunk-Q5OU73WL.js";
import {
  __callDispose,
  __using
} from "./chunk-K3AUPHIL.js";

// src/server/orch.ts
import { homedir } from "node:os";
import { resolve } from "node:path";

// src/base/log.ts
function openLog(write = (line) => {
  process.stderr.write(line);
}, now = () => Date.now()) {
  let line = (level, message, fields23 = {}) => {
    let pairs = Object.entries(fields23).map(
      ([key, value]) => ` ${key}=${typeof value == "string" ? JSON.stringify(value) : value}`
    );
    write(`${new Date(now()).toISOString()} ${level} ${message}${pairs.join("")}
`);
  };
  return {
    info: (message, fields23) => line("info", message, fields23),
    error: (message, fields23) => line("error", message, fields23)
  };
}
function errorFields(error) {
  return error instanceof Error ? { error: error.message, ...error.stack === void 0 ? {} : { stack: error.stack } } : { error: String(error) };
}

// src/pki/files.ts
import { randomBytes, X509Certificate } from "node:crypto";
import { constants } from "node:fs";
import { chmod, link, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
var maxFileBytes = 256 * 1024, modes = { certificate: 420, key: 384, directory: 448 }, PkiFileError = class extends Error {
  name = "PkiFileError";
  file;
  constructor(file, problem, options) {
    super(`${file}: ${problem}`, options), this.file = file;
  }
}, DamagedFile = class extends PkiFileError {
  problem;
  constructor(file, problem, options) {
    super(file, problem, options), this.problem = problem;
  }
};
async function readCertificateFile(file) {
  let found = await readBounded(file);
  return found && parsed(file, "certificate", () => new X509Certificate(oneBlock(found.text)));
}
async function readKeyFile(file) {
  let found = await readBounded(file);
  if (found !== void 0) {
    if (process.platform !== "win32" && (found.mode & 7) !== 0)
      throw new PkiFileError(file, "everybody on this machine may use this private key: run chmod 600 on it");
    return parsed(file, "private key", () => keyFromPem(oneBlock(found.text)));
  }
}
async function createFile(file, text4, kind) {
  await place(file, text4, modes[kind], async (temporary) => {
    await link(temporary, file).catch(ignoring("EEXIST")), await rm(temporary);
  });
}
async function replaceFile(file, text4, kind) {
  await place(file, text4, modes[kind], (temporary) => rename(temporary, file));
}
async function makePrivateDirectory(directory) {
  try {
    await mkdir(directory, { recursive: !0, mode: modes.directory });
    let { mode: mode2 } = await stat(directory);
    (mode2 & 63) !== 0 && await chmod(directory, modes.directory);
  } catch (error) {
    throw failed(directory, "cannot be made a private directory", error);
  }
}
async function readBounded(file) {
  try {
    var _stack = [];
    try {
      let handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(ignoring("ENOENT"));
      if (handle === void 0) return;
      let _2 = __using(_stack, handle, !0);
      let status9 = await handle.stat();
      if (!status9.isFile()) throw new Error("it is not a regular file");
      if (status9.size > maxFileBytes) throw new Error(`it has ${status9.size} bytes, more than ${maxFileBytes}`);
      return { text: await handle.readFile("utf8"), mode: status9.mode };
    } catch (_) {
      var _error = _, _hasError = !0;
    } finally {
      var _promise = __callDispose(_stack, _error, _hasError);
      _promise && await _promise;
    }
  } catch (error) {
    throw failed(file, "cannot be read", error);
  }
}
function parsed(file, what, parse) {
  try {
    return parse();
  } catch (error) {
    throw new DamagedFile(file, `does not hold a good ${what} in PEM form (${reasonOf(error)})`, { cause: error });
  }
}
function oneBlock(text4) {
  let blocks = text4.split("-----BEGIN ").length - 1;
  if (blocks !== 1) throw new Error(`${blocks} PEM blocks where there is to be one`);
  return text4;
}
async function place(file, text4, mode2, name3) {
  let temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeSynced(temporary, text4, mode2), await name3(temporary), await syncDirectory(dirname(file));
  } catch (error) {
    throw await rm(temporary, { force: !0 }), failed(file, "cannot be written", error);
  }
}
async function writeSynced(file, text4, mode2) {
  var _stack = [];
  try {
    let handle = __using(_stack, await open(file, "wx", mode2), !0);
    await handle.chmod(mode2);
    await handle.writeFile(text4);
    await handle.sync();
  } catch (_) {
    var _error = _, _hasError = !0;
  } finally {
    var _promise = __callDispose(_stack, _error, _hasError);
    _promise && await _promise;
  }
}
async function syncDirectory(directory) {
  var _stack = [];
  try {
    let handle = __using(_stack, await open(directory, "r"), !0);
    await handle.sync();
  } catch (_) {
    var _error = _, _hasError = !0;
  } finally {
    var _promise = __callDispose(_stack, _error, _hasError);
    _promise && await _promise;
  }
}
function ignoring(code) {
  return (error) => {
    if (error.code !== code) throw error;
  };
}
function failed(file, problem, cause) {
  return new PkiFileError(file, `${problem} (${reasonOf(cause)})`, { cause });
}
function reasonOf(cause) {
  return cause instanceof Error ? cause.message : String(cause);
}

// src/server/api-server.ts
import { setImmediate } from "node:timers/promises";

// src/admission/admission.ts
function chain(controls) {
  let mutating = controls.filter(({ mutate }) => mutate !== void 0), validating = controls.filter(({ validate: validate2 }) => validate2 !== void 0);
  return {
    mutate: async (request) => {
      let { object } = request;
      for (let control of mutating) {
        let next = control.mutate(object === request.object ? request : { ...request, object });
        object = next instanceof Promise ? await next : next;
      }
      return object;
    },
    validate: async (request) => {
      for (let control of validating) {
        let pending = control.validate(request);
        pending !== void 0 && await pending;
      }
    }
  };
}
var admitAll = chain([]);

// src/admission/controls/namespace-lifecycle.ts
var namespaces = { group: "core", plural: "namespaces" }, namespacesRef = { group: "", plural: "namespaces" }, immortal = /* @__PURE__ */ new Set(["default", "kube-system", "kube-public"]);
function namespaceLifecycle(lookup) {
  return {
    name: "NamespaceLifecycle",
    mutate: (request) => {
      if (isNamespace(request) && refuseImmortal(request), isNamespace(request) || request.namespace === "" || request.operation === "DELETE") return request.object;
      let found = find(lookup, request);
      return found instanceof Promise ? found.then((later) => assertPlace(request, later)) : assertPlace(request, found);
    }
  };
}
function find(lookup, { operation, namespace: namespace2, restOn }) {
  let name3 = { namespace: "", name: namespace2 }, known2 = operation === "UPDATE" || restOn !== void 0 ? lookup.known(namespaces, name3) : void 0;
  return known2 === void 0 || operation === "CREATE" && isGoing(known2) ? lookup.recent(namespaces, name3) : known2;
}
function isGoing({ object }) {
  return object.metadata.deletionTimestamp !== void 0;
}
function isNamespace({ group, plural }) {
  return group === "" && plural === "namespaces";
}
function refuseImmortal({ operation, name: name3 }) {
  if (operation === "DELETE" && immortal.has(name3))
    throw forbiddenError(namespacesRef, name3, `namespaces "${name3}" is forbidden: this namespace may not be deleted`);
}
function assertPlace(request, namespace2) {
  if (namespace2 === void 0) throw notFound2(namespacesRef, request.namespace);
  if (request.operation === "CREATE" && isGoing(namespace2)) throw terminating(request);
  return request.restOn?.(namespace2), request.object;
}
function terminating({ group, plural, name: name3, namespace: namespace2 }) {
  let message = `${group === "" ? plural : `${plural}.${group}`} "${name3}" is forbidden: unable to create new content in namespace ${namespace2} because it is being terminated`, cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace2} is being terminated`,
    field: "metadata.namespace"
  };
  return new ApiError(403, "Forbidden", message, {
    ...name3 === "" ? {} : { name: name3 },
    ...group === "" ? {} : { group },
    kind: plural,
    causes: [cause]
  });
}

// src/base/sorted-map.ts
var maxChunk = 512, fromSurrogatesOn = /[\ud800-\uffff]/, SortedMap = class {
  #byKey = /* @__PURE__ */ new Map();
  /** In order; never empty ones, so a map without entries has none. */
  #chunks = [];
  /** Whether the order of the language itself is that of UTF-8 for the keys there are; it is far quicker. */
  #plain = !0;
  get size() {
    return this.#byKey.size;
  }
  get(key) {
    return this.#byKey.get(key);
  }
  set(key, value) {
    let { size } = this.#byKey;
    if (this.#byKey.set(key, value), this.#byKey.size > size)
      this.#insert(key, value);
    else {
      let chunk = this.#chunks[this.#chunkOf(key)];
      chunk.values[this.#position(chunk.keys, key)] = value;
    }
  }
  delete(key) {
    if (!this.#byKey.delete(key)) return;
    let index = this.#chunkOf(key), { keys, values } = this.#chunks[index], at2 = this.#position(keys, key);
    keys.splice(at2, 1), values.splice(at2, 1), keys.length === 0 && this.#chunks.splice(index, 1);
  }
  /** The values of the keys that start with `prefix`, in order: those past `after`, at most `limit`. */
  withPrefix(prefix, after, limit = Number.POSITIVE_INFINITY) {
    let start = after !== void 0 && compareUtf8(after, prefix) >= 0 ? after : prefix, found = [], index = this.#chunkOf(start), at2 = index < this.#chunks.length ? this.#position(this.#chunks[index].keys, start) : 0;
    for (this.#chunks[index]?.keys[at2] === after && at2++; index < this.#chunks.length; index++, at2 = 0) {
      let { keys, values } = this.#chunks[index], whole = keys.at(-1).startsWith(prefix);
      for (; at2 < keys.length; at2++) {
        if (found.length >= limit || !whole && !keys[at2].startsWith(prefix)) return found;
        found.push(values[at2]);
      }
    }
    return found;
  }
  /** How many keys lie after `after` and before `end`, both exclusive; costs a step per chunk, not per key. */
  countBetween(after, end) {
    return this.#rank(end) - this.#rank(after) - (this.#byKey.has(after) ? 1 : 0);
  }
  /** How many keys lie before this one. */
  #rank(key) {
    let index = this.#chunkOf(key), count2 = 0;
    for (let i = 0; i < index; i++) count2 += this.#chunks[i].keys.length;
    return index < this.#chunks.length ? count2 + this.#position(this.#chunks[index].keys, key) : count2;
  }
  #insert(key, value) {
    this.#plain && fromSurrogatesOn.test(key) && (this.#plain = !1);
    let last = this.#chunks.at(-1);
    if (last === void 0 || this.#isBefore(last.keys.at(-1), key)) {
      this.#append(last, key, value);
      return;
    }
    let index = this.#chunkOf(key), { keys, values } = this.#chunks[index], at2 = this.#position(keys, key);
    keys.splice(at2, 0, key), values.splice(at2, 0, value), keys.length > maxChunk && this.#chunks.splice(index + 1, 0, { keys: keys.splice(maxChunk / 2), values: values.splice(maxChunk / 2) });
  }
  #append(last, key, value) {
    last === void 0 || last.keys.length >= maxChunk ? this.#chunks.push({ keys: [key], values: [value] }) : (last.keys.push(key), last.values.push(value));
  }
  /** The first chunk whose last key is not before `key`; the number of chunks when there is none. */
  #chunkOf(key) {
    let low = 0, high = this.#chunks.length;
    if (high > 0 && this.#isBefore(this.#chunks[high - 1].keys.at(-1), key)) return high;
    for (; low < high; ) {
      let middle = low + high >>> 1;
      this.#isBefore(this.#chunks[middle].keys.at(-1), key) ? low = middle + 1 : high = middle;
    }
    return low;
  }
  /** The first index whose key is not before `key`. */
  #position(keys, key) {
    let low = 0, high = keys.length;
    if (high > 0 && this.#isBefore(keys[high - 1], key)) return high;
    for (; low < high; ) {
      let middle = low + high >>> 1;
      this.#isBefore(keys[middle], key) ? low = middle + 1 : high = middle;
    }
    return low;
  }
  #isBefore(a, b) {
    return this.#plain ? a < b : compareUtf8(a, b) < 0;
  }
};

// src/cache/cached-object.ts
var CachedObject = class _CachedObject {
  key;
  revision;
  selectable;
  json;
  versionAt;
  /** Where in the key the namespace starts, or the name of an object without one. */
  #placeAt;
  constructor(key, placeAt, revision, selectable2, { json: json2, versionAt }) {
    this.key = key, this.#placeAt = placeAt, this.revision = revision, this.selectable = selectable2, this.json = json2, this.versionAt = versionAt;
  }
  /** '' for kinds without namespaces. */
  get namespace() {
    let slash = this.key.indexOf("/", this.#placeAt);
    return slash < 0 ? "" : this.key.slice(this.#placeAt, slash);
  }
  get name() {
    return this.key.slice(this.key.lastIndexOf("/") + 1);
  }
  /** The object as a DELETED event shows it: its last state, with the version of its deletion. */
  withRevision(revision) {
    let json2 = replaceVersion(this, formatVersion(this.revision), formatVersion(revision));
    return new _CachedObject(this.key, this.#placeAt, revision, this.selectable, { json: json2, versionAt: this.versionAt });
  }
};
function readStored({ prefix, headers, allocate }, key, revision, value) {
  let selectable2 = headers.read(value), json2 = storedJson(value, formatVersion(revision), allocate);
  return new CachedObject(key, prefix.length, revision, selectable2, json2);
}

// src/cache/label-index.ts
var LabelIndex = class {
  #label;
  #byValue = /* @__PURE__ */ new Map();
  constructor(label, objects) {
    this.#label = label;
    for (let object of objects) this.add(object);
  }
  add(object) {
    let value = this.#valueOf(object);
    if (value === void 0) return;
    let objects = this.#byValue.get(value) ?? /* @__PURE__ */ new Map();
    this.#byValue.set(value, objects.set(object.key, object));
  }
  remove(object) {
    let value = this.#valueOf(object);
    if (value === void 0) return;
    let objects = this.#byValue.get(value);
    objects?.delete(object.key), objects?.size === 0 && this.#byValue.delete(value);
  }
  /** The objects whose label has one of these values, in key order. */
  find(values) {
    return [...new Set(values)].flatMap((value) => [...this.#byValue.get(value)?.values() ?? []]).sort((a, b) => compareUtf8(a.key, b.key));
  }
  #valueOf({ selectable: { labels } }) {
    return labels !== void 0 && Object.hasOwn(labels, this.#label) ? labels[this.#label] : void 0;
  }
};

// src/cache/watcher.ts
var Watcher = class {
  selection;
  /** How the next event is written. */
  form;
  /** Called when it is closed. */
  onEnd = () => {
  };
  /** Everything up to this revision has been pushed or was not for this reader. */
  revision;
  #queue = [];
  #bytes = 0;
  #closed = !1;
  #wake;
  #onClose;
  constructor(selection, form2, revision, onClose) {
    this.selection = selection, this.form = form2, this.revision = revision, this.#onClose = onClose;
  }
  get closed() {
    return this.#closed;
  }
  push(event2) {
    if (event2.revision <= this.revision) return;
    this.revision = event2.revision;
    let type3 = event2.typeFor(this.selection.matches);
    type3 === void 0 || this.#closed || (this.#enqueue(event2.bytes(this.form, type3)), this.form = this.form.rest ?? this.form);
  }
  /** A mark that everything before it has been sent. */
  bookmark(bytes) {
    this.#closed || this.#enqueue(bytes);
  }
  #enqueue(bytes) {
    this.#queue.push(bytes), this.#bytes += bytes.length, this.#queue.length > 1e4 || this.#bytes > 16777216 ? this.close() : this.#wake?.();
  }
  /** All that is queued; empty when nothing is. */
  take() {
    let taken = this.#queue;
    return this.#queue = [], this.#bytes = 0, taken;
  }
  /** Resolves when something is queued or the watcher is closed. */
  ready() {
    return this.#queue.length > 0 || this.#closed ? Promise.resolve() : new Promise((resolve2) => {
      this.#wake = () => {
        this.#wake = void 0, resolve2();
      };
    });
  }
  close() {
    this.#closed || (this.#closed = !0, this.#queue = [], this.#onClose(this), this.#wake?.(), this.onEnd());
  }
};

// src/cache/kind-cache.ts
var maxEvents = 4096, maxEventBytes = 64 * 1024 * 1024, maxIndexes = 16, KindCache = class {
  /** All keys of the kind start with it. */
  prefix;
  /** Events after this revision are all in `#events`. */
  #floor = 0;
  /** The revision of the last change of this kind, as far as it is known. */
  changedAt = 0;
  #events = [];
  #eventBytes = 0;
  #ended = !1;
  #objects = new SortedMap();
  /** A snapshot on its way in: nobody sees it before it is whole. */
  #loading = new SortedMap();
  /** Indexes by the label that they index. */
  #indexes = /* @__PURE__ */ new Map();
  /** Watchers by the namespace they look at; '' for those that look at all. */
  #watchers = /* @__PURE__ */ new Map();
  /** For objects that come one by one, and for those that come in a row. */
  #single;
  #inRow;
  constructor(prefix) {
    this.prefix = prefix;
    let headers = new HeaderReader();
    this.#single = { prefix, headers, allocate: Buffer.allocUnsafeSlow }, this.#inRow = { prefix, headers, allocate: Buffer.allocUnsafe };
  }
  get size() {
    return this.#objects.size;
  }
  /** The revision that events are complete from: a watch after an older one needs the store's log. */
  get floor() {
    return this.#floor;
  }
  /** A snapshot begins; one that was not completed is forgotten. */
  beginLoad() {
    this.#loading = new SortedMap();
  }
  /** Takes an object of the snapshot. Objects loaded in a row share blocks of memory, which takes much less. */
  load(key, revision, value) {
    this.#loading.set(key, readStored(this.#inRow, key, revision, value));
  }
  /** The snapshot is complete, as of this revision, and takes the place of all there was. Watches end: there is a gap. */
  loaded(revision) {
    this.closeWatchers(), this.#objects = this.#loading, this.#loading = new SortedMap(), this.#indexes.clear(), this.#events = [], this.#eventBytes = 0, this.#floor = revision, this.changedAt = revision;
  }
  apply(change2) {
    let previous = this.#objects.get(change2.key), event2 = this.event(change2, previous);
    event2 !== void 0 && (this.#replace(change2.key, previous, event2.deleted ? void 0 : event2.object), this.changedAt = change2.revision, this.#remember(event2), this.#tell(event2));
  }
  /** The event of a change, from the objects before and after it. */
  event(change2, previous) {
    return change2.value !== void 0 ? new CacheEvent(this.read(change2.key, change2.revision, change2.value), previous, !1) : previous && new CacheEvent(previous.withRevision(change2.revision), previous, !0);
  }
  /** An object of the kind from what is stored, whether or not that is the present state. */
  read(key, revision, value) {
    return readStored(this.#single, key, revision, value);
  }
  get(key) {
    return this.#objects.get(key);
  }
  /** Objects in key order. */
  objects({ namespace: namespace2, matches: matches2, after, demand, limit }) {
    let prefix = namespace2 === void 0 ? this.prefix : `${this.prefix}${namespace2}/`, index = demand && this.#indexOf(demand.key);
    return index !== void 0 ? within(index.find(demand.values), prefix, after).filter((object) => matches2?.(object) ?? !0) : matches2 === void 0 ? this.#objects.withPrefix(prefix, after, limit) : this.#objects.withPrefix(prefix, after).filter(matches2);
  }
  /** How many objects of the namespace, or of all, come after this key. */
  countAfter(namespace2, after) {
    let prefix = namespace2 === void 0 ? this.prefix : `${this.prefix}${namespace2}/`;
    return this.#objects.countBetween(after, `${prefix.slice(0, -1)}0`);
  }
  /** The events after a revision at or past `floor`. */
  eventsAfter(revision) {
    let low = 0, high = this.#events.length;
    for (; low < high; ) {
      let middle = low + high >>> 1;
      this.#events[middle].revision <= revision ? low = middle + 1 : high = middle;
    }
    return this.#events.slice(low);
  }
  /** Watches from now on; what lies between `after` and now the caller reads in the same turn. */
  watch(selection, form2, after) {
    let scope = selection.namespace ?? "", watcher = new Watcher(selection, form2, after, () => this.#forget(scope, watcher)), watchers = this.#watchers.get(scope) ?? /* @__PURE__ */ new Set();
    return this.#watchers.set(scope, watchers.add(watcher)), this.#ended && watcher.close(), watcher;
  }
  /** Ends every watch for good: the server is stopping. */
  endWatches() {
    this.#ended = !0, this.closeWatchers();
  }
  /** Ends every watch: the feed was lost. */
  closeWatchers() {
    for (let watchers of [...this.#watchers.values()]) for (let watcher of [...watchers]) watcher.close();
  }
  #replace(key, previous, next) {
    next === void 0 ? this.#objects.delete(key) : this.#objects.set(key, next);
    for (let index of this.#indexes.values())
      previous && index.remove(previous), next && index.add(next);
  }
  #indexOf(label) {
    let known2 = this.#indexes.get(label);
    if (known2 !== void 0 || this.#indexes.size >= maxIndexes) return known2;
    let index = new LabelIndex(label, this.#objects.withPrefix(this.prefix));
    return this.#indexes.set(label, index), index;
  }
  #forget(scope, watcher) {
    let watchers = this.#watchers.get(scope);
    watchers?.delete(watcher), watchers?.size === 0 && this.#watchers.delete(scope);
  }
  #remember(event2) {
    this.#events.push(event2), this.#eventBytes += weight(event2), (this.#events.length > maxEvents || this.#eventBytes > maxEventBytes) && this.#forgetOldest();
  }
  // Down to half, so that it costs little per event.
  #forgetOldest() {
    let { length } = this.#events, dropped = 0;
    for (; dropped < length - 1 && (length - dropped > maxEvents / 2 || this.#eventBytes > maxEventBytes / 2); )
      this.#eventBytes -= weight(this.#events[dropped]), dropped++;
    this.#floor = this.#events[dropped - 1]?.revision ?? this.#floor, this.#events = this.#events.slice(dropped);
  }
  #tell(event2) {
    for (let scope of event2.object.namespace === "" ? [""] : ["", event2.object.namespace])
      for (let watcher of this.#watchers.get(scope) ?? []) concerns(event2, watcher.selection) && watcher.push(event2);
  }
};
function within(objects, prefix, after) {
  return objects.filter(({ key }) => key.startsWith(prefix) && (after === void 0 || compareUtf8(key, after) > 0));
}
function weight({ object }) {
  return 2 * object.json.length;
}
function concerns(event2, { namespace: namespace2, name: name3 }) {
  return (namespace2 === void 0 || event2.object.namespace === namespace2) && (name3 === void 0 || event2.object.name === name3);
}

// src/cache/caches.ts
var objectsPrefix = "objects/", loadPage = 1e3, retryMs = 500, Caches = class {
  /** Everything up to this revision is in the caches. */
  revision = 0;
  #store;
  #byPrefix = /* @__PURE__ */ new Map();
  #stop = new AbortController();
  #waiting = /* @__PURE__ */ new Set();
  #onError;
  #feed = Promise.resolve();
  #healthy = !1;
  constructor(store, onError) {
    this.#store = store, this.#onError = onError;
  }
  /** Whether the feed is running. */
  get healthy() {
    return this.#healthy;
  }
  /** The cache of a kind; made before `start`. */
  add(group, plural) {
    let cache = new KindCache(`${objectsPrefix}${group}/${plural}/`);
    return this.#byPrefix.set(cache.prefix, cache), cache;
  }
  async start() {
    await this.#load(), this.#feed = this.#run();
  }
  /** Resolves true once the caches hold everything up to `revision`, false after `timeoutMs`. */
  async reached(revision, timeoutMs) {
    return this.revision >= revision ? !0 : await new Promise((resolve2) => {
      let waiter = { revision, resolve: () => done(!0) }, timer = setTimeout(() => done(!1), timeoutMs), done = (outcome) => {
        clearTimeout(timer), this.#waiting.delete(waiter), resolve2(outcome);
      };
      this.#waiting.add(waiter);
    });
  }
  /** Ends every watch, those to come as well; reads go on. */
  endWatches() {
    for (let cache of this.#byPrefix.values()) cache.endWatches();
  }
  async stop() {
    this.#stop.abort(), this.endWatches(), await this.#feed;
  }
  async #load() {
    for (let cache of this.#byPrefix.values()) cache.beginLoad();
    let first = await this.#store.list({ prefix: objectsPrefix, limit: loadPage, count: !1 }), { revision } = first;
    for (let page = first; page !== void 0; ) {
      let next = this.#pageAfter(page);
      next?.catch(() => {
      }), this.#take(page), page = await next;
    }
    for (let cache of this.#byPrefix.values()) cache.loaded(revision);
    this.#healthy = !0, this.#advance(revision);
  }
  /** Entries come in the order of their keys, so one belongs to the same kind as the one before it, most of the time. */
  #take({ entries }) {
    let cache;
    for (let { key, revision, value } of entries)
      (cache === void 0 || !key.startsWith(cache.prefix)) && (cache = this.#cacheOf(key)), cache?.load(key, revision, value);
  }
  #pageAfter({ entries, remaining, revision }) {
    let after = entries.at(-1)?.key;
    if (!(remaining === 0 || after === void 0))
      return this.#store.list({ prefix: objectsPrefix, limit: loadPage, count: !1, after, revision });
  }
  async #run() {
    for (; !this.#stop.signal.aborted; )
      try {
        this.#healthy || await this.#load(), await this.#follow();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#onError(error), (error instanceof RevisionGone || !(error instanceof StoreError)) && (this.#healthy = !1), await pause(retryMs, this.#stop.signal);
      }
  }
  async #follow() {
    let { signal } = this.#stop;
    for await (let { changes, through } of this.#store.watch({ prefix: "", after: this.revision, signal })) {
      for (let change2 of changes) this.#cacheOf(change2.key)?.apply(change2);
      this.#advance(through);
    }
  }
  #advance(revision) {
    this.revision = revision;
    for (let waiter of [...this.#waiting]) waiter.revision <= revision && waiter.resolve();
  }
  /** `objects/core/configmaps/a/b` belongs to `objects/core/configmaps/`. Keys of kinds not served here belong to none. */
  #cacheOf(key) {
    if (!key.startsWith(objectsPrefix)) return;
    let group = key.indexOf("/", objectsPrefix.length), plural = key.indexOf("/", group + 1);
    return this.#byPrefix.get(key.slice(0, plural + 1));
  }
};

// src/http/exchange.ts
var Exchange = class {
  transport;
  arrived;
  /** When its time is over; set by the step that bounds it. */
  deadline = Number.POSITIVE_INFINITY;
  /** Set by the pipeline's steps, in the order of the steps. */
  headers;
  info;
  user;
  /** How the answer is written; JSON until something else is agreed on. */
  form = jsonForm;
  /** Whether the form is what the client and the resource agreed on. */
  agreed = !1;
  /** Whether an answer has begun: then an error can only cut it off. */
  answered = !1;
  /** Whether the time for it is over. */
  late = !1;
  bodyRead = !1;
  /** What is asked for, once that is known to be served. */
  served;
  /** The code of the answer; 0 before there is one. */
  status = 0;
  /** How much of an answer was sent. */
  sentBytes = 0;
  #headers = [];
  #warnings;
  #onFinish;
  constructor(transport, arrived) {
    this.transport = transport, this.arrived = arrived;
  }
  /** Whether nobody waits for the answer any more. */
  get gone() {
    return this.late || this.transport.gone;
  }
  /** Runs when the request has been handled, however that ended. */
  onFinish(run2) {
    let before = this.#onFinish;
    this.#onFinish = before === void 0 ? run2 : () => {
      run2(), before();
    };
  }
  finish() {
    this.#onFinish?.();
  }
  setHeader(name3, value) {
    let known2 = this.#headers.findIndex((text4, i) => i % 2 === 0 && text4 === name3);
    known2 < 0 ? this.#headers.push(name3, value) : this.#headers[known2 + 1] = value;
  }
  /** A sentence for the user that does not stop the request. Bounded, as they travel in headers. */
  warn(text4) {
    this.#warnings ??= [], this.#warnings.length < maxWarnings && !this.#warnings.includes(text4) && this.#warnings.push(text4);
  }
  /** The first answer counts; one that comes after the time was over is dropped. */
  send(status9, contentType, body) {
    if (this.answered) return;
    this.answered = !0, this.status = status9, this.sentBytes = body.length;
    let headers = this.#complete(contentType);
    headers.push("content-length", String(body.length)), this.transport.send(status9, headers, body, !this.bodyRead && hasBody(this));
  }
  open(status9, contentType) {
    this.answered || (this.answered = !0, this.status = status9, this.transport.open(status9, this.#complete(contentType)));
  }
  #complete(contentType) {
    let headers = this.#headers;
    headers.push("content-type", contentType);
    for (let text4 of this.#warnings ?? []) headers.push("warning", `299 - ${quoted(text4)}`);
    return headers;
  }
}, maxWarnings = 50;
function hasBody({ transport, headers }) {
  return transport.method === "GET" || transport.method === "HEAD" ? !1 : headers === void 0 || headers.all("content-length").some((length) => length !== "0") || headers.all("transfer-encoding").length > 0;
}
function quoted(text4) {
  return `"${text4.slice(0, 500).replaceAll(/[^\x20-\x7e]/g, "?").replaceAll(/["\\]/g, "\\$&")}"`;
}

// src/http/listener.ts
import { createServer as createServer3 } from "node:tls";

// src/http/connection-limits.ts
var defaultTimes = {
  handshake: 1e4,
  headers: 3e4,
  request: 9e4,
  idle: 18e4,
  check: 5e3
}, lingerTime = 2 * 1e3, maxHeaderBytes = 128 * 1024, maxParsedHeaders = 2e3, maxStreams = 250;

// src/http/http1-server.ts
import { createServer } from "node:http";

// src/http/streams.ts
function drained(stream2) {
  return new Promise((resolve2) => {
    let done = () => {
      stream2.off("drain", done), stream2.off("close", done), resolve2();
    };
    stream2.once("drain", done), stream2.once("close", done);
  });
}
function passed(stream2, chunk) {
  return stream2.destroyed ? Promise.resolve() : new Promise((resolve2) => {
    let done = () => {
      stream2.off("close", done), resolve2();
    };
    stream2.once("close", done), stream2.write(chunk, done);
  });
}
function aborted(stream2) {
  let gone = new AbortController();
  return stream2.destroyed ? gone.abort() : stream2.on("close", () => stream2.writableFinished || gone.abort()), gone.signal;
}

// src/http/http1.ts
var maxDiscarded = 16 * 1024 * 1024, Http1Transport = class {
  method;
  target;
  rawHeaders;
  peer;
  body;
  #response;
  #signal;
  constructor(request, response, peer) {
    this.method = request.method ?? "", this.target = request.url ?? "", this.rawHeaders = request.rawHeaders, this.peer = peer, this.body = request, this.#response = response;
  }
  get gone() {
    return this.#response.destroyed && !this.#response.writableFinished;
  }
  get signal() {
    return this.#signal ??= aborted(this.#response), this.#signal;
  }
  send(status9, headers, body, unread) {
    unread && this.#discard(), this.#response.writeHead(status9, headers), this.#response.end(body);
  }
  open(status9, headers) {
    this.#response.writeHead(status9, headers), this.#response.flushHeaders();
  }
  write(chunk) {
    return this.#response.destroyed || this.#response.write(chunk) ? void 0 : drained(this.#response);
  }
  pass(chunk) {
    return passed(this.#response, chunk);
  }
  end() {
    this.#response.end();
  }
  cut() {
    this.#response.destroy();
  }
  /** Takes the rest of a body that nobody wants, so that the client gets to read the answer; up to a limit. */
  #discard() {
    let size = 0;
    this.body.on("data", (chunk) => {
      size += chunk.length, size > maxDiscarded && this.body.socket.destroy();
    });
  }
};

// src/http/http1-server.ts
var nobody = { address: "", certificate: void 0 }, Http1Server = class {
  #server;
  /** Who is at the other end of each connection. */
  #peers = /* @__PURE__ */ new Map();
  /** The last answer on a connection. */
  #last = /* @__PURE__ */ new WeakMap();
  #closing = !1;
  constructor(times2, onRequest) {
    this.#server = createServer({
      headersTimeout: times2.headers,
      requestTimeout: times2.request,
      keepAliveTimeout: times2.idle,
      maxHeaderSize: maxHeaderBytes,
      connectionsCheckingInterval: times2.check,
      // Node would answer a request without one, and still carry out what comes after it.
      requireHostHeader: !1
    }), this.#server.maxHeadersCount = maxParsedHeaders, this.#server.on("request", (request, response) => this.#begin(request, response, onRequest)), this.#server.on("clientError", (error, socket) => refuse(socket, error, this.#last.get(socket))), this.#server.emit("listening");
  }
  accept(socket, peer) {
    this.#peers.set(socket, peer), socket.on("close", () => this.#peers.delete(socket)), this.#server.emit("connection", socket);
  }
  close() {
    this.#closing = !0;
    for (let socket of this.#peers.keys()) {
      let answer2 = this.#last.get(socket);
      answer2 !== void 0 && !answer2.writableFinished && endAfter(answer2);
    }
    this.#server.close(), this.#server.closeIdleConnections();
  }
  #begin(request, response, onRequest) {
    let { socket } = request;
    if (!socket.writableEnded) {
      if (!isPlain(request)) {
        refuse(socket, new Error("not a request of HTTP/1.1 that names one host"), this.#last.get(socket));
        return;
      }
      this.#last.set(socket, response), this.#closing && endAfter(response), onRequest(new Http1Transport(request, response, this.#peers.get(socket) ?? nobody));
    }
  }
};
function endAfter(answer2) {
  answer2.shouldKeepAlive = !1;
  let { socket } = answer2;
  answer2.headersSent && answer2.on("finish", () => socket?.end());
}
function isPlain({ httpVersion, rawHeaders }) {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    rawHeaders[i].length === 4 && rawHeaders[i].toLowerCase() === "host" && hosts++;
  return httpVersion === "1.1" && hosts === 1 || httpVersion === "1.0" && hosts <= 1;
}
var refusals = /* @__PURE__ */ new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", "413 Payload Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"]
]);
function refuse(socket, error, answer2) {
  if (socket.writableEnded) return;
  if (answer2?.headersSent && !answer2.writableFinished || !socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  let status9 = refusals.get(error.code ?? "") ?? "400 Bad Request";
  socket.end(`HTTP/1.1 ${status9}\r
connection: close\r
content-length: 0\r
\r
`);
  let timer = setTimeout(() => socket.destroy(), lingerTime);
  socket.on("close", () => clearTimeout(timer));
}

// src/http/http2-server.ts
import {
  createServer as createServer2
} from "node:http2";

// src/http/http2.ts
var noError = 0, cancel = 8, withBody = { endStream: !1 }, withoutBody = { endStream: !0 }, Http2Transport = class {
  method;
  target;
  rawHeaders;
  peer;
  body;
  #signal;
  constructor(stream2, headers, rawHeaders, peer) {
    this.method = headers[":method"] ?? "", this.target = headers[":path"] ?? "", this.rawHeaders = withoutPseudo(rawHeaders), this.peer = peer, this.body = stream2, stream2.on("error", ignore);
  }
  get gone() {
    return this.body.destroyed && !this.body.writableFinished;
  }
  get signal() {
    return this.#signal ??= aborted(this.body), this.#signal;
  }
  send(status9, headers, body, unread) {
    let stream2 = this.body;
    if (stream2.destroyed) return;
    let bodiless = this.method === "HEAD";
    stream2.respond([":status", String(status9), ...headers], bodiless ? withoutBody : withBody), bodiless || stream2.end(body), unread && stream2.once("finish", () => stream2.close(noError));
  }
  open(status9, headers) {
    this.body.destroyed || this.body.respond([":status", String(status9), ...headers]);
  }
  write(chunk) {
    return this.body.destroyed || this.body.write(chunk) ? void 0 : drained(this.body);
  }
  pass(chunk) {
    return passed(this.body, chunk);
  }
  end() {
    this.body.end();
  }
  cut() {
    this.body.close(cancel);
  }
};
function ignore() {
}
function withoutPseudo(raw) {
  let start = 0;
  for (; start < raw.length && raw[start].charCodeAt(0) === colon; ) start += 2;
  return raw.slice(start);
}
var colon = 58;

// src/http/http2-server.ts
var Http2Server = class {
  #server;
  #sessions = /* @__PURE__ */ new Map();
  /** Who is at the other end of the connection that is being accepted: its session is made at once. */
  #accepting = { address: "", certificate: void 0 };
  constructor(times2, onRequest) {
    this.#server = createServer2({
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
      maxHeaderListPairs: maxParsedHeaders
    }), this.#server.on("session", (session) => this.#begin(session, times2.idle)), this.#server.on("stream", (stream2, headers, _flags, rawHeaders) => {
      let peer = this.#sessions.get(stream2.session);
      peer !== void 0 && onRequest(new Http2Transport(stream2, headers, rawHeaders, peer));
    });
  }
  accept(socket, peer) {
    this.#accepting = peer, this.#server.emit("connection", socket);
  }
  close() {
    for (let session of this.#sessions.keys()) session.close();
  }
  #begin(session, idle) {
    this.#sessions.set(session, this.#accepting), session.setTimeout(idle, () => session.close()), session.on("close", () => this.#sessions.delete(session)), session.on("error", () => session.destroy());
  }
};

// src/http/listener.ts
var Listener = class _Listener {
  #tls;
  #http1;
  #http2;
  #sockets = /* @__PURE__ */ new Set();
  constructor({ tls, onRequest, times: times2 = defaultTimes }) {
    this.#http1 = new Http1Server(times2, onRequest), this.#http2 = new Http2Server(times2, onRequest), this.#tls = createServer3({
      ...tls,
      minVersion: "TLSv1.2",
      // Else the last part of an answer in parts waits for the client to acknowledge the one before: 40 ms on HTTP/1.1.
      noDelay: !0,
      ALPNProtocols: ["h2", "http/1.1"],
      requestCert: !0,
      rejectUnauthorized: !1,
      handshakeTimeout: times2.handshake
    }), this.#tls.on("connection", (socket) => this.#own(socket)), this.#tls.on("secureConnection", (socket) => this.#accept(socket)), this.#tls.on("tlsClientError", (_, socket) => socket.destroy());
  }
  static async open(options) {
    let listener = new _Listener(options);
    return await new Promise((resolve2, reject) => {
      listener.#tls.once("error", reject), listener.#tls.listen(options.port, options.host, () => {
        listener.#tls.off("error", reject), listener.#tls.on("error", options.onError), resolve2();
      });
    }), listener;
  }
  get port() {
    let address = this.#tls.address();
    return typeof address == "object" && address !== null ? address.port : 0;
  }
  /** Certificates for connections from now on. */
  renew(tls) {
    this.#tls.setSecureContext(tls);
  }
  /** Stops listening, lets answers under way finish, and cuts off what is left after `graceMs`. */
  async close(graceMs) {
    let closed = new Promise((resolve2) => this.#tls.close(() => resolve2()));
    this.#http1.close(), this.#http2.close();
    let timer = setTimeout(() => {
      for (let socket of this.#sockets) socket.destroy();
    }, graceMs);
    await closed, clearTimeout(timer);
  }
  #own(socket) {
    this.#sockets.add(socket), socket.on("close", () => this.#sockets.delete(socket));
  }
  #accept(socket) {
    this.#own(socket), socket.on("error", () => socket.destroy()), (socket.alpnProtocol === "h2" ? this.#http2 : this.#http1).accept(socket, readPeer(socket));
  }
};
function readPeer(socket) {
  let x509 = socket.getPeerX509Certificate();
  return { address: socket.remoteAddress ?? "", certificate: x509 && { x509, trusted: socket.authorized } };
}

// src/http/steps/authenticate.ts
function authenticate(authenticator) {
  return (exchange) => {
    refuseImpersonation(exchange);
    let { peer } = exchange.transport, { certificate } = peer, authorization = exchange.headers.one("authorization"), outcome = authenticator({ certificate, authorization, connection: peer });
    return outcome instanceof Promise ? outcome.then((later) => admit(exchange, later)) : admit(exchange, outcome);
  };
}
function refuseImpersonation({ headers }) {
  if (headers.hasPrefix("impersonate-"))
    throw badRequest("impersonation is not built yet: leave the Impersonate headers out");
}
function admit(exchange, outcome) {
  if (outcome.result !== "user") throw unauthorized();
  exchange.user = outcome.user;
}

// src/schema/object-meta.ts
var ownerReference = s.object(
  {
    apiVersion: field(5, s.string(), { zero: "write", doc: "The group and version of the owner." }),
    kind: field(1, s.string(), { zero: "write", doc: "The kind of the owner." }),
    name: field(3, s.string(), { zero: "write", doc: "The name of the owner." }),
    uid: field(4, s.string(), { zero: "write", doc: "The uid of the owner: another object of its name is not it." }),
    controller: field(6, s.boolean(), {
      zero: "keep",
      doc: "Whether this owner manages the object; at most one does."
    }),
    blockOwnerDeletion: field(7, s.boolean(), {
      zero: "keep",
      doc: "Whether a foreground deletion of the owner waits until this object is gone."
    })
  },
  {
    name: "meta.v1.OwnerReference",
    doc: "Names an object that this one belongs to, in the same namespace or without one.",
    atomic: !0
  }
), fieldsV1 = s.any({
  name: "meta.v1.FieldsV1",
  doc: "A set of fields as a tree: `f:<name>` is a field, `k:<keys>` and `v:<value>` are elements of lists, `.` is the thing itself."
}), managedFieldsEntry = s.object(
  {
    manager: field(1, s.string(), { doc: "Who wrote the fields." }),
    operation: field(2, s.string(), { doc: "How they were written: Apply or Update." }),
    apiVersion: field(3, s.string(), { doc: "The group and version in which they were written." }),
    time: field(4, s.time(), { doc: "When this manager last changed its fields." }),
    fieldsType: field(6, s.string(), { doc: "The form of the set of fields: FieldsV1." }),
    fieldsV1: field(7, fieldsV1, { doc: "The fields that this manager owns." }),
    subresource: field(8, s.string(), { doc: "The subresource that was written through, if any." })
  },
  {
    name: "meta.v1.ManagedFieldsEntry",
    doc: "Which fields of the object one manager owns by one kind of write."
  }
), objectMeta = s.object(
  {
    name: field(1, s.string(), { doc: "Unique among the objects of its kind in its namespace. Cannot change." }),
    generateName: field(2, s.string(), { doc: "When no name is given, the server makes one that begins with this." }),
    namespace: field(3, s.string(), { doc: "The namespace of the object; empty for kinds that have none." }),
    selfLink: field(4, s.string(), { doc: "No longer filled in." }),
    uid: field(5, s.string(), { doc: "Set by the server; no other object ever has it." }),
    resourceVersion: field(6, s.string(), {
      doc: "Changes with every write. Opaque; an update that sends it succeeds only while it is current."
    }),
    generation: field(7, s.int64(), { doc: "Counts the changes of the desired state. Set by the server." }),
    creationTimestamp: field(8, s.time(), { doc: "When the object was created. Set by the server." }),
    deletionTimestamp: field(9, s.time(), {
      doc: "When its deletion was asked for, or falls due. The object goes once its finalizers are gone."
    }),
    deletionGracePeriodSeconds: field(10, s.int64(), {
      zero: "keep",
      doc: "How long the object may take to end once its deletion was asked for."
    }),
    labels: field(11, s.map(s.string()), { doc: "Keys and values that selectors choose objects by." }),
    annotations: field(12, s.map(s.string()), { doc: "Keys and values for tools; nothing is selected by them." }),
    ownerReferences: field(
      13,
      s.list(ownerReference, { list: "map", keys: ["uid"], patch: "merge", mergeKey: "uid" }),
      {
        doc: "The objects that this one belongs to. When all are gone it is deleted."
      }
    ),
    finalizers: field(14, s.list(s.string(), { list: "set", patch: "merge" }), {
      doc: "What must be cleaned up before the object may go; each entry is removed by who is responsible for it."
    }),
    clusterName: field(15, s.string(), { doc: "Not used." }),
    managedFields: field(17, s.list(managedFieldsEntry), {
      doc: "Which manager owns which fields. Kept by the server."
    })
  },
  {
    name: "meta.v1.ObjectMeta",
    doc: "What every object has beside its own fields: its name, its labels, its history."
  }
);

// src/schema/kind.ts
function defineKind(definition) {
  let { fields: fields23, ...rest } = definition, metadata = field(1, objectMeta, { zero: "write", doc: "Name, labels and whatever else every object has." }), schema = s.object({ ...typeMeta, metadata, ...fields23 }, { name: definition.kind, doc: definition.doc });
  return { name: checkDnsSubdomain, ...rest, schema };
}
function defineVersion(stored2, definition) {
  let { kind, plural, doc, shortNames: shortNames2, categories, scope, name: name3, confidential } = stored2, { deleteAnswers, createOnUpdate, needsVersion, strategicPatch } = stored2, { verbs: verbs2, subresources, readOnly: readOnly2, expires, ownsNothing, orphansByDefault } = stored2, { group = stored2.group } = definition, names3 = { group, kind, plural, doc, scope, name: name3, ...defined({ shortNames: shortNames2, categories }) }, ways = {
    ...defined({ confidential, deleteAnswers, createOnUpdate, needsVersion, strategicPatch }),
    ...defined({ verbs: verbs2, subresources, readOnly: readOnly2, expires, ownsNothing, orphansByDefault })
  }, { version: version2, fields: fields23, fillDefaults, fromStored: fromStored2, toStored: toStored2, deprecated, selectable: selectorNames3 } = definition, { schema } = defineKind({ ...names3, version: version2, fields: fields23 });
  return {
    ...names3,
    ...ways,
    version: version2,
    schema,
    conversion: { stored: stored2, fromStored: fromStored2, toStored: toStored2 },
    ...defined({ fillDefaults, deprecated, selectorNames: selectorNames3 })
  };
}

// src/kinds/authentication/token-review.ts
var userInfo = s.object(
  {
    username: field(1, s.string(), { doc: "The name that the user is known by." }),
    uid: field(2, s.string(), { doc: "Tells the user from another one that bears the name at another time." }),
    groups: field(3, s.list(s.string()), { doc: "The groups that the user is in." }),
    extra: field(4, s.map(s.list(s.string())), { doc: "What else the authenticator knows of the user." })
  },
  { name: "UserInfo", doc: "Who somebody is, as authorization sees it." }
), spec = s.object(
  {
    token: field(1, s.string(), { doc: "The token in question." }),
    audiences: field(2, s.list(s.string()), {
      doc: "Whom the token must be meant for, at least one of them; the API server itself where none is named."
    })
  },
  { name: "TokenReviewSpec", doc: "Which token is in question." }
), status = s.object(
  {
    authenticated: field(1, s.boolean(), { doc: "Whether the token belongs to somebody." }),
    user: field(2, userInfo, { zero: "write", doc: "Whose it is." }),
    error: field(3, s.string(), { doc: "Why it could not be told, or is nobody\u2019s." }),
    audiences: field(4, s.list(s.string()), { doc: "Those of the audiences in question that it is meant for." })
  },
  { name: "TokenReviewStatus", doc: "Whose the token is." }
), fields = {
  spec: field(2, spec, { required: !0, zero: "write", doc: "The question." }),
  status: field(3, status, { zero: "write", doc: "The answer. Filled in by the server." })
}, tokenReview = defineKind({
  group: "authentication",
  version: "v1",
  kind: "TokenReview",
  plural: "tokenreviews",
  doc: "A question: whose token is this? The answer comes at once, and nothing is stored.",
  scope: "Cluster",
  virtual: !0,
  fields
});

// src/kinds/spec-and-status.ts
function keep(next, previous, part2) {
  next[part2] = previous[part2];
}
var plainStatus = {
  verbs: ["get", "update", "patch"],
  readOnly: ["spec"],
  prepareForUpdate: (next, previous) => keep(next, previous, "spec")
};

// src/kinds/autoscaling/behavior.ts
var maxPeriodSeconds = 1800, maxWindowSeconds = 3600, selectPolicies = ["Disabled", "Max", "Min"], policyTypes = ["Percent", "Pods"], policyFields = {
  type: field(1, s.string(), { zero: "write", doc: "What value counts: Pods, or Percent of the replicas." }),
  value: field(2, s.int32(), { zero: "write", doc: "How much may change in the period; above 0." }),
  periodSeconds: field(3, s.int32(), { zero: "write", doc: "The period; from 1 to 1800 seconds." })
}, policy = s.object(policyFields, {
  name: "HPAScalingPolicy",
  doc: "How much may change within a period.",
  check: checkPolicy
}), ruleFields = {
  selectPolicy: field(1, s.string(), {
    zero: "keep",
    doc: "Which policy counts: the one that allows the most (Max, the default), the least (Min), or none (Disabled)."
  }),
  policies: field(2, s.list(policy), { zero: "keep", doc: "The policies; at least one." }),
  stabilizationWindowSeconds: field(3, s.int32(), {
    zero: "keep",
    doc: "How long past advice is heeded, so that it does not flap; from 0 to 3600 seconds."
  })
}, rules = s.object(ruleFields, {
  name: "HPAScalingRules",
  doc: "How fast it scales in one direction.",
  check: checkRules
}), behaviorFields = {
  scaleUp: field(1, rules, { doc: "How fast it adds. By default 4 Pods or 100 percent in 15 seconds, at once." }),
  scaleDown: field(2, rules, { doc: "How fast it takes away. By default up to 100 percent in 15 seconds." })
}, behavior = s.object(behaviorFields, {
  name: "HorizontalPodAutoscalerBehavior",
  doc: "How fast it scales, in each direction.",
  fill: (value) => {
    value.scaleUp = { ...defaultScaleUp(), ...value.scaleUp }, value.scaleDown = { ...defaultScaleDown(), ...value.scaleDown };
  }
});
function defaultScaleUp() {
  return {
    stabilizationWindowSeconds: 0,
    selectPolicy: "Max",
    policies: [
      { type: "Pods", value: 4, periodSeconds: 15 },
      { type: "Percent", value: 100, periodSeconds: 15 }
    ]
  };
}
function defaultScaleDown() {
  return { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };
}
function checkRules({ stabilizationWindowSeconds: window = 0, selectPolicy = "Max", policies: policies2 = [] }, path) {
  let windowPath = child(path, "stabilizationWindowSeconds");
  return [
    ...window < 0 ? [invalid(windowPath, window, "must be greater than or equal to zero")] : [],
    ...atMost(window, maxWindowSeconds, windowPath),
    ...selectPolicies.includes(selectPolicy) ? [] : [notSupported(child(path, "selectPolicy"), selectPolicy, selectPolicies)],
    ...policies2.length > 0 ? [] : [required(child(path, "policies"), "at least one policy is needed")]
  ];
}
function checkPolicy({ type: type3 = "", value = 0, periodSeconds = 0 }, path) {
  return [
    ...policyTypes.includes(type3) ? [] : [notSupported(child(path, "type"), type3, policyTypes)],
    ...aboveZero(value, child(path, "value")),
    ...aboveZero(periodSeconds, child(path, "periodSeconds")),
    ...atMost(periodSeconds, maxPeriodSeconds, child(path, "periodSeconds"))
  ];
}
function aboveZero(value, path) {
  return value > 0 ? [] : [invalid(path, value, "must be greater than zero")];
}
function atMost(value, limit, path) {
  return value <= limit ? [] : [invalid(path, value, `must be less than or equal to ${limit}`)];
}

// src/kinds/autoscaling/carried.ts
var parts = ["metrics", "behavior", "current-metrics", "conditions"];
function annotationOf(vendor, part2) {
  return vendorKey(vendor, part2, "autoscaling.alpha");
}
function withCarried(metadata, carried, vendor) {
  let result = { ...metadata, annotations: { ...metadata.annotations } };
  for (let part2 of parts) {
    let text4 = carried[part2];
    text4 === void 0 ? delete result.annotations[annotationOf(vendor, part2)] : result.annotations[annotationOf(vendor, part2)] = text4;
  }
  if (Object.keys(result.annotations).length > 0) return result;
  let { annotations: _, ...bare } = result;
  return bare;
}
function dropCarried(metadata, vendor) {
  let { annotations } = metadata;
  if (annotations !== void 0) {
    for (let part2 of parts) delete annotations[annotationOf(vendor, part2)];
    Object.keys(annotations).length === 0 && delete metadata.annotations;
  }
}
function readCarried({ annotations = {} }, { part: part2, schema, vendor }) {
  let text4 = annotations[annotationOf(vendor, part2)];
  if (text4 !== void 0)
    try {
      return decode(schema, part2 === "behavior" ? lowerKeys(JSON.parse(text4)) : JSON.parse(text4)).value;
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof ApiError) return;
      throw error;
    }
}
function upperKeys(value) {
  return renameKeys(value, (key) => `${key.slice(0, 1).toUpperCase()}${key.slice(1)}`);
}
function lowerKeys(value) {
  return renameKeys(value, (key) => `${key.slice(0, 1).toLowerCase()}${key.slice(1)}`);
}
function renameKeys(value, rename3) {
  return Array.isArray(value) ? value.map((item) => renameKeys(item, rename3)) : isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [rename3(key), renameKeys(item, rename3)])) : value;
}

// src/kinds/meta/label-selector.ts
var requirementFields = {
  key: field(1, s.string(), { zero: "write", doc: "The key of the label." }),
  operator: field(2, s.string(), { zero: "write", doc: "In, NotIn, Exists or DoesNotExist." }),
  values: field(3, s.list(s.string()), { doc: "The values for In and NotIn; none for the others." })
}, requirementNames = {
  name: "meta.v1.LabelSelectorRequirement",
  doc: "What must hold for the value of one label."
}, selectorNames = {
  name: "meta.v1.LabelSelector",
  doc: "Selects objects by their labels. All that it says must hold; an empty one selects everything.",
  atomic: !0
}, matchLabels = field(1, s.map(s.string()), { doc: "Labels that must be there, with their values." }), expressionsDoc = { doc: "What else must hold for labels." }, freeLabelSelector = s.object(
  { matchLabels, matchExpressions: field(2, s.list(s.object(requirementFields, requirementNames)), expressionsDoc) },
  selectorNames
), requirement = s.object(requirementFields, { ...requirementNames, check: checkRequirement }), selectorFields = { matchLabels, matchExpressions: field(2, s.list(requirement), expressionsDoc) }, labelSelector = s.object(selectorFields, {
  ...selectorNames,
  check: ({ matchLabels: labels }, path) => checkLabels(labels, child(path, "matchLabels"))
});
function checkRequirement({ key = "", operator = "", values = [] }, path) {
  return [...checkOperator(operator, values, path), ...checkLabelKey(key, child(path, "key"))];
}
function checkOperator(operator, values, path) {
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length > 0 ? [] : [required(child(path, "values"), "needed when `operator` is 'In' or 'NotIn'")];
    case "Exists":
    case "DoesNotExist":
      return values.length === 0 ? [] : [forbidden(child(path, "values"), "none may be given when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return [invalid(child(path, "operator"), operator, "not a valid selector operator")];
  }
}

// src/kinds/autoscaling/object-reference.ts
var fields2 = {
  kind: field(1, s.string(), { zero: "write", doc: "Its kind." }),
  name: field(2, s.string(), { zero: "write", doc: "Its name." }),
  apiVersion: field(3, s.string(), { doc: "Group and version of its kind." })
}, names = { name: "CrossVersionObjectReference", doc: "An object of any kind in the same namespace." }, objectReference = s.object(fields2, { ...names, check: checkReference }), wholeObjectReference = s.object(fields2, { ...names, check: checkReference, atomic: !0 });
function checkReference({ kind = "", name: name3 = "" }, path) {
  return [...checkSegment(kind, child(path, "kind")), ...checkSegment(name3, child(path, "name"))];
}
function checkSegment(text4, path) {
  return text4 === "" ? [required(path)] : checkPathSegment(text4).map((fault) => invalid(path, text4, fault));
}

// src/kinds/autoscaling/metrics.ts
var identifierFields = {
  name: field(1, s.string(), { zero: "write", doc: "The name of the metric." }),
  selector: field(2, freeLabelSelector, { doc: "Narrows the metric down; who provides it knows how." })
}, identifier = s.object(identifierFields, {
  name: "MetricIdentifier",
  doc: "A metric by name.",
  check: ({ name: name3 = "" }, path) => checkSegment(name3, child(path, "name"))
}), targetFields = {
  type: field(1, s.string(), { zero: "write", doc: "What is aimed at: Utilization, Value or AverageValue." }),
  value: field(2, s.quantity(), { doc: "The value of the metric." }),
  averageValue: field(3, s.quantity(), { doc: "The value of the metric per Pod." }),
  averageUtilization: field(4, s.int32(), {
    zero: "keep",
    doc: "The average over the Pods in percent of what they request. For resources alone."
  })
}, metricTarget = s.object(targetFields, {
  name: "MetricTarget",
  doc: "The value to aim for.",
  check: checkTarget
}), metricValue = s.object(
  {
    value: field(1, s.quantity(), { doc: "The value of the metric." }),
    averageValue: field(2, s.quantity(), { doc: "The value of the metric per Pod." }),
    averageUtilization: field(3, s.int32(), {
      zero: "keep",
      doc: "The average over the Pods in percent of what they request."
    })
  },
  { name: "MetricValueStatus", doc: "The value that was last seen." }
), part = { zero: "write", published: "required" }, target = field(2, metricTarget, { ...part, doc: "The value to aim for." }), current = field(2, metricValue, { ...part, doc: "The value that was last seen." }), name = field(1, s.string(), { zero: "write", doc: "The name of the resource, such as cpu." }), container = field(3, s.string(), { zero: "write", doc: "The name of the container." }), metric = field(1, identifier, { ...part, doc: "The metric." }), describedObject = (tag) => field(tag, objectReference, { ...part, doc: "The object it is of." }), objectSource = s.object(
  { describedObject: describedObject(1), target, metric: field(3, identifier, { ...part, doc: "The metric." }) },
  {
    name: "ObjectMetricSource",
    doc: "A metric of one object, such as the requests to an Ingress.",
    check: ({ target: target2 = {} }, path) => needOne(target2, ["value", "averageValue"], child(path, "target"))
  }
), podsSource = s.object(
  { metric, target },
  { name: "PodsMetricSource", doc: "A metric of every Pod, averaged.", check: checkPods }
), resourceSource = s.object(
  { name, target },
  { name: "ResourceMetricSource", doc: "A resource that the Pods use.", check: checkResource }
), containerSource = s.object(
  { name, target, container },
  {
    name: "ContainerResourceMetricSource",
    doc: "A resource that one container of each Pod uses.",
    check: checkContainer
  }
), externalSource = s.object(
  { metric, target },
  { name: "ExternalMetricSource", doc: "A metric of something outside the cluster.", check: checkExternal }
), type = field(1, s.string(), {
  zero: "write",
  doc: "Object, Pods, Resource, ContainerResource or External: the field that says more."
}), specFields = {
  type,
  object: field(2, objectSource, { doc: "A metric of one object." }),
  pods: field(3, podsSource, { doc: "A metric of every Pod." }),
  resource: field(4, resourceSource, { doc: "A resource that the Pods use." }),
  containerResource: field(7, containerSource, { doc: "A resource that one container of each Pod uses." }),
  external: field(5, externalSource, { doc: "A metric of something outside the cluster." })
}, metricSpec = s.object(specFields, {
  name: "MetricSpec",
  doc: "What to look at, and the value to aim for.",
  check: checkSpec
}), objectStatus = s.object(
  { metric, current, describedObject: describedObject(3) },
  { name: "ObjectMetricStatus", doc: "What was seen of one object." }
), podsStatus = s.object({ metric, current }, { name: "PodsMetricStatus", doc: "What was seen of the Pods." }), resourceStatus = s.object(
  { name, current },
  { name: "ResourceMetricStatus", doc: "How much of a resource the Pods were seen to use." }
), containerStatus = s.object(
  { name, current, container },
  { name: "ContainerResourceMetricStatus", doc: "How much of a resource one container of each Pod was seen to use." }
), externalStatus = s.object(
  { metric, current },
  { name: "ExternalMetricStatus", doc: "What was seen of something outside the cluster." }
), statusFields = {
  type,
  object: field(2, objectStatus, { doc: "What was seen of one object." }),
  pods: field(3, podsStatus, { doc: "What was seen of the Pods." }),
  resource: field(4, resourceStatus, { doc: "How much of a resource the Pods use." }),
  containerResource: field(7, containerStatus, { doc: "How much of a resource one container of each Pod uses." }),
  external: field(5, externalStatus, { doc: "What was seen of something outside the cluster." })
}, metricStatus = s.object(statusFields, { name: "MetricStatus", doc: "What was last seen of one metric." }), sources = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource"
}, types = Object.keys(sources);
function sourceField(type3) {
  return type3 !== void 0 && Object.hasOwn(sources, type3) ? sources[type3] : void 0;
}
function checkSpec(spec8, path) {
  let { type: type3 = "" } = spec8, expected = sourceField(type3), errors = type3 === "" ? [required(child(path, "type"), "say which type of metric it is")] : [];
  expected === void 0 ? errors.push(notSupported(child(path, "type"), type3, types)) : spec8[expected] === void 0 && errors.push(required(child(path, expected), `it is a metric of type ${type3}`));
  let present = Object.values(sources).filter((source) => spec8[source] !== void 0), surplus = present.length === 1 ? [] : present.filter((source) => source !== expected);
  return [...errors, ...surplus.map((source) => forbidden(child(path, source), "only the source of its type counts"))];
}
var targetTypes = ["Utilization", "Value", "AverageValue"];
function checkTarget({ type: type3 = "", value, averageValue, averageUtilization }, path) {
  let errors = type3 === "" ? [required(child(path, "type"), "say what the target is")] : [];
  return targetTypes.includes(type3) || errors.push(invalid(child(path, "type"), type3, "must be either Utilization, Value, or AverageValue")), errors.push(
    ...checkPositive(value, child(path, "value")),
    ...checkPositive(averageValue, child(path, "averageValue"))
  ), averageUtilization !== void 0 && averageUtilization < 1 && errors.push(invalid(child(path, "averageUtilization"), averageUtilization, "must be greater than 0")), errors;
}
function isPositive(quantity) {
  return quantity !== void 0 && (parseQuantity(quantity)?.nanos ?? 0n) > 0n;
}
function checkPositive(quantity, path) {
  return quantity === void 0 || isPositive(quantity) ? [] : [invalid(path, quantity, "must be positive")];
}
function needOne(target2, names3, path) {
  let [first, second] = names3;
  return target2[first] !== void 0 || target2[second] !== void 0 ? [] : [required(child(path, second), `must set either ${first} or ${second}`)];
}
function checkPods({ target: target2 = {} }, path) {
  return isPositive(target2.averageValue) ? [] : [required(child(path, "target.averageValue"), "must be positive")];
}
function checkExternal({ target: target2 = {} }, path) {
  let place3 = child(path, "target");
  return target2.value !== void 0 && target2.averageValue !== void 0 ? [forbidden(child(place3, "value"), "may not be set together with averageValue")] : needOne(target2, ["value", "averageValue"], place3);
}
function checkResource({ name: name3 = "", target: target2 = {} }, path) {
  let place3 = child(path, "target"), errors = name3 === "" ? [required(child(path, "name"), "say which resource")] : [];
  return target2.averageValue !== void 0 && target2.averageUtilization !== void 0 ? [...errors, forbidden(child(place3, "averageValue"), "may not be set together with averageUtilization")] : [...errors, ...needOne(target2, ["averageValue", "averageUtilization"], place3)];
}
function checkContainer(source, path) {
  let errors = checkResource(source, path);
  return source.container ? errors : [...errors, required(child(path, "container"), "say which container")];
}
function checkScaleToZero(metrics, minReplicas, path) {
  return minReplicas !== 0 || metrics.some(({ type: type3 }) => type3 === "Object" || type3 === "External") ? [] : [forbidden(path, "must hold at least one Object or External metric to support scaling to zero replicas")];
}

// src/kinds/autoscaling/targets-column.ts
var shown = 2;
function describeTargets(specs, statuses) {
  if (specs.length === 0) return "<none>";
  let texts = specs.slice(0, shown).map((spec8, i) => describe(spec8, statuses[i])), rest = specs.length - shown;
  return rest > 0 ? `${texts.join(", ")} + ${rest} more...` : texts.join(", ");
}
function describe(spec8, status9) {
  let source = sourceField(spec8.type);
  if (source === void 0) return "<unknown type>";
  let target2 = spec8[source]?.target ?? {}, current2 = status9?.[source]?.current ?? {};
  switch (source) {
    case "pods":
      return pair(current2.averageValue, target2.averageValue);
    case "resource":
    case "containerResource":
      return target2.averageValue === void 0 ? pair(percent(current2.averageUtilization), percent(target2.averageUtilization), "<auto>") : pair(current2.averageValue, target2.averageValue);
    default:
      return describeValue(current2, target2);
  }
}
function describeValue(current2, target2) {
  return target2.averageValue === void 0 ? pair(current2.value, target2.value) : `${pair(current2.averageValue, target2.averageValue)} (avg)`;
}
function percent(value) {
  return value === void 0 ? void 0 : `${value}%`;
}
function pair(current2, target2, unset = "0") {
  return `${current2 ?? "<unknown>"}/${target2 ?? unset}`;
}

// src/kinds/autoscaling/horizontal-pod-autoscaler.ts
var replicaFields = {
  minReplicas: field(2, s.int32(), { zero: "keep", default: 1, doc: "The fewest replicas." }),
  maxReplicas: field(3, s.int32(), { zero: "write", doc: "The most replicas; not below minReplicas." })
}, specFields2 = {
  scaleTargetRef: field(1, objectReference, { zero: "write", published: "required", doc: "What is scaled." }),
  ...replicaFields,
  metrics: field(4, s.list(metricSpec), {
    doc: "What to look at; the one that asks for the most replicas counts. By default 80 percent of the processors."
  }),
  behavior: field(5, behavior, { doc: "How fast it scales." })
}, spec2 = s.object(specFields2, {
  name: "HorizontalPodAutoscalerSpec",
  doc: "What is scaled, within which limits and by which metrics.",
  fill: (value) => fillMetrics(value),
  check: checkSpec2
}), condition = s.object(
  {
    type: field(1, s.string(), { zero: "write", doc: "AbleToScale, ScalingActive, ScalingLimited or another." }),
    status: field(2, s.string(), { zero: "write", doc: "True, False or Unknown." }),
    lastTransitionTime: field(3, s.time(), { zero: "write", doc: "When the status last changed." }),
    reason: field(4, s.string(), { doc: "Why, in one word for programs." }),
    message: field(5, s.string(), { doc: "Why, for people." })
  },
  { name: "HorizontalPodAutoscalerCondition", doc: "Something that is known of how scaling goes." }
), conditions = s.list(condition, { list: "map", keys: ["type"], patch: "merge", mergeKey: "type" }), observedFields = {
  observedGeneration: field(1, s.int64(), { zero: "keep", doc: "The generation of the object that it was seen at." }),
  lastScaleTime: field(2, s.time(), { doc: "When the number of replicas was last changed." })
}, statusFields2 = {
  ...observedFields,
  currentReplicas: field(3, s.int32(), { doc: "How many replicas there are." }),
  desiredReplicas: field(4, s.int32(), { zero: "write", doc: "How many there should be." }),
  currentMetrics: field(5, s.list(metricStatus), { doc: "What was last seen of each metric." }),
  conditions: field(6, conditions, { doc: "How scaling goes." })
}, status2 = s.object(statusFields2, { name: "HorizontalPodAutoscalerStatus", doc: "What it saw and did last." }), fields3 = {
  spec: field(2, spec2, { zero: "write", doc: "What is scaled, and by what." }),
  status: field(3, status2, { zero: "write", doc: "What it saw and did last. Set by the server." })
}, horizontalPodAutoscaler = defineKind({
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  doc: "Keeps the number of replicas of something between two limits, so that metrics stay near their targets.",
  shortNames: ["hpa"],
  categories: ["all"],
  scope: "Namespaced",
  fields: fields3,
  columns: [
    nameColumn,
    column("Reference", "What is scaled.", ({ spec: spec8 }) => {
      let { kind = "", name: name3 = "" } = spec8?.scaleTargetRef ?? {};
      return `${kind}/${name3}`;
    }),
    column(
      "Targets",
      "Where each metric is and where it should be.",
      ({ spec: spec8, status: status9 }) => describeTargets(spec8?.metrics ?? [], status9?.currentMetrics ?? [])
    ),
    column(
      "MinPods",
      "The fewest replicas.",
      ({ spec: spec8 }) => String(spec8?.minReplicas ?? "<unset>")
    ),
    column("MaxPods", "The most replicas.", ({ spec: spec8 }) => spec8?.maxReplicas ?? 0),
    column("Replicas", "How many there are.", ({ status: status9 }) => status9?.currentReplicas ?? 0),
    ageColumn
  ],
  readOnly: ["status"],
  subresources: {
    status: plainStatus
  },
  // What other versions carry in annotations has fields of its own here.
  fillDefaults: ({ metadata }, { vendor }) => dropCarried(metadata, vendor),
  prepareForCreate: (object) => {
    object.status = { desiredReplicas: 0 }, dropContainerSources(object.spec);
  },
  prepareForUpdate: (next, previous) => {
    keep(next, previous, "status"), usesContainers(previous.spec) || dropContainerSources(next.spec);
  },
  validateUpdate: ({ status: status9 = {} }, _, { subresource }) => subresource === "status" ? checkStatus(status9) : []
});
function fillMetrics(spec8) {
  (spec8.metrics ?? []).length === 0 && (spec8.metrics = [cpuMetric(80)]);
}
function cpuMetric(averageUtilization) {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}
function dropContainerSources({ metrics = [] } = {}) {
  for (let metric2 of metrics) delete metric2.containerResource;
}
function usesContainers({ metrics = [] } = {}) {
  return metrics.some(({ containerResource }) => containerResource !== void 0);
}
function checkSpec2({ minReplicas, maxReplicas = 0, metrics = [] }, path) {
  let maxPath = child(path, "maxReplicas");
  return [
    ...minReplicas !== void 0 && minReplicas < 1 ? [invalid(child(path, "minReplicas"), minReplicas, "must be greater than or equal to 1")] : [],
    ...maxReplicas < 1 ? [invalid(maxPath, maxReplicas, "must be greater than 0")] : [],
    ...minReplicas !== void 0 && maxReplicas < minReplicas ? [invalid(maxPath, maxReplicas, "must be greater than or equal to `minReplicas`")] : [],
    ...checkScaleToZero(metrics, minReplicas, child(path, "metrics"))
  ];
}
function checkStatus({ currentReplicas = 0, desiredReplicas = 0 }) {
  return [
    ...nonNegative(currentReplicas, "status.currentReplicas"),
    ...nonNegative(desiredReplicas, "status.desiredReplicas")
  ];
}
function nonNegative(value, path) {
  return value < 0 ? [invalid(path, value, "must be greater than or equal to 0")] : [];
}

// src/kinds/autoscaling/v1-metrics.ts
var type2 = field(1, s.string(), { zero: "write" }), name2 = field(1, s.string(), { zero: "write" }), reference = field(1, objectReference, { zero: "write" }), metricName = (tag) => field(tag, s.string(), { zero: "write" }), container2 = field(4, s.string(), { zero: "write" }), utilization = field(2, s.int32(), { zero: "keep" }), metricSpecV1 = s.object({
  type: type2,
  object: field(
    2,
    s.object({
      target: reference,
      metricName: metricName(2),
      targetValue: field(3, s.quantity(), { zero: "write" }),
      selector: field(4, freeLabelSelector),
      averageValue: field(5, s.quantity())
    })
  ),
  pods: field(
    3,
    s.object({
      metricName: metricName(1),
      targetAverageValue: field(2, s.quantity(), { zero: "write" }),
      selector: field(3, freeLabelSelector)
    })
  ),
  resource: field(
    4,
    s.object({ name: name2, targetAverageUtilization: utilization, targetAverageValue: field(3, s.quantity()) })
  ),
  containerResource: field(
    7,
    s.object({
      name: name2,
      targetAverageUtilization: utilization,
      targetAverageValue: field(3, s.quantity()),
      container: container2
    })
  ),
  external: field(
    5,
    s.object({
      metricName: metricName(1),
      metricSelector: field(2, freeLabelSelector),
      targetValue: field(3, s.quantity()),
      targetAverageValue: field(4, s.quantity())
    })
  )
}), metricStatusV1 = s.object({
  type: type2,
  object: field(
    2,
    s.object({
      target: reference,
      metricName: metricName(2),
      currentValue: field(3, s.quantity(), { zero: "write" }),
      selector: field(4, freeLabelSelector),
      averageValue: field(5, s.quantity())
    })
  ),
  pods: field(
    3,
    s.object({
      metricName: metricName(1),
      currentAverageValue: field(2, s.quantity(), { zero: "write" }),
      selector: field(3, freeLabelSelector)
    })
  ),
  resource: field(
    4,
    s.object({
      name: name2,
      currentAverageUtilization: utilization,
      currentAverageValue: field(3, s.quantity(), { zero: "write" })
    })
  ),
  containerResource: field(
    7,
    s.object({
      name: name2,
      currentAverageUtilization: utilization,
      currentAverageValue: field(3, s.quantity(), { zero: "write" }),
      container: container2
    })
  ),
  external: field(
    5,
    s.object({
      metricName: metricName(1),
      metricSelector: field(2, freeLabelSelector),
      currentValue: field(3, s.quantity(), { zero: "write" }),
      currentAverageValue: field(4, s.quantity())
    })
  )
});
function specToV1({ type: type3, object, pods: pods2, resource, containerResource, external }) {
  return {
    type: type3,
    object: object && {
      target: referenceToV1(object.describedObject),
      metricName: object.metric?.name,
      targetValue: object.target?.value ?? "0",
      selector: selectorToV1(object.metric),
      averageValue: object.target?.averageValue
    },
    pods: pods2 && {
      metricName: pods2.metric?.name,
      targetAverageValue: pods2.target?.averageValue ?? "0",
      selector: selectorToV1(pods2.metric)
    },
    resource: resource && { name: resource.name, ...resourceTargetToV1(resource.target) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...resourceTargetToV1(containerResource.target),
      container: containerResource.container
    },
    external: external && {
      metricName: external.metric?.name,
      metricSelector: selectorToV1(external.metric),
      targetValue: external.target?.value,
      targetAverageValue: external.target?.averageValue
    }
  };
}
function specFromV1({ type: type3, object, pods: pods2, resource, containerResource, external }) {
  return defined({
    type: type3,
    object: object && {
      describedObject: object.target,
      target: valueTarget(isSet(object.targetValue) ? object.targetValue : void 0, object.averageValue),
      metric: metricFromV1(object.metricName, object.selector)
    },
    pods: pods2 && {
      metric: metricFromV1(pods2.metricName, pods2.selector),
      target: { type: "AverageValue", averageValue: pods2.targetAverageValue }
    },
    resource: resource && { name: resource.name, target: resourceTarget(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      target: resourceTarget(containerResource),
      container: containerResource.container
    },
    external: external && {
      metric: metricFromV1(external.metricName, external.metricSelector),
      target: valueTarget(external.targetValue, external.targetAverageValue)
    }
  });
}
function statusToV1({ type: type3, object, pods: pods2, resource, containerResource, external }) {
  return {
    type: type3,
    object: object && {
      target: referenceToV1(object.describedObject),
      metricName: object.metric?.name,
      currentValue: object.current?.value ?? "0",
      selector: selectorToV1(object.metric),
      averageValue: object.current?.averageValue
    },
    pods: pods2 && {
      metricName: pods2.metric?.name,
      currentAverageValue: pods2.current?.averageValue ?? "0",
      selector: selectorToV1(pods2.metric)
    },
    resource: resource && {
      name: resource.name,
      currentAverageUtilization: resource.current?.averageUtilization,
      currentAverageValue: resource.current?.averageValue ?? "0"
    },
    containerResource: containerResource && {
      name: containerResource.name,
      currentAverageUtilization: containerResource.current?.averageUtilization,
      currentAverageValue: containerResource.current?.averageValue ?? "0",
      container: containerResource.container
    },
    external: external && {
      metricName: external.metric?.name,
      metricSelector: selectorToV1(external.metric),
      currentValue: external.current?.value ?? "0",
      currentAverageValue: external.current?.averageValue
    }
  };
}
function statusFromV1({
  type: type3,
  object,
  pods: pods2,
  resource,
  containerResource,
  external
}) {
  return defined({
    type: type3,
    object: object && {
      metric: metricFromV1(object.metricName, object.selector),
      current: defined({ value: object.currentValue, averageValue: object.averageValue }),
      describedObject: object.target
    },
    pods: pods2 && {
      metric: metricFromV1(pods2.metricName, pods2.selector),
      current: { averageValue: pods2.currentAverageValue }
    },
    resource: resource && { name: resource.name, current: resourceValue(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      current: resourceValue(containerResource),
      container: containerResource.container
    },
    external: external && {
      metric: metricFromV1(external.metricName, external.metricSelector),
      current: defined({ value: external.currentValue, averageValue: external.currentAverageValue })
    }
  });
}
function restoreMetrics(said, stored2, toV1) {
  let left = said.map((metric2) => ({ metric: metric2, words: JSON.stringify(toV1(metric2)) }));
  return [...stored2.filter((metric2) => {
    let words = JSON.stringify(toV1(metric2)), index = left.findIndex((candidate) => candidate.words === words);
    return index >= 0 && left.splice(index, 1);
  }), ...left.map(({ metric: metric2 }) => metric2)];
}
function isSet(quantity) {
  return quantity !== void 0 && quantity !== "0";
}
function valueTarget(value, averageValue) {
  return defined({ type: averageValue === void 0 ? "Value" : "AverageValue", value, averageValue });
}
function resourceTargetToV1({ averageUtilization, averageValue } = {}) {
  return { targetAverageUtilization: averageUtilization, targetAverageValue: averageValue };
}
function resourceTarget(source) {
  let { targetAverageUtilization: averageUtilization, targetAverageValue: averageValue } = source;
  return defined({ type: averageUtilization === void 0 ? "AverageValue" : "Utilization", averageUtilization, averageValue });
}
function resourceValue(source) {
  let { currentAverageUtilization: averageUtilization, currentAverageValue: averageValue } = source;
  return defined({ averageUtilization, averageValue });
}
function metricFromV1(name3, chosen) {
  return defined({ name: name3, selector: chosen });
}
function selectorToV1({ selector: chosen } = {}) {
  if (chosen === void 0) return;
  let expressions = chosen.matchExpressions?.map(({ key, operator, values }) => ({ key, operator, values }));
  return { matchLabels: chosen.matchLabels, matchExpressions: expressions };
}
function referenceToV1({ kind, name: name3, apiVersion } = {}) {
  return { kind, name: name3, apiVersion };
}

// src/kinds/autoscaling/horizontal-pod-autoscaler-v1.ts
var spec3 = s.object(
  {
    scaleTargetRef: field(1, wholeObjectReference, { zero: "write", published: "required", doc: "What is scaled." }),
    ...replicaFields,
    targetCPUUtilizationPercentage: field(4, s.int32(), {
      zero: "keep",
      doc: "How much of the processors that they request the Pods should use on average, in percent; 80 if unset."
    })
  },
  { name: "HorizontalPodAutoscalerSpec", doc: "What is scaled, and within which limits." }
), status3 = s.object(
  {
    ...observedFields,
    currentReplicas: field(3, s.int32(), { zero: "write", doc: "How many replicas there are." }),
    desiredReplicas: field(4, s.int32(), { zero: "write", doc: "How many there should be." }),
    currentCPUUtilizationPercentage: field(5, s.int32(), {
      zero: "keep",
      doc: "How much of the processors that they request the Pods use on average, in percent."
    })
  },
  { name: "HorizontalPodAutoscalerStatus", doc: "What it saw and did last." }
), fields4 = {
  spec: field(2, spec3, { zero: "write", doc: "What is scaled, and by what." }),
  status: field(3, status3, { zero: "write", doc: "What it saw and did last. Set by the server." })
}, horizontalPodAutoscalerV1 = defineVersion(horizontalPodAutoscaler, {
  version: "v1",
  fields: fields4,
  fromStored,
  toStored
});
function fromStored(object, vendor) {
  let { metrics = [], behavior: rules2, ...spec8 } = object.spec ?? {}, { currentMetrics = [], conditions: conditions4 = [], ...status9 } = object.status ?? {}, cpu = metrics.find(isCpuTarget), others = metrics.filter((metric2) => metric2 !== cpu), carried = {
    metrics: others.length > 0 ? JSON.stringify(others.map(specToV1)) : void 0,
    behavior: rules2 && JSON.stringify(upperKeys({ scaleUp: rulesToV1(rules2.scaleUp), scaleDown: rulesToV1(rules2.scaleDown) })),
    "current-metrics": currentMetrics.length > 0 ? JSON.stringify(currentMetrics.map(statusToV1)) : void 0,
    conditions: conditions4.length > 0 ? JSON.stringify(conditions4.map(inOrder)) : void 0
  };
  return {
    ...object,
    metadata: withCarried(object.metadata, carried, vendor),
    spec: { ...spec8, ...defined({ targetCPUUtilizationPercentage: cpu?.resource?.target?.averageUtilization }) },
    status: {
      ...status9,
      currentReplicas: status9.currentReplicas ?? 0,
      ...defined({ currentCPUUtilizationPercentage: cpuUtilization(currentMetrics) })
    }
  };
}
function toStored(object, vendor, previous) {
  let { metadata } = object, { targetCPUUtilizationPercentage: target2, ...spec8 } = object.spec ?? {}, { currentCPUUtilizationPercentage: current2, ...status9 } = object.status ?? {}, metrics = readCarried(metadata, { part: "metrics", schema: s.list(metricSpecV1), vendor })?.map(specFromV1) ?? [], said = target2 === void 0 ? metrics : [...metrics, cpuMetric(target2)], currentMetrics = readCarried(metadata, { part: "current-metrics", schema: s.list(metricStatusV1), vendor })?.map(statusFromV1) ?? (current2 === void 0 ? [] : [cpuStatus(current2)]);
  return {
    ...object,
    metadata: withCarried(metadata, {}, vendor),
    spec: {
      ...spec8,
      metrics: restoreMetrics(said, previous?.spec?.metrics ?? [], specToV1),
      ...defined({ behavior: readCarried(metadata, { part: "behavior", schema: behavior, vendor }) })
    },
    status: {
      ...status9,
      currentMetrics: restoreMetrics(currentMetrics, previous?.status?.currentMetrics ?? [], statusToV1),
      ...defined({ conditions: readCarried(metadata, { part: "conditions", schema: s.list(condition), vendor }) })
    }
  };
}
function isCpuTarget({ type: type3, resource }) {
  return type3 === "Resource" && resource?.name === "cpu" && resource.target?.averageUtilization !== void 0;
}
function cpuUtilization(metrics) {
  return metrics.find(({ type: type3, resource }) => type3 === "Resource" && resource?.name === "cpu")?.resource?.current?.averageUtilization;
}
function cpuStatus(averageUtilization) {
  return { type: "Resource", resource: { name: "cpu", current: { averageUtilization } } };
}
function rulesToV1(rules2) {
  if (rules2 === void 0) return null;
  let { stabilizationWindowSeconds = null, selectPolicy = null, policies: policies2 = [] } = rules2;
  return {
    stabilizationWindowSeconds,
    selectPolicy,
    policies: policies2.map(({ type: type3, value, periodSeconds }) => ({ type: type3, value, periodSeconds }))
  };
}
function inOrder({ type: type3, status: status9, lastTransitionTime, reason, message }) {
  return { type: type3, status: status9, lastTransitionTime, reason, message };
}

// src/pki/certificate-chain.ts
import { X509Certificate as X509Certificate2 } from "node:crypto";

// src/pki/pem.ts
var mark = `
-----`;
function* readPemBlocks(bytes) {
  let text4 = `
${bytes.toString("latin1")}`, open2;
  for (let at2 = text4.indexOf(mark); at2 >= 0; at2 = text4.indexOf(mark, at2 + 1)) {
    let lineEnd = endOfLine(text4, at2 + 1), line = text4.slice(at2 + 1, lineEnd).trimEnd();
    if (open2 !== void 0 && line === `-----END ${open2.label}-----`) {
      let block = readBlock(open2.label, text4.slice(open2.contentAt, at2));
      block !== void 0 && (yield block);
    }
    let label = beginLabel(line);
    open2 = label === void 0 ? void 0 : { label, contentAt: Math.min(lineEnd + 1, text4.length) };
  }
}
function endOfLine(text4, from) {
  let newline = text4.indexOf(`
`, from);
  return newline < 0 ? text4.length : newline;
}
function beginLabel(line) {
  return line.startsWith("-----BEGIN ") && line.endsWith("-----") ? line.slice(11, -5) : void 0;
}
function readBlock(label, content) {
  let headers = headersLength(content), base642 = content.slice(headers).replaceAll(/[ \t\r\n]+/g, "");
  if (!(base642.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base642)))
    return { label, hasHeaders: headers > 0, bytes: Buffer.from(base642, "base64") };
}
function headersLength(content) {
  let at2 = 0;
  for (let end = 0; at2 < content.length && (end = endOfLine(content, at2), !!content.slice(at2, end).includes(":")); at2 = end + 1)
    ;
  return Math.min(at2, content.length);
}

// src/pki/certificate-chain.ts
var maxCertificates = 100;
function checkCertificateChain(pem) {
  let count2 = 0;
  for (let { label, hasHeaders, bytes } of readPemBlocks(pem)) {
    if (label !== "CERTIFICATE")
      throw new UnsoundInput(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(label.slice(0, 100))}`);
    if (hasHeaders) throw new UnsoundInput("no PEM block headers are permitted");
    let certificates = readSeveral(bytes);
    if (certificates.length === 0) throw new UnsoundInput("a CERTIFICATE PEM block has no certificate in it");
    if (count2 += certificates.length, count2 > maxCertificates) throw new UnsoundInput(`more than ${maxCertificates} certificates`);
    for (let certificate of certificates) checkCertificate(expectTag(certificate, tags.sequence));
  }
  if (count2 === 0) throw new UnsoundInput("must contain at least one CERTIFICATE PEM block");
}
function checkCertificate({ whole }) {
  if (!hasOneSignatureAlgorithm(whole)) throw new UnsoundInput("a certificate names two signature algorithms");
  try {
    new X509Certificate2(whole);
  } catch (cause) {
    throw new UnsoundInput("a certificate is malformed", { cause });
  }
}

// src/pki/certificate-request.ts
import { constants as constants2, verify } from "node:crypto";

// src/pki/algorithm.ts
function readAlgorithm(element) {
  let [id, parameters, ...rest] = childrenOf(expectTag(element, tags.sequence));
  if (rest.length > 0) throw new MalformedDer("an algorithm has more than one parameter");
  return { id: expectTag(id, tags.oid).content.toString("hex"), parameters };
}
function readBits(element) {
  let { content } = expectTag(element, tags.bitString);
  if (content[0] !== 0) throw new MalformedDer("a bit string is not made of whole bytes");
  return content.subarray(1);
}

// src/pki/identity.ts
var commonNameId = Buffer.from("550403", "hex"), organizationId = Buffer.from("55040a", "hex");
function readSubject(certificate) {
  return readName(subjectOf(certificate));
}
function readName(name3) {
  let commonName, organizations = [];
  for (let relative of childrenOf(name3))
    for (let attribute of attributesOf(relative)) {
      let { id, value } = partsOf(attribute);
      id.equals(organizationId) ? organizations.push(readString(value)) : commonName === void 0 && id.equals(commonNameId) && (commonName = readString(value));
    }
  return { commonName, organizations };
}
function attributesOf(relative) {
  let attributes = childrenOf(expectTag(relative, tags.set));
  if (attributes.length === 0) throw new MalformedDer("a relative distinguished name is empty");
  return attributes;
}
function partsOf(attribute) {
  let [id, value, ...rest] = childrenOf(expectTag(attribute, tags.sequence));
  if (value === void 0 || rest.length > 0) throw new MalformedDer("an attribute is not one type and one value");
  return { id: expectTag(id, tags.oid).content, value };
}
function readString({ tag, content }) {
  switch (tag) {
    case 12:
      return readUtf8(content);
    case 18:
    // NumericString
    case 19:
    // PrintableString
    case 22:
    // IA5String
    case 26:
      return readAscii(content);
    case 20:
      return content.toString("latin1");
    case 28:
      return readCodePoints(content, 4);
    case 30:
      return readCodePoints(content, 2);
    default:
      throw new MalformedDer(`a name is of type 0x${tag.toString(16)}, which is no string`);
  }
}
function readUtf8(content) {
  let text4 = content.toString("utf8");
  if (text4.includes("\uFFFD") && !Buffer.from(text4).equals(content)) throw new MalformedDer("a UTF8String is not UTF-8");
  return text4;
}
function readAscii(content) {
  if (content.some((byte) => byte >= 128)) throw new MalformedDer("a string has bytes outside ASCII");
  return content.toString("latin1");
}
function readCodePoints(content, width) {
  if (content.length % width !== 0) throw new MalformedDer("a string ends within a character");
  let text4 = "";
  for (let at2 = 0; at2 < content.length; at2 += width) text4 += characterOf(content.readUIntBE(at2, width));
  return text4;
}
function characterOf(codePoint) {
  if (codePoint > 1114111 || codePoint >= 55296 && codePoint <= 57343)
    throw new MalformedDer("a string has a code point that is no character");
  return String.fromCodePoint(codePoint);
}

// src/pki/public-key.ts
import { createPublicKey } from "node:crypto";
var maxModulusBytes = 16384 / 8, maxExponentBytes = 4, pointBytes = {
  "2b81040021": 57,
  "2a8648ce3d030107": 65,
  "2b81040022": 97,
  "2b81040023": 133
};
function readPublicKey(info) {
  let [algorithm, bits, ...rest] = childrenOf(info);
  if (rest.length > 0) throw new MalformedDer("a public key is more than algorithm and key");
  let { id, parameters } = readAlgorithm(algorithm);
  checkKey(id, parameters, readBits(bits));
  try {
    return createPublicKey({ key: info.whole, format: "der", type: "spki" });
  } catch (cause) {
    throw new UnsoundInput("the public key is not valid", { cause });
  }
}
function checkKey(type3, parameters, key) {
  switch (type3) {
    case "2a864886f70d010101":
      checkRsa(parameters, key);
      break;
    case "2a8648ce3d0201":
      checkEc(expectTag(parameters, tags.oid).content.toString("hex"), key);
      break;
    case "2b6570":
      if (parameters !== void 0 || key.length !== 32) throw new UnsoundInput("the Ed25519 key is not valid");
      break;
    default:
      throw new UnsoundInput("the type of the public key is not supported: use RSA, ECDSA or Ed25519");
  }
}
function checkRsa(parameters, key) {
  expectTag(parameters, tags.null);
  let [modulus, exponent, ...rest] = childrenOf(readWhole(key, tags.sequence));
  if (rest.length > 0) throw new MalformedDer("an RSA key is more than modulus and exponent");
  checkPositive2(modulus, maxModulusBytes), checkPositive2(exponent, maxExponentBytes);
}
function checkPositive2(element, maxBytes) {
  let { content } = expectTag(element, tags.integer), [first = 128] = content, size = first === 0 ? content.length - 1 : content.length;
  if (first >= 128 || size === 0) throw new UnsoundInput("a number of the RSA key is not positive");
  if (size > maxBytes) throw new UnsoundInput(`a number of the RSA key has more than ${maxBytes * 8} bits`);
}
function checkEc(curve, point) {
  let size = pointBytes[curve];
  if (size === void 0) throw new UnsoundInput("the curve is not supported: use P-224, P-256, P-384 or P-521");
  if (point[0] !== 4 || point.length !== size) throw new UnsoundInput("the public key is not an uncompressed point");
}

// src/pki/certificate-request.ts
var extensionRequestId = "2a864886f70d01090e", subjectAltNameId = "551d11";
function readCertificateRequest(pem) {
  let [block] = readPemBlocks(pem);
  if (block?.label !== "CERTIFICATE REQUEST") throw new UnsoundInput("PEM block type must be CERTIFICATE REQUEST");
  let [info, algorithm, signature, ...rest] = childrenOf(readWhole(block.bytes, tags.sequence));
  if (rest.length > 0) throw new MalformedDer("a request is more than content, algorithm and signature");
  let request = readContent(expectTag(info, tags.sequence));
  return checkSignature(request.publicKey, { algorithm: readAlgorithm(algorithm), signed: info.whole, signature }), request;
}
function readContent(info) {
  let [version2, subject, key, attributes, ...rest] = childrenOf(info);
  if (expectTag(version2, tags.integer), rest.length > 0) throw new MalformedDer("a request has more than version, subject, key and attributes");
  return {
    subject: readName(expectTag(subject, tags.sequence)),
    publicKey: readPublicKey(expectTag(key, tags.sequence)),
    extensions: childrenOf(expectTag(attributes, 160)).flatMap(extensionsOf)
  };
}
function extensionsOf(attribute) {
  let [id, values] = childrenOf(expectTag(attribute, tags.sequence));
  if (expectTag(id, tags.oid).content.toString("hex") !== extensionRequestId) return [];
  let [list3] = childrenOf(expectTag(values, tags.set));
  return childrenOf(expectTag(list3, tags.sequence)).map(readExtension);
}
function readExtension(element) {
  let parts3 = childrenOf(expectTag(element, tags.sequence)), critical = parts3.length === 3 && expectTag(parts3[1], tags.boolean).content[0] === 255;
  if (parts3.length !== 2 && parts3.length !== 3) throw new MalformedDer("an extension has two or three parts");
  let id = expectTag(parts3[0], tags.oid).content.toString("hex"), value = expectTag(parts3.at(-1), tags.octetString).content;
  return id === subjectAltNameId && checkAlternativeNames(value), { id, critical, value };
}
function checkAlternativeNames(value) {
  for (let { tag, content } of childrenOf(readWhole(value, tags.sequence))) {
    if ((tag === 129 || tag === 130 || tag === 134) && content.some((byte) => byte >= 128)) throw new MalformedDer("an alternative name is not ASCII");
    if (tag === 135 && content.length !== 4 && content.length !== 16)
      throw new MalformedDer(`an alternative name is an address of ${content.length} bytes`);
  }
}
function checkSignature(key, { algorithm, signed, signature }) {
  let scheme = schemeOf(algorithm);
  if (scheme === void 0 || scheme.keyType !== key.asymmetricKeyType)
    throw new UnsoundInput("the signature algorithm is not supported or does not fit the key");
  let bits = readBits(signature);
  if (!isSignedBy(scheme, key, signed, bits)) throw new UnsoundInput("the signature is not by the key of the request");
}
function isSignedBy({ hash: hash2, pss }, key, signed, signature) {
  let padding = pss ? { padding: constants2.RSA_PKCS1_PSS_PADDING, saltLength: constants2.RSA_PSS_SALTLEN_DIGEST } : {};
  try {
    return verify(hash2, signed, { key, ...padding }, signature);
  } catch (cause) {
    throw new UnsoundInput("the signature cannot be checked with the key of the request", { cause });
  }
}
var schemes = {
  "2a864886f70d010105": { keyType: "rsa", hash: "sha1" },
  "2a864886f70d01010b": { keyType: "rsa", hash: "sha256" },
  "2a864886f70d01010c": { keyType: "rsa", hash: "sha384" },
  "2a864886f70d01010d": { keyType: "rsa", hash: "sha512" },
  "2a8648ce3d0401": { keyType: "ec", hash: "sha1" },
  "2a8648ce3d040302": { keyType: "ec", hash: "sha256" },
  "2a8648ce3d040303": { keyType: "ec", hash: "sha384" },
  "2a8648ce3d040304": { keyType: "ec", hash: "sha512" },
  "2b6570": { keyType: "ed25519", hash: null }
}, pssId = "2a864886f70d01010a";
function schemeOf({ id, parameters }) {
  if (id !== pssId) return hasNone(parameters) ? schemes[id] : void 0;
  let hash2 = [...pssHashes].find(([, expected]) => parameters?.whole.equals(expected))?.[0];
  return hash2 === void 0 ? void 0 : { keyType: "rsa", hash: hash2, pss: !0 };
}
function hasNone(parameters) {
  return parameters === void 0 || parameters.tag === tags.null && parameters.content.length === 0;
}
var pssHashes = /* @__PURE__ */ new Map([
  ["sha256", pssParameters("01", "20")],
  ["sha384", pssParameters("02", "30")],
  ["sha512", pssParameters("03", "40")]
]);
function pssParameters(hash2, saltBytes) {
  let hashAlgorithm = `300d06096086480165030402${hash2}0500`, mask = `301a06092a864886f70d010108${hashAlgorithm}`;
  return Buffer.from(`3034a00f${hashAlgorithm}a11c${mask}a2030201${saltBytes}`, "hex");
}

// src/kinds/certificates/key-usages.ts
var keyUsages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping"
];

// src/kinds/certificates/signer-name.ts
var maxDomain = 253, maxName = maxDomain + 1 + maxDomain + 1 + 63;
function checkSignerName(path, name3) {
  if (name3 === "") return [required(path, "signerName must be provided")];
  let [domain = "", local2, ...rest] = name3.split("/");
  return local2 === void 0 || rest.length > 0 ? [invalid(path, name3, "must be a domain and a path of the form 'example.com/signer-name'")] : [
    ...domain.length > maxDomain ? [tooLong(path, maxDomain)] : [],
    ...checkLabels2(path, domain, checkDnsLabel),
    ...domain.includes(".") ? [] : [invalid(path, domain, "must be a domain of at least two labels")],
    ...checkLabels2(path, local2, checkDnsSubdomain),
    ...name3.length > maxName ? [tooLong(path, maxName)] : []
  ];
}
function checkLabels2(path, text4, check2) {
  for (let label of text4.split(".")) {
    let faults = check2(label);
    if (faults.length > 0)
      return faults.map((fault) => invalid(path, text4, `label ${JSON.stringify(label.slice(0, 300))}: ${fault}`));
  }
  return [];
}

// src/kinds/certificates/certificate-signing-request.ts
var minExpirationSeconds = 600, finalTypes = ["Approved", "Denied", "Failed"], decisions = ["Approved", "Denied"], spec4 = s.object(
  {
    request: field(1, s.bytes(), { zero: "write", doc: "The request (PKCS #10) as PEM, CERTIFICATE REQUEST." }),
    username: field(2, s.string(), { doc: "Who asks. Set by the server." }),
    uid: field(3, s.string(), { doc: "The uid of who asks. Set by the server." }),
    groups: field(4, s.list(s.string()), { doc: "The groups of who asks. Set by the server." }),
    usages: field(5, s.list(s.string()), { doc: "What the key is to be used for, such as `client auth`." }),
    extra: field(6, s.map(s.list(s.string())), { doc: "What else is known of who asks. Set by the server." }),
    signerName: field(7, s.string(), { zero: "write", doc: "Who is to sign, as a domain and a path." }),
    expirationSeconds: field(8, s.int32(), {
      zero: "keep",
      doc: "How many seconds the certificate is to be valid, at least 600. The signer may choose otherwise."
    })
  },
  { name: "CertificateSigningRequestSpec", doc: "What is asked for, by whom and of whom. It never changes." }
), condition2 = s.object(
  {
    type: field(1, s.string(), {
      required: !0,
      zero: "write",
      doc: "Approved, Denied or Failed, which stay once they are there, or any other word."
    }),
    reason: field(2, s.string(), { doc: "Why, in one word for programs." }),
    message: field(3, s.string(), { doc: "Why, for people." }),
    lastUpdateTime: field(4, s.time(), { zero: "write", doc: "When it was last written." }),
    lastTransitionTime: field(5, s.time(), { zero: "write", doc: "When the status last changed." }),
    status: field(6, s.string(), {
      required: !0,
      zero: "write",
      doc: "True, False or Unknown; True for Approved, Denied and Failed."
    })
  },
  {
    name: "CertificateSigningRequestCondition",
    doc: "What has been decided about a request, or become of it.",
    check: checkConditionStatus
  }
), status4 = s.object(
  {
    conditions: field(1, s.list(condition2, { list: "map", keys: ["type"] }), {
      doc: "What approvers and the signer have said."
    }),
    certificate: field(2, s.bytes(), { doc: "The certificate as PEM, its issuers after it. Set by the signer, once." })
  },
  {
    name: "CertificateSigningRequestStatus",
    doc: "How far a request has come.",
    check: ({ conditions: conditions4 = [] }, path) => checkTypes(conditions4, child(path, "conditions"))
  }
), fields5 = {
  spec: field(2, spec4, { zero: "write", published: "required", doc: "What is asked for. It never changes." }),
  status: field(3, status4, { zero: "write", doc: "How far it has come, and the certificate." })
}, certificateSigningRequest = defineKind({
  group: "certificates",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  doc: "Somebody asks a signer for a certificate. An approver decides, and the signer answers with the certificate.",
  shortNames: ["csr"],
  scope: "Cluster",
  name: () => [],
  fields: fields5,
  columns: [
    nameColumn,
    ageColumn,
    column(
      "SignerName",
      "Whom the certificate is asked of.",
      ({ spec: spec8 }) => spec8?.signerName ? spec8.signerName : "<none>"
    ),
    column("Requestor", "Who asks.", ({ spec: spec8 }) => spec8?.username ?? ""),
    column("RequestedDuration", "How long the certificate is to be valid.", requestedDuration),
    column("Condition", "How far the request has come.", progressOf)
  ],
  readOnly: ["spec", "status"],
  subresources: {
    approval: {
      verbs: ["get", "update", "patch"],
      readOnly: ["spec", "status.certificate"],
      prepareForUpdate: prepareApproval
    },
    status: {
      verbs: ["get", "update", "patch"],
      readOnly: ["spec"],
      prepareForUpdate: prepareStatus
    }
  },
  prepareForCreate: (object, { user }) => {
    let { uid, groups, extra } = user, { username: _u, uid: _i, groups: _g, extra: _e, ...asked } = object.spec ?? {};
    object.spec = {
      ...asked,
      username: user.name,
      ...uid === "" ? {} : { uid },
      ...groups.length === 0 ? {} : { groups: [...groups] },
      ...extra.size === 0 ? {} : { extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])) }
    }, object.status = {};
  },
  prepareForUpdate: (next, previous) => {
    next.spec = previous.spec, next.status = previous.status;
  },
  validateCreate: (object, { vendor }) => checkSpec3(object, vendor),
  validateUpdate: (next, previous, context) => [
    ...checkFinalTypes(next, previous, context),
    ...checkCertificate2(next, previous)
  ],
  selectable: ({ spec: spec8 }) => ({ "spec.signerName": spec8?.signerName ?? "" })
});
function requestedDuration({ spec: spec8 }) {
  return spec8?.expirationSeconds === void 0 ? "<none>" : humanDuration(spec8.expirationSeconds * 1e3);
}
function progressOf(object) {
  let has = (type3) => countOf(object, type3) > 0;
  return [has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending", ...has("Failed") ? ["Failed"] : [], ...object.status?.certificate ? ["Issued"] : []].join();
}
function countOf({ status: status9 }, type3) {
  return (status9?.conditions ?? []).filter((condition6) => condition6.type === type3).length;
}
function prepareApproval(next, previous, { now }) {
  let conditions4 = withTimes(next.status?.conditions ?? [], previous, now), { conditions: _, ...kept } = previous.status ?? {};
  next.spec = previous.spec, next.status = conditions4.length === 0 ? kept : { ...kept, conditions: conditions4 };
}
function prepareStatus(next, previous, { now }) {
  next.spec = previous.spec, next.status?.conditions !== void 0 && (next.status = { ...next.status, conditions: withTimes(withDecisions(next, previous), previous, now) });
}
function withDecisions(next, previous) {
  let conditions4 = next.status?.conditions ?? [], stored2 = decisions.filter((type3) => countOf(next, type3) === 1 && countOf(previous, type3) === 1).map((type3) => previous.status.conditions.find((condition6) => condition6.type === type3));
  return conditions4.map((condition6) => stored2.find(({ type: type3 }) => type3 === condition6.type) ?? condition6);
}
function withTimes(conditions4, { status: status9 }, now) {
  let stored2 = new Map((status9?.conditions ?? []).map((condition6) => [condition6.type, condition6]));
  return conditions4.map((condition6) => {
    let before = stored2.get(condition6.type), unchangedSince = before?.status === condition6.status ? before?.lastTransitionTime : void 0;
    return {
      ...condition6,
      lastUpdateTime: condition6.lastUpdateTime ?? timestamp(now),
      lastTransitionTime: condition6.lastTransitionTime ?? unchangedSince ?? timestamp(now)
    };
  });
}
function checkSpec3({ spec: spec8 = {} }, vendor) {
  let { request = "", usages = [], signerName = "", expirationSeconds } = spec8;
  return [
    ...checkBytes("spec.request", "<request data>", () => readCertificateRequest(Buffer.from(request, "base64"))),
    ...checkUsages(usages, "spec.usages"),
    ...checkSigner(signerName, vendor),
    ...expirationSeconds !== void 0 && expirationSeconds < minExpirationSeconds ? [invalid("spec.expirationSeconds", expirationSeconds, `must be at least ${minExpirationSeconds} (10 minutes)`)] : []
  ];
}
function checkUsages(usages, path) {
  return usages.length === 0 ? [required(path, "usages must be provided")] : usages.slice(0, 2 * keyUsages.length).flatMap((usage2, i) => [
    ...keyUsages.includes(usage2) ? [] : [notSupported(at(path, i), usage2, keyUsages)],
    ...usages.indexOf(usage2) < i ? [duplicate(at(path, i), usage2)] : []
  ]);
}
function checkSigner(name3, vendor) {
  let path = "spec.signerName";
  return name3 === vendorKey(vendor, "legacy-unknown") ? [invalid(path, name3, "this signer takes no new requests")] : checkSignerName(path, name3);
}
function checkConditionStatus({ type: type3 = "", status: status9 = "" }, path) {
  let allowed = finalTypes.includes(type3) ? ["True"] : ["False", "True", "Unknown"];
  return status9 === "" || allowed.includes(status9) ? [] : [notSupported(child(path, "status"), status9, allowed)];
}
function checkTypes(conditions4, path) {
  let seen = /* @__PURE__ */ new Set();
  return conditions4.flatMap(({ type: type3 = "" }, i) => {
    let place3 = child(at(path, i), "type"), isContrary = decisions.includes(type3) && decisions.some((other2) => other2 !== type3 && seen.has(other2)), isRepeated = seen.has(type3);
    return seen.add(type3), [
      ...isContrary ? [invalid(place3, type3, "Approved and Denied exclude each other")] : [],
      ...isRepeated ? [duplicate(place3, type3)] : []
    ];
  });
}
function checkFinalTypes(next, previous, { subresource }) {
  let path = "status.conditions", removed = finalTypes.filter((type3) => countOf(next, type3) < countOf(previous, type3)), added = decisions.filter((type3) => countOf(next, type3) > countOf(previous, type3));
  return [
    ...removed.map((type3) => forbidden(path, `updates may not remove a condition of type "${type3}"`)),
    ...subresource === "approval" ? [] : added.map((type3) => forbidden(path, `only the approval may add a condition of type "${type3}"`))
  ];
}
function checkCertificate2(next, previous) {
  let path = "status.certificate", { certificate = "" } = next.status ?? {}, { certificate: stored2 = "" } = previous.status ?? {};
  return certificate === stored2 ? [] : [
    ...certificate === "" ? [] : checkBytes(path, "<certificate data>", () => checkCertificateChain(Buffer.from(certificate, "base64"))),
    ...stored2 === "" ? [] : [forbidden(path, "updates may not change a certificate that is set")]
  ];
}
function checkBytes(path, shown2, check2) {
  try {
    return check2(), [];
  } catch (error) {
    if (error instanceof UnsoundInput) return [invalid(path, shown2, error.message)];
    throw error;
  }
}

// src/kinds/immutable.ts
function immutableField(path, next, previous) {
  return sameJson(next, previous) ? [] : [invalid(path, next, "field is immutable")];
}
function frozenField(path, next, previous) {
  return sameJson(next, previous) ? [] : [forbidden(path, "field is immutable when `immutable` is set")];
}

// src/kinds/core/config-map.ts
var maxTotalBytes = 1024 * 1024, fields6 = {
  data: field(2, s.map(s.string(), { key: checkConfigKey }), {
    doc: "Text, by key. A key is made of letters, digits, -, _ and dots, and is in data or in binaryData, not in both."
  }),
  binaryData: field(3, s.map(s.bytes(), { key: checkConfigKey }), { doc: "Bytes in base64, by key." }),
  immutable: field(4, s.boolean(), {
    zero: "keep",
    doc: "Once true, the data cannot change any more, nor this field; only metadata can."
  })
}, configMap = defineKind({
  group: "core",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  doc: "Configuration for programs to read, as text or bytes; one MiB at most. Nothing in it is secret.",
  shortNames: ["cm"],
  scope: "Namespaced",
  fields: fields6,
  columns: [nameColumn, column("Data", "How many keys it holds.", countKeys), ageColumn],
  validate: (object) => [...checkDisjoint(object), ...checkTotalSize(object)],
  validateUpdate: (next, previous) => previous.immutable ? checkUnchanged(next, previous) : []
});
function countKeys({ data = {}, binaryData = {} }) {
  return Object.keys(data).length + Object.keys(binaryData).length;
}
function checkDisjoint({ data = {}, binaryData = {} }) {
  return Object.keys(data).filter((key) => Object.hasOwn(binaryData, key)).map((key) => invalid(at("data", key), key, "duplicate of key present in binaryData"));
}
function checkTotalSize({ data = {}, binaryData = {} }) {
  let text4 = Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value), 0), binary = Object.values(binaryData).reduce((sum, value) => sum + Buffer.byteLength(value, "base64"), 0);
  return text4 + binary > maxTotalBytes ? [tooLong("data", maxTotalBytes)] : [];
}
function checkUnchanged(next, previous) {
  return [
    ...frozenField("immutable", next.immutable ?? !1, !0),
    ...frozenField("data", next.data, previous.data),
    ...frozenField("binaryData", next.binaryData, previous.binaryData)
  ];
}

// src/kinds/core/types/references.ts
var objectReference2 = s.object(
  {
    kind: field(1, s.string(), { doc: "Its kind." }),
    namespace: field(2, s.string(), { doc: "Its namespace." }),
    name: field(3, s.string(), { doc: "Its name." }),
    uid: field(4, s.string(), { doc: "Its uid, which tells it from others that had or will have its name." }),
    apiVersion: field(5, s.string(), { doc: "Group and version of its kind." }),
    resourceVersion: field(6, s.string(), { doc: "The version of it that is meant." }),
    fieldPath: field(7, s.string(), { doc: "The part of it that is meant, such as `spec.containers{name}`." })
  },
  { name: "core.v1.ObjectReference", doc: "An object, or a part of one.", atomic: !0 }
);
function secretReference(required2 = {}) {
  let { name: name3 = !1, namespace: namespace2 = !1 } = required2;
  return s.object(
    {
      name: field(1, s.string(), { required: name3, published: "optional", doc: "The name of the Secret." }),
      namespace: field(2, s.string(), { required: namespace2, published: "optional", doc: "The namespace it is in." })
    },
    { name: "core.v1.SecretReference", doc: "A Secret in any namespace.", atomic: !0 }
  );
}

// src/kinds/core/event.ts
var eventSource = s.object(
  {
    component: field(1, s.string(), { doc: "The component that tells." }),
    host: field(2, s.string(), { doc: "The node that it runs on." })
  },
  { name: "core.v1.EventSource", doc: "Who tells of an event." }
), series = s.object(
  {
    count: field(1, s.int32(), { doc: "How often it happened, up to lastObservedTime." }),
    lastObservedTime: field(2, s.microTime(), { zero: "write", doc: "When it last happened." })
  },
  { name: "EventSeries", doc: "How often something happened that goes on happening." }
), fields7 = {
  metadata: field(1, objectMeta, {
    zero: "write",
    published: "required",
    doc: "Name, labels and whatever else every object has."
  }),
  involvedObject: field(2, objectReference2, {
    zero: "write",
    published: "required",
    doc: "The object that it happened to. It is in the namespace of the event."
  }),
  reason: field(3, s.string(), { doc: "Why it happened, in one word for programs." }),
  message: field(4, s.string(), { doc: "What happened, for people." }),
  source: field(5, eventSource, { zero: "write", doc: "Who tells of it. Newer tellers set reportingComponent." }),
  firstTimestamp: field(6, s.time(), { zero: "write", doc: "When it first happened. Newer tellers set eventTime." }),
  lastTimestamp: field(7, s.time(), { zero: "write", doc: "When it last happened. Newer tellers keep a series." }),
  count: field(8, s.int32(), { doc: "How often it happened. Newer tellers keep a series." }),
  type: field(9, s.string(), { doc: "Normal or Warning; there may be others one day." }),
  eventTime: field(10, s.microTime(), {
    zero: "write",
    doc: "When it first happened. With it, reportingComponent, reportingInstance, action and reason are demanded."
  }),
  series: field(11, series, { doc: "How often it happened, if more than once." }),
  action: field(12, s.string(), { doc: "What was done, or failed, to the object; at most 128 bytes." }),
  related: field(13, objectReference2, { doc: "Another object that took part in it." }),
  reportingComponent: field(14, s.string(), {
    zero: "write",
    published: "optional",
    doc: "The controller that tells of it, as a qualified name such as `example.com/scheduler`."
  }),
  reportingInstance: field(15, s.string(), {
    zero: "write",
    published: "optional",
    doc: "The instance of the controller, such as its pod; at most 128 bytes."
  })
}, event = defineKind({
  group: "core",
  version: "v1",
  kind: "Event",
  plural: "events",
  doc: "Something that happened to an object, told by whoever saw it. Nothing should rely on it being there.",
  shortNames: ["ev"],
  scope: "Namespaced",
  name: () => [],
  createOnUpdate: !0,
  ownsNothing: !0,
  expires: !0,
  fields: fields7,
  columns: [
    column("Last Seen", "How long ago it last happened.", lastSeen),
    column("Type", "Normal or Warning.", ({ type: type3 }) => type3 ?? ""),
    column("Reason", "Why it happened, in one word.", ({ reason }) => reason ?? ""),
    column("Object", "The object that it happened to.", objectOf),
    column("Subobject", "The part of the object.", ({ involvedObject }) => involvedObject?.fieldPath ?? "", 1),
    column("Source", "Who tells of it.", tellerOf, 1),
    column("Message", "What happened.", ({ message = "" }) => message.trim()),
    column("First Seen", "How long ago it first happened.", firstSeen, 1),
    column(
      "Count",
      "How often it happened.",
      ({ series: series3, count: count2 }) => series3 ? series3.count ?? 0 : count2 || 1,
      1
    ),
    { ...nameColumn, priority: 1 }
  ],
  validate: (object) => object.eventTime ? checkNewer(object) : checkOlder(object),
  validateCreate: (object, { through }) => through === "events/v1" ? checkStrictly(object) : [],
  selectable: ({ involvedObject: about = {}, reason, type: type3, source, reportingComponent }) => ({
    "involvedObject.kind": about.kind ?? "",
    "involvedObject.namespace": about.namespace ?? "",
    "involvedObject.name": about.name ?? "",
    "involvedObject.uid": about.uid ?? "",
    "involvedObject.apiVersion": about.apiVersion ?? "",
    "involvedObject.resourceVersion": about.resourceVersion ?? "",
    "involvedObject.fieldPath": about.fieldPath ?? "",
    reason: reason ?? "",
    reportingComponent: reportingComponent ?? "",
    source: source?.component || reportingComponent || "",
    type: type3 ?? ""
  })
});
function firstSeen({ firstTimestamp, eventTime }, now) {
  return ago(firstTimestamp || eventTime, now);
}
function lastSeen(object, now) {
  return object.series ? ago(object.series.lastObservedTime, now) : object.lastTimestamp ? ago(object.lastTimestamp, now) : firstSeen(object, now);
}
function objectOf({ involvedObject: { kind = "", name: name3 = "" } = {} }) {
  return name3 === "" ? kind.toLowerCase() : `${kind.toLowerCase()}/${name3}`;
}
function tellerOf({ source = {}, reportingComponent, reportingInstance }) {
  let component = source.component || reportingComponent || "", instance = source.host || reportingInstance;
  return instance ? `${component}, ${instance}` : component;
}
function checkOlder({ metadata, involvedObject }) {
  let namespace2 = involvedObject?.namespace ?? "";
  return namespace2 === metadata.namespace || namespace2 === "" && metadata.namespace === "default" ? [] : [wrongNamespace(namespace2)];
}
var longestWord = 128, longestMessage = 1024, withoutNamespace = ["default", "kube-system"];
function checkNewer(object) {
  let { metadata, involvedObject, reportingComponent: teller = "", reportingInstance, action, reason } = object, namespace2 = involvedObject?.namespace ?? "";
  return [
    ...namespace2 !== "" || withoutNamespace.includes(metadata.namespace ?? "") ? [] : [wrongNamespace(namespace2)],
    ...teller === "" ? [required("reportingController")] : [],
    ...checkQualifiedName(teller).map((text4) => invalid("reportingController", teller, text4)),
    ...checkWord("reportingInstance", reportingInstance),
    ...checkWord("action", action),
    ...checkWord("reason", reason),
    ...checkLength("message", object.message ?? "", longestMessage)
  ];
}
function checkStrictly({ eventTime, series: series3, type: type3 = "", ...older }) {
  let { firstTimestamp, lastTimestamp, count: count2, source } = older, unset = { firstTimestamp, lastTimestamp, count: count2, source: source?.component || source?.host }, left = Object.entries(unset).filter(([, value]) => value);
  return [
    ...eventTime ? [] : [required("eventTime")],
    ...series3 === void 0 ? [] : checkSeries(series3),
    ...type3 === "Normal" || type3 === "Warning" ? [] : [invalid("type", "", `has invalid value: ${type3}`)],
    ...left.map(([path]) => invalid(path, "", "needs to be unset"))
  ];
}
function checkSeries({ count: count2 = 0, lastObservedTime }) {
  return [
    ...count2 < 2 ? [invalid("series.count", "", "should be at least 2")] : [],
    ...lastObservedTime ? [] : [required("series.lastObservedTime")]
  ];
}
function wrongNamespace(namespace2) {
  return invalid("involvedObject.namespace", namespace2, "must be the namespace of the event");
}
function checkWord(path, word = "") {
  return word === "" ? [required(path)] : checkLength(path, word, longestWord);
}
function checkLength(path, text4, limit) {
  return Buffer.byteLength(text4) > limit ? [invalid(path, "", `can have at most ${limit} bytes`)] : [];
}

// src/kinds/core/namespace.ts
var condition3 = s.object(
  {
    type: field(1, s.string(), { zero: "write", doc: "What is told about the namespace." }),
    status: field(2, s.string(), { zero: "write", doc: "True, False or Unknown." }),
    lastTransitionTime: field(4, s.time(), { zero: "write", doc: "When the status last changed." }),
    reason: field(5, s.string(), { doc: "Why, in one word for programs." }),
    message: field(6, s.string(), { doc: "Why, for people." })
  },
  { name: "NamespaceCondition", doc: "Something that is known of the state of a namespace." }
), spec5 = s.object(
  {
    finalizers: field(1, s.list(s.string()), {
      doc: "Who must be done before the namespace may go. Changed only through the subresource finalize."
    })
  },
  { name: "NamespaceSpec", doc: "What a namespace waits for before it goes." }
), conditions2 = s.list(condition3, { list: "map", keys: ["type"], patch: "merge", mergeKey: "type" }), status5 = s.object(
  {
    phase: field(1, s.string(), { doc: "Active, or Terminating once it is being deleted." }),
    conditions: field(2, conditions2, { doc: "How its deletion gets on." })
  },
  { name: "NamespaceStatus", doc: "Where a namespace is in its life." }
), fields8 = {
  spec: field(2, spec5, { zero: "write", doc: "What holds the namespace." }),
  status: field(3, status5, { zero: "write", doc: "Where it is in its life. Set by the server." })
}, namespace = defineKind({
  group: "core",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  doc: "A scope for names and for access. Deleting it deletes everything in it.",
  shortNames: ["ns"],
  scope: "Cluster",
  name: checkDnsLabel,
  verbs: verbsWithout("deletecollection"),
  fields: fields8,
  columns: [
    nameColumn,
    column("Status", "Whether it is in use or being deleted.", (object) => object.status?.phase ?? ""),
    ageColumn
  ],
  readOnly: ["status"],
  subresources: {
    status: plainStatus,
    finalize: {
      verbs: ["update"],
      readOnly: ["status"],
      prepareForUpdate: (next, previous) => keep(next, previous, "status")
    }
  },
  fillDefaults: (object, { vendor }) => labelWithName(object, vendor),
  prepareForCreate: (object, { vendor }) => activate(object, vendor),
  prepareForUpdate: (next, previous) => {
    keep(next, previous, "spec"), keep(next, previous, "status");
  },
  validate: checkFinalizers,
  validateUpdate: (next) => checkPhase(next),
  selectable: (object) => ({ "status.phase": object.status?.phase ?? "" }),
  holdsDeletion: (object) => (object.spec?.finalizers ?? []).length > 0,
  beginDeletion: (object) => {
    delete object.metadata.deletionGracePeriodSeconds, object.status = { ...object.status, phase: "Terminating" };
  }
});
function labelWithName({ metadata }, vendor) {
  metadata.name && (metadata.labels = { ...metadata.labels, [vendorKey(vendor, "metadata.name")]: metadata.name });
}
function activate(object, vendor) {
  let given = object.spec?.finalizers ?? [], own2 = vendor.namespaceFinalizer;
  object.spec = { finalizers: given.includes(own2) ? given : [...given, own2] }, object.status = { phase: "Active" };
}
function checkFinalizers(object, { vendor, subresource }) {
  let path = "spec.finalizers";
  return (object.spec?.finalizers ?? []).flatMap((name3, i) => checkFinalizer(name3, subresource === "finalize" ? at(path, i) : path, vendor));
}
function checkFinalizer(name3, path, vendor) {
  let errors = checkQualifiedName(name3).map((text4) => invalid(path, name3, text4));
  return errors.length > 0 || name3.includes("/") || name3 === vendor.namespaceFinalizer ? errors : [invalid(path, name3, "name is neither a standard finalizer name nor is it fully qualified")];
}
function checkPhase({ metadata, status: status9 = {} }) {
  return metadata.deletionTimestamp === void 0 ? status9.phase === "Active" ? [] : [invalid("status.Phase", status9.phase ?? "", "may only be 'Active' if `deletionTimestamp` is empty")] : status9.phase === "Terminating" ? [] : [invalid("status.Phase", status9.phase ?? "", "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}

// src/kinds/core/persistent-volume.ts
import { posix } from "node:path";

// src/kinds/core/types/access-modes.ts
var accessModes = s.list(s.string()), shortNames = /* @__PURE__ */ new Map([
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"]
]), supported = [...shortNames.keys()].sort();
function checkAccessModes(modes3 = [], path) {
  return modes3.filter((mode2) => !shortNames.has(mode2)).map((mode2) => notSupported(path, mode2, supported));
}
function abbreviateModes(modes3 = []) {
  return [...shortNames].flatMap(([mode2, short]) => modes3.includes(mode2) ? [short] : []).join(",");
}

// src/kinds/core/types/node-selector.ts
var requirement2 = s.object(
  {
    key: field(1, s.string(), { zero: "write", doc: "The label or field of the node." }),
    operator: field(2, s.string(), { zero: "write", doc: "In, NotIn, Exists, DoesNotExist, Gt or Lt." }),
    values: field(3, s.list(s.string()), {
      doc: "What it is compared with: at least one for In and NotIn, one whole number for Gt and Lt, else none."
    })
  },
  { name: "NodeSelectorRequirement", doc: "What must hold for one label or field of a node." }
), nodeSelectorTerm = s.object(
  {
    matchExpressions: field(1, s.list(requirement2), { doc: "What must hold for labels of the node." }),
    matchFields: field(2, s.list(requirement2), { doc: "What must hold for fields of the node: for metadata.name." })
  },
  {
    name: "NodeSelectorTerm",
    doc: "Requirements that a node must meet, all of them. An empty term selects nothing.",
    atomic: !0,
    check: ({ matchExpressions = [], matchFields = [] }, path) => [
      ...matchExpressions.flatMap((item, i) => checkExpression(item, at(child(path, "matchExpressions"), i))),
      ...matchFields.flatMap((item, i) => checkField(item, at(child(path, "matchFields"), i)))
    ]
  }
), nodeSelector = s.object(
  {
    nodeSelectorTerms: field(1, s.list(nodeSelectorTerm), {
      required: !0,
      doc: "The terms, of which one is enough."
    })
  },
  { name: "core.v1.NodeSelector", doc: "Which nodes are meant: those that one of the terms selects.", atomic: !0 }
);
function checkExpression(item, path) {
  let { key = "" } = item, keyFaults = checkQualifiedName(key).map((text4) => invalid(child(path, "key"), key, text4));
  return [...checkOperator2(item, path), ...keyFaults];
}
function checkOperator2({ operator = "", values = [] }, path) {
  let place3 = child(path, "values");
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length > 0 ? [] : [required(place3, `${operator} needs at least one value`)];
    case "Exists":
    case "DoesNotExist":
      return values.length === 0 ? [] : [forbidden(place3, `${operator} takes no values`)];
    case "Gt":
    case "Lt":
      return values.length === 1 ? [] : [required(place3, `${operator} needs exactly one value`)];
    default:
      return [unknownOperator(operator, path)];
  }
}
function checkField(item, path) {
  let { key = "", values = [] } = item, operatorFaults = checkFieldOperator(item, path);
  if (key !== "metadata.name")
    return [...operatorFaults, invalid(child(path, "key"), key, "the only field to select by is metadata.name")];
  let names3 = values.flatMap(
    (name3, i) => checkDnsSubdomain(name3).map((text4) => invalid(at(child(path, "values"), i), name3, text4))
  );
  return [...operatorFaults, ...names3];
}
function checkFieldOperator({ operator = "", values = [] }, path) {
  return operator !== "In" && operator !== "NotIn" ? [unknownOperator(operator, path)] : values.length === 1 ? [] : [required(child(path, "values"), `${operator} on a field needs exactly one value`)];
}
function unknownOperator(operator, path) {
  return invalid(child(path, "operator"), operator, "no such operator here");
}

// src/kinds/core/types/resource-list.ts
var resourceList = s.map(s.quantity());
function roundResources(list3 = {}) {
  for (let [name3, text4] of Object.entries(list3)) {
    let amount = parseQuantity(text4), rounded = roundUpToMilli(amount);
    rounded.nanos !== amount.nanos && setKey(list3, name3, formatQuantity(rounded));
  }
}

// src/kinds/core/types/volumes/fields.ts
var text2 = (tag, doc) => field(tag, s.string(), { doc }), requiredText = (tag, doc) => field(tag, s.string(), { required: !0, doc }), flag2 = (tag, doc) => field(tag, s.boolean(), { doc }), fsType = (tag) => text2(tag, "The file system on it, such as ext4 or xfs. The node chooses if unset."), readOnly = (tag) => flag2(tag, "Whether it can only be read."), secretRef = (tag, reference3) => field(tag, reference3, { doc: "The Secret to identify with." });
function checkByte(value, path) {
  return value >= 0 && value <= 255 ? [] : [invalid(path, value, "must be between 0 and 255, inclusive")];
}

// src/kinds/core/types/volumes/block-devices.ts
var fc = s.object(
  {
    targetWWNs: field(1, s.list(s.string()), { doc: "The worldwide names of the targets; they need a lun." }),
    lun: field(2, s.int32(), { zero: "keep", doc: "The number of the unit at the target." }),
    fsType: fsType(3),
    readOnly: readOnly(4),
    wwids: field(5, s.list(s.string()), { doc: "The worldwide ids of the device, instead of targets and lun." })
  },
  { name: "FCVolumeSource", doc: "A device on Fibre Channel.", check: checkFc }
);
function checkFc({ targetWWNs = [], wwids = [], lun }, path) {
  let targets = child(path, "targetWWNs");
  if (targetWWNs.length === 0)
    return wwids.length > 0 ? [] : [required(targets, "must specify either targetWWNs or wwids, but not both")];
  let both = wwids.length > 0 ? [invalid(targets, targetWWNs, "can not be specified together with wwids")] : [], place3 = child(path, "lun");
  return [...both, ...lun === void 0 ? [required(place3, "targetWWNs need a lun")] : checkByte(lun, place3)];
}
function rbdWith(name3, reference3) {
  return s.object(
    {
      monitors: field(1, s.list(s.string()), { required: !0, doc: "The monitors of the cluster." }),
      image: requiredText(2, "The name of the image."),
      fsType: fsType(3),
      pool: field(4, s.string(), { default: "rbd", doc: "The pool of the image." }),
      user: field(5, s.string(), { default: "admin", doc: "The user to map it as." }),
      keyring: field(6, s.string(), {
        default: "/etc/ceph/keyring",
        doc: "The file on the node with the key of the user."
      }),
      secretRef: secretRef(7, reference3),
      readOnly: readOnly(8)
    },
    { name: name3, doc: "An image of Ceph as a block device." }
  );
}
function iscsiWith(name3, reference3) {
  return s.object(
    {
      targetPortal: requiredText(1, "The address of the target, with a port if it is not 3260."),
      iqn: requiredText(2, "The name of the target."),
      lun: field(3, s.int32(), { zero: "write", doc: "The number of the unit at the target." }),
      iscsiInterface: field(4, s.string(), { default: "default", doc: "The interface of the node to go through." }),
      fsType: fsType(5),
      readOnly: readOnly(6),
      portals: field(7, s.list(s.string()), { doc: "Further addresses of the target." }),
      chapAuthDiscovery: flag2(8, "Whether to identify when targets are looked for."),
      secretRef: secretRef(10, reference3),
      chapAuthSession: flag2(11, "Whether to identify when a session begins."),
      initiatorName: field(12, s.string(), { zero: "keep", doc: "The name to go by instead of that of the node." })
    },
    { name: name3, doc: "A device that an iSCSI target offers.", check: (iscsi, path) => checkIscsi(iscsi, path) }
  );
}
function checkIscsi(iscsi, path) {
  let { iqn = "", lun = 0, initiatorName } = iscsi, needsSecret = iscsi.chapAuthDiscovery || iscsi.chapAuthSession;
  return [
    ...iqn === "" ? [] : checkIscsiName(iqn, child(path, "iqn")),
    ...checkByte(lun, child(path, "lun")),
    ...needsSecret && iscsi.secretRef === void 0 ? [required(child(path, "secretRef"))] : [],
    ...initiatorName === void 0 ? [] : checkIscsiName(initiatorName, child(path, "initiatorname"))
  ];
}
var iscsiName = /^(?:iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+|eui\.[A-Za-z0-9]{16}|naa\.[A-Za-z0-9]{32})$/;
function checkIscsiName(name3, path) {
  return iscsiName.test(name3) ? [] : [invalid(path, name3, "must be valid format: a name that starts with iqn, eui or naa")];
}

// src/kinds/core/types/volumes/cloud-disks.ts
var partition = field(3, s.int32(), { doc: "The number of the partition; 0 is the whole disk." }), gcePersistentDisk = s.object(
  { pdName: requiredText(1, "The name of the disk."), fsType: fsType(2), partition, readOnly: readOnly(4) },
  { name: "GCEPersistentDiskVolumeSource", doc: "A disk of Google Compute Engine.", check: checkPartition }
), awsElasticBlockStore = s.object(
  { volumeID: requiredText(1, "The id of the disk."), fsType: fsType(2), partition, readOnly: readOnly(4) },
  { name: "AWSElasticBlockStoreVolumeSource", doc: "A disk of the AWS Elastic Block Store.", check: checkPartition }
);
function checkPartition({ partition: partition2 = 0 }, path) {
  return checkByte(partition2, child(path, "partition"));
}
var azureDisk = s.object(
  {
    diskName: requiredText(1, "The name of the disk."),
    diskURI: requiredText(2, "The address of the disk."),
    cachingMode: field(3, s.oneOf("None", "ReadOnly", "ReadWrite"), {
      zero: "keep",
      default: "ReadWrite",
      doc: "What the host keeps in memory: None, ReadOnly or ReadWrite."
    }),
    fsType: field(4, s.string(), { zero: "keep", default: "ext4", doc: "The file system on it." }),
    readOnly: field(5, s.boolean(), { zero: "keep", default: !1, doc: "Whether it can only be read." }),
    kind: field(6, s.oneOf("Dedicated", "Managed", "Shared"), {
      zero: "keep",
      default: "Shared",
      doc: "Where the disk lives: in a Shared account, in one that is Dedicated to it, or Managed by Azure."
    })
  },
  { name: "AzureDiskVolumeSource", doc: "A disk of Azure.", check: checkAddress }
);
function checkAddress({ diskURI = "", kind }, path) {
  let form2 = kind === "Managed" ? "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}" : "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd", start = form2.slice(0, form2.indexOf("{"));
  return diskURI.startsWith(start) ? [] : [notSupported(child(path, "diskURI"), diskURI, [form2])];
}
var vsphereVolume = s.object(
  {
    volumePath: requiredText(1, "Where the disk is: its datastore and path."),
    fsType: fsType(2),
    storagePolicyName: text2(3, "The storage policy of the disk, by name."),
    storagePolicyID: text2(4, "The storage policy of the disk, by id.")
  },
  { name: "VsphereVirtualDiskVolumeSource", doc: "A disk of vSphere." }
), photonPersistentDisk = s.object(
  { pdID: requiredText(1, "The id of the disk."), fsType: fsType(2) },
  { name: "PhotonPersistentDiskVolumeSource", doc: "A disk of the Photon controller." }
);
function cinderWith(name3, reference3) {
  return s.object(
    {
      volumeID: requiredText(1, "The id of the disk."),
      fsType: fsType(2),
      readOnly: readOnly(3),
      secretRef: secretRef(4, reference3)
    },
    { name: name3, doc: "A disk of Cinder, of OpenStack." }
  );
}

// src/kinds/core/types/volumes/file-shares.ts
var nfs = s.object(
  {
    server: requiredText(1, "The host that exports it."),
    path: requiredText(2, "The exported directory, from the root."),
    readOnly: readOnly(3)
  },
  {
    name: "NFSVolumeSource",
    doc: "A directory that an NFS server exports.",
    check: ({ path = "" }, place3) => path.startsWith("/") ? [] : [invalid(child(place3, "path"), path, "must be an absolute path")]
  }
), glusterfsFields = {
  endpoints: requiredText(1, "The Endpoints that tell the hosts of the cluster."),
  path: requiredText(2, "The name of the volume."),
  readOnly: readOnly(3)
}, azureFileFields = {
  secretName: requiredText(1, "The Secret with the name and key of the account."),
  shareName: requiredText(2, "The name of the share."),
  readOnly: readOnly(3)
};
function cephfsWith(name3, reference3) {
  return s.object(
    {
      monitors: field(1, s.list(s.string()), { required: !0, doc: "The monitors of the cluster." }),
      path: text2(2, "The directory to mount; the root if unset."),
      user: text2(3, "The user to mount as; admin if unset."),
      secretFile: text2(4, "The file on the node with the key of the user."),
      secretRef: secretRef(5, reference3),
      readOnly: readOnly(6)
    },
    { name: name3, doc: "A directory of CephFS." }
  );
}
var quobyte = s.object(
  {
    registry: requiredText(1, "The registries, as host:port, separated by commas."),
    volume: requiredText(2, "The name of the volume."),
    readOnly: readOnly(3),
    user: text2(4, "The user to mount as."),
    group: text2(5, "The group to mount as."),
    tenant: text2(6, "The tenant that owns the volume.")
  },
  { name: "QuobyteVolumeSource", doc: "A volume of Quobyte.", check: checkQuobyte }
), longestTenant = 64, hostAndPort = /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/;
function checkQuobyte({ registry = "", tenant = "" }, path) {
  return registry === "" ? [] : tenant.length > longestTenant ? [required(child(path, "tenant"), `must be a UUID of at most ${longestTenant} characters`)] : registry.split(",").every((pair2) => hostAndPort.test(pair2)) ? [] : [invalid(child(path, "registry"), registry, "must be host:port pairs, separated by commas")];
}

// src/kinds/core/types/volumes/host-path.ts
var hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket"
], hostPath = s.object(
  {
    path: requiredText(1, "The path on the node. Links are followed."),
    type: field(2, s.string(), {
      zero: "keep",
      default: "",
      doc: "What must be there: Directory, File, Socket, CharDevice or BlockDevice; with OrCreate it is made. Empty: anything."
    })
  },
  {
    name: "HostPathVolumeSource",
    doc: "A file or directory of the node. Who can write to it may control the node.",
    check: ({ path = "", type: type3 = "" }, place3) => {
      if (path === "") return [];
      let typeFaults = hostPathTypes.includes(type3) ? [] : [notSupported(child(place3, "type"), type3, hostPathTypes)];
      return [...checkNoBacksteps(path, child(place3, "path")), ...typeFaults];
    }
  }
);
function checkNoBacksteps(value, path) {
  return value.split("/").includes("..") ? [invalid(path, value, "must not contain '..'")] : [];
}

// src/kinds/core/types/volumes/storage-systems.ts
var flocker = s.object(
  {
    datasetName: text2(1, "The name of the dataset. Deprecated: use its id."),
    datasetUUID: text2(2, "The id of the dataset.")
  },
  {
    name: "FlockerVolumeSource",
    doc: "A dataset of Flocker.",
    check: ({ datasetName = "", datasetUUID = "" }, path) => [
      ...datasetName === "" && datasetUUID === "" ? [required(path, "either datasetName or datasetUUID is needed")] : [],
      ...datasetName !== "" && datasetUUID !== "" ? [invalid(path, "resource", "datasetName and datasetUUID can not be specified together")] : [],
      ...datasetName.includes("/") ? [invalid(child(path, "datasetName"), datasetName, "must not contain '/'")] : []
    ]
  }
), portworxVolume = s.object(
  { volumeID: requiredText(1, "The id of the volume."), fsType: fsType(2), readOnly: readOnly(3) },
  { name: "PortworxVolumeSource", doc: "A volume of Portworx." }
), volumeName = (tag) => field(tag, s.string(), { required: !0, published: "optional", doc: "The name of the volume. Needed." });
function scaleIoWith(name3, reference3) {
  return s.object(
    {
      gateway: requiredText(1, "The address of the gateway of the API."),
      system: requiredText(2, "The name of the storage system."),
      secretRef: field(3, reference3, { published: "required", doc: "The Secret to identify with." }),
      sslEnabled: flag2(4, "Whether to speak to the gateway over TLS."),
      protectionDomain: text2(5, "The protection domain of the storage."),
      storagePool: text2(6, "The pool in the protection domain."),
      storageMode: field(7, s.string(), {
        default: "ThinProvisioned",
        doc: "How space is taken: ThinProvisioned or ThickProvisioned."
      }),
      volumeName: volumeName(8),
      fsType: field(9, s.string(), { default: "xfs", doc: "The file system on it." }),
      readOnly: readOnly(10)
    },
    { name: name3, doc: "A volume of ScaleIO." }
  );
}
function storageOsWith(name3, reference3) {
  return s.object(
    {
      volumeName: volumeName(1),
      volumeNamespace: text2(2, "The scope of the name within StorageOS; the namespace of the pod if unset."),
      fsType: fsType(3),
      readOnly: readOnly(4),
      secretRef: secretRef(5, reference3)
    },
    {
      name: name3,
      doc: "A volume of StorageOS.",
      check: ({ volumeName: volumeName2 = "", volumeNamespace = "" }, path) => [
        ...checkLabel(volumeName2, child(path, "volumeName")),
        ...checkLabel(volumeNamespace, child(path, "volumeNamespace"))
      ]
    }
  );
}
function checkLabel(name3, path) {
  return name3 === "" ? [] : checkDnsLabel(name3).map((fault) => invalid(path, name3, fault));
}
function flexVolumeWith(name3, reference3) {
  return s.object(
    {
      driver: requiredText(1, "The name of the driver."),
      fsType: fsType(2),
      secretRef: secretRef(3, reference3),
      readOnly: readOnly(4),
      options: field(5, s.map(s.string()), { doc: "What the driver is told, by key." })
    },
    { name: name3, doc: "A volume of a driver that is installed on the node.", check: checkFlexOptions }
  );
}
function checkFlexOptions({ options = {} }, path, { vendor }) {
  return Object.keys(options).filter((key) => isVendorKey(vendor, key)).map((key) => invalid(at(child(path, "options"), key), key, `the domain ${vendor.keyDomain} is reserved`));
}
var longestDriverName = 63;
function checkDriverName(name3, path) {
  return [
    ...name3 === "" ? [required(path)] : [],
    ...name3.length > longestDriverName ? [tooLong(path, longestDriverName)] : [],
    ...checkDnsSubdomain(name3.toLowerCase()).map((fault) => invalid(path, name3, fault))
  ];
}

// src/kinds/core/types/persistent-volume-spec.ts
var glusterfs = s.object(
  {
    ...glusterfsFields,
    endpointsNamespace: field(4, s.string(), {
      zero: "keep",
      doc: "The namespace of the Endpoints; that of the claim if unset."
    })
  },
  {
    name: "GlusterfsPersistentVolumeSource",
    doc: "A volume of Glusterfs.",
    check: ({ endpointsNamespace: name3 }, path) => name3 === void 0 ? [] : checkDnsLabel(name3).map((fault) => invalid(child(path, "endpointsNamespace"), name3, fault))
  }
), azureFile = s.object(
  {
    ...azureFileFields,
    secretNamespace: field(4, s.string(), {
      zero: "keep",
      doc: "The namespace of the Secret; that of the pod if unset."
    })
  },
  {
    name: "AzureFilePersistentVolumeSource",
    doc: "A share of Azure.",
    check: ({ secretNamespace }, path) => secretNamespace === "" ? [required(child(path, "secretNamespace"))] : []
  }
), local = s.object(
  {
    path: requiredText(1, "The directory or device on the node, from the root."),
    fsType: field(2, s.string(), { zero: "keep", doc: "The file system to make if it is a device that has none." })
  },
  {
    name: "LocalVolumeSource",
    doc: "Storage that is attached to one node.",
    check: ({ path = "" }, place3) => checkNoBacksteps(path, child(place3, "path"))
  }
), storageOsSecret = s.object(objectReference2.fields, {
  ...objectReference2,
  check: ({ name: name3, namespace: namespace2 }, path) => [
    ...name3 ? [] : [required(child(path, "name"))],
    ...namespace2 ? [] : [required(child(path, "namespace"))]
  ]
}), fullSecret = secretReference({ name: !0, namespace: !0 }), csi = s.object(
  {
    driver: field(1, s.string(), { zero: "write", doc: "The name of the driver." }),
    volumeHandle: requiredText(2, "What the driver knows the volume by."),
    readOnly: flag2(3, "Whether it can only be read."),
    fsType: fsType(4),
    volumeAttributes: field(5, s.map(s.string()), { doc: "What the driver is told, by key." }),
    controllerPublishSecretRef: field(6, fullSecret, { doc: "The Secret to attach it to a node with." }),
    nodeStageSecretRef: field(7, secretReference(), { doc: "The Secret to prepare it on a node with." }),
    nodePublishSecretRef: field(8, fullSecret, { doc: "The Secret to mount it for a pod with." }),
    controllerExpandSecretRef: field(9, fullSecret, { doc: "The Secret to grow it with." })
  },
  {
    name: "CSIPersistentVolumeSource",
    doc: "A volume of a driver of the Container Storage Interface.",
    check: (source, path) => [
      ...checkDriverName(source.driver ?? "", child(path, "driver")),
      ...["controllerPublishSecretRef", "nodePublishSecretRef", "controllerExpandSecretRef"].flatMap(
        (name3) => checkSecret(source[name3] ?? {}, path, name3)
      )
    ]
  }
);
function checkSecret({ name: name3, namespace: namespace2 }, path, reference3) {
  let nameFaults = name3 ? checkDnsLabel(name3) : [], namespaceFaults = namespace2 ? checkDnsLabel(namespace2) : [];
  return [
    ...nameFaults.map((fault) => invalid(child(child(path, reference3), "name"), name3, fault)),
    ...namespaceFaults.map((fault) => invalid(child(path, "namespace"), namespace2, fault))
  ];
}
var sources2 = {
  hostPath: field(3, hostPath, { doc: "A directory of the node. For clusters of one node, and for tests." }),
  gcePersistentDisk: field(1, gcePersistentDisk, { doc: "A disk of Google Compute Engine." }),
  awsElasticBlockStore: field(2, awsElasticBlockStore, { doc: "A disk of the AWS Elastic Block Store." }),
  glusterfs: field(4, glusterfs, { doc: "A volume of Glusterfs." }),
  flocker: field(11, flocker, { doc: "A dataset of Flocker." }),
  nfs: field(5, nfs, { doc: "A directory of an NFS server." }),
  rbd: field(6, rbdWith("RBDPersistentVolumeSource", secretReference()), { doc: "An image of Ceph." }),
  quobyte: field(15, quobyte, { doc: "A volume of Quobyte." }),
  cephfs: field(9, cephfsWith("CephFSPersistentVolumeSource", secretReference()), { doc: "A directory of CephFS." }),
  iscsi: field(7, iscsiWith("ISCSIPersistentVolumeSource", secretReference({ name: !0 })), {
    doc: "A device of an iSCSI target."
  }),
  cinder: field(8, cinderWith("CinderPersistentVolumeSource", fullSecret), { doc: "A disk of Cinder." }),
  fc: field(10, fc, { doc: "A device on Fibre Channel." }),
  flexVolume: field(12, flexVolumeWith("FlexPersistentVolumeSource", secretReference()), {
    doc: "A volume of a driver that is installed on the node."
  }),
  azureFile: field(13, azureFile, { doc: "A share of Azure." }),
  vsphereVolume: field(14, vsphereVolume, { doc: "A disk of vSphere." }),
  photonPersistentDisk: field(17, photonPersistentDisk, { doc: "A disk of the Photon controller." }),
  portworxVolume: field(18, portworxVolume, { doc: "A volume of Portworx." }),
  azureDisk: field(16, azureDisk, { doc: "A disk of Azure." }),
  scaleIO: field(19, scaleIoWith("ScaleIOPersistentVolumeSource", secretReference()), { doc: "A volume of ScaleIO." }),
  local: field(20, local, { doc: "Storage that is attached to one node; nodeAffinity says which." }),
  storageos: field(21, storageOsWith("StorageOSPersistentVolumeSource", storageOsSecret), {
    doc: "A volume of StorageOS."
  }),
  csi: field(22, csi, { doc: "A volume of a driver of the Container Storage Interface." })
}, sourceNames = Object.keys(sources2), nodeAffinity = s.object(
  {
    required: field(1, nodeSelector, {
      required: !0,
      published: "optional",
      doc: "The nodes that can reach the volume."
    })
  },
  { name: "VolumeNodeAffinity", doc: "From which nodes a volume can be used." }
), persistentVolumeSpec = s.object(
  {
    capacity: field(1, resourceList, { doc: "How much it holds, as `storage`." }),
    ...inlined(2, sources2),
    accessModes: field(3, accessModes, {
      required: !0,
      published: "optional",
      doc: "How it can be mounted: ReadWriteOnce by one node, ReadOnlyMany or ReadWriteMany by many."
    }),
    claimRef: field(4, objectReference2, { doc: "The claim that it is bound to. Set when it is bound." }),
    persistentVolumeReclaimPolicy: field(5, s.oneOf("Delete", "Recycle", "Retain"), {
      doc: "What becomes of it when its claim is gone: Retain keeps it, Delete deletes it with its data, Recycle empties it."
    }),
    storageClassName: field(6, s.string(), { doc: "The class it belongs to; empty: none." }),
    mountOptions: field(7, s.list(s.string()), { doc: "Options for mounting it, such as `ro`. Nobody checks them." }),
    volumeMode: field(8, s.oneOf("Block", "Filesystem"), {
      zero: "keep",
      doc: "Whether it is used as a Filesystem, the default, or as a raw Block device."
    }),
    nodeAffinity: field(9, nodeAffinity, {
      doc: "The nodes it can be used from; any if unset. Cannot change once set."
    })
  },
  {
    name: "core.v1.PersistentVolumeSpec",
    doc: "What a volume offers and where it is.",
    choice: { among: sourceNames, noun: "volume type" },
    fill: ({ capacity }) => roundResources(capacity),
    check: (spec8, path) => {
      let { accessModes: modes3, storageClassName: name3, nodeAffinity: nodeAffinity3 } = spec8, isLocal = sourceNames.find((source) => spec8[source]) === "local";
      return [
        ...checkAccessModes(modes3, child(path, "accessModes")),
        ...(name3 ? checkDnsSubdomain(name3) : []).map((fault) => invalid(child(path, "storageClassName"), name3, fault)),
        ...isLocal && !nodeAffinity3 ? [required(child(path, "nodeAffinity"), "a local volume needs its nodes")] : []
      ];
    }
  }
);

// src/kinds/core/persistent-volume.ts
var status6 = s.object(
  {
    phase: field(1, s.string(), { default: "Pending", doc: "Pending, Available, Bound, Released or Failed." }),
    message: field(2, s.string(), { doc: "Why it is so, for people." }),
    reason: field(3, s.string(), { doc: "Why it failed, in one word for programs." })
  },
  { name: "PersistentVolumeStatus", doc: "Where a volume is in its life." }
), fields9 = {
  spec: field(2, persistentVolumeSpec, { zero: "write", doc: "What it offers and where it is." }),
  status: field(3, status6, { zero: "write", doc: "Where it is in its life. Set by the server." })
}, columns = [
  nameColumn,
  column("Capacity", "How much it holds.", ({ spec: spec8 }) => spec8?.capacity?.storage ?? "0"),
  column("Access Modes", "How it may be mounted.", ({ spec: spec8 }) => abbreviateModes(spec8?.accessModes)),
  column(
    "Reclaim Policy",
    "What becomes of it when its claim is gone.",
    ({ spec: spec8 }) => spec8?.persistentVolumeReclaimPolicy ?? ""
  ),
  column("Status", "Whether it is free, bound to a claim, or released.", phaseOf),
  column("Claim", "The claim that it is bound to.", ({ spec: spec8 }) => claimOf(spec8 ?? {})),
  column("StorageClass", "The class that it belongs to.", (object, _, vendor) => classOf(object, vendor)),
  column("Reason", "Why it failed, in a word.", ({ status: status9 }) => status9?.reason ?? ""),
  ageColumn,
  column("VolumeMode", "A file system or a raw device.", ({ spec: spec8 }) => spec8?.volumeMode ?? "<unset>", 1)
], persistentVolume = defineKind({
  group: "core",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  doc: "A piece of storage in the cluster, whose life is its own; a claim binds to it.",
  shortNames: ["pv"],
  scope: "Cluster",
  deleteAnswers: "object",
  fields: fields9,
  columns,
  readOnly: ["status"],
  subresources: {
    status: plainStatus
  },
  fillDefaults: ({ spec: spec8 }) => {
    spec8 !== void 0 && (spec8.persistentVolumeReclaimPolicy ??= "Retain", spec8.volumeMode ??= "Filesystem");
  },
  prepareForCreate: (object) => {
    object.status = { phase: "Pending" };
  },
  prepareForUpdate: (next, previous) => keep(next, previous, "status"),
  validate: (object, { vendor }) => [
    ...checkCapacity(object.spec?.capacity),
    ...checkRecycling(object.spec ?? {}),
    ...checkPortal(object),
    ...checkMountAnnotation(object, vendor)
  ],
  validateUpdate: ({ spec: next = {} }, { spec: previous = {} }) => [
    ...checkSameSource(next, previous),
    ...immutableField("spec.volumeMode", next.volumeMode, previous.volumeMode),
    ...previous.nodeAffinity ? immutableField("spec.nodeAffinity", next.nodeAffinity, previous.nodeAffinity) : []
  ]
});
function phaseOf({ metadata, status: status9 }) {
  return metadata.deletionTimestamp === void 0 ? status9?.phase ?? "" : "Terminating";
}
function claimOf({ claimRef }) {
  return claimRef ? `${claimRef.namespace ?? ""}/${claimRef.name ?? ""}` : "";
}
function classOf({ metadata, spec: spec8 }, vendor) {
  return metadata.annotations?.[vendorKey(vendor, "storage-class", "volume.beta")] ?? spec8?.storageClassName ?? "";
}
function checkCapacity(capacity = {}) {
  let path = "spec.capacity", names3 = Object.keys(capacity);
  return [
    ...names3.length === 0 ? [required(path)] : [],
    ...names3.length === 1 && names3[0] === "storage" ? [] : [notSupported(path, names3, ["storage"])],
    ...Object.entries(capacity).filter(([, amount]) => quantitySign(parseQuantity(amount)) <= 0).map(([name3, amount]) => invalid(at(path, name3), amount, "must be greater than zero"))
  ];
}
function checkRecycling({ hostPath: hostPath2, persistentVolumeReclaimPolicy: policy2 }) {
  return policy2 !== "Recycle" || !hostPath2?.path || posix.normalize(hostPath2.path) !== "/" ? [] : [forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'Recycle' for a hostPath of '/'")];
}
var longestInterfaceName = 64;
function checkPortal({ metadata, spec: spec8 }) {
  let { initiatorName, targetPortal = "" } = spec8?.iscsi ?? {}, { length } = `${metadata.name}:${targetPortal}`;
  if (initiatorName === void 0 || length <= longestInterfaceName) return [];
  let text4 = `with the name of the volume it may have at most ${longestInterfaceName - 1} characters if iscsi.initiatorName is set`;
  return [invalid("spec.iscsi.targetportal", targetPortal, text4)];
}
var mountedWithOptions = [
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "nfs",
  "rbd",
  "quobyte",
  "iscsi",
  "cinder",
  "cephfs",
  "azureFile",
  "vsphereVolume",
  "azureDisk",
  "photonPersistentDisk"
];
function checkMountAnnotation({ metadata, spec: spec8 = {} }, vendor) {
  let key = vendorKey(vendor, "mount-options", "volume.beta");
  return metadata.annotations?.[key] === void 0 || mountedWithOptions.some((name3) => spec8[name3]) ? [] : [forbidden(child("metadata.annotations", key), "this volume type takes no mount options")];
}
function checkSameSource(next, previous) {
  let { controllerExpandSecretRef: added, ...csi3 } = next.csi ?? {}, grown = added && previous.csi && !previous.csi.controllerExpandSecretRef;
  return sameJson(sourceOf(grown ? { ...next, csi: csi3 } : next), sourceOf(previous)) ? [] : [forbidden("spec", "the source of a volume may not change after creation")];
}
function sourceOf(spec8) {
  return Object.fromEntries(sourceNames.map((name3) => [name3, spec8[name3]]));
}

// src/kinds/core/types/file-paths.ts
function checkDescendingPath(value, path) {
  return [...value.startsWith("/") ? [invalid(path, value, "must be a relative path")] : [], ...checkNoBacksteps(value, path)];
}
function checkFilePath(value, path) {
  let reserved = value.startsWith("..") && !value.startsWith("../");
  return [...checkDescendingPath(value, path), ...reserved ? [invalid(path, value, "must not start with '..'")] : []];
}

// src/kinds/core/types/repeated.ts
function repeatedAt(names3) {
  let seen = /* @__PURE__ */ new Set(), repeated2 = /* @__PURE__ */ new Set();
  for (let [i, name3] of names3.entries())
    name3 !== void 0 && (seen.has(name3) && repeated2.add(i), seen.add(name3));
  return repeated2;
}

// src/kinds/core/types/local-references.ts
var named = { name: field(1, s.string(), { doc: "The name of the object." }) }, localObjectReference = s.object(named, {
  name: "core.v1.LocalObjectReference",
  doc: "An object in the same namespace, by name.",
  atomic: !0
}), inlinedReference = inlined(1, named), typedLocalObjectReference = s.object(
  {
    apiGroup: field(1, s.string(), { zero: "keep", doc: "The group of the kind; the core group if unset." }),
    kind: field(2, s.string(), { zero: "write", doc: "The kind of the object." }),
    name: field(3, s.string(), { zero: "write", doc: "The name of the object." })
  },
  { name: "core.v1.TypedLocalObjectReference", doc: "An object of any kind in the same namespace.", atomic: !0 }
);

// src/kinds/core/types/resources.ts
var fields10 = {
  limits: field(1, resourceList, { doc: "The most of each resource that may be used." }),
  requests: field(2, resourceList, { doc: "What is promised of each resource; the limits if unset." })
}, resourceRequirements = s.object(fields10, {
  name: "ResourceRequirements",
  doc: "How much of each resource may be used at most, and how much is promised.",
  fill: ({ limits, requests }) => {
    roundResources(limits), roundResources(requests);
  }
}), computeResources = ["cpu", "memory"], containerResources = [...computeResources, "ephemeral-storage"], nanosInOne = 1000000000n;
function quantityIn(list3, name3) {
  let text4 = list3 && own(list3, name3);
  return typeof text4 == "string" ? quantityOf(text4) : void 0;
}
function quantityOf(text4) {
  let quantity = parseQuantity(text4);
  if (quantity === void 0) throw new TypeError(`${text4} is no quantity`);
  return quantity;
}
function checkContainerResources({ limits = {}, requests = {} }, path, vendor) {
  return [
    ...checkResourceList(limits, child(path, "limits"), vendor),
    ...checkResourceList(requests, child(path, "requests"), vendor),
    ...Object.keys(requests).flatMap((name3) => checkRequest(name3, { limits, requests }, path, vendor)),
    ...checkHugePages({ ...limits, ...requests }, path)
  ];
}
function checkResourceList(list3, path, vendor) {
  return Object.entries(list3).flatMap(([name3, text4]) => [
    ...checkContainerResourceName(name3, at(path, name3), vendor),
    ...checkAmount(name3, text4, at(path, name3), vendor)
  ]);
}
function checkContainerResourceName(name3, path, vendor) {
  let errors = checkQualifiedName(name3).map((text4) => invalid(path, name3, text4));
  return name3.includes("/") ? isNative(name3, vendor) || isExtended(name3, vendor) ? errors : [...errors, invalid(path, name3, "doesn't follow the extended resource name standard")] : containerResources.includes(name3) || isHugePages(name3) ? errors : [...errors, invalid(path, name3, "must be a standard resource for containers, or fully qualified")];
}
function checkAmount(name3, text4, path, vendor) {
  let quantity = quantityOf(text4);
  if (quantitySign(quantity) < 0) return [invalid(path, text4, "must be greater than or equal to 0")];
  if (isExtended(name3, vendor) && quantity.nanos % nanosInOne !== 0n) return [invalid(path, text4, "must be an integer")];
  let page = isHugePages(name3) ? parseQuantity(name3.slice(hugePages.length)) : void 0;
  return page && page.nanos > 0n && quantity.nanos % page.nanos !== 0n ? [invalid(path, text4, "must be a multiple of the page size")] : [];
}
function checkRequest(name3, { limits = {}, requests = {} }, path, vendor) {
  let limit = quantityIn(limits, name3), overcommit = isNative(name3, vendor) && !isHugePages(name3);
  if (limit === void 0)
    return overcommit ? [] : [required(child(path, "limits"), `${name3} cannot be overcommitted, so a limit must be set`)];
  let order = compareQuantities(quantityIn(requests, name3), limit), place3 = child(path, "requests");
  return order !== 0 && !overcommit ? [invalid(place3, requests[name3], `must be equal to ${name3} limit`)] : order > 0 ? [invalid(place3, requests[name3], `must be less than or equal to ${name3} limit`)] : [];
}
function checkHugePages(all, path) {
  let names3 = Object.keys(all);
  return names3.some(isHugePages) && !names3.some((name3) => computeResources.includes(name3)) ? [forbidden(path, "HugePages require cpu or memory")] : [];
}
var hugePages = "hugepages-";
function isHugePages(name3) {
  return name3.startsWith(hugePages);
}
function isNative(name3, vendor) {
  return !name3.includes("/") || isVendorKey(vendor, name3);
}
function isExtended(name3, vendor) {
  return !isNative(name3, vendor) && !name3.startsWith("requests.") && checkQualifiedName(`requests.${name3}`).length === 0;
}

// src/kinds/core/types/claim-spec.ts
var fields11 = {
  accessModes: field(1, accessModes, {
    doc: "How the volume is to be mounted: ReadWriteOnce, ReadOnlyMany or ReadWriteMany."
  }),
  resources: field(2, resourceRequirements, { zero: "write", doc: "How much is needed, as requests.storage." }),
  volumeName: field(3, s.string(), { doc: "The volume that is bound to the claim." }),
  selector: field(4, labelSelector, { doc: "Which volumes may be bound; any if unset." }),
  storageClassName: field(5, s.string(), {
    zero: "keep",
    doc: "The class of the volume. Empty is a volume without a class; unset, the default class."
  }),
  volumeMode: field(6, s.oneOf("Block", "Filesystem"), {
    zero: "keep",
    default: "Filesystem",
    doc: "Whether it is used as a Filesystem or as a raw Block device."
  }),
  dataSource: field(7, typedLocalObjectReference, {
    doc: "A snapshot or a claim whose content the volume starts with."
  }),
  dataSourceRef: field(8, typedLocalObjectReference, { doc: "Like dataSource, of any kind." })
}, persistentVolumeClaimSpec = s.object(fields11, {
  name: "core.v1.PersistentVolumeClaimSpec",
  doc: "The storage that is asked for: how much, of which class, and how it is to be used.",
  check: checkClaim
});
function checkClaim(spec8, path) {
  let { accessModes: modes3 = [], storageClassName: className = "", dataSource, dataSourceRef } = spec8, modesPath = child(path, "accessModes");
  return [
    ...modes3.length === 0 ? [required(modesPath, "at least 1 access mode is required")] : [],
    ...checkAccessModes(modes3, modesPath),
    ...checkStorage(spec8, at(child(path, "resources"), "storage")),
    ...(className === "" ? [] : checkDnsSubdomain(className)).map(
      (text4) => invalid(child(path, "storageClassName"), className, text4)
    ),
    ...dataSource ? checkDataSource(dataSource, child(path, "dataSource")) : [],
    ...dataSourceRef ? checkDataSource(dataSourceRef, child(path, "dataSourceRef")) : []
  ];
}
function checkStorage({ resources: resources2 }, path) {
  let size = quantityIn(resources2?.requests, "storage");
  return size === void 0 ? [required(path)] : quantitySign(size) > 0 ? [] : [invalid(path, resources2.requests.storage, "must be greater than zero")];
}
function checkDataSource({ name: name3 = "", kind = "", apiGroup = "" }, path) {
  return [
    ...name3 === "" ? [required(child(path, "name"))] : [],
    ...kind === "" ? [required(child(path, "kind"))] : [],
    ...apiGroup === "" && kind !== "PersistentVolumeClaim" ? [invalid(path, kind, "must be PersistentVolumeClaim when `apiGroup` is empty")] : []
  ];
}

// src/kinds/core/types/downward.ts
var fieldSelectorFields = {
  apiVersion: field(1, s.string(), { default: "v1", doc: "The version in whose words the path is." }),
  fieldPath: field(2, s.string(), { zero: "write", doc: "The path of the field, such as metadata.name." })
}, objectFieldSelector = s.object(fieldSelectorFields, {
  name: "ObjectFieldSelector",
  doc: "A field of the pod.",
  atomic: !0
}), resourceSelectorFields = {
  containerName: field(1, s.string(), { doc: "The container; needed in volumes." }),
  resource: field(2, s.string(), { zero: "write", doc: "What is told, such as limits.cpu or requests.memory." }),
  divisor: field(3, s.quantity(), {
    zero: "write",
    published: "optional",
    doc: "The unit in which it is told; 0 is 1."
  })
}, resourceFieldSelector = s.object(resourceSelectorFields, {
  name: "ResourceFieldSelector",
  doc: "A request or limit of a container, in units of the divisor.",
  atomic: !0
}), fieldsForEnvironment = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.podIP",
  "status.podIPs"
], fieldsForVolumes = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid"
], knownFields = /* @__PURE__ */ new Set([
  ...fieldsForEnvironment,
  ...fieldsForVolumes,
  "spec.host",
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase"
]), resources = ["cpu", "ephemeral-storage", "memory"], selectableResources = ["limits", "requests"].flatMap((list3) => resources.map((name3) => `${list3}.${name3}`)), hugePages2 = /^(?:limits|requests)\.hugepages-/;
function checkFieldSelector({ apiVersion = "", fieldPath = "" }, allowed, path) {
  let place3 = child(path, "fieldPath");
  if (apiVersion === "") return [required(child(path, "apiVersion"))];
  if (fieldPath === "") return [required(place3)];
  if (apiVersion !== "v1") return [invalid(place3, fieldPath, `pods have no version ${apiVersion}`)];
  let subscripted = /^(.+?)\['(.*)'\]$/s.exec(fieldPath);
  return subscripted !== null ? checkSubscript(subscripted[1], subscripted[2], path) : knownFields.has(fieldPath) ? allowed.includes(fieldPath) ? [] : [notSupported(place3, fieldPath, allowed)] : [invalid(place3, fieldPath, "this field of a pod cannot be selected")];
}
function checkSubscript(field2, key, path) {
  return field2 === "metadata.labels" ? checkQualifiedName(key).map((text4) => invalid(path, key, text4)) : field2 === "metadata.annotations" ? checkQualifiedName(key.toLowerCase()).map((text4) => invalid(path, key, text4)) : [invalid(child(path, "fieldPath"), `${field2}['${key}']`, "this field has no subscripts")];
}
function checkResourceSelector({ containerName = "", resource = "", divisor = "0" }, named2, path) {
  let errors = checkDivisor(resource, divisor, path);
  return named2 && containerName === "" ? [required(child(path, "containerName")), ...errors] : resource === "" ? [required(child(path, "resource")), ...errors] : selectableResources.includes(resource) || hugePages2.test(resource) ? errors : [notSupported(child(path, "resource"), resource, selectableResources), ...errors];
}
var powers = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
function checkDivisor(resource, divisor, path) {
  if (divisor === "0") return [];
  let known2 = selectableResources.includes(resource) || hugePages2.test(resource), allowed = resource.endsWith(".cpu") ? ["1m", "1"] : powers;
  return !known2 || allowed.includes(divisor) ? [] : [invalid(child(path, "divisor"), divisor, `with ${resource} it is one of ${allowed.join(", ")}`)];
}

// src/kinds/core/types/projected-files.ts
var keyToPathFields = {
  key: field(1, s.string(), { zero: "write", required: !0, doc: "The key." }),
  path: field(2, s.string(), {
    zero: "write",
    required: !0,
    doc: "The path of the file in the volume, without dots that lead up."
  }),
  mode: field(3, s.int32(), { zero: "keep", doc: "The rights of the file; those of the volume if unset." })
}, keyToPath = s.object(keyToPathFields, {
  name: "KeyToPath",
  doc: "The file that a key becomes.",
  check: ({ path: file = "", mode: mode2 }, path) => [
    ...checkFilePath(file, child(path, "path")),
    ...checkMode(mode2, child(path, "mode"))
  ]
}), mode = (tag) => field(tag, s.int32(), { zero: "keep", default: 420, doc: "The rights of files that say nothing else." }), optional = (tag) => field(tag, s.boolean(), { zero: "keep", doc: "Whether it, or its keys, may be missing." }), items = field(2, s.list(keyToPath), {
  doc: "The keys to take, and their files; all, under their own names, if unset."
}), secretVolume = s.object(
  {
    secretName: field(1, s.string(), { required: !0, published: "optional", doc: "The name of the Secret." }),
    items,
    defaultMode: mode(3),
    optional: optional(4)
  },
  { name: "SecretVolumeSource", doc: "The keys of a Secret as files.", check: checkDefaultMode }
), reference2 = { name: { ...inlinedReference.name, required: !0, published: "optional" } }, configMapVolume = s.object(
  { ...reference2, items, defaultMode: mode(3), optional: optional(4) },
  { name: "ConfigMapVolumeSource", doc: "The keys of a ConfigMap as files.", check: checkDefaultMode }
), fileFields = {
  path: field(1, s.string(), { zero: "write", doc: "The path of the file in the volume, without dots that lead up." }),
  fieldRef: field(2, objectFieldSelector, { doc: "A field of the pod." }),
  resourceFieldRef: field(3, resourceFieldSelector, { doc: "A resource of a container." }),
  mode: field(4, s.int32(), { zero: "keep", doc: "The rights of the file; those of the volume if unset." })
}, downwardFile = s.object(fileFields, {
  name: "DownwardAPIVolumeFile",
  doc: "A file with a field of the pod or a resource of one of its containers."
}), downwardVolume = s.object(
  { items: field(1, s.list(downwardFile), { doc: "The files." }), defaultMode: mode(2) },
  {
    name: "DownwardAPIVolumeSource",
    doc: "Fields of the pod as files.",
    check: (value, path) => [...checkDefaultMode(value, path), ...checkDownwardFiles(value.items, path)]
  }
), secretProjection = s.object(
  { ...reference2, items, optional: optional(4) },
  { name: "SecretProjection", doc: "The keys of a Secret, as part of a volume." }
), configMapProjection = s.object(
  { ...reference2, items, optional: optional(4) },
  { name: "ConfigMapProjection", doc: "The keys of a ConfigMap, as part of a volume." }
), downwardProjection = s.object(
  { items: field(1, s.list(downwardFile), { doc: "The files." }) },
  {
    name: "DownwardAPIProjection",
    doc: "Fields of the pod, as part of a volume.",
    check: (value, path) => checkDownwardFiles(value.items, path)
  }
), tokenFields = {
  audience: field(1, s.string(), { doc: "Whom the token is for; the API server if unset." }),
  expirationSeconds: field(2, s.int64(), {
    zero: "keep",
    default: 3600,
    doc: "How long the token is valid; at least 600."
  }),
  path: field(3, s.string(), { zero: "write", required: !0, doc: "The path of the file in the volume." })
}, tokenProjection = s.object(tokenFields, {
  name: "ServiceAccountTokenProjection",
  doc: "A token of the service account of the pod, renewed before it expires.",
  check: checkToken
}), projectionFields = {
  secret: field(1, secretProjection, { doc: "Keys of a Secret." }),
  downwardAPI: field(2, downwardProjection, { doc: "Fields of the pod." }),
  configMap: field(3, configMapProjection, { doc: "Keys of a ConfigMap." }),
  serviceAccountToken: field(4, tokenProjection, { doc: "A token of the service account." })
}, projection = s.object(projectionFields, {
  name: "VolumeProjection",
  doc: "One of the sources of a projected volume.",
  check: (value, path) => Object.keys(value).length > 1 ? [forbidden(path, "may not specify more than 1 volume type")] : []
}), projectedFields = {
  sources: field(1, s.list(projection), { zero: "write", published: "optional", doc: "What the files come from." }),
  defaultMode: mode(2)
}, projectedVolume = s.object(projectedFields, {
  name: "ProjectedVolumeSource",
  doc: "Files from several sources in one volume.",
  check: (value, path) => [...checkDefaultMode(value, path), ...checkCollisions(value, path)]
});
function checkMode(value, path) {
  return value === void 0 || value >= 0 && value <= 511 ? [] : [invalid(path, value, "must be a number between 0 and 0777 (octal), both inclusive")];
}
function checkDefaultMode({ defaultMode }, path) {
  return checkMode(defaultMode, child(path, "defaultMode"));
}
function checkDownwardFiles(files = [], path) {
  return files.flatMap((file) => checkDownwardFile(file, path));
}
function checkDownwardFile({ path: file = "", fieldRef, resourceFieldRef, mode: mode2 }, path) {
  let place3 = child(path, "path");
  return [
    ...file === "" ? [required(place3)] : checkFilePath(file, place3),
    ...checkDownwardSource({ fieldRef, resourceFieldRef }, path),
    ...checkMode(mode2, child(path, "mode"))
  ];
}
function checkDownwardSource({ fieldRef, resourceFieldRef }, path) {
  return fieldRef === void 0 ? resourceFieldRef === void 0 ? [required(path, "one of fieldRef and resourceFieldRef is required")] : checkResourceSelector(resourceFieldRef, !0, child(path, "resourceFieldRef")) : [
    ...checkFieldSelector(fieldRef, fieldsForVolumes, child(path, "fieldRef")),
    ...resourceFieldRef ? [invalid(path, "resource", "fieldRef and resourceFieldRef exclude each other")] : []
  ];
}
var shortestLife = 600, longestLife = 2 ** 32;
function checkToken({ expirationSeconds: life = shortestLife }, path) {
  let place3 = child(path, "expirationSeconds");
  return life < shortestLife ? [invalid(place3, life, "may not specify a duration less than 10 minutes")] : life > longestLife ? [invalid(place3, life, "may not specify a duration larger than 2^32 seconds")] : [];
}
function checkCollisions({ sources: sources4 = [] }, path) {
  let seen = /* @__PURE__ */ new Set();
  return sources4.flatMap((source) => filesOf(source).filter((file) => seen.has(file) || !seen.add(file)).map((file) => invalid(path, file, "conflicting duplicate paths")));
}
function filesOf({ secret: secret2, configMap: configMap2, downwardAPI, serviceAccountToken }) {
  return [...[...secret2?.items ?? [], ...configMap2?.items ?? [], ...downwardAPI?.items ?? []].map(({ path = "" }) => path), serviceAccountToken?.path ?? ""].filter((path) => path !== "");
}

// src/kinds/core/types/volume.ts
var emptyDir = s.object(
  {
    medium: field(1, s.string(), { doc: "Where it is: empty for the disk of the node, Memory for its memory." }),
    sizeLimit: field(2, s.quantity(), { zero: "keep", doc: "How much it may hold; unbounded if unset." })
  },
  {
    name: "EmptyDirVolumeSource",
    doc: "A directory that is empty at first and goes with the pod.",
    check: ({ sizeLimit = "0" }, path) => quantitySign(parseQuantity(sizeLimit)) < 0 ? [forbidden(child(path, "sizeLimit"), "must not be negative")] : []
  }
), gitRepo = s.object(
  {
    repository: field(1, s.string(), { zero: "write", required: !0, doc: "The address of the repository." }),
    revision: field(2, s.string(), { doc: "The commit to check out." }),
    directory: field(3, s.string(), { doc: "The directory to clone into; empty for one named after the repository." })
  },
  {
    name: "GitRepoVolumeSource",
    doc: "A clone of a repository. Deprecated: clone into an emptyDir from an init container.",
    check: ({ directory = "" }, path) => checkDescendingPath(directory, child(path, "directory"))
  }
), glusterfs2 = s.object(glusterfsFields, { name: "GlusterfsVolumeSource", doc: "A volume of Glusterfs." }), azureFile2 = s.object(azureFileFields, { name: "AzureFileVolumeSource", doc: "A share of Azure." }), claim = s.object(
  {
    claimName: field(1, s.string(), { zero: "write", required: !0, doc: "The name of the claim." }),
    readOnly: field(2, s.boolean(), { doc: "Whether it can only be read." })
  },
  { name: "PersistentVolumeClaimVolumeSource", doc: "The volume that a claim in the same namespace is bound to." }
), csi2 = s.object(
  {
    driver: field(1, s.string(), { zero: "write", doc: "The name of the driver." }),
    readOnly: field(2, s.boolean(), { zero: "keep", doc: "Whether it can only be read." }),
    fsType: field(3, s.string(), { zero: "keep", doc: "The file system on it. The driver chooses if unset." }),
    volumeAttributes: field(4, s.map(s.string()), { doc: "What the driver is told, by key." }),
    nodePublishSecretRef: field(5, localObjectReference, { doc: "The Secret to mount it with." })
  },
  {
    name: "CSIVolumeSource",
    doc: "A volume that a driver makes for the pod alone.",
    check: ({ driver = "", nodePublishSecretRef: secret2 }, path) => [
      ...checkDriverName(driver, child(path, "driver")),
      ...secret2 ? checkSecretName(secret2.name ?? "", child(path, "name")) : []
    ]
  }
), templateFields = {
  metadata: field(1, objectMeta, { zero: "write", doc: "Labels and annotations of the claim." }),
  spec: field(2, persistentVolumeClaimSpec, { zero: "write", published: "required", doc: "What the claim asks for." })
}, claimTemplate = s.object(templateFields, {
  name: "PersistentVolumeClaimTemplate",
  doc: "The claim that is made for the pod.",
  check: ({ metadata = {} }, path) => checkTemplateMetadata(metadata, child(path, "metadata"))
}), ephemeral = s.object(
  {
    volumeClaimTemplate: field(1, claimTemplate, {
      required: !0,
      published: "optional",
      doc: "The claim that is made; its name is that of the pod, a dash and that of the volume."
    })
  },
  { name: "EphemeralVolumeSource", doc: "A volume whose claim is made with the pod and goes with it." }
), inNamespace = (source, name3) => source(name3, localObjectReference), sources3 = {
  emptyDir: field(2, emptyDir, { doc: "A directory that goes with the pod." }),
  hostPath: field(1, hostPath, { doc: "A file or directory of the node." }),
  gitRepo: field(5, gitRepo, { doc: "A clone of a repository. Deprecated." }),
  gcePersistentDisk: field(3, gcePersistentDisk, { doc: "A disk of Google Compute Engine." }),
  awsElasticBlockStore: field(4, awsElasticBlockStore, { doc: "A disk of the AWS Elastic Block Store." }),
  secret: field(6, secretVolume, { doc: "The keys of a Secret as files." }),
  nfs: field(7, nfs, { doc: "A directory of an NFS server." }),
  iscsi: field(8, inNamespace(iscsiWith, "ISCSIVolumeSource"), { doc: "A device of an iSCSI target." }),
  glusterfs: field(9, glusterfs2, { doc: "A volume of Glusterfs." }),
  flocker: field(15, flocker, { doc: "A dataset of Flocker." }),
  persistentVolumeClaim: field(10, claim, { doc: "The volume of a claim." }),
  rbd: field(11, inNamespace(rbdWith, "RBDVolumeSource"), { doc: "An image of Ceph." }),
  cinder: field(13, inNamespace(cinderWith, "CinderVolumeSource"), { doc: "A disk of Cinder." }),
  cephfs: field(14, inNamespace(cephfsWith, "CephFSVolumeSource"), { doc: "A directory of CephFS." }),
  quobyte: field(21, quobyte, { doc: "A volume of Quobyte." }),
  downwardAPI: field(16, downwardVolume, { doc: "Fields of the pod as files." }),
  fc: field(17, fc, { doc: "A device on Fibre Channel." }),
  flexVolume: field(12, inNamespace(flexVolumeWith, "FlexVolumeSource"), {
    doc: "A volume of a driver that is installed on the node."
  }),
  configMap: field(19, configMapVolume, { doc: "The keys of a ConfigMap as files." }),
  azureFile: field(18, azureFile2, { doc: "A share of Azure." }),
  vsphereVolume: field(20, vsphereVolume, { doc: "A disk of vSphere." }),
  photonPersistentDisk: field(23, photonPersistentDisk, { doc: "A disk of the Photon controller." }),
  portworxVolume: field(24, portworxVolume, { doc: "A volume of Portworx." }),
  azureDisk: field(22, azureDisk, { doc: "A disk of Azure." }),
  storageos: field(27, inNamespace(storageOsWith, "StorageOSVolumeSource"), { doc: "A volume of StorageOS." }),
  projected: field(26, projectedVolume, { doc: "Files from several sources together." }),
  scaleIO: field(25, inNamespace(scaleIoWith, "ScaleIOVolumeSource"), { doc: "A volume of ScaleIO." }),
  csi: field(28, csi2, { doc: "A volume that a driver makes for the pod alone." }),
  ephemeral: field(29, ephemeral, { doc: "A volume whose claim is made with the pod." })
}, sourceNames2 = Object.keys(sources3), fields12 = {
  name: field(1, s.string(), { zero: "write", required: !0, doc: "The name by which containers mount it." }),
  ...inlined(2, sources3)
}, volume = s.object(fields12, {
  name: "Volume",
  doc: "A directory for the containers of a pod, by name.",
  choice: { among: sourceNames2, noun: "volume type" },
  fill: (value) => {
    sourceNames2.every((name3) => value[name3] === void 0) && (value.emptyDir = {});
  },
  check: ({ name: name3 = "" }, path) => name3 === "" ? [] : checkDnsLabel(name3).map((text4) => invalid(child(path, "name"), name3, text4))
});
function checkSecretName(name3, path) {
  return name3 === "" ? [required(path)] : checkDnsSubdomain(name3).map((text4) => invalid(path, name3, text4));
}
function checkTemplateMetadata(metadata, path) {
  let { labels, annotations, ...others } = metadata;
  return [
    ...Object.keys(others).map((name3) => forbidden(child(path, name3), "cannot be set for an ephemeral volume")),
    ...checkLabels(labels, child(path, "labels")),
    ...checkAnnotations(annotations, child(path, "annotations"))
  ];
}

// src/kinds/core/types/pod-containers.ts
function checkContainersTogether(spec8, path, context) {
  let { containers = [], volumes = [] } = spec8, place3 = child(path, "containers"), sound = soundVolumes(volumes, context);
  return [
    ...containers.length === 0 ? [required(place3)] : [],
    ...checkVolumeNames(volumes, sound, child(path, "volumes")),
    ...checkContainerNames(spec8, path),
    ...allContainers(spec8, path).flatMap(([one, where]) => checkVolumeUse(one, sound, where)),
    ...checkInitContainers(spec8, child(path, "initContainers")),
    ...checkHostPorts(containers, place3),
    ...spec8.hostNetwork ? checkHostNetwork(containers, place3) : [],
    ...checkHostProcesses(spec8, path)
  ];
}
function allContainers(spec8, path) {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap(
    (name3) => (spec8[name3] ?? []).map((one, i) => [one, at(child(path, name3), i)])
  );
}
function soundVolumes(volumes, context) {
  let sound = /* @__PURE__ */ new Map();
  for (let one of volumes)
    !sound.has(one.name ?? "") && validate(volume, one, context).length === 0 && sound.set(one.name, one);
  return sound;
}
function checkVolumeNames(volumes, sound, path) {
  let before = /* @__PURE__ */ new Set();
  return volumes.flatMap((one, i) => {
    let name3 = one.name ?? "", repeated2 = before.has(name3);
    return sound.get(name3) === one && before.add(name3), repeated2 ? [duplicate(child(at(path, i), "name"), name3)] : [];
  });
}
function checkContainerNames(spec8, path) {
  let { ephemeralContainers = [] } = spec8, seen = /* @__PURE__ */ new Set(), errors = ["containers", "initContainers", "ephemeralContainers"].flatMap(
    (list3) => (spec8[list3] ?? []).flatMap(({ name: name3 = "" }, i) => {
      let repeated2 = seen.has(name3);
      return seen.add(name3), repeated2 ? [duplicate(child(at(child(path, list3), i), "name"), name3)] : [];
    })
  ), targets = ephemeralContainers.flatMap(
    ({ targetContainerName: name3 = "" }, i) => name3 === "" || seen.has(name3) ? [] : [notFound(child(at(child(path, "ephemeralContainers"), i), "targetContainerName"), name3)]
  );
  return [...errors, ...targets];
}
var notForInit = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];
function checkInitContainers({ initContainers = [] }, path) {
  return initContainers.flatMap((one, i) => [
    ...notForInit.filter((name3) => one[name3] !== void 0).map((name3) => forbidden(child(at(path, i), name3), "must not be set for init containers")),
    ...checkHostPorts([one], at(path, i))
  ]);
}
function checkHostPorts(containers, path) {
  let taken = /* @__PURE__ */ new Set();
  return eachPort(containers, path).flatMap(([{ protocol, hostIP = "", hostPort = 0 }, where]) => {
    let name3 = `${protocol}/${hostIP}/${hostPort}`;
    return hostPort === 0 ? [] : taken.has(name3) ? [duplicate(child(where, "hostPort"), name3)] : (taken.add(name3), []);
  });
}
function checkHostNetwork(containers, path) {
  return eachPort(containers, path).filter(([{ hostPort = 0, containerPort: containerPort2 = 0 }]) => hostPort !== containerPort2).map(
    ([{ containerPort: containerPort2 }, where]) => invalid(child(where, "containerPort"), containerPort2, "must match `hostPort` when `hostNetwork` is true")
  );
}
function eachPort(containers, path) {
  return containers.flatMap(
    ({ ports: ports2 = [] }, i) => ports2.map((port, j) => [port, at(child(at(path, i), "ports"), j)])
  );
}
function checkVolumeUse({ volumeMounts = [], volumeDevices = [] }, volumes, path) {
  let mounts2 = usesOf(volumeMounts.map(({ name: name3 = "", mountPath = "" }) => ({ name: name3, place: mountPath }))), devices2 = usesOf(volumeDevices.map(({ name: name3 = "", devicePath = "" }) => ({ name: name3, place: devicePath })));
  return [
    ...checkMounts(mounts2, volumes, child(path, "volumeMounts")),
    ...checkOverlap(mounts2, devices2, { list: child(path, "volumeMounts"), place: "mountPath" }),
    ...checkDevices(devices2, volumes, child(path, "volumeDevices")),
    ...checkOverlap(devices2, mounts2, { list: child(path, "volumeDevices"), place: "devicePath" })
  ];
}
function usesOf(all) {
  return { all, names: new Set(all.map(({ name: name3 }) => name3)), places: new Set(all.map(({ place: place3 }) => place3)) };
}
function checkMounts({ all }, volumes, path) {
  let repeated2 = repeatedAt(all.map(({ place: place3 }) => place3));
  return all.flatMap(({ name: name3, place: place3 }, i) => [
    ...volumes.has(name3) ? [] : [notFound(child(at(path, i), "name"), name3)],
    ...repeated2.has(i) ? [invalid(child(at(path, i), "mountPath"), place3, "must be unique")] : []
  ]);
}
function checkDevices({ all }, volumes, path) {
  let repeatedNames = repeatedAt(all.map(({ name: name3 }) => name3 || void 0)), repeatedPlaces = repeatedAt(all.map(({ place: place3 }) => place3));
  return all.flatMap(({ name: name3, place: place3 }, i) => {
    let namePath = child(at(path, i), "name"), placePath = child(at(path, i), "devicePath");
    return [
      ...repeatedNames.has(i) ? [invalid(namePath, name3, "must be unique")] : [],
      ...repeatedPlaces.has(i) ? [invalid(placePath, place3, "must be unique")] : [],
      ...checkBlock(name3, volumes.get(name3), namePath),
      ...checkNoBacksteps(place3, placePath)
    ];
  });
}
function checkBlock(name3, used, path) {
  return used === void 0 ? [notFound(path, name3)] : used.persistentVolumeClaim || used.ephemeral ? [] : [invalid(path, name3, "block mode needs a volume of a persistentVolumeClaim or an ephemeral one")];
}
function checkOverlap({ all }, others, { list: list3, place: placeName }) {
  return all.flatMap(({ name: name3, place: place3 }, i) => [
    ...others.names.has(name3) ? [invalid(child(at(list3, i), "name"), name3, "is a mount and a device")] : [],
    ...others.places.has(place3) ? [invalid(child(at(list3, i), placeName), place3, "is a mount and a device")] : []
  ]);
}
function checkHostProcesses(spec8, path) {
  let ofPod = spec8.securityContext?.windowsOptions?.hostProcess, choices = allContainers(spec8, path).map(([one, where]) => ({ own: one.securityContext?.windowsOptions?.hostProcess, where: child(where, "securityContext.windowsOptions.hostProcess") })), conflicts = choices.filter(({ own: own2 }) => own2 !== void 0 && ofPod !== void 0 && own2 !== ofPod).map(({ own: own2, where }) => invalid(where, own2, "must be what the pod says")), hostProcesses = choices.filter(({ own: own2 }) => own2 ?? ofPod);
  return hostProcesses.length === 0 ? conflicts : [
    ...conflicts,
    ...hostProcesses.length < choices.length ? [invalid(path, "", "either all or no containers are hostProcess")] : [],
    ...spec8.hostNetwork ? [] : [invalid(child(path, "hostNetwork"), !1, "must be true with hostProcess containers")]
  ];
}

// src/kinds/core/types/pod-annotations.ts
function mirrorKey(vendor) {
  return vendorKey(vendor, "config.mirror");
}
function seccompPodKey(vendor) {
  return vendorKey(vendor, "pod", "seccomp.security.alpha");
}
function seccompContainerKey(vendor, name3) {
  return vendorKey(vendor, name3, "container.seccomp.security.alpha");
}
function appArmorKey(vendor, name3) {
  return vendorKey(vendor, name3, "container.apparmor.security.beta");
}
function checkPodAnnotations(annotations, spec8, path, vendor) {
  let mirror = mirrorKey(vendor);
  return [
    ...annotations[mirror] !== void 0 && !spec8.nodeName ? [invalid(at(path, mirror), annotations[mirror], "a mirror pod must have spec.nodeName")] : [],
    ...checkSeccompAnnotations(annotations, path, vendor),
    ...checkAppArmor(annotations, spec8, path, vendor)
  ];
}
function checkSeccompAnnotations(annotations, path, vendor) {
  let prefix = seccompContainerKey(vendor, "");
  return Object.entries(annotations).filter(([key]) => key === seccompPodKey(vendor) || key.startsWith(prefix)).flatMap(([key, profile]) => checkSeccompProfile(profile, child(path, key)));
}
function checkSeccompProfile(profile, path) {
  return ["docker/default", "runtime/default", "unconfined"].includes(profile) ? [] : profile.startsWith("localhost/") ? checkDescendingPath(profile.slice(10), path) : [invalid(path, profile, "must be a valid seccomp profile")];
}
function checkAppArmor(annotations, spec8, path, vendor) {
  let prefix = appArmorKey(vendor, ""), names3 = new Set(allContainers(spec8, "").map(([{ name: name3 }]) => name3));
  return Object.entries(annotations).filter(([key]) => key.startsWith(prefix)).flatMap(([key, profile]) => [
    ...names3.has(key.slice(prefix.length)) ? [] : [invalid(at(path, key), key, "container not found")],
    ...isAppArmorProfile(profile) ? [] : [invalid(at(path, key), profile, "invalid AppArmor profile name")]
  ]);
}
function isAppArmorProfile(profile) {
  return ["", "runtime/default", "unconfined"].includes(profile) || profile.startsWith("localhost/");
}
function checkAnnotationUpdate(next, previous, vendor) {
  let fixed = (key) => key === mirrorKey(vendor) || key.startsWith(appArmorKey(vendor, ""));
  return [...new Set([...Object.keys(next), ...Object.keys(previous)].filter(fixed))].filter((key) => next[key] !== previous[key]).map((key) => forbidden(at("metadata.annotations", key), "may not be added, changed or removed"));
}
function pairSeccomp(annotations, spec8, vendor) {
  pairOne(annotations, seccompPodKey(vendor), spec8);
  for (let [one] of allContainers(spec8, "")) pairOne(annotations, seccompContainerKey(vendor, one.name ?? ""), one);
}
function pairOne(annotations, key, part2) {
  let profile = part2.securityContext?.seccompProfile, annotation = annotations[key];
  if (profile !== void 0 && annotation === void 0) {
    let text4 = annotationOf2(profile);
    text4 !== void 0 && (annotations[key] = text4);
  } else if (profile === void 0 && annotation !== void 0) {
    let found = profileOf(annotation);
    found !== void 0 && (part2.securityContext = { ...part2.securityContext, seccompProfile: found });
  }
}
function annotationOf2({ type: type3, localhostProfile }) {
  return type3 === "RuntimeDefault" ? "runtime/default" : type3 === "Unconfined" ? "unconfined" : localhostProfile === void 0 ? void 0 : `localhost/${localhostProfile}`;
}
function profileOf(annotation) {
  if (annotation === "unconfined") return { type: "Unconfined" };
  if (annotation === "runtime/default" || annotation === "docker/default") return { type: "RuntimeDefault" };
  let file = /^localhost\/(.+)$/s.exec(annotation)?.[1];
  return file === void 0 ? void 0 : { type: "Localhost", localhostProfile: file };
}
function checkSeccompPairs(annotations, spec8, path, vendor) {
  return [
    [seccompPodKey(vendor), spec8.securityContext?.seccompProfile, path],
    ...allContainers(spec8, path).map(([one, where]) => [
      seccompContainerKey(vendor, one.name ?? ""),
      one.securityContext?.seccompProfile,
      where
    ])
  ].filter(([key, profile]) => profile && annotations[key] !== void 0 && !agree(annotations[key], profile)).map(
    ([, , where]) => forbidden(child(where, "securityContext.seccompProfile.type"), "must be what the seccomp annotation says")
  );
}
function agree(annotation, { type: type3, localhostProfile }) {
  let said = profileOf(annotation);
  return said === void 0 ? !0 : said.type === type3 && (type3 !== "Localhost" || said.localhostProfile === localhostProfile);
}

// src/kinds/core/types/pod-columns.ts
var podColumns = [
  nameColumn,
  column("Ready", "How many of its containers are ready.", (pod2) => readyCount(pod2)),
  column("Status", "How the pod and its containers are, in one word.", (pod2) => statusWord(pod2)),
  column("Restarts", "How often its containers were started again, and when last.", restarts),
  ageColumn,
  column("IP", "Its address.", (pod2) => pod2.status?.podIP || "<none>", 1),
  column("Node", "The node that it runs on.", (pod2) => pod2.spec?.nodeName || "<none>", 1),
  column(
    "Nominated Node",
    "A node where others make way for it.",
    (pod2) => pod2.status?.nominatedNodeName || "<none>",
    1
  ),
  column("Readiness Gates", "How many of its readiness gates are open.", (pod2) => openGates(pod2), 1)
];
function readyCount(pod2) {
  return `${(initStatus(pod2) === void 0 ? (pod2.status?.containerStatuses ?? []).filter(isUp) : []).length}/${(pod2.spec?.containers ?? []).length}`;
}
function isUp({ ready, state: state2 = {} }) {
  return !(state2.waiting?.reason || state2.terminated) && ready === !0 && state2.running !== void 0;
}
function statusWord(pod2) {
  let { metadata, status: status9 = {} } = pod2;
  return metadata.deletionTimestamp ? status9.reason === "NodeLost" ? "Unknown" : "Terminating" : initStatus(pod2) ?? containersWord(pod2);
}
function initStatus({ spec: spec8 = {}, status: status9 = {} }) {
  let statuses = status9.initContainerStatuses ?? [], i = statuses.findIndex(({ state: state2 }) => state2?.terminated?.exitCode !== 0);
  if (i < 0) return;
  let { waiting: waiting2, terminated: terminated2 } = statuses[i].state ?? {};
  return terminated2 ? `Init:${endWord(terminated2)}` : waiting2?.reason && waiting2.reason !== "PodInitializing" ? `Init:${waiting2.reason}` : `Init:${i}/${(spec8.initContainers ?? []).length}`;
}
function containersWord({ status: status9 = {} }) {
  let { containerStatuses = [], conditions: conditions4 = [] } = status9, word = containerStatuses.map(containerWord).find((word2) => word2 !== void 0) ?? (status9.reason || status9.phase || "");
  return word !== "Completed" || !containerStatuses.some(isUp) ? word : conditions4.some(({ type: type3, status: value }) => type3 === "Ready" && value === "True") ? "Running" : "NotReady";
}
function containerWord({ state: { waiting: waiting2, terminated: terminated2 } = {} }) {
  return waiting2?.reason ? waiting2.reason : terminated2 && endWord(terminated2);
}
function endWord({ reason, signal, exitCode }) {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`);
}
function restarts(pod2, now) {
  let { initContainerStatuses = [], containerStatuses = [] } = pod2.status ?? {}, count2 = (initStatus(pod2) === void 0 ? containerStatuses : initContainerStatuses).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0), last = [...initContainerStatuses, ...containerStatuses].map(
    ({ lastState }) => Date.parse(lastState?.terminated?.finishedAt ?? "") || 0
  ).reduce((latest, end) => Math.max(latest, end), 0);
  return last === 0 ? `${count2}` : `${count2} (${humanDuration(now - last)} ago)`;
}
function openGates({ spec: spec8 = {}, status: status9 = {} }) {
  let gates = spec8.readinessGates ?? [];
  return gates.length === 0 ? "<none>" : `${gates.filter(
    ({ conditionType }) => status9.conditions?.some(({ type: type3, status: value }) => type3 === conditionType && value === "True")
  ).length}/${gates.length}`;
}

// src/kinds/core/types/environment.ts
var keySelectorFields = {
  ...inlinedReference,
  key: field(2, s.string(), { zero: "write", doc: "The key whose value is taken." }),
  optional: field(3, s.boolean(), { zero: "keep", doc: "Whether the object or the key may be missing." })
}, configMapKeySelector = s.object(keySelectorFields, {
  name: "ConfigMapKeySelector",
  doc: "A key of a ConfigMap.",
  atomic: !0,
  check: checkKeySelector
}), secretKeySelector = s.object(keySelectorFields, {
  name: "SecretKeySelector",
  doc: "A key of a Secret.",
  atomic: !0,
  check: checkKeySelector
}), sourceFields = {
  fieldRef: field(1, objectFieldSelector, { doc: "A field of the pod." }),
  resourceFieldRef: field(2, resourceFieldSelector, { doc: "A resource of the container." }),
  configMapKeyRef: field(3, configMapKeySelector, { doc: "A key of a ConfigMap." }),
  secretKeyRef: field(4, secretKeySelector, { doc: "A key of a Secret." })
}, envVarSource = s.object(sourceFields, {
  name: "EnvVarSource",
  doc: "Where the value of a variable comes from.",
  check: checkSource
}), variableFields = {
  name: field(1, s.string(), { zero: "write", required: !0, doc: "The name of the variable." }),
  value: field(2, s.string(), { doc: "Its value; $(NAME) stands for a variable before it, $$ for a dollar." }),
  valueFrom: field(3, envVarSource, { doc: "Where its value comes from, instead of value." })
}, envVar = s.object(variableFields, {
  name: "EnvVar",
  doc: "An environment variable: a name, and a value or where it comes from.",
  check: checkVariable
}), wholeFields = {
  ...inlinedReference,
  optional: field(2, s.boolean(), { zero: "keep", doc: "Whether the object may be missing." })
}, configMapEnvSource = s.object(wholeFields, {
  name: "ConfigMapEnvSource",
  doc: "All keys of a ConfigMap.",
  check: checkWholeSource
}), secretEnvSource = s.object(wholeFields, {
  name: "SecretEnvSource",
  doc: "All keys of a Secret.",
  check: checkWholeSource
}), fromFields = {
  prefix: field(1, s.string(), { doc: "What is put before each key." }),
  configMapRef: field(2, configMapEnvSource, { doc: "A ConfigMap." }),
  secretRef: field(3, secretEnvSource, { doc: "A Secret." })
}, envFromSource = s.object(fromFields, {
  name: "EnvFromSource",
  doc: "Variables from all the keys of a ConfigMap or Secret.",
  check: ({ prefix = "" }, path) => prefix === "" ? [] : checkEnvironmentName(prefix).map((text4) => invalid(child(path, "prefix"), prefix, text4))
});
function checkVariable({ name: name3 = "", value = "", valueFrom }, path) {
  let errors = (name3 === "" ? [] : checkEnvironmentName(name3)).map((text4) => invalid(child(path, "name"), name3, text4));
  return value === "" || valueFrom === void 0 || Object.keys(valueFrom).length === 0 ? errors : [...errors, invalid(child(path, "valueFrom"), "", "may not be specified when `value` is not empty")];
}
function checkSource(source, path) {
  let { fieldRef, resourceFieldRef } = source, count2 = Object.keys(source).length;
  return [
    ...fieldRef ? checkFieldSelector(fieldRef, fieldsForEnvironment, child(path, "fieldRef")) : [],
    ...resourceFieldRef ? checkResourceSelector(resourceFieldRef, !1, child(path, "resourceFieldRef")) : [],
    ...count2 === 1 ? [] : [invalid(path, "", count2 === 0 ? "a source is needed" : "only one source may be given")]
  ];
}
function checkKeySelector({ name: name3 = "", key = "" }, path) {
  let keyPath = child(path, "key");
  return [
    ...checkDnsSubdomain(name3).map((text4) => invalid(child(path, "name"), name3, text4)),
    ...key === "" ? [required(keyPath)] : checkConfigKey(key).map((text4) => invalid(keyPath, key, text4))
  ];
}
function checkWholeSource({ name: name3 = "" }, path) {
  let place3 = child(path, "name");
  return name3 === "" ? [required(place3)] : checkDnsSubdomain(name3).map((text4) => invalid(place3, name3, text4));
}
function checkEnvFrom(sources4, path) {
  return sources4.flatMap(({ configMapRef, secretRef: secretRef2 }) => configMapRef && secretRef2 ? [invalid(path, "", "only one source may be given")] : configMapRef || secretRef2 ? [] : [invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")]);
}

// src/kinds/core/types/handlers.ts
var execAction = s.object(
  { command: field(1, s.list(s.string()), { doc: "The command and its arguments; not run in a shell." }) },
  {
    name: "ExecAction",
    doc: "Runs a command in the container; it is well if the command ends with 0.",
    check: ({ command = [] }, path) => command.length > 0 ? [] : [required(child(path, "command"))]
  }
), httpHeader = s.object(
  {
    name: field(1, s.string(), { zero: "write", doc: "The name of the header." }),
    value: field(2, s.string(), { zero: "write", doc: "Its value." })
  },
  { name: "HTTPHeader", doc: "A header of an HTTP request." }
), httpGetFields = {
  path: field(1, s.string(), { default: "/", doc: "The path to ask for." }),
  port: field(2, s.intOrString(), { zero: "write", doc: "The port, by number or name." }),
  host: field(3, s.string(), { doc: "The host to ask; the pod if unset." }),
  scheme: field(4, s.oneOf("HTTP", "HTTPS"), { default: "HTTP", doc: "HTTP or HTTPS." }),
  httpHeaders: field(5, s.list(httpHeader), { doc: "Further headers of the request." })
}, httpGetAction = s.object(httpGetFields, {
  name: "HTTPGetAction",
  doc: "Sends an HTTP GET; it is well if the answer is from 200 to 399.",
  check: ({ port = 0, httpHeaders = [] }, path) => [
    ...checkPort(port, child(path, "port")),
    ...httpHeaders.flatMap(({ name: name3 = "" }) => checkHeaderName(name3, child(path, "httpHeaders")))
  ]
}), tcpSocketAction = s.object(
  {
    port: field(1, s.intOrString(), { zero: "write", doc: "The port, by number or name." }),
    host: field(2, s.string(), { doc: "The host to connect to; the pod if unset." })
  },
  {
    name: "TCPSocketAction",
    doc: "Opens a connection; it is well if that succeeds.",
    check: ({ port = 0 }, path) => checkPort(port, child(path, "port"))
  }
), grpcAction = s.object(
  {
    port: field(1, s.int32(), { zero: "write", doc: "The port." }),
    service: field(2, s.string(), { zero: "keep", default: "", doc: "The service to ask about." })
  },
  { name: "GRPCAction", doc: "Asks the health service of a gRPC server." }
), handlerFields = {
  exec: field(1, execAction, { doc: "Runs a command in the container." }),
  httpGet: field(2, httpGetAction, { doc: "Sends an HTTP request." }),
  tcpSocket: field(3, tcpSocketAction, { doc: "Opens a connection." })
}, handlerChoice = { among: ["exec", "httpGet", "tcpSocket"], noun: "handler type" }, probeFields = {
  ...inlined(1, { ...handlerFields, grpc: field(4, grpcAction, { doc: "Asks a gRPC server." }) }),
  initialDelaySeconds: field(2, s.int32(), { doc: "How long after the start the first try is made." }),
  timeoutSeconds: field(3, s.int32(), { default: 1, doc: "How long a try may take." }),
  periodSeconds: field(4, s.int32(), { default: 10, doc: "How often it is tried." }),
  successThreshold: field(5, s.int32(), {
    default: 1,
    doc: "How many tries must go well in a row after one that failed."
  }),
  failureThreshold: field(6, s.int32(), { default: 3, doc: "How many tries must fail in a row." }),
  terminationGracePeriodSeconds: field(7, s.int64(), {
    zero: "keep",
    doc: "How long the container may take to end when the probe fails; what the pod says if unset."
  })
}, probe = s.object(probeFields, {
  name: "Probe",
  doc: "A question that is put to a container again and again.",
  choice: handlerChoice,
  check: checkTimes
}), lifecycleHandler = s.object(handlerFields, {
  name: "LifecycleHandler",
  doc: "What is done at one point of the life of a container.",
  choice: handlerChoice
}), lifecycle = s.object(
  {
    postStart: field(1, lifecycleHandler, {
      doc: "Done right after the container has started; it is not ready before."
    }),
    preStop: field(2, lifecycleHandler, { doc: "Done before the container is told to stop, within the grace period." })
  },
  { name: "Lifecycle", doc: "What is done after a container has started and before it is stopped." }
), times = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold"
];
function checkTimes(value, path) {
  return times.filter((name3) => (value[name3] ?? 0) < 0).map((name3) => invalid(child(path, name3), value[name3], "must be greater than or equal to 0"));
}
function checkOneSuccess({ successThreshold = 1 }, path) {
  return successThreshold === 1 ? [] : [invalid(child(path, "successThreshold"), successThreshold, "must be 1")];
}
function checkPortNumber(port, path) {
  return port >= 1 && port <= 65535 ? [] : [invalid(path, port, "must be between 1 and 65535, inclusive")];
}
function checkPort(port, path) {
  return typeof port == "number" ? checkPortNumber(port, path) : checkPortName(port).map((text4) => invalid(path, port, text4));
}
function checkHeaderName(name3, path) {
  return /^[-A-Za-z0-9]+$/.test(name3) ? [] : [invalid(path, name3, "a header name consists of letters, digits and dashes")];
}

// src/kinds/core/types/image.ts
var pathPart = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/, host = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?$/, tagForm = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/, digestForm = /^[A-Za-z][A-Za-z0-9+._-]*:[0-9a-fA-F]{32,}$/;
function tagOf(image) {
  if (image.length > 512) return "";
  let [name3 = "", digest2, more] = image.split("@");
  if (more !== void 0 || digest2 !== void 0 && !digestForm.test(digest2)) return "";
  let colon2 = name3.lastIndexOf(":"), tagged = colon2 > name3.lastIndexOf("/"), tag = tagged ? name3.slice(colon2 + 1) : void 0;
  return !isRepository(tagged ? name3.slice(0, colon2) : name3) || tag !== void 0 && !tagForm.test(tag) ? "" : tag ?? (digest2 === void 0 ? "latest" : "");
}
function isRepository(name3) {
  let [first = "", ...rest] = name3.split("/");
  return (rest.length > 0 && (/[.:]/.test(first) || first === "localhost") ? host.test(first) : pathPart.test(first)) && rest.every((part2) => pathPart.test(part2));
}

// src/kinds/core/types/security-context.ts
var capabilities = s.object(
  {
    add: field(1, s.list(s.string()), { doc: "Rights that are given." }),
    drop: field(2, s.list(s.string()), { doc: "Rights that are taken away." })
  },
  { name: "Capabilities", doc: "Rights of the kernel that are given beyond the usual ones, and those taken away." }
), seLinuxOptions = s.object(
  {
    user: field(1, s.string(), { doc: "The SELinux user." }),
    role: field(2, s.string(), { doc: "The SELinux role." }),
    type: field(3, s.string(), { doc: "The SELinux type." }),
    level: field(4, s.string(), { doc: "The SELinux level." })
  },
  { name: "SELinuxOptions", doc: "The labels that SELinux knows a container by." }
), windowsFields = {
  gmsaCredentialSpecName: field(1, s.string(), { zero: "keep", doc: "The name of the GMSA credential specification." }),
  gmsaCredentialSpec: field(2, s.string(), { zero: "keep", doc: "The GMSA credential specification itself." }),
  runAsUserName: field(3, s.string(), { zero: "keep", doc: "The Windows user that runs it." }),
  hostProcess: field(4, s.boolean(), {
    zero: "keep",
    doc: "Whether it is a process of the host; all containers of the pod, or none."
  })
}, windowsOptions = s.object(windowsFields, {
  name: "WindowsSecurityContextOptions",
  doc: "Settings for Windows alone.",
  check: checkWindows
}), seccompFields = {
  type: field(1, s.oneOf("Localhost", "RuntimeDefault", "Unconfined"), {
    zero: "write",
    required: !0,
    doc: "Localhost for a profile on the node, RuntimeDefault for that of the runtime, Unconfined for none."
  }),
  localhostProfile: field(2, s.string(), {
    zero: "keep",
    doc: "The file of the profile on the node; with Localhost alone."
  })
}, seccompProfile = s.object(seccompFields, {
  name: "SeccompProfile",
  doc: "Which calls into the kernel are let through.",
  check: checkSeccomp
}), containerFields = {
  capabilities: field(1, capabilities, { doc: "Rights of the kernel to give or take away." }),
  privileged: field(2, s.boolean(), { zero: "keep", doc: "Whether it may do all that root of the node may do." }),
  seLinuxOptions: field(3, seLinuxOptions, { doc: "Its SELinux labels." }),
  runAsUser: field(4, s.int64(), { zero: "keep", doc: "The user id that runs it; that of the image if unset." }),
  runAsNonRoot: field(5, s.boolean(), { zero: "keep", doc: "Whether it is refused to run as root." }),
  readOnlyRootFilesystem: field(6, s.boolean(), {
    zero: "keep",
    doc: "Whether its root file system can only be read."
  }),
  allowPrivilegeEscalation: field(7, s.boolean(), {
    zero: "keep",
    doc: "Whether a process may get more rights than its parent."
  }),
  runAsGroup: field(8, s.int64(), { zero: "keep", doc: "The group id that runs it; that of the runtime if unset." }),
  procMount: field(9, s.string(), { zero: "keep", doc: "How /proc is mounted: Default or Unmasked." }),
  windowsOptions: field(10, windowsOptions, { doc: "Settings for Windows." }),
  seccompProfile: field(11, seccompProfile, { doc: "Which calls into the kernel are let through." })
}, securityContext = s.object(containerFields, {
  name: "SecurityContext",
  doc: "With which rights a container runs; what it says wins over what its pod says.",
  check: (value, path) => [...checkIds(value, ["runAsUser", "runAsGroup"], path), ...checkEscalation(value, path)]
}), sysctlFields = {
  name: field(1, s.string(), { zero: "write", required: !0, doc: "The name of the parameter." }),
  value: field(2, s.string(), { zero: "write", doc: "Its value." })
}, sysctl = s.object(sysctlFields, {
  name: "Sysctl",
  doc: "A parameter of the kernel.",
  check: ({ name: name3 = "" }, path) => name3 === "" ? [] : checkSysctlName(name3, child(path, "name"))
}), podFields = {
  seLinuxOptions: field(1, seLinuxOptions, { doc: "The SELinux labels of all containers." }),
  runAsUser: field(2, s.int64(), { zero: "keep", doc: "The user id that runs them; that of the image if unset." }),
  runAsNonRoot: field(3, s.boolean(), { zero: "keep", doc: "Whether they are refused to run as root." }),
  supplementalGroups: field(4, s.list(s.int64()), { doc: "Further groups of their first processes." }),
  fsGroup: field(5, s.int64(), { zero: "keep", doc: "The group that owns the volumes, where they allow it." }),
  runAsGroup: field(6, s.int64(), { zero: "keep", doc: "The group id that runs them; that of the runtime if unset." }),
  sysctls: field(7, s.list(sysctl), { doc: "Parameters of the kernel for the pod alone." }),
  windowsOptions: field(8, windowsOptions, { doc: "Settings for Windows." }),
  fsGroupChangePolicy: field(9, s.oneOf("Always", "OnRootMismatch"), {
    zero: "keep",
    doc: "When files are given to fsGroup: Always, or OnRootMismatch for volumes whose root is not yet."
  }),
  seccompProfile: field(10, seccompProfile, { doc: "Which calls into the kernel are let through." })
}, podSecurityContext = s.object(podFields, {
  name: "PodSecurityContext",
  doc: "With which rights the containers of a pod run, and whose its volumes are.",
  check: (value, path) => [
    ...checkIds(value, ["fsGroup", "runAsUser", "runAsGroup"], path),
    ...(value.supplementalGroups ?? []).flatMap((id, i) => checkId(id, at(child(path, "supplementalGroups"), i))),
    ...checkRepeatedSysctls(value, child(path, "sysctls"))
  ]
}), largestId = 2 ** 31 - 1;
function checkId(id, path) {
  return id >= 0 && id <= largestId ? [] : [invalid(path, id, `must be between 0 and ${largestId}, inclusive`)];
}
function checkIds(value, names3, path) {
  return names3.flatMap((name3) => value[name3] === void 0 ? [] : checkId(value[name3], child(path, name3)));
}
function checkEscalation(context, path) {
  if (context.allowPrivilegeEscalation !== !1) return [];
  let refuse2 = (what) => invalid(path, { allowPrivilegeEscalation: !1 }, `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
  return [
    ...context.privileged ? [refuse2("`privileged` to true")] : [],
    ...context.capabilities?.add?.includes("CAP_SYS_ADMIN") ? [refuse2("add the capability CAP_SYS_ADMIN")] : []
  ];
}
function checkSeccomp({ type: type3, localhostProfile }, path) {
  let place3 = child(path, "localhostProfile");
  return type3 !== "Localhost" ? localhostProfile === void 0 ? [] : [invalid(place3, localhostProfile, "can only be set when seccomp type is Localhost")] : localhostProfile === void 0 ? [required(place3, "must be set when seccomp type is Localhost")] : checkDescendingPath(localhostProfile, place3);
}
var sysctlPart = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;
function checkSysctlName(name3, path) {
  return name3.length <= 253 && name3.split(".").every((part2) => sysctlPart.test(part2)) ? [] : [invalid(path, name3, "must be parts of lower case letters, digits, '-' and '_', with dots between")];
}
function checkRepeatedSysctls({ sysctls = [] }, path) {
  let sound = sysctls.map(({ name: name3 = "" }) => checkSysctlName(name3, "").length === 0 ? name3 : void 0);
  return [...repeatedAt(sound)].map((i) => duplicate(child(at(path, i), "name"), sound[i]));
}
var longestCredential = 64 * 1024;
function checkWindows(options, path) {
  let { gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec8, runAsUserName: user } = options;
  return [
    ...specName === void 0 ? [] : checkDnsSubdomain(specName).map((text4) => invalid(child(path, "gmsaCredentialSpecName"), specName, text4)),
    ...spec8 !== void 0 && (spec8 === "" || Buffer.byteLength(spec8) > longestCredential) ? [invalid(child(path, "gmsaCredentialSpec"), "", `must have from 1 to ${longestCredential} bytes`)] : [],
    ...user === void 0 ? [] : checkWindowsUser(user, child(path, "runAsUserName"))
  ];
}
function checkWindowsUser(user, path) {
  let parts3 = user.split("\\"), name3 = parts3.at(-1), domain = parts3.length === 2 ? parts3[0] : void 0;
  return parts3.length <= 2 && !new RegExp("\\p{Cc}", "u").test(user) && name3.length >= 1 && name3.length <= 104 && !/["/\\:;|=,+*?<>@[\]]/.test(name3) && !/^[. ]+$/.test(name3) && (domain === void 0 || domain.length >= 1 && domain.length <= 256 && !/[\\/:*?"<>|]/.test(domain)) ? [] : [invalid(path, user, "must be a user of Windows, as in `user` or `DOMAIN\\user`")];
}

// src/kinds/core/types/container.ts
var portFields = {
  name: field(1, s.string(), { doc: "The name of the port, by which Services and probes may call it." }),
  hostPort: field(2, s.int32(), { doc: "The port of the node that leads to it; none if unset." }),
  containerPort: field(3, s.int32(), { zero: "write", doc: "The port in the container; from 1 to 65535." }),
  protocol: field(4, s.oneOf("SCTP", "TCP", "UDP"), { default: "TCP", doc: "TCP, UDP or SCTP." }),
  hostIP: field(5, s.string(), { doc: "The address of the node to bind hostPort to; all if unset." })
}, containerPort = s.object(portFields, {
  name: "ContainerPort",
  doc: "A port that a container listens on.",
  check: checkPort2
}), mountFields = {
  name: field(1, s.string(), { zero: "write", required: !0, doc: "The name of the volume." }),
  readOnly: field(2, s.boolean(), { doc: "Whether it can only be read here." }),
  mountPath: field(3, s.string(), {
    zero: "write",
    required: !0,
    doc: "Where it is in the container; without a colon."
  }),
  subPath: field(4, s.string(), { doc: "The path in the volume to mount; its root if unset." }),
  mountPropagation: field(5, s.string(), {
    zero: "keep",
    doc: "Which later mounts are seen: None, HostToContainer or Bidirectional. None if unset."
  }),
  subPathExpr: field(6, s.string(), { doc: "Like subPath, with $(NAME) for variables of the container." })
}, volumeMount = s.object(mountFields, {
  name: "VolumeMount",
  doc: "A volume of the pod, or a part of it, as a directory or file in the container."
}), deviceFields = {
  name: field(1, s.string(), {
    zero: "write",
    required: !0,
    doc: "The name of the volume, which comes from a claim."
  }),
  devicePath: field(2, s.string(), { zero: "write", required: !0, doc: "Where the device is in the container." })
}, volumeDevice = s.object(deviceFields, {
  name: "VolumeDevice",
  doc: "A volume of the pod as a block device in the container."
}), ports = s.list(containerPort, {
  list: "map",
  keys: ["containerPort", "protocol"],
  patch: "merge",
  mergeKey: "containerPort"
}), mounts = s.list(volumeMount, { list: "map", keys: ["mountPath"], patch: "merge", mergeKey: "mountPath" }), devices = s.list(volumeDevice, { list: "map", keys: ["devicePath"], patch: "merge", mergeKey: "devicePath" }), fields13 = {
  name: field(1, s.string(), {
    zero: "write",
    required: !0,
    doc: "The name of the container, of its own in the pod. It cannot change."
  }),
  image: field(2, s.string(), { doc: "The image to run." }),
  command: field(3, s.list(s.string()), {
    doc: "What is run instead of the entry point of the image; $(NAME) stands for a variable."
  }),
  args: field(4, s.list(s.string()), {
    doc: "The arguments instead of those of the image; $(NAME) stands for a variable."
  }),
  workingDir: field(5, s.string(), { doc: "The directory to start in; that of the image if unset." }),
  ports: field(6, ports, { doc: "The ports it listens on. For information; others are reachable too." }),
  env: field(7, s.list(envVar, { list: "map", keys: ["name"], patch: "merge", mergeKey: "name" }), {
    doc: "Environment variables; they win over envFrom."
  }),
  resources: field(8, resourceRequirements, {
    zero: "write",
    doc: "What it is promised of resources, and may use at most."
  }),
  volumeMounts: field(9, mounts, { doc: "The volumes of the pod that it mounts." }),
  livenessProbe: field(10, probe, { doc: "Tells whether it lives; if not, it is started again." }),
  readinessProbe: field(11, probe, { doc: "Tells whether it can serve; if not, Services leave it out." }),
  lifecycle: field(12, lifecycle, { doc: "What is done once it has started and before it is stopped." }),
  terminationMessagePath: field(13, s.string(), {
    default: "/dev/termination-log",
    doc: "The file from which its last words are read."
  }),
  imagePullPolicy: field(14, s.oneOf("Always", "IfNotPresent", "Never"), {
    doc: "When the image is fetched: Always, IfNotPresent or Never. Always for the tag latest, else IfNotPresent."
  }),
  securityContext: field(15, securityContext, { doc: "With which rights it runs; wins over that of the pod." }),
  stdin: field(16, s.boolean(), { doc: "Whether its standard input is kept open." }),
  stdinOnce: field(17, s.boolean(), { doc: "Whether standard input is closed after the first client has left." }),
  tty: field(18, s.boolean(), { doc: "Whether it has a terminal; needs stdin." }),
  envFrom: field(19, s.list(envFromSource), {
    doc: "Objects whose keys become environment variables; later ones win."
  }),
  terminationMessagePolicy: field(20, s.string(), {
    default: "File",
    doc: "Where its last words are: File, or FallbackToLogsOnError if the file is empty."
  }),
  volumeDevices: field(21, devices, { doc: "The volumes of the pod that it uses as raw devices." }),
  startupProbe: field(22, probe, { doc: "Tells whether it has started; the other probes wait for that." })
}, container3 = s.object(fields13, {
  name: "Container",
  doc: "A container: an image, and how it is run.",
  fill: fillPullPolicy,
  check: checkContainer2
}), ephemeralFields = {
  ...inlined(1, fields13),
  targetContainerName: field(2, s.string(), { doc: "The container whose processes it sees; none if unset." })
}, ephemeralContainer = s.object(ephemeralFields, {
  name: "EphemeralContainer",
  doc: "A container that is put into a running pod to look into it. It is never started again.",
  fill: fillPullPolicy,
  check: (value, path, context) => [...checkContainer2(value, path, context), ...checkEphemeral(value, path)]
});
function fillPullPolicy(value) {
  value.imagePullPolicy ??= tagOf(value.image ?? "") === "latest" ? "Always" : "IfNotPresent";
}
function checkContainer2(value, path, { vendor }) {
  let { name: name3 = "", livenessProbe, startupProbe } = value;
  return [
    ...name3 === "" ? [] : checkDnsLabel(name3).map((text4) => invalid(child(path, "name"), name3, text4)),
    ...value.image ? [] : [required(child(path, "image"))],
    ...checkMessagePolicy(value, path),
    ...checkPortNames(value.ports ?? [], child(path, "ports")),
    ...checkEnvFrom(value.envFrom ?? [], child(path, "envFrom")),
    ...checkMounts2(value, child(path, "volumeMounts")),
    ...checkContainerResources(value.resources ?? {}, child(path, "resources"), vendor),
    ...livenessProbe ? checkOneSuccess(livenessProbe, child(path, "livenessProbe")) : [],
    ...startupProbe ? checkOneSuccess(startupProbe, child(path, "startupProbe")) : []
  ];
}
function checkMessagePolicy({ terminationMessagePolicy: policy2 = "" }, path) {
  return policy2 === "File" || policy2 === "FallbackToLogsOnError" ? [] : [invalid(child(path, "terminationMessagePolicy"), policy2, "must be 'File' or 'FallbackToLogsOnError'")];
}
function checkPort2({ name: name3 = "", hostPort = 0, containerPort: port = 0 }, path) {
  let place3 = child(path, "containerPort");
  return [
    ...name3 === "" ? [] : checkPortName(name3).map((text4) => invalid(child(path, "name"), name3, text4)),
    ...port === 0 ? [required(place3)] : checkPortNumber(port, place3),
    ...hostPort === 0 ? [] : checkPortNumber(hostPort, child(path, "hostPort"))
  ];
}
function checkPortNames(all, path) {
  let sound = all.map(({ name: name3 = "" }) => checkPortName(name3).length === 0 ? name3 : void 0);
  return [...repeatedAt(sound)].map((i) => duplicate(child(at(path, i), "name"), sound[i]));
}
var propagations = ["Bidirectional", "HostToContainer", "None"];
function checkMounts2({ volumeMounts = [], securityContext: rights }, path) {
  return volumeMounts.flatMap(({ subPath = "", subPathExpr = "", mountPropagation: propagation }, i) => [
    ...checkDescendingPath(subPath, child(path, "subPath")),
    ...checkDescendingPath(subPathExpr, child(path, "subPathExpr")),
    ...subPath !== "" && subPathExpr !== "" ? [invalid(child(at(path, i), "subPathExpr"), subPathExpr, "subPathExpr and subPath are mutually exclusive")] : [],
    ...checkPropagation(propagation, rights?.privileged === !0, child(path, "mountPropagation"))
  ]);
}
function checkPropagation(value, privileged, path) {
  return value === void 0 ? [] : propagations.includes(value) ? value !== "Bidirectional" || privileged ? [] : [forbidden(path, "Bidirectional mount propagation is available only to privileged containers")] : [notSupported(path, value, propagations)];
}
var notForEphemeral = ["ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"];
function checkEphemeral(value, path) {
  let why = "cannot be set for an Ephemeral Container", resources2 = Object.keys(value.resources ?? {}).length > 0 ? ["resources"] : [], parts3 = (value.volumeMounts ?? []).flatMap(
    (mount, i) => ["subPath", "subPathExpr"].filter((name3) => mount[name3]).map((name3) => forbidden(child(at(child(path, "volumeMounts"), i), name3), why))
  );
  return [...[...notForEphemeral.filter((name3) => value[name3] !== void 0), ...resources2].map((name3) => forbidden(child(path, name3), why)), ...parts3];
}

// src/kinds/core/types/scheduling.ts
var preferredSchedulingTerm = s.object(
  {
    weight: field(1, s.int32(), { zero: "write", doc: "How much the preference counts; from 1 to 100." }),
    preference: field(2, nodeSelectorTerm, { zero: "write", published: "required", doc: "The nodes." })
  },
  {
    name: "PreferredSchedulingTerm",
    doc: "Nodes that are preferred, and how much.",
    check: ({ weight: weight2 = 0 }, path) => checkWeight(weight2, path)
  }
), nodeAffinity2 = s.object(
  {
    requiredDuringSchedulingIgnoredDuringExecution: field(1, nodeSelector, {
      doc: "The nodes that are possible at all. Not looked at again once the pod runs."
    }),
    preferredDuringSchedulingIgnoredDuringExecution: field(2, s.list(preferredSchedulingTerm), {
      doc: "The nodes that are better, by weight."
    })
  },
  { name: "NodeAffinity", doc: "The nodes that a pod may run on, and those that it likes." }
), podAffinityTermFields = {
  labelSelector: field(1, labelSelector, { doc: "The other pods." }),
  namespaces: field(2, s.list(s.string()), { doc: "Their namespaces; that of this pod if none are told." }),
  topologyKey: field(3, s.string(), {
    zero: "write",
    doc: "The label of nodes: those with the same value are one place."
  }),
  namespaceSelector: field(4, labelSelector, {
    doc: "Further namespaces of theirs, by labels; an empty one selects all."
  })
}, podAffinityTerm = s.object(podAffinityTermFields, {
  name: "PodAffinityTerm",
  doc: "Other pods, and the label of nodes that says what it means to be in the same place as they.",
  check: checkPodAffinityTerm
}), weightedPodAffinityTerm = s.object(
  {
    weight: field(1, s.int32(), { zero: "write", doc: "How much the term counts; from 1 to 100." }),
    podAffinityTerm: field(2, podAffinityTerm, {
      zero: "write",
      published: "required",
      doc: "The other pods, and what a place is."
    })
  },
  {
    name: "WeightedPodAffinityTerm",
    doc: "Other pods whose nearness counts, and how much.",
    check: ({ weight: weight2 = 0 }, path) => checkWeight(weight2, path)
  }
), podAffinityFields = {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, s.list(podAffinityTerm), {
    doc: "What must hold when a place is chosen. Not looked at again once the pod runs."
  }),
  preferredDuringSchedulingIgnoredDuringExecution: field(2, s.list(weightedPodAffinityTerm), {
    doc: "What is better, by weight."
  })
}, podAffinity = s.object(podAffinityFields, { name: "PodAffinity", doc: "Pods that a pod wants to be near to." }), podAntiAffinity = s.object(podAffinityFields, {
  name: "PodAntiAffinity",
  doc: "Pods that a pod wants to be away from."
}), affinity = s.object(
  {
    nodeAffinity: field(1, nodeAffinity2, { doc: "The nodes it can or would run on." }),
    podAffinity: field(2, podAffinity, { doc: "The pods it wants to be near to." }),
    podAntiAffinity: field(3, podAntiAffinity, { doc: "The pods it wants to be away from." })
  },
  { name: "Affinity", doc: "What a pod wants of its place." }
), tolerationFields = {
  key: field(1, s.string(), { doc: "The key of the taint; all keys if unset, with Exists." }),
  operator: field(2, s.oneOf("Equal", "Exists"), {
    doc: "How value counts: Equal, the default, or Exists, for any value."
  }),
  value: field(3, s.string(), { doc: "The value of the taint." }),
  effect: field(4, s.oneOf("NoSchedule", "PreferNoSchedule", "NoExecute"), {
    doc: "The effect of the taint: NoSchedule, PreferNoSchedule or NoExecute; all if unset."
  }),
  tolerationSeconds: field(5, s.int64(), {
    zero: "keep",
    doc: "How long a NoExecute taint is borne; for good if unset."
  })
}, toleration = s.object(tolerationFields, {
  name: "core.v1.Toleration",
  doc: "Taints of nodes that a pod puts up with, and for how long.",
  check: (value, path) => [...checkTolerationKey(value, path), ...checkTolerationValue(value, path)]
}), spreadFields = {
  maxSkew: field(1, s.int32(), { zero: "write", doc: "By how many pods places may differ; above 0." }),
  topologyKey: field(2, s.string(), {
    zero: "write",
    required: !0,
    doc: "The label of nodes: those with the same value are one place."
  }),
  whenUnsatisfiable: field(3, s.string(), {
    zero: "write",
    doc: "What is done where it cannot be met: DoNotSchedule or ScheduleAnyway."
  }),
  labelSelector: field(4, labelSelector, { doc: "The pods that are counted." })
}, topologySpreadConstraint = s.object(spreadFields, {
  name: "TopologySpreadConstraint",
  doc: "How evenly pods are to be spread over the places that a label of nodes tells apart.",
  check: checkSpread
});
function checkWeight(weight2, path) {
  return weight2 >= 1 && weight2 <= 100 ? [] : [invalid(child(path, "weight"), weight2, "must be in the range 1-100")];
}
function checkPodAffinityTerm({ namespaces: namespaces3 = [], topologyKey = "" }, path) {
  let place3 = child(path, "topologyKey");
  return [
    ...namespaces3.flatMap((name3) => checkDnsLabel(name3).map((text4) => invalid(child(path, "namespace"), name3, text4))),
    ...topologyKey === "" ? [required(place3, "can not be empty")] : [],
    ...checkLabelKey(topologyKey, place3)
  ];
}
function checkTolerationKey({ key = "", operator }, path) {
  return key !== "" ? checkLabelKey(key, child(path, "key")) : operator === "Exists" ? [] : [invalid(child(path, "operator"), operator, "must be Exists when `key` is empty, which means all keys")];
}
function checkTolerationValue(value, path) {
  let { operator = "Equal", value: text4 = "", effect = "", tolerationSeconds } = value, place3 = child(path, "operator");
  return [
    ...tolerationSeconds !== void 0 && effect !== "NoExecute" ? [invalid(child(path, "effect"), effect, "must be 'NoExecute' when `tolerationSeconds` is set")] : [],
    ...operator === "Equal" ? checkLabelValue(text4).map((fault) => invalid(place3, text4, fault)) : [],
    ...operator === "Exists" && text4 !== "" ? [invalid(place3, text4, "`value` must be empty with 'Exists'")] : []
  ];
}
var spreadActions = ["DoNotSchedule", "ScheduleAnyway"];
function checkSpread({ maxSkew = 0, whenUnsatisfiable = "" }, path) {
  return [
    ...maxSkew > 0 ? [] : [invalid(child(path, "maxSkew"), maxSkew, "must be greater than zero")],
    ...spreadActions.includes(whenUnsatisfiable) ? [] : [notSupported(child(path, "whenUnsatisfiable"), whenUnsatisfiable, spreadActions)]
  ];
}
function checkRepeatedSpread(constraints, path) {
  let names3 = constraints.map(({ topologyKey, whenUnsatisfiable }) => `{${topologyKey}, ${whenUnsatisfiable}}`), last = names3.length - 1;
  return [...repeatedAt(names3.toReversed())].map(
    (i) => duplicate(child(at(path, last - i), "{topologyKey, whenUnsatisfiable}"), names3[last - i])
  );
}

// src/kinds/core/types/pod-spec.ts
var hostAlias = s.object(
  { ip: field(1, s.string(), { doc: "The address." }), hostnames: field(2, s.list(s.string()), { doc: "Its names." }) },
  { name: "HostAlias", doc: "Names that an address is known by inside the pod." }
), dnsOption = s.object(
  {
    name: field(1, s.string(), { doc: "The name of the option." }),
    value: field(2, s.string(), { zero: "keep", doc: "Its value, if it has one." })
  },
  {
    name: "PodDNSConfigOption",
    doc: "An option of the resolver.",
    check: ({ name: name3 = "" }, path) => name3 === "" ? [required(path, "must not be empty")] : []
  }
), dnsConfigFields = {
  nameservers: field(1, s.list(s.string()), { doc: "Further DNS servers; at most 3." }),
  searches: field(2, s.list(s.string()), { doc: "Further domains to search; at most 6." }),
  options: field(3, s.list(dnsOption), { doc: "Further options." })
}, dnsConfig = s.object(dnsConfigFields, {
  name: "PodDNSConfig",
  doc: "Settings of the resolver beyond those of the DNS policy.",
  check: checkDnsConfig
}), readinessGate = s.object(
  { conditionType: field(1, s.string(), { zero: "write", doc: "The type of the condition." }) },
  {
    name: "PodReadinessGate",
    doc: "A condition that must be true before the pod counts as ready.",
    check: ({ conditionType = "" }, path) => checkLabelKey(conditionType, child(path, "conditionType"))
  }
), podOs = s.object(
  { name: field(1, s.string(), { zero: "write", doc: "linux or windows." }) },
  { name: "PodOS", doc: "The operating system that the containers are made for." }
), byName = { list: "map", keys: ["name"], patch: "merge", mergeKey: "name" }, spread = s.list(topologySpreadConstraint, {
  list: "map",
  keys: ["topologyKey", "whenUnsatisfiable"],
  patch: "merge",
  mergeKey: "topologyKey"
}), fields14 = {
  volumes: field(1, s.list(volume, { ...byName, retainKeys: !0 }), {
    doc: "The volumes that its containers can mount."
  }),
  containers: field(2, s.list(container3, byName), {
    zero: "write",
    doc: "Its containers; at least one. None can be added or taken away."
  }),
  restartPolicy: field(3, s.oneOf("Always", "OnFailure", "Never"), {
    default: "Always",
    doc: "When containers that end are started again: Always, OnFailure or Never."
  }),
  terminationGracePeriodSeconds: field(4, s.int64(), {
    zero: "keep",
    default: 30,
    doc: "How long it may take to end; 0 is at once."
  }),
  activeDeadlineSeconds: field(5, s.int64(), {
    zero: "keep",
    doc: "How long it may run before it is ended as failed; for good if unset."
  }),
  dnsPolicy: field(6, s.oneOf("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"), {
    default: "ClusterFirst",
    doc: "Where names are looked up: ClusterFirst, ClusterFirstWithHostNet, Default (as the node does) or None."
  }),
  nodeSelector: field(7, s.map(s.string(), { atomic: !0 }), { doc: "Labels that its node must have." }),
  serviceAccountName: field(8, s.string(), { doc: "The service account it acts as." }),
  serviceAccount: field(9, s.string(), { doc: "An older name of serviceAccountName." }),
  nodeName: field(10, s.string(), { doc: "The node it runs on. Usually the scheduler says so." }),
  hostNetwork: field(11, s.boolean(), { doc: "Whether it is on the network of its node." }),
  hostPID: field(12, s.boolean(), { doc: "Whether it sees the processes of its node." }),
  hostIPC: field(13, s.boolean(), { doc: "Whether it shares the memory segments and semaphores of its node." }),
  securityContext: field(14, podSecurityContext, { default: {}, doc: "With which rights its containers run." }),
  imagePullSecrets: field(15, s.list(localObjectReference, byName), { doc: "Secrets to fetch its images with." }),
  hostname: field(16, s.string(), { doc: "Its host name; the name of the pod if unset." }),
  subdomain: field(17, s.string(), { doc: "Makes its full name hostname.subdomain.namespace.svc.domain." }),
  affinity: field(18, affinity, { doc: "What it wants of its place." }),
  schedulerName: field(19, s.string(), { default: "default-scheduler", doc: "The scheduler that chooses its node." }),
  initContainers: field(20, s.list(container3, byName), {
    doc: "Containers that run before the others, one after the other, each to its end."
  }),
  automountServiceAccountToken: field(21, s.boolean(), {
    zero: "keep",
    doc: "Whether a token of its account is mounted; as the account says if unset."
  }),
  tolerations: field(22, s.list(toleration), { doc: "Taints of nodes that it puts up with." }),
  hostAliases: field(23, s.list(hostAlias, { list: "map", keys: ["ip"], patch: "merge", mergeKey: "ip" }), {
    doc: "Further lines of its hosts file."
  }),
  priorityClassName: field(24, s.string(), { doc: "How important it is, by the name of a PriorityClass." }),
  priority: field(25, s.int32(), { zero: "keep", doc: "How important it is; higher is more. Set from the class." }),
  dnsConfig: field(26, dnsConfig, { doc: "Settings of its resolver." }),
  shareProcessNamespace: field(27, s.boolean(), {
    zero: "keep",
    doc: "Whether its containers see the processes of each other."
  }),
  readinessGates: field(28, s.list(readinessGate), { doc: "Further conditions that must be true before it is ready." }),
  runtimeClassName: field(29, s.string(), {
    zero: "keep",
    doc: "The RuntimeClass that runs it; the usual one if unset."
  }),
  enableServiceLinks: field(30, s.boolean(), {
    zero: "keep",
    doc: "Whether the Services of its namespace are told in environment variables."
  }),
  preemptionPolicy: field(31, s.oneOf("PreemptLowerPriority", "Never"), {
    zero: "keep",
    doc: "Whether it may push out pods that are less important: PreemptLowerPriority or Never."
  }),
  overhead: field(32, resourceList, { doc: "What running it takes beyond its containers. Set from the RuntimeClass." }),
  topologySpreadConstraints: field(33, spread, { doc: "How evenly pods like it are to be spread." }),
  ephemeralContainers: field(34, s.list(ephemeralContainer, byName), {
    doc: "Containers put into it while it runs. Changed through the subresource ephemeralcontainers."
  }),
  setHostnameAsFQDN: field(35, s.boolean(), { zero: "keep", doc: "Whether its host name is its full name." }),
  os: field(36, podOs, { doc: "The operating system of its containers." })
}, podSpec = s.object(fields14, {
  name: "PodSpec",
  doc: "What a pod is made of and where it may run.",
  fill: (spec8) => {
    nameAccountTwice(spec8), roundResources(spec8.overhead), spec8.hostNetwork && openHostPorts(spec8);
  },
  check: checkPodSpec
});
function nameAccountTwice(spec8) {
  let account = spec8.serviceAccountName ?? spec8.serviceAccount;
  account !== void 0 && (spec8.serviceAccountName = account, spec8.serviceAccount = account);
}
function openHostPorts({ containers = [], initContainers = [] }) {
  for (let { ports: ports2 = [] } of [...containers, ...initContainers])
    for (let port of ports2) port.containerPort && (port.hostPort ??= port.containerPort);
}
function dropUnserved(spec8) {
  delete spec8.os;
  let { containers = [], initContainers = [], ephemeralContainers = [], volumes = [] } = spec8;
  for (let { securityContext: securityContext2, livenessProbe, readinessProbe, startupProbe } of [
    ...containers,
    ...initContainers,
    ...ephemeralContainers
  ]) {
    delete securityContext2?.procMount;
    for (let probe2 of [livenessProbe, readinessProbe, startupProbe])
      delete probe2?.grpc, delete probe2?.terminationGracePeriodSeconds;
  }
  for (let { ephemeral: ephemeral2 } of volumes) delete ephemeral2?.volumeClaimTemplate?.spec?.dataSourceRef;
}
function checkPodSpec(spec8, path, context) {
  return [
    ...checkContainersTogether(spec8, path, context),
    ...checkNames(spec8, path),
    ...checkDeadline(spec8, path),
    ...checkLabels(spec8.nodeSelector, child(path, "nodeSelector")),
    ...checkDnsNone(spec8, child(path, "dnsConfig")),
    ...checkHostAliases(spec8, child(path, "hostAliases")),
    ...checkSharing(spec8, child(path, "securityContext")),
    ...checkRepeatedSpread(spec8.topologySpreadConstraints ?? [], child(path, "topologySpreadConstraints")),
    ...checkContainerResources({ limits: spec8.overhead ?? {} }, child(path, "overhead"), context.vendor)
  ];
}
var names2 = [
  ["hostname", checkDnsLabel],
  ["subdomain", checkDnsLabel],
  ["nodeName", checkDnsSubdomain],
  ["serviceAccountName", checkDnsSubdomain],
  ["priorityClassName", checkDnsSubdomain],
  ["runtimeClassName", checkDnsSubdomain]
];
function checkNames(spec8, path) {
  return names2.flatMap(([field2, check2]) => {
    let name3 = spec8[field2];
    return name3 === void 0 ? [] : check2(name3).map((text4) => invalid(child(path, field2), name3, text4));
  });
}
var longestDeadline = 2 ** 31 - 1;
function checkDeadline({ activeDeadlineSeconds: deadline }, path) {
  if (deadline === void 0 || deadline >= 1 && deadline <= longestDeadline) return [];
  let place3 = child(path, "activeDeadlineSeconds");
  return [invalid(place3, deadline, `must be between 1 and ${longestDeadline}, inclusive`)];
}
function checkDnsNone({ dnsPolicy, dnsConfig: config }, path) {
  return dnsPolicy !== "None" ? [] : config === void 0 ? [required(path, "must be given when `dnsPolicy` is None")] : config.nameservers !== void 0 ? [] : [required(child(path, "nameservers"), "at least one is needed when `dnsPolicy` is None")];
}
var maxServers = 3, maxSearches = 6, maxSearchLength = 256;
function checkDnsConfig({ nameservers = [], searches = [] }, path) {
  let servers = child(path, "nameservers"), domains = child(path, "searches");
  return [
    ...nameservers.length > maxServers ? [invalid(servers, nameservers, `at most ${maxServers}`)] : [],
    ...nameservers.flatMap((ip, i) => checkIpAddress(ip).map((text4) => invalid(at(servers, i), ip, text4))),
    ...searches.length > maxSearches ? [invalid(domains, searches, `at most ${maxSearches}`)] : [],
    ...searches.join(" ").length > maxSearchLength ? [invalid(domains, searches, `at most ${maxSearchLength} characters together`)] : [],
    ...searches.flatMap(
      (name3, i) => checkDnsSubdomain(name3.replace(/\.$/, "")).map((text4) => invalid(at(domains, i), name3, text4))
    )
  ];
}
function checkHostAliases({ hostAliases = [] }, path) {
  return hostAliases.flatMap(({ ip = "", hostnames = [] }) => [
    ...checkIpAddress(ip).map((text4) => invalid(child(path, "ip"), ip, text4)),
    ...hostnames.flatMap(
      (name3) => checkDnsSubdomain(name3).map((text4) => invalid(child(path, "hostnames"), name3, text4))
    )
  ]);
}
function checkSharing({ shareProcessNamespace, hostPID }, path) {
  return !shareProcessNamespace || !hostPID ? [] : [invalid(child(path, "shareProcessNamespace"), !0, "cannot be enabled together with hostPID")];
}

// src/kinds/core/types/pod-status.ts
var condition4 = s.object(
  {
    type: field(1, s.string(), {
      zero: "write",
      doc: "What is told about the pod: PodScheduled, Initialized, ContainersReady, Ready or another."
    }),
    status: field(2, s.string(), { zero: "write", doc: "True, False or Unknown." }),
    lastProbeTime: field(3, s.time(), { zero: "write", doc: "When it was last looked at." }),
    lastTransitionTime: field(4, s.time(), { zero: "write", doc: "When the status last changed." }),
    reason: field(5, s.string(), { doc: "Why, in one word for programs." }),
    message: field(6, s.string(), { doc: "Why, for people." })
  },
  { name: "PodCondition", doc: "Something that is known of the state of a pod." }
), waiting = s.object(
  {
    reason: field(1, s.string(), { doc: "Why, in one word for programs." }),
    message: field(2, s.string(), { doc: "Why, for people." })
  },
  { name: "ContainerStateWaiting", doc: "A container that does not run yet, and why." }
), running = s.object(
  { startedAt: field(1, s.time(), { zero: "write", doc: "When it was started." }) },
  { name: "ContainerStateRunning", doc: "A container that runs." }
), terminated = s.object(
  {
    exitCode: field(1, s.int32(), { zero: "write", doc: "The code it ended with." }),
    signal: field(2, s.int32(), { doc: "The signal that ended it." }),
    reason: field(3, s.string(), { doc: "Why, in one word for programs." }),
    message: field(4, s.string(), { doc: "Its last words." }),
    startedAt: field(5, s.time(), { zero: "write", doc: "When it was started." }),
    finishedAt: field(6, s.time(), { zero: "write", doc: "When it ended." }),
    containerID: field(7, s.string(), { doc: "Its id, as runtime://id." })
  },
  { name: "ContainerStateTerminated", doc: "A container that has ended, and how." }
), state = s.object(
  {
    waiting: field(1, waiting, { doc: "It does not run yet." }),
    running: field(2, running, { doc: "It runs." }),
    terminated: field(3, terminated, { doc: "It has ended." })
  },
  { name: "ContainerState", doc: "Where a container is in its life." }
), containerStatusFields = {
  name: field(1, s.string(), { zero: "write", doc: "The name of the container." }),
  state: field(2, state, { zero: "write", doc: "Where it is in its life." }),
  lastState: field(3, state, { zero: "write", doc: "How it ended the last time." }),
  ready: field(4, s.boolean(), { zero: "write", doc: "Whether it can serve." }),
  restartCount: field(5, s.int32(), { zero: "write", doc: "How often it was started again." }),
  image: field(6, s.string(), { zero: "write", doc: "The image it runs." }),
  imageID: field(7, s.string(), { zero: "write", doc: "The exact image it runs." }),
  containerID: field(8, s.string(), { doc: "Its id, as runtime://id." }),
  started: field(9, s.boolean(), { zero: "keep", doc: "Whether it has passed its startup probe." })
}, containerStatus2 = s.object(containerStatusFields, { name: "ContainerStatus", doc: "How a container is." }), podIp = s.object(
  { ip: field(1, s.string(), { doc: "The address." }) },
  { name: "PodIP", doc: "An address of a pod." }
), fields15 = {
  phase: field(1, s.string(), { doc: "Pending, Running, Succeeded, Failed or Unknown." }),
  conditions: field(2, s.list(condition4, { list: "map", keys: ["type"], patch: "merge", mergeKey: "type" }), {
    doc: "What is known of its state."
  }),
  message: field(3, s.string(), { doc: "Why it is so, for people." }),
  reason: field(4, s.string(), { doc: "Why it is so, in one word for programs." }),
  hostIP: field(5, s.string(), { doc: "The address of its node." }),
  podIP: field(6, s.string(), { doc: "Its address." }),
  startTime: field(7, s.time(), { doc: "When its node took it on." }),
  containerStatuses: field(8, s.list(containerStatus2), { doc: "How its containers are." }),
  qosClass: field(9, s.string(), {
    doc: "How safe it is when a node runs short: Guaranteed, Burstable or BestEffort."
  }),
  initContainerStatuses: field(10, s.list(containerStatus2), { doc: "How its init containers are." }),
  nominatedNodeName: field(11, s.string(), { doc: "The node on which others make room for it." }),
  podIPs: field(12, s.list(podIp, { list: "map", keys: ["ip"], patch: "merge", mergeKey: "ip" }), {
    doc: "Its addresses, one per family; the first is podIP."
  }),
  ephemeralContainerStatuses: field(13, s.list(containerStatus2), { doc: "How its ephemeral containers are." })
}, podStatus = s.object(fields15, {
  name: "PodStatus",
  doc: "How a pod and its containers are.",
  fill: agreeOnAddress
});
function agreeOnAddress(status9) {
  let first = status9.podIPs?.[0]?.ip;
  status9.podIP === void 0 ? first !== void 0 && (status9.podIP = first) : status9.podIP !== first && (status9.podIPs = [{ ip: status9.podIP }]);
}

// src/kinds/core/types/pod-update.ts
import { isIPv4 } from "node:net";
function checkSpecUpdate(next, previous) {
  let counts = ["containers", "initContainers"].filter((list3) => next[list3]?.length !== previous[list3]?.length).map((list3) => forbidden(`spec.${list3}`, "pod updates may not add or remove containers"));
  return counts.length > 0 ? counts : [
    ...checkDeadlineUpdate(next, previous),
    ...checkTolerationUpdate(next.tolerations ?? [], previous.tolerations ?? []),
    ...same(withUpdatable(next, previous), previous) ? [] : [forbidden("spec", "only images, activeDeadlineSeconds and additions to tolerations may change")]
  ];
}
function checkDeadlineUpdate({ activeDeadlineSeconds: next }, { activeDeadlineSeconds: previous }) {
  let path = "spec.activeDeadlineSeconds";
  return previous === void 0 || next !== void 0 && next <= previous ? [] : [invalid(path, next, next === void 0 ? "must not be removed" : "must be less than or equal to previous value")];
}
function checkTolerationUpdate(next, previous) {
  let there = new Set(next.map(withoutTime));
  return previous.every((old) => there.has(withoutTime(old))) ? [] : [forbidden("spec.tolerations", "existing ones may only change their tolerationSeconds")];
}
function withoutTime({ key, operator, value, effect }) {
  return JSON.stringify([key, operator, value, effect]);
}
function withUpdatable(next, previous) {
  let { activeDeadlineSeconds: _d, tolerations: _t, ...kept } = next, { activeDeadlineSeconds, tolerations, terminationGracePeriodSeconds: grace } = previous, mended = (grace ?? 0) < 0 && next.terminationGracePeriodSeconds === 1;
  return {
    ...kept,
    ...activeDeadlineSeconds === void 0 ? {} : { activeDeadlineSeconds },
    ...tolerations === void 0 ? {} : { tolerations },
    ...mended && grace !== void 0 ? { terminationGracePeriodSeconds: grace } : {},
    ...withImages(next, previous, "containers"),
    ...withImages(next, previous, "initContainers")
  };
}
function withImages(next, previous, list3) {
  let images = next[list3]?.map((one, i) => {
    let { image: _, ...rest } = one, image = previous[list3]?.[i]?.image;
    return image === void 0 ? rest : { ...rest, image };
  });
  return images === void 0 ? {} : { [list3]: images };
}
function checkImageBlanks({ containers = [], initContainers = [] }, path) {
  return Object.entries({ containers, initContainers }).flatMap(
    ([list3, all]) => all.flatMap(
      ({ image = "" }, i) => image === image.trim() ? [] : [invalid(child(at(child(path, list3), i), "image"), image, "must not have leading or trailing whitespace")]
    )
  );
}
function checkEphemeralUpdate(next, previous) {
  let path = "spec.ephemeralContainers", byName2 = new Map(next.ephemeralContainers?.map((one) => [one.name, one]));
  return (previous.ephemeralContainers ?? []).flatMap((old) => {
    let now = byName2.get(old.name);
    return now === void 0 ? [forbidden(path, `existing ephemeral containers ${old.name} may not be removed`)] : same(now, old) ? [] : [forbidden(path, `existing ephemeral containers ${old.name} may not be changed`)];
  });
}
var ownConditions = ["PodScheduled", "Ready", "Initialized"];
function checkStatusUpdate(next, previous, { restartPolicy }) {
  let { conditions: conditions4 = [], nominatedNodeName: nominated = "" } = next, renominated = nominated !== "" && nominated !== previous.nominatedNodeName;
  return [
    ...conditions4.flatMap(
      ({ type: type3 = "" }, i) => ownConditions.includes(type3) ? [] : checkQualifiedName(type3).map((text4) => invalid(`metadata.conditions[${i}].Type`, type3, text4))
    ),
    ...(renominated ? checkDnsSubdomain(nominated) : []).map(
      (text4) => invalid("status.nominatedNodeName", nominated, text4)
    ),
    ...checkEnded(next, previous, { list: "containerStatuses", policy: restartPolicy }),
    // Init containers run once unless they fail.
    ...checkEnded(next, previous, {
      list: "initContainerStatuses",
      policy: restartPolicy === "Always" ? "OnFailure" : restartPolicy
    }),
    ...checkAddresses(next)
  ];
}
function checkEnded(next, previous, { list: list3, policy: policy2 }) {
  if (policy2 === "Always") return [];
  let isFinal = (old) => hasEnded(old) && (policy2 !== "OnFailure" || old.state?.terminated?.exitCode === 0), final = new Set((previous[list3] ?? []).filter(isFinal).map(({ name: name3 }) => name3));
  return (next[list3] ?? []).flatMap(
    (now, i) => final.has(now.name) && !hasEnded(now) ? [forbidden(`status.${list3}[${i}].state`, "may not be transitioned to non-terminated state")] : []
  );
}
function hasEnded({ state: state2 }) {
  return state2?.terminated !== void 0;
}
function checkAddresses({ podIPs = [] }) {
  let path = "status.podIPs", ips = podIPs.map(({ ip = "" }) => ip), families = new Set(ips.map((ip) => isIPv4(ip)));
  return [
    ...ips.flatMap((ip, i) => checkIpAddress(ip).map((text4) => invalid(at(path, i), ip, text4))),
    ...ips.length > families.size ? [invalid(path, ips, "may specify no more than one IP for each IP family")] : [],
    ...[...repeatedAt(ips)].map((i) => duplicate(at(path, i), ips[i]))
  ];
}
function same(a, b) {
  return sameJson(a, b);
}

// src/kinds/core/types/pod-warnings.ts
function podWarnings(spec8, path, vendor) {
  return [
    ...labelWarnings(spec8, path, vendor),
    ...(spec8.volumes ?? []).flatMap((one, i) => volumeWarnings(one, at(child(path, "volumes"), i))),
    ...repeated(spec8.hostAliases?.map(({ ip }) => ip) ?? []).map(
      ([i, ip]) => `${path}.hostAliases[${i}].ip: duplicate ip "${ip}"`
    ),
    ...pullSecretWarnings(spec8, child(path, "imagePullSecrets")),
    ...allContainers(spec8, path).flatMap(([one, where]) => [
      ...fractionWarnings(one.resources?.limits ?? {}, `${where}.resources.limits`),
      ...fractionWarnings(one.resources?.requests ?? {}, `${where}.resources.requests`),
      ...repeated(one.env?.map(({ name: name3 }) => name3) ?? []).map(
        ([i, name3]) => `${where}.env[${i}].name: duplicate name "${name3}"`
      )
    ]),
    ...fractionWarnings(spec8.overhead ?? {}, child(path, "overhead"))
  ];
}
function oldLabels(vendor) {
  return /* @__PURE__ */ new Map([
    [vendorKey(vendor, "arch", "beta"), vendorKey(vendor, "arch")],
    [vendorKey(vendor, "os", "beta"), vendorKey(vendor, "os")],
    [vendorKey(vendor, "region", "failure-domain.beta"), vendorKey(vendor, "region", "topology")],
    [vendorKey(vendor, "zone", "failure-domain.beta"), vendorKey(vendor, "zone", "topology")],
    [vendorKey(vendor, "instance-type", "beta"), vendorKey(vendor, "instance-type", "node")]
  ]);
}
function labelWarnings(spec8, path, vendor) {
  let old = oldLabels(vendor);
  return labelUses(spec8, path).filter(([label]) => old.has(label)).map(([label, where]) => `${where}: ${label} is deprecated; use "${old.get(label)}" instead`);
}
function labelUses(spec8, path) {
  let { nodeSelector: nodeSelector2 = {}, affinity: affinity2 = {}, topologySpreadConstraints = [] } = spec8, nodes = affinity2.nodeAffinity ?? {}, place3 = `${path}.affinity.nodeAffinity`, required2 = nodes.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [], preferred = nodes.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...Object.keys(nodeSelector2).map((key) => [key, at(child(path, "nodeSelector"), key)]),
    ...required2.flatMap(
      (term, i) => termUses(term, `${place3}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${i}]`)
    ),
    ...preferred.flatMap(
      ({ preference = {} }, i) => termUses(preference, `${place3}.preferredDuringSchedulingIgnoredDuringExecution[${i}].preference`)
    ),
    ...topologySpreadConstraints.map(({ topologyKey = "" }, i) => [
      topologyKey,
      `${path}.topologySpreadConstraints[${i}].topologyKey`
    ])
  ];
}
function termUses({ matchExpressions = [] }, path) {
  return matchExpressions.map(({ key = "" }, i) => [key, `${path}.matchExpressions[${i}].key`]);
}
var oldSources = [
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "deprecated in v1.11"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "deprecated in v1.22, non-functional in v1.25+"]
];
function volumeWarnings(volume2, path) {
  return oldSources.filter(([source]) => volume2[source] !== void 0).map(([source, why]) => `${child(path, source)}: ${why}`);
}
function pullSecretWarnings({ imagePullSecrets = [] }, path) {
  let names3 = imagePullSecrets.map(({ name: name3 }) => name3);
  return [
    ...names3.flatMap((name3, i) => name3 ? [] : [`${at(path, i)}: invalid empty name ""`]),
    ...repeated(names3).map(([i, name3]) => `${at(path, i)}.name: duplicate name "${name3}"`)
  ];
}
var inBytes = ["memory", "ephemeral-storage"];
function fractionWarnings(amounts, path) {
  return Object.entries(amounts).filter(([name3, text4]) => inBytes.includes(name3) && (parseQuantity(text4)?.nanos ?? 0n) % 1000000000n !== 0n).map(([name3, text4]) => `${at(path, name3)}: fractional byte value "${text4}" is invalid, must be an integer`);
}
function repeated(names3) {
  return Array.from(repeatedAt(names3), (i) => [i, names3[i]]);
}

// src/kinds/core/types/quality.ts
var compute = ["cpu", "memory"];
function qualityOf({
  containers = [],
  initContainers = []
}) {
  let all = [...containers, ...initContainers];
  return all.some(({ resources: resources2 = {} }) => asks(resources2.requests) || asks(resources2.limits)) ? all.every(isGuaranteed) ? "Guaranteed" : "Burstable" : "BestEffort";
}
function asks(list3) {
  return compute.some((name3) => isPositive2(list3, name3));
}
function isGuaranteed({ resources: { limits, requests } = {} }) {
  return compute.every((name3) => {
    let limit = quantityIn(limits, name3), request = quantityIn(requests, name3);
    return isPositive2(limits, name3) && limit && request && compareQuantities(limit, request) === 0;
  });
}
function isPositive2(list3, name3) {
  let quantity = quantityIn(list3, name3);
  return quantity !== void 0 && quantitySign(quantity) > 0;
}

// src/kinds/core/pod.ts
var fields16 = {
  spec: field(2, podSpec, { zero: "write", doc: "What it is made of and where it may run." }),
  status: field(3, podStatus, { zero: "write", doc: "How it is. Set by its node." })
}, pod = defineKind({
  group: "core",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  doc: "Containers that run together on one node.",
  shortNames: ["po"],
  categories: ["all"],
  scope: "Namespaced",
  deleteAnswers: "object",
  fields: fields16,
  columns: podColumns,
  readOnly: ["status"],
  subresources: {
    status: { verbs: ["get", "update", "patch"], readOnly: ["spec"], prepareForUpdate: keepAllButStatus },
    ephemeralcontainers: {
      verbs: ["get", "update", "patch"],
      readOnly: ["status"],
      prepareForUpdate: keepAllButEphemeralContainers
    }
  },
  fillDefaults: fillPod,
  prepareForCreate: prepareNew,
  prepareForUpdate: (next, previous) => {
    next.status = previous.status, dropUnserved(next.spec ?? {});
  },
  validate: checkPod,
  validateCreate: checkNew,
  validateUpdate: checkUpdate,
  warnings: ({ spec: spec8 = {} }, previous, { vendor }) => previous === void 0 ? podWarnings(spec8, "spec", vendor) : [],
  selectable: ({ spec: spec8 = {}, status: status9 = {} }) => ({
    "spec.nodeName": spec8.nodeName ?? "",
    "spec.restartPolicy": spec8.restartPolicy ?? "",
    "spec.schedulerName": spec8.schedulerName ?? "",
    "spec.serviceAccountName": spec8.serviceAccountName ?? "",
    "status.phase": status9.phase ?? "",
    "status.podIP": status9.podIP ?? "",
    "status.nominatedNodeName": status9.nominatedNodeName ?? ""
  }),
  gracePeriod
});
function fillPod({ spec: spec8 = {} }) {
  spec8.enableServiceLinks ??= !0;
  for (let one of [...spec8.containers ?? [], ...spec8.initContainers ?? []]) requestLimits(one);
}
function requestLimits({ resources: resources2 }) {
  resources2?.limits !== void 0 && (resources2.requests = { ...resources2.limits, ...resources2.requests });
}
function prepareNew(object, { vendor }) {
  let spec8 = object.spec ?? {}, annotations = { ...object.metadata.annotations };
  dropUnserved(spec8), pairSeccomp(annotations, spec8, vendor), Object.keys(annotations).length > 0 && (object.metadata.annotations = annotations), object.status = { phase: "Pending", qosClass: qualityOf(spec8) };
}
function keepAllButStatus(next, previous) {
  next.spec = previous.spec;
  let { ownerReferences: _, ...metadata } = next.metadata, owners = previous.metadata.ownerReferences;
  next.metadata = owners === void 0 ? metadata : { ...metadata, ownerReferences: owners };
}
function keepAllButEphemeralContainers(next, previous) {
  let { ephemeralContainers } = next.spec ?? {}, { ephemeralContainers: _, ...spec8 } = previous.spec ?? {};
  next.spec = ephemeralContainers === void 0 ? spec8 : { ...spec8, ephemeralContainers }, dropUnserved(next.spec), next.status = previous.status, next.metadata = { ...previous.metadata };
}
function checkPod({ metadata, spec: spec8 = {} }, { vendor }) {
  let { annotations = {} } = metadata;
  return [
    ...checkPodAnnotations(annotations, spec8, "metadata.annotations", vendor),
    ...checkSeccompPairs(annotations, spec8, "spec", vendor),
    ...checkImageBlanks(spec8, "spec"),
    ...checkClaims(metadata.name ?? "", spec8.volumes ?? [])
  ];
}
function checkClaims(name3, volumes) {
  let made = new Set(volumes.flatMap((volume2) => volume2.ephemeral ? [`${name3}-${volume2.name}`] : []));
  return volumes.flatMap(
    ({ persistentVolumeClaim: claim2 }, i) => claim2?.claimName !== void 0 && made.has(claim2.claimName) ? [
      invalid(
        `spec.volumes[${i}].persistentVolumeClaim.claimName`,
        claim2.claimName,
        "is made for an ephemeral volume"
      )
    ] : []
  );
}
function checkNew({ spec: spec8 = {} }) {
  return spec8.ephemeralContainers === void 0 ? [] : [forbidden("spec.ephemeralContainers", "cannot be set on create")];
}
function checkUpdate(next, previous, { vendor, subresource }) {
  let annotations = checkAnnotationUpdate(
    next.metadata.annotations ?? {},
    previous.metadata.annotations ?? {},
    vendor
  ), nextSpec = next.spec ?? {}, previousSpec = previous.spec ?? {};
  return subresource === "status" ? [...annotations, ...checkStatusUpdate(next.status ?? {}, previous.status ?? {}, previousSpec)] : subresource === "ephemeralcontainers" ? checkEphemeralUpdate(nextSpec, previousSpec) : [...annotations, ...checkSpecUpdate(nextSpec, previousSpec)];
}
var defaultGrace = 30;
function gracePeriod({ spec: spec8 = {}, status: status9 = {} }, requested) {
  let ended = status9.phase === "Succeeded" || status9.phase === "Failed";
  if (!spec8.nodeName || ended) return 0;
  let seconds = requested ?? spec8.terminationGracePeriodSeconds ?? defaultGrace;
  return seconds < 0 ? 1 : seconds;
}

// src/kinds/core/types/pod-template-spec.ts
var fields17 = {
  metadata: field(1, objectMeta, { zero: "write", doc: "Labels and annotations of the pods." }),
  spec: field(2, podSpec, { zero: "write", doc: "What the pods are made of." })
}, podTemplateSpec = s.object(fields17, {
  name: "core.v1.PodTemplateSpec",
  doc: "What pods are made from.",
  check: checkTemplate
});
function checkTemplate(template, path, { vendor }) {
  let { metadata: { labels, annotations = {} } = {}, spec: spec8 = {} } = template, place3 = child(path, "annotations");
  return [
    ...checkLabels(labels, child(path, "labels")),
    ...checkAnnotations(annotations, place3),
    ...checkPodAnnotations(annotations, spec8, place3, vendor),
    ...checkSeccompPairs(annotations, spec8, child(path, "spec"), vendor),
    ...spec8.ephemeralContainers === void 0 ? [] : [forbidden(child(path, "spec.ephemeralContainers"), "ephemeral containers not allowed in pod template")]
  ];
}

// src/kinds/core/pod-template.ts
var fields18 = { template: field(2, podTemplateSpec, { zero: "write", doc: "What pods are made from." }) }, podTemplate = defineKind({
  group: "core",
  version: "v1",
  kind: "PodTemplate",
  plural: "podtemplates",
  doc: "A template for pods that is kept for others to use.",
  scope: "Namespaced",
  fields: fields18,
  columns: [
    nameColumn,
    column("Containers", "The names of its containers.", (object) => listed(object, "name")),
    column("Images", "The images of its containers.", (object) => listed(object, "image")),
    column("Pod Labels", "The labels of the pods that are made from it.", (object) => podLabels(object))
  ],
  prepareForCreate: (object) => {
    object.metadata.generation = 1, dropUnserved(object.template?.spec ?? {});
  },
  prepareForUpdate: (next, previous) => {
    dropUnserved(next.template?.spec ?? {});
    let { generation = 1 } = previous.metadata;
    next.metadata.generation = sameJson(next.template, previous.template) ? generation : generation + 1;
  },
  warnings: ({ template = {} }, previous, { vendor }) => previous && sameJson(template, previous.template) ? [] : podWarnings(template.spec ?? {}, "template.spec", vendor)
});
function listed({ template }, part2) {
  return (template?.spec?.containers ?? []).map((one) => one[part2] ?? "").join(",");
}
function podLabels({ template }) {
  let labels = Object.entries(template?.metadata?.labels ?? {});
  return labels.length === 0 ? "<none>" : labels.map(([key, value]) => `${key}=${value}`).sort().join(",");
}

// src/kinds/autoscaling/scale.ts
var spec6 = s.object(
  { replicas: field(1, s.int32(), { doc: "How many there shall be." }) },
  { name: "ScaleSpec", doc: "How many replicas are wanted." }
), status7 = s.object(
  {
    replicas: field(1, s.int32(), { zero: "write", published: "required", doc: "How many there are." }),
    selector: field(2, s.string(), { doc: "Which pods count, as a query writes it." })
  },
  { name: "ScaleStatus", doc: "How many replicas there are." }
), fields19 = {
  spec: field(2, spec6, { zero: "write", doc: "How many replicas are wanted." }),
  status: field(3, status7, { zero: "write", doc: "How many there are. Read only." })
}, scale = defineKind({
  group: "autoscaling",
  version: "v1",
  kind: "Scale",
  plural: "scales",
  doc: "How many replicas something has and shall have.",
  scope: "Namespaced",
  virtual: !0,
  fields: fields19
});

// src/kinds/scalable.ts
function scaleOf(selectorOf2, prepareForUpdate2) {
  return {
    verbs: ["get", "update", "patch"],
    readOnly: ["status"],
    prepareForUpdate: prepareForUpdate2,
    as: {
      kind: scale,
      read: (object) => showScale(object, selectorOf2(object)),
      write: (sent, object) => {
        let { spec: spec8, metadata } = sent;
        object.spec = { ...object.spec, replicas: spec8?.replicas ?? 0 };
        let { uid, resourceVersion } = metadata;
        object.metadata = { ...object.metadata, ...defined({ uid }) }, resourceVersion === void 0 ? delete object.metadata.resourceVersion : object.metadata.resourceVersion = resourceVersion;
      }
    }
  };
}
function showScale({ metadata, spec: spec8, status: status9 }, selector) {
  let { name: name3, namespace: namespace2, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    apiVersion: "",
    kind: scale.kind,
    metadata: defined({ name: name3, namespace: namespace2, uid, resourceVersion, creationTimestamp }),
    spec: { ...spec8?.replicas ? { replicas: spec8.replicas } : {} },
    status: { replicas: status9?.replicas ?? 0, ...selector === "" ? {} : { selector } }
  };
}

// src/kinds/core/replication-controller.ts
var condition5 = s.object(
  {
    type: field(1, s.string(), { zero: "write", published: "required", doc: "What is told about it." }),
    status: field(2, s.string(), { zero: "write", published: "required", doc: "True, False or Unknown." }),
    lastTransitionTime: field(3, s.time(), { zero: "write", doc: "When the status last changed." }),
    reason: field(4, s.string(), { doc: "Why, in one word for programs." }),
    message: field(5, s.string(), { doc: "Why, for people." })
  },
  { name: "ReplicationControllerCondition", doc: "Something that is known of the state of a ReplicationController." }
), spec7 = s.object(
  {
    replicas: field(1, s.int32(), { zero: "keep", default: 1, doc: "How many pods there shall be; 1 by default." }),
    selector: field(2, s.map(s.string(), { atomic: !0 }), {
      doc: "The labels of the pods that count; those of the template by default."
    }),
    template: field(3, podTemplateSpec, { doc: "What missing pods are made from." }),
    minReadySeconds: field(4, s.int32(), {
      doc: "How long a pod must have been ready, without a crash, to count as available."
    })
  },
  { name: "ReplicationControllerSpec", doc: "How many pods of which kind there shall be." }
), conditions3 = s.list(condition5, { patch: "merge", mergeKey: "type" }), status8 = s.object(
  {
    replicas: field(1, s.int32(), { zero: "write", published: "required", doc: "How many pods there are." }),
    fullyLabeledReplicas: field(2, s.int32(), { doc: "How many of them have all labels of the template." }),
    observedGeneration: field(3, s.int64(), { doc: "The generation that the controller has seen." }),
    readyReplicas: field(4, s.int32(), { doc: "How many of them are ready." }),
    availableReplicas: field(5, s.int32(), { doc: "How many of them have been ready for long enough." }),
    conditions: field(6, conditions3, { doc: "What else is known of it." })
  },
  { name: "ReplicationControllerStatus", doc: "How many pods there are." }
), fields20 = {
  spec: field(2, spec7, { zero: "write", doc: "How many pods of which kind there shall be." }),
  status: field(3, status8, { zero: "write", doc: "How many there are. Set by the controller." })
}, count = (name3, doc, of) => ({
  ...column(name3, doc, (object) => of(object) ?? 0),
  type: "integer"
}), replicationController = defineKind({
  group: "core",
  version: "v1",
  kind: "ReplicationController",
  plural: "replicationcontrollers",
  doc: "Keeps a number of pods of one template running.",
  shortNames: ["rc"],
  categories: ["all"],
  scope: "Namespaced",
  orphansByDefault: !0,
  fields: fields20,
  columns: [
    nameColumn,
    count("Desired", "How many pods there shall be.", ({ spec: spec8 }) => spec8?.replicas),
    count("Current", "How many pods there are.", ({ status: status9 }) => status9?.replicas),
    count("Ready", "How many of them are ready.", ({ status: status9 }) => status9?.readyReplicas),
    ageColumn,
    column("Containers", "The names of the containers.", (object) => listed2(object, "name"), 1),
    column("Images", "The images of the containers.", (object) => listed2(object, "image"), 1),
    column("Selector", "The labels of the pods that count.", selectorOf, 1)
  ],
  readOnly: ["status"],
  subresources: { status: plainStatus, scale: scaleOf(selectorOf, prepareForUpdate) },
  fillDefaults: fillFromTemplate,
  prepareForCreate: (object) => {
    object.metadata.generation = 1, object.status = { replicas: 0 }, dropUnserved(object.spec?.template?.spec ?? {});
  },
  prepareForUpdate,
  validate: checkSpec4,
  validateUpdate: ({ status: status9 }) => checkCounts(status9 ?? {}),
  selectable: ({ status: status9 }) => ({ "status.replicas": String(status9?.replicas ?? 0) }),
  warnings: ({ spec: spec8 = {} }, previous, { vendor }) => previous && sameJson(spec8.template, previous.spec?.template) ? [] : podWarnings(spec8.template?.spec ?? {}, "spec.template.spec", vendor)
});
function fillFromTemplate({ metadata, spec: spec8 }) {
  let labels = spec8?.template?.metadata?.labels;
  spec8 === void 0 || labels === void 0 || (Object.keys(spec8.selector ?? {}).length === 0 && (spec8.selector = { ...labels }), Object.keys(metadata.labels ?? {}).length === 0 && (metadata.labels = { ...labels }));
}
function prepareForUpdate(next, previous) {
  keep(next, previous, "status"), dropUnserved(next.spec?.template?.spec ?? {});
  let { generation = 1 } = previous.metadata;
  next.metadata.generation = sameJson(next.spec, previous.spec) ? generation : generation + 1;
}
function checkSpec4({ spec: spec8 = {} }) {
  let { selector = {}, template } = spec8, labels = template?.metadata?.labels ?? {}, selects = Object.entries(selector).every(([key, value]) => labels[key] === value);
  return [
    ...notNegative(spec8.minReadySeconds, "spec.minReadySeconds"),
    ...Object.keys(selector).length === 0 ? [required("spec.selector")] : [],
    ...notNegative(spec8.replicas, "spec.replicas"),
    ...template === void 0 ? [required("spec.template")] : [],
    ...template === void 0 || selects ? [] : [invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")],
    ...checkTemplate2(template?.spec ?? {})
  ];
}
function checkTemplate2({
  restartPolicy = "Always",
  activeDeadlineSeconds
}) {
  let path = "spec.template.spec";
  return [
    ...restartPolicy === "Always" ? [] : [notSupported(`${path}.restartPolicy`, restartPolicy, ["Always"])],
    ...activeDeadlineSeconds === void 0 ? [] : [
      forbidden(`${path}.activeDeadlineSeconds`, "activeDeadlineSeconds in ReplicationController is not Supported")
    ]
  ];
}
function checkCounts(status9) {
  let { replicas = 0, fullyLabeledReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status9, tooMany = (name3, value, limit, of) => value > limit ? [invalid(`status.${name3}`, value, `cannot be greater than ${of}`)] : [];
  return [
    ...notNegative(status9.replicas, "status.replicas"),
    ...notNegative(status9.fullyLabeledReplicas, "status.fullyLabeledReplicas"),
    ...notNegative(status9.readyReplicas, "status.readyReplicas"),
    ...notNegative(status9.availableReplicas, "status.availableReplicas"),
    ...notNegative(status9.observedGeneration, "status.observedGeneration"),
    ...tooMany("fullyLabeledReplicas", fullyLabeledReplicas, replicas, "status.replicas"),
    ...tooMany("readyReplicas", readyReplicas, replicas, "status.replicas"),
    ...tooMany("availableReplicas", availableReplicas, replicas, "status.replicas"),
    ...tooMany("availableReplicas", availableReplicas, readyReplicas, "readyReplicas")
  ];
}
function notNegative(value, path) {
  return value === void 0 || value >= 0 ? [] : [invalid(path, value, "must be greater than or equal to 0")];
}
function listed2({ spec: spec8 }, part2) {
  return (spec8?.template?.spec?.containers ?? []).map((one) => one[part2] ?? "").join(",");
}
function selectorOf({ spec: spec8 }) {
  return Object.entries(spec8?.selector ?? {}).map(([key, value]) => `${key}=${value}`).sort().join(",");
}

// src/kinds/core/secret.ts
var maxDataBytes = 1024 * 1024, fields21 = {
  data: field(2, s.map(s.bytes(), { key: checkConfigKey }), {
    doc: "Bytes in base64, by key. A key is made of letters, digits, -, _ and dots."
  }),
  type: field(3, s.string(), {
    default: "Opaque",
    doc: "What the data is for. Some types demand certain keys. Cannot change."
  }),
  stringData: field(4, s.map(s.string()), {
    doc: "A way to write data as plain text: it is moved into data, over what is there, and never read back."
  }),
  immutable: field(5, s.boolean(), {
    zero: "keep",
    doc: "Once true, the data cannot change any more, nor this field; only metadata can."
  })
}, secret = defineKind({
  group: "core",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  doc: "Passwords, keys and the like, as bytes; one MiB at most.",
  scope: "Namespaced",
  confidential: !0,
  fields: fields21,
  columns: [
    nameColumn,
    column("Type", "What the secret is for.", (object) => object.type ?? ""),
    column("Data", "How many keys it holds.", (object) => Object.keys(object.data ?? {}).length),
    ageColumn
  ],
  fillDefaults: foldStringData,
  prepareForUpdate: keepType,
  validate: (object, { vendor }) => [...checkSize(object), ...checkType(object, vendor)],
  validateUpdate: (next, previous) => [
    ...immutableField("type", next.type, previous.type),
    ...previous.immutable ? checkUnchanged2(next, previous) : []
  ],
  selectable: (object) => ({ type: object.type ?? "" })
});
function foldStringData(object) {
  let text4 = object.stringData;
  if (delete object.stringData, text4 === void 0) return;
  let data = { ...object.data };
  for (let [key, value] of Object.entries(text4)) setKey(data, key, Buffer.from(value).toString("base64"));
  object.data = data;
}
function keepType(next, previous) {
  next.type === void 0 && previous.type !== void 0 && (next.type = previous.type);
}
function checkSize({ data = {} }) {
  return Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, "base64"), 0) > maxDataBytes ? [tooLong("data", maxDataBytes)] : [];
}
function checkType(object, vendor) {
  switch (object.type) {
    case vendorKey(vendor, "service-account-token"):
      return checkAccountName(object, vendorKey(vendor, "service-account.name"));
    case vendorKey(vendor, "dockercfg"):
      return checkJsonKey(object, ".dockercfg");
    case vendorKey(vendor, "dockerconfigjson"):
      return checkJsonKey(object, ".dockerconfigjson");
    case vendorKey(vendor, "basic-auth"):
      return checkOneKey(object, ["username", "password"]);
    case vendorKey(vendor, "ssh-auth"):
      return textOf(object, "ssh-privatekey") ? [] : [required(at("data", "ssh-privatekey"))];
    case vendorKey(vendor, "tls"):
      return ["tls.crt", "tls.key"].filter((key) => textOf(object, key) === void 0).map((key) => required(at("data", key)));
    default:
      return [];
  }
}
function checkAccountName(object, annotation) {
  return object.metadata.annotations?.[annotation] ? [] : [required(at("metadata.annotations", annotation))];
}
function checkJsonKey(object, key) {
  let text4 = textOf(object, key);
  return text4 === void 0 ? [required(at("data", key))] : isJsonObject(text4) ? [] : [invalid(at("data", key), "<secret contents redacted>", "must be a JSON object")];
}
function isJsonObject(text4) {
  try {
    return isObject(JSON.parse(text4));
  } catch {
    return !1;
  }
}
function checkOneKey(object, keys) {
  return keys.some((key) => textOf(object, key) !== void 0) ? [] : keys.map((key) => required(at("data", key)));
}
function textOf({ data = {} }, key) {
  let value = own(data, key);
  return typeof value == "string" ? Buffer.from(value, "base64").toString() : void 0;
}
function checkUnchanged2(next, previous) {
  return [...frozenField("immutable", next.immutable ?? !1, !0), ...frozenField("data", next.data, previous.data)];
}

// src/kinds/events/event.ts
var series2 = s.object(
  {
    count: field(1, s.int32(), {
      zero: "write",
      required: !0,
      doc: "How often it happened, up to lastObservedTime."
    }),
    lastObservedTime: field(2, s.microTime(), { zero: "write", required: !0, doc: "When it last happened." })
  },
  { name: "EventSeries", doc: "How often something happened that goes on happening." }
), fields22 = {
  eventTime: field(2, s.microTime(), { zero: "write", published: "required", doc: "When it first happened." }),
  series: field(3, series2, { doc: "How often it happened, if more than once." }),
  reportingController: field(4, s.string(), {
    doc: "The controller that tells of it, as a qualified name such as `example.com/scheduler`."
  }),
  reportingInstance: field(5, s.string(), { doc: "The instance of the controller, such as its pod." }),
  action: field(6, s.string(), { doc: "What was done, or failed, to the object; at most 128 bytes." }),
  reason: field(7, s.string(), { doc: "Why it was done, in one word for programs; at most 128 bytes." }),
  regarding: field(8, objectReference2, { zero: "write", doc: "The object that it happened to." }),
  related: field(9, objectReference2, { doc: "Another object that took part in it." }),
  note: field(10, s.string(), { doc: "What happened, for people; at most 1 kB." }),
  type: field(11, s.string(), { doc: "Normal or Warning; there may be others one day." }),
  deprecatedSource: field(12, eventSource, { zero: "write", doc: "The source of the older form." }),
  deprecatedFirstTimestamp: field(13, s.time(), { zero: "write", doc: "The firstTimestamp of the older form." }),
  deprecatedLastTimestamp: field(14, s.time(), { zero: "write", doc: "The lastTimestamp of the older form." }),
  deprecatedCount: field(15, s.int32(), { doc: "The count of the older form." })
}, conversion = {
  fromStored: (stored2) => {
    let { involvedObject, message, source, firstTimestamp, lastTimestamp, count: count2, ...rest } = stored2, { reportingComponent, reportingInstance, ...same2 } = rest;
    return {
      ...same2,
      ...defined({
        regarding: involvedObject,
        note: message,
        // The core kind shows these even when they are empty.
        reportingController: reportingComponent || void 0,
        reportingInstance: reportingInstance || void 0,
        deprecatedSource: source,
        deprecatedFirstTimestamp: firstTimestamp,
        deprecatedLastTimestamp: lastTimestamp,
        deprecatedCount: count2
      })
    };
  },
  toStored: (object) => {
    let { regarding, note, reportingController, deprecatedSource, ...rest } = object, { deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedCount, ...same2 } = rest;
    return {
      ...same2,
      ...defined({
        involvedObject: regarding,
        message: note,
        reportingComponent: reportingController,
        source: deprecatedSource,
        firstTimestamp: deprecatedFirstTimestamp,
        lastTimestamp: deprecatedLastTimestamp,
        count: deprecatedCount
      })
    };
  }
}, parts2 = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"], selectable = {
  ...Object.fromEntries(parts2.map((part2) => [`regarding.${part2}`, `involvedObject.${part2}`])),
  reason: "reason",
  reportingController: "reportingComponent",
  type: "type"
}, eventV1 = defineVersion(event, { group: "events", version: "v1", fields: fields22, selectable, ...conversion }), eventV1beta1 = defineVersion(event, {
  group: "events",
  version: "v1beta1",
  fields: fields22,
  selectable,
  deprecated: { since: "v1.22", until: "v1.25" },
  ...conversion
});

// src/kinds/all.ts
var allKinds = [
  namespace,
  configMap,
  secret,
  persistentVolume,
  pod,
  podTemplate,
  event,
  replicationController,
  eventV1,
  eventV1beta1,
  tokenReview,
  horizontalPodAutoscaler,
  horizontalPodAutoscalerV1,
  certificateSigningRequest
];

// src/registry/catalogue.ts
var Catalogue = class {
  vendor;
  #generation = 0;
  #all = [];
  #byPlace = /* @__PURE__ */ new Map();
  #stored = /* @__PURE__ */ new Map();
  constructor(vendor, served = []) {
    this.vendor = vendor, this.#set(served);
  }
  /** Moves on with every change. */
  get generation() {
    return this.#generation;
  }
  /** In the order of serving: of a group's versions the preferred one comes first. */
  all() {
    return this.#all;
  }
  /** By the group's name on the wire ('' for the core group), the version and the plural. */
  find(group, version2, plural) {
    return this.#byPlace.get(placeOf(group, version2, plural));
  }
  /** The stored version of a kind, by the short id of its group, whether or not that version is the preferred one. */
  stored(group, plural) {
    return this.#stored.get(`${group}/${plural}`);
  }
  /** Serves these from now on. A type that is served already at the same place gives way to the new one. */
  add(types2) {
    let places = new Set(types2.map(ownPlace));
    this.#set([...this.#all.filter((served) => !places.has(ownPlace(served))), ...types2]);
  }
  /** Serves these no longer. */
  remove(types2) {
    let gone = new Set(types2);
    this.#set(this.#all.filter((served) => !gone.has(served)));
  }
  #set(all) {
    this.#all = all, this.#byPlace = new Map(all.map((served) => [ownPlace(served), served]));
    let resources2 = all.filter((served) => served.endpoint === void 0).map((served) => served.stored ?? served);
    this.#stored = new Map(resources2.map((resource) => [`${resource.kind.group}/${resource.plural}`, resource])), this.#generation++;
  }
};
function placeOf(group, version2, plural) {
  return `${group}/${version2}/${plural}`;
}
function ownPlace({ group, kind, plural }) {
  return placeOf(group, kind.version, plural);
}
function whileUnchanged(catalogue, make) {
  let generation = -1, made;
  return () => (generation !== catalogue.generation && (generation = catalogue.generation, made = make()), made);
}

// src/registry/continue-token.ts
import { createHmac, timingSafeEqual } from "node:crypto";
var maxTokenLength = 4096, ContinueTokens = class {
  #key;
  constructor(key) {
    this.#key = key;
  }
  /** `scope` says which list this is: the same list must ask for the next page. */
  write(position, scope) {
    let payload = Buffer.from(JSON.stringify({ v: 1, r: position.revision, k: position.after }));
    return `${payload.toString("base64url")}.${this.#sign(payload, scope).toString("base64url")}`;
  }
  read(token, scope) {
    let [payloadText = "", signatureText = ""] = token.length > maxTokenLength ? [] : token.split("."), payload = Buffer.from(payloadText, "base64url"), signature = Buffer.from(signatureText, "base64url"), expected = this.#sign(payload, scope);
    if (signature.length !== expected.length || !timingSafeEqual(signature, expected))
      throw badRequest(
        "invalid continue token: it must be the one that the server gave, sent with the same list request"
      );
    let { r, k } = JSON.parse(payload.toString("utf8"));
    return { revision: r, after: k };
  }
  #sign(payload, scope) {
    return createHmac("sha256", this.#key).update(payload).update("\0").update(scope).digest().subarray(0, 16);
  }
};

// src/registry/lookup.ts
function lookupIn(catalogue) {
  let read2 = /* @__PURE__ */ new WeakMap(), open2 = (cached) => {
    let { key, revision } = cached, found = read2.get(cached) ?? { key, revision, object: readObject(cached.json) };
    return read2.set(cached, found), found;
  }, known2 = (type3, { namespace: namespace2, name: name3 }) => {
    let resource = stored(catalogue, type3), cached = resource.cache.get(keyOf(resource, namespace2, name3));
    return cached && open2(cached);
  };
  return {
    known: known2,
    recent: (type3, name3) => {
      let wait = readMostRecent(stored(catalogue, type3));
      return wait === void 0 ? known2(type3, name3) : wait.then(() => known2(type3, name3));
    },
    list: (type3, { namespace: namespace2, label }) => {
      let matches2 = label && (({ selectable: selectable2 }) => selectable2.labels?.[label.key] === label.value), demand = label && { key: label.key, values: [label.value] };
      return stored(catalogue, type3).cache.objects({ namespace: namespace2, matches: matches2, demand }).map(open2);
    }
  };
}
function stored(catalogue, { group, plural }) {
  let resource = catalogue.stored(group, plural);
  if (resource === void 0) throw new TypeError(`${plural} of the group ${group} are not stored here`);
  return resource;
}

// src/resources/pod-log.ts
var pods = { group: "core", plural: "pods" }, podsRef = { group: "", plural: "pods" };
function podLog(lookup) {
  return {
    kind: pod,
    subresource: "log",
    verbs: ["get"],
    type: void 0,
    admits: void 0,
    doc: "Reads what a container of a Pod has printed.",
    answer: async ({ namespace: namespace2, name: name3, query }) => {
      let faults = checkOptions(query), found = await lookup.recent(pods, { namespace: namespace2, name: name3 });
      if (found === void 0) throw notFound2(podsRef, name3);
      if (faults.length > 0) throw invalidObject({ group: "", kind: "PodLogOptions" }, name3, faults);
      chooseContainer(found.object, query.get("container") ?? "");
      let node = nodeOf(found.object);
      if (node !== "")
        throw notFound2(podsRef, node);
    }
  };
}
var least = { tailLines: 0, limitBytes: 1, sinceSeconds: 1 };
function checkOptions(query) {
  let numbers = Object.entries(least).flatMap(([option, minimum]) => checkNumber(query, option, minimum)), twice = query.has("sinceSeconds") && query.has("sinceTime");
  return [
    ...numbers,
    ...twice ? [forbidden("*", "at most one of `sinceTime` or `sinceSeconds` may be specified")] : []
  ];
}
function checkNumber(query, option, minimum) {
  let text4 = query.get(option);
  if (text4 === null || text4 === "") return [];
  if (!/^-?\d{1,18}$/.test(text4))
    throw badRequest(`${option} must be a whole number, not ${JSON.stringify(text4.slice(0, 50))}`);
  let rule = minimum === 0 ? "must be greater than or equal to 0" : "must be greater than 0";
  return Number(text4) >= minimum ? [] : [invalid(option, Number(text4), rule)];
}
function specOf(object) {
  return object.spec ?? {};
}
function nodeOf(object) {
  return specOf(object).nodeName ?? "";
}
function chooseContainer(object, wanted) {
  let { initContainers = [], containers = [], ephemeralContainers = [] } = specOf(object), names3 = [...initContainers, ...containers, ...ephemeralContainers].map(({ name: name4 }) => name4), { name: name3 } = object.metadata;
  if (wanted === "" && names3.length !== 1)
    throw badRequest(`a container name must be specified for pod ${name3}, choose one of: [${names3.join(" ")}]`);
  if (wanted !== "" && !names3.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name3}`);
}

// src/resources/token-review.ts
function tokenReview2({ authenticateToken, audiences }) {
  return {
    kind: tokenReview,
    subresource: "",
    verbs: ["create"],
    type: void 0,
    admits: "CREATE",
    doc: "Tells whose a token is.",
    answer: async ({ object }) => {
      let review = object, { token, audiences: wanted = [] } = review.spec ?? {};
      if (!token) throw badRequest("a TokenReview needs a token: set spec.token");
      let meant = wanted.length === 0 ? audiences : wanted.filter((one) => audiences.includes(one)), user = meant.length === 0 ? void 0 : await userOf(authenticateToken, token);
      return { ...review, metadata: review.metadata, status: statusOf(user, meant) };
    }
  };
}
async function userOf(authenticate2, token) {
  let credentials = { certificate: void 0, authorization: `Bearer ${token}`, connection: {} }, outcome = await authenticate2(credentials);
  return outcome.result === "user" ? outcome.user : void 0;
}
function statusOf(user, audiences) {
  if (user === void 0) return { user: {}, error: "invalid bearer token" };
  let { name: name3, uid, groups, extra } = user;
  return {
    authenticated: !0,
    user: {
      username: name3,
      ...uid === "" ? {} : { uid },
      groups: [...groups],
      ...extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }
    },
    audiences: [...audiences]
  };
}

// src/resources/all.ts
function allEndpoints(parts3) {
  return [tokenReview2(parts3), podLog(parts3.lookup)];
}

// src/server/bootstrap.ts
import { randomBytes as randomBytes2 } from "node:crypto";

// src/model/user.ts
var superusers = "system:masters", authenticatedUsers = "system:authenticated";
function authenticated(user) {
  return user.groups.includes(authenticatedUsers) ? user : { ...user, groups: [...user.groups, authenticatedUsers] };
}

// src/server/bootstrap.ts
var profileKey = "meta/profile", continueKey = "meta/continue-key", systemNamespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];
async function claimProfile(store, profile) {
  let stored2 = (await settledValue(store, profileKey, () => Buffer.from(profile))).toString("utf8");
  if (stored2 === profile) return;
  let remedy = profileNames.some((name3) => name3 === stored2) ? `start with --profile=${stored2}, or with another data directory` : "start with another data directory";
  throw new UsageError(
    `the store was made with the profile ${JSON.stringify(stored2)}, and names in it cannot change: ${remedy}`
  );
}
async function continueTokenKey(store) {
  return await settledValue(store, continueKey, () => randomBytes2(32));
}
async function settledValue(store, key, make) {
  let found = await store.get(key);
  if (found !== void 0) return Buffer.from(found.value);
  let value = make(), result = await store.commit({ key, expected: 0, value });
  return result.outcome === "committed" ? value : Buffer.from(result.current.value);
}
async function createSystemNamespaces(namespaces3) {
  let missing = systemNamespaces.filter(
    (name3) => namespaces3.cache.get(`${namespaces3.cache.prefix}${name3}`) === void 0
  );
  await Promise.all(missing.map((name3) => createNamespace(namespaces3, name3)));
}
async function createNamespace(resource, name3) {
  let object = { apiVersion: resource.apiVersion, kind: resource.kind.kind, metadata: { name: name3 } };
  resource.kind.fillDefaults?.(object, resource.context), await create({
    resource,
    namespace: "",
    subresource: "",
    user: { name: "system:apiserver", uid: "", groups: [superusers], extra: /* @__PURE__ */ new Map() },
    dryRun: !1,
    fieldManager: "orch",
    warn: () => {
    },
    admission: admitAll
  }, object).catch((error) => {
    if (!(error instanceof ApiError) || error.reason !== "AlreadyExists") throw error;
  });
}

// src/server/certificates.ts
import { X509Certificate as X509Certificate5 } from "node:crypto";
import { writeFileSync } from "node:fs";
import { mkdir as mkdir2, rename as rename2 } from "node:fs/promises";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { dirname as dirname2, join as join2 } from "node:path";
import { createSecureContext } from "node:tls";

// src/client/kubeconfig-write.ts
function adminKubeconfig({ server, authority, certificate, key }) {
  return `apiVersion: v1
kind: Config
clusters:
- name: orch
  cluster:
    server: ${quoted2(server)}
    certificate-authority-data: ${base64(authority)}
users:
- name: orch-admin
  user:
    client-certificate-data: ${base64(certificate)}
    client-key-data: ${base64(key)}
contexts:
- name: orch-admin@orch
  context:
    cluster: orch
    user: orch-admin
current-context: orch-admin@orch
`;
}
function quoted2(text4) {
  return JSON.stringify(text4);
}
function base64(pem) {
  return Buffer.from(pem).toString("base64");
}

// src/pki/authority.ts
import { X509Certificate as X509Certificate4 } from "node:crypto";
import { basename, join } from "node:path";

// src/pki/certificate.ts
import { X509Certificate as X509Certificate3 } from "node:crypto";
async function issueCertificate(template) {
  assertConsistent(template);
  let { encodeCertificate } = await import("./certificate-encoding-5JUFM2XH.js");
  return new X509Certificate3(encodeCertificate(template)).toString();
}

// src/pki/authority.ts
var day = 1440 * 60 * 1e3, backdate = day, lifetimes = { authority: 3650 * day, leaf: 365 * day }, noNames = { dns: [], ips: [] };
async function openAuthority(options) {
  let ca = await openCa(options);
  return {
    ...pemOf(ca),
    servingCertificate: (names3) => openLeaf(options, ca, servingLeaf(names3)),
    adminCertificate: () => openLeaf(options, ca, adminLeaf)
  };
}
function needsRenewal(certificate, now) {
  let { from, to } = validityOf(typeof certificate == "string" ? new X509Certificate4(certificate) : certificate);
  return now < from || now >= from + (to - from) * 2 / 3;
}
var adminLeaf = {
  file: "admin",
  subject: { commonName: "orch-admin", organizations: ["system:masters"] },
  usages: ["digital signature", "client auth"],
  names: noNames
};
function servingLeaf(names3) {
  return {
    file: "serving",
    subject: { commonName: "orch", organizations: [] },
    usages: ["digital signature", "server auth"],
    names: canonicalNames(names3)
  };
}
async function openCa(options) {
  let files = caFiles(options.directory), found = await readPair(files), ca = found.certificate === void 0 ? await makeCa(options, files, found.key) : found;
  return checkedCa(ca, files, options.clock.now());
}
async function makeCa(options, files, found) {
  await makePrivateDirectory(options.directory);
  let key = found ?? await makeKey(files), certificate = await issueCertificate({
    subject: { commonName: "orch-ca", organizations: [] },
    publicKey: publicKeyOf(key),
    issuer: { certificate: "self", key },
    usages: ["digital signature", "cert sign", "crl sign"],
    authority: !0,
    ...validFor(lifetimes.authority, options.clock.now()),
    ...randomOf(options)
  });
  return await createFile(files.certificate, certificate, "certificate"), await readPair(files);
}
function checkedCa(ca, { certificate: file, remedy }, now) {
  let { from, to } = validityOf(ca.certificate);
  if (!ca.certificate.ca) throw withRemedy(new DamagedFile(file, "is not the certificate of an authority"), remedy);
  if (now >= to) throw withRemedy(new DamagedFile(file, `expired at ${isoTime(to)}`), remedy);
  if (now < from)
    throw new PkiFileError(file, `is valid from ${isoTime(from)}, but the clock says ${isoTime(now)}: set the clock`);
  return ca;
}
async function openLeaf(options, ca, leaf) {
  let files = leafFiles(options.directory, leaf.file), found = await readPair(files), { certificate } = found;
  if (certificate !== void 0 && isFit(certificate, ca, leaf, options.clock.now())) return pemOf(found);
  await makePrivateDirectory(options.directory);
  let key = found.key ?? await makeKey(files), fresh = await issueLeaf(options, ca, { ...leaf, key });
  return await replaceFile(files.certificate, fresh, "certificate"), { certificate: fresh, key: keyToPem(key) };
}
function isFit(certificate, ca, leaf, now) {
  return certificate.checkIssued(ca.certificate) && certificate.verify(ca.certificate.publicKey) && !needsRenewal(certificate, now) && sameNames(readNames(certificate.raw), leaf.names);
}
function issueLeaf(options, ca, leaf) {
  let { notBefore, notAfter } = validFor(lifetimes.leaf, options.clock.now());
  return issueCertificate({
    subject: leaf.subject,
    publicKey: publicKeyOf(leaf.key),
    issuer: { certificate: ca.certificate.toString(), key: ca.key },
    usages: leaf.usages,
    names: leaf.names,
    notBefore,
    notAfter: Math.min(notAfter, validityOf(ca.certificate).to),
    ...randomOf(options)
  });
}
async function makeKey(files) {
  return await createFile(files.key, keyToPem(generateKey()), "key"), await readKeyFile(files.key);
}
async function readPair(files) {
  try {
    let certificate = await readCertificateFile(files.certificate), key = await readKeyFile(files.key);
    return assertBelong(files, certificate, key), { ...certificate && { certificate }, ...key && { key } };
  } catch (error) {
    throw error instanceof DamagedFile ? withRemedy(error, files.remedy) : error;
  }
}
function assertBelong(files, certificate, key) {
  let [certificateName, keyName] = [basename(files.certificate), basename(files.key)];
  if (certificate !== void 0) {
    if (key === void 0) throw new DamagedFile(files.key, `is missing, while ${certificateName} is there`);
    if (!certificate.checkPrivateKey(key))
      throw new DamagedFile(files.certificate, `does not belong to the key in ${keyName}`);
  }
}
function withRemedy(error, remedy) {
  return new DamagedFile(error.file, `${error.problem}. ${remedy}`, { cause: error });
}
function caFiles(directory) {
  return { certificate: join(directory, "ca.crt"), key: join(directory, "ca.key"), remedy: "Put back ca.crt and ca.key from a backup; or remove both, and a new authority is made at the next start, after which clients need its ca.crt and new certificates." };
}
function leafFiles(directory, file) {
  let remedy = `Remove ${file}.crt and ${file}.key, and both are made anew at the next start.`;
  return { certificate: join(directory, `${file}.crt`), key: join(directory, `${file}.key`), remedy };
}
function validFor(lifetime, now) {
  return { notBefore: now - backdate, notAfter: now + lifetime };
}
function validityOf(certificate) {
  return { from: certificate.validFromDate.getTime(), to: certificate.validToDate.getTime() };
}
function isoTime(milliseconds) {
  return new Date(milliseconds).toISOString();
}
function randomOf({ random }) {
  return random === void 0 ? {} : { random };
}
function pemOf({ certificate, key }) {
  return { certificate: certificate.toString(), key: keyToPem(key) };
}

// src/pki/renewal.ts
function renewWhenDue(options) {
  let { authority, names: names3, current: current2, signal, onError } = options, { everyMilliseconds = 36e5, schedule = scheduleUnreferenced } = options;
  if (signal.aborted) return;
  let looks = [
    lookFor(() => authority.servingCertificate(names3), current2.serving, options.onServing),
    lookFor(() => authority.adminCertificate(), current2.admin, options.onAdmin)
  ], cancel2 = schedule(turn, everyMilliseconds);
  signal.addEventListener("abort", () => cancel2(), { once: !0 });
  async function turn() {
    for (let look of looks) signal.aborted || await look().catch(onError);
    signal.aborted || (cancel2 = schedule(turn, everyMilliseconds));
  }
}
function lookFor(read2, current2, use) {
  let used = current2;
  return async () => {
    let found = await read2();
    found.certificate === used.certificate && found.key === used.key || (await use(found), used = found);
  };
}
function scheduleUnreferenced(run2, milliseconds) {
  let timer = setTimeout(run2, milliseconds).unref();
  return () => clearTimeout(timer);
}

// src/server/read-flag-file.ts
import { readFileSync } from "node:fs";
function readFlagFile(flag3, file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--${flag3}: cannot read ${file}: ${error.code ?? "unknown error"}`);
  }
}

// src/server/certificates.ts
async function openCertificates(options, clock) {
  let authority = await openAuthority({ directory: join2(options.dataDir, "pki"), clock }), given = givenPair(options), names3 = servingNames(options), serving = given ?? await authority.servingCertificate(names3), admin = await authority.adminCertificate(), clientCas = [
    authority.certificate,
    ...options.clientCaFile === "" ? [] : [readClientCas(options.clientCaFile)]
  ], contextOf = (pair2) => ({
    cert: pair2.certificate,
    key: pair2.key,
    ca: clientCas
  }), writeAdmin = (server, pair2) => writeConfig(options.adminKubeconfig, server, given?.certificate ?? authority.certificate, pair2);
  return {
    tls: contextOf(serving),
    writeAdminConfig: (server) => writeAdmin(server, admin),
    keepFresh: (server, { onRenewed, onError, signal }) => renewWhenDue({
      authority: given === void 0 ? authority : withGivenServing(authority, given),
      names: names3,
      current: { serving, admin },
      onServing: (pair2) => onRenewed(contextOf(pair2)),
      onAdmin: (pair2) => writeAdmin(server, pair2),
      onError,
      signal
    })
  };
}
function withGivenServing(authority, given) {
  return { ...authority, servingCertificate: async () => given };
}
function givenPair({ tlsCertFile, tlsPrivateKeyFile }) {
  if (tlsCertFile === "" && tlsPrivateKeyFile === "") return;
  if (tlsCertFile === "" || tlsPrivateKeyFile === "")
    throw new UsageError("--tls-cert-file and --tls-private-key-file go together");
  let pair2 = {
    certificate: readFlagFile("tls-cert-file", tlsCertFile),
    key: readFlagFile("tls-private-key-file", tlsPrivateKeyFile)
  };
  try {
    createSecureContext({ cert: pair2.certificate, key: pair2.key });
  } catch (error) {
    throw new UsageError(
      `--tls-cert-file and --tls-private-key-file: not a certificate and its key: ${error.message}`
    );
  }
  return pair2;
}
function readClientCas(file) {
  let pem = readFlagFile("client-ca-file", file), certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0) throw new UsageError(`--client-ca-file: ${file} holds no PEM certificate`);
  for (let [index, certificate] of certificates.entries())
    if (!isCertificate(certificate))
      throw new UsageError(`--client-ca-file: certificate ${index + 1} in ${file} is not one`);
  return pem;
}
function isCertificate(pem) {
  try {
    return new X509Certificate5(pem).raw.length > 0;
  } catch {
    return !1;
  }
}
function servingNames({ tlsSan, bindAddress, advertiseAddress }) {
  let host2 = hostname().toLowerCase(), names3 = ["localhost", .../^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host2) ? [host2] : [], ...tlsSan], addresses = ["127.0.0.1", "::1", advertiseAddress, bindAddress].filter(
    (address) => address !== "" && address !== "0.0.0.0" && address !== "::"
  ), all = [...names3, ...addresses];
  return { dns: unique(all.filter((name3) => isIP(name3) === 0)), ips: unique(all.filter((name3) => isIP(name3) !== 0)) };
}
function unique(items2) {
  return [...new Set(items2)];
}
async function writeConfig(file, server, authority, pair2) {
  if (file === "") return;
  await mkdir2(dirname2(file), { recursive: !0 });
  let fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, adminKubeconfig({ server, authority, ...pair2 }), { mode: 384 }), await rename2(fresh, file);
}

// src/authn/authenticator.ts
var none = { result: "none" }, refused = { result: "refused" };
function firstOf(strategies, anonymous) {
  let ask2 = (credentials, from, wrong) => {
    let refusals2 = wrong;
    for (let i = from; i < strategies.length; i++) {
      let outcome = strategies[i](credentials);
      if (outcome instanceof Promise) {
        let before = refusals2;
        return outcome.then(
          (later) => later.result === "user" ? known(later.user) : ask2(credentials, i + 1, before || later.result === "refused")
        );
      }
      if (outcome.result === "user") return known(outcome.user);
      refusals2 ||= outcome.result === "refused";
    }
    return refusals2 || anonymous === void 0 ? refused : { result: "user", user: anonymous };
  };
  return (credentials) => ask2(credentials, 0, !1);
}
function known(user) {
  return { result: "user", user: authenticated(user) };
}
var anonymousUser = {
  name: "system:anonymous",
  uid: "",
  groups: ["system:unauthenticated"],
  extra: /* @__PURE__ */ new Map()
};

// src/authn/client-certificate.ts
function clientCertificates(clock) {
  let known2 = /* @__PURE__ */ new WeakMap();
  return ({ certificate }) => {
    if (certificate === void 0) return none;
    if (!certificate.trusted) return refused;
    let reading = known2.get(certificate.x509) ?? read(certificate.x509);
    known2.set(certificate.x509, reading);
    let now = clock.now();
    return reading.user === void 0 || now < reading.from || now > reading.to ? refused : { result: "user", user: reading.user };
  };
}
function read(x509) {
  let { commonName, organizations } = readSubject(x509.raw);
  return { user: commonName ? { name: commonName, uid: "", groups: organizations, extra: /* @__PURE__ */ new Map() } : void 0, from: x509.validFromDate.getTime(), to: x509.validToDate.getTime() };
}

// src/authn/static-tokens.ts
import { hash as digest } from "node:crypto";

// src/authn/bearer.ts
function bearerToken(authorization) {
  return /^\s*bearer\s+(\S.*)$/i.exec(authorization ?? "")?.[1]?.trimEnd();
}

// src/authn/static-tokens.ts
function staticTokens(csv) {
  let users = readTokens(csv), known2 = /* @__PURE__ */ new WeakMap();
  return ({ authorization, connection }) => {
    if (authorization === void 0) return none;
    let before = known2.get(connection);
    if (before?.authorization === authorization) return before.outcome;
    let token = bearerToken(authorization);
    if (token === void 0) return none;
    let user = users.get(hash(token));
    if (user === void 0) return refused;
    let outcome = { result: "user", user };
    return known2.set(connection, { authorization, outcome }), outcome;
  };
}
function readTokens(csv) {
  let users = /* @__PURE__ */ new Map();
  for (let [index, line] of csv.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    let [token = "", name3 = "", uid = "", groups = ""] = splitCsv(line, index + 1).map((column2) => column2.trim());
    if (token === "" || name3 === "" || uid === "")
      throw new Error(`line ${index + 1}: at least three columns are needed: token, user name, user uid`);
    if (users.has(hash(token))) throw new Error(`line ${index + 1}: the token of this line occurs more than once`);
    let list3 = groups.split(",").filter((group) => group !== "");
    users.set(hash(token), { name: name3, uid, groups: list3, extra: /* @__PURE__ */ new Map() });
  }
  return users;
}
function splitCsv(line, number) {
  let columns2 = [], rest = line;
  for (; ; ) {
    let quoted3 = /^\s*"((?:[^"]|"")*)"\s*(,|$)/.exec(rest), plain2 = quoted3 ? null : /^([^",]*)(,|$)/.exec(rest), match = quoted3 ?? plain2;
    if (match === null) throw new Error(`line ${number}: a quote is not closed or stands in the middle of a column`);
    if (columns2.push(match[1].replaceAll('""', '"')), match[2] === "") return columns2;
    rest = rest.slice(match[0].length);
  }
}
function hash(token) {
  return digest("sha256", token, "base64");
}

// src/authz/authorizer.ts
var allow = { verdict: "allow", reason: "" }, noOpinion = { verdict: "no opinion", reason: "" }, alwaysAllow = () => allow, alwaysDeny = () => ({ verdict: "no opinion", reason: "everything is forbidden" }), privilegedGroup = ({ user }) => user.groups.includes(superusers) ? allow : noOpinion;
function openPaths(paths) {
  return ({ attributes }) => attributes.resource || attributes.verb !== "get" ? noOpinion : paths.some((path) => attributes.path === path || attributes.path.startsWith(`${path}/`)) ? allow : noOpinion;
}
function union(authorizers) {
  let ask2 = (question, from, reasons) => {
    let heard = reasons;
    for (let i = from; i < authorizers.length; i++) {
      let decision = authorizers[i](question);
      if (decision instanceof Promise)
        return decision.then(
          (later) => later.verdict === "no opinion" ? ask2(question, i + 1, noted(heard, later)) : later
        );
      if (decision.verdict !== "no opinion") return decision;
      heard = noted(heard, decision);
    }
    return { verdict: "no opinion", reason: heard.join(", ") };
  };
  return (question) => ask2(question, 0, []);
}
function noted(reasons, { reason }) {
  return reason === "" ? reasons : [...reasons, reason];
}

// src/server/identity.ts
function makeAuthenticator(options, clock) {
  let tokens = options.tokenAuthFile === "" ? staticTokens("") : tokensOf(options.tokenAuthFile), strategies = [clientCertificates(clock), tokens], onlyAllow = options.authorizationMode.every((mode2) => mode2 === "AlwaysAllow");
  return firstOf(strategies, onlyAllow ? void 0 : anonymousUser);
}
function tokensOf(file) {
  let csv = readFlagFile("token-auth-file", file);
  try {
    return staticTokens(csv);
  } catch (error) {
    throw new UsageError(`--token-auth-file: ${file}: ${error.message}`);
  }
}
var modes2 = { AlwaysAllow: alwaysAllow, AlwaysDeny: alwaysDeny };
function makeAuthorizer(names3) {
  return union([
    privilegedGroup,
    openPaths(["/livez", "/readyz", "/healthz", "/version"]),
    ...names3.map((name3) => modes2[name3])
  ]);
}

// src/server/in-process-transport.ts
import { Readable } from "node:stream";
var InProcess = class {
  #handleAs;
  #clock;
  #stop = new AbortController();
  #running = /* @__PURE__ */ new Set();
  constructor(handleAs, clock) {
    this.#handleAs = handleAs, this.#clock = clock;
  }
  transport(user) {
    let handle = this.#handleAs(actAs(authenticated(user)));
    return async (request) => {
      if (this.#stop.signal.aborted) throw new TransportError("the server has stopped");
      request.signal.throwIfAborted();
      let conversation = new Conversation(request);
      return this.#own(conversation, handle(new Exchange(conversation, this.#clock.monotonic()))), await conversation.answer;
    };
  }
  async close() {
    this.#stop.abort(), await Promise.all(this.#running);
  }
  #own(conversation, handled) {
    let onStop = () => conversation.leave(new TransportError("the server has stopped"));
    this.#stop.signal.addEventListener("abort", onStop);
    let running2 = handled.then(
      () => conversation.finish(void 0),
      (error) => conversation.finish(error)
    ).then(() => {
      this.#stop.signal.removeEventListener("abort", onStop), this.#running.delete(running2);
    });
    this.#running.add(running2);
  }
};
function actAs(user) {
  return (exchange) => {
    exchange.user = user;
  };
}
var maxWaitingBytes = 256 * 1024, nobody2 = { address: "", certificate: void 0 }, Conversation = class {
  method;
  target;
  rawHeaders;
  peer = nobody2;
  signal;
  body;
  answer;
  #gone = new AbortController();
  #begin;
  #refuse;
  #waiting = [];
  #bytes = 0;
  #complete = !1;
  /** Why there will be no more, if that is not because the answer is complete. */
  #broken;
  #wakeReader = () => {
  };
  #wakeWriter = () => {
  };
  #forget;
  constructor({ method, path, headers, body, signal }) {
    this.method = method, this.target = path, this.rawHeaders = Object.entries(headers).flat(), this.body = Readable.from(body === void 0 ? [] : [Buffer.from(body)]), this.signal = this.#gone.signal, this.answer = new Promise((resolve2, reject) => {
      this.#begin = resolve2, this.#refuse = reject;
    });
    let onAbort = () => this.leave(signal.reason);
    signal.addEventListener("abort", onAbort), this.#forget = () => signal.removeEventListener("abort", onAbort);
  }
  send(status9, headers, body) {
    this.open(status9, headers), this.method !== "HEAD" && this.#waiting.push(body), this.end();
  }
  open(status9, headers) {
    this.#begin({ status: status9, headers: plain(headers), body: this.#read() });
  }
  get gone() {
    return this.#broken !== void 0;
  }
  write(chunk) {
    if (!(this.#broken || this.#complete) && (this.#waiting.push(chunk), this.#bytes += chunk.length, this.#wakeReader(), !(this.#bytes <= maxWaitingBytes)))
      return new Promise((resolve2) => {
        this.#wakeWriter = resolve2;
      });
  }
  /** What waits for its reader is a copy: who passed the chunk uses its memory again. */
  async pass(chunk) {
    await this.write(Buffer.from(chunk));
  }
  end() {
    this.#complete = !0, this.#wakeReader();
  }
  cut() {
    this.leave(new TransportError("the server has cut off its answer"));
  }
  /** The client goes, or is made to. What was written and not read is dropped. */
  leave(why) {
    this.#complete || this.#broken || (this.#broken = { why }, this.#waiting = [], this.#gone.abort(), this.#refuse(why), this.#wakeReader(), this.#wakeWriter());
  }
  /** The server is done with it, whether or not it has answered in full. */
  finish(error) {
    this.#forget(), this.leave(new TransportError("the server gave no complete answer", { cause: error }));
  }
  async *#read() {
    try {
      for (; ; ) {
        let chunks = this.#take();
        if (yield* chunks, this.#broken) throw this.#broken.why;
        if (!(chunks.length > 0)) {
          if (this.#complete) return;
          await new Promise((resolve2) => {
            this.#wakeReader = resolve2;
          });
        }
      }
    } finally {
      this.leave(new TransportError("the reader has left"));
    }
  }
  #take() {
    let taken = this.#waiting;
    return this.#waiting = [], this.#bytes = 0, this.#wakeWriter(), taken;
  }
};
function plain(headers) {
  let merged = /* @__PURE__ */ new Map();
  for (let i = 0; i < headers.length; i += 2) {
    let [name3, value] = [headers[i], headers[i + 1]], before = merged.get(name3);
    merged.set(name3, before === void 0 ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(merged);
}

// src/telemetry/metrics.ts
var other = "other", SeriesMap = class {
  #labels;
  #make;
  #series = /* @__PURE__ */ new Map();
  constructor(labels, make) {
    this.#labels = labels, this.#make = make;
  }
  at(values) {
    let key = values.join("\0"), known2 = this.#series.get(key);
    if (known2 !== void 0) return known2.series;
    let others = this.#labels.map(() => other);
    if (this.#series.size >= 5e3 && key !== others.join("\0")) return this.at(others);
    let series3 = this.#make();
    return this.#series.set(key, { values, series: series3 }), series3;
  }
  *entries() {
    for (let { values, series: series3 } of this.#series.values())
      yield [Object.fromEntries(this.#labels.map((label, i) => [label, values[i]])), series3];
  }
}, Counter = class {
  name;
  help;
  type = "counter";
  #series;
  constructor({ name: name3, help, labels }) {
    this.name = name3, this.help = help, this.#series = new SeriesMap(labels, () => ({ value: 0 }));
  }
  /** The number with these label values, in the order of the labels. */
  at(...values) {
    return this.#series.at(values);
  }
  samples() {
    return [...this.#series.entries()].map(([labels, { value }]) => ({ labels, value }));
  }
}, Gauge = class {
  name;
  help;
  type = "gauge";
  #read;
  #labels;
  constructor({ name: name3, help, labels }, read2) {
    this.name = name3, this.help = help, this.#labels = labels, this.#read = read2;
  }
  samples() {
    return [...this.#read()].map(([values, value]) => ({
      labels: Object.fromEntries(this.#labels.map((label, i) => [label, values[i]])),
      value
    }));
  }
}, Distribution = class {
  #bounds;
  /** By bound, each for itself; the last is for what is above all. */
  counts;
  sum = 0;
  constructor(bounds) {
    this.#bounds = bounds, this.counts = new Array(bounds.length + 1).fill(0);
  }
  observe(value) {
    let low = 0, high = this.#bounds.length;
    for (; low < high; ) {
      let middle = low + high >>> 1;
      value <= this.#bounds[middle] ? high = middle : low = middle + 1;
    }
    this.counts[low]++, this.sum += value;
  }
}, Histogram = class {
  name;
  help;
  type = "histogram";
  #bounds;
  #series;
  constructor({ name: name3, help, labels }, bounds) {
    this.name = name3, this.help = help, this.#bounds = bounds, this.#series = new SeriesMap(labels, () => new Distribution(bounds));
  }
  at(...values) {
    return this.#series.at(values);
  }
  samples() {
    return [...this.#series.entries()].flatMap(([labels, { counts, sum }]) => {
      let below = 0;
      return [
        ...counts.map((count2, i) => {
          below += count2;
          let le = this.#bounds[i] ?? "+Inf";
          return { metricName: `${this.name}_bucket`, labels: { ...labels, le }, value: below };
        }),
        { metricName: `${this.name}_sum`, labels, value: sum },
        { metricName: `${this.name}_count`, labels, value: below }
      ];
    });
  }
};

// src/http/request-metrics.ts
var place2 = ["group", "version", "resource", "subresource", "scope", "verb"], durations = [1e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60], sizes = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9], RequestMetrics = class {
  #clock;
  #total = new Counter({
    name: "apiserver_request_total",
    help: "How many requests were answered, by what they asked for and the code of the answer.",
    labels: [...place2, "dry_run", "code"]
  });
  #durations = new Histogram(
    {
      name: "apiserver_request_duration_seconds",
      help: "How long requests took, from their arrival to the end of the answer; watches are not counted.",
      labels: place2
    },
    durations
  );
  #sizes = new Histogram(
    { name: "apiserver_response_sizes", help: "How large answers were, in bytes.", labels: place2 },
    sizes
  );
  #deprecated = new Counter({
    name: "apiserver_requested_deprecated_apis",
    help: "Versions that were asked for although they are deprecated, and when they may be gone.",
    labels: ["group", "version", "resource", "subresource", "removed_release"]
  });
  #underWay = { readOnly: 0, mutating: 0, longRunning: 0 };
  #known = /* @__PURE__ */ new WeakMap();
  #unknown = /* @__PURE__ */ new Map();
  metrics = [
    this.#total,
    this.#durations,
    this.#sizes,
    this.#deprecated,
    new Gauge(
      {
        name: "apiserver_current_inflight_requests",
        help: "How many requests are under way, but for watches.",
        labels: ["request_kind"]
      },
      () => [
        [["readOnly"], this.#underWay.readOnly],
        [["mutating"], this.#underWay.mutating]
      ]
    ),
    new Gauge(
      { name: "apiserver_longrunning_requests", help: "How many watches are under way.", labels: ["verb"] },
      () => [[["WATCH"], this.#underWay.longRunning]]
    )
  ];
  constructor(clock) {
    this.#clock = clock;
  }
  /** A request begins that is understood. `end` must follow. */
  begin(exchange) {
    this.#underWay[classOf2(exchange)]++;
  }
  end(exchange) {
    exchange.info !== void 0 && this.#underWay[classOf2(exchange)]--;
    let series3 = this.#seriesOf(exchange);
    series3.total.value++, series3.duration?.observe((this.#clock.monotonic() - exchange.arrived) / 1e3), series3.size?.observe(exchange.sentBytes);
  }
  #seriesOf(exchange) {
    let { served, info, status: status9 } = exchange, known2 = served === void 0 ? this.#unknown : this.#seriesOfType(served), dryRun = info?.query.has("dryRun") ? "All" : "", key = `${info?.verb ?? ""}/${served === void 0 || !info?.resource ? "" : info.subresource}/${dryRun}/${status9}`, series3 = known2.get(key) ?? this.#open(exchange, dryRun);
    return known2.set(key, series3), series3;
  }
  #seriesOfType(served) {
    let series3 = this.#known.get(served) ?? /* @__PURE__ */ new Map();
    return this.#known.set(served, series3), series3;
  }
  #open(exchange, dryRun) {
    let labels = labelsOf(exchange), isWatch = exchange.info?.verb === "watch";
    return this.#countDeprecated(exchange), {
      total: this.#total.at(...labels, dryRun, String(exchange.status)),
      duration: isWatch ? void 0 : this.#durations.at(...labels),
      size: isWatch ? void 0 : this.#sizes.at(...labels)
    };
  }
  /** Set once: it tells that it happens, not how often. */
  #countDeprecated({ served, info }) {
    if (served?.kind.deprecated === void 0 || !info?.resource) return;
    let { group, plural, kind } = served, release2 = served.kind.deprecated.until.replace(/^v/, "");
    this.#deprecated.at(group, kind.version, plural, info.subresource, release2).value = 1;
  }
};
function classOf2({ info }) {
  return info.verb === "watch" ? "longRunning" : info.verb === "get" || info.verb === "list" || info.verb === "head" ? "readOnly" : "mutating";
}
var methods = /* @__PURE__ */ new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]), verbs = {
  create: "POST",
  update: "PUT",
  deletecollection: "DELETECOLLECTION"
};
function labelsOf({ served, info, transport }) {
  if (served === void 0 || !info?.resource)
    return ["", "", "", "", "", methods.has(transport.method) ? transport.method : "other"];
  let { group, plural, kind } = served, scope = info.name !== "" ? "resource" : info.namespace !== "" ? "namespace" : "cluster";
  return [group, kind.version, plural, info.subresource, scope, verbs[info.verb] ?? info.verb.toUpperCase()];
}

// src/telemetry/exposition.ts
var Exposer = class {
  #metrics;
  #registry;
  constructor(metrics) {
    this.#metrics = metrics;
  }
  async expose() {
    this.#registry ??= openRegistry(this.#metrics);
    let registry = await this.#registry;
    return { mediaType: registry.contentType, text: await registry.metrics() };
  }
  /** Stops the timers of the library. */
  async close() {
    (await this.#registry)?.clear();
  }
};
async function openRegistry(metrics) {
  let { collectDefaultMetrics, Registry } = await import("./prom-client-HQLU6DVX.js"), registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (let metric2 of metrics) registry.registerMetric(adapted(metric2));
  return registry;
}
function adapted(metric2) {
  let { name: name3, help, type: type3 } = metric2;
  return { name: name3, help, get: async () => ({ name: name3, help, type: type3, values: metric2.samples(), aggregator: "sum" }) };
}

// src/server/metrics.ts
function openMetrics(catalogue, clock) {
  let requests = new RequestMetrics(clock);
  return { requests, exposer: new Exposer([...requests.metrics, storedObjects(catalogue)]) };
}
function storedObjects(catalogue) {
  return new Gauge(
    { name: "apiserver_storage_objects", help: "How many objects of each type are stored.", labels: ["resource"] },
    () => catalogue.all().flatMap((served) => served.endpoint === void 0 && served.stored === void 0 ? [served] : []).map(({ group, plural, cache }) => [[group === "" ? plural : `${plural}.${group}`], cache.size])
  );
}

// src/http/verbs/answer.ts
async function handleAnswer(call) {
  let { exchange, info, served, endpoint } = call, { vendor } = served;
  exchange.form = negotiate({ headers: exchange.headers, query: info.query, watch: !1, vendor }, !1).form, exchange.agreed = !0;
  let { dryRun } = readWriteOptions(info.query, { kind: "CreateOptions", vendor, faults: [] }), sent = info.verb === "create" ? await readSent(call) : void 0, object = await admit2(call, sent, dryRun), { verb, namespace: namespace2, name: name3, query } = info, answer2 = await endpoint.answer({ verb, namespace: namespace2, name: name3, query, user: exchange.user, dryRun, object });
  answer2 === void 0 ? exchange.send(204, exchange.form.mediaType, Buffer.alloc(0)) : await sendObject(exchange, verb === "create" ? 201 : 200, answer2);
}
async function readSent({ exchange, served, endpoint }) {
  let type3 = endpoint.type === void 0 ? served : serveKind(endpoint.type, served.vendor, []), object = await readObjectBody(exchange, type3), { kind, context } = type3, errors = [...validate(kind.schema, object, context), ...kind.validate?.(object, context) ?? []];
  if (errors.length > 0) throw invalidObject({ group: type3.group, kind: kind.kind }, object.metadata.name ?? "", errors);
  return object;
}
async function admit2(call, sent, dryRun) {
  let { admission, endpoint } = call;
  if (endpoint.admits === void 0) return sent;
  let object = await admission.mutate(requestOf(call, sent, dryRun)) ?? sent;
  return await admission.validate(requestOf(call, object, dryRun)), object;
}
function requestOf({ exchange, info, endpoint }, object, dryRun) {
  let { group, plural, subresource, namespace: namespace2, name: name3 } = info, { user } = exchange;
  return { operation: endpoint.admits ?? "CREATE", group, plural, subresource, namespace: namespace2, name: name3, user, dryRun, object, oldObject: void 0 };
}

// src/http/verbs/create.ts
var handleCreate = async (request) => {
  let context = writeContext(request, "CreateOptions"), object = await readObjectBody(request.exchange, request.resource);
  assertNamespace(object, request.info.namespace), await sendBytes(request.exchange, 201, await create(context, object));
};
function assertNamespace({ metadata }, namespace2) {
  if (namespace2 !== "" && metadata.namespace !== void 0 && metadata.namespace !== namespace2)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

// src/http/query.ts
function wholeNumber(query, name3) {
  let text4 = query.get(name3);
  if (text4 !== null) {
    if (!/^-?\d{1,19}$/.test(text4))
      throw badRequest(`invalid ${name3} ${JSON.stringify(text4.slice(0, 50))}: it must be an integer`);
    return Math.min(Number(text4), Number.MAX_SAFE_INTEGER);
  }
}
function text3(query, name3) {
  return query.get(name3) ?? "";
}

// src/http/delete-options.ts
async function readDeleteOptions(exchange, vendor) {
  let { query } = exchange.info, body = await readOptionalContent(exchange), sent = body === void 0 ? fromQuery(query) : decodeOptions(body.value), dryRuns = [...sent.dryRun ?? [], ...query.getAll("dryRun")].filter((value) => value !== ""), errors = check(sent, dryRuns);
  if (errors.length > 0) throw invalidObject({ group: groupName(vendor, "meta"), kind: "DeleteOptions" }, "", errors);
  return {
    gracePeriodSeconds: sent.gracePeriodSeconds,
    propagation: propagationOf(sent),
    uid: sent.preconditions?.uid,
    resourceVersion: sent.preconditions?.resourceVersion,
    dryRun: dryRuns.length > 0,
    waits: sent.orphanDependents === !1
  };
}
function decodeOptions(value) {
  let sent = decode(deleteOptions, value).value;
  if (sent.kind !== void 0 && sent.kind !== "DeleteOptions")
    throw badRequest(`the body of a delete is a DeleteOptions, not a ${sent.kind.slice(0, 50)}`);
  return sent;
}
function fromQuery(query) {
  let grace = wholeNumber(query, "gracePeriodSeconds"), policy2 = query.get("propagationPolicy"), orphan = query.has("orphanDependents") ? isTrue(query, "orphanDependents") : void 0;
  return {
    ...grace === void 0 ? {} : { gracePeriodSeconds: grace },
    ...policy2 === null ? {} : { propagationPolicy: policy2 },
    ...orphan === void 0 ? {} : { orphanDependents: orphan }
  };
}
var policies = ["Foreground", "Background", "Orphan"];
function check(sent, dryRuns) {
  let { propagationPolicy: policy2, orphanDependents } = sent;
  return [
    ...policy2 !== void 0 && orphanDependents !== void 0 ? [invalid("propagationPolicy", policy2, "orphanDependents and deletionPropagation cannot be both set")] : [],
    ...policy2 !== void 0 && !policies.includes(policy2) ? [notSupported("propagationPolicy", policy2, [...policies, "nil"])] : [],
    ...dryRuns.every((value) => value === "All") ? [] : [notSupported("dryRun", dryRuns, ["All"])]
  ];
}
function propagationOf({ propagationPolicy, orphanDependents }) {
  return propagationPolicy !== void 0 ? propagationPolicy : orphanDependents === void 0 ? void 0 : orphanDependents ? "Orphan" : "Background";
}

// src/http/verbs/delete.ts
var handleDelete = async (request) => {
  let { exchange, info, resource } = request, options = await readDeleteOptions(exchange, resource.vendor), context = { ...writeContext(request, "DeleteOptions"), dryRun: options.dryRun }, { object, removed } = await deleteObject(context, info.name, options), code = !removed && options.waits ? 202 : 200;
  removed && resource.kind.deleteAnswers !== "object" ? await sendStatus(exchange, code, deletedStatus(resource, object)) : await sendObject(exchange, code, object);
};
function deletedStatus({ group, plural }, { metadata }) {
  return success({ name: metadata.name, ...group === "" ? {} : { group }, kind: plural, uid: metadata.uid });
}

// src/registry/versions.ts
var waitMs = 3e3;
async function waitForVersion({ caches, store }, revision) {
  if (!(caches.revision >= revision) && (await store.revision(), !await caches.reached(revision, waitMs)))
    throw tooLarge(revision, caches.revision);
}
function tooLarge(revision, current2) {
  return timeout(`Timeout: Too large resource version: ${revision}, current: ${current2}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1
  });
}

// src/registry/list.ts
async function list(resource, query) {
  let at2 = await chooseState(resource, query);
  return at2 === "now" ? pageOfCache(resource, query, resource.caches.revision) : isUnchangedSince(resource, at2.exact) ? pageOfCache(resource, query, at2.exact, at2.after) : await pageOfStore(resource, query, at2.exact, at2.after);
}
async function chooseState(resource, query) {
  if (query.continueToken !== "") return continued(resource, query);
  if (query.resourceVersion === "")
    return await readMostRecent(resource), "now";
  let revision = parseVersion(query.resourceVersion), exact = query.match === "Exact" || query.match === "" && query.limit > 0 && revision !== 0;
  return await waitForVersion(resource, revision), exact ? { exact: revision } : "now";
}
function continued(resource, query) {
  if (query.resourceVersion !== "" && query.resourceVersion !== "0")
    throw badRequest("specifying resource version is not allowed when using continue");
  let { revision, after } = resource.continueTokens.read(query.continueToken, query.scope);
  return { exact: revision, after };
}
function isUnchangedSince(resource, revision) {
  return resource.caches.revision >= revision && resource.cache.changedAt <= revision;
}
function pageOfCache(resource, query, revision, after) {
  let { selection, limit } = query, found = fromCache(resource, selection, after, limit === 0 ? Number.POSITIVE_INFINITY : limit + 1);
  if (limit === 0) return { revision, objects: found, continueToken: "", remaining: void 0 };
  let objects = found.slice(0, limit), remaining = found.length > limit ? countRest(resource, selection, objects) : 0;
  return finishPage(resource, query, { revision, objects, remaining });
}
function countRest({ cache }, { namespace: namespace2, matches: matches2 }, page) {
  return matches2 === void 0 ? cache.countAfter(namespace2, page.at(-1).key) : 1;
}
function fromCache(resource, selection, after, limit) {
  let { namespace: namespace2, name: name3, matches: matches2 } = selection;
  if (name3 === void 0 || namespace2 === void 0 && resource.kind.scope === "Namespaced")
    return resource.cache.objects({ ...selection, after, limit });
  let key = keyOf(resource, namespace2 ?? "", name3), object = after === void 0 || after < key ? resource.cache.get(key) : void 0;
  return object && (matches2 === void 0 || matches2(object)) ? [object] : [];
}
async function pageOfStore(resource, query, revision, after) {
  let { selection, limit } = query, prefix = selection.namespace === void 0 ? resource.cache.prefix : `${resource.cache.prefix}${selection.namespace}/`, objects = [], position = after, remaining = 0;
  do {
    let wanted = limit === 0 ? storePage : limit - objects.length, page = await readExact(resource, {
      prefix,
      revision,
      limit: wanted,
      count: selection.matches === void 0,
      ...position === void 0 ? {} : { after: position }
    });
    objects.push(
      ...page.entries.map(({ key, revision: revision2, value }) => resource.cache.read(key, revision2, value)).filter((object) => isWanted(selection, object))
    ), position = page.entries.at(-1)?.key, remaining = page.remaining;
  } while (remaining > 0 && (limit === 0 || objects.length < limit));
  return finishPage(resource, query, { revision, objects, remaining, position });
}
var storePage = 500;
function isWanted({ name: name3, matches: matches2 }, object) {
  return (name3 === void 0 || object.name === name3) && (matches2 === void 0 || matches2(object));
}
async function readExact(resource, range) {
  try {
    return await resource.store.list(range);
  } catch (error) {
    throw error instanceof RevisionGone ? expired(
      "The provided continue parameter or resourceVersion is too old: the server keeps history for a few minutes only. Start a new list without it."
    ) : error instanceof RevisionAhead ? tooLarge(error.revision, error.current) : error;
  }
}
function finishPage(resource, query, { revision, objects, remaining, position }) {
  if (remaining === 0) return { revision, objects, continueToken: "", remaining: void 0 };
  let after = position ?? objects.at(-1).key;
  return {
    revision,
    objects,
    continueToken: resource.continueTokens.write({ revision, after }, query.scope),
    remaining: query.selection.matches === void 0 && query.selection.name === void 0 ? remaining : void 0
  };
}

// src/registry/delete-collection.ts
async function deleteCollection(context, query, options) {
  let page = await list(context.resource, query);
  for (let { namespace: namespace2, name: name3 } of page.objects)
    await deleteOne({ ...context, namespace: namespace2 }, name3, options);
  return page;
}
async function deleteOne(context, name3, options) {
  try {
    await deleteObject(context, name3, options);
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return;
    throw error;
  }
}

// src/model/field-selector.ts
var maxLength = 64 * 1024;
function parseFieldSelector(text4) {
  if (text4.length > maxLength) throw badRequest(`the field selector is longer than ${maxLength} characters`);
  return splitTerms(text4).filter((term) => term !== "").map(parseTerm);
}
function splitTerms(text4) {
  let terms = [], start = 0;
  for (let i = 0; i < text4.length; i++)
    text4[i] === "\\" ? i++ : text4[i] === "," && (terms.push(text4.slice(start, i)), start = i + 1);
  return [...terms, text4.slice(start)];
}
function parseTerm(term) {
  for (let i = 0; i < term.length; i++) {
    let operator = ["!=", "==", "="].find((candidate) => term.startsWith(candidate, i));
    if (operator !== void 0)
      return { path: term.slice(0, i), equal: operator !== "!=", value: unescaped(term.slice(i + operator.length), term) };
  }
  throw badRequest(
    `invalid field selector ${JSON.stringify(term.slice(0, 100))}: expected <field>=<value> or <field>!=<value>`
  );
}
function unescaped(value, term) {
  let text4 = "";
  for (let i = 0; i < value.length; i++) {
    let unit = value[i];
    if (unit === "\\") {
      let next = value[++i];
      if (next === void 0 || !"\\,=".includes(next))
        throw badRequest(
          `invalid field selector ${JSON.stringify(term.slice(0, 100))}: a backslash must precede ',', '=' or '\\'`
        );
      text4 += next;
    } else {
      if (unit === "=")
        throw badRequest(`invalid field selector ${JSON.stringify(term.slice(0, 100))}: '=' in a value is written '\\='`);
      text4 += unit;
    }
  }
  return text4;
}
function matchesFields(requirements, fieldValue) {
  return requirements.every(({ path, equal, value }) => (fieldValue(path) ?? "") === value === equal);
}

// src/model/label-selector.ts
var maxLength2 = 64 * 1024, maxRequirements = 1e3;
function parseLabelSelector(text4) {
  if (text4.length > maxLength2) throw badRequest(`the label selector is longer than ${maxLength2} characters`);
  let parser = new Parser(text4), requirements = [];
  if (parser.skipSpace(), parser.atEnd()) return [];
  do
    if (requirements.push(parser.requirement()), requirements.length > maxRequirements)
      throw badRequest(`the label selector has more than ${maxRequirements} requirements`);
  while (parser.comma());
  return requirements;
}
function matchesLabels(requirements, labels) {
  return requirements.every((requirement3) => matchesOne(requirement3, labelValue(labels, requirement3.key)));
}
function matchesOne(requirement3, value) {
  switch (requirement3.op) {
    case "in":
      return value !== void 0 && requirement3.values.includes(value);
    case "notin":
      return value === void 0 || !requirement3.values.includes(value);
    case "exists":
      return value !== void 0;
    case "absent":
      return value === void 0;
    case "gt":
      return value !== void 0 && /^-?\d+$/.test(value) && Number(value) > requirement3.value;
    case "lt":
      return value !== void 0 && /^-?\d+$/.test(value) && Number(value) < requirement3.value;
    default:
      return requirement3;
  }
}
function labelValue(labels, key) {
  return labels !== void 0 && Object.hasOwn(labels, key) ? labels[key] : void 0;
}
var Parser = class {
  #text;
  #at = 0;
  constructor(text4) {
    this.#text = text4;
  }
  requirement() {
    if (this.skipSpace(), this.#eat("!")) return { op: "absent", key: this.#key() };
    let key = this.#key();
    if (this.skipSpace(), this.atEnd() || this.#peek() === ",") return { op: "exists", key };
    if (this.#eat("!=")) return { op: "notin", key, values: [this.#value(key)] };
    if (this.#eat("==") || this.#eat("=")) return { op: "in", key, values: [this.#value(key)] };
    if (this.#eat(">")) return { op: "gt", key, value: this.#number(key) };
    if (this.#eat("<")) return { op: "lt", key, value: this.#number(key) };
    let word = this.#word();
    if (word === "in" || word === "notin") return { op: word, key, values: this.#values(key) };
    throw this.#unexpected(`an operator after ${JSON.stringify(key)}`, this.#at - word.length);
  }
  comma() {
    if (this.skipSpace(), this.atEnd()) return !1;
    if (!this.#eat(",")) throw this.#unexpected("',' or the end");
    return !0;
  }
  skipSpace() {
    for (; ` 	\r
`.includes(this.#text[this.#at] ?? "-"); ) this.#at++;
  }
  atEnd() {
    return this.#at >= this.#text.length;
  }
  #key() {
    this.skipSpace();
    let key = this.#word(), errors = key === "" ? ["a label key is needed"] : checkQualifiedName(key);
    if (errors.length > 0) throw this.#fault(`${JSON.stringify(key.slice(0, 100))} is no label key: ${errors[0]}`);
    return key;
  }
  #value(key) {
    this.skipSpace();
    let value = this.#word(), errors = checkLabelValue(value);
    if (errors.length > 0)
      throw this.#fault(`${JSON.stringify(value.slice(0, 100))} is no value for ${key}: ${errors[0]}`);
    return value;
  }
  #number(key) {
    let value = this.#value(key);
    if (!/^-?\d{1,18}$/.test(value)) throw this.#fault(`${key}: for '>' and '<' the value must be an integer`);
    return Number(value);
  }
  #values(key) {
    if (this.skipSpace(), !this.#eat("(")) throw this.#unexpected("'('");
    let values = [];
    do
      values.push(this.#value(key)), this.skipSpace();
    while (this.#eat(","));
    if (!this.#eat(")")) throw this.#unexpected("',' or ')'");
    return values;
  }
  #word() {
    let start = this.#at;
    for (; !this.atEnd() && !` 	\r
!=<>,()`.includes(this.#text[this.#at]); ) this.#at++;
    return this.#text.slice(start, this.#at);
  }
  #peek() {
    return this.#text[this.#at];
  }
  #eat(token) {
    return this.#text.startsWith(token, this.#at) ? (this.#at += token.length, !0) : !1;
  }
  #unexpected(wanted, at2 = this.#at) {
    let found = at2 >= this.#text.length ? "the end" : JSON.stringify(this.#text.slice(at2, at2 + 20));
    return this.#fault(`expected ${wanted}, found ${found}`);
  }
  #fault(what) {
    return badRequest(`unable to parse the label selector at character ${this.#at + 1}: ${what}`);
  }
};

// src/registry/selection.ts
function parseSelection(resource, query) {
  let labels = parseLabelSelector(query.labelSelector), fields23 = parseFieldSelector(query.fieldSelector).map((field2) => storedField(resource, field2)), byName2 = query.name ?? exactName(fields23);
  return {
    namespace: query.namespace,
    name: byName2,
    labels,
    fields: fields23,
    demand: labels.find((label) => label.op === "in"),
    matches: matcher(labels, fields23)
  };
}
function matcher(labels, fields23) {
  if (!(labels.length === 0 && fields23.length === 0))
    return (object) => matchesLabels(labels, object.selectable.labels) && matchesFields(fields23, (path) => fieldOf(object, path));
}
function fieldOf(object, path) {
  return path === "metadata.name" ? object.name : path === "metadata.namespace" ? object.namespace : object.selectable.fields?.[path];
}
function exactName(fields23) {
  return fields23.find(({ path, equal, value }) => path === "metadata.name" && equal && value !== "")?.value;
}
function storedField(resource, field2) {
  let names3 = selectorNames2(resource), path = names3.get(field2.path);
  if (path !== void 0) return { ...field2, path };
  let known2 = [...names3.keys()].map((name3) => `"${name3}"`).join(", ");
  throw badRequest(`${JSON.stringify(field2.path.slice(0, 100))} is not a known field selector: only ${known2}`);
}
function selectorNames2(resource) {
  let { kind, empty: empty2 } = resource.stored ?? resource, common = ["metadata.name", ...kind.scope === "Namespaced" ? ["metadata.namespace"] : []], own2 = resource.kind.selectorNames ?? sameNames2(Object.keys(kind.selectable?.(empty2) ?? {}));
  return new Map([...Object.entries(sameNames2(common)), ...Object.entries(own2)]);
}
function sameNames2(paths) {
  return Object.fromEntries(paths.map((path) => [path, path]));
}

// src/http/list-options.ts
function readSelection({ info, resource }) {
  return parseSelection(resource, {
    namespace: info.namespace === "" ? void 0 : info.namespace,
    name: info.name === "" ? void 0 : info.name,
    labelSelector: text3(info.query, "labelSelector"),
    fieldSelector: text3(info.query, "fieldSelector")
  });
}
function readListQuery(request) {
  let { exchange, info, resource } = request, { query } = info;
  return checkVersionMatch(query, resource.vendor, !1), wholeNumber(query, "timeoutSeconds"), {
    selection: readSelection(request),
    limit: Math.max(wholeNumber(query, "limit") ?? 0, 0),
    continueToken: text3(query, "continue"),
    resourceVersion: text3(query, "resourceVersion"),
    match: text3(query, "resourceVersionMatch"),
    scope: JSON.stringify([exchange.user.name, info.path, text3(query, "labelSelector"), text3(query, "fieldSelector")])
  };
}
var matches = ["Exact", "NotOlderThan", ""];
function checkVersionMatch(query, vendor, watch3) {
  let match = text3(query, "resourceVersionMatch");
  if (match === "") return;
  let path = "resourceVersionMatch", version2 = text3(query, "resourceVersion"), errors = [];
  if (watch3 ? errors.push(forbidden(path, "resourceVersionMatch is forbidden for watch")) : (version2 === "" && errors.push(forbidden(path, "resourceVersionMatch is forbidden unless resourceVersion is provided")), text3(query, "continue") !== "" && errors.push(forbidden(path, "resourceVersionMatch is forbidden when continue is provided")), matches.includes(match) || errors.push(notSupported(path, match, matches)), match === "Exact" && version2 === "0" && errors.push(forbidden(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))), errors.length > 0) throw invalidObject({ group: groupName(vendor, "meta"), kind: "ListOptions" }, "", errors);
}

// src/http/verbs/delete-collection.ts
var handleDeleteCollection = async (request) => {
  let { exchange, resource } = request, query = readListQuery(request), options = await readDeleteOptions(exchange, resource.vendor), context = { ...writeContext(request, "DeleteOptions"), dryRun: options.dryRun }, page = await deleteCollection(context, query, options), { group, plural } = resource, metadata = {
    ...page.continueToken === "" ? {} : { continue: page.continueToken },
    ...page.remaining === void 0 ? {} : { remainingItemCount: page.remaining }
  };
  await sendStatus(exchange, 200, { ...success({ ...group === "" ? {} : { group }, kind: plural }), metadata });
};

// src/registry/get.ts
function get(resource, query) {
  let { resourceVersion } = query, wait = resourceVersion === "" ? readMostRecent(resource) : waitForVersion(resource, parseVersion(resourceVersion));
  return wait === void 0 ? find2(resource, query) : wait.then(() => find2(resource, query));
}
function find2(resource, { namespace: namespace2, name: name3 }) {
  let object = resource.cache.get(keyOf(resource, namespace2, name3));
  if (object === void 0) throw notFound2(resource, name3);
  return object;
}

// src/http/verbs/get.ts
var handleGet = ({ exchange, info, resource }) => {
  let { namespace: namespace2, name: name3, query } = info, found = get(resource, { namespace: namespace2, name: name3, resourceVersion: text3(query, "resourceVersion") });
  return found instanceof Promise ? found.then((object) => sendBytes(exchange, 200, jsonOf(resource, object.json))) : sendBytes(exchange, 200, jsonOf(resource, found.json));
};

// src/http/verbs/list.ts
var handleList = async (request) => {
  let { exchange, resource } = request, page = await list(resource, readListQuery(request)), start = Buffer.from(head(resource, page)), size = page.objects.reduce(
    (sum, { json: json2 }) => sum + json2.length,
    start.length + openBrace.length + closing.length
  );
  await sendChunks(exchange, (memory) => listJson(resource, { start, objects: page.objects }, memory), size);
};
function* listJson(resource, { start, objects }, memory) {
  let typed = typePrefix(resource), chunk = memory(), used = start.copy(chunk), brace = openBrace;
  for (let object of objects) {
    let json2 = jsonOf(resource, object.json);
    checkType2(object, json2, typed), used += brace.copy(chunk, used), brace = commaBrace;
    let full = chunk.length - closing.length;
    used + json2.length > full && (yield chunk.subarray(0, used), chunk = memory(), used = 0), json2.length > full ? yield json2.subarray(typed.length) : used += json2.copy(chunk, used, typed.length);
  }
  yield chunk.subarray(0, used + closing.copy(chunk, used));
}
var openBrace = Buffer.from("{"), commaBrace = Buffer.from(",{"), closing = Buffer.from("]}");
function checkType2(object, json2, typed) {
  if (json2.compare(typed, 0, typed.length, 0, typed.length) !== 0)
    throw new TypeError(`${object.key} is stored as another kind`);
}
function typePrefix({ apiVersion, kind }) {
  return Buffer.from(`{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind.kind)},`);
}
function head({ apiVersion, kind }, page) {
  let metadata = {
    ...page.continueToken === "" ? {} : { continue: page.continueToken },
    ...page.remaining === void 0 ? {} : { remainingItemCount: page.remaining },
    resourceVersion: formatVersion(page.revision)
  };
  return `{"apiVersion":${JSON.stringify(apiVersion)},"kind":"${kind.kind}List","metadata":${JSON.stringify(metadata)},"items":[`;
}

// src/registry/watch.ts
async function watch2(resource, query) {
  return query.resourceVersion === "" || query.resourceVersion === "0" ? await watchFromNow(resource, query) : await watchAfter(resource, query, parseVersion(query.resourceVersion));
}
function toldUpTo({ caches }, watcher) {
  return Math.max(watcher.revision, caches.revision);
}
async function watchFromNow(resource, { selection, form: form2, resourceVersion }) {
  resourceVersion === "" && await readMostRecent(resource);
  let existing = [...existingObjects(resource, selection)], rest = form2.rest ?? form2;
  return { watcher: resource.cache.watch(selection, existing.length > 0 ? rest : form2, resource.caches.revision), before: existing.values().map((object, i) => (i === 0 ? form2 : rest).encode("ADDED", object)) };
}
function existingObjects(resource, { namespace: namespace2, name: name3, matches: matches2 }) {
  let wanted = (object) => (name3 === void 0 || object.name === name3) && (matches2 === void 0 || matches2(object));
  return resource.cache.objects({ namespace: namespace2, matches: wanted });
}
async function watchAfter(resource, query, revision) {
  let { selection, form: form2, signal } = query, older = [], after = revision;
  for (; after < resource.cache.floor && !signal.aborted; ) {
    let until = resource.cache.floor;
    await readLog(resource, query, { after, until }, older), after = until;
  }
  let recent = resource.cache.eventsAfter(after).filter((event2) => typeFor(selection, event2) !== void 0), next = older.length + recent.length === 0 ? form2 : form2.rest ?? form2;
  return { watcher: resource.cache.watch(selection, next, Math.max(after, resource.cache.changedAt)), before: replay(older, recent, query) };
}
function* replay(older, recent, { form: form2, selection }) {
  let next = form2;
  for (let bytes of older)
    yield bytes, next = form2.rest ?? form2;
  for (let event2 of recent)
    yield event2.bytes(next, typeFor(selection, event2)), next = form2.rest ?? form2;
}
function typeFor(selection, event2) {
  return concerns(event2, selection) ? event2.typeFor(selection.matches) : void 0;
}
async function readLog(resource, query, range, into) {
  let { selection, form: form2, signal } = query, bytes = 0;
  try {
    for await (let { changes } of resource.store.watch({ prefix: resource.cache.prefix, ...range, signal }))
      for (let change2 of changes) {
        let event2 = eventOf(resource, change2), type3 = event2 && typeFor(selection, event2);
        if (event2 === void 0 || type3 === void 0) continue;
        let encoded = event2.bytes(into.length === 0 ? form2 : form2.rest ?? form2, type3);
        if (into.push(encoded), bytes += encoded.length, into.length > maxReplayed || bytes > maxReplayedBytes) throw tooOld(range.after);
      }
  } catch (error) {
    throw error instanceof RevisionGone ? tooOld(range.after) : error;
  }
}
var maxReplayed = 1e5, maxReplayedBytes = 128 * 1024 * 1024;
function eventOf({ cache }, change2) {
  let { key, previous } = change2;
  return cache.event(change2, previous && cache.read(key, previous.revision, previous.value));
}
function tooOld(revision) {
  return expired(`too old resource version: ${revision}. List again and watch from the version of that list.`);
}

// src/http/verbs/watch.ts
var handleWatch = async (request) => {
  let { exchange, info, resource } = request;
  checkVersionMatch(info.query, resource.vendor, !0);
  let selection = readSelection(request), lifetime = lifetimeMs(info.query), over = AbortSignal.any([exchange.transport.signal, AbortSignal.timeout(lifetime)]), watching = await begin(request, {
    selection,
    resourceVersion: text3(info.query, "resourceVersion"),
    form: request.events,
    signal: over
  });
  if (watching === void 0) return;
  exchange.open(200, exchange.form.mediaType);
  let bookmarks = isTrue(info.query, "allowWatchBookmarks") ? bookmarkTimes(lifetime) : void 0;
  await stream(request, watching, { over, bookmarks });
};
async function begin({ exchange, resource }, query) {
  try {
    return await watch2(resource, query);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 410) throw error;
    exchange.open(200, exchange.form.mediaType), await exchange.transport.write(Buffer.from(`${JSON.stringify({ type: "ERROR", object: failure(error) })}
`)), exchange.transport.end();
    return;
  }
}
async function stream(request, { watcher, before }, { over, bookmarks }) {
  let { exchange } = request, end = () => watcher.close(), cutting;
  watcher.onEnd = () => {
    cutting = setTimeout(() => exchange.transport.cut(), lastWriteMs);
  }, over.addEventListener("abort", end), over.aborted && end();
  let bookmarking = bookmarks && startBookmarks(request, watcher, bookmarks);
  try {
    for (let chunk of gather(before)) await exchange.transport.write(chunk);
    await forward(exchange, watcher);
  } finally {
    bookmarking?.stop(), over.removeEventListener("abort", end), watcher.close(), clearTimeout(cutting), exchange.transport.end();
  }
}
var lastWriteMs = 2e3;
async function forward(exchange, watcher) {
  for (; !watcher.closed; ) {
    await watcher.ready();
    let events = watcher.take();
    events.length > 0 && await exchange.transport.write(events.length === 1 ? events[0] : Buffer.concat(events));
  }
}
var chunkBytes = 64 * 1024;
function* gather(buffers) {
  let parts3 = [], size = 0;
  for (let buffer of buffers)
    parts3.push(buffer), size += buffer.length, !(size < chunkBytes) && (yield Buffer.concat(parts3), parts3 = [], size = 0);
  parts3.length > 0 && (yield Buffer.concat(parts3));
}
var minute = 6e4, shortestDefault = 30 * minute;
function lifetimeMs(query) {
  let asked = wholeNumber(query, "timeoutSeconds") ?? 0;
  return asked > 0 ? Math.min(asked * 1e3, 2 ** 31 - 1) : Math.round(shortestDefault * (1 + Math.random()));
}
var beforeTheEnd = 2e3;
function* bookmarkTimes(lifetime) {
  for (let at2 = minute; at2 < lifetime - beforeTheEnd; at2 += minute) yield at2;
  yield Math.max(lifetime - beforeTheEnd, 0);
}
function startBookmarks({ resource }, watcher, times2) {
  let start = performance.now(), timer, schedule = () => {
    let next = times2.next();
    next.done || (timer = setTimeout(bookmark, Math.max(next.value - (performance.now() - start), 0)));
  }, bookmark = () => {
    watcher.bookmark(bookmarkAt(resource, toldUpTo(resource, watcher))), schedule();
  };
  return schedule(), { stop: () => clearTimeout(timer) };
}
function bookmarkAt({ apiVersion, kind }, revision) {
  let metadata = `{"creationTimestamp":null,"resourceVersion":"${formatVersion(revision)}"}`, object = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":"${kind.kind}","metadata":${metadata}}`;
  return Buffer.from(`{"type":"BOOKMARK","object":${object}}
`);
}

// src/http/dispatch.ts
var handlers = {
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection
};
function dispatch({ catalogue, paths, admission }) {
  return (exchange) => {
    let { info } = exchange;
    if (!info.resource) return handlePath(paths, exchange, info);
    let served = catalogue.find(info.group, info.version, info.plural);
    if (served === void 0 || !isPlaced(served, info)) throw noSuchPath();
    exchange.served = served, warnOfDeprecation(exchange, served);
    let endpoint = findEndpoint(served, info);
    if (endpoint !== void 0) return handleAnswer({ exchange, info, served, endpoint, admission });
    let resource = resourceOf(served, info), events = agree2(exchange, info, resource);
    return handlers[info.verb]({ exchange, info, resource, admission, events });
  };
}
function agree2(exchange, { query, verb }, resource) {
  let asked = { headers: exchange.headers, query, watch: verb === "watch", vendor: resource.vendor }, { form: form2, projection: projection2 } = negotiate(asked, !0), view = projection2 && openView(resource, projection2, query);
  return exchange.form = view === void 0 ? form2 : projectedForm(form2, view), exchange.agreed = !0, view === void 0 ? eventsOf(resource) : projectedEvents(view);
}
function handlePath(paths, exchange, info) {
  for (let path of paths) {
    let handled = path(exchange, info);
    if (handled !== !1) return handled;
  }
  throw noSuchPath();
}
function isPlaced({ kind }, info) {
  return kind.scope === "Cluster" ? info.namespace === "" : info.namespace !== "" || info.verb === "list" || info.verb === "watch" && info.name === "";
}
function warnOfDeprecation(exchange, { kind, apiVersion, vendor }) {
  if (kind.deprecated === void 0) return;
  let { since: since2, until, instead } = kind.deprecated, use = instead && `; use ${apiVersionOf(vendor, instead.group, instead.version)} ${instead.kind}`;
  exchange.warn(`${apiVersion} ${kind.kind} is deprecated in ${since2}+, unavailable in ${until}+${use ?? ""}`);
}
function findEndpoint(served, { verb, name: name3, subresource }) {
  let at2 = subresource === "" ? served : served.subresources.get(subresource);
  if (at2 === void 0) throw noSuchPath();
  let here = subresource === "" ? at2.verbs.filter((each) => isAddressed(each, name3)) : at2.verbs;
  if (here.length === 0) throw noSuchPath();
  if (!here.includes(verb)) throw notAllowed();
  return at2.endpoint;
}
function isAddressed(verb, name3) {
  return verb === "watch" ? !0 : (verb === "create" || verb === "list" || verb === "deletecollection") === (name3 === "");
}
function resourceOf(served, { subresource }) {
  if (served.endpoint !== void 0) throw noSuchPath();
  return subresource === "" ? served : served.views.get(subresource) ?? served;
}
function notAllowed() {
  return new ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

// src/http/pipeline.ts
function pipeline(steps, { answerError, onHandled }) {
  return async (exchange) => {
    try {
      for (let step of steps) {
        let pending = step(exchange);
        pending !== void 0 && await pending;
      }
    } catch (error) {
      await answerError(exchange, error);
    } finally {
      exchange.finish(), onHandled(exchange);
    }
  };
}

// src/http/steps/answer-errors.ts
function answerErrors(vendor, onFault) {
  return async (exchange, error) => {
    let known2 = asApiError(error);
    (known2 === void 0 || known2.code === 503) && onFault(error, exchange), await answer(exchange, known2 ?? internalError("an unexpected condition; the server log tells more"), vendor);
  };
}
function asApiError(error) {
  if (error instanceof ApiError) return error;
  if (error instanceof ValueTooLarge) return entityTooLarge(`Request entity too large: ${error.message}`);
  if (error instanceof StoreFull)
    return insufficientStorage("the store is full: free space or delete objects, then try again", { cause: error });
  if (!(error instanceof StoreError)) return;
  let told = error.ambiguous ? "the store did not confirm the write: it may or may not have happened" : "the store is not available";
  return serviceUnavailable(`${told}; try again`, 1, { cause: error });
}
async function answer(exchange, error, vendor) {
  if (exchange.answered) {
    exchange.transport.cut();
    return;
  }
  exchange.form = errorForm(exchange, vendor);
  let retry = error.details?.retryAfterSeconds;
  retry !== void 0 && exchange.setHeader("retry-after", String(retry)), await sendStatus(exchange, error.code, failure(error));
}
function errorForm({ form: form2, agreed, headers, info }, vendor) {
  return agreed || headers === void 0 || info === void 0 ? form2 : preferredForm({ headers, query: info.query, watch: !1, vendor });
}

// src/http/steps/authorize.ts
function authorize(authorizer) {
  return (exchange) => {
    let decision = authorizer({ user: exchange.user, attributes: exchange.info });
    return decision instanceof Promise ? decision.then((later) => obey(exchange, later)) : obey(exchange, decision);
  };
}
function obey(exchange, { verdict, reason }) {
  if (verdict !== "allow") throw refusal(exchange, reason);
}
function refusal({ user, info }, reason) {
  let because = reason === "" ? "" : `: ${reason}`;
  if (!info.resource)
    return forbiddenError(
      void 0,
      "",
      `forbidden: User "${user.name}" cannot ${info.verb} path "${info.path}"${because}`
    );
  let { group, plural, subresource, name: name3, namespace: namespace2, verb } = info, what = subresource === "" ? plural : `${plural}/${subresource}`, scope = namespace2 === "" ? "at the cluster scope" : `in the namespace "${namespace2}"`, full = group === "" ? plural : `${plural}.${group}`, named2 = name3 === "" ? full : `${full} "${name3}"`;
  return forbiddenError(
    { group, plural },
    name3,
    `${named2} is forbidden: User "${user.name}" cannot ${verb} resource "${what}" in API group "${group}" ${scope}${because}`
  );
}

// src/http/steps/resolve-request.ts
var resolveRequest = (exchange) => {
  exchange.info = readRequest(exchange.transport.method, exchange.transport.target);
};

// src/base/duration.ts
var units = {
  ns: 1e-6,
  us: 1e-3,
  \u00B5s: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 36e5
}, form = /^(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+$/;
function parseDuration(text4) {
  if (text4 === "0") return 0;
  if (text4.length > 64 || !form.test(text4)) return;
  let total = 0;
  for (let [, amount, unit] of text4.matchAll(/(\d+(?:\.\d+)?)([a-zµ]+)/g)) total += Number(amount) * units[unit];
  return total;
}

// src/http/deadlines.ts
var Deadlines = class {
  #open = /* @__PURE__ */ new Set();
  #clock;
  #timer;
  constructor(clock, onLate) {
    this.#clock = clock, this.#timer = setInterval(() => this.#check(onLate), 250), this.#timer.unref();
  }
  add(bounded, ms) {
    bounded.deadline = this.#clock.monotonic() + ms, this.#open.add(bounded);
  }
  delete(bounded) {
    this.#open.delete(bounded);
  }
  close() {
    clearInterval(this.#timer);
  }
  #check(onLate) {
    let now = this.#clock.monotonic();
    for (let bounded of this.#open)
      bounded.deadline > now || (this.#open.delete(bounded), onLate(bounded));
  }
};

// src/http/steps/set-deadline.ts
var longestMs = 6e4;
function setDeadline(clock, answerError) {
  let deadlines = new Deadlines(clock, (exchange) => {
    exchange.late = !0, answerError(exchange, tooLate());
  });
  return { step: (exchange) => {
    exchange.info.verb !== "watch" && (deadlines.add(exchange, allowedMs(exchange)), exchange.onFinish(() => deadlines.delete(exchange)));
  }, close: () => deadlines.close() };
}
function tooLate() {
  return timeout("the request did not complete within its time; what it was to change may or may not have changed", {
    retryAfterSeconds: 1
  });
}
function allowedMs({ info }) {
  let text4 = info.query.get("timeout");
  if (text4 === null || text4 === "") return longestMs;
  let ms = parseDuration(text4);
  if (ms === void 0)
    throw badRequest(`invalid timeout ${JSON.stringify(text4.slice(0, 50))}: use a duration such as 30s`);
  return ms === 0 ? longestMs : Math.min(ms, longestMs);
}

// src/http/steps/stamp.ts
import { randomUUID } from "node:crypto";

// src/http/headers.ts
var maxHeaders = 200, RequestHeaders = class {
  #raw;
  /** `raw` alternates names and values, as Node hands them out. They are few, so they are searched as they are. */
  constructor(raw) {
    if (raw.length / 2 > maxHeaders)
      throw new ApiError(431, "BadRequest", `the request has more than ${maxHeaders} headers`);
    this.#raw = raw;
  }
  /** Whether a header whose name begins so has been sent with a value. */
  hasPrefix(prefix) {
    for (let i = 0; i < this.#raw.length; i += 2) {
      let name3 = this.#raw[i];
      if (!(name3.length < prefix.length || this.#raw[i + 1] === "") && name3.slice(0, prefix.length).toLowerCase() === prefix)
        return !0;
    }
    return !1;
  }
  all(name3) {
    let values = [];
    for (let i = this.#find(name3, 0); i >= 0; i = this.#find(name3, i + 2)) values.push(this.#raw[i + 1]);
    return values;
  }
  /** The first value of a header; undefined when it is not there. */
  first(name3) {
    let i = this.#find(name3, 0);
    return i < 0 ? void 0 : this.#raw[i + 1];
  }
  /** The only value of a header; undefined when it is not there. */
  one(name3) {
    let i = this.#find(name3, 0);
    if (!(i < 0)) {
      if (this.#find(name3, i + 2) >= 0) throw badRequest(`the header ${name3} may be sent only once`);
      return this.#raw[i + 1];
    }
  }
  /** Where the next header of this name, given in lower case, stands; -1 when there is none. */
  #find(name3, from) {
    for (let i = from; i < this.#raw.length; i += 2) {
      let sent = this.#raw[i];
      if (sent.length === name3.length && (sent === name3 || sent.toLowerCase() === name3)) return i;
    }
    return -1;
  }
};

// src/http/steps/stamp.ts
var stamp = (exchange) => {
  exchange.setHeader("audit-id", randomUUID()), exchange.setHeader("cache-control", "no-cache, private"), exchange.headers = new RequestHeaders(exchange.transport.rawHeaders);
};

// src/server/request-handling.ts
function handleRequests({ vendor, authorizer, routes, metrics, log, clock }) {
  let answerError = answerErrors(
    vendor,
    (error, { transport: { method, target: target2 } }) => log.error("a request failed", { method, target: target2.slice(0, 500), ...errorFields(error) })
  ), deadline = setDeadline(clock, answerError), [mayThey, handOn] = [authorize(authorizer), dispatch(routes)], count2 = (exchange) => metrics.begin(exchange), ends = { answerError, onHandled: (exchange) => metrics.end(exchange) };
  return {
    handleAs: (identify) => pipeline([stamp, resolveRequest, count2, deadline.step, identify, mayThey, handOn], ends),
    close: deadline.close
  };
}

// src/http/discovery.ts
import { createHash } from "node:crypto";
function discoveryPaths({ catalogue, address }) {
  let current2 = whileUnchanged(catalogue, () => new Documents(catalogue.all(), address));
  return (exchange, info) => {
    let path = info.path.length > 1 ? info.path.replace(/\/$/, "") : info.path;
    if (path !== "/api" && path !== "/apis" && !path.startsWith("/api/") && !path.startsWith("/apis/")) return !1;
    let documents2 = current2(), document = documents2.find(path);
    return document === void 0 ? unknownDocument(exchange, path, documents2) : sendDocument(exchange, info, document, catalogue.vendor);
  };
}
var Documents = class {
  #makers;
  #made = /* @__PURE__ */ new Map();
  constructor(served, address) {
    this.#makers = documents(served, address);
  }
  has(path) {
    return this.#makers.has(path);
  }
  find(path) {
    let maker = this.#makers.get(path);
    if (maker === void 0) return;
    let document = this.#made.get(path) ?? encode(maker());
    return this.#made.set(path, document), document;
  }
};
async function unknownDocument(exchange, path, documents2) {
  let group = path.split("/").slice(0, 3).join("/");
  if (path.startsWith("/api/") || documents2.has(group)) throw noSuchPath();
  sendPageNotFound(exchange);
}
async function sendDocument(exchange, info, { json: json2, etag }, vendor) {
  if (info.verb !== "get") throw notAllowed();
  exchange.form = negotiate({ headers: exchange.headers, query: info.query, watch: !1, vendor }, !1).form, exchange.setHeader("etag", etag), exchange.headers.all("if-none-match").includes(etag) ? exchange.send(304, exchange.form.mediaType, Buffer.alloc(0)) : await sendBytes(exchange, 200, json2);
}
function encode(value) {
  let json2 = Buffer.from(stringifyJson(value));
  return { json: json2, etag: `"${createHash("sha256").update(json2).digest("base64url").slice(0, 22)}"` };
}
function documents(resources2, address) {
  let byGroup = Map.groupBy(resources2, (resource) => resource.group), named2 = [...byGroup].filter(([group]) => group !== ""), makers = /* @__PURE__ */ new Map([
    ["/api", () => coreVersions(byGroup.get("") ?? [], address())],
    [
      "/apis",
      () => ({
        kind: "APIGroupList",
        apiVersion: "v1",
        groups: named2.map(([group, served]) => groupEntry(group, served))
      })
    ]
  ]);
  for (let [group, served] of named2)
    makers.set(`/apis/${group}`, () => ({ kind: "APIGroup", apiVersion: "v1", ...groupEntry(group, served) }));
  for (let [apiVersion, served] of Map.groupBy(resources2, (resource) => resource.apiVersion))
    makers.set(
      served[0].group === "" ? `/api/${apiVersion}` : `/apis/${apiVersion}`,
      () => resourceList2(apiVersion, served)
    );
  return makers;
}
function coreVersions(served, serverAddress) {
  return {
    kind: "APIVersions",
    versions: versionsOf(served),
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }]
  };
}
function groupEntry(name3, served) {
  let versions = versionsOf(served).map((version2) => ({ groupVersion: `${name3}/${version2}`, version: version2 }));
  return { name: name3, versions, preferredVersion: versions[0] };
}
function versionsOf(served) {
  return [...new Set(served.map(({ kind }) => kind.version))];
}
function resourceList2(apiVersion, served) {
  let sorted = served.flatMap((resource) => [mainEntry(resource), ...subresourceEntries(resource)]).toSorted((a, b) => String(a.name) < String(b.name) ? -1 : 1);
  return {
    kind: "APIResourceList",
    ...served[0].group === "" ? {} : { apiVersion: "v1" },
    groupVersion: apiVersion,
    resources: sorted
  };
}
function mainEntry(served) {
  let { kind, verbs: verbs2, endpoint } = served;
  return {
    ...entryOf(kind.plural, served),
    kind: kind.kind,
    verbs: [...verbs2],
    ...kind.shortNames ? { shortNames: [...kind.shortNames] } : {},
    ...kind.categories ? { categories: [...kind.categories] } : {},
    ...endpoint === void 0 ? { storageVersionHash: storageHash(served) } : {}
  };
}
function storageHash({ kind, vendor }) {
  let { group, version: version2 } = kind.conversion?.stored ?? kind;
  return createHash("sha256").update(`${apiVersionOf(vendor, group, version2)}/${kind.kind}`).digest().subarray(0, 8).toString("base64");
}
function subresourceEntries(served) {
  return [...served.subresources].map(([name3, { verbs: verbs2, type: type3 }]) => ({
    ...entryOf(`${served.plural}/${name3}`, served),
    ...type3 === void 0 ? { kind: served.kind.kind } : typeEntry(type3, served),
    verbs: verbs2.toSorted()
  }));
}
function typeEntry({ group, version: version2, kind }, served) {
  return apiVersionOf(served.vendor, group, version2) === served.apiVersion ? { kind } : { group: groupName(served.vendor, group), version: version2, kind };
}
function entryOf(name3, { kind }) {
  return { name: name3, singularName: "", namespaced: kind.scope === "Namespaced" };
}

// src/http/health.ts
var ping = { name: "ping", check: () => {
} };
function healthPaths(live, ready) {
  let endpoints = [
    { name: "livez", checks: [ping, ...live], failure: 500 },
    { name: "readyz", checks: [ping, ...live, ...ready], failure: 503 },
    { name: "healthz", checks: [ping, ...live, ...ready], failure: 500 }
  ];
  return (exchange, { path, verb, query }) => {
    let endpoint = endpoints.find(({ name: name3 }) => path === `/${name3}` || path.startsWith(`/${name3}/`));
    if (endpoint === void 0) return !1;
    if (verb !== "get" && verb !== "head") throw notAllowed();
    return exchange.setHeader("x-content-type-options", "nosniff"), path === `/${endpoint.name}` ? answerAll(exchange, endpoint, query) : answerOne(exchange, endpoint, path.slice(endpoint.name.length + 2));
  };
}
async function answerOne(exchange, { checks, failure: failure2 }, name3) {
  let found = checks.find((check2) => check2.name === name3), fault = await found?.check();
  found === void 0 ? sendPageNotFound(exchange) : fault === void 0 ? sendText(exchange, 200, "ok") : sendText(exchange, failure2, `internal server error: ${fault}
`);
}
async function answerAll(exchange, { name: name3, checks, failure: failure2 }, query) {
  let excluded = new Set(query.getAll("exclude")), results = await Promise.all(
    checks.map(async (check2) => ({
      name: check2.name,
      excluded: excluded.has(check2.name),
      fault: excluded.has(check2.name) ? void 0 : await check2.check()
    }))
  ), failed2 = results.some(({ fault }) => fault !== void 0);
  if (!failed2 && !query.has("verbose")) {
    sendText(exchange, 200, "ok");
    return;
  }
  let lines = results.map(
    (result) => `${result.fault === void 0 ? "[+]" : "[-]"}${result.name} ${resultText(result)}
`
  );
  sendText(exchange, failed2 ? failure2 : 200, `${lines.join("")}${name3} check ${failed2 ? "failed" : "passed"}
`);
}
function resultText({ excluded, fault }) {
  return excluded ? "excluded: ok" : fault === void 0 ? "ok" : `failed: ${fault}`;
}

// src/http/metrics-path.ts
function metricsPath(exposer) {
  return (exchange, { path, verb }) => {
    if (path !== "/metrics") return !1;
    if (verb !== "get" && verb !== "head") throw notAllowed();
    return exposer.expose().then(({ mediaType, text: text4 }) => exchange.send(200, mediaType, Buffer.from(text4)));
  };
}

// src/http/openapi/openapi-paths.ts
import { promisify as promisify2 } from "node:util";
import { gunzip } from "node:zlib";

// src/http/openapi/documents.ts
import { createHash as createHash2 } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
var compress = promisify(gzip), Documents2 = class {
  #described;
  /** By name; as many as there are versions of groups, and three more. */
  #made = /* @__PURE__ */ new Map();
  constructor(described) {
    this.#described = described;
  }
  v2Json() {
    return this.#once("v2", async () => (await import("./make-D24VZHMI.js")).makeV2Json(this.#described));
  }
  v2Protobuf() {
    return this.#once("v2 protobuf", async () => (await import("./make-D24VZHMI.js")).makeV2Protobuf(this.#described));
  }
  /** Where the document of each version of a group is to be had, under an address that changes with its content. */
  v3Index() {
    return this.#once("v3", async () => {
      let paths = {};
      for (let { path } of groupVersions(this.#described)) {
        let document = await this.v3(path.slice(1));
        paths[path.slice(1)] = { serverRelativeURL: addressV3(path.slice(1), document.hash) };
      }
      return Buffer.from(JSON.stringify({ paths }));
    });
  }
  /** The document of one version of a group, by its place: `api/v1`, `apis/storage.orch.io/v1`. */
  async v3(place3) {
    let version2 = groupVersions(this.#described).find(({ path }) => path === `/${place3}`);
    if (version2 !== void 0)
      return await this.#once(`v3 ${place3}`, async () => (await import("./make-D24VZHMI.js")).makeV3Json(this.#described, version2));
  }
  /** Those who ask while it is being made share it; when making it fails, the next one tries again. */
  #once(name3, make) {
    let made = this.#made.get(name3);
    if (made !== void 0) return made;
    let making = make().then(pack);
    return this.#made.set(name3, making), making.catch(() => this.#made.delete(name3)), making;
  }
};
function addressV3(place3, hash2) {
  return `/openapi/v3/${place3}?hash=${hash2}`;
}
async function pack(bytes) {
  return { hash: createHash2("sha256").update(bytes).digest("hex").toUpperCase(), gzip: await compress(bytes) };
}

// src/http/openapi/openapi-paths.ts
var json = "application/json", protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", oldProtobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", oneYear = 31536e3;
function openApiPaths(catalogue, version2) {
  let { vendor } = catalogue, current2 = whileUnchanged(catalogue, () => new Documents2({ vendor, version: version2, types: catalogue.all() }));
  return (exchange, info) => {
    let path = info.path.replace(/\/$/, "");
    if (path !== "/openapi/v2" && path !== "/openapi/v3" && !path.startsWith("/openapi/v3/")) return !1;
    if (info.verb !== "get" && info.verb !== "head") throw notAllowed();
    let documents2 = current2();
    return path === "/openapi/v2" ? sendV2(exchange, documents2) : path === "/openapi/v3" ? sendIndex(exchange, documents2) : sendV3(exchange, documents2, path.slice(12), info.query.get("hash"));
  };
}
async function sendV2(exchange, documents2) {
  chooseType(exchange.headers, [json, protobuf, oldProtobuf]) === json ? await sendDocument2(exchange, json, await documents2.v2Json()) : await sendDocument2(exchange, protobuf, await documents2.v2Protobuf());
}
async function sendIndex(exchange, documents2) {
  chooseType(exchange.headers, [json]), await sendDocument2(exchange, json, await documents2.v3Index());
}
async function sendV3(exchange, documents2, place3, hash2) {
  chooseType(exchange.headers, [json]);
  let document = await documents2.v3(place3);
  if (document === void 0) throw noSuchPath();
  if (hash2 !== null && hash2 !== document.hash) return redirect(exchange, addressV3(place3, document.hash));
  hash2 !== null && exchange.setHeader("cache-control", `private, max-age=${oneYear}, immutable`), await sendDocument2(exchange, json, document);
}
function redirect(exchange, address) {
  exchange.setHeader("location", address), sendText(exchange, 302, `the document is now at ${address}
`);
}
var unpack = promisify2(gunzip);
async function sendDocument2(exchange, type3, { hash: hash2, gzip: gzip2 }) {
  if (exchange.setHeader("etag", `"${hash2}"`), exchange.setHeader("vary", "Accept, Accept-Encoding"), holds(exchange, hash2)) {
    exchange.open(304, type3), exchange.transport.end();
    return;
  }
  if (!acceptsGzip(exchange)) return exchange.send(200, type3, await unpack(gzip2));
  exchange.setHeader("content-encoding", "gzip"), exchange.send(200, type3, gzip2);
}
function holds({ headers }, hash2) {
  return headers.all("if-none-match").flatMap((value) => value.split(",")).some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === `"${hash2}"`);
}

// src/http/root.ts
function rootPaths(info, paths) {
  let answers = {
    "/": () => ({ paths: [...paths()] }),
    "/version": () => versionDocument(info),
    "/version/": () => versionDocument(info)
  };
  return (exchange, { path, verb }) => {
    let answer2 = Object.hasOwn(answers, path) ? answers[path] : void 0;
    if (answer2 === void 0) return !1;
    if (verb !== "get") throw notAllowed();
    return sendBytes(exchange, 200, Buffer.from(stringifyJson(answer2())));
  };
}
function versionDocument({ version: version2, api }) {
  return {
    major: api.major,
    minor: api.minor,
    gitVersion: `v${api.major}.${api.minor}.${api.patch}+orch.${version2}`,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "none",
    compiler: `node ${process.versions.node}`,
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`
  };
}
var unknownPath = async (exchange, { path }) => {
  if (path.startsWith("/version/")) throw noSuchPath();
  sendPageNotFound(exchange);
};

// src/server/served-paths.ts
function servedPaths({ catalogue, ready, address, exposer }) {
  let listed3 = whileUnchanged(catalogue, () => listPaths(catalogue));
  return [
    healthPaths([], ready),
    metricsPath(exposer),
    discoveryPaths({ catalogue, address }),
    openApiPaths(catalogue, version),
    rootPaths({ version, api: apiLevel }, listed3),
    unknownPath
  ];
}
var always = ["/api", "/apis", "/openapi/v2", "/openapi/v3", "/healthz", "/livez", "/metrics", "/readyz", "/version"];
function listPaths(catalogue) {
  let groups = catalogue.all().flatMap(
    ({ group, apiVersion }) => group === "" ? [`/api/${apiVersion}`] : [`/apis/${group}`, `/apis/${apiVersion}`]
  );
  return [.../* @__PURE__ */ new Set([...always, ...groups])].sort();
}

// src/server/store.ts
async function openStore(options) {
  return options.etcdServers.length > 0 ? await openEtcd(options) : await openEmbedded(options);
}
async function openEmbedded({ dataDir, historyDuration, ...options }) {
  let idle = ["etcdCafile", "etcdCertfile", "etcdKeyfile"].find((name3) => options[name3] !== "");
  if (idle !== void 0)
    throw new UsageError(`--${idle.toLowerCase().replace("etcd", "etcd-")} goes with --etcd-servers`);
  let { LmdbStore } = await import("./store-DOILXLHQ.js");
  return await LmdbStore.open({ directory: dataDir, historyMs: historyDuration });
}
async function openEtcd(options) {
  let { etcdServers, etcdPrefix, etcdCafile, etcdCertfile, etcdKeyfile, historyDuration } = options;
  if (etcdCertfile === "" != (etcdKeyfile === ""))
    throw new UsageError("--etcd-certfile and --etcd-keyfile go together");
  let tls = {
    ...etcdCafile === "" ? {} : { ca: readFlagFile("etcd-cafile", etcdCafile) },
    ...etcdCertfile === "" ? {} : { cert: readFlagFile("etcd-certfile", etcdCertfile), key: readFlagFile("etcd-keyfile", etcdKeyfile) }
  }, { EtcdStore } = await import("./store-3L6CMA7X.js");
  return await EtcdStore.open({ endpoints: etcdServers, prefix: etcdPrefix, tls, historyMs: historyDuration });
}

// src/server/store-check.ts
async function checkStore(store, caches) {
  if (!caches.healthy) return "the store cannot be followed";
  let { promise: late, resolve: resolve2 } = Promise.withResolvers(), timer = setTimeout(() => resolve2("the store does not answer"), 1e3);
  return await Promise.race([ask(store), late]).finally(() => clearTimeout(timer));
}
async function ask(store) {
  try {
    await store.revision();
    return;
  } catch {
    return "the store does not answer";
  }
}

// src/server/api-server.ts
async function startApiServer(options, { log, clock = systemClock, kinds = allKinds }) {
  let authenticator = makeAuthenticator(options, clock), authorizer = makeAuthorizer(options.authorizationMode), store = await openStore(options);
  try {
    let certificates = await openCertificates(options, clock);
    return await serve(options, { store, certificates, authenticator, authorizer, log, clock, kinds });
  } catch (error) {
    throw await store.close(), error;
  }
}
async function serve(options, { store, certificates, authenticator, authorizer, log, clock, kinds }) {
  await claimProfile(store, options.profile);
  let caches = new Caches(
    store,
    (error) => log.error("the feed of the caches broke; it is resumed", errorFields(error))
  ), vendor = vendorOf(options.profile), catalogue = new Catalogue(vendor), lookup = lookupIn(catalogue), endpoints = allEndpoints({ lookup, authenticateToken: authenticator, audiences: [vendor.apiAudience] });
  catalogue.add(await openTypes(options, { store, caches, clock, kinds, endpoints })), await caches.start();
  let namespaces3 = catalogue.find("", "v1", "namespaces");
  await createSystemNamespaces(namespaces3);
  let metrics = openMetrics(catalogue, clock), stopping = !1, routes = {
    catalogue,
    paths: servedPaths({ catalogue, ready: [
      { name: "store", check: () => checkStore(store, caches) },
      { name: "shutdown", check: () => stopping ? "the server is stopping" : void 0 }
    ], exposer: metrics.exposer, address: () => url.slice(8) }),
    admission: chain([namespaceLifecycle(lookup)])
  }, handling = handleRequests({ vendor, authorizer, routes, metrics: metrics.requests, log, clock }), handle = handling.handleAs(authenticate(authenticator)), inProcess = new InProcess(handling.handleAs, clock), onFault = (error) => log.error("a connection failed", errorFields(error)), listener = await openListener(options, certificates, {
    onRequest: (transport) => {
      handle(new Exchange(transport, clock.monotonic())).catch(onFault);
    },
    onError: onFault
  }).catch(async (error) => {
    throw await caches.stop(), error;
  }), url = `https://${urlHost(options.advertiseAddress || options.bindAddress)}:${listener.port}`, renewal = new AbortController();
  return await certificates.writeAdminConfig(url), certificates.keepFresh(url, {
    onRenewed: (tls) => listener.renew(tls),
    onError: (error) => log.error("a certificate could not be renewed", errorFields(error)),
    signal: renewal.signal
  }), {
    url,
    transport: (user) => inProcess.transport(user),
    stop: async () => {
      stopping = !0, renewal.abort(), await setImmediate(), await inProcess.close(), caches.endWatches(), await listener.close(options.shutdownGrace), handling.close(), await metrics.exposer.close(), await caches.stop(), await store.close();
    }
  };
}
async function openTypes(options, { store, caches, clock, kinds, endpoints }) {
  let vendor = vendorOf(options.profile), continueTokens = new ContinueTokens(await continueTokenKey(store)), lifetimeSeconds = Math.ceil(options.eventTtl / 1e3);
  return serveKinds(kinds, { vendor, store, caches, clock, continueTokens, lifetimeSeconds }, endpoints);
}
async function openListener(options, { tls }, handlers2) {
  let { bindAddress: host2, securePort: port } = options;
  try {
    return await Listener.open({ host: host2, port, tls, ...handlers2 });
  } catch (error) {
    let { code } = error;
    throw code === "EADDRINUSE" ? new UsageError(
      `port ${port} on ${host2} is in use: stop what listens there, or choose another with --secure-port`
    ) : code === "EACCES" ? new UsageError(
      `port ${port} needs more rights than this user has: choose one above 1023 with --secure-port`
    ) : code === "EADDRNOTAVAIL" ? new UsageError(`this machine has no address ${host2}: choose another with --bind-address`) : error;
  }
}
function urlHost(address) {
  return address === "0.0.0.0" || address === "::" ? "127.0.0.1" : address.includes(":") ? `[${address}]` : address;
}

// src/base/backoff.ts
function backoffMs({ firstMs, longestMs: longestMs2 }, failures, random = Math.random) {
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 30), longestMs2) * (1 - random() / 2);
}

// src/client/informer.ts
var usualBackoff = { firstMs: 200, longestMs: 1e4 }, watchSeconds = 300, Informer = class {
  type;
  /** Resolves true when the first list is in the store, false if `run` ended before. */
  synced;
  #client;
  #options;
  #objects = /* @__PURE__ */ new Map();
  #handlers = /* @__PURE__ */ new Set();
  #settle;
  /** Where the next watch starts; '' when a list must come first. */
  #version = "";
  /** Attempts in a row that brought nothing. */
  #failures = 0;
  constructor(client, type3, options) {
    this.#client = client, this.type = type3, this.#options = options, this.synced = new Promise((resolve2) => {
      this.#settle = resolve2;
    });
  }
  get size() {
    return this.#objects.size;
  }
  /** Objects are shared with everyone who reads here: they must not be changed. */
  get({ namespace: namespace2, name: name3 }) {
    return this.#objects.get(namespace2 === void 0 ? name3 : `${namespace2}/${name3}`);
  }
  objects() {
    return this.#objects.values();
  }
  /** Calls the handler for every change from now on; gives what ends that. */
  onChange(handler) {
    return this.#handlers.add(handler), () => this.#handlers.delete(handler);
  }
  /** Keeps the copy up to date until the signal aborts. To be called once. */
  async run(signal) {
    for (; !signal.aborted; ) {
      this.#failures++;
      try {
        this.#version === "" && await this.#list(signal), await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) break;
        isExpired(error) ? this.#version = "" : this.#options.onError(error);
      }
      await pause(this.#failures === 0 ? 0 : backoffMs(this.#options.backoff ?? usualBackoff, this.#failures), signal);
    }
    this.#settle(!1);
  }
  async #list(signal) {
    let { items: items2, resourceVersion } = await this.#client.list(this.type, { ...this.#options.selection, signal }), listed3 = new Map(items2.map((object) => [objectKey(object), object])), gone = [...this.#objects.keys()].filter((key) => !listed3.has(key));
    this.#version = resourceVersion;
    for (let key of gone) this.#set(key, void 0);
    for (let [key, object] of listed3) sameVersion(this.#objects.get(key), object) || this.#set(key, object);
    this.#settle(!0);
  }
  async #watch(signal) {
    let timeoutSeconds = Math.round(watchSeconds * (1 + Math.random())), resourceVersion = this.#version, options = { ...this.#options.selection, resourceVersion, bookmarks: !0, timeoutSeconds, signal };
    for await (let event2 of watch(this.#client, this.type, options))
      this.#failures = 0, this.#apply(event2);
  }
  #apply(event2) {
    if (event2.type === "BOOKMARK") {
      this.#version = event2.resourceVersion;
      return;
    }
    let { type: type3, object } = event2;
    this.#version = object.metadata.resourceVersion ?? "", this.#set(objectKey(object), type3 === "DELETED" ? void 0 : object);
  }
  /** Everything is in place before the handlers hear of it. */
  #set(key, object) {
    let previous = this.#objects.get(key);
    if (object === void 0 ? this.#objects.delete(key) : this.#objects.set(key, object), !(previous === void 0 && object === void 0))
      for (let handler of this.#handlers) handler({ key, previous, object });
  }
};
function sameVersion(a, b) {
  return a !== void 0 && a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}

// src/controllers/work-queue.ts
var usualBackoff2 = { firstMs: 50, longestMs: 6e4 }, WorkQueue = class {
  #options;
  #ready = /* @__PURE__ */ new Set();
  #active = /* @__PURE__ */ new Set();
  #timers = /* @__PURE__ */ new Map();
  /** How often a key has come again in a row. */
  #failures = /* @__PURE__ */ new Map();
  #signal;
  #idle = () => {
  };
  constructor(options) {
    this.#options = options;
  }
  /** To be worked on as soon as there is room, also if it was to wait. */
  add(key) {
    this.#cancelTimer(key), this.#ready.add(key), this.#next();
  }
  /** Works until the signal aborts, and until what is under way then has ended. To be called once. */
  async run(signal) {
    this.#signal = signal, this.#next(), await new Promise((resolve2) => {
      this.#idle = () => {
        signal.aborted && this.#active.size === 0 && resolve2();
      }, signal.addEventListener("abort", this.#idle, { once: !0 }), this.#idle();
    });
    for (let timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
  #next() {
    let { concurrency = 4 } = this.#options;
    if (!(this.#signal === void 0 || this.#signal.aborted))
      for (let key of this.#ready) {
        if (this.#active.size >= concurrency) return;
        this.#active.has(key) || this.#work(key, this.#signal);
      }
  }
  async #work(key, signal) {
    this.#ready.delete(key), this.#active.add(key);
    let outcome = await this.#attempt(key, signal);
    this.#active.delete(key), signal.aborted || this.#settle(key, outcome), this.#next(), this.#idle();
  }
  async #attempt(key, signal) {
    try {
      return await this.#options.work(key, signal);
    } catch (error) {
      return signal.aborted || this.#options.onError(key, error), "later";
    }
  }
  #settle(key, outcome) {
    outcome !== "later" && this.#failures.delete(key), !(outcome === "done" || this.#ready.has(key)) && this.#addAfter(key, outcome === "later" ? this.#growingPause(key) : outcome.afterMs);
  }
  #growingPause(key) {
    let failures = (this.#failures.get(key) ?? 0) + 1;
    return this.#failures.set(key, failures), backoffMs(this.#options.backoff ?? usualBackoff2, failures);
  }
  #addAfter(key, ms) {
    this.#timers.set(
      key,
      setTimeout(() => this.add(key), ms)
    );
  }
  #cancelTimer(key) {
    clearTimeout(this.#timers.get(key)), this.#timers.delete(key);
  }
};

// src/controllers/loop.ts
function follow(informer, keysOf = ({ key }) => [key]) {
  return {
    informer,
    connect: (add) => informer.onChange((change2) => {
      for (let key of keysOf(change2)) add(key);
    })
  };
}
function startLoops(loops, log) {
  let stop = new AbortController(), informers = new Set(loops.flatMap(({ sources: sources4 }) => sources4.map(({ informer }) => informer))), running2 = [
    ...loops.map((loop) => runLoop(loop, log, stop.signal)),
    ...[...informers].map((informer) => informer.run(stop.signal))
  ];
  return {
    stop: async () => {
      stop.abort(), await Promise.all(running2);
    }
  };
}
async function runLoop(loop, log, signal) {
  let queue = new WorkQueue({
    work: loop.reconcile,
    onError: (key, error) => log.error("a control loop failed", { loop: loop.name, key, ...errorFields(error) }),
    ...loop.concurrency === void 0 ? {} : { concurrency: loop.concurrency },
    ...loop.backoff === void 0 ? {} : { backoff: loop.backoff }
  }), disconnect = loop.sources.map(({ connect }) => connect((key) => queue.add(key)));
  await Promise.all(loop.sources.map(({ informer }) => informer.synced)), await queue.run(signal);
  for (let end of disconnect) end();
}

// src/client/change-object.ts
var maxAttempts = 20, backoff = { firstMs: 2, longestMs: 200 }, never = new AbortController().signal;
async function changeObject(client, type3, { name: name3, change: change2, ...options }) {
  for (let attempt = 1; ; attempt++) {
    let next = change2(await client.get(type3, name3, options));
    if (next === void 0) return;
    try {
      return await client.update(type3, next, options);
    } catch (error) {
      if (!isConflict(error) || attempt === maxAttempts) throw error;
    }
    await pause(backoffMs(backoff, attempt), options.signal ?? never);
  }
}

// src/controllers/namespace-conditions.ts
function newSweep(undiscovered) {
  return { undiscovered, failures: [], remaining: /* @__PURE__ */ new Map(), finalizers: /* @__PURE__ */ new Map() };
}
function isEmpty({ undiscovered, failures, remaining }) {
  return undiscovered.length === 0 && failures.length === 0 && remaining.size === 0;
}
function conditionsOf({ undiscovered, failures, remaining, finalizers }) {
  return [
    finding("NamespaceDeletionDiscoveryFailure", undiscovered, {
      ok: ["ResourcesDiscovered", "All resource types were found out"],
      bad: ["DiscoveryFailed", "Some resource types could not be found out"]
    }),
    finding("NamespaceDeletionGroupVersionParsingFailure", [], {
      ok: ["ParsedGroupVersions", "All group versions were understood"],
      bad: ["GroupVersionParsingFailed", "Some group versions were not understood"]
    }),
    finding("NamespaceDeletionContentFailure", failures, {
      ok: ["ContentDeleted", "The deletion of all content has begun; some may wait for its finalizers"],
      bad: ["ContentDeletionFailed", "Some content could not be deleted"]
    }),
    finding("NamespaceContentRemaining", counted(remaining, "left"), {
      ok: ["ContentRemoved", "All content is gone"],
      bad: ["SomeResourcesRemain", "Some content is left"]
    }),
    finding("NamespaceFinalizersRemaining", counted(finalizers, "held"), {
      ok: ["ContentHasNoFinalizers", "No finalizer holds any content"],
      bad: ["SomeFinalizersRemain", "Some content is held by finalizers"]
    })
  ];
}
function finding(type3, troubles, { ok, bad }) {
  return troubles.length === 0 ? { type: type3, status: "False", reason: ok[0], message: ok[1] } : { type: type3, status: "True", reason: bad[0], message: `${bad[1]}: ${shortened(troubles)}` };
}
var maxTold = 20;
function shortened(troubles) {
  let told = troubles.slice(0, maxTold).join(", ");
  return troubles.length > maxTold ? `${told} and ${troubles.length - maxTold} more` : told;
}
function counted(counts, what) {
  return [...counts].map(([name3, count2]) => `${name3} (${count2} ${what})`).sort();
}
function withConditions(conditions4, findings, now) {
  let types2 = new Set(findings.map(({ type: type3 }) => type3)), known2 = new Map(conditions4.map((condition6) => [condition6.type, condition6])), same2 = ({ type: type3, status: status9, reason, message }) => {
    let before = known2.get(type3);
    return before?.status === status9 && before.reason === reason && before.message === message;
  };
  if (!findings.every(same2))
    return [
      ...conditions4.filter(({ type: type3 }) => !types2.has(type3)),
      ...findings.map((found) => ({ ...found, lastTransitionTime: since(known2.get(found.type), found, now) }))
    ];
}
function since(before, { status: status9 }, now) {
  return before?.status === status9 ? before.lastTransitionTime : timestamp(now);
}

// src/controllers/namespace.ts
var namespaces2 = {
  group: "",
  version: "v1",
  plural: "namespaces",
  namespaced: !1
}, backoff2 = { firstMs: 50, longestMs: 1e4 };
function namespaceLoop(parts3) {
  return {
    name: "namespace",
    sources: [follow(parts3.informer)],
    backoff: backoff2,
    reconcile: (name3, signal) => reconcile(parts3, name3, signal)
  };
}
async function reconcile(parts3, name3, signal) {
  let known2 = parts3.informer.get({ name: name3 });
  if (known2 === void 0 || !isOurs(parts3, known2)) return "done";
  let namespace2 = await unlessGone(parts3.client.get(namespaces2, { name: name3 }, { signal }));
  if (namespace2 === void 0 || !isOurs(parts3, namespace2)) return "done";
  let sweep = await empty(parts3, name3, signal);
  if (await report(parts3, namespace2, { sweep, signal }), sweep.failures.length > 0) throw new Error(`namespace "${name3}" is not emptied: ${sweep.failures.join("; ")}`);
  return isEmpty(sweep) ? (await release(parts3, namespace2, signal), "done") : "later";
}
function isOurs({ finalizer }, { metadata, spec: spec8 }) {
  return metadata.deletionTimestamp !== void 0 && (spec8?.finalizers ?? []).includes(finalizer);
}
async function empty({ client }, name3, signal) {
  let { types: types2, failures } = await discover(client, { signal }), sweep = newSweep(failures), deletable = types2.filter(
    ({ namespaced, verbs: verbs2 }) => namespaced && verbs2.includes("list") && verbs2.includes("delete")
  ), isPods = ({ group, plural }) => group === "" && plural === "pods";
  for (let phase of [deletable.filter(isPods), deletable.filter((type3) => !isPods(type3))]) {
    for (let type3 of phase) await sweepType(client, type3, { name: name3, sweep, signal });
    if (sweep.remaining.size > 0) break;
  }
  return sweep;
}
async function sweepType(client, type3, { name: name3, sweep, signal }) {
  try {
    await deleteAll(client, type3, { namespace: name3, signal });
    let { items: items2 } = await client.list(type3, { namespace: name3, signal });
    items2.length > 0 && sweep.remaining.set(typeName(type3), items2.length);
    for (let finalizer of items2.flatMap(({ metadata }) => metadata.finalizers ?? []))
      sweep.finalizers.set(finalizer, (sweep.finalizers.get(finalizer) ?? 0) + 1);
  } catch (error) {
    if (signal.aborted) throw error;
    sweep.failures.push(`${typeName(type3)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
async function deleteAll(client, type3, place3) {
  let options = { ...place3, propagationPolicy: "Background" };
  try {
    if (type3.verbs.includes("deletecollection")) return await client.deleteCollection(type3, options);
    for await (let { items: items2 } of client.pages(type3, place3))
      for (let { metadata } of items2)
        await unlessGone(client.delete(type3, { ...place3, name: metadata.name }, { propagationPolicy: "Background" }));
  } catch (error) {
    if (!isExpired(error)) throw error;
  }
}
async function report(parts3, namespace2, { sweep, signal }) {
  let now = parts3.clock.now();
  await change(parts3, namespace2, {
    subresource: "status",
    signal,
    change: (object) => {
      let conditions4 = withConditions(object.status?.conditions ?? [], conditionsOf(sweep), now);
      return conditions4 && { ...object, status: { ...object.status, conditions: conditions4 } };
    }
  });
}
async function release(parts3, namespace2, signal) {
  await change(parts3, namespace2, {
    subresource: "finalize",
    signal,
    change: (object) => {
      let finalizers = (object.spec?.finalizers ?? []).filter((name3) => name3 !== parts3.finalizer);
      return { ...object, spec: { ...object.spec, finalizers } };
    }
  });
}
async function change(parts3, { metadata }, { change: change2, ...options }) {
  let name3 = { name: metadata.name }, guarded = (object) => object.metadata.uid === metadata.uid && isOurs(parts3, object) ? change2(object) : void 0;
  return await unlessGone(changeObject(parts3.client, namespaces2, { name: name3, change: guarded, ...options }));
}
async function unlessGone(answer2) {
  try {
    return await answer2;
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
}

// src/server/control-loops.ts
function startControlLoops(server, { profile }, log) {
  let client = clientOf(server, "namespace-controller"), informer = new Informer(client, namespaces2, {
    onError: (error) => log.error("an informer lost its watch; it is resumed", { type: "namespaces", ...errorFields(error) })
  });
  return startLoops(
    [
      namespaceLoop({
        client,
        informer,
        finalizer: vendorOf(profile).namespaceFinalizer,
        clock: systemClock
      })
    ],
    log
  );
}
function clientOf(server, name3) {
  return new Client(server.transport(serviceAccount(name3)), { userAgent: name3 });
}
function serviceAccount(name3) {
  return {
    name: `system:serviceaccount:kube-system:${name3}`,
    uid: "",
    groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", superusers],
    extra: /* @__PURE__ */ new Map()
  };
}

// src/server/options.ts
import { isIP as isIP2 } from "node:net";
var authorizationModes = ["AlwaysAllow", "AlwaysDeny"], laterModes = ["Node", "RBAC", "ABAC", "Webhook"], list2 = (value) => value.split(",").map((item) => item.trim()).filter((item) => item !== ""), serverFlags = {
  bindAddress: flag("bind-address", "IP", "127.0.0.1", readAddress, "the address to listen on; 0.0.0.0 or :: for all"),
  securePort: flag("secure-port", "PORT", "6443", readPort, "the port to serve HTTPS on; 0 picks a free one"),
  advertiseAddress: flag(
    "advertise-address",
    "IP",
    "",
    (value) => value === "" ? "" : readAddress(value),
    "the address that clients are told, if it is not the one listened on"
  ),
  dataDir: flag(
    "data-dir",
    "DIR",
    ".orch/data",
    readDirectory,
    "where the embedded store and the self-made certificates live; one server at a time"
  ),
  adminKubeconfig: flag(
    "admin-kubeconfig",
    "FILE",
    ".orch/admin.kubeconfig",
    text,
    "where the client config of the administrator is written; empty: nowhere"
  ),
  etcdServers: flag(
    "etcd-servers",
    "URLS",
    "",
    readServers,
    "members of one etcd cluster, separated by commas, to use instead of the embedded store"
  ),
  etcdPrefix: flag("etcd-prefix", "PATH", "/orch/", readPrefix, "under which all keys lie in etcd"),
  etcdCafile: flag("etcd-cafile", "FILE", "", text, "PEM bundle of the CAs that the members of etcd are verified by"),
  etcdCertfile: flag("etcd-certfile", "FILE", "", text, "PEM certificate to show to etcd"),
  etcdKeyfile: flag("etcd-keyfile", "FILE", "", text, "PEM key of --etcd-certfile"),
  tlsCertFile: flag(
    "tls-cert-file",
    "FILE",
    "",
    text,
    "PEM certificate (and intermediates) to serve with, instead of a self-made one"
  ),
  tlsPrivateKeyFile: flag("tls-private-key-file", "FILE", "", text, "PEM key of --tls-cert-file"),
  tlsSan: flag(
    "tls-san",
    "NAMES",
    "",
    list2,
    "further host names and IP addresses for the self-made serving certificate, separated by commas"
  ),
  clientCaFile: flag(
    "client-ca-file",
    "FILE",
    "",
    text,
    "PEM bundle of CAs whose client certificates are accepted, beside the self-made one"
  ),
  tokenAuthFile: flag("token-auth-file", "FILE", "", text, 'CSV of static tokens: token,user,uid,"group1,group2"'),
  authorizationMode: flag(
    "authorization-mode",
    "MODES",
    "AlwaysDeny",
    readModes,
    `who may do what, beside system:masters, who may do all; in order, separated by commas: ${authorizationModes.join(", ")}`
  ),
  profile: flag(
    "profile",
    "NAME",
    "orch",
    readProfile,
    `the vendor names to speak: ${profileNames.join(" or ")}; a store keeps the one it was made with`
  ),
  historyDuration: flag(
    "history-duration",
    "TIME",
    "5m",
    readHistory,
    "how long old versions are kept for watches and paged lists"
  ),
  eventTtl: flag(
    "event-ttl",
    "TIME",
    "1h0m0s",
    readTtl,
    "how long events stay after they were last written; they go within seconds of that time, late rather than early"
  ),
  shutdownGrace: flag(
    "shutdown-grace-period",
    "TIME",
    "10s",
    readTime,
    "how long requests under way may take to finish when the server stops"
  )
};
function readPort(value) {
  let port = Number(value);
  if (!/^\d{1,5}$/.test(value) || port > 65535)
    throw new UsageError(`${JSON.stringify(value)} is not a port: use 0 to 65535`);
  return port;
}
function readAddress(value) {
  if (isIP2(value) === 0) throw new UsageError(`${JSON.stringify(value)} is not an IP address`);
  return value;
}
function readDirectory(value) {
  if (value === "") throw new UsageError("a directory is needed");
  return value;
}
function readServers(value) {
  return list2(value).map((item) => {
    let url = URL.canParse(item) ? new URL(item) : void 0;
    if (url === void 0 || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search !== "" || url.username !== "")
      throw new UsageError(
        `${JSON.stringify(item)} is not the address of a member: use one such as https://10.0.0.1:2379`
      );
    return url.origin;
  });
}
function readPrefix(value) {
  if (!/^\/[!-~]{0,200}$/.test(value))
    throw new UsageError(`${JSON.stringify(value)} is not a prefix: use one such as /orch/`);
  return value;
}
function readModes(value) {
  let modes3 = list2(value);
  if (modes3.length === 0) throw new UsageError(`at least one mode is needed: ${authorizationModes.join(", ")}`);
  return modes3.map((mode2) => {
    if (laterModes.includes(mode2))
      throw new UsageError(`the mode ${mode2} is not built yet; built are ${authorizationModes.join(", ")}`);
    let known2 = authorizationModes.find((candidate) => candidate === mode2);
    if (known2 === void 0)
      throw new UsageError(`unknown mode ${JSON.stringify(mode2)}; known are ${authorizationModes.join(", ")}`);
    return known2;
  });
}
function readProfile(value) {
  let known2 = profileNames.find((candidate) => candidate === value);
  if (known2 === void 0)
    throw new UsageError(`unknown profile ${JSON.stringify(value)}; known are ${profileNames.join(", ")}`);
  return known2;
}
function readTime(value) {
  let ms = parseDuration(value);
  if (ms === void 0) throw new UsageError(`${JSON.stringify(value)} is not a duration: use one such as 30s or 5m`);
  return ms;
}
function readTtl(value) {
  let ms = readTime(value);
  if (ms < 1e3 || ms > 1e4 * 36e5) throw new UsageError("events stay for 1s to 10000h");
  return ms;
}
function readHistory(value) {
  let ms = readTime(value);
  if (ms < 1e3 || ms > 24 * 36e5) throw new UsageError("history is kept for 1s to 24h");
  return ms;
}

// src/server/orch.ts
var usage = `orch ${version}: a cluster-orchestration API server

Usage:
  orch up [flags]         the API server, and what is built of the control loops, in one process
  orch apiserver [flags]  the API server alone
  orch version            print the version
  orch help               print this

Flags of up and apiserver:
${helpText(serverFlags)}
`;
async function main(args) {
  let [command, ...rest] = args;
  if (command === void 0 || command === "help" || args.includes("--help") || args.includes("-h")) {
    process.stdout.write(usage), process.exitCode = command === void 0 ? 2 : 0;
    return;
  }
  if (command === "version" || command === "--version") {
    process.stdout.write(`orch ${version} (node ${process.versions.node})
`);
    return;
  }
  if (command !== "up" && command !== "apiserver")
    throw new UsageError(`unknown command ${JSON.stringify(command)}: use up, apiserver, version or help`);
  await run(command, parseFlags(serverFlags, rest));
}
async function run(command, options) {
  let log = openLog();
  process.on(
    "unhandledRejection",
    (error) => log.error("a promise was rejected and nobody waited for it", errorFields(error))
  );
  let server = await startApiServer(options, { log });
  command === "up" ? process.stdout.write(greeting(server.url, options)) : log.info("serving", { url: server.url, profile: options.profile });
  let loops = command === "up" ? startControlLoops(server, options, log) : void 0;
  stopOnSignal(async () => {
    log.info("stopping"), await loops?.stop(), await server.stop();
  });
}
function greeting(url, { adminKubeconfig: adminKubeconfig2, profile }) {
  let config = adminKubeconfig2 || "your client config", tool = profile === "kubernetes" ? "kubectl" : "./bin/orchctl", example = `${tool}${isFound(adminKubeconfig2, tool) ? "" : ` --kubeconfig=${config}`} get namespaces`;
  return `orch ${version} is serving at ${url} (administrator: ${config})
Try:  ${example}
Stop: Ctrl-C; all data stays and is there at the next start
`;
}
function isFound(config, tool) {
  if (config === "" || tool === "kubectl") return !1;
  let files = usualFiles({ env: process.env, home: homedir(), directory: process.cwd() });
  return files.length === 1 && files[0] === resolve(config);
}
function stopOnSignal(stop) {
  let stopping = !1, onSignal = () => {
    stopping && process.exit(130), stopping = !0, stop().then(
      () => process.exit(0),
      (error) => fail(error)
    );
  };
  process.on("SIGINT", onSignal), process.on("SIGTERM", onSignal);
}
function fail(error) {
  let known2 = error instanceof UsageError || error instanceof StoreError || error instanceof PkiFileError;
  process.stderr.write(
    `orch: ${known2 ? error.message : error instanceof Error ? error.stack ?? error.message : String(error)}
`
  ), process.exit(1);
}
main(process.argv.slice(2)).catch(fail);
