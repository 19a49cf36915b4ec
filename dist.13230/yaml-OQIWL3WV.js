import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  require_dist
} from "./chunk-RYN6PHQP.js";
import {
  badRequest,
  maxDepth
} from "./chunk-SWUW5YWW.js";
import {
  compareUtf8
} from "./chunk-E4OOXGFG.js";
import {
  isObject,
  setKey
} from "./chunk-Q5OU73WL.js";
import {
  __toESM
} from "./chunk-K3AUPHIL.js";

// src/codec/yaml.ts
var import_yaml = __toESM(require_dist(), 1);
import { isUtf8 } from "node:buffer";
function parseYaml(bytes) {
  if (!isUtf8(bytes)) throw badRequest("the body is not valid UTF-8");
  try {
    let document = (0, import_yaml.parseDocument)(bytes.toString("utf8"), {
      version: "1.1",
      merge: !1,
      intAsBigInt: !0,
      customTags: plainTags,
      logLevel: "silent"
    }), duplicates = readErrors(document);
    return refuseReferences(document), { value: normalize(document.toJS({ maxAliasCount: 0 }), 0), duplicates };
  } catch (error) {
    throw error instanceof RangeError ? badRequest("the body is nested too deeply", { cause: error }) : error;
  }
}
function plainTags(tags) {
  let plain = ["null", "bool", "int", "float", "str", "map", "seq"];
  return tags.filter(
    (tag) => typeof tag == "string" || plain.some((name) => tag.tag === `tag:yaml.org,2002:${name}`)
  );
}
function readErrors(document) {
  let duplicates = [];
  for (let error of document.errors) {
    if (error.code !== "DUPLICATE_KEY") throw badRequest(`the body is not valid YAML: ${error.message.split(`
`)[0]}`);
    duplicates.push(`line ${error.linePos?.[0].line ?? 0}`);
  }
  return duplicates;
}
function refuseReferences(document) {
  (0, import_yaml.visit)(document, (_key, node, path) => {
    if (path.length > maxDepth * 3) throw badRequest(`the body is nested deeper than ${maxDepth} levels`);
    if ((0, import_yaml.isAlias)(node) || (0, import_yaml.isNode)(node) && "anchor" in node && node.anchor)
      throw badRequest("anchors and aliases are not accepted: write the value out");
    if ((0, import_yaml.isPair)(node) && (0, import_yaml.isScalar)(node.key) && node.key.value === "<<")
      throw badRequest("merge keys (<<) are not accepted: write the fields out");
  });
}
function normalize(value, depth) {
  if (depth > maxDepth) throw badRequest(`the body is nested deeper than ${maxDepth} levels`);
  if (typeof value == "bigint")
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  if (typeof value == "number" && !Number.isFinite(value))
    throw badRequest(`${value} is not a number that can be stored`);
  if (Array.isArray(value)) return value.map((item) => normalize(item, depth + 1));
  if (typeof value != "object" || value === null) return value === void 0 ? null : value;
  let object = {};
  for (let [key, item] of Object.entries(value)) setKey(object, key, normalize(item, depth + 1));
  return object;
}
function stringifyYaml(value) {
  let document = new import_yaml.Document(void 0, { version: "1.1", aliasDuplicateObjects: !1 });
  return document.contents = nodeOf(document, value), document.toString({ indentSeq: !1, lineWidth: 0 }).replaceAll(unprintable, escaped);
}
var unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;
function escaped(character) {
  return character === `
` || character === "	" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
function textNode(text) {
  let node = new import_yaml.Scalar(text);
  return text.replaceAll(/[\n\t]/g, "").search(unprintable) >= 0 && (node.type = import_yaml.Scalar.QUOTE_DOUBLE), node;
}
function nodeOf(document, value) {
  if (Array.isArray(value)) {
    let list = new import_yaml.YAMLSeq();
    return list.items = value.map((item) => nodeOf(document, item)), list;
  }
  if (typeof value == "string") return textNode(value);
  if (!isObject(value)) return document.createNode(value);
  let map = new import_yaml.YAMLMap(), keys = Object.keys(value).filter((key) => value[key] !== void 0);
  return map.items = keys.sort(compareUtf8).map((key) => new import_yaml.Pair(textNode(key), nodeOf(document, value[key]))), map;
}
export {
  parseYaml,
  stringifyYaml
};
