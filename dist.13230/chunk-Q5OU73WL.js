import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/model/json.ts
function own(object, key) {
  return Object.hasOwn(object, key) ? object[key] : void 0;
}
function setKey(object, key, value) {
  key === "__proto__" ? Object.defineProperty(object, key, { value, writable: !0, enumerable: !0, configurable: !0 }) : object[key] = value;
}
function isObject(value) {
  return typeof value == "object" && value !== null && !Array.isArray(value);
}
function sameJson(a, b) {
  if (a === b) return !0;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]));
  if (!isObject(a) || !isObject(b)) return !1;
  let keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]));
}
function typeName(value) {
  return value == null ? "null" : Array.isArray(value) ? "array" : typeof value == "boolean" ? "bool" : typeof value == "bigint" ? "number" : typeof value;
}
function defined(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== void 0));
}

export {
  own,
  setKey,
  isObject,
  sameJson,
  typeName,
  defined
};
