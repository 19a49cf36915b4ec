import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  escapeJson
} from "./chunk-OWKCFAAY.js";
import {
  asJson
} from "./chunk-2XO67IZH.js";
import {
  compareUtf8
} from "./chunk-E4OOXGFG.js";

// src/cli/printers/objects.ts
var style = { step: "    ", order: compareUtf8 };
async function printDocument(value, format) {
  if (format === "json") {
    let { indentJson } = await import("./indent-json-TFN6HLD7.js");
    return escapeJson(indentJson(value, style));
  }
  let { stringifyYaml } = await import("./yaml-OQIWL3WV.js");
  return stringifyYaml(value);
}
function listOf(objects) {
  return { apiVersion: "v1", kind: "List", metadata: { resourceVersion: "" }, items: objects.map(asJson) };
}
function withoutManagedFields(object) {
  let { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

export {
  printDocument,
  listOf,
  withoutManagedFields
};
