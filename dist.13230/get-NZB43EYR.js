import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  listOf,
  printDocument,
  withoutManagedFields
} from "./chunk-NOCQGWEH.js";
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
  defineCommand
} from "./chunk-KAF7Q3BN.js";
import {
  escapeLine
} from "./chunk-OWKCFAAY.js";
import {
  watch
} from "./chunk-WQNAZYDG.js";
import {
  discover
} from "./chunk-TC2DJR36.js";
import "./chunk-4V7T7OHM.js";
import {
  collectionPath,
  isExpired,
  objectPath
} from "./chunk-E6FJZVAF.js";
import {
  connectionFlags
} from "./chunk-HWP2OOB6.js";
import "./chunk-XWKYMXOX.js";
import {
  UsageError,
  flag,
  oneOf,
  text,
  toggle
} from "./chunk-OWEQTUCH.js";
import "./chunk-RYN6PHQP.js";
import {
  groupName,
  humanDuration,
  profileNames,
  vendorOf
} from "./chunk-REFQO4EX.js";
import "./chunk-2XO67IZH.js";
import "./chunk-E4OOXGFG.js";
import "./chunk-Q5OU73WL.js";
import "./chunk-K3AUPHIL.js";

// src/cli/get/getting.ts
var getFlags = {
  allNamespaces: toggle("A,all-namespaces", "in all namespaces"),
  selector: flag("l,selector", "SELECTOR", "", text, "only objects with these labels: a=b,c!=d,e in (f,g),h,!i"),
  fieldSelector: flag("field-selector", "SELECTOR", "", text, "only objects with these fields: metadata.name=a"),
  output: flag("o,output", "FORMAT", "", oneOf(["", "wide", "json", "yaml", "name"]), "wide, json, yaml or name"),
  watch: toggle("w,watch", "show what there is, and then every change, until Ctrl-C"),
  chunkSize: flag("chunk-size", "NUMBER", "500", readCount, "how many objects to ask for at a time; 0: all at once"),
  noHeaders: toggle("no-headers", "without the line of headings"),
  showLabels: toggle("show-labels", "with a column of all labels"),
  showManagedFields: toggle("show-managed-fields", "in json and yaml, with the record of who owns which field"),
  ...connectionFlags
};
function readCount(value) {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a number of objects`);
  return Number(value);
}
function placeOf({ namespace }, { namespaced }, name) {
  return namespaced ? { namespace, name } : { name };
}
function selectionOf({ context, options, namespace }, { namespaced }) {
  return {
    ...namespaced && !options.allNamespaces ? { namespace } : {},
    ...options.selector === "" ? {} : { labelSelector: options.selector },
    ...options.fieldSelector === "" ? {} : { fieldSelector: options.fieldSelector },
    signal: context.signal
  };
}

// src/cli/find-type.ts
function findType({ types, failures }, word) {
  let dot = word.indexOf("."), name = (dot < 0 ? word : word.slice(0, dot)).toLowerCase(), candidates = dot < 0 ? types : types.filter((type) => isIn(type, word.slice(dot + 1))), found = waysToName.map((fits) => candidates.find((type) => fits(type, name))).find((type) => type !== void 0);
  if (found !== void 0) return found;
  let unknown = failures.map((failure) => `; not known is ${failure}`).join("");
  throw new UsageError(`the server doesn't have a resource type ${JSON.stringify(dot < 0 ? word : name)}${unknown}`);
}
var waysToName = [
  ({ plural }, name) => plural === name,
  ({ kind }, name) => kind.toLowerCase() === name,
  ({ shortNames }, name) => shortNames.includes(name)
];
function isIn({ group, version }, place) {
  return place === group || place === `${version}.${group}`;
}
function singularName({ kind, group }) {
  return (group === "" ? kind : `${kind}.${group}`).toLowerCase();
}

// src/cli/get/objects.ts
async function getObjects(getting, targets, format) {
  let { context } = getting, { found, errors } = await fetchAll(getting, targets), one = targets.length === 1 && targets[0].name !== void 0;
  if (format === "name" ? context.out(found.map(({ type, object }) => nameLine(type, object)).join("")) : one ? found.length === 1 && context.out(await printDocument(found[0].object, format)) : context.out(await printDocument(listOf(found.map(({ object }) => object)), format)), errors.length > 0) throw new SeveralErrors(errors);
}
async function fetchAll(getting, targets) {
  let found = [], errors = [];
  for (let target of targets)
    try {
      for (let object of (await fetchObjects(getting, target)).items)
        found.push({ type: target.type, object: trimmed(getting, object) });
    } catch (error) {
      getting.context.signal.throwIfAborted(), errors.push(error);
    }
  return { found, errors };
}
async function fetchObjects(getting, { type, name }) {
  let { client, context, options } = getting;
  if (name === void 0) return await client.list(type, { ...selectionOf(getting, type), limit: options.chunkSize });
  let object = await client.get(type, placeOf(getting, type, name), context);
  return { items: [object], resourceVersion: object.metadata.resourceVersion ?? "" };
}
function trimmed({ options }, object) {
  return options.showManagedFields ? object : withoutManagedFields(object);
}
function nameLine(type, { metadata }) {
  return `${singularName(type)}/${escapeLine(metadata.name ?? "")}
`;
}

// src/client/table.ts
var accept = [
  ...profileNames.map((name) => `application/json;as=Table;g=${groupName(vendorOf(name), "meta")};v=v1`),
  "application/json"
].join(",");
async function getTable(client, type, name, { metadata, signal } = {}) {
  let query = { includeObject: include(metadata) };
  return readTable(await client.read(objectPath(type, name), { accept, query, signal }));
}
async function listTable(client, type, options = {}) {
  try {
    return await gather(client, type, options);
  } catch (error) {
    if (!isExpired(error) || options.limit === 0) throw error;
    return await gather(client, type, { ...options, limit: 0 });
  }
}
async function gather(client, type, options) {
  let { namespace, labelSelector, fieldSelector, limit = 500, metadata, signal } = options, path = collectionPath(type, namespace), selection = { labelSelector, fieldSelector, limit: limit || void 0, includeObject: include(metadata) }, rows = [], continueToken, table;
  do {
    let query = { ...selection, continue: continueToken }, body = await client.read(path, { accept, query, signal });
    table = readTable(body);
    for (let row of table.rows) rows.push(row);
    continueToken = body.metadata?.continue || void 0;
  } while (continueToken !== void 0);
  return { ...table, rows };
}
async function* watchTable(client, type, { metadata, ...options } = {}) {
  for await (let event of watch(client, type, { ...options, accept, includeObject: include(metadata) }))
    event.type !== "BOOKMARK" && (yield readTable(event.object));
}
function include(metadata = !0) {
  return metadata ? void 0 : "None";
}
function readTable(body, now = Date.now()) {
  let resourceVersion = body.metadata?.resourceVersion ?? "";
  if (body.kind === "Table") return { columns: body.columnDefinitions ?? [], rows: body.rows ?? [], resourceVersion };
  let objects = "items" in body ? body.items ?? [] : [body];
  return { columns: plainColumns, rows: objects.map((object) => plainRow(object, now)), resourceVersion };
}
var plainColumns = [
  { name: "Name", type: "string", format: "name", priority: 0 },
  { name: "Age", type: "string", format: "", priority: 0 }
];
function plainRow(object, now) {
  let { name = "", creationTimestamp } = object.metadata, age = creationTimestamp === void 0 ? "<unknown>" : humanDuration(now - Date.parse(creationTimestamp));
  return { cells: [name, age], object };
}

// src/cli/printers/table.ts
function headings(columns, style) {
  let names = shown(columns, style).map((i) => escapeLine(columns[i].name.toUpperCase()));
  return [...style.namespaces ? ["NAMESPACE"] : [], ...names, ...style.labels ? ["LABELS"] : []];
}
function tableRows({ columns, rows }, style) {
  let places = shown(columns, style);
  return rows.map((row) => {
    let cells = places.map((i) => prefixed(cellText(row.cells[i]), columns[i], style.kind));
    return [...style.namespaces ? [namespaceOf(row)] : [], ...cells, ...style.labels ? [labelsOf(row)] : []];
  });
}
function shown(columns, { wide }) {
  return columns.flatMap(({ priority }, i) => wide || priority === 0 ? [i] : []);
}
function prefixed(cell, { format }, kind) {
  return format === "name" && kind !== "" ? `${kind}/${cell}` : cell;
}
function cellText(cell) {
  if (cell == null) return "";
  let text2 = typeof cell == "object" ? JSON.stringify(cell) : String(cell), end = text2.search(/[\n\r\f]/);
  return end < 0 ? escapeLine(text2) : `${escapeLine(text2.slice(0, end))}...`;
}
function namespaceOf({ object }) {
  return escapeLine(object?.metadata.namespace ?? "");
}
function labelsOf({ object }) {
  let labels = Object.entries(object?.metadata.labels ?? {}).toSorted(([a], [b]) => a < b ? -1 : 1);
  return labels.length === 0 ? "<none>" : escapeLine(labels.map(([key, value]) => `${key}=${value}`).join(","));
}

// src/cli/get/tables.ts
async function getTables(getting, targets) {
  let { context, options } = getting, { sections, errors } = await fetchAll2(getting, targets), several = new Set(sections.map(({ type }) => type)).size > 1, texts = sections.map((section) => sectionText(section, several, options)).filter((text2) => text2 !== "");
  if (context.out(texts.join(options.noHeaders ? "" : `
`)), errors.length > 0) throw new SeveralErrors(errors);
  texts.length === 0 && context.err(nothingFound(getting, targets));
}
async function fetchAll2(getting, targets) {
  let sections = [], errors = [];
  for (let target of targets)
    try {
      let table = await fetchTable(getting, target), last = sections.at(-1);
      last?.type === target.type ? last.tables.push(table) : sections.push({ type: target.type, tables: [table] });
    } catch (error) {
      getting.context.signal.throwIfAborted(), errors.push(error);
    }
  return { sections, errors };
}
async function fetchTable(getting, { type, name }) {
  let { client, context, options } = getting, metadata = options.showLabels || options.allNamespaces && type.namespaced;
  return name !== void 0 ? await getTable(client, type, placeOf(getting, type, name), { metadata, signal: context.signal }) : await listTable(client, type, { ...selectionOf(getting, type), limit: options.chunkSize, metadata });
}
function styleOf(type, several, options) {
  return {
    wide: options.output === "wide",
    namespaces: options.allNamespaces && type.namespaced,
    labels: options.showLabels,
    kind: several ? singularName(type) : ""
  };
}
function sectionText({ type, tables }, several, options) {
  let style = styleOf(type, several, options), rows = tables.flatMap((table) => tableRows(table, style));
  return rows.length === 0 ? "" : new Columns().lines(options.noHeaders ? rows : [headings(tables[0].columns, style), ...rows]);
}
function nothingFound({ options, namespace }, targets) {
  return !options.allNamespaces && targets.every(({ type }) => type.namespaced) ? `No resources found in ${namespace} namespace.
` : `No resources found
`;
}

// src/cli/get/watch.ts
async function watchTarget(getting, targets) {
  let [target, ...others] = targets;
  if (others.some(({ type }) => type !== target.type))
    throw new UsageError("you may only specify a single resource type");
  if (others.length > 0) throw new UsageError("you may only watch a single resource or type of resource at a time");
  let { output } = getting.options;
  output === "" || output === "wide" ? await watchTables(getting, target) : await watchObjects(getting, target, output);
}
function watchOptions(getting, { type, name }, resourceVersion) {
  return { ...selectionOf(getting, type), resourceVersion, ...name === void 0 ? {} : { fieldSelector: `metadata.name=${name}` } };
}
async function watchTables(getting, target) {
  let { client, context, options } = getting, style = styleOf(target.type, !1, options), lines = new Columns(), first = await fetchTable(getting, target), headed = options.noHeaders, print = (table) => {
    let rows = tableRows(table, style);
    rows.length !== 0 && (context.out(lines.lines(headed ? rows : [headings(table.columns, style), ...rows])), headed = !0);
  };
  print(first);
  let changes = watchTable(client, target.type, {
    ...watchOptions(getting, target, first.resourceVersion),
    metadata: style.labels || style.namespaces
  });
  for await (let { rows } of changes) print({ columns: first.columns, rows });
}
async function watchObjects(getting, target, format) {
  let { client, context } = getting, print = documentPrinter(getting, target.type, format), { items, resourceVersion } = await fetchObjects(getting, target);
  for (let object of items) context.out(await print(object));
  for await (let event of watch(client, target.type, watchOptions(getting, target, resourceVersion)))
    event.type !== "BOOKMARK" && context.out(await print(event.object));
}
function documentPrinter(getting, type, format) {
  let separator = "";
  return async (object) => {
    if (format === "name") return nameLine(type, object);
    let text2 = separator + await printDocument(trimmed(getting, object), format);
    return format === "yaml" && (separator = `---
`), text2;
  };
}

// src/cli/targets.ts
function readWanted(words) {
  if (words.some((word) => word.includes("/"))) return words.map((word) => readPair(word, words));
  let [types = "", ...names] = words;
  if (types === "")
    throw new UsageError("you must specify the type of resource: `orchctl api-resources` lists what there is");
  if (names.includes("")) throw new UsageError("resource name may not be empty");
  return types.split(",").flatMap((type) => (names.length === 0 ? [void 0] : names).map((name) => ({ type, name })));
}
function readPair(word, words) {
  if (!word.includes("/"))
    throw new UsageError(
      `${JSON.stringify(word)} cannot stand beside ${JSON.stringify(words.find((w) => w !== word))}: write TYPE NAME... or TYPE/NAME...`
    );
  let [type = "", name = "", ...more] = word.split("/");
  if (type === "" || name === "" || type.includes(",") || more.length > 0)
    throw new UsageError("arguments in resource/name form must have a single resource and name");
  return { type, name };
}
function findTargets(served, wanted) {
  let targets = wanted.map(({ type, name }) => ({ type: findType(served, type), name }));
  return targets.filter(
    ({ type, name }, i) => name !== void 0 || targets.findIndex((other) => other.type === type) === i
  );
}

// src/cli/get.ts
var getCommand = defineCommand({
  name: "get",
  forms: ["TYPE[,TYPE...] [NAME...] [flags]", "TYPE/NAME... [flags]"],
  about: `Shows objects: all of one type or several, or those that are named.

A type is named by its plural, its kind or a short name, in any case, if need be with its group:
configmaps, ConfigMap, cm, leases.coordination.orch.io. \`orchctl api-resources\` lists them.`,
  examples: [
    "orchctl get namespaces",
    "orchctl get configmaps,secrets -A -l app=web",
    "orchctl get cm greeting -o yaml",
    "orchctl get cm/greeting ns/default",
    "orchctl get cm -w"
  ],
  flags: getFlags,
  run: async (context, { options, words }) => {
    let wanted = readWanted(words);
    checkTogether(wanted, options), await withConnection(context, options, async ({ client, namespace }) => {
      let targets = findTargets(await discover(client, context), wanted);
      checkScopes(targets, options), await show({ context, options, client, namespace }, targets);
    });
  }
});
async function show(getting, targets) {
  let { watch: watch2, output } = getting.options;
  watch2 ? await watchTarget(getting, targets) : output === "" || output === "wide" ? await getTables(getting, targets) : await getObjects(getting, targets, output);
}
function checkTogether(wanted, { selector, fieldSelector }) {
  if (wanted.some(({ name }) => name !== void 0) && (selector !== "" || fieldSelector !== ""))
    throw new UsageError("name cannot be provided when a selector is specified");
}
function checkScopes(targets, { allNamespaces }) {
  if (allNamespaces && targets.some(({ type, name }) => type.namespaced && name !== void 0))
    throw new UsageError("a resource cannot be retrieved by name across all namespaces");
}
export {
  getCommand
};
