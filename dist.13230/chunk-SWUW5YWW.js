import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/model/field-error.ts
function child(path, name) {
  return path === "" ? name : `${path}.${name}`;
}
function at(path, key) {
  return `${path}[${key}]`;
}
function required(path, detail = "") {
  return { fault: "FieldValueRequired", path, text: join("Required value", detail) };
}
function invalid(path, value, detail) {
  return { fault: "FieldValueInvalid", path, text: join(`Invalid value: ${show(value)}`, detail) };
}
function duplicate(path, value) {
  return { fault: "FieldValueDuplicate", path, text: `Duplicate value: ${show(value)}` };
}
function forbidden(path, detail) {
  return { fault: "FieldValueForbidden", path, text: join("Forbidden", detail) };
}
function notSupported(path, value, supported) {
  let list = supported.map((item) => JSON.stringify(item)).join(", ");
  return { fault: "FieldValueNotSupported", path, text: `Unsupported value: ${show(value)}: supported values: ${list}` };
}
function notFound(path, value) {
  return { fault: "FieldValueNotFound", path, text: `Not found: ${show(value)}` };
}
function tooLong(path, limit) {
  return { fault: "FieldValueTooLong", path, text: `Too long: must have at most ${limit} bytes` };
}
function causeOf(error) {
  return { reason: error.fault, message: error.text, field: error.path };
}
function summary(errors) {
  let lines = errors.map((error) => `${error.path}: ${error.text}`);
  return lines.length === 1 ? lines[0] : `[${lines.join(", ")}]`;
}
var maxTold = 50, longestPath = 500, longestText = 2e3;
function firstFaults(errors) {
  return errors.slice(0, maxTold).map(({ fault, path, text }) => ({
    fault,
    path: path.slice(0, longestPath),
    text: text.slice(0, longestText)
  }));
}
function join(head, detail) {
  return detail === "" ? head : `${head}: ${detail}`;
}
var longestShown = 1e3;
function show(value) {
  if (value === void 0) return "null";
  if (typeof value == "bigint") return value.toString();
  let text = JSON.stringify(value, (_, item) => typeof item == "bigint" ? item.toString() : item);
  return text.length > longestShown ? `${text.slice(0, longestShown)}...` : text;
}

// src/model/api-error.ts
var ApiError = class extends Error {
  name = "ApiError";
  code;
  reason;
  details;
  constructor(code, reason, message, details, options) {
    super(message, options), this.code = code, this.reason = reason, this.details = details;
  }
};
function failure(error) {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: error.message,
    reason: error.reason,
    ...error.details === void 0 ? {} : { details: error.details },
    code: error.code
  };
}
function success(details) {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}
function badRequest(message, options) {
  return new ApiError(400, "BadRequest", message, void 0, options);
}
function unauthorized(message = "Unauthorized") {
  return new ApiError(401, "Unauthorized", message);
}
function forbiddenError(resource, name, message) {
  return new ApiError(403, "Forbidden", message, resource ? detailsOf(resource.group, resource.plural, name) : {});
}
function notFound2(resource, name) {
  return new ApiError(
    404,
    "NotFound",
    `${qualified(resource)} "${name}" not found`,
    detailsOf(resource.group, resource.plural, name)
  );
}
function noSuchPath() {
  return new ApiError(404, "NotFound", "the server could not find the requested resource", {});
}
function notAcceptable(offered) {
  return new ApiError(406, "NotAcceptable", `only the following media types are accepted: ${offered.join(", ")}`);
}
function alreadyExists(resource, name) {
  return new ApiError(
    409,
    "AlreadyExists",
    `${qualified(resource)} "${name}" already exists`,
    detailsOf(resource.group, resource.plural, name)
  );
}
function generateNameTaken(resource, name) {
  let message = `${qualified(resource)} "${name}" already exists, the server was not able to generate a unique name for the object`;
  return new ApiError(409, "AlreadyExists", message, {
    ...detailsOf(resource.group, resource.plural, name),
    retryAfterSeconds: 1
  });
}
function conflict(resource, name, why) {
  let message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return new ApiError(409, "Conflict", message, detailsOf(resource.group, resource.plural, name));
}
function expired(message) {
  return new ApiError(410, "Expired", message);
}
function entityTooLarge(message) {
  return new ApiError(413, "RequestEntityTooLarge", message);
}
function unsupportedMediaType(message) {
  return new ApiError(415, "UnsupportedMediaType", message);
}
function invalidObject(kind, name, errors) {
  let full = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`, shown = name.slice(0, longestName), told = firstFaults(errors), more = errors.length > told.length ? `, and ${errors.length - told.length} more` : "", details = { ...detailsOf(kind.group, kind.kind, shown), causes: told.map(causeOf) };
  return new ApiError(422, "Invalid", `${full} "${shown}" is invalid: ${summary(told)}${more}`, details);
}
var longestName = 1e3;
function internalError(message, options) {
  return new ApiError(
    500,
    "InternalError",
    `Internal error occurred: ${message}`,
    { causes: [{ reason: "", message }] },
    options
  );
}
function serviceUnavailable(message, retryAfterSeconds = 1, options) {
  return new ApiError(503, "ServiceUnavailable", message, { retryAfterSeconds }, options);
}
function timeout(message, details = {}) {
  return new ApiError(504, "Timeout", message, details);
}
function insufficientStorage(message, options) {
  return new ApiError(507, "InsufficientStorage", message, { retryAfterSeconds: 5 }, options);
}
function qualified(resource) {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}
function detailsOf(group, kind, name) {
  return { ...name === "" ? {} : { name }, ...group === "" ? {} : { group }, kind };
}

// src/codec/json-scan.ts
var maxDepth = 512, quote = 34, backslash = 92, maxDuplicates = 100;
function scanJson(text) {
  let levels = [], duplicates = [], bigNumbers = !1, expectKey = !1, escapeAt = indexOrEnd(text, "\\", 0);
  for (let i = 0; i < text.length; i++) {
    let unit = text.charCodeAt(i);
    if (unit === quote) {
      escapeAt < i && (escapeAt = indexOrEnd(text, "\\", i));
      let plainEnd = indexOrEnd(text, '"', i + 1), end = plainEnd < escapeAt ? plainEnd : endOfString(text, i), level = levels.at(-1);
      if (expectKey && level?.keys) {
        let key = keyText(text, i, end);
        level.keys.has(key) && duplicates.length < maxDuplicates && duplicates.push(pathTo(levels, key)), level.keys.add(key), level.place = key, expectKey = !1;
      }
      i = end;
    } else if (unit === 123 || unit === 91) {
      if (levels.length >= maxDepth) throw badRequest(`the body is nested deeper than ${maxDepth} levels`);
      levels.push({ keys: unit === 123 ? /* @__PURE__ */ new Set() : void 0, place: 0 }), expectKey = unit === 123;
    } else if (unit === 125 || unit === 93)
      levels.pop(), expectKey = !1;
    else if (unit === 44) {
      let level = levels.at(-1);
      level && typeof level.place == "number" && !level.keys && level.place++, expectKey = level?.keys !== void 0;
    } else if (isDigit(unit)) {
      let end = endOfNumber(text, i);
      (end - i > 15 || text.slice(i, end).toLowerCase().includes("e")) && (bigNumbers = !0), i = end - 1;
    }
  }
  return { duplicates, bigNumbers };
}
function indexOrEnd(text, wanted, from) {
  let index = text.indexOf(wanted, from);
  return index < 0 ? text.length : index;
}
function endOfString(text, start) {
  let i = start + 1;
  for (; i < text.length; i++) {
    let unit = text.charCodeAt(i);
    if (unit === quote) return i;
    if (unit !== backslash) continue;
    if (text.charCodeAt(i + 1) !== 117) {
      i++;
      continue;
    }
    let escaped = Number.parseInt(text.slice(i + 2, i + 6), 16);
    if (escaped >= 55296 && escaped <= 56319) {
      let low = text.startsWith("\\u", i + 6) ? Number.parseInt(text.slice(i + 8, i + 12), 16) : 0;
      if (!(low >= 56320 && low <= 57343)) throw loneSurrogate(text.slice(i, i + 6));
      i += 11;
    } else {
      if (escaped >= 56320 && escaped <= 57343)
        throw loneSurrogate(text.slice(i, i + 6));
      i += 5;
    }
  }
  return i;
}
function loneSurrogate(sequence) {
  return badRequest(`the body holds half of a surrogate pair: ${sequence}`);
}
function keyText(text, start, end) {
  let raw = text.slice(start + 1, end);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`);
  } catch {
    return raw;
  }
}
function isDigit(unit) {
  return unit >= 48 && unit <= 57;
}
function endOfNumber(text, start) {
  let i = start + 1;
  for (; i < text.length && "0123456789.eE+-".includes(text[i]); ) i++;
  return i;
}
var longestPlace = 200;
function pathTo(levels, key) {
  return `${levels.slice(0, -1).map(({ keys, place }) => keys ? `.${String(place).slice(0, longestPlace)}` : `[${place}]`).join("")}.${key.slice(0, longestPlace)}`.replace(/^\./, "");
}

export {
  child,
  at,
  required,
  invalid,
  duplicate,
  forbidden,
  notSupported,
  notFound,
  tooLong,
  causeOf,
  summary,
  maxTold,
  ApiError,
  failure,
  success,
  badRequest,
  unauthorized,
  forbiddenError,
  notFound2,
  noSuchPath,
  notAcceptable,
  alreadyExists,
  generateNameTaken,
  conflict,
  expired,
  entityTooLarge,
  unsupportedMediaType,
  invalidObject,
  internalError,
  serviceUnavailable,
  timeout,
  insufficientStorage,
  maxDepth,
  scanJson
};
