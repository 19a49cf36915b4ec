import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  Columns
} from "./chunk-RO6HU3N6.js";
import {
  withConnection
} from "./chunk-LO4CFZUT.js";
import {
  SeveralErrors
} from "./chunk-B3LL3SUR.js";
import {
  defineCommand,
  refuseWords
} from "./chunk-KAF7Q3BN.js";
import {
  escapeLine
} from "./chunk-OWKCFAAY.js";
import {
  discover
} from "./chunk-TC2DJR36.js";
import "./chunk-4V7T7OHM.js";
import {
  TransportError,
  typeName
} from "./chunk-E6FJZVAF.js";
import {
  connectionFlags
} from "./chunk-HWP2OOB6.js";
import "./chunk-XWKYMXOX.js";
import {
  flag,
  oneOf,
  readBoolean,
  text,
  toggle
} from "./chunk-OWEQTUCH.js";
import "./chunk-RYN6PHQP.js";
import "./chunk-Q5OU73WL.js";
import "./chunk-K3AUPHIL.js";

// src/cli/api-resources.ts
var anyGroup = "*", flags = {
  output: flag("o,output", "FORMAT", "", oneOf(["", "wide", "name"]), "wide (with the verbs) or name"),
  namespaced: flag("namespaced", "", "", readWhether, "only types in namespaces; =false: only those that are not"),
  apiGroup: flag("api-group", "GROUP", anyGroup, text, "only types of this group; empty: of the core group"),
  noHeaders: toggle("no-headers", "without the line of headings"),
  ...connectionFlags
}, apiResourcesCommand = defineCommand({
  name: "api-resources",
  forms: ["[flags]"],
  about: "Shows which types of objects the server has, each in the version that its group prefers.",
  examples: ["orchctl api-resources", "orchctl api-resources --namespaced=false -o name"],
  flags,
  run: async (context, { options, words }) => {
    refuseWords(words);
    let ask = async () => await withConnection(context, options, ({ client }) => discover(client, context)), { types, failures } = await ask();
    if (context.out(print(types.filter((type) => isWanted(type, options)).toSorted(byGroupAndName), options)), failures.length > 0) throw new SeveralErrors(failures.map((failure) => new TransportError(failure)));
  }
});
function readWhether(value) {
  return value === "" ? void 0 : readBoolean(value);
}
function isWanted({ namespaced, group, verbs }, options) {
  return verbs.length === 0 || options.namespaced !== void 0 && options.namespaced !== namespaced ? !1 : options.apiGroup === anyGroup || options.apiGroup === group;
}
function byGroupAndName(a, b) {
  let [left, right] = [a, b].map(({ group, plural }) => `${group} ${plural}`);
  return left < right ? -1 : 1;
}
function print(types, { output, noHeaders }) {
  if (output === "name") return types.map((type) => `${escapeLine(typeName(type))}
`).join("");
  let wide = output === "wide", headings = ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND", ...wide ? ["VERBS"] : []];
  return new Columns().lines([...noHeaders ? [] : [headings], ...types.map((type) => rowOf(type, wide))]);
}
function rowOf({ plural, shortNames, group, version, namespaced, kind, verbs }, wide) {
  let apiVersion = group === "" ? version : `${group}/${version}`;
  return [...[plural, shortNames.join(","), apiVersion, String(namespaced), kind], ...wide ? [`[${verbs.join(" ")}]`] : []].map(escapeLine);
}
export {
  apiResourcesCommand
};
