import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  compareUtf8
} from "./chunk-E4OOXGFG.js";
import {
  isObject
} from "./chunk-Q5OU73WL.js";
import "./chunk-K3AUPHIL.js";

// src/codec/indent-json.ts
var canonical = { step: "  ", order: typeFirst };
function indentJson(value, style = canonical) {
  return `${write(value, "", style)}
`;
}
function write(value, margin, style) {
  let inner = `${margin}${style.step}`;
  if (Array.isArray(value))
    return value.length === 0 ? "[]" : `[
${value.map((item) => `${inner}${write(item, inner, style)}`).join(`,
`)}
${margin}]`;
  if (isObject(value)) {
    let keys = Object.keys(value).sort(style.order);
    return keys.length === 0 ? "{}" : `{
${keys.map((key) => `${inner}${JSON.stringify(key)}: ${write(value[key], inner, style)}`).join(`,
`)}
${margin}}`;
  }
  return typeof value == "bigint" ? value.toString() : JSON.stringify(value);
}
function typeFirst(a, b) {
  return rank(a) - rank(b) || compareUtf8(a, b);
}
function rank(key) {
  return key === "apiVersion" ? 0 : key === "kind" ? 1 : 2;
}
export {
  indentJson
};
