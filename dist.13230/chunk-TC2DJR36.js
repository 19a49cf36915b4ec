import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  typeName
} from "./chunk-E6FJZVAF.js";

// src/client/discovery.ts
async function discover(client, options = {}) {
  let found = /* @__PURE__ */ new Map(), failures = [];
  for await (let answer of askAll(client, await groupVersions(client, options), options))
    if (typeof answer == "string") failures.push(answer);
    else for (let type of answer) found.has(typeName(type)) || found.set(typeName(type), type);
  return { types: [...found.values()], failures };
}
var atOnce = 32;
async function* askAll(client, places, options) {
  for (let i = 0; i < places.length; i += atOnce)
    yield* await Promise.all(places.slice(i, i + atOnce).map((place) => ask(client, place, options)));
}
async function ask(client, place, options) {
  try {
    return await typesOf(client, place, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    return `${place.group}/${place.version}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
async function groupVersions(client, options) {
  let [core, { groups }] = await Promise.all([
    client.read("/api", options),
    client.read("/apis", options)
  ]);
  return [
    ...core.versions.map((version) => ({ group: "", version })),
    ...groups.flatMap((group) => versionsOf(group).map((version) => ({ group: group.name, version })))
  ];
}
function versionsOf({ versions, preferredVersion }) {
  let all = versions.map(({ version }) => version);
  return preferredVersion === void 0 ? all : [.../* @__PURE__ */ new Set([preferredVersion.version, ...all])];
}
async function typesOf(client, { group, version }, options) {
  let path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`, { resources } = await client.read(path, options);
  return resources.filter(({ name }) => !name.includes("/")).map(({ name, shortNames = [], ...rest }) => ({ ...rest, group, version, plural: name, shortNames }));
}

export {
  discover
};
