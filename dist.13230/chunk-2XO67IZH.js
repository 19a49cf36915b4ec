import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  isObject
} from "./chunk-Q5OU73WL.js";

// src/model/object.ts
function asJson(object) {
  return object;
}
function asObject(value) {
  if (!isObject(value)) throw new TypeError("an API object is a JSON object");
  return value;
}
function copyWithout(metadata, ...fields) {
  let copy = { ...metadata };
  for (let field of fields) Object.hasOwn(copy, field) && delete copy[field];
  return copy;
}
function timestamp(milliseconds) {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

export {
  asJson,
  asObject,
  copyWithout,
  timestamp
};
