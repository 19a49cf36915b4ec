import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  TransportError,
  collectionPath,
  errorOf,
  isExpired,
  objectPath,
  parseJson,
  stringifyJson
} from "./chunk-E6FJZVAF.js";

// src/base/abort.ts
function pause(ms, signal) {
  return new Promise((resolve) => {
    let timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer), signal.removeEventListener("abort", done), resolve();
    }
    signal.addEventListener("abort", done), signal.aborted && done();
  });
}
async function withDeadline({ ms, outer, late }, run) {
  let inner = new AbortController(), follow = () => inner.abort(outer?.reason), timer = setTimeout(() => inner.abort(late()), ms);
  outer?.addEventListener("abort", follow), outer?.aborted && follow();
  try {
    return await run(inner.signal);
  } finally {
    clearTimeout(timer), outer?.removeEventListener("abort", follow);
  }
}
async function orAborted(promise, signal) {
  let stop, aborted = new Promise((_, reject) => {
    stop = () => reject(signal.reason);
  });
  signal.addEventListener("abort", stop), signal.aborted && stop();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

// src/client/client.ts
var defaultLimit = 500, jsonType = "application/json", defaultTimeoutMs = 7e4, Client = class {
  #transport;
  #userAgent;
  #timeoutMs;
  constructor(transport, { userAgent = "orch", timeoutMs = defaultTimeoutMs } = {}) {
    this.#transport = transport, this.#userAgent = userAgent, this.#timeoutMs = timeoutMs;
  }
  async get(type, name, options = {}) {
    return await this.#call({ method: "GET", path: objectPath(type, name), signal: options.signal });
  }
  /** All objects of a selection, as of one version, in as many requests as it takes. */
  async list(type, options = {}) {
    try {
      return await gather(this.pages(type, options));
    } catch (error) {
      if (!isExpired(error) || options.limit === 0 || options.resourceVersion !== void 0) throw error;
      return await gather(this.pages(type, { ...options, limit: 0 }));
    }
  }
  /** The same page by page. A page that comes too late throws 410. */
  async *pages(type, options = {}) {
    let { namespace, resourceVersion, resourceVersionMatch, signal } = options, path = collectionPath(type, namespace), continueToken = "";
    do {
      let version = continueToken === "" ? { resourceVersion, resourceVersionMatch } : {}, query = { ...pageQuery(options, continueToken), ...version }, page = readPage(await this.#call({ method: "GET", path, query, signal }));
      yield page, continueToken = page.continueToken;
    } while (continueToken !== "");
  }
  /** In the object's own namespace. */
  async create(type, object, options = {}) {
    let path = collectionPath(type, object.metadata.namespace);
    return await this.#call({
      method: "POST",
      path,
      query: writeQuery(options),
      body: object,
      signal: options.signal
    });
  }
  /** Replaces the object. With its resourceVersion set it fails with a conflict if someone changed it since. */
  async update(type, object, options = {}) {
    let path = objectPath(type, nameOf(object), options.subresource);
    return await this.#call({ method: "PUT", path, query: writeQuery(options), body: object, signal: options.signal });
  }
  async patch(type, name, { patch, ...options }) {
    let { contentType, body, force } = patchBody(patch), query = { ...writeQuery(options), force }, path = objectPath(type, name, options.subresource);
    return await this.#call({ method: "PATCH", path, query, body, contentType, signal: options.signal });
  }
  /** What the server answers: the object where it stays until its finalizers are done, else mostly a Status. */
  async delete(type, name, options = {}) {
    let path = objectPath(type, name);
    return await this.#call({ method: "DELETE", path, body: deleteBody(options), signal: options.signal });
  }
  /** Deletes all of a selection, some at a time. Some may stay for a while, held by finalizers. */
  async deleteCollection(type, { limit, namespace, labelSelector, fieldSelector, ...options } = {}) {
    let path = collectionPath(type, namespace), continueToken = "";
    do {
      let query = pageQuery({ limit: limit ?? defaultLimit, labelSelector, fieldSelector }, continueToken), call = { method: "DELETE", path, query, body: deleteBody(options), signal: options.signal };
      continueToken = (await this.#call(call)).metadata?.continue ?? "";
    } while (continueToken !== "");
  }
  /** What stands at a path, whatever it is: discovery, the version, objects in another form. */
  async read(path, options = {}) {
    return await this.#call({ method: "GET", path, ...options });
  }
  /** Any request: the answer as it comes, once its status says yes. For streams, and for paths without a type. */
  async open(request) {
    let signal = request.signal ?? new AbortController().signal, response = await this.#transport({
      method: request.method,
      path: request.path + queryText(request.query),
      headers: this.#headers(request),
      body: request.body === void 0 ? void 0 : new TextEncoder().encode(stringifyJson(request.body)),
      signal
    });
    if (response.status >= 400) throw errorOf(response.status, await readText(response));
    return response;
  }
  #headers({ body, contentType = jsonType, accept = jsonType }) {
    let common = { accept, "user-agent": this.#userAgent };
    return body === void 0 ? common : { ...common, "content-type": contentType };
  }
  async #call(request) {
    let late = () => new TransportError(`${request.method} ${request.path} was not answered in time`);
    return await withDeadline({ ms: this.#timeoutMs, outer: request.signal, late }, async (signal) => parseJson(await readText(await this.open({ ...request, signal }))));
  }
};
function nameOf({ metadata }) {
  let { namespace, name = "" } = metadata;
  return namespace === void 0 ? { name } : { namespace, name };
}
async function gather(pages) {
  let items = [], resourceVersion = "";
  for await (let page of pages) {
    for (let item of page.items) items.push(item);
    resourceVersion = page.resourceVersion;
  }
  return { items, resourceVersion };
}
function readPage({ apiVersion, kind, metadata, items }) {
  let type = { apiVersion, kind: kind.replace(/List$/, "") };
  return {
    items: (items ?? []).map((item) => ({ ...type, ...item })),
    resourceVersion: metadata.resourceVersion ?? "",
    continueToken: metadata.continue ?? ""
  };
}
function pageQuery({ limit = defaultLimit, labelSelector, fieldSelector }, continueToken) {
  return { labelSelector, fieldSelector, limit: limit || void 0, continue: continueToken || void 0 };
}
function writeQuery({ dryRun, fieldManager, fieldValidation }) {
  return { dryRun: dryRun ? "All" : void 0, fieldManager, fieldValidation };
}
function deleteBody({ signal: _, dryRun, ...options }) {
  return { kind: "DeleteOptions", apiVersion: "v1", ...options, ...dryRun ? { dryRun: ["All"] } : {} };
}
function patchBody(patch) {
  if ("merge" in patch) return { contentType: "application/merge-patch+json", body: patch.merge };
  if ("strategic" in patch) return { contentType: "application/strategic-merge-patch+json", body: patch.strategic };
  if ("json" in patch) return { contentType: "application/json-patch+json", body: patch.json };
  let { apply, force } = patch;
  return { contentType: "application/apply-patch+yaml", body: apply, ...force === void 0 ? {} : { force } };
}
function queryText(query = {}) {
  let parameters = new URLSearchParams();
  for (let [name, value] of Object.entries(query)) value !== void 0 && parameters.set(name, String(value));
  let text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}
var maxAnswerBytes = 256 * 1024 * 1024;
async function readText({ body }) {
  let decoder = new TextDecoder("utf-8", { fatal: !0 }), text = "", size = 0;
  for await (let chunk of body) {
    if (size += chunk.length, size > maxAnswerBytes) throw new TransportError(`the answer is longer than ${maxAnswerBytes} bytes`);
    text += decoder.decode(chunk, { stream: !0 });
  }
  return text + decoder.decode();
}

export {
  pause,
  orAborted,
  Client
};
