import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  apiVersionOf,
  groupName,
  humanDuration
} from "./chunk-REFQO4EX.js";
import {
  asObject,
  copyWithout,
  timestamp
} from "./chunk-2XO67IZH.js";
import {
  ApiError,
  alreadyExists,
  at,
  badRequest,
  causeOf,
  child,
  conflict,
  duplicate,
  entityTooLarge,
  forbidden,
  generateNameTaken,
  invalid,
  invalidObject,
  maxDepth,
  maxTold,
  noSuchPath,
  notAcceptable,
  notFound2 as notFound,
  notSupported,
  required,
  scanJson,
  serviceUnavailable,
  summary,
  tooLong,
  unsupportedMediaType
} from "./chunk-SWUW5YWW.js";
import {
  compareUtf8,
  sortUtf8
} from "./chunk-E4OOXGFG.js";
import {
  isObject,
  own,
  sameJson,
  setKey,
  typeName
} from "./chunk-Q5OU73WL.js";

// src/model/verb.ts
var allVerbs = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch"
];
function verbsWithout(...left) {
  return allVerbs.filter((verb) => !left.includes(verb));
}

// src/model/quantity.ts
var nanosInOne = 1000000000n, largestBinary = (2n ** 63n - 1n) * nanosInOne, decimalExponents = new Map(Object.entries({ n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 })), decimalSuffixes = new Map(Array.from(decimalExponents, ([suffix, exponent]) => [exponent, suffix])), binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
function parseQuantity(text) {
  let parts = takeApart(text);
  return parts && amountOf(parts);
}
function formatQuantity({ nanos, form: form2 }) {
  return nanos === 0n ? "0" : (form2 === "binary" ? formatBinary(nanos) : void 0) ?? formatDecimal(nanos, form2);
}
function canonicalQuantity(text) {
  let parts = takeApart(text);
  if (parts !== void 0)
    return staysAsWritten(parts) ? text : formatQuantity(amountOf(parts));
}
function compareQuantities(a, b) {
  return a.nanos === b.nanos ? 0 : a.nanos < b.nanos ? -1 : 1;
}
function quantitySign({ nanos }) {
  return nanos === 0n ? 0 : nanos < 0n ? -1 : 1;
}
function roundUpToMilli({ nanos, form: form2 }) {
  return { nanos: divideUp(nanos, 1000000n) * 1000000n, form: form2 };
}
var pattern = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([A-Za-z]+)([+-]?[0-9]*))?$/;
function takeApart(text) {
  let match = text.length > 100 ? null : pattern.exec(text);
  if (match === null) return;
  let [, sign, whole = "", fraction = "", letters = "", power = ""] = match, scale = scaleOf(letters, power);
  if (!(scale === void 0 || whole + fraction === ""))
    return { negative: sign === "-", whole: String(BigInt(whole)), fraction, ...scale };
}
function scaleOf(letters, power) {
  if (power !== "") return letters === "e" || letters === "E" ? scaleOfPower(Number(power)) : void 0;
  let exponent = decimalExponents.get(letters);
  if (exponent !== void 0) return { form: "decimal", exponent };
  let place = binarySuffixes.indexOf(letters);
  return place < 0 ? void 0 : { form: "binary", exponent: place * 10 };
}
function scaleOfPower(exponent) {
  return Math.abs(exponent) <= 100 ? { form: "exponent", exponent } : void 0;
}
function amountOf({ negative, whole, fraction, form: form2, exponent }) {
  let digits = BigInt(whole + fraction), nanos = form2 === "binary" ? smaller(shift(digits << BigInt(exponent), 9 - fraction.length), largestBinary) : shift(digits, 9 + exponent - fraction.length);
  return { nanos: negative ? -nanos : nanos, form: form2 === "binary" && nanos < nanosInOne ? "decimal" : form2 };
}
function shift(amount, places) {
  return places < 0 ? divideUp(amount, 10n ** BigInt(-places)) : amount * 10n ** BigInt(places);
}
function divideUp(amount, by) {
  let quotient = amount / by;
  return amount % by === 0n ? quotient : amount < 0n ? quotient - 1n : quotient + 1n;
}
function smaller(a, b) {
  return a < b ? a : b;
}
function formatBinary(nanos) {
  let amount = nanos / nanosInOne;
  if (nanos % nanosInOne !== 0n || amount > -1024n && amount < 1024n) return;
  let place = 0;
  for (; amount % 1024n === 0n; place++) amount /= 1024n;
  return `${amount}${binarySuffixes[place]}`;
}
function formatDecimal(nanos, form2) {
  let digits = String(nanos), zeros = trailingZeros(digits), dropped = zeros - zeros % 3, exponent = dropped - 9, suffix = form2 === "exponent" ? void 0 : decimalSuffixes.get(exponent);
  return digits.slice(0, digits.length - dropped) + (suffix ?? (exponent === 0 ? "" : `e${exponent}`));
}
function trailingZeros(digits) {
  let start = digits.length;
  for (; digits[start - 1] === "0"; ) start--;
  return digits.length - start;
}
function staysAsWritten({ whole, fraction, form: form2, exponent }) {
  if (form2 === "binary") {
    let fits2 = whole.length + Math.floor(exponent * 3 / 10) <= 14;
    return fraction === "" && fits2 && BigInt(whole) % 8n !== 0n;
  }
  let digits = whole + fraction, scale = exponent - fraction.length;
  return !digits.startsWith("0") && !digits.endsWith("000") && digits.length <= 18 && scale >= -9 && scale % 3 === 0;
}

// src/schema/fits.ts
function fits(schema, value) {
  if (value === null) return schema.nullable === !0 || schema.type === "any";
  switch (schema.type) {
    case "string":
    case "bytes":
    case "time":
    case "quantity":
      return typeof value == "string";
    case "boolean":
      return typeof value == "boolean";
    case "integer":
      return isInteger(value);
    case "number":
      return typeof value == "number" || typeof value == "bigint";
    case "intOrString":
      return typeof value == "string" || isInteger(value);
    case "any":
      return !0;
    case "map":
    case "object":
      return isObject(value);
    case "list":
      return Array.isArray(value);
    default:
      return schema;
  }
}
function isInteger(value) {
  return typeof value == "bigint" || Number.isInteger(value);
}

// src/schema/time.ts
var form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;
function normalTime(text, micro) {
  if (text.length > 40) return;
  let match = form.exec(text);
  if (match === null || micro && match[7]?.length !== 6) return;
  let whole = Date.parse(`${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:${match[6]}${match[8]}`);
  if (Number.isNaN(whole)) return;
  let iso = new Date(whole).toISOString();
  if (iso.length === 24 && isCalendarDay(Number(match[1]), Number(match[2]), Number(match[3])))
    return `${iso.slice(0, 19)}${micro ? `.${match[7]}` : ""}Z`;
}
function isCalendarDay(year, month, day) {
  return day >= 1 && month >= 1 && month <= 12 && day <= new Date(Date.UTC(2e3 + year % 400, month, 0)).getUTCDate();
}

// src/schema/decode.ts
function decode(schema, value) {
  let unknown = [];
  return { value: read(schema, value, "", unknown), unknown };
}
function read(schema, value, path, unknown) {
  if (schema.lenient && (value === null || !fits(schema, value))) return value;
  switch (schema.type) {
    case "string":
      return typeof value == "string" ? value : wrongType(path, value, "string");
    case "boolean":
      return typeof value == "boolean" ? value : wrongType(path, value, "bool");
    case "integer":
      return readInteger(schema, value, path);
    case "number":
      return typeof value == "number" || typeof value == "bigint" ? value : wrongType(path, value, "number");
    case "bytes":
      return typeof value == "string" ? readBase64(value, path) : wrongType(path, value, "base64 string");
    case "time":
      return typeof value == "string" ? readTime(value, schema.micro, path) : wrongType(path, value, "time");
    case "quantity":
      return readQuantity(value, path);
    case "intOrString":
      return typeof value == "string" ? value : readInteger({ type: "integer", bits: 32 }, value, path);
    case "any":
      return value;
    case "map":
      return readMap(schema, value, path, unknown);
    case "list":
      return readList(schema, value, path, unknown);
    case "object":
      return readObject(schema, value, path, unknown);
    default:
      return schema;
  }
}
function readObject(schema, value, path, unknown) {
  if (!isObject(value)) return wrongType(path, value, "object");
  let result = {};
  for (let key of Object.keys(value))
    Object.hasOwn(schema.fields, key) || (schema.open ? setKey(result, key, value[key]) : unknown.push(child(path, key)));
  for (let name in schema.fields) {
    let field2 = schema.fields[name], sent = own(value, name);
    if (sent != null) {
      let item = read(field2.schema, sent, child(path, name), unknown);
      (field2.zero !== "omit" || !isZero(item)) && setKey(result, name, item);
    } else sent === null && field2.schema.nullable ? setKey(result, name, null) : field2.zero === "write" && setKey(result, name, zeroOf(field2.schema, unknown));
  }
  return result;
}
function readMap(schema, value, path, unknown) {
  if (!isObject(value)) return wrongType(path, value, "object");
  let result = {};
  for (let [key, item] of Object.entries(value))
    item === null && schema.values.lenient && !fits(schema.values, null) || setKey(result, key, readItem(schema.values, item, at(path, key), unknown));
  return result;
}
function readList(schema, value, path, unknown) {
  return Array.isArray(value) ? value.map((item, i) => readItem(schema.items, item, at(path, i), unknown)) : wrongType(path, value, "array");
}
function readItem(schema, item, path, unknown) {
  return item === null && !schema.lenient ? zeroOf(schema, unknown) : read(schema, item, path, unknown);
}
function readInteger(schema, value, path) {
  return typeof value == "bigint" ? schema.bits === 64 && BigInt.asIntN(64, value) === value ? value : outOfRange(path, value, schema.bits) : typeof value != "number" ? wrongType(path, value, `int${schema.bits}`) : Number.isInteger(value) ? schema.bits === 32 && (value | 0) !== value ? outOfRange(path, value, 32) : Number.isSafeInteger(value) ? value === 0 ? 0 : value : outOfRange(path, value, 64) : wrongType(path, value, `int${schema.bits}`);
}
function readBase64(value, path) {
  let packed = value.includes(`
`) || value.includes("\r") ? value.replaceAll(/[\r\n]/g, "") : value;
  if (packed.length % 4 !== 0 || !isBase64(packed))
    throw badRequest(`${path}: illegal base64 data: use the standard alphabet with padding`);
  return packed;
}
function isBase64(text) {
  return Buffer.from(text, "base64").toString("base64") === text;
}
function readTime(value, micro, path) {
  let normal = normalTime(value, micro);
  if (normal !== void 0) return normal;
  let form2 = `"2006-01-02T15:04:05${micro ? ".000000" : ""}Z"`;
  throw badRequest(`${path}: ${JSON.stringify(value.slice(0, 100))} is not a time: use RFC 3339, as in ${form2}`);
}
function readQuantity(value, path) {
  if (typeof value != "string" && typeof value != "number" && typeof value != "bigint")
    return wrongType(path, value, "quantity");
  let text = String(value), canonical = canonicalQuantity(text.trim());
  if (canonical === void 0)
    throw badRequest(
      `${path}: ${JSON.stringify(text.slice(0, 100))} is not a quantity: use a number with a suffix or an exponent, as in "500m", "1.5Gi" or "1e3"`
    );
  return canonical;
}
function zeroOf(schema, unknown) {
  switch (schema.type) {
    case "string":
    case "bytes":
      return "";
    case "quantity":
      return "0";
    case "boolean":
      return !1;
    case "integer":
    case "number":
    case "intOrString":
      return 0;
    case "time":
    case "any":
      return null;
    case "map":
      return {};
    case "list":
      return [];
    case "object":
      return readObject(schema, {}, "", unknown);
    default:
      return schema;
  }
}
function isZero(value) {
  return value === null || value === "" || value === 0 || value === !1 ? !0 : typeof value != "object" ? !1 : Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
function wrongType(path, value, wanted) {
  throw badRequest(`${path || "the body"}: expected ${wanted}, got ${typeName(value)}`);
}
function outOfRange(path, value, bits) {
  throw badRequest(`${path}: ${value} does not fit a ${bits}-bit integer`);
}

// src/registry/served.ts
function serveKind(kind, vendor, endpoints) {
  let apiVersion = apiVersionOf(vendor, kind.group, kind.version), own2 = endpoints.filter((endpoint) => endpoint.kind === kind);
  return {
    vendor,
    kind,
    group: groupName(vendor, kind.group),
    plural: kind.plural,
    apiVersion,
    verbs: kind.verbs ?? allVerbs,
    subresources: new Map([...viewsOf(kind), ...actionsOf(own2)]),
    context: { vendor, subresource: "", through: `${kind.group}/${kind.version}` },
    empty: asObject(decode(kind.schema, { apiVersion, kind: kind.kind }).value),
    endpoint: own2.find(({ subresource }) => subresource === "")
  };
}
function viewsOf({ subresources = {} }) {
  return Object.entries(subresources).map(([name, { verbs: verbs2, as }]) => [
    name,
    { verbs: verbs2, type: as?.kind, endpoint: void 0 }
  ]);
}
function actionsOf(endpoints) {
  return endpoints.filter(({ subresource }) => subresource !== "").map((endpoint) => [endpoint.subresource, { verbs: endpoint.verbs, type: endpoint.type, endpoint }]);
}

// src/registry/resource.ts
function serveKinds(kinds, parts, endpoints = []) {
  let resources = kinds.filter((kind) => kind.conversion === void 0 && !kind.virtual).flatMap((kind) => serveVersions(kind, kinds, { parts, endpoints }));
  return kinds.map((kind) => {
    let resource = kind.virtual ? serveVirtual(kind, parts, endpoints) : resources.find((each) => each.kind === kind);
    if (resource === void 0) throw new TypeError(`nothing stores or answers ${kind.plural}`);
    return resource;
  });
}
function serveVirtual(kind, { vendor }, endpoints) {
  let served = serveKind(kind, vendor, endpoints);
  return served.endpoint && { ...served, verbs: served.endpoint.verbs, endpoint: served.endpoint };
}
function serveVersions(kind, kinds, { parts, endpoints }) {
  let versions2 = [], shared = { ...parts, cache: parts.caches.add(kind.group, kind.plural), time: timeOf(parts.clock), versions: versions2 }, serve = (version, stored2) => {
    let views = /* @__PURE__ */ new Map(), own2 = { ...serveKind(version, parts.vendor, endpoints), ...shared, endpoint: void 0, stored: stored2, views };
    for (let [name, { as }] of Object.entries(version.subresources ?? {}))
      as !== void 0 && views.set(name, showAs(as, stored2 ?? own2));
    return own2;
  }, stored = serve(kind, void 0), others = kinds.filter(({ conversion }) => conversion?.stored === kind);
  return versions2.push(stored, ...others.map((other) => serve(other, stored))), versions2;
}
function showAs({ kind, read: read2, write: write2 }, stored) {
  let conversion = {
    stored: stored.kind,
    fromStored: (object) => read2(object),
    toStored: (sent, _, previous = stored.empty) => {
      let object = structuredClone(previous);
      return write2(sent, object), object;
    }
  }, shown2 = serveKind({ ...kind, conversion }, stored.vendor, []);
  return { ...stored, ...shown2, plural: stored.plural, group: stored.group, endpoint: void 0, stored };
}
function timeOf(clock) {
  let second = Number.NaN, text = "";
  return () => {
    let now = Math.floor(clock.now() / 1e3);
    return now !== second && (text = timestamp(now * 1e3)), second = now, text;
  };
}
function keyOf(resource, namespace, name) {
  return namespace === "" ? `${resource.cache.prefix}${name}` : `${resource.cache.prefix}${namespace}/${name}`;
}
function kindRef({ kind, vendor }) {
  return { group: groupName(vendor, kind.group), kind: kind.kind };
}
var catchUpMs = 3e3;
function readMostRecent({ store, caches }) {
  let revision = store.revision();
  return typeof revision != "number" ? revision.then((later) => catchUp(caches, later)) : caches.revision >= revision ? void 0 : catchUp(caches, revision);
}
async function catchUp(caches, revision) {
  if (!await caches.reached(revision, catchUpMs))
    throw serviceUnavailable("the server has not caught up with its store yet; try again");
}
function headerOf({ kind }, object) {
  return { labels: object.metadata.labels, fields: kind.selectable?.(object) };
}

// src/http/openapi/group-version.ts
function groupVersions({ types }) {
  return [...Map.groupBy(types, ({ group, kind }) => pathOf(group, kind.version))].map(([path, members]) => {
    let { group, kind } = members[0], name = kind.group.split(".").map(capital).join("");
    return {
      group,
      version: kind.version,
      path,
      home: homeOf(kind),
      name: `${name}${capital(kind.version)}`,
      tag: `${name.charAt(0).toLowerCase()}${name.slice(1)}_${kind.version}`,
      types: members
    };
  });
}
function homeOf({ group, version }) {
  return `${group.split(".")[0]}.${version}`;
}
function pathOf(group, version) {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}
function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

// src/codec/json.ts
import { isUtf8 } from "node:buffer";
function parseJson(bytes) {
  if (!isUtf8(bytes)) throw badRequest("the body is not valid UTF-8");
  let text = bytes.toString("utf8"), scan = scanJson(text);
  try {
    return { value: scan.bigNumbers ? JSON.parse(text, exactNumbers) : JSON.parse(text), duplicates: scan.duplicates };
  } catch (error) {
    throw error instanceof SyntaxError ? badRequest(`the body is not valid JSON: ${error.message}`, { cause: error }) : error;
  }
}
function exactNumbers(_key, value, context) {
  if (typeof value != "number" || Number.isSafeInteger(value)) return value;
  let source = context?.source ?? "";
  if (/^-?\d{1,40}$/.test(source)) return BigInt(source);
  if (!Number.isFinite(value) || source.length > 400)
    throw badRequest(`the number ${source.slice(0, 40)} is out of range`);
  return value;
}
function stringifyJson(value) {
  return typeof value == "object" && value !== null && !Array.isArray(value) ? writeTop(value) : write(value);
}
function writeTop({ apiVersion, kind, ...rest }) {
  let members = [];
  apiVersion !== void 0 && members.push(stringifyMember("apiVersion", apiVersion)), kind !== void 0 && members.push(stringifyMember("kind", kind));
  let others = stringifyMembers(rest);
  return others !== "" && members.push(others), `{${members.join(",")}}`;
}
function write(value) {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
    case "boolean":
    case "bigint":
      return String(value);
    default:
      return value === null ? "null" : Array.isArray(value) ? writeArray(value) : `{${stringifyMembers(value)}}`;
  }
}
function writeArray(items) {
  let text = "[";
  for (let i = 0; i < items.length; i++) text += i === 0 ? write(items[i]) : `,${write(items[i])}`;
  return `${text}]`;
}
function stringifyMembers(object) {
  let text = "";
  for (let key of sortedKeys(object)) {
    let value = object[key];
    value !== void 0 && (text += text === "" ? stringifyMember(key, value) : `,${stringifyMember(key, value)}`);
  }
  return text;
}
function stringifyMember(key, value) {
  return `${JSON.stringify(key)}:${write(value)}`;
}
function stringifyOrdered(value) {
  return isOrdered(value) ? JSON.stringify(value) : write(value);
}
function isOrdered(value) {
  if (typeof value == "bigint") return !1;
  if (typeof value != "object" || value === null) return !0;
  if (Array.isArray(value)) return value.every(isOrdered);
  let last;
  for (let key in value) {
    if (last !== void 0 && compareUtf8(last, key) > 0 || !isOrdered(value[key])) return !1;
    last = key;
  }
  return !0;
}
function sortedKeys(object) {
  return sortUtf8(Object.keys(object));
}

// src/http/forms.ts
var jsonForm = { mediaType: "application/json", encode: void 0 }, prettyForm = {
  mediaType: "application/json",
  encode: async (json) => {
    let { indentJson } = await import("./indent-json-TFN6HLD7.js");
    return Buffer.from(indentJson(parseJson(json).value));
  }
}, yamlForm = {
  mediaType: "application/yaml",
  encode: async (json) => {
    let { stringifyYaml } = await import("./yaml-OQIWL3WV.js");
    return Buffer.from(stringifyYaml(parseJson(json).value));
  }
};

// src/registry/read-stored.ts
function readObject2(json) {
  let text = json.toString("utf8");
  return asObject(mayHoldBigIntegers.test(text) ? parseJson(json).value : JSON.parse(text));
}
var mayHoldBigIntegers = /[:[,]-?\d{16}/;

// src/schema/somewhere.ts
function somewhere(isWanted) {
  let known = /* @__PURE__ */ new WeakMap(), find2 = (schema) => {
    let found = known.get(schema);
    if (found !== void 0) return found;
    known.set(schema, !0);
    let has = isWanted(schema) || below(schema).some(find2);
    return known.set(schema, has), has;
  };
  return find2;
}
function below(schema) {
  switch (schema.type) {
    case "object":
      return Object.values(schema.fields).map((field2) => field2.schema);
    case "map":
      return [schema.values];
    case "list":
      return [schema.items];
    default:
      return [];
  }
}

// src/schema/validate.ts
var hasRules = somewhere((schema) => {
  if (schema.check !== void 0 || schema.lenient) return !0;
  switch (schema.type) {
    case "object":
      return schema.choice !== void 0 || Object.values(schema.fields).some((field2) => field2.required);
    case "map":
      return schema.key !== void 0;
    case "list":
      return schema.unique === !0;
    case "string":
      return schema.values !== void 0;
    default:
      return !1;
  }
});
function validate(schema, value, context) {
  let validation = { context, errors: [] };
  return check(schema, value, "", validation), validation.errors;
}
function check(schema, value, path, validation) {
  if (hasRules(schema)) {
    if (schema.lenient && !fits(schema, value)) {
      validation.errors.push(invalid(path, typeName(value), `must be of type ${schema.type}, not ${typeName(value)}`));
      return;
    }
    if (!(value === null && schema.nullable)) {
      checkType(schema, value, path, validation);
      for (let error of schema.check?.(value, path, validation.context) ?? []) validation.errors.push(error);
    }
  }
}
function checkType(schema, value, path, validation) {
  switch (schema.type) {
    case "object":
      isObject(value) && checkObject(schema, value, path, validation);
      return;
    case "map":
      isObject(value) && checkMap(schema, value, path, validation);
      return;
    case "list":
      Array.isArray(value) && checkList(schema, value, path, validation);
      return;
    case "string":
      schema.values && !schema.values.includes(String(value)) && validation.errors.push(notSupported(path, value, schema.values));
      return;
    default:
      return;
  }
}
function checkObject(schema, value, path, validation) {
  let { choice } = schema, surplus = choice ? membersIn(value, choice).slice(1) : [];
  for (let name in schema.fields)
    surplus.includes(name) ? validation.errors.push(forbidden(child(path, name), `may not specify more than 1 ${choice?.noun}`)) : checkField(schema.fields[name], own(value, name), child(path, name), validation);
  choice && membersIn(value, choice).length === 0 && validation.errors.push(required(path, `must specify a ${choice.noun}`));
}
function membersIn(value, { among }) {
  return among.filter((name) => own(value, name) !== void 0);
}
function checkField(field2, item, path, validation) {
  field2.required && (item === void 0 || item === "" || item === null) ? validation.errors.push(required(path)) : item !== void 0 && !(item === "" && field2.zero === "write") && check(field2.schema, item, path, validation);
}
function checkMap(schema, value, path, validation) {
  let looksInto = hasRules(schema.values);
  for (let key of Object.keys(value)) {
    let place = schema.lenient ? child(path, key) : at(path, key);
    for (let text of schema.key?.(key) ?? []) validation.errors.push(invalid(place, key, text));
    looksInto && check(schema.values, value[key], place, validation);
  }
}
function checkList(schema, value, path, validation) {
  if (schema.unique && checkUnique(schema, value, path, validation), !!hasRules(schema.items))
    for (let [i, item] of value.entries()) check(schema.items, item, schema.lenient ? path : at(path, i), validation);
}
function checkUnique(schema, value, path, { errors }) {
  let seen = /* @__PURE__ */ new Set();
  for (let [i, item] of value.entries()) {
    let identity2 = identityOf(schema, item);
    seen.has(identity2) && errors.push(duplicate(at(path, i), item)), seen.add(identity2);
  }
}
function identityOf(schema, item) {
  return schema.list === "set" || !isObject(item) ? textOf(item) : textOf(schema.keys?.map((key) => own(item, key) ?? null) ?? []);
}
function textOf(value) {
  return JSON.stringify(value, (_, item) => typeof item == "bigint" ? `${item}n` : item);
}

// src/cache/event.ts
var CacheEvent = class {
  revision;
  previous;
  /** The object after the change; for a deletion its last state at the deletion's revision. */
  object;
  deleted;
  #encoded = /* @__PURE__ */ new Map();
  constructor(object, previous, deleted) {
    this.revision = object.revision, this.object = object, this.previous = previous, this.deleted = deleted;
  }
  /** What a watcher is shown: for DELETED the last state that it knew, with the version of the change. */
  #shown(type) {
    return type !== "DELETED" || this.deleted || this.previous === void 0 ? this.object : this.previous.withRevision(this.revision);
  }
  /** What this change is to someone who selects by `matches`; undefined: nothing. */
  typeFor(matches) {
    let before2 = this.previous !== void 0 && (matches === void 0 || matches(this.previous));
    return !this.deleted && (matches === void 0 || matches(this.object)) ? before2 ? "MODIFIED" : "ADDED" : before2 ? "DELETED" : void 0;
  }
  bytes(form2, type) {
    let name = `${form2.name} ${type}`, bytes = this.#encoded.get(name);
    return bytes === void 0 && (bytes = form2.encode(type, this.#shown(type)), this.#encoded.set(name, bytes)), bytes;
  }
}, jsonEvents = {
  name: "json",
  encode: (type, object) => Buffer.concat([Buffer.from(`{"type":"${type}","object":`), object.json, closing])
}, closing = Buffer.from(`}
`);

// src/schema/defaults.ts
var hasDefaults = somewhere(
  (schema) => schema.type === "object" && (schema.fill !== void 0 || Object.values(schema.fields).some((field2) => field2.default !== void 0))
);
function fillDefaults(schema, value, context) {
  if (hasDefaults(schema))
    switch (schema.type) {
      case "object":
        isObject(value) && fillObject(schema, value, context);
        return;
      case "list":
        if (Array.isArray(value)) for (let item of value) fillDefaults(schema.items, item, context);
        return;
      case "map":
        if (isObject(value)) for (let item of Object.values(value)) fillDefaults(schema.values, item, context);
        return;
      default:
        return;
    }
}
function fillObject(schema, value, context) {
  for (let [name, field2] of Object.entries(schema.fields))
    field2.default !== void 0 && own(value, name) === void 0 && setKey(value, name, fresh(field2.default));
  schema.fill?.(value, context);
  for (let [name, field2] of Object.entries(schema.fields)) {
    let present = own(value, name);
    present != null && fillDefaults(field2.schema, present, context);
  }
}
function fresh(value) {
  return typeof value == "object" ? structuredClone(value) : value;
}

// src/registry/conversion.ts
function fromStored({ kind, apiVersion, vendor }, object) {
  return kind.conversion === void 0 ? object : { ...kind.conversion.fromStored(object, vendor), apiVersion };
}
function toStored(resource, object, previous) {
  let { stored } = resource;
  if (stored === void 0) return object;
  let { value } = decode(stored.kind.schema, inStoredForm(resource, object, previous));
  fillDefaults(stored.kind.schema, value, stored.context);
  let converted = asObject(value);
  return stored.kind.fillDefaults?.(converted, stored.context), converted;
}
function inStoredForm(resource, object, previous) {
  let { kind, stored, vendor } = resource;
  return kind.conversion === void 0 || stored === void 0 ? object : { ...kind.conversion.toStored(object, vendor, previous), apiVersion: stored.apiVersion };
}
function readVersion(resource, json) {
  return fromStored(resource, readObject2(json));
}
function jsonOf(resource, json) {
  return resource.stored === void 0 ? json : Buffer.from(stringifyJson(readVersion(resource, json)));
}
function eventsOf(resource) {
  if (resource.stored === void 0) return jsonEvents;
  let encode = (type, { json }) => Buffer.from(`{"type":"${type}","object":${stringifyJson(readVersion(resource, json))}}
`);
  return { name: `json ${resource.apiVersion}`, encode };
}
function inVersions({ versions: versions2 }) {
  if (versions2.length === 1) return;
  let find2 = (apiVersion) => versions2.find((version) => version.apiVersion === apiVersion);
  return (object, apiVersion) => {
    let from = find2(object.apiVersion), to = find2(apiVersion);
    if (!(from === void 0 || to === void 0))
      return { schema: to.kind.schema, object: from === to ? object : convert(from, to, object) };
  };
}
function convert(from, to, object) {
  let decoded = asObject(decode(from.kind.schema, object).value);
  return fromStored(to, inStoredForm(from, decoded));
}

// src/registry/metadata.ts
import { randomUUID } from "node:crypto";

// src/model/names.ts
import { isIP } from "node:net";
var label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, plainSubdomain = /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/, subdomainPart = /^[a-z0-9-]+$/, qualifiedPart = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?$/, labelRule = "a lowercase RFC 1123 label must consist of lower case letters, digits or '-', and must start and end with a letter or digit (e.g. 'my-name' or '123-abc')", subdomainRule = "a lowercase RFC 1123 subdomain must consist of lower case letters, digits, '-' or '.', and must start and end with a letter or digit (e.g. 'example.com')", qualifiedRule = "name part must consist of letters, digits, '-', '_' or '.', and must start and end with a letter or digit (e.g. 'MyName' or 'my.name' or '123-abc')", labelValueRule = "a valid label must be an empty string or consist of letters, digits, '-', '_' or '.', and must start and end with a letter or digit (e.g. 'MyValue' or 'my_value' or '12345')";
function checkDnsLabel(name) {
  return name.length > 63 ? [atMost(63), ...label.test(name.slice(0, 1e3)) ? [] : [labelRule]] : label.test(name) ? [] : [labelRule];
}
function checkDnsSubdomain(name) {
  return name.length > 253 ? [atMost(253), ...isSubdomain(name.slice(0, 1e3)) ? [] : [subdomainRule]] : isSubdomain(name) ? [] : [subdomainRule];
}
function isSubdomain(name) {
  return plainSubdomain.test(name) || name.split(".").every((part) => subdomainPart.test(part) && !part.startsWith("-") && !part.endsWith("-"));
}
function checkQualifiedName(name) {
  let parts = name.split("/");
  if (parts.length > 2)
    return [
      `a qualified name ${qualifiedRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`
    ];
  let prefix = parts.length === 2 ? parts[0] : void 0, local = parts.at(-1), errors = [];
  return prefix === "" ? errors.push("prefix part must be non-empty") : prefix !== void 0 && errors.push(...checkDnsSubdomain(prefix).map((text) => `prefix part ${text}`)), local === "" ? errors.push("name part must be non-empty") : local.length > 63 && errors.push(`name part ${atMost(63)}`), local.length > 0 && !qualifiedPart.test(local.slice(0, 1e3)) && errors.push(qualifiedRule), errors;
}
function checkLabelValue(value) {
  let errors = [];
  return value.length > 63 && errors.push(atMost(63)), value !== "" && !qualifiedPart.test(value.slice(0, 1e3)) && errors.push(labelValueRule), errors;
}
function checkPathSegment(name) {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  let errors = [];
  return name.includes("/") && errors.push("may not contain '/'"), name.includes("%") && errors.push("may not contain '%'"), errors;
}
var longestStored = 512;
function checkStoredName(name) {
  return Buffer.byteLength(name) > longestStored ? [`must be no more than ${longestStored} bytes`] : name.includes("\0") || !name.isWellFormed() ? ["must be well-formed text without NUL"] : [];
}
function checkConfigKey(key) {
  let errors = [];
  return key.length > 253 && errors.push(atMost(253)), /^[-._a-zA-Z0-9]+$/.test(key.slice(0, 1e3)) || errors.push(
    "a valid config key must consist of letters, digits, '-', '_' or '.' (e.g. 'key.name', 'KEY_NAME' or 'key-name')"
  ), key === "." ? errors.push("must not be '.'") : key === ".." ? errors.push("must not be '..'") : key.startsWith("..") && errors.push("must not start with '..'"), errors;
}
function checkPortName(name) {
  let errors = [];
  return name.length > 15 && errors.push(atMost(15)), /^[-a-z0-9]+$/.test(name.slice(0, 100)) || errors.push("must contain only lower case letters, digits and '-'"), /[a-z]/.test(name.slice(0, 100)) || errors.push("must contain at least one letter"), name.includes("--") && errors.push("must not contain consecutive '-'"), (name.startsWith("-") || name.endsWith("-")) && errors.push("must not begin or end with '-'"), errors;
}
function checkEnvironmentName(name) {
  let errors = [];
  return /^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name) || errors.push("must consist of letters, digits, '_', '-' or '.', and must not start with a digit (e.g. 'MY_ENV')"), name === "." || name === ".." ? errors.push(`must not be '${name}'`) : name.startsWith("..") && errors.push("must not start with '..'"), errors;
}
function checkIpAddress(text) {
  return text.length <= 45 && !text.includes("%") && isIP(text) !== 0 ? [] : ["must be a valid IP address (e.g. 10.9.8.7 or 2001:db8::ffff)"];
}
function asPrefix(check2) {
  return (prefix) => check2(prefix.endsWith("-") ? `${prefix.slice(0, -1)}a` : prefix);
}
function atMost(length) {
  return `must be no more than ${length} characters`;
}

// src/model/label-rules.ts
var maxAnnotationBytes = 256 * 1024;
function checkLabelKey(key, path) {
  return checkQualifiedName(key).map((text) => invalid(path, key, text));
}
function checkLabels(labels = {}, path) {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...checkLabelKey(key, path),
    ...checkLabelValue(value).map((text) => invalid(path, value, text))
  ]);
}
function checkAnnotations(annotations = {}, path) {
  let entries = Object.entries(annotations), bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return [
    ...entries.flatMap(([key]) => checkQualifiedName(key.toLowerCase()).map((text) => invalid(path, key, text))),
    ...bytes > maxAnnotationBytes ? [tooLong(path, maxAnnotationBytes)] : []
  ];
}

// src/registry/metadata.ts
var standardFinalizers = /* @__PURE__ */ new Set(["orphan", "foregroundDeletion"]);
function uniqueOwners(owners) {
  let seen = /* @__PURE__ */ new Set();
  return owners.filter((owner) => {
    let identity2 = JSON.stringify([
      owner.apiVersion,
      owner.kind,
      owner.name,
      owner.uid,
      owner.controller,
      owner.blockOwnerDeletion
    ]);
    return !seen.has(identity2) && seen.add(identity2);
  });
}
function systemMetadata(sent, creationTimestamp) {
  let metadata = copyWithout(
    sent,
    "selfLink",
    "resourceVersion",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation"
  );
  return metadata.uid = randomUUID(), metadata.creationTimestamp = creationTimestamp, metadata;
}
var alphabet = "bcdfghjklmnpqrstvwxz2456789", randomLength = 5, longestPrefix = 63 - randomLength;
function generateName(prefix) {
  let random = Number.parseInt(randomUUID().slice(0, 8), 16), suffix = "";
  for (let i = 0; i < randomLength; i++)
    suffix += alphabet[random % alphabet.length], random = Math.floor(random / alphabet.length);
  return `${prefix.slice(0, longestPrefix)}${suffix}`;
}
function validateMetadata(kind, metadata) {
  let { generation = 0, labels, annotations, ownerReferences, finalizers } = metadata;
  return [
    ...validateName(kind, metadata),
    ...validateNamespace(metadata),
    ...generation < 0 ? [invalid("metadata.generation", generation, "must be greater than or equal to 0")] : [],
    ...labels ? checkLabels(labels, "metadata.labels") : [],
    ...annotations ? checkAnnotations(annotations, "metadata.annotations") : [],
    ...ownerReferences ? validateOwners(ownerReferences) : [],
    ...finalizers ? validateFinalizers(finalizers) : []
  ];
}
function validateName(kind, { name = "", generateName: prefix = "" }) {
  let errors = [];
  return prefix !== "" && errors.push(...asPrefix(kind.name)(prefix).map((text) => invalid("metadata.generateName", prefix, text))), name === "" ? errors.push(required("metadata.name", "name or generateName is required")) : errors.push(...nameFaults(kind, name).map((text) => invalid("metadata.name", name, text))), errors;
}
function validateNamespace({ namespace }) {
  return namespace === void 0 ? [] : checkDnsLabel(namespace).map((text) => invalid("metadata.namespace", namespace, text));
}
function nameFaults(kind, name) {
  let faults = kind.name(name);
  return faults.length > 0 ? faults : [...checkPathSegment(name), ...checkStoredName(name)];
}
function validateOwners(owners) {
  let path = "metadata.ownerReferences", errors = owners.flatMap((owner) => [
    ...versionOf(owner.apiVersion) === "" ? [invalid(child(path, "apiVersion"), owner.apiVersion, "version must not be empty")] : [],
    ...owner.apiVersion === "v1" && owner.kind === "Event" ? [invalid(path, { ...owner }, `${owner.kind} is disallowed from being an owner`)] : [],
    ...["kind", "name", "uid"].filter((name) => owner[name] === "").map((name) => invalid(child(path, name), "", `${name} must not be empty`))
  ]), controllers = owners.filter((owner) => owner.controller);
  if (controllers.length < 2) return errors;
  let names2 = controllers.map((owner) => owner.name).join(" and ");
  return [
    ...errors,
    invalid(
      path,
      owners,
      `Only one reference can have Controller set to true. Found "true" in references for ${names2}`
    )
  ];
}
function versionOf(apiVersion) {
  let parts = apiVersion.split("/");
  return parts.length > 2 ? "" : parts.at(-1);
}
function validateFinalizers(finalizers) {
  let path = "metadata.finalizers", errors = finalizers.flatMap((name, i) => {
    let faults = checkQualifiedName(name).map((text) => invalid(path, name, text));
    return faults.length > 0 || name.includes("/") || standardFinalizers.has(name) ? faults : [invalid(at(path, i), name, "name is neither a standard finalizer name nor is it fully qualified")];
  });
  return finalizers.includes("orphan") && finalizers.includes("foregroundDeletion") && errors.push(invalid(path, finalizers, "finalizers orphan and foregroundDeletion cannot be both set")), errors;
}
function keptMetadata(next, previous) {
  let end = previous.deletionTimestamp === void 0 ? next : previous, kept = copyWithout(next, "selfLink", "generation", "deletionTimestamp", "deletionGracePeriodSeconds");
  kept.uid ??= previous.uid, kept.creationTimestamp = previous.creationTimestamp;
  let generateName2 = next.generateName ?? previous.generateName;
  return generateName2 !== void 0 && (kept.generateName = generateName2), previous.generation !== void 0 && (kept.generation = previous.generation), end.deletionTimestamp !== void 0 && (kept.deletionTimestamp = end.deletionTimestamp), end.deletionGracePeriodSeconds !== void 0 && (kept.deletionGracePeriodSeconds = end.deletionGracePeriodSeconds), kept;
}
var fixed = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds"
];
function validateMetadataUpdate(next, previous) {
  let errors = validateNewFinalizers(next, previous);
  for (let name of fixed)
    next[name] !== previous[name] && errors.push(invalid(`metadata.${name}`, next[name], "field is immutable"));
  return errors;
}
function validateNewFinalizers(next, previous) {
  if (previous.deletionTimestamp === void 0) return [];
  let extra = (next.finalizers ?? []).filter((name) => !(previous.finalizers ?? []).includes(name));
  return extra.length === 0 ? [] : [
    forbidden(
      "metadata.finalizers",
      `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(extra)}`
    )
  ];
}

// src/codec/stored.ts
import { crc32 } from "node:zlib";
var format = 1, headerStart = 14, emptyHeader = "{}", DamagedValue = class extends Error {
  name = "DamagedValue";
};
function encodeStored(object, header) {
  let { before: before2, after } = splitBody(object), head = JSON.stringify(header), text = head + before2 + after, size = Buffer.byteLength(text), sizeOf2 = size === text.length ? lengthOf : Buffer.byteLength, bytes = Buffer.allocUnsafe(headerStart + size);
  return bytes.write(text, headerStart), bytes[0] = format, bytes[1] = 0, bytes.writeUInt32LE(sizeOf2(head), 6), bytes.writeUInt32LE(sizeOf2(before2), 10), bytes.writeUInt32LE(crc32(bytes.subarray(6)), 2), bytes;
}
function lengthOf(text) {
  return text.length;
}
function splitBody(object) {
  let { apiVersion, kind, metadata } = object, members = object, before2 = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)}`, after = `"uid":${JSON.stringify(metadata.uid)}}`;
  for (let key of sortedKeys(members)) {
    if (key === "apiVersion" || key === "kind" || key === "metadata" || members[key] === void 0) continue;
    let text = `,${JSON.stringify(key)}:${stringifyOrdered(members[key])}`;
    key < "metadata" ? before2 += text : after += text;
  }
  before2 += ',"metadata":{';
  for (let key of sortedKeys(metadata)) {
    let value = metadata[key];
    key === "uid" || key === "resourceVersion" || value === void 0 || (before2 += `${JSON.stringify(key)}:${stringifyOrdered(value)},`);
  }
  return { before: before2, after: `${after}}` };
}
var nothingSelectable = { labels: void 0, fields: void 0 }, HeaderReader = class {
  #text = Buffer.from(emptyHeader);
  #selectable = nothingSelectable;
  /** Checks the whole value on the way. */
  read(bytes) {
    let view = asBuffer(bytes);
    assertSound(view);
    let text = view.subarray(headerStart, headerStart + view.readUInt32LE(6));
    if (!text.equals(this.#text)) {
      let { labels, fields } = JSON.parse(text.toString("utf8"));
      this.#selectable = labels === void 0 && fields === void 0 ? nothingSelectable : { labels, fields }, this.#text = Buffer.from(text);
    }
    return this.#selectable;
  }
};
function storedJson(bytes, resourceVersion, allocate) {
  let view = asBuffer(bytes), bodyStart = headerStart + view.readUInt32LE(6), versionAt = view.readUInt32LE(10);
  return { json: splice(view.subarray(bodyStart), { at: versionAt, dropped: 0, resourceVersion, allocate }), versionAt };
}
function replaceVersion({ json, versionAt }, from, to) {
  let dropped = versionMember(from).length;
  return splice(json, { at: versionAt, dropped, resourceVersion: to, allocate: Buffer.allocUnsafeSlow });
}
function splice(json, { at: at2, dropped, resourceVersion, allocate }) {
  let member = versionMember(resourceVersion), result = allocate(json.length - dropped + member.length);
  return json.copy(result, 0, 0, at2), result.write(member, at2, "latin1"), json.copy(result, at2 + member.length, at2 + dropped), result;
}
function versionMember(resourceVersion) {
  return `"resourceVersion":"${resourceVersion}",`;
}
function assertSound(view) {
  if (view.length < headerStart) throw new DamagedValue("the stored value is cut off");
  if (view[0] !== format || view[1] !== 0)
    throw new DamagedValue(`the stored value has format ${view[0]}, which this version does not read`);
  if (crc32(view.subarray(6)) !== view.readUInt32LE(2))
    throw new DamagedValue("the stored value does not match its checksum");
}
function asBuffer(bytes) {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// src/merge/field-set.ts
var noChildren = /* @__PURE__ */ new Map(), emptySet = { member: !1, children: noChildren }, justHere = { member: !0, children: noChildren };
function isEmpty(set) {
  return !set.member && set.children.size === 0;
}
function below2(set, step2) {
  return set.children.get(step2) ?? emptySet;
}
function makeSet(member, children) {
  let kept = /* @__PURE__ */ new Map();
  for (let [step2, set] of children) isEmpty(set) || kept.set(step2, set);
  return kept.size === 0 ? member ? justHere : emptySet : { member, children: kept };
}
function rebuild(set, member, change) {
  let children;
  for (let [step2, branch] of set.children) {
    let next = change(branch, step2);
    next !== branch && (children ??= before(set, step2)), children !== void 0 && !isEmpty(next) && children.set(step2, next);
  }
  return children === void 0 ? member === set.member ? set : { member, children: set.children } : children.size === 0 ? member ? justHere : emptySet : { member, children };
}
function before(set, end) {
  let children = /* @__PURE__ */ new Map();
  for (let [step2, branch] of set.children) {
    if (step2 === end) break;
    children.set(step2, branch);
  }
  return children;
}
function union(a, b) {
  if (isEmpty(a)) return b;
  if (isEmpty(b) || a === b) return a;
  let children;
  for (let [step2, set] of b.children) {
    let known = a.children.get(step2), both = known === void 0 ? set : union(known, set);
    both !== known && (children ??= new Map(a.children), children.set(step2, both));
  }
  let member = a.member || b.member;
  return children === void 0 && member === a.member ? a : { member, children: children ?? a.children };
}
function intersection(a, b) {
  return rebuild(a, a.member && b.member, (branch, step2) => intersection(branch, below2(b, step2)));
}
function difference(a, b) {
  return isEmpty(b) ? a : rebuild(a, a.member && !b.member, (branch, step2) => difference(branch, below2(b, step2)));
}
function differenceBelow(a, b) {
  return b.member ? emptySet : isEmpty(b) ? a : rebuild(a, a.member, (branch, step2) => differenceBelow(branch, below2(b, step2)));
}
function covers(a, b) {
  if (a === b) return !0;
  if (b.member && !a.member) return !1;
  for (let [step2, set] of b.children) if (!covers(below2(a, step2), set)) return !1;
  return !0;
}
function sameSet(a, b) {
  if (a === b) return !0;
  if (a.member !== b.member || a.children.size !== b.children.size) return !1;
  for (let [step2, set] of a.children) if (!sameSet(set, below2(b, step2))) return !1;
  return !0;
}
function setOf(...paths) {
  return paths.reduce(
    (set, path) => union(
      set,
      path.reduceRight((rest, step2) => makeSet(!1, [[step2, rest]]), justHere)
    ),
    emptySet
  );
}
function pathsOf(set, prefix = []) {
  let steps = [...set.children].sort(([a], [b]) => a < b ? -1 : 1);
  return [...steps.filter(([, branch]) => branch.member).map(([step2]) => [...prefix, step2]), ...steps.flatMap(([step2, branch]) => pathsOf(branch, [...prefix, step2]))];
}
function toFieldsV1(set) {
  let fields = {};
  if (set.children.size === 0) return fields;
  set.member && (fields["."] = {});
  let steps = set.children.size === 1 ? set.children.keys() : sortUtf8([...set.children.keys()]);
  for (let step2 of steps) setKey(fields, step2, toFieldsV1(set.children.get(step2)));
  return fields;
}
var asWritten = (text) => text;
function fromFieldsV1(fields, readStep = normalStep) {
  let set = readBranch(fields, readStep);
  return set === void 0 || !set.member ? set : { member: !1, children: set.children };
}
function readBranch(fields, readStep) {
  if (!isObject(fields)) return;
  let keys = Object.keys(fields);
  if (keys.length === 0) return justHere;
  let children = /* @__PURE__ */ new Map();
  for (let key of keys) {
    if (key === ".") continue;
    let step2 = readStep(key), branch = step2 === void 0 ? void 0 : readBranch(fields[key], readStep);
    if (branch === void 0) return;
    children.set(step2, branch);
  }
  return { member: children.size === 0 || Object.hasOwn(fields, "."), children };
}
function normalStep(text) {
  if (text.startsWith("f:")) return text;
  let json = /^[kvi]:/.test(text) ? parsed(text.slice(2)) : void 0;
  if (json !== void 0)
    return text.startsWith("k:") ? isObject(json) && Object.keys(json).length > 0 ? `k:{${stringifyMembers(json)}}` : void 0 : text;
}
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return;
  }
}

// src/merge/shape.ts
function hasMembers(schema) {
  return schema.type === "any" ? schema.granular === !0 : (schema.type === "object" || schema.type === "map") && !schema.atomic;
}
function hasElements(schema) {
  return schema.type === "list" && schema.list !== "atomic";
}
var undescribed = { type: "any", granular: !0 };
function memberSchema(schema, name) {
  return schema.type === "map" ? schema.values : schema.type === "object" && Object.hasOwn(schema.fields, name) ? schema.fields[name].schema : undescribed;
}
function isNamed(schema, name) {
  return schema.type === "object" && Object.hasOwn(schema.fields, name);
}
function stepSchema(schema, step2) {
  return step2.startsWith("f:") ? hasMembers(schema) ? memberSchema(schema, step2.slice(2)) : void 0 : hasElements(schema) ? schema.items : void 0;
}

// src/merge/steps.ts
function fieldStep(name) {
  return `f:${name}`;
}
function elementStep(schema, item) {
  if (schema.list === "set" || !isObject(item)) return `v:${scalarText(item)}`;
  let names2 = schema.keys ?? [], text = "";
  for (let name of names2.length < 2 ? names2 : names2.toSorted(compareUtf8)) {
    let value = keyOf2(schema, item, name);
    value !== void 0 && (text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${scalarText(value)}`);
  }
  return `k:{${text}}`;
}
function scalarText(value) {
  return typeof value == "string" ? JSON.stringify(value) : stringifyJson(value);
}
function keyOf2(schema, item, name) {
  return own(item, name) ?? defaultOf(schema, name);
}
function defaultOf({ items }, name) {
  return items.type === "object" && Object.hasOwn(items.fields, name) ? items.fields[name].default : void 0;
}
function byStep(schema, items) {
  let elements = /* @__PURE__ */ new Map();
  for (let item of items) {
    let step2 = elementStep(schema, item);
    elements.has(step2) || elements.set(step2, item);
  }
  return elements;
}
function pathText(path) {
  return path.map(stepText).join("");
}
function stepText(step2) {
  let rest = step2.slice(2);
  return step2.startsWith("f:") ? `.${rest}` : step2.startsWith("k:") ? `[${keyText(JSON.parse(rest))}]` : step2.startsWith("v:") ? `[=${rest}]` : `[${rest}]`;
}
function keyText(keys) {
  return Object.entries(keys).map(([name, value]) => `${name}=${stringifyJson(value)}`).join(",");
}

// src/merge/compare.ts
var unchanged = { added: emptySet, modified: emptySet, removed: emptySet }, modifiedHere = { ...unchanged, modified: justHere };
function isUnchanged({ added, modified: modified2, removed }) {
  return isEmpty(added) && isEmpty(modified2) && isEmpty(removed);
}
function changedBy({ added, modified: modified2 }) {
  return union(added, modified2);
}
function compare(schema, before2, after) {
  return before2 === after ? unchanged : before2 === void 0 ? { ...unchanged, added: everything(schema, after) } : after === void 0 ? { ...unchanged, removed: everything(schema, before2) } : hasMembers(schema) && isParted(before2, after, isObject) ? compareMembers(schema, before2 ?? {}, after ?? {}) : hasElements(schema) && isParted(before2, after, Array.isArray) ? compareElements(schema, before2 ?? [], after ?? []) : sameJson(before2, after) ? unchanged : modifiedHere;
}
function isParted(before2, after, hasForm) {
  return before2 === null ? after !== null && hasForm(after) && Object.keys(after).length > 0 : after === null ? hasForm(before2) && Object.keys(before2).length > 0 : hasForm(before2) && hasForm(after);
}
function compareMembers(schema, before2, after) {
  let parts = [];
  for (let name of Object.keys(before2)) {
    let part = compare(memberSchema(schema, name), before2[name], own(after, name));
    part !== unchanged && parts.push([fieldStep(name), part]);
  }
  for (let name of Object.keys(after))
    after[name] === void 0 || own(before2, name) !== void 0 || parts.push([fieldStep(name), compare(memberSchema(schema, name), void 0, after[name])]);
  return gather(parts);
}
function compareElements(schema, before2, after) {
  let old = byStep(schema, before2), next = byStep(schema, after), parts = [];
  for (let [step2, item] of old) {
    let part = compare(schema.items, item, next.get(step2));
    part !== unchanged && parts.push([step2, part]);
  }
  for (let [step2, item] of next) old.has(step2) || parts.push([step2, compare(schema.items, void 0, item)]);
  return gather(parts);
}
function gather(parts) {
  if (parts.length === 0) return unchanged;
  let found = {
    added: collect(parts, "added"),
    modified: collect(parts, "modified"),
    removed: collect(parts, "removed")
  };
  return isUnchanged(found) ? unchanged : found;
}
function collect(parts, which) {
  let children;
  for (let [step2, part] of parts)
    isEmpty(part[which]) || (children ??= /* @__PURE__ */ new Map(), children.set(step2, part[which]));
  return children === void 0 ? emptySet : { member: !1, children };
}
function everything(schema, value) {
  return hasMembers(schema) && isObject(value) ? everyMember(schema, value) : hasElements(schema) && Array.isArray(value) ? everyElement(schema, value) : justHere;
}
function everyMember(schema, value) {
  let children = /* @__PURE__ */ new Map();
  for (let name of Object.keys(value)) {
    let item = value[name];
    item !== void 0 && children.set(fieldStep(name), everything(memberSchema(schema, name), item));
  }
  return children.size === 0 ? justHere : { member: !0, children };
}
function everyElement(schema, value) {
  let children = /* @__PURE__ */ new Map();
  for (let [step2, item] of byStep(schema, value)) children.set(step2, everything(schema.items, item));
  return children.size === 0 ? justHere : { member: !0, children };
}

// src/merge/ownable.ts
var systemMetadata2 = [
  "name",
  "namespace",
  "selfLink",
  "uid",
  "clusterName",
  "generation",
  "creationTimestamp",
  "managedFields",
  "resourceVersion"
], neverOwned = setOf(
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ...systemMetadata2.map((name) => ["f:metadata", `f:${name}`])
);
function ownable(fields) {
  return difference(fields, neverOwned);
}
function writable(fields, readOnly) {
  return readOnly.length === 0 ? fields : differenceBelow(fields, setOf(...readOnly.map(stepsOf)));
}
function stepsOf(path) {
  return path.split(".").map((name) => `f:${name}`);
}
function writableChanges(changes, readOnly) {
  return changes === unchanged || readOnly.length === 0 ? changes : {
    added: writable(changes.added, readOnly),
    modified: writable(changes.modified, readOnly),
    removed: writable(changes.removed, readOnly)
  };
}
function withoutManagers(object) {
  if (object.metadata.managedFields === void 0) return object;
  let { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

// src/merge/change.ts
function changeInVersions(change) {
  let { schema, apiVersion, before: before2, after, readOnly, inVersion } = change, here = makeChange(schema, before2, after, readOnly), known = /* @__PURE__ */ new Map([[apiVersion, here]]);
  return (other) => inVersion === void 0 || isUnchanged(here.changes) ? here : (known.has(other) || known.set(other, convertChange(change, inVersion, other)), known.get(other));
}
function convertChange({ before: before2, after, readOnly }, inVersion, apiVersion) {
  let then = inVersion(before2, apiVersion), now = inVersion(after, apiVersion);
  return then && now && makeChange(then.schema, then.object, now.object, readOnly);
}
function makeChange(schema, before2, after, readOnly) {
  return { schema, before: before2, after, changes: writableChanges(compare(schema, before2, after), readOnly) };
}

// src/merge/managed-fields.ts
function readManagers(entries) {
  return readEntries(entries, (fieldsV1) => ({ fields: fromFieldsV1(fieldsV1) }));
}
function storedManagers({ metadata }) {
  return readEntries(metadata.managedFields, (encoded) => ({ fields: fromFieldsV1(encoded, asWritten), encoded })) ?? [];
}
function readEntries(entries, readFields) {
  let managers = /* @__PURE__ */ new Map();
  for (let entry of entries ?? []) {
    let manager = readEntry(entry, readFields);
    if (manager === void 0) return;
    managers.set(identity(manager), manager);
  }
  return [...managers.values()];
}
function readEntry(entry, readFields) {
  let { operation, apiVersion, fieldsType, fieldsV1 = {} } = entry;
  if (operation !== "Apply" && operation !== "Update" || !apiVersion || fieldsType !== "FieldsV1") return;
  let { fields, encoded } = readFields(fieldsV1);
  if (fields === void 0) return;
  let { manager: name = "", subresource = "", time } = entry;
  return { name, operation, apiVersion, subresource, time, fields, encoded };
}
function withFields(manager, fields) {
  return fields === manager.fields ? manager : { ...manager, fields, encoded: void 0 };
}
function writeManagers(managers) {
  return managers.filter((manager) => !isEmpty(manager.fields)).toSorted(inOrder).map(writeEntry);
}
function writeEntry({ name, operation, apiVersion, subresource, time, fields, encoded }) {
  let entry = { apiVersion, fieldsType: "FieldsV1", fieldsV1: encoded ?? toFieldsV1(fields) };
  return name !== "" && (entry.manager = name), entry.operation = operation, subresource !== "" && (entry.subresource = subresource), time !== void 0 && (entry.time = time), entry;
}
function inOrder(a, b) {
  return compareText(a.operation, b.operation) || compareText(a.time ?? "", b.time ?? "") || compareText(a.name, b.name) || compareText(a.apiVersion, b.apiVersion) || compareText(a.subresource, b.subresource);
}
function byAge(a, b) {
  return compareText(a.time ?? "", b.time ?? "") || compareText(identity(a), identity(b));
}
function compareText(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
function identity({ name, operation, apiVersion, subresource }) {
  return JSON.stringify([name, operation, operation === "Apply" ? "" : apiVersion, subresource]);
}
function sameManager(a, b) {
  return a.name === b.name && a.operation === b.operation && a.subresource === b.subresource && (a.operation === "Apply" || a.apiVersion === b.apiVersion);
}

// src/merge/fold-updaters.ts
var maxUpdaters = 10, ancient = "ancient-changes";
function foldUpdaters(managers) {
  let updaters = managers.filter((manager) => manager.operation === "Update" && !isEmpty(manager.fields)), excess = updaters.length - maxUpdaters;
  if (excess <= 0) return managers;
  let folded = /* @__PURE__ */ new Set(), buckets = /* @__PURE__ */ new Map();
  for (let manager of updaters.toSorted(byAge)) {
    if (excess === 0) break;
    let bucket = buckets.get(manager.apiVersion);
    buckets.set(manager.apiVersion, bucket === void 0 ? manager : fold(bucket, manager)), folded.add(manager), bucket !== void 0 && excess--;
  }
  return [...managers.filter((manager) => !folded.has(manager)), ...buckets.values()];
}
function fold(older, newer) {
  return {
    ...newer,
    name: ancient,
    subresource: "",
    fields: union(older.fields, newer.fields),
    encoded: void 0
  };
}

// src/merge/reconcile.ts
function reconcileManagers(schemaIn, managers) {
  return managers.map((manager) => {
    let schema = schemaIn(manager.apiVersion);
    return schema === void 0 ? manager : withFields(manager, reconcile(schema, manager.fields));
  });
}
function schemaInVersions({ schema, apiVersion, inVersion }, object) {
  return inVersion === void 0 ? () => schema : (other) => other === apiVersion ? schema : inVersion(object, other)?.schema;
}
function reconcile(schema, set) {
  return set.children.size === 0 ? set : !hasMembers(schema) && !hasElements(schema) ? justHere : rebuild(set, set.member, (branch, step2) => {
    let next = stepSchema(schema, step2);
    return next === void 0 ? branch : reconcile(next, branch);
  });
}

// src/merge/track-update.ts
function trackUpdate(update2) {
  let { schema, writer, readOnly, inVersion } = update2, managers = currentManagers(update2);
  if (managers === void 0) return;
  let { apiVersion } = writer, before2 = withoutManagers(update2.before), after = withoutManagers(update2.after), changeIn = changeInVersions({ schema, apiVersion, before: before2, after, readOnly, inVersion }), known = reconcileManagers(schemaInVersions({ schema, apiVersion, inVersion }, before2), managers);
  return writeManagers(foldUpdaters(takeChanges(known, (version) => changeIn(version)?.changes, writer)));
}
function currentManagers({ before: before2, after, writer, create: create2 }) {
  if (create2) return [];
  let sent = writer.subresource === "" ? after.metadata.managedFields : void 0;
  if (isReset(sent)) return [];
  let managers = readSent(sent) ?? storedManagers(before2);
  return managers.length > 0 ? managers : void 0;
}
function readSent(sent) {
  let managers = readManagers(sent);
  return managers !== void 0 && managers.length > 0 ? managers : void 0;
}
function isReset(entries) {
  return entries?.length === 1 && Object.keys(entries[0]).length === 0;
}
function takeChanges(managers, changesIn, writer) {
  let changes = changesIn(writer.apiVersion);
  if (isUnchanged(changes)) return [...managers];
  let taken2 = ownable(changedBy(changes)), writing = { ...writer, operation: "Update" }, isWriter = (manager) => sameManager(manager, writing), [only2] = managers;
  if (managers.length === 1 && isWriter(only2) && isEmpty(changes.removed) && covers(only2.fields, taken2))
    return [only2];
  let left = managers.flatMap((manager) => withoutChanged(manager, changesIn(manager.apiVersion)));
  if (isEmpty(taken2)) return left;
  let kept = left.find(isWriter)?.fields ?? emptySet, own2 = claim(managers.find(isWriter), writer, union(kept, taken2));
  return [...left.filter((manager) => !isWriter(manager)), own2];
}
function withoutChanged(manager, changes) {
  return changes === void 0 ? [] : [withFields(manager, difference(manager.fields, union(changedBy(changes), changes.removed)))];
}
function claim(former, writer, fields) {
  return former !== void 0 && sameSet(former.fields, fields) ? former : { ...writer, operation: "Update", fields };
}

// src/model/resource-version.ts
function formatVersion(revision) {
  return String(revision);
}
function parseVersion(text) {
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(text))
    throw badRequest(
      `invalid resource version ${JSON.stringify(text.slice(0, 50))}: it must be one that the server gave`
    );
  let revision = Number(text);
  return Math.min(revision, Number.MAX_SAFE_INTEGER);
}

// src/registry/write.ts
var maxAttempts = 100;
function warn({ resource, warn: tell }, object, previous) {
  for (let text of resource.kind.warnings?.(object, previous, resource.context) ?? []) tell(text);
}
function versionOf2({ resource, through }) {
  return through ?? resource;
}
function isView({ resource, through = resource }) {
  return through.kind.kind !== resource.kind.kind;
}
function trackedVersion(context) {
  return isView(context) ? context.resource : versionOf2(context);
}
function writtenKind(context) {
  return kindRef(isView(context) ? versionOf2(context) : context.resource);
}
function withManagers(context, before2, after) {
  let version = trackedVersion(context), create2 = before2 === context.resource.empty, entries = trackUpdate({
    schema: version.kind.schema,
    before: create2 ? version.empty : fromStored(version, before2),
    after: fromStored(version, after),
    writer: writerOf(context),
    readOnly: readOnlyFields(context),
    create: create2,
    inVersion: inVersions(version)
  }), metadata = copyWithout(after.metadata, "managedFields");
  return entries !== void 0 && entries.length > 0 && (metadata.managedFields = entries), { ...after, metadata };
}
function writerOf(context) {
  let { resource, subresource, fieldManager } = context;
  return { name: fieldManager, apiVersion: trackedVersion(context).apiVersion, subresource, time: resource.time() };
}
function prepareContext(write2) {
  let { resource, subresource, user } = write2;
  return { ...versionOf2(write2).context, subresource, user, now: resource.clock.now() };
}
function readOnlyFields({ resource, subresource }) {
  return subresource !== "" ? resource.kind.subresources?.[subresource]?.readOnly ?? [] : resource.kind.readOnly ?? [];
}
async function commitObject({ resource, namespace }, object, expected, guards) {
  let key = keyOf(resource, namespace, object.metadata.name), value = encodeStored(object, headerOf(resource, object)), lifetimeSeconds = resource.kind.expires ? resource.lifetimeSeconds : void 0, result = await resource.store.commit({ key, expected, value, lifetimeSeconds, guards });
  if (result.outcome === "conflict") return result;
  let { revision } = result;
  return { outcome: "stored", revision, json: storedJson(value, formatVersion(revision), Buffer.allocUnsafe).json };
}
function unstored(object, revision) {
  return Buffer.from(stringifyJson(revision === void 0 ? object : withVersion(object, revision)));
}
function withVersion(object, revision) {
  return { ...object, metadata: { ...object.metadata, resourceVersion: formatVersion(revision) } };
}

// src/registry/create.ts
async function create(context, object, managed = !1) {
  refuseVersion(object);
  let version = versionOf2(context);
  return jsonOf(version, await createStored(context, toStored(version, object), managed));
}
async function createStored(context, object, managed) {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    let created = await createOnce(context, object, managed);
    if (created !== "unguarded") return created;
    await readMostRecent(context.resource);
  }
  throw serviceUnavailable("what the object depends on is changed too often; try again");
}
async function createOnce(context, object, managed) {
  let guards = [], named = nameObject(context, object), owned = managed ? named : withManagers(context, context.resource.empty, named), admitted = await context.admission.mutate(requestOf(context, owned, guards)) ?? owned, prepared = prepare(context, admitted);
  return throwIfInvalid(context, prepared), warn(context, prepared, void 0), await context.admission.validate(requestOf(context, prepared, guards)), context.dryRun ? await checkFree(context, prepared) : await persist(context, prepared, guards);
}
function refuseVersion({ metadata }) {
  if (metadata.resourceVersion) throw badRequest("resourceVersion should not be set on objects to be created");
}
function nameObject({ resource, namespace }, object) {
  let metadata = { ...object.metadata };
  if (namespace === "" ? delete metadata.namespace : metadata.namespace = namespace, !metadata.name && metadata.generateName) {
    metadata.name = generateName(metadata.generateName);
    let renamed = { ...object, metadata };
    return resource.kind.fillDefaults?.(renamed, resource.context), renamed;
  }
  return { ...object, metadata };
}
function prepare(write2, object) {
  let { resource } = write2, prepared = { ...object, metadata: systemMetadata(object.metadata, resource.time()) };
  return resource.kind.prepareForCreate?.(prepared, prepareContext(write2)), prepared;
}
function throwIfInvalid(write2, object) {
  let { resource } = write2, { context } = versionOf2(write2), errors = [
    ...validateMetadata(resource.kind, object.metadata),
    ...validate(resource.kind.schema, object, context),
    ...resource.kind.validate?.(object, context) ?? [],
    ...resource.kind.validateCreate?.(object, context) ?? []
  ];
  if (errors.length > 0) throw invalidObject(kindRef(resource), object.metadata.name ?? "", errors);
}
async function persist(context, object, guards) {
  let result = await commitObject(context, object, 0, guards);
  if (result.outcome === "stored") return result.json;
  if (result.current === void 0) return "unguarded";
  throw taken(context, object);
}
async function checkFree(context, object) {
  let { resource, namespace } = context;
  if (await readMostRecent(resource), resource.cache.get(keyOf(resource, namespace, object.metadata.name))) throw taken(context, object);
  return unstored(object);
}
function taken({ resource }, { metadata }) {
  return metadata.generateName ? generateNameTaken(resource, metadata.name) : alreadyExists(resource, metadata.name);
}
function requestOf({ resource, namespace, subresource, user, dryRun }, object, guards) {
  let { group, plural } = resource;
  return {
    operation: "CREATE",
    // A dry run stores nothing, so nothing would be found out.
    restOn: dryRun ? void 0 : (guard) => {
      guards.push(guard);
    },
    group,
    plural,
    subresource,
    namespace,
    name: object.metadata.name ?? "",
    user,
    dryRun,
    object,
    oldObject: void 0
  };
}

// src/schema/columns.ts
function column(name, description, cell, priority = 0) {
  return { name, type: "string", format: "", description, priority, cell };
}
var nameColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description: "The name of the object, unique among its kind in its namespace.",
  priority: 0,
  cell: ({ metadata }) => metadata.name ?? ""
}, ageColumn = column(
  "Age",
  "How long ago the object was created.",
  ({ metadata }, now) => ago(metadata.creationTimestamp, now)
);
function ago(time, now) {
  return time ? humanDuration(now - Date.parse(time)) : "<unknown>";
}
var createdColumn = {
  name: "Created At",
  type: "date",
  format: "",
  description: "When the object was created.",
  priority: 0,
  cell: ({ metadata }) => metadata.creationTimestamp ?? null
}, defaultColumns = [nameColumn, createdColumn];

// src/http/projections.ts
var names = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"], versions = ["v1", "v1beta1"];
function findProjection(vendor, as, group, version) {
  let name = names.find((candidate) => candidate === as);
  if (!(name === void 0 || group !== groupName(vendor, "meta") || !versions.includes(version)))
    return { as: name, version };
}
function openView(resource, projection, query) {
  let include = query.get("includeObject") || "Metadata";
  if (projection.as === "Table" && include !== "None" && include !== "Metadata" && include !== "Object")
    throw badRequest(
      `unable to convert to Table: includeObject ${JSON.stringify(include.slice(0, 50))} must be 'Metadata', 'Object', 'None' or empty`
    );
  return { resource, projection, include };
}
function projectedForm(form2, view) {
  return {
    mediaType: form2.mediaType,
    encode: async (json) => {
      let { value } = parseJson(json), projected = isObject(value) && value.kind !== "Status" ? Buffer.from(stringifyJson(project(view, value))) : json;
      return form2.encode === void 0 ? projected : await form2.encode(projected);
    }
  };
}
function project(view, value) {
  let items = Array.isArray(value.items) ? value.items.map((item) => withType(view, item)) : void 0, { as } = view.projection;
  if (as === "Table") return table(view, items ?? [asObject(value)], listMetadata(value, items !== void 0), !0);
  if (as === "PartialObjectMetadata") {
    if (items !== void 0) throw mismatch(as, "is a list");
    return partial(view, asObject(value));
  }
  if (items === void 0) throw mismatch(as, "is not a list");
  return {
    apiVersion: metaVersion(view),
    kind: as,
    metadata: value.metadata ?? {},
    items: items.map((item) => partial(view, item))
  };
}
function mismatch(as, why) {
  return new ApiError(406, "NotAcceptable", `you requested ${as}, but the requested object ${why}`);
}
function withType({ resource }, item) {
  return asObject({ apiVersion: resource.apiVersion, kind: resource.kind.kind, ...item });
}
function listMetadata({ metadata }, isList) {
  return isObject(metadata) ? isList ? metadata : { ...metadata.resourceVersion === void 0 ? {} : { resourceVersion: metadata.resourceVersion } } : {};
}
function metaVersion({ resource, projection }) {
  return `${groupName(resource.vendor, "meta")}/${projection.version}`;
}
function partial(view, { metadata }) {
  return { apiVersion: metaVersion(view), kind: "PartialObjectMetadata", metadata };
}
function table(view, objects, metadata, withColumns) {
  let columns = (view.resource.stored ?? view.resource).kind.columns ?? defaultColumns;
  return {
    apiVersion: metaVersion(view),
    kind: "Table",
    metadata,
    columnDefinitions: withColumns ? columns.map(({ cell: _, ...definition }) => definition) : [],
    rows: objects.map((object) => ({
      cells: cellsOf(view, columns, object),
      object: rowObject(view, object)
    }))
  };
}
function cellsOf({ resource }, columns, object) {
  let stored = inStoredForm(resource, object), now = resource.clock.now();
  return columns.map((column2) => shown(column2.cell(stored, now, resource.vendor)));
}
function shown(cell) {
  return typeof cell == "string" ? cell.replaceAll(new RegExp("\\p{Cc}", "gu"), " ") : cell;
}
function rowObject(view, object) {
  return view.include === "None" ? null : view.include === "Object" ? object : partial(view, object);
}
function projectedEvents(view) {
  let name = `${view.resource.apiVersion} ${view.projection.as} ${view.projection.version} ${view.include}`, rest = eventForm(`${name} rest`, ({ json }) => viewOf(view, readVersion(view.resource, json), !1));
  return view.projection.as !== "Table" ? rest : { ...eventForm(`${name} first`, ({ json }) => viewOf(view, readVersion(view.resource, json), !0)), rest };
}
function eventForm(name, show2) {
  return { name, encode: (type, object) => Buffer.from(`{"type":"${type}","object":${stringifyJson(show2(object))}}
`) };
}
function viewOf(view, object, withColumns) {
  return view.projection.as !== "Table" ? partial(view, object) : table(view, [object], listMetadata(object, !1), withColumns);
}

// src/http/request-info.ts
var verbs = /* @__PURE__ */ new Map([
  ["GET", "get"],
  ["HEAD", "get"],
  ["POST", "create"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"]
]), namespaceSubresources = /* @__PURE__ */ new Set(["status", "finalize"]);
function readRequest(method, target) {
  let mark2 = target.indexOf("?"), path = mark2 < 0 ? target : target.slice(0, mark2), query = mark2 < 0 ? noQuery : new URLSearchParams(target.slice(mark2 + 1)), segments = readSegments(path), place = readPlace(segments), verb = verbs.get(method);
  if (place === void 0 || verb === void 0) return pathInfo(method, segments, path, query);
  let { group, version, plural, namespace, name, subresource } = place;
  return {
    resource: !0,
    verb: exactVerb(verb, place, query),
    path,
    query,
    group,
    version,
    plural,
    namespace,
    name,
    subresource
  };
}
function pathInfo(method, segments, path, query) {
  let slash = path.length > 1 && path.endsWith("/") ? "/" : "";
  return { resource: !1, verb: method.toLowerCase(), path: `/${segments.join("/")}${slash}`, query };
}
var noQuery = new URLSearchParams(), plainPath = /^(?:\/[A-Za-z0-9][A-Za-z0-9._:-]*)+$/;
function readSegments(path) {
  if (plainPath.test(path)) return path.slice(1).split("/");
  if (!path.startsWith("/")) throw badRequest("the request target must be a path");
  let segments = path.slice(1).split("/");
  segments.at(-1) === "" && segments.pop();
  for (let i = 0; i < segments.length; i++) segments[i] = readSegment(segments[i]);
  return segments;
}
function readSegment(segment) {
  let text = segment.includes("%") ? decodeSegment(segment) : segment;
  if (text === "" || text.includes("/")) throw noSuchPath();
  if (text === "." || text === ".." || text.includes("\\") || text.includes("\0"))
    throw badRequest(`invalid path segment ${JSON.stringify(text)}`);
  return text;
}
function decodeSegment(segment) {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw badRequest("the path is not properly percent-encoded", { cause: error });
  }
}
function readPlace(segments) {
  let core = segments[0] === "api";
  if (!core && segments[0] !== "apis") return;
  let group = core ? "" : segments[1], at2 = core ? 2 : 3, version = segments[at2 - 1];
  if (group === void 0 || version === void 0 || segments.length === at2) return;
  let watchPrefix = segments[at2] === "watch" && segments.length > at2 + 1;
  watchPrefix && at2++;
  let namespaced = isNamespaced(segments, at2), namespace = namespaced ? segments[at2 + 1] : "";
  namespaced && (at2 += 2);
  let [plural, name = ""] = [segments[at2], segments[at2 + 1]], subresource = segments.length > at2 + 2 ? segments.slice(at2 + 2).join("/") : "";
  return { group, version, watchPrefix, namespace, plural, name, subresource };
}
function isNamespaced(segments, at2) {
  return segments[at2] === "namespaces" && segments.length > at2 + 2 && !namespaceSubresources.has(segments[at2 + 2]);
}
function exactVerb(verb, place, query) {
  return verb === "get" ? place.subresource === "" && (place.watchPrefix || isTrue(query, "watch")) ? "watch" : place.name === "" ? "list" : "get" : verb === "delete" && place.name === "" ? "deletecollection" : verb;
}
function isTrue(query, name) {
  let value = query.get(name);
  return value !== null && value.toLowerCase() !== "false" && value !== "0";
}

// src/http/negotiate.ts
var offered = ["application/json", "application/yaml"], streamed = ["application/json;stream=watch"], maxClauses = 100;
function negotiate(asked, views) {
  let accept = asked.headers.all("accept").join(","), clauses = clausesOf(accept), matched = !1;
  for (let clause of clauses) {
    let type = offered.find((candidate) => covers2(clause.type, candidate));
    if (type === void 0) continue;
    matched = !0;
    let projection = views ? projectionOf(clause, asked.vendor) : void 0, form2 = projection === void 0 && clause.parameters.has("as") ? void 0 : formOf(type, asked);
    if (form2 !== void 0) return { form: form2, projection };
  }
  throw matched || !views ? notAcceptable(asked.watch ? streamed : offered) : new ApiError(406, "NotAcceptable", "406: Not Acceptable", {});
}
function chooseType(headers, types) {
  let accept = headers.all("accept").join(","), clauses = accept.trim() === "" ? [anything] : parseAccept(accept);
  for (let clause of clauses) {
    let type = types.find((candidate) => covers2(clause.type, candidate));
    if (type !== void 0) return type;
  }
  throw notAcceptable(types);
}
function preferredForm(asked) {
  try {
    return negotiate(asked, !0).form;
  } catch (error) {
    if (error instanceof ApiError) return jsonForm;
    throw error;
  }
}
var anything = { type: "*/*", quality: 1, parameters: /* @__PURE__ */ new Map() };
function projectionOf({ parameters }, vendor) {
  let [as, group, version] = ["as", "g", "v"].map((name) => parameters.get(name) ?? "");
  return findProjection(vendor, as, group, version);
}
function formOf(type, asked) {
  return type === "application/yaml" ? asked.watch ? void 0 : yamlForm : !asked.watch && isPretty(asked) ? prettyForm : jsonForm;
}
function isPretty({ headers, query }) {
  return query.has("pretty") ? query.get("pretty") !== "" && isTrue(query, "pretty") : /^(?:curl|Wget|Mozilla\/5\.0)/.test(headers.first("user-agent") ?? "");
}
function covers2(pattern2, type) {
  return pattern2 === type || pattern2 === "*/*" || pattern2.endsWith("/*") && type.startsWith(pattern2.slice(0, -1));
}
function clausesOf(accept) {
  return accept === "" || accept === "*/*" ? [anything] : accept.trim() === "" ? [anything] : parseAccept(accept);
}
function parseAccept(header) {
  return header.split(",").slice(0, maxClauses).map(parseClause).filter((clause) => clause.quality > 0).toSorted((a, b) => b.quality - a.quality);
}
function parseClause(text) {
  let [type = "", ...rest] = text.split(";").map((part) => part.trim()), parameters = new Map(rest.map((part) => part.split("=", 2).map((side) => side.trim()))), quality = Number(parameters.get("q") ?? 1);
  return { type: type.toLowerCase(), quality: Number.isNaN(quality) ? 1 : quality, parameters };
}

// src/http/body.ts
var maxBodyBytes = 3 * 1024 * 1024;
function readBody(exchange) {
  let encoding = exchange.headers.one("content-encoding");
  if (encoding !== void 0 && encoding !== "" && encoding.toLowerCase() !== "identity")
    throw unsupportedMediaType(
      `content encoding ${JSON.stringify(encoding.slice(0, 50))} is not accepted: send the body as it is`
    );
  if (Number(exchange.headers.one("content-length") ?? 0) > maxBodyBytes) throw tooLarge();
  return gather2(exchange);
}
function gather2(exchange) {
  let stream = exchange.transport.body;
  return new Promise((resolve, reject) => {
    let chunks = [], size = 0, ended = !1, onData = (chunk) => {
      size += chunk.length, chunks.push(chunk), !(size <= maxBodyBytes) && (stream.off("data", onData), reject(tooLarge()));
    }, onEnd = () => {
      ended = !0, exchange.bodyRead = !0, resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size));
    }, onError = () => ended || reject(badRequest("the body broke off before its end"));
    stream.on("data", onData).on("end", onEnd).on("error", onError).on("close", onError);
  });
}
function tooLarge() {
  return entityTooLarge(`Request entity too large: limit is ${maxBodyBytes}`);
}

// src/http/content.ts
var accepted = ["application/json", "application/yaml"];
function mediaType(exchange) {
  let header = exchange.headers.one("content-type") ?? "";
  if (!header.includes(";")) return header.trim();
  let [type = "", ...parameters] = header.split(";").map((part) => part.trim());
  return parameters.some((part) => !/^[^\s=]+=.+$/.test(part)) ? "malformed" : type;
}
async function readContent(exchange) {
  return parseContent(exchange, await readBodyOf(exchange));
}
async function readOptionalContent(exchange) {
  let bytes = await readBodyOf(exchange);
  return bytes.length === 0 ? void 0 : parseContent(exchange, bytes);
}
function readBodyOf(exchange) {
  let type = mediaType(exchange).toLowerCase() || "application/json";
  if (!accepted.includes(type))
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`
    );
  return readBody(exchange);
}
function parseContent(exchange, bytes) {
  return mediaType(exchange).toLowerCase() !== "application/yaml" ? parseJson(bytes) : import("./yaml-OQIWL3WV.js").then(({ parseYaml }) => parseYaml(bytes));
}

// src/schema/schema.ts
function field(tag, schema, options = {}) {
  let zero = options.zero ?? (schema.type === "object" ? "keep" : "omit");
  return {
    schema,
    tag,
    required: options.required ?? !1,
    zero,
    ...options.published === void 0 ? {} : { published: options.published },
    ...options.default === void 0 ? {} : { default: options.default },
    ...options.doc === void 0 ? {} : { doc: options.doc }
  };
}
function inlined(within, fields) {
  return Object.fromEntries(Object.entries(fields).map(([name, inner]) => [name, { ...inner, within }]));
}
var s = {
  string: () => ({ type: "string" }),
  oneOf: (...values) => ({ type: "string", values }),
  boolean: () => ({ type: "boolean" }),
  int32: () => ({ type: "integer", bits: 32 }),
  int64: () => ({ type: "integer", bits: 64 }),
  number: () => ({ type: "number" }),
  bytes: () => ({ type: "bytes" }),
  time: () => ({ type: "time", micro: !1 }),
  microTime: () => ({ type: "time", micro: !0 }),
  quantity: () => ({ type: "quantity" }),
  intOrString: () => ({ type: "intOrString" }),
  any: (options = {}) => ({ type: "any", ...options }),
  map: (values, options = {}) => ({
    type: "map",
    values,
    ...options
  }),
  list: (items, options = {}) => ({
    type: "list",
    items,
    list: "atomic",
    ...options
  }),
  object: (fields, options = {}) => ({
    type: "object",
    fields,
    ...options
  })
};

// src/schema/type-meta.ts
var typeMeta = {
  apiVersion: field(0, s.string(), { doc: "The group and version of this form of the object." }),
  kind: field(0, s.string(), { doc: "The kind of the object. It follows from the path and cannot change." })
};

// src/schema/meta-types.ts
var listMeta = s.object(
  {
    selfLink: field(1, s.string(), { doc: "No longer filled in." }),
    resourceVersion: field(2, s.string(), {
      doc: "The version at which the list was made; a watch can start from it."
    }),
    continue: field(3, s.string(), { doc: "Sent back as `continue` it yields the next part; empty at the end." }),
    remainingItemCount: field(4, s.int64(), {
      zero: "keep",
      doc: "How many items are left after this part; not told when a selector was used."
    })
  },
  { name: "meta.v1.ListMeta", doc: "What every list has beside its items." }
);
function listOf({ kind, schema }) {
  return s.object(
    {
      ...typeMeta,
      metadata: field(1, listMeta, { zero: "write", doc: "The version of the list and where it goes on." }),
      items: field(2, s.list(schema), {
        required: !0,
        zero: "write",
        doc: "The objects, in the order of their names."
      })
    },
    { name: `${kind}List`, doc: `A list of objects of the kind ${kind}.` }
  );
}
var statusCause = s.object(
  {
    reason: field(1, s.string(), { doc: "What is wrong, in one word for programs." }),
    message: field(2, s.string(), { doc: "What is wrong, for people." }),
    field: field(3, s.string(), {
      doc: "The field it is about, as a path such as `metadata.name` or `items[0].name`."
    })
  },
  { name: "meta.v1.StatusCause", doc: "One thing that was wrong with a request." }
), statusDetails = s.object(
  {
    name: field(1, s.string(), { doc: "The name of the object." }),
    group: field(2, s.string(), { doc: "The group of the object." }),
    kind: field(3, s.string(), { doc: "The kind of the object, or its resource type." }),
    causes: field(4, s.list(statusCause), { doc: "All that was wrong." }),
    retryAfterSeconds: field(5, s.int32(), { doc: "When it is worth trying again." }),
    uid: field(6, s.string(), { doc: "The uid of the object." })
  },
  { name: "meta.v1.StatusDetails", doc: "What an answer is about." }
), status = s.object(
  {
    ...typeMeta,
    metadata: field(1, listMeta, {
      zero: "write",
      doc: "Empty, but for a place to continue from where a list broke off."
    }),
    status: field(2, s.string(), { doc: "Success or Failure." }),
    message: field(3, s.string(), { doc: "What happened, for people." }),
    reason: field(4, s.string(), { doc: "Why it failed, in one word for programs." }),
    details: field(5, statusDetails, { doc: "The object and the fields that it is about." }),
    code: field(6, s.int32(), { doc: "The HTTP status code." })
  },
  { name: "meta.v1.Status", doc: "The answer where there is no object to answer with: what was done, or why not." }
), preconditions = s.object(
  {
    uid: field(1, s.string(), { zero: "keep", doc: "Delete only the object with this uid." }),
    resourceVersion: field(2, s.string(), { zero: "keep", doc: "Delete only while the object has this version." })
  },
  { name: "meta.v1.Preconditions", doc: "What must hold for the request to be carried out." }
), deleteOptions = s.object(
  {
    ...typeMeta,
    gracePeriodSeconds: field(1, s.int64(), { zero: "keep", doc: "How long the object may take to end; 0: none." }),
    preconditions: field(2, preconditions, { doc: "What must hold, or the answer is 409." }),
    orphanDependents: field(3, s.boolean(), {
      zero: "keep",
      doc: "An older way to say propagationPolicy: true is Orphan, false is Background."
    }),
    propagationPolicy: field(4, s.string(), {
      zero: "keep",
      doc: "What becomes of the objects that this one owns: Orphan keeps them, Background deletes them afterwards, Foreground before."
    }),
    dryRun: field(5, s.list(s.string()), { doc: "With `All`, everything is checked and nothing is deleted." })
  },
  { name: "meta.v1.DeleteOptions", doc: "How to delete." }
), patch = s.any({
  name: "meta.v1.Patch",
  doc: "A change to an object, in the form that the content type names."
}), rawExtension = s.any({ name: "runtime.RawExtension", doc: "An object of any kind." }), watchEvent = s.object(
  {
    type: field(1, s.string(), { required: !0, doc: "ADDED, MODIFIED, DELETED, BOOKMARK or ERROR." }),
    object: field(2, rawExtension, {
      required: !0,
      doc: "The object after the change, or as it was last; for an ERROR a Status, for a BOOKMARK only a version."
    })
  },
  { name: "meta.v1.WatchEvent", doc: "One event of a watch." }
), serverAddress = s.object(
  {
    clientCIDR: field(1, s.string(), { zero: "write", doc: "The addresses of the clients that this is for." }),
    serverAddress: field(2, s.string(), {
      zero: "write",
      doc: "Where they find the server: a host, or host and port."
    })
  },
  { name: "meta.v1.ServerAddressByClientCIDR", doc: "The address of the server as certain clients see it." }
), groupVersion = s.object(
  {
    groupVersion: field(1, s.string(), { zero: "write", doc: "Group and version as apiVersion writes them." }),
    version: field(2, s.string(), { zero: "write", doc: "The version alone." })
  },
  { name: "meta.v1.GroupVersionForDiscovery", doc: "A version of a group." }
), apiGroup = s.object(
  {
    ...typeMeta,
    name: field(1, s.string(), { zero: "write", doc: "The name of the group." }),
    versions: field(2, s.list(groupVersion), { zero: "write", doc: "The versions of the group that are served." }),
    preferredVersion: field(3, groupVersion, { doc: "The version to use if nothing speaks for another." }),
    serverAddressByClientCIDRs: field(4, s.list(serverAddress), { doc: "Where clients find the server." })
  },
  { name: "meta.v1.APIGroup", doc: "A group of kinds and its versions." }
), apiGroupList = s.object(
  { ...typeMeta, groups: field(1, s.list(apiGroup), { zero: "write", doc: "The groups." }) },
  { name: "meta.v1.APIGroupList", doc: "All groups but the core group." }
), apiVersions = s.object(
  {
    ...typeMeta,
    versions: field(1, s.list(s.string()), { zero: "write", doc: "The versions of the core group." }),
    serverAddressByClientCIDRs: field(2, s.list(serverAddress), {
      zero: "write",
      doc: "Where clients find the server."
    })
  },
  { name: "meta.v1.APIVersions", doc: "The versions of the core group." }
), apiResource = s.object(
  {
    name: field(1, s.string(), { zero: "write", doc: "The resource type as in paths, a subresource after a slash." }),
    singularName: field(6, s.string(), { zero: "write", doc: "Its singular, for people." }),
    namespaced: field(2, s.boolean(), { zero: "write", doc: "Whether its objects live in namespaces." }),
    group: field(8, s.string(), { doc: "The group of its kind, where that is another one." }),
    version: field(9, s.string(), { doc: "The version of its kind, where that is another one." }),
    kind: field(3, s.string(), { zero: "write", doc: "The kind of its objects." }),
    verbs: field(4, s.list(s.string()), { zero: "write", doc: "What can be done with it." }),
    shortNames: field(5, s.list(s.string()), { doc: "Short forms of its name for the command line." }),
    categories: field(7, s.list(s.string()), { doc: "Names that stand for several resource types, such as `all`." }),
    storageVersionHash: field(10, s.string(), { doc: "Tells by change that objects are stored in another version." })
  },
  { name: "meta.v1.APIResource", doc: "A resource type that is served, or a subresource." }
), apiResourceList = s.object(
  {
    ...typeMeta,
    groupVersion: field(1, s.string(), { zero: "write", doc: "The group and version of the resource types." }),
    resources: field(2, s.list(apiResource), { zero: "write", doc: "The resource types." })
  },
  { name: "meta.v1.APIResourceList", doc: "The resource types of one version of a group." }
), always = (doc) => field(0, s.string(), { zero: "write", doc }), versionInfo = s.object(
  {
    major: always("The first number of the API level."),
    minor: always("The second number of the API level."),
    gitVersion: always("The API level, and the version of the server after it."),
    gitCommit: always("The commit that the server was built from."),
    gitTreeState: always("Whether that was exactly the commit."),
    buildDate: always("When it was built."),
    goVersion: always("The runtime."),
    compiler: always("The engine."),
    platform: always("Operating system and processor.")
  },
  { name: "version.Info", doc: "What the server is." }
);

// src/merge/json-pointer.ts
var longestShown = 200;
function parsePointer(text) {
  if (text === "") return [];
  if (!(!text.startsWith("/") || /~(?![01])/.test(text)))
    return text.slice(1).split("/").map(unescapeToken);
}
function formatPointer(pointer) {
  let text = pointer.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return JSON.stringify(text.length > longestShown ? `${text.slice(0, longestShown)}...` : text);
}
function parseIndex(token, end) {
  if (!/^(0|[1-9]\d{0,14})$/.test(token)) return;
  let index = Number(token);
  return index < end ? index : void 0;
}
function step(value, token) {
  if (isObject(value)) return own(value, token);
  if (!Array.isArray(value)) return;
  let index = parseIndex(token, value.length);
  return index === void 0 ? void 0 : value[index];
}
function find(value, pointer) {
  let found = value;
  for (let token of pointer) {
    if (found === void 0) return;
    found = step(found, token);
  }
  return found;
}
function isWithin(pointer, above) {
  return pointer.length >= above.length && above.every((token, i) => token === pointer[i]);
}
function unescapeToken(token) {
  return token.includes("~") ? token.replaceAll("~1", "/").replaceAll("~0", "~") : token;
}

// src/merge/patch-faults.ts
function malformed(why) {
  return badRequest(`the patch is malformed: ${why}`);
}
function inapplicable(why) {
  return new ApiError(422, "Invalid", `the patch cannot be applied: ${why}`, {});
}
function invalidPatch(why) {
  let error = { fault: "FieldValueInvalid", path: "patch", text: `Invalid value: ${why}` };
  return new ApiError(422, "Invalid", `the patch is invalid: ${summary([error])}`, { causes: [causeOf(error)] });
}
function parsePatchObject(value) {
  if (!isObject(value)) throw malformed(`expected an object, got ${typeName(value)}`);
  return value;
}
function decodePatched(schema, value) {
  try {
    return decode(schema, value);
  } catch (error) {
    throw error instanceof ApiError && error.code === 400 ? invalidPatch(error.message) : error;
  }
}

// src/merge/json-patch.ts
var maxOperations = 1e4, maxCopiedBytes = 3 * 1024 * 1024, maxShifted = 5e8, maxUnknownMembers = 100;
function parseJsonPatch(value) {
  if (!Array.isArray(value)) throw malformed(`expected a list of operations, got ${typeName(value)}`);
  if (value.length > maxOperations)
    throw entityTooLarge(`a JSON patch may have ${maxOperations} operations, this one has ${value.length}`);
  return value.map(parseOperation);
}
function unknownMembers(patch2) {
  let names2 = /* @__PURE__ */ new Set();
  for (let operation of Array.isArray(patch2) ? patch2 : [])
    for (let name of isObject(operation) ? Object.keys(operation) : [])
      !["op", "path", "from", "value"].includes(name) && names2.size < maxUnknownMembers && names2.add(name);
  return [...names2];
}
function parseOperation(operation, i) {
  if (!isObject(operation)) throw malformed(`operation ${i} is of type ${typeName(operation)}, not an object`);
  let [op, path, from] = ["op", "path", "from"].map((name) => textMember(operation, name, i)), pointer = (text, name) => pointerMember(text, name, i);
  switch (op) {
    case "add":
    case "replace":
    case "test":
      return { op, path: pointer(path, "path"), value: valueMember(operation, i) };
    case "move":
    case "copy":
      return { op, path: pointer(path, "path"), from: pointer(from, "from") };
    case "remove":
      return { op, path: pointer(path, "path") };
    default:
      throw inapplicable(`operation ${i} has no op that is known (add, remove, replace, move, copy, test)`);
  }
}
function textMember(operation, name, i) {
  let value = own(operation, name) ?? void 0;
  if (value === void 0 || typeof value == "string") return value;
  throw malformed(`"${name}" of operation ${i} is of type ${typeName(value)}, not a string`);
}
function pointerMember(text, name, i) {
  let pointer = text === void 0 ? void 0 : parsePointer(text);
  if (pointer === void 0) throw inapplicable(`"${name}" of operation ${i} is not a JSON pointer`);
  return pointer;
}
function valueMember(operation, i) {
  let value = own(operation, "value");
  if (value === void 0) throw inapplicable(`operation ${i} has no "value"`);
  return value;
}
function applyJsonPatch(document, operations) {
  let draft = { root: document, ours: /* @__PURE__ */ new Set(), copiedBytes: 0, shifted: 0 };
  for (let operation of operations) applyOperation(draft, operation);
  if (operations.length > 0 && isDeeperThan(draft.root, maxDepth))
    throw inapplicable(`the result is nested deeper than ${maxDepth} levels`);
  return draft.root;
}
function applyOperation(draft, operation) {
  let { op, path } = operation;
  switch (op) {
    case "add":
      add(draft, path, operation.value);
      break;
    case "replace":
      replace(draft, path, operation.value);
      break;
    case "test":
      test(draft, path, operation.value);
      break;
    case "remove":
      remove(draft, path);
      break;
    case "move":
      move(draft, operation.from, path);
      break;
    case "copy":
      copy(draft, operation.from, path);
      break;
    default:
  }
}
function add(draft, path, value) {
  let place = openPlace(draft, path);
  place === "root" ? draft.root = value : Array.isArray(place.parent) ? splice2(draft, place.parent, insertionIndex(place.parent, path), 0, value) : setKey(place.parent, place.token, value);
}
function insertionIndex(list, path) {
  let token = path.at(-1);
  return token === "-" ? list.length : parseIndex(token, list.length + 1) ?? nothingAt(path);
}
function splice2(draft, list, index, removed, ...added) {
  if (draft.shifted += list.length - index, draft.shifted > maxShifted) throw inapplicable("it inserts or removes too often at the front of long lists");
  list.splice(index, removed, ...added);
}
function replace(draft, path, value) {
  let place = openPlace(draft, path);
  place === "root" ? draft.root = value : Array.isArray(place.parent) ? place.parent[parseIndex(place.token, place.parent.length) ?? nothingAt(path)] = value : setKey(place.parent, place.token, value);
}
function remove(draft, path) {
  let place = openPlace(draft, path);
  if (place === "root") throw inapplicable("the whole object cannot be removed");
  step(place.parent, place.token) === void 0 && nothingAt(path), Array.isArray(place.parent) ? splice2(draft, place.parent, Number(place.token), 1) : delete place.parent[place.token];
}
function move(draft, from, path) {
  let value = existing(draft, from);
  if (isWithin(path, from)) {
    if (path.length === from.length) return;
    throw inapplicable(`${formatPointer(from)} cannot be moved into itself`);
  }
  remove(draft, from), add(draft, path, value);
}
function copy(draft, from, path) {
  let value = existing(draft, from);
  share(draft, value), add(draft, path, value);
}
function test(draft, path, value) {
  let found = find(draft.root, path);
  if (!(found === void 0 && value === null && isObject(find(draft.root, path.slice(0, -1)))) && !sameJson(value, found))
    throw inapplicable(`the test of ${formatPointer(path)} failed`);
}
function existing(draft, path) {
  let value = find(draft.root, path);
  return value === void 0 ? nothingAt(path) : value;
}
function openPlace(draft, path) {
  if (path.length === 0) return "root";
  let parent = open(draft, draft.root, path);
  draft.root = parent;
  for (let token of path.slice(0, -1)) {
    let child2 = open(draft, step(parent, token), path);
    Array.isArray(parent) ? parent[Number(token)] = child2 : setKey(parent, token, child2), parent = child2;
  }
  return { parent, token: path.at(-1) };
}
function open(draft, value, path) {
  if ((typeof value != "object" || value === null) && nothingAt(path), draft.ours.has(value)) return value;
  let own2 = Array.isArray(value) ? [...value] : { ...value };
  return draft.ours.add(own2), own2;
}
function share(draft, value) {
  let pending = [value];
  for (; pending.length > 0; ) {
    let next = pending.pop();
    if (draft.copiedBytes += ownBytes(next), draft.copiedBytes > maxCopiedBytes) throw inapplicable(`its copies come to more than ${maxCopiedBytes} bytes`);
    if (!(typeof next != "object" || next === null)) {
      draft.ours.delete(next);
      for (let child2 of Object.values(next)) pending.push(child2);
    }
  }
}
function ownBytes(value) {
  return typeof value == "string" ? Buffer.byteLength(value) + 2 : isObject(value) ? Object.keys(value).reduce((sum, key) => sum + Buffer.byteLength(key) + 4, 2) : Array.isArray(value) ? value.length + 2 : String(value).length;
}
function isDeeperThan(value, limit) {
  let level = containersOf([value]);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === limit) return !0;
    level = level.flatMap((container) => containersOf(Object.values(container)));
  }
  return !1;
}
function containersOf(values) {
  return values.filter((value) => typeof value == "object" && value !== null);
}
function nothingAt(path) {
  throw inapplicable(`there is nothing at ${formatPointer(path)}`);
}

// src/merge/merge-patch.ts
function applyMergePatch(document, patch2) {
  if (!isObject(patch2)) return patch2;
  let result = isObject(document) ? { ...document } : {};
  for (let [key, value] of Object.entries(patch2))
    value === null ? delete result[key] : value !== void 0 && setKey(result, key, applyMergePatch(own(result, key), value));
  return result;
}

// src/merge/list-order.ts
function identifyScalar(value) {
  return value == null || typeof value == "object" ? void 0 : `${typeof value} ${value}`;
}
function identifyBy(key) {
  return (element) => isObject(element) ? identifyScalar(own(element, key)) : void 0;
}
function arrange(elements, identify, order, before2) {
  let rank = ranks(order), place = ranks(before2), named = elements.filter((element) => rank.has(identify(element))), others = elements.filter((element) => !rank.has(identify(element)));
  return named.sort((a, b) => rank.get(identify(a)) - rank.get(identify(b))), interleave(others, named, (other, next) => {
    let [a, b] = [place.get(identify(other)), place.get(identify(next))];
    return a !== void 0 && b !== void 0 && a < b;
  });
}
function isSubsequence(part, whole) {
  let found = 0;
  for (let identity2 of whole) found < part.length && part[found] === identity2 && found++;
  return found === part.length;
}
function ranks(identities) {
  let rank = /* @__PURE__ */ new Map();
  for (let [i, identity2] of identities.entries())
    identity2 !== void 0 && !rank.has(identity2) && rank.set(identity2, i);
  return rank;
}
function interleave(left, right, isLeftFirst) {
  let result = [], l = 0, r = 0;
  for (; l < left.length && r < right.length; )
    result.push(isLeftFirst(left[l], right[r]) ? left[l++] : right[r++]);
  return [...result, ...left.slice(l), ...right.slice(r)];
}

// src/merge/strategic-merge-patch.ts
var orderPrefix = "$setElementOrder", deletionPrefix = "$deleteFromPrimitiveList", undescribed2 = { type: "any" };
function applyStrategicMergePatch(schema, document, patch2) {
  return mergeObject(schema, isObject(document) ? document : {}, patch2);
}
function mergeObject(schema, document, patch2) {
  let mode = modeOf(patch2);
  if (mode === "replace") return asNew(schema, patch2);
  if (mode === "delete") return {};
  let { members, retained, orders, deletions } = readDirectives(patch2), result = retained === void 0 ? { ...document } : only(document, retained);
  for (let [name, value] of members) mergeMember(memberSchema2(schema, name), result, name, value);
  for (let [name, order] of orders) reorder(memberSchema2(schema, name), { result, document, patch: patch2, name, order });
  for (let [name, values] of deletions) deleteScalars(result, name, values);
  return result;
}
function mergeMember(schema, result, name, value) {
  let merged = value === null ? void 0 : mergeValue(schema, own(result, name), value);
  merged === void 0 ? delete result[name] : setKey(result, name, merged);
}
function mergeValue(schema, present, value) {
  return isObject(present) && isObject(value) ? mergeObject(schema, present, value) : Array.isArray(present) && Array.isArray(value) ? mergeList(schema, present, value) : newValue(schema, value);
}
function memberSchema2(schema, name) {
  return schema.type === "map" ? schema.values : schema.type === "object" && Object.hasOwn(schema.fields, name) ? schema.fields[name].schema : undescribed2;
}
function newValue(schema, value) {
  return schema.type === "any" ? value : isObject(value) ? modeOf(value) === "delete" ? void 0 : asNew(schema, value) : Array.isArray(value) && mergesByKey(schema) ? value.filter(isElement).map((item) => newElement(schema, item)) : value;
}
function asNew(schema, patch2) {
  let result = {};
  for (let [name, value] of readDirectives(patch2).members)
    mergeMember(memberSchema2(schema, name), result, name, value);
  return result;
}
function newElement(schema, element) {
  return isObject(element) ? asNew(schema.items, element) : element;
}
function mergesByKey(schema) {
  return mergeKeyOf(schema) !== void 0;
}
function mergeKeyOf(schema) {
  return schema.type === "list" && schema.patch === "merge" ? schema.mergeKey ?? schema.keys?.[0] : void 0;
}
function mergesByValue(schema) {
  return schema.type === "list" && schema.patch === "merge" && schema.items.type !== "object";
}
function identifyIn(schema) {
  let key = mergeKeyOf(schema);
  return key === void 0 ? identifyScalar : identifyBy(key);
}
function mergeList(schema, present, patch2) {
  return mergesByValue(schema) ? mergeSet(present, patch2) : mergesByKey(schema) ? mergeKeyedList(schema, present, patch2) : patch2;
}
function mergeSet(present, patch2) {
  let order = identitiesOf(patch2, identifyScalar), all = new Map([...present, ...patch2].map((value) => [identifyScalar(value), value]));
  return arrange([...all.values()], identifyScalar, order, present.map(identifyScalar));
}
function mergeKeyedList(schema, present, patch2) {
  let elements = patch2.filter(isElement);
  if (patch2.some((element) => elementMode(element) === "replace"))
    return elements.map((element) => newElement(schema, element));
  let identify = identifyIn(schema), order = identitiesOf(elements, identify), deleted = patch2.filter((element) => elementMode(element) === "delete"), kept = without(present, identify, identitiesOf(deleted, identify));
  return arrange(mergeElements(schema, kept, elements), identify, order, kept.map(identify));
}
function mergeElements(schema, kept, patch2) {
  let identify = identifyIn(schema), result = [...kept], places = new Map(result.map((element, i) => [identify(element), i]).reverse());
  for (let element of patch2) {
    let place = places.get(identify(element)) ?? result.length;
    places.set(identify(element), place);
    let present = result[place];
    result[place] = isObject(present) ? mergeObject(schema.items, present, element) : newElement(schema, element);
  }
  return result;
}
function without(list, identify, identities) {
  let gone = new Set(identities);
  return list.filter((element) => !gone.has(identify(element)));
}
function identitiesOf(elements, identify) {
  return elements.map((element) => {
    let identity2 = identify(element);
    if (identity2 === void 0)
      throw malformed("an element of a list that merges is not a scalar or lacks its merge key");
    return identity2;
  });
}
function isElement(element) {
  return elementMode(element) === "merge";
}
function elementMode(element) {
  return isObject(element) ? modeOf(element) : "merge";
}
function modeOf(patch2) {
  let mode = own(patch2, "$patch");
  if (mode === void 0) return "merge";
  if (mode === "merge" || mode === "replace" || mode === "delete") return mode;
  throw malformed("$patch is none of merge, replace, delete");
}
function readDirectives(patch2) {
  let all = Object.entries(patch2), listsFor = (prefix) => all.filter(([name]) => name.startsWith(prefix)).map(([name, value]) => readListDirective(prefix, name, value)), members = all.filter(([name]) => !isDirective(name));
  return {
    members,
    retained: readRetained(patch2, members),
    orders: listsFor(orderPrefix),
    deletions: listsFor(deletionPrefix)
  };
}
function isDirective(name) {
  return name === "$patch" || name === "$retainKeys" || name.startsWith(orderPrefix) || name.startsWith(deletionPrefix);
}
function readListDirective(prefix, name, value) {
  if (name[prefix.length] !== "/") throw malformed(`${prefix} names no list: write ${prefix}/list`);
  if (!Array.isArray(value)) throw malformed(`${prefix} is not a list`);
  return [name.slice(prefix.length + 1), value];
}
function readRetained(patch2, members) {
  let names2 = own(patch2, "$retainKeys");
  if (names2 === void 0) return;
  if (!Array.isArray(names2) || !names2.every((name) => typeof name == "string"))
    throw malformed("$retainKeys is not a list of names");
  let retained = new Set(names2);
  if (members.find(([name, value]) => value !== null && !retained.has(name)) !== void 0) throw malformed("a member of the patch is missing in its $retainKeys");
  return retained;
}
function only(object, names2) {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names2.has(name)));
}
function reorder(schema, { result, document, patch: patch2, name, order }) {
  let identify = identifyIn(schema), wanted = identitiesOf(order, identify), named = listAt(patch2, name).filter(isElement).map(identify);
  if (wanted.length > 0 && !isSubsequence(named, wanted))
    throw malformed(`the list ${name} of the patch does not follow its ${orderPrefix}`);
  let list = listAt(result, name);
  list.length > 0 && setKey(result, name, arrange(list, identify, wanted, listAt(document, name).map(identify)));
}
function deleteScalars(result, name, values) {
  let gone = identitiesOf(values, identifyScalar), list = own(result, name);
  Array.isArray(list) && setKey(result, name, without(list, identifyScalar, gone));
}
function listAt(object, name) {
  let list = own(object, name);
  return Array.isArray(list) ? list : [];
}

// src/registry/delete.ts
async function deleteObject(context, name, options) {
  let { resource, namespace } = context;
  await context.admission.mutate(requestOf2(context, name, void 0));
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    await readMostRecent(resource);
    let stored = resource.cache.get(keyOf(resource, namespace, name));
    if (stored === void 0) throw notFound(resource, name);
    let previous = readObject2(stored.json), deleted = await attemptDelete(context, previous, stored.revision, options);
    if (deleted !== "lost") return { ...deleted, object: fromStored(versionOf2(context), deleted.object) };
  }
  throw serviceUnavailable(`${resource.plural} "${name}" is changed by too many writers at once; try again`);
}
async function attemptDelete(context, previous, revision, options) {
  await context.admission.validate(requestOf2(context, previous.metadata.name, previous)), assertPreconditions(context.resource, previous, options);
  let marked = mark(context.resource, previous, options), waits = mustWait(context.resource, marked);
  if (!waits && !context.resource.kind.gracePeriod) return await remove2(context, previous, revision);
  let stored = await storeMark(context, { previous, marked, revision });
  return stored === "lost" || waits ? stored === "lost" ? "lost" : { object: stored.object, removed: !1 } : await remove2(context, stored.object, stored.revision);
}
async function remove2(context, object, revision) {
  let removed = await removeObject(context, object, revision);
  return removed === void 0 ? "lost" : { object: removed, removed: !0 };
}
async function storeMark(context, { previous, marked, revision }) {
  if (sameJson(previous, marked)) return { object: previous, revision };
  if (context.dryRun) return { object: marked, revision };
  let result = await commitObject(context, marked, revision);
  return result.outcome === "conflict" ? "lost" : { object: withVersion(marked, result.revision), revision: result.revision };
}
function assertPreconditions(resource, { metadata }, { uid, resourceVersion }) {
  let { group, kind } = kindRef(resource), fail = (what, wanted, found) => conflict(
    { group, plural: kind },
    metadata.name,
    `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found}). The object might have been deleted and then recreated`
  );
  if (uid !== void 0 && uid !== metadata.uid) throw fail("UID", uid, metadata.uid);
  if (resourceVersion !== void 0 && resourceVersion !== metadata.resourceVersion)
    throw fail("ResourceVersion", resourceVersion, metadata.resourceVersion);
}
function mark(resource, object, options) {
  let finalizers = withPropagation(object.metadata.finalizers ?? [], propagationOf(resource, options)), { finalizers: _, ...rest } = object.metadata, metadata = { ...rest, ...finalizers.length > 0 ? { finalizers } : {} }, requested = notNegative(options.gracePeriodSeconds);
  if (metadata.deletionTimestamp !== void 0) return { ...object, metadata: shorten(metadata, requested) };
  let grace = resource.kind.gracePeriod?.(object, requested) ?? 0, marked = {
    ...object,
    metadata: {
      ...metadata,
      deletionTimestamp: timestamp(resource.clock.now() + grace * 1e3),
      deletionGracePeriodSeconds: grace,
      ...metadata.generation ? { generation: metadata.generation + 1 } : {}
    }
  };
  return resource.kind.beginDeletion?.(marked), marked;
}
function propagationOf({ kind }, { propagation }) {
  return kind.ownsNothing ? "Background" : propagation ?? (kind.orphansByDefault ? "Orphan" : void 0);
}
function notNegative(seconds) {
  return seconds !== void 0 && seconds < 0 ? 1 : seconds;
}
function shorten(metadata, requested) {
  let { deletionTimestamp: end, deletionGracePeriodSeconds: grace } = metadata;
  if (requested === void 0 || end === void 0 || grace === void 0 || requested >= grace) return metadata;
  let deletionTimestamp = timestamp(Date.parse(end) - (grace - requested) * 1e3);
  return { ...metadata, deletionTimestamp, deletionGracePeriodSeconds: requested };
}
function withPropagation(finalizers, propagation) {
  if (propagation === void 0) return [...finalizers];
  let others = finalizers.filter((name) => name !== "orphan" && name !== "foregroundDeletion");
  return propagation === "Orphan" ? [...others, "orphan"] : propagation === "Foreground" ? [...others, "foregroundDeletion"] : others;
}
function mustWait(resource, object) {
  let { finalizers = [], deletionGracePeriodSeconds: grace = 0 } = object.metadata;
  return finalizers.length > 0 || grace > 0 || resource.kind.holdsDeletion?.(object) === !0;
}
async function removeObject(context, object, revision) {
  let { resource, namespace } = context;
  return context.dryRun ? withVersion(object, revision) : (await resource.store.commit({
    key: keyOf(resource, namespace, object.metadata.name),
    expected: revision,
    value: void 0
  })).outcome === "conflict" ? void 0 : withVersion(object, revision);
}
function requestOf2(context, name, oldObject) {
  let { resource, namespace, subresource, user, dryRun } = context, { group, plural } = resource;
  return {
    operation: "DELETE",
    group,
    plural,
    subresource,
    namespace,
    name,
    user,
    dryRun,
    object: void 0,
    oldObject
  };
}

// src/registry/update.ts
async function update(context, name, object) {
  let { resource } = context;
  return mayCreate(context) && !await exists(context, name) ? await createInstead(context, object) : { json: await updateObject(context, name, (previous) => (assertNamesVersion(resource, object), assertUid(resource, object, previous), { object, managed: !1 })), created: !1 };
}
async function exists({ resource, namespace }, name) {
  let key = keyOf(resource, namespace, name);
  return resource.cache.get(key) === void 0 && await readMostRecent(resource), resource.cache.get(key) !== void 0;
}
function mayCreate({ resource, subresource }) {
  return subresource === "" && resource.kind.createOnUpdate === !0;
}
async function createInstead(context, object) {
  let { resource } = context, { resourceVersion: _, uid, ...metadata } = object.metadata;
  if (uid)
    throw conflict(
      resource,
      object.metadata.name ?? "",
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: `
    );
  return { json: await create(context, { ...object, metadata }), created: !0 };
}
async function updateObject(context, name, transform) {
  let { resource, namespace } = context, key = keyOf(resource, namespace, name), recent = !1;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    let stored = resource.cache.get(key), outcome = await tryUpdate(context, name, { stored, transform });
    if (outcome.result === "stored" || recent && outcome.result !== "lost" || (await readMostRecent(resource), outcome.result !== "lost" && resource.cache.get(key) === stored)) return conclude(context, outcome);
    recent = !0;
  }
  throw serviceUnavailable(`${resource.plural} "${name}" is changed by too many writers at once; try again`);
}
function conclude(context, outcome) {
  if (outcome.result === "refused") throw outcome.error;
  return jsonOf(versionOf2(context), outcome.json);
}
async function tryUpdate(context, name, on) {
  try {
    return await updateOnce(context, name, on);
  } catch (error) {
    if (error instanceof ApiError) return { result: "refused", error };
    throw error;
  }
}
async function updateOnce(context, name, { stored, transform }) {
  if (stored === void 0) throw notFound(context.resource, name);
  let version = versionOf2(context), previous = readObject2(stored.json), { object, managed } = transform(fromStored(version, previous)), next = { object: toStored(version, object, previous), managed };
  return await attemptUpdate(context, { previous, next, stored });
}
async function attemptUpdate(context, { previous, next, stored }) {
  assertVersion(context.resource, next.object, previous);
  let sent = placed(context, next.object, previous), owned = next.managed ? sent : withManagers(context, previous, sent), admitted = await context.admission.mutate(requestOf3(context, owned, previous)) ?? owned, prepared = prepare2(context, admitted, previous);
  return throwIfInvalid2(context, prepared, previous), warn(context, prepared, previous), await context.admission.validate(requestOf3(context, prepared, previous)), await persist2(context, { previous, next: prepared, stored, named: namesVersion(next.object) });
}
function namesVersion({ metadata }) {
  return metadata.resourceVersion !== void 0 && metadata.resourceVersion !== "0";
}
function assertNamesVersion({ kind, group, plural }, object) {
  let { resourceVersion, name = "" } = object.metadata;
  if (!kind.needsVersion || namesVersion(object)) return;
  let fault = invalid("metadata.resourceVersion", resourceVersion, "must be specified for an update");
  throw invalidObject({ group, kind: plural }, name, [fault]);
}
function assertUid(resource, { metadata }, { metadata: stored }) {
  if (metadata.uid === void 0 || metadata.uid === stored.uid) return;
  let why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${stored.uid}`;
  throw conflict(resource, stored.name, why);
}
function assertVersion(resource, next, { metadata }) {
  let { resourceVersion } = next.metadata;
  if (!(resourceVersion === void 0 || !namesVersion(next)) && formatVersion(parseVersion(resourceVersion)) !== metadata.resourceVersion)
    throw modified(resource, metadata.name);
}
function modified(resource, name) {
  return conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again"
  );
}
function placed({ namespace }, next, previous) {
  let metadata = keptMetadata(next.metadata, previous.metadata);
  return namespace === "" ? delete metadata.namespace : metadata.namespace = namespace, { ...next, metadata };
}
function prepare2(write2, next, previous) {
  let { resource, subresource } = write2, prepared = { ...next, metadata: { ...next.metadata } };
  return (subresource === "" ? resource.kind : resource.kind.subresources?.[subresource])?.prepareForUpdate?.(prepared, previous, prepareContext(write2)), prepared;
}
function throwIfInvalid2(write2, next, previous) {
  let { resource, subresource } = write2, context = { ...versionOf2(write2).context, subresource }, errors = [
    ...validateMetadata(resource.kind, next.metadata),
    ...validateMetadataUpdate(next.metadata, previous.metadata),
    ...validate(resource.kind.schema, next, context),
    ...resource.kind.validate?.(next, context) ?? [],
    ...resource.kind.validateUpdate?.(next, previous, context) ?? []
  ];
  if (errors.length > 0) throw invalidObject(writtenKind(write2), next.metadata.name ?? "", errors);
}
async function persist2(context, attempt) {
  let { previous, next, stored, named } = attempt;
  if (isUnchanged2(next, previous)) return { result: "judged", json: stored.json };
  if (next.metadata.deletionTimestamp !== void 0 && !mustWait(context.resource, next))
    return await remove3(context, next, stored);
  if (context.dryRun) return { result: "judged", json: unstored(next, stored.revision) };
  let result = await commitObject(context, next, stored.revision);
  if (result.outcome === "stored") return { result: "stored", json: result.json };
  if (named) throw modified(context.resource, next.metadata.name);
  return { result: "lost" };
}
async function remove3(context, next, { revision }) {
  let removed = await removeObject(context, next, revision);
  return removed === void 0 ? { result: "lost" } : { result: context.dryRun ? "judged" : "stored", json: unstored(removed) };
}
function isUnchanged2(next, previous) {
  return sameMembers(next, previous, "metadata") && sameMembers(next.metadata, previous.metadata, "resourceVersion");
}
function sameMembers(a, b, ignored) {
  for (let key of Object.keys(a)) if (key !== ignored && !sameJson(a[key], own(b, key))) return !1;
  return Object.keys(b).every((key) => key === ignored || Object.hasOwn(a, key));
}
function requestOf3(context, object, oldObject) {
  let { resource, namespace, subresource, user, dryRun } = context, { group, plural } = resource;
  return {
    operation: "UPDATE",
    group,
    plural,
    subresource,
    namespace,
    name: oldObject.metadata.name ?? "",
    user,
    dryRun,
    object,
    oldObject
  };
}

// src/http/write-options.ts
function fieldValidation(query) {
  let value = query.get("fieldValidation");
  return value === "Strict" || value === "Ignore" ? value : "Warn";
}
var longestManager = 128;
function readWriteOptions(query, { kind, vendor, faults }) {
  let errors = [...faults, ...checkDryRun(query), ...checkManager(query), ...checkValidation(query)];
  if (errors.length > 0) throw invalidObject({ group: groupName(vendor, "meta"), kind }, "", errors);
  return { dryRun: query.get("dryRun") === "All", fieldManager: query.get("fieldManager") ?? "" };
}
function checkDryRun(query) {
  let values = query.getAll("dryRun").filter((value) => value !== "");
  return values.every((value) => value === "All") ? [] : [notSupported("dryRun", values, ["All"])];
}
function checkManager(query) {
  let name = query.get("fieldManager") ?? "";
  return Buffer.byteLength(name) > longestManager ? [
    { fault: "FieldValueTooLong", path: "fieldManager", text: `Too long: must have at most ${longestManager} bytes` }
  ] : /^[\P{C}]*$/u.test(name) ? [] : [invalid("fieldManager", name, "should only contain printable characters")];
}
function checkValidation(query) {
  let value = query.get("fieldValidation") ?? "";
  return ["", "Strict", "Warn", "Ignore"].includes(value) ? [] : [notSupported("fieldValidation", value, ["", "Ignore", "Warn", "Strict"])];
}
function managerName(fieldManager, userAgent) {
  if (fieldManager !== "") return fieldManager;
  let agent = (userAgent ?? "").split("/", 1)[0], printable = /^[ -~]*$/.test(agent) ? agent : agent.replaceAll(new RegExp("\\p{C}", "gu"), "");
  return printable === "" ? "unknown" : printable.length <= longestManager / 3 ? printable : Buffer.from(printable).subarray(0, longestManager).toString("utf8");
}

// src/http/object-body.ts
async function readObjectBody(exchange, resource) {
  let { value, duplicates } = await readContent(exchange), decoded = decode(resource.kind.schema, withType2(resource, value ?? {}));
  return reportFields(exchange, [...unknownFields(decoded), ...duplicateFields(duplicates)], badRequest), complete(exchange, resource, decoded);
}
function readPatched(exchange, resource, value, faults) {
  if (!isOfKind(resource, value))
    throw invalidPatch(
      `a patch cannot change the kind or version: this is a ${resource.kind.kind} in ${resource.apiVersion}`
    );
  let decoded = decodePatched(resource.kind.schema, value);
  return reportFields(exchange, [...faults, ...unknownFields(decoded)], invalidPatch), complete(exchange, resource, decoded);
}
function readApplied(exchange, resource, value) {
  let decoded = decode(resource.kind.schema, value), faults = unknownFields(decoded);
  if (faults.length > 0) throw badRequest(`the configuration does not fit: ${faults.join(", ")}`);
  return complete(exchange, resource, decoded);
}
function complete(exchange, resource, { value }) {
  let object = withUniqueOwners(exchange, asObject(value));
  return fillDefaults(resource.kind.schema, object, resource.context), resource.kind.fillDefaults?.(object, resource.context), object;
}
function withType2(resource, value) {
  if (!isObject(value)) throw badRequest("the body must be a JSON object");
  let wanted = { apiVersion: resource.apiVersion, kind: resource.kind.kind }, said = {
    apiVersion: typeText(value, "apiVersion") || wanted.apiVersion,
    kind: typeText(value, "kind") || wanted.kind
  };
  if (!isOfKind(resource, said))
    throw badRequest(
      `the object provided is of kind ${said.kind.slice(0, 100)} in ${said.apiVersion.slice(0, 100)}, this path takes ${wanted.kind} in ${wanted.apiVersion}`
    );
  return { ...value, ...wanted };
}
function typeText(value, name) {
  let text = own(value, name) ?? "";
  if (typeof text != "string") throw badRequest(`${name}: expected string, got ${typeName(text)}`);
  return text;
}
function isOfKind(resource, value) {
  return isObject(value) && value.apiVersion === resource.apiVersion && value.kind === resource.kind.kind;
}
function withUniqueOwners(exchange, object) {
  let owners = object.metadata.ownerReferences ?? [], unique = uniqueOwners(owners);
  return unique.length === owners.length ? object : (exchange.warn(".metadata.ownerReferences contains duplicate entries; they are stored once"), { ...object, metadata: { ...object.metadata, ownerReferences: unique } });
}
var longestPath = 500;
function unknownFields({ unknown }) {
  return unknown.slice(0, maxTold).map((path) => `unknown field "${path.slice(0, longestPath)}"`);
}
function duplicateFields(paths) {
  return paths.slice(0, maxTold).map((path) => `duplicate field "${path.slice(0, longestPath)}"`);
}
function reportFields(exchange, faults, refuse) {
  if (faults.length === 0) return;
  let mode = fieldValidation(exchange.info.query);
  if (mode === "Strict") throw refuse(`strict decoding error: ${faults.join(", ")}`);
  if (mode === "Warn") for (let fault of faults) exchange.warn(fault);
}

// src/http/resource-request.ts
function writeContext({ exchange, info, resource, admission }, optionsKind, faults = []) {
  let { dryRun, fieldManager } = readWriteOptions(info.query, { kind: optionsKind, vendor: resource.vendor, faults });
  return {
    resource: resource.stored ?? resource,
    through: resource,
    namespace: info.namespace,
    subresource: info.subresource,
    user: exchange.user,
    dryRun,
    fieldManager: managerName(fieldManager, exchange.headers.first("user-agent")),
    admission,
    warn: (text) => exchange.warn(text)
  };
}

// src/http/responses.ts
import { promisify } from "node:util";
import { constants, createGzip, gzip } from "node:zlib";
var compressFrom = 128 * 1024, gzipOptions = { level: constants.Z_BEST_SPEED }, gzipAsync = promisify(gzip);
async function sendStatus(exchange, code, status2) {
  await sendBytes(exchange, code, Buffer.from(stringifyJson(status2)));
}
async function sendObject(exchange, code, object) {
  await sendBytes(exchange, code, Buffer.from(stringifyJson(object)));
}
function sendBytes(exchange, code, json) {
  let { form: form2 } = exchange;
  if (form2.encode !== void 0 || wantsGzip(exchange, json.length)) return sendTurned(exchange, code, json);
  exchange.send(code, form2.mediaType, json);
}
async function sendTurned(exchange, code, json) {
  let { form: form2 } = exchange, body = form2.encode === void 0 ? json : await form2.encode(json);
  if (!wantsGzip(exchange, body.length)) {
    exchange.send(code, form2.mediaType, body);
    return;
  }
  let compressed = await gzipAsync(body, gzipOptions);
  markGzip(exchange), exchange.send(code, form2.mediaType, compressed);
}
function sendText(exchange, code, text) {
  exchange.send(code, "text/plain; charset=utf-8", Buffer.from(text));
}
function sendPageNotFound(exchange) {
  sendText(exchange, 404, `404 page not found
`);
}
var chunkBytes = 64 * 1024;
async function sendChunks(exchange, chunksIn, size) {
  if (exchange.form.encode !== void 0 || size < compressFrom / 2)
    return await sendBytes(exchange, 200, joined([...chunksIn(ownMemory(size))]));
  let compressed = wantsGzip(exchange, size);
  compressed && markGzip(exchange), exchange.open(200, exchange.form.mediaType);
  for await (let chunk of compressed ? gzipped(chunksIn(ownMemory(size))) : chunksIn(sharedMemory())) {
    if (exchange.gone) return;
    exchange.sentBytes += chunk.length, await exchange.transport.pass(chunk);
  }
  exchange.transport.end();
}
function ownMemory(size) {
  let bytes = Math.min(chunkBytes, size);
  return () => Buffer.allocUnsafeSlow(bytes);
}
function sharedMemory() {
  let memory = Buffer.allocUnsafeSlow(chunkBytes);
  return () => memory;
}
function joined(chunks) {
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}
async function* gzipped(chunks) {
  let { Readable } = await import("node:stream");
  yield* Readable.from(chunks).pipe(createGzip(gzipOptions));
}
function wantsGzip(exchange, size) {
  return size >= compressFrom && acceptsGzip(exchange);
}
function acceptsGzip({ headers }) {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers?.all("accept-encoding").join(",") ?? "");
}
function markGzip(exchange) {
  exchange.setHeader("content-encoding", "gzip"), exchange.setHeader("vary", "Accept-Encoding");
}

// src/merge/before-first-apply.ts
function beforeFirstApply({ schema, empty, live, writer, readOnly }) {
  let changes = writableChanges(compare(schema, empty, live), readOnly);
  return takeChanges([], () => changes, { ...writer, name: "before-first-apply" });
}

// src/merge/conflicts.ts
function contested(manager, changes) {
  return intersection(manager.fields, changedBy(changes));
}
function conflictsOf({ schema, live, asked, manager, fields }) {
  return isEmpty(fields) ? [] : pathsOf(fields).map((path) => ({
    manager,
    path,
    live: valueAt(schema, live, path),
    asked: valueAt(schema, asked, path)
  }));
}
function valueAt(schema, value, [step2, ...rest]) {
  if (step2 === void 0 || value === void 0) return value;
  let next = stepSchema(schema, step2);
  if (next !== void 0) {
    if (hasMembers(schema) && isObject(value)) return valueAt(next, own(value, step2.slice(2)), rest);
    if (hasElements(schema) && Array.isArray(value)) return valueAt(next, byStep(schema, value).get(step2), rest);
  }
}
function applyConflict(conflicts, { hideValues = !1 } = {}) {
  let told = conflicts.map((conflict2) => ({
    who: nameOf(conflict2.manager),
    field: pathText(conflict2.path),
    what: describe(conflict2, hideValues)
  })).toSorted((a, b) => compareText2(a.who, b.who)), causes = told.map(({ who, field: field2, what }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${who}: ${what}`,
    field: field2
  }));
  return new ApiError(409, "Conflict", `${summary2(told)}
${waysOut}`, { causes });
}
var waysOut = "To resolve a conflict: set the field to the value on the server to own it together; leave it out of the applied object to let the other manager have it; or apply with force=true to take it from the other manager.";
function summary2(told) {
  let [first] = told;
  if (first !== void 0 && told.length === 1)
    return `Apply failed with 1 conflict: conflict with ${first.who}: ${first.field} (${first.what})`;
  let lines = [...Map.groupBy(told, ({ who }) => who)].flatMap(([who, theirs]) => [
    `conflicts with ${who}:`,
    ...theirs.map(({ field: field2, what }) => `- ${field2} (${what})`)
  ]);
  return `Apply failed with ${told.length} conflicts: ${lines.join(`
`)}`;
}
function nameOf({ name, operation, apiVersion, subresource }) {
  let through = subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(name)}${through}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}
function describe({ manager, live, asked }, hideValues) {
  let since = manager.time === void 0 ? "owned" : `owned since ${manager.time}`;
  return hideValues ? since : `${since}, is ${show(live)}, asked for ${show(asked)}`;
}
var longestShown2 = 200;
function show(value) {
  if (value === void 0) return "nothing";
  let text = stringifyJson(value);
  return text.length > longestShown2 ? `${text.slice(0, longestShown2)}...` : text;
}
function compareText2(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

// src/merge/prune.ts
function prune(schema, value, { last, owned }) {
  return last.children.size === 0 ? value : hasMembers(schema) && isObject(value) ? pruneMembers(schema, value, { last, owned }) : hasElements(schema) && Array.isArray(value) ? pruneElements(schema, value, { last, owned }) : value;
}
function pruneMembers(schema, value, { last, owned }) {
  let pruned;
  for (let name of Object.keys(value)) {
    let step2 = fieldStep(name), was = last.children.get(step2);
    if (was === void 0) continue;
    let named = isNamed(schema, name), is = below2(owned, step2), kept = holds(was, named) && !holds(is, named) ? void 0 : prune(memberSchema(schema, name), value[name], { last: was, owned: is });
    kept !== value[name] && (pruned ??= { ...value }, kept === void 0 ? delete pruned[name] : setKey(pruned, name, kept));
  }
  return pruned === void 0 ? value : Object.keys(pruned).length === 0 ? null : pruned;
}
function pruneElements(schema, value, { last, owned }) {
  let kept = [], same = !0;
  for (let item of value) {
    let step2 = elementStep(schema, item), was = below2(last, step2), is = below2(owned, step2), next = was.member && !is.member ? void 0 : prune(schema.items, item, { last: was, owned: is }) ?? {};
    next !== item && (same = !1), next !== void 0 && kept.push(next);
  }
  return same ? value : kept.length === 0 ? null : kept;
}
function putBack(schema, whole, pruned, owned) {
  if (pruned === whole) return whole;
  if (hasMembers(schema) && isObject(whole)) {
    let rest = isObject(pruned) ? pruned : {}, kept = Object.entries(whole).flatMap(([name, value]) => {
      let is = below2(owned, fieldStep(name));
      return own(rest, name) === void 0 && !holds(is, isNamed(schema, name)) ? [] : [[name, putBack(memberSchema(schema, name), value, own(rest, name), is)]];
    });
    return Object.fromEntries(kept);
  }
  if (hasElements(schema) && Array.isArray(whole)) {
    let rest = byStep(schema, Array.isArray(pruned) ? pruned : []);
    return whole.flatMap((item) => {
      let step2 = elementStep(schema, item);
      return !rest.has(step2) && !below2(owned, step2).member ? [] : [putBack(schema.items, item, rest.get(step2), below2(owned, step2))];
    });
  }
  return pruned ?? whole;
}
function holds(set, named) {
  return set.member || named && set.children.size > 0;
}

// src/merge/drop-unstated.ts
var identifying = setOf(["f:apiVersion"], ["f:kind"], ["f:metadata", "f:name"]);
function dropUnstated(dropping) {
  let { schema, inVersion, merged, stated: stated2, self, others } = dropping;
  if (self === void 0 || covers(stated2, self.fields)) return merged;
  if (inVersion !== void 0) return dropAcrossVersions(dropping, inVersion, self);
  let owned = others.reduce((all, { fields }) => union(all, fields), union(stated2, identifying));
  return prune(schema, merged, { last: self.fields, owned });
}
function dropAcrossVersions(dropping, inVersion, self) {
  let { merged, writer } = dropping, owned = ownedByVersion(dropping), then = inVersion(merged, self.apiVersion);
  if (then === void 0) return merged;
  let theirs = union(owned.get(self.apiVersion) ?? emptySet, identifying), left = prune(then.schema, then.object, { last: self.fields, owned: theirs });
  if (left === then.object) return merged;
  for (let [apiVersion, fields] of owned) {
    let whole = inVersion(merged, apiVersion), pruned = inVersion(left, apiVersion);
    whole === void 0 || pruned === void 0 || (left = putBack(whole.schema, whole.object, pruned.object, fields));
  }
  return inVersion(left, writer.apiVersion)?.object ?? merged;
}
function ownedByVersion({ writer, stated: stated2, others }) {
  let owned = /* @__PURE__ */ new Map([[writer.apiVersion, stated2]]);
  for (let { apiVersion, fields } of others) owned.set(apiVersion, union(owned.get(apiVersion) ?? emptySet, fields));
  return owned;
}

// src/merge/stated-set.ts
function statedSet(schema, config) {
  return stated(schema, config, "");
}
function stated(schema, value, path) {
  return hasMembers(schema) && (isObject(value) || schema.type !== "any") ? statedMembers(schema, value, path) : hasElements(schema) ? statedElements(schema, value, path) : justHere;
}
function statedMembers(schema, value, path) {
  if (value === null) return emptySet;
  if (!isObject(value)) throw badRequest(`${path || "the body"}: expected object, got ${typeName(value)}`);
  let children = /* @__PURE__ */ new Map();
  for (let name of Object.keys(value)) {
    let item = value[name], place = child(path, name);
    refuseUnknown(schema, name, place);
    let set = stated(memberSchema(schema, name), item, place), member = set.member || !isNamed(schema, name) || isBlank(item), whole = member === set.member ? set : { member, children: set.children };
    isEmpty(whole) || children.set(fieldStep(name), whole);
  }
  return { member: !1, children };
}
function refuseUnknown(schema, name, path) {
  if (!(schema.type !== "object" || schema.open || Object.hasOwn(schema.fields, name)))
    throw badRequest(`unknown field "${path}": an applied object states known fields only`);
}
function isBlank(value) {
  return value === null || isObject(value) && Object.keys(value).length === 0;
}
function statedElements(schema, value, path) {
  if (value === null) return emptySet;
  if (!Array.isArray(value)) throw badRequest(`${path}: expected array, got ${typeName(value)}`);
  let children = /* @__PURE__ */ new Map();
  for (let [i, item] of value.entries()) {
    let place = at(path, i);
    schema.list === "map" ? refuseKeyless(schema, item, place) : refuseNoScalar(item, place);
    let step2 = elementStep(schema, item);
    if (children.has(step2)) throw badRequest(`${place}: duplicate entry for ${pathText([step2])}`);
    children.set(step2, { ...stated(schema.items, item, place), member: !0 });
  }
  return children.size === 0 ? emptySet : { member: !1, children };
}
function refuseKeyless(schema, item, path) {
  if (!isObject(item)) throw badRequest(`${path}: expected object, got ${typeName(item)}`);
  for (let name of schema.keys ?? []) {
    let value = keyOf2(schema, item, name);
    if (value === void 0) throw badRequest(`${path}.${name}: required: it is a key of the list and has no default`);
    if (value === null || typeof value == "object")
      throw badRequest(`${path}.${name}: a key of the list must be a scalar, got ${typeName(value)}`);
  }
}
function refuseNoScalar(item, path) {
  if (item === null || typeof item == "object")
    throw badRequest(`${path}: an element of a set must be a scalar, got ${typeName(item)}`);
}

// src/merge/last-applied.ts
var defaultManagers = /* @__PURE__ */ new Set(["orchctl", "kubectl"]), maxAnnotationBytes2 = 256 * 1024;
function followsLastApplied({ name }) {
  return defaultManagers.has(name);
}
function annotationKey(vendor) {
  return `kubectl.${vendor.keyDomain}/last-applied-configuration`;
}
function annotationsOf(object) {
  let annotations = isObject(object.metadata) ? own(object.metadata, "annotations") : void 0;
  return isObject(annotations) ? annotations : {};
}
function lastAppliedOf(object, vendor) {
  let text = own(annotationsOf(object), annotationKey(vendor));
  return typeof text == "string" && text !== "" ? text : void 0;
}
function lastAppliedSet(schema, live, vendor) {
  let text = lastAppliedOf(live, vendor), config = text === void 0 ? void 0 : readConfig(text);
  if (config === void 0 || config.apiVersion !== live.apiVersion) return emptySet;
  try {
    let changes = compare(schema, config, live);
    return difference(difference(statedSet(schema, config), changedBy(changes)), changes.removed);
  } catch (error) {
    if (error instanceof ApiError) return emptySet;
    throw error;
  }
}
function readConfig(text) {
  try {
    let { value } = parseJson(Buffer.from(text));
    return isObject(value) ? value : void 0;
  } catch (error) {
    if (error instanceof ApiError) return;
    throw error;
  }
}
function withLastApplied(object, config, vendor) {
  if (lastAppliedOf(object, vendor) === void 0) return object;
  let key = annotationKey(vendor), annotations = { ...annotationsOf(object) };
  return setKey(annotations, key, textOf2(withoutAnnotation(config, key))), sizeOf(annotations) > maxAnnotationBytes2 && delete annotations[key], { ...object, metadata: { ...object.metadata, annotations } };
}
function withoutAnnotation(config, key) {
  let { [key]: held, ...annotations } = annotationsOf(config);
  return held === void 0 ? config : { ...config, metadata: { ...config.metadata, annotations } };
}
function textOf2(config) {
  return `{${stringifyMembers(config)}}
`.replaceAll(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
function sizeOf(annotations) {
  return Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(asText(value)),
    0
  );
}
function asText(value) {
  return typeof value == "string" ? value : "";
}

// src/merge/merge-config.ts
function mergeConfig(schema, live, config) {
  if (config === void 0 || live === config) return live;
  if (live === void 0) return config;
  if (hasMembers(schema) && isObject(live)) {
    if (isObject(config)) return mergeMembers(schema, live, config);
    if (config === null && Object.keys(live).length > 0) return live;
  }
  if (hasElements(schema) && Array.isArray(live)) {
    if (Array.isArray(config)) return mergeElements2(schema, live, config);
    if (config === null && live.length > 0) return live;
  }
  return sameJson(live, config) ? live : config;
}
function mergeMembers(schema, live, config) {
  let merged;
  for (let name of Object.keys(config)) {
    let before2 = own(live, name), after = mergeConfig(memberSchema(schema, name), before2, config[name]);
    after === before2 || after === void 0 || (merged ??= { ...live }, setKey(merged, name, after));
  }
  return merged ?? live;
}
function mergeElements2(schema, live, config) {
  let asked = byStep(schema, config), steps = live.map((item) => elementStep(schema, item)), merged = placesOf(steps, [...asked.keys()]).map(
    ({ step: step2, index }) => mergeConfig(schema.items, index < 0 ? void 0 : live[index], asked.get(step2))
  );
  return merged.length === live.length && merged.every((item, i) => item === live[i]) ? live : merged;
}
function placesOf(live, config) {
  if (live.length === config.length && live.every((step2, i) => step2 === config[i]))
    return live.map((step2, index2) => ({ step: step2, index: index2 }));
  let indexes = /* @__PURE__ */ new Map();
  for (let [i, step2] of live.entries()) indexes.has(step2) || indexes.set(step2, i);
  let asked = new Set(config), shared = config.filter((step2) => indexes.has(step2)), places = [], index = 0, passLive = (until) => {
    for (; index < live.length && live[index] !== until; index++)
      asked.has(live[index]) || places.push({ step: live[index], index });
  }, next = 0;
  for (let step2 of config)
    passLive(shared[next]), places.push({ step: step2, index: indexes.get(step2) ?? -1 }), step2 === shared[next] && next++;
  return passLive(void 0), places;
}

// src/merge/apply.ts
function applyObject(request) {
  let plan = makePlan(request), conflicts = request.force ? [] : withoutGranted(plan, findConflicts(plan));
  return conflicts.length > 0 ? { outcome: "conflict", conflicts } : settle(plan);
}
function makePlan(request) {
  let { schema, live, empty, writer, readOnly, inVersion } = request, config = checkedConfig(request), stated2 = writable(statedSet(schema, config), readOnly), current = withoutManagers(live ?? empty), managers = managersOf(request, current), self = managers.find((manager) => sameManager(manager, { ...writer, operation: "Apply" })), others = managers.filter((manager) => manager !== self), laid = mergeConfig(schema, current, config), merged = dropUnstated({ ...request, merged: laid, stated: stated2, self, others }), { apiVersion } = writer, changeIn = changeInVersions({ schema, apiVersion, before: current, after: merged, readOnly, inVersion });
  return { ...request, config, current, merged, own: ownable(stated2), self, others, changeIn };
}
function checkedConfig({ config, writer }) {
  if (!isObject(config)) throw badRequest("the applied body must be an object");
  let version = own(config, "apiVersion") ?? "";
  if (version !== writer.apiVersion)
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${version}, expected: ${writer.apiVersion}`
    );
  let metadata = own(config, "metadata"), managers = isObject(metadata) ? own(metadata, "managedFields") : void 0;
  if (managers != null) throw badRequest("metadata.managedFields must be nil");
  return config;
}
function managersOf(request, current) {
  let { schema, live, empty, writer, readOnly } = request;
  if (live === void 0) return [];
  let managers = storedManagers(live);
  return managers.length > 0 ? reconcileManagers(schemaInVersions({ ...request, ...writer }, current), managers) : beforeFirstApply({ schema, empty: empty, live: current, writer, readOnly });
}
function findConflicts({ others, changeIn }) {
  return others.flatMap((manager) => {
    let change = changeIn(manager.apiVersion);
    if (change === void 0 || isUnchanged(change.changes)) return [];
    let { schema, before: live, after: asked, changes } = change;
    return conflictsOf({ schema, live, asked, manager, fields: contested(manager, changes) });
  });
}
function withoutGranted(plan, conflicts) {
  if (conflicts.length === 0 || !followsLastApplied(plan.writer)) return conflicts;
  let granted = lastAppliedSet(plan.schema, plan.current, plan.vendor);
  return conflicts.filter(({ path }) => !covers(granted, setOf(path)));
}
function settle(plan) {
  let { live, empty, self, others, own: own2, writer, changeIn } = plan, same = isUnchanged(changeIn(writer.apiVersion).changes), left = others.flatMap((manager) => withoutLost(manager, changeIn(manager.apiVersion)?.changes)), mine = same && self !== void 0 && self.apiVersion === writer.apiVersion && sameSet(self.fields, own2) ? self : { ...writer, operation: "Apply", fields: own2 }, object = same ? live ?? empty : plan.merged;
  return {
    outcome: "applied",
    object: followsLastApplied(writer) ? withLastApplied(object, plan.config, plan.vendor) : object,
    managedFields: writeManagers([...left, mine])
  };
}
function withoutLost(manager, changes) {
  if (changes === void 0) return [];
  if (isUnchanged(changes)) return [manager];
  let lost = union(contested(manager, changes), changes.removed);
  return [withFields(manager, difference(manager.fields, lost))];
}

// src/registry/apply.ts
async function apply(context, query) {
  let { resource, namespace } = context;
  if (await readMostRecent(resource), resource.cache.get(keyOf(resource, namespace, query.name)) !== void 0)
    return await applyToExisting(context, query);
  if (context.subresource !== "") throw notFound(resource, query.name);
  try {
    return await applyNew(context, query);
  } catch (error) {
    if (error instanceof ApiError && error.reason === "AlreadyExists") return await applyToExisting(context, query);
    throw error;
  }
}
async function applyNew(context, query) {
  let object = merge(context, query, void 0), { resourceVersion: _, uid, ...metadata } = object.metadata;
  if (uid)
    throw conflict(
      context.resource,
      query.name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
    );
  return { json: await create(context, { ...object, metadata }, !0), created: !0 };
}
async function applyToExisting(context, query) {
  return { json: await updateObject(context, query.name, (previous) => ({
    object: merge(context, query, previous),
    managed: !0
  })), created: !1 };
}
function merge(context, { config, force, complete: complete2 }, live) {
  let version = versionOf2(context), { schema, confidential = !1 } = version.kind, inVersion = inVersions(version), applied = applyObject({
    schema,
    vendor: version.vendor,
    empty: version.empty,
    live,
    config,
    writer: writerOf(context),
    force,
    readOnly: readOnlyFields(context),
    ...inVersion && { inVersion }
  });
  if (applied.outcome === "conflict") throw applyConflict(applied.conflicts, { hideValues: confidential });
  return withManagers2(complete2(applied.object, live), applied);
}
function withManagers2(object, { managedFields }) {
  let { managedFields: _, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: managedFields.length > 0 ? { ...metadata, managedFields: [...managedFields] } : metadata
  };
}

// src/http/verbs/update.ts
var handleUpdate = async (request) => {
  let { exchange, info, resource } = request, context = writeContext(request, "UpdateOptions"), object = await readObjectBody(exchange, resource);
  assertSameObject(object, info.namespace, info.name);
  let updated = await update(context, info.name, object);
  await sendBytes(exchange, updated.created ? 201 : 200, updated.json);
};
function assertSameObject({ metadata }, namespace, name) {
  if (!metadata.name)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (metadata.name !== name)
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  if (namespace !== "" && metadata.namespace !== void 0 && metadata.namespace !== namespace)
    throw badRequest(
      `the namespace of the object (${metadata.namespace}) does not match the namespace on the request (${namespace})`
    );
}
function withOwnVersion(next, previous) {
  let { resourceVersion, ...metadata } = next.metadata;
  return resourceVersion === previous.metadata.resourceVersion ? { ...next, metadata } : next;
}

// src/http/verbs/apply.ts
var applyType = "application/apply-patch+yaml", handleApply = async (request) => {
  let { exchange, info, resource } = request, context = writeContext(request, "PatchOptions", requireManager(info.query)), { value: config, duplicates } = await parseConfig(await readBody(exchange));
  reportFields(exchange, duplicateFields(duplicates), badRequest);
  let applied = await apply(context, {
    name: info.name,
    config,
    force: isTrue(info.query, "force"),
    complete: (merged, previous) => {
      let object = readApplied(exchange, resource, merged);
      return assertSameObject(object, info.namespace, info.name), previous === void 0 ? object : withOwnVersion(object, previous);
    }
  });
  await sendBytes(exchange, applied.created ? 201 : 200, applied.json);
};
function requireManager(query) {
  return query.get("fieldManager") ? [] : [required("fieldManager", "is required for apply patch")];
}
async function parseConfig(bytes) {
  if (bytes.toString("latin1", 0, 100).trimStart().startsWith("{")) return parseJson(bytes);
  let { parseYaml } = await import("./yaml-OQIWL3WV.js");
  return parseYaml(bytes);
}

// src/http/verbs/patch.ts
var strategic = "application/strategic-merge-patch+json", forms = {
  "application/json-patch+json": (_, { value, duplicates }) => {
    let operations = parseJsonPatch(value);
    return {
      apply: (document) => applyJsonPatch(document, operations),
      faults: [...unknownMembers(value).map((name) => `unknown field "${name}"`), ...duplicateFields(duplicates)]
    };
  },
  "application/merge-patch+json": (_, { value, duplicates }) => {
    let patch2 = parsePatchObject(value);
    return { apply: (document) => applyMergePatch(document, patch2), faults: duplicateFields(duplicates) };
  },
  [strategic]: ({ kind }, { value, duplicates }) => {
    let patch2 = parsePatchObject(value);
    return {
      apply: (document) => applyStrategicMergePatch(kind.schema, document, patch2),
      faults: duplicateFields(duplicates)
    };
  }
}, patchTypes = [...Object.keys(forms), applyType], handlePatch = async (request) => {
  let { exchange, info, resource } = request, type = mediaType(exchange);
  if (type === applyType) return await handleApply(request);
  let types = Object.keys(forms).filter((name) => name !== strategic || resource.kind.strategicPatch !== !1), form2 = types.includes(type) ? forms[type] : void 0;
  if (form2 === void 0)
    throw new ApiError(
      415,
      "UnsupportedMediaType",
      `415: Unsupported Media Type: a patch is one of ${[...types, applyType].join(", ")}`,
      {}
    );
  let context = writeContext(request, "PatchOptions", refuseForce(info.query)), body = await readBody(exchange), patch2, patched = await updateObject(context, info.name, (previous) => {
    patch2 ??= form2(resource, parseJson(body));
    let next = readPatched(exchange, resource, patch2.apply(previous), patch2.faults);
    return assertSameObject(next, info.namespace, info.name), { object: withOwnVersion(next, previous), managed: !1 };
  });
  await sendBytes(exchange, 200, patched);
};
function refuseForce(query) {
  return query.has("force") ? [forbidden("force", "may not be specified for non-apply patch")] : [];
}

export {
  stringifyJson,
  HeaderReader,
  storedJson,
  replaceVersion,
  formatVersion,
  parseVersion,
  CacheEvent,
  jsonForm,
  checkDnsLabel,
  checkDnsSubdomain,
  checkQualifiedName,
  checkLabelValue,
  checkPathSegment,
  checkConfigKey,
  checkPortName,
  checkEnvironmentName,
  checkIpAddress,
  field,
  inlined,
  s,
  typeMeta,
  column,
  nameColumn,
  ageColumn,
  ago,
  parseQuantity,
  formatQuantity,
  compareQuantities,
  quantitySign,
  roundUpToMilli,
  decode,
  checkLabelKey,
  checkLabels,
  checkAnnotations,
  verbsWithout,
  validate,
  readObject2 as readObject,
  serveKind,
  serveKinds,
  keyOf,
  readMostRecent,
  jsonOf,
  eventsOf,
  create,
  openView,
  projectedForm,
  projectedEvents,
  readRequest,
  isTrue,
  offered,
  negotiate,
  chooseType,
  preferredForm,
  accepted,
  readOptionalContent,
  readWriteOptions,
  readObjectBody,
  sendStatus,
  sendObject,
  sendBytes,
  sendText,
  sendPageNotFound,
  sendChunks,
  acceptsGzip,
  writeContext,
  deleteObject,
  listOf,
  status,
  deleteOptions,
  patch,
  watchEvent,
  apiGroup,
  apiGroupList,
  apiVersions,
  apiResourceList,
  versionInfo,
  handleUpdate,
  patchTypes,
  handlePatch,
  groupVersions,
  homeOf
};
