import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  Client,
  orAborted
} from "./chunk-4V7T7OHM.js";
import {
  ConfigError,
  TransportError,
  textIfThere,
  usualFiles
} from "./chunk-E6FJZVAF.js";
import {
  version
} from "./chunk-XWKYMXOX.js";
import {
  require_dist
} from "./chunk-RYN6PHQP.js";
import {
  isObject,
  own
} from "./chunk-Q5OU73WL.js";
import {
  __toESM
} from "./chunk-K3AUPHIL.js";

// src/cli/connect.ts
import { resolve as resolve2 } from "node:path";

// src/client/http-transport.ts
import { connect } from "node:http2";
var maxConnections = 8, maxStreams = 100, connectMs = 1e4, usualPingMs = 3e4, HttpTransport = class {
  #options;
  #prefix;
  #connections = /* @__PURE__ */ new Set();
  #closed = !1;
  constructor(options) {
    this.#options = options, this.#prefix = new URL(options.server).pathname.replace(/\/$/, "");
  }
  send = async (request) => {
    let token = await this.#options.token?.(), headers = token === void 0 ? request.headers : { ...request.headers, authorization: `Bearer ${token}` };
    return await this.#connection().send({ ...request, headers, path: this.#prefix + request.path });
  };
  /** Cuts off what is under way. */
  close() {
    this.#closed = !0;
    for (let connection of this.#connections) connection.destroy();
  }
  #connection() {
    if (this.#closed) throw new TransportError("the transport is closed");
    for (let connection2 of this.#connections) if (connection2.streams < maxStreams) return connection2;
    if (this.#connections.size >= maxConnections)
      throw new TransportError(`more than ${maxConnections * maxStreams} requests at once`);
    let connection = new Connection(this.#options, () => this.#connections.delete(connection));
    return this.#connections.add(connection), connection;
  }
}, Connection = class {
  /** Requests under way. */
  streams = 0;
  #session;
  #opened;
  #server;
  /** `onLeaving` is called when it takes no further requests. */
  constructor({ server, authority, certificate, pingMs = usualPingMs }, onLeaving) {
    this.#server = server, this.#session = connect(new URL(server).origin, {
      ...authority === void 0 ? {} : { ca: authority },
      ...certificate === void 0 ? {} : { cert: certificate.certificate, key: certificate.key }
    }), this.#opened = this.#open();
    let pings = keepAlive(this.#session, pingMs);
    this.#session.on("goaway", onLeaving), this.#session.on("close", () => {
      clearInterval(pings), onLeaving();
    });
  }
  #open() {
    return new Promise((resolve3, reject) => {
      let fail = (error) => reject(new TransportError(`${this.#server} is not reached`, { cause: error })), timer = setTimeout(() => this.#session.destroy(new Error("no answer in time")), connectMs);
      this.#session.once("connect", () => {
        clearTimeout(timer), resolve3();
      }), this.#session.on("error", fail), this.#session.once("close", () => {
        clearTimeout(timer), fail(void 0);
      });
    });
  }
  async send(request) {
    this.streams++;
    let stream = await this.#begin(request).catch((error) => {
      throw this.streams--, error;
    });
    return stream.once("close", () => this.streams--), await answerOf(stream, request.signal);
  }
  destroy() {
    this.#session.destroy();
  }
  async #begin({ method, path, headers, body, signal }) {
    if (await orAborted(this.#opened, signal), this.#session.closed) throw new TransportError(`the connection to ${this.#server} has ended`);
    let stream = this.#session.request(
      { ...headers, ":method": method, ":path": path },
      { endStream: body === void 0, signal }
    );
    return body !== void 0 && stream.end(body), stream;
  }
};
function keepAlive(session, pingMs) {
  let answered = !0;
  return setInterval(() => {
    if (!session.connecting) {
      if (!answered) return session.destroy(new Error("no answer to a ping"));
      answered = !1, session.ping(() => {
        answered = !0;
      });
    }
  }, pingMs).unref();
}
function answerOf(stream, signal) {
  return new Promise((resolve3, reject) => {
    let fail = (cause) => reject(signal.aborted ? signal.reason : new TransportError("the connection broke before an answer", { cause }));
    stream.on("error", fail), stream.once("close", () => fail()), stream.once(
      "response",
      (headers) => resolve3({ status: Number(headers[":status"]), headers: plain(headers), body: bodyOf(stream, signal) })
    );
  });
}
async function* bodyOf(stream, signal) {
  try {
    for await (let chunk of stream) yield chunk;
  } catch (error) {
    throw signal.throwIfAborted(), new TransportError("the connection broke in the middle of an answer", { cause: error });
  }
  if (signal.throwIfAborted(), stream.aborted || (stream.rstCode ?? 0) !== 0)
    throw new TransportError("the connection broke in the middle of an answer");
}
function plain(headers) {
  let entries = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : `${value}`])
  );
}

// src/client/kubeconfig.ts
var import_yaml = __toESM(require_dist(), 1);
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createSecureContext } from "node:tls";
function readClientConfig({ files, context, server }) {
  let sources = files.map(readSource).filter((source) => source !== void 0);
  if (sources.length === 0) throw new ConfigError(`there is no client config: ${files.join(", ")} is not there`);
  let chosen = chooseContext(sources, context), cluster = findEntry(sources, "cluster", requiredText(chosen, "cluster")), name = optionalText(chosen, "user"), user = name === void 0 ? { ...chosen, content: {} } : findEntry(sources, "user", name);
  return { transport: transportOf(cluster, user, server), namespace: optionalText(chosen, "namespace") };
}
function readSource(file) {
  let text = textIfThere(file);
  if (text === void 0) return;
  let content = parseText(file, text);
  if (content !== null && !isObject(content)) throw new ConfigError(`${file} is not a client config`);
  return { file, content: content ?? {} };
}
function parseText(file, text) {
  let document = (0, import_yaml.parseDocument)(text, { merge: !1, logLevel: "silent" }), [error] = document.errors;
  if (error !== void 0) throw new ConfigError(`${file} is not YAML: see line ${error.linePos?.[0].line ?? 1}`);
  return document.toJS() ?? null;
}
function chooseContext(sources, wanted) {
  let current = sources.map(({ file, content }) => optionalText({ file, content, title: "" }, "current-context")), name = wanted ?? current.find((value) => value !== void 0);
  if (name === void 0)
    throw new ConfigError(`${filesOf(sources)}: no current-context is set; name one with --context`);
  return findEntry(sources, "context", name);
}
function findEntry(sources, sort, name) {
  for (let { file, content } of sources) {
    let matches = entriesOf(file, content, `${sort}s`).filter((entry) => own(entry, "name") === name);
    if (matches.length > 1) throw new ConfigError(`${file}: ${sort}s has ${JSON.stringify(name)} more than once`);
    if (matches.length === 0) continue;
    let inner = own(matches[0], sort) ?? {}, title = `${sort} ${JSON.stringify(name)}`;
    if (!isObject(inner)) throw new ConfigError(`${file}: ${title}: ${sort} is not an object`);
    return { file, content: inner, title };
  }
  throw new ConfigError(`${filesOf(sources)}: there is no ${sort} ${JSON.stringify(name)}`);
}
function entriesOf(file, content, field) {
  let list = own(content, field) ?? [];
  if (!Array.isArray(list) || !list.every(isObject)) throw new ConfigError(`${file}: ${field} is not a list of objects`);
  return list;
}
function filesOf(sources) {
  return sources.map(({ file }) => file).join(", ");
}
function transportOf(cluster, user, server) {
  refuseUnbuilt(cluster, ["insecure-skip-tls-verify", "tls-server-name", "proxy-url"]), refuseUnbuilt(user, ["exec", "auth-provider", "username", "password", "as", "as-uid", "as-groups", "as-user-extra"]);
  let authority = pemOf(cluster, "certificate-authority"), certificate = pemOf(user, "client-certificate"), key = pemOf(user, "client-key");
  if (certificate === void 0 != (key === void 0))
    throw fault(user, "client-certificate", "and client-key go together");
  authority !== void 0 && checkPem(cluster, "certificate-authority", { ca: authority }), certificate !== void 0 && checkPem(user, "client-certificate", { cert: certificate, key });
  let token = tokenOf(user);
  return {
    server: server ?? serverOf(cluster),
    ...authority === void 0 ? {} : { authority },
    ...certificate === void 0 || key === void 0 ? {} : { certificate: { certificate, key } },
    ...token === void 0 ? {} : { token }
  };
}
function refuseUnbuilt(entry, fields) {
  for (let field of fields) {
    let value = own(entry.content, field);
    if (value != null && value !== !1 && value !== "")
      throw fault(entry, field, "is not built yet");
  }
}
function serverOf(cluster) {
  let server = requiredText(cluster, "server");
  if (!isServer(server)) throw fault(cluster, "server", "is not an address such as https://127.0.0.1:6443");
  return server;
}
function isServer(text) {
  return URL.canParse(text) && new URL(text).protocol === "https:";
}
function pemOf(entry, field) {
  let data = optionalText(entry, `${field}-data`);
  if (data !== void 0) return Buffer.from(data, "base64").toString("utf8");
  let file = optionalText(entry, field);
  return file === void 0 ? void 0 : readNamed(entry, field, file);
}
function readNamed(entry, field, name) {
  let file = resolve(dirname(entry.file), name), text = textIfThere(file);
  if (text === void 0) throw fault(entry, field, `names ${file}, which is not there`);
  return text;
}
function checkPem(entry, field, pem) {
  let what = "ca" in pem ? "is not a certificate in PEM" : "and client-key are not a certificate and its key in PEM";
  if (!(pem.ca ?? pem.cert ?? "").includes("-----BEGIN ")) throw fault(entry, field, what);
  try {
    createSecureContext({ ...pem });
  } catch (error) {
    throw fault(entry, field, what, error);
  }
}
function tokenOf(user) {
  let file = optionalText(user, "tokenFile"), token = optionalText(user, "token");
  if (file !== void 0) {
    readNamed(user, "tokenFile", file);
    let path = resolve(dirname(user.file), file);
    return async () => checkToken(user, "tokenFile", (await readFile(path, "utf8")).trim());
  }
  return token === void 0 ? void 0 : () => checkToken(user, "token", token);
}
function checkToken(user, field, token) {
  if (!/^[!-~]+$/.test(token)) throw fault(user, field, "is not a token: it has blanks or other odd characters");
  return token;
}
function requiredText(entry, field) {
  let text = optionalText(entry, field);
  if (text === void 0) throw fault(entry, field, "is missing");
  return text;
}
function optionalText(entry, field) {
  let value = own(entry.content, field);
  if (!(value == null || value === "")) {
    if (typeof value != "string") throw fault(entry, field, "is not a text");
    return value;
  }
}
function fault({ file, title }, field, what, cause) {
  return new ConfigError(`${file}: ${title === "" ? "" : `${title}: `}${field} ${what}`, { cause });
}

// src/cli/connect.ts
async function withConnection(context, options, use) {
  let config = readClientConfig({
    files: options.kubeconfig === "" ? usualFiles(context) : [resolve2(context.directory, options.kubeconfig)],
    context: options.context || void 0,
    server: options.server || void 0
  }), transport = new HttpTransport(config.transport);
  try {
    let client = new Client(transport.send, { userAgent: `orchctl/${version}` });
    return await use({ client, namespace: options.namespace || config.namespace || "default" });
  } finally {
    transport.close();
  }
}

export {
  withConnection
};
