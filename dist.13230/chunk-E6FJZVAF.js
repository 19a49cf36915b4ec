import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  isObject
} from "./chunk-Q5OU73WL.js";

// src/client/kubeconfig-files.ts
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
var ConfigError = class extends Error {
  name = "ConfigError";
}, localFile = ".orch/admin.kubeconfig";
function usualFiles({ env, home, directory }) {
  let listed = (env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
  if (listed.length > 0) return [...new Set(listed.map((file) => resolve(directory, file)))];
  let own = join(home, ".kube", "config");
  return [existsSync(own) ? own : join(directory, localFile)];
}
function textIfThere(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    let { code } = error;
    if (code === "ENOENT" || code === "ENOTDIR") return;
    throw new ConfigError(`cannot read ${file}: ${code}`, { cause: error });
  }
}

// src/client/transport.ts
var TransportError = class extends Error {
  name = "TransportError";
};

// src/client/resource-type.ts
function typeName({ group, plural }) {
  return group === "" ? plural : `${plural}.${group}`;
}
function collectionPath(type, namespace) {
  let prefix = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  return !type.namespaced || namespace === void 0 ? `${prefix}/${type.plural}` : `${prefix}/namespaces/${segment(namespace)}/${type.plural}`;
}
function objectPath(type, { namespace, name }, subresource = "") {
  if (type.namespaced && namespace === void 0)
    throw new TypeError(`${typeName(type)} "${name}" is in a namespace: which one was not said`);
  let path = `${collectionPath(type, namespace)}/${segment(name)}`;
  return subresource === "" ? path : `${path}/${subresource}`;
}
var NameError = class extends TypeError {
  name = "NameError";
};
function segment(text) {
  if (text === "" || text === "." || text === "..") throw new NameError(`${JSON.stringify(text)} is not a name`);
  return encodeURIComponent(text);
}
function objectKey({ metadata: { namespace, name = "" } }) {
  return namespace === void 0 ? name : `${namespace}/${name}`;
}

// src/client/json.ts
var longDigits = /\d{16}/;
function parseJson(text) {
  return longDigits.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text);
}
function exactInteger(_key, value, context) {
  if (typeof value != "number" || Number.isSafeInteger(value)) return value;
  let source = context?.source ?? "";
  return /^-?\d{1,40}$/.test(source) ? BigInt(source) : value;
}
function stringifyJson(value) {
  return JSON.stringify(value, (_key, member) => typeof member == "bigint" ? rawJson(member) : member);
}
var { rawJSON } = JSON;
function rawJson(value) {
  return rawJSON(String(value));
}

// src/client/status-error.ts
var StatusError = class extends Error {
  name = "StatusError";
  status;
  constructor(status) {
    super(status.message ?? status.reason ?? `the server answered with ${status.code}`), this.status = status;
  }
  get code() {
    return this.status.code ?? 500;
  }
  get reason() {
    return this.status.reason ?? "";
  }
};
function errorOf(code, body) {
  let value = parseIfJson(body);
  if (isStatus(value)) return new StatusError({ ...value, code: value.code ?? code });
  let message = `the server answered with ${code}: ${body.slice(0, 500)}`;
  return new StatusError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code });
}
function isStatus(value) {
  return isObject(value) && value.kind === "Status";
}
function parseIfJson(body) {
  try {
    return parseJson(body);
  } catch {
    return;
  }
}
function isNotFound(error) {
  return error instanceof StatusError && error.code === 404;
}
function isConflict(error) {
  return error instanceof StatusError && error.code === 409 && error.reason === "Conflict";
}
function isExpired(error) {
  return error instanceof StatusError && error.code === 410;
}

export {
  ConfigError,
  usualFiles,
  textIfThere,
  TransportError,
  parseJson,
  stringifyJson,
  typeName,
  collectionPath,
  objectPath,
  NameError,
  objectKey,
  StatusError,
  errorOf,
  isStatus,
  isNotFound,
  isConflict,
  isExpired
};
