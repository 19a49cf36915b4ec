import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  WireWriter
} from "./chunk-EPZHDLNM.js";
import {
  accepted,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  deleteOptions,
  groupVersions,
  homeOf,
  listOf,
  offered,
  patch,
  patchTypes,
  status,
  versionInfo,
  watchEvent
} from "./chunk-ONTTXQ2L.js";
import {
  definitionName,
  groupName
} from "./chunk-REFQO4EX.js";
import "./chunk-2XO67IZH.js";
import "./chunk-SWUW5YWW.js";
import "./chunk-E4OOXGFG.js";
import "./chunk-Q5OU73WL.js";
import "./chunk-K3AUPHIL.js";

// src/http/openapi/make.ts
import { setImmediate } from "node:timers/promises";

// src/http/openapi/kinds-of-types.ts
function markKinds(definitions, groupVersions2) {
  for (let { group, version, home, types } of groupVersions2)
    for (let { kind } of types)
      definitions.mark(kind.schema, home, [{ group, kind: kind.kind, version }]), definitions.mark(listOf(kind), home, [{ group, kind: `${kind.kind}List`, version }]);
  let metaTypes = { Status: status, APIVersions: apiVersions, APIGroup: apiGroup, APIGroupList: apiGroupList };
  for (let [kind, schema] of Object.entries({ ...metaTypes, APIResourceList: apiResourceList }))
    definitions.mark(schema, "", [{ group: "", kind, version: "v1" }]);
  definitions.mark(deleteOptions, "", inEach(groupVersions2, "DeleteOptions")), definitions.mark(watchEvent, "", inEach(groupVersions2, "WatchEvent"));
}
function inEach(groupVersions2, kind) {
  return groupVersions2.map(({ group, version }) => ({ group, kind, version }));
}

// src/http/openapi/parts.ts
function* writePaths(paths, writing2) {
  for (let path of paths) yield [path.path, writePath(path, writing2)];
}
function writePath(path, writing2) {
  let operations = path.operations.map((each) => [each.method, writing2.writeOperation(each, path, writing2)]);
  return {
    ...Object.fromEntries(operations),
    ...path.parameters.length === 0 ? {} : { parameters: path.parameters.map(writing2.pathParameter) }
  };
}
function* writeTypes(definitions, versions) {
  markKinds(definitions, versions), yield* definitions.entries();
}
var bearerToken = { type: "apiKey", in: "header", name: "authorization", description: "A bearer token." };

// src/http/openapi/protobuf-v2.ts
function encodeV2(document) {
  let writer = new WireWriter();
  return writeDocument(writer, document), writer.finish();
}
var text = (field) => (writer, value) => writer.string(field, String(value)), flag = (field) => (writer, value) => writer.bool(field, value === !0), texts = (field) => (writer, value) => {
  for (let item of value) writer.string(field, item);
}, message = (field, write) => (writer, value) => writer.message(field, (inner) => write(inner, value)), messages = (field, write) => (writer, value) => {
  for (let item of value) writer.message(field, (inner) => write(inner, item));
}, named = (field, write) => (writer, value) => {
  for (let [name, item] of Object.entries(value))
    writer.message(field, (pair) => {
      pair.string(1, name), pair.message(2, (inner) => write(inner, item));
    });
}, record = (table, extension) => (writer, value) => {
  for (let [key, item] of Object.entries(value))
    if (Object.hasOwn(table, key)) table[key](writer, item);
    else if (key.startsWith("x-")) named(extension, writeAny)(writer, { [key]: item });
    else throw new Error(`no field of the Protobuf form is known for ${key}`);
};
function writeAny(writer, value) {
  writer.string(2, JSON.stringify(value));
}
var writeSchemaFields = record(
  {
    $ref: text(1),
    format: text(2),
    description: text(4),
    default: message(5, writeAny),
    required: texts(19),
    enum: messages(20, writeAny),
    additionalProperties: message(21, message(1, writeSchema)),
    type: message(22, text(1)),
    items: message(23, message(1, writeSchema)),
    properties: message(25, named(1, writeSchema))
  },
  31
);
function writeSchema(writer, value) {
  writeSchemaFields(writer, value);
}
var writeBodyParameter = record(
  { description: text(1), name: text(2), in: text(3), required: flag(4), schema: message(5, writeSchema) },
  6
), writeQueryParameter = record(
  { required: flag(1), in: text(2), description: text(3), name: text(4), type: text(6), format: text(7) },
  23
), writePathParameter = record(
  { required: flag(1), in: text(2), description: text(3), name: text(4), type: text(5), format: text(6) },
  22
), parameterForms = {
  body: message(1, message(1, writeBodyParameter)),
  query: message(1, message(2, message(3, writeQueryParameter))),
  path: message(1, message(2, message(4, writePathParameter)))
};
function writeParameter(writer, value) {
  parameterForms[String(value.in)](writer, value);
}
var writeResponse = record({ description: text(1), schema: message(2, message(1, writeSchema)) }, 5), writeOperation = record(
  {
    tags: texts(1),
    description: text(3),
    operationId: text(5),
    produces: texts(6),
    consumes: texts(7),
    parameters: messages(8, writeParameter),
    responses: message(9, named(1, message(1, writeResponse))),
    schemes: texts(10)
  },
  13
), writePathItem = record(
  {
    get: message(2, writeOperation),
    put: message(3, writeOperation),
    post: message(4, writeOperation),
    delete: message(5, writeOperation),
    patch: message(8, writeOperation),
    parameters: messages(9, writeParameter)
  },
  10
), writeApiKey = record({ type: text(1), name: text(2), in: text(3), description: text(4) }, 5), writeDocument = record(
  {
    swagger: text(1),
    info: message(2, record({ title: text(1), version: text(2) }, 7)),
    paths: message(8, named(2, writePathItem)),
    definitions: message(9, named(1, writeSchema)),
    security: messages(12, named(1, texts(1))),
    securityDefinitions: message(13, named(1, message(2, writeApiKey)))
  },
  16
);

// src/schema/openapi.ts
var Definitions = class {
  vendor;
  version;
  #found = /* @__PURE__ */ new Map();
  constructor(vendor, version) {
    this.vendor = vendor, this.version = version;
  }
  /** The schema as it stands in the document. `home` is the package that short names belong to: `core.v1`. */
  write(schema, home) {
    let named2 = publishedType(schema);
    return named2 === void 0 ? this.#inline(schema, home) : this.#refer(schema, named2, home);
  }
  /** Notes the kinds, by group, version and name, that are written as this type, if the document defines it. */
  mark(schema, home, kinds) {
    let definition = this.#found.get(this.#fullName(schema.name, home));
    definition !== void 0 && (definition[this.marker("group-version-kind")] = [...kinds]);
  }
  /** The name of an extension of the vendor's own. */
  marker(name) {
    return `${this.vendor.extensionPrefix}${name}`;
  }
  /** Names and definitions, in the order of the names. */
  entries() {
    return [...this.#found].sort(([a], [b]) => a < b ? -1 : 1);
  }
  #refer(schema, { name, doc }, home) {
    let full = this.#fullName(name, home);
    if (!this.#found.has(full)) {
      let definition = doc === void 0 ? {} : { description: doc };
      this.#found.set(full, definition), Object.assign(definition, this.#inline(schema, packageOf(name) ?? home));
    }
    return { $ref: `${this.version === 2 ? "#/definitions/" : "#/components/schemas/"}${full}` };
  }
  #fullName(name, home) {
    return definitionName(this.vendor, packageOf(name) === void 0 ? `${home}.${name}` : name);
  }
  #inline(schema, home) {
    switch (schema.type) {
      case "string":
        return { type: "string", ...schema.values === void 0 ? {} : { enum: [...schema.values] } };
      case "boolean":
        return { type: "boolean" };
      case "integer":
        return { type: "integer", format: `int${schema.bits}` };
      case "number":
        return { type: "number", format: "double" };
      case "bytes":
        return { type: "string", format: "byte" };
      case "time":
        return { type: "string", format: "date-time" };
      case "quantity":
        return this.version === 2 ? { type: "string" } : eitherOf("string", "number");
      case "intOrString":
        return { ...this.version === 2 ? { type: "string" } : eitherOf("integer", "string"), format: "int-or-string" };
      case "any":
        return schema.name === void 0 ? { [this.marker("preserve-unknown-fields")]: !0 } : { type: "object" };
      case "map":
        return {
          type: "object",
          additionalProperties: this.write(schema.values, home),
          ...schema.atomic ? { [this.marker("map-type")]: "atomic" } : {}
        };
      case "list":
        return { type: "array", items: this.write(schema.items, home), ...this.#listMarkers(schema) };
      case "object":
        return this.#object(schema, home);
      default:
        return schema;
    }
  }
  #object(schema, home) {
    let fields = Object.entries(schema.fields), required = fields.filter(([, field]) => isRequired(field)).map(([name]) => name), properties = fields.map(([name, field]) => [name, this.#field(field, home)]);
    return {
      type: "object",
      ...required.length === 0 ? {} : { required },
      ...properties.length === 0 ? {} : { properties: Object.fromEntries(properties) },
      ...schema.atomic ? { [this.marker("map-type")]: "atomic" } : {},
      ...schema.open ? { [this.marker("preserve-unknown-fields")]: !0 } : {}
    };
  }
  #field({ schema, doc, default: preset }, home) {
    let written = this.write(schema, home), beside = {
      ...doc === void 0 ? {} : { description: doc },
      ...preset === void 0 ? {} : { default: preset }
    };
    return this.version === 2 || written.$ref === void 0 || Object.keys(beside).length === 0 ? { ...beside, ...written } : { ...beside, allOf: [written] };
  }
  #listMarkers({ list: list2, keys, patch: patch2, mergeKey, retainKeys }) {
    return {
      [this.marker("list-type")]: list2,
      ...keys === void 0 ? {} : { [this.marker("list-map-keys")]: [...keys] },
      ...patch2 === void 0 ? {} : { [this.marker("patch-strategy")]: retainKeys ? `${patch2},retainKeys` : patch2 },
      ...mergeKey === void 0 ? {} : { [this.marker("patch-merge-key")]: mergeKey }
    };
  }
};
function publishedType(schema) {
  switch (schema.type) {
    case "time":
      return schema.micro ? { name: "meta.v1.MicroTime", doc: "A time as in RFC 3339, to the microsecond." } : { name: "meta.v1.Time", doc: "A time as in RFC 3339, to the second." };
    case "quantity":
      return {
        name: "api.resource.Quantity",
        doc: "A number with a unit: `100m`, `1.5`, `2Gi`, `5e3`. Read exactly, never rounded down."
      };
    case "intOrString":
      return { name: "util.intstr.IntOrString", doc: "A whole number, or a text such as a name or a percentage." };
    case "any":
    case "object":
      return schema.name === void 0 ? void 0 : { name: schema.name, doc: schema.doc };
    case "string":
    case "boolean":
    case "integer":
    case "number":
    case "bytes":
    case "map":
    case "list":
      return;
    default:
      return schema;
  }
}
function packageOf(name) {
  let dot = name.lastIndexOf(".");
  return dot < 0 ? void 0 : name.slice(0, dot);
}
function isRequired({ required, zero, schema, published }) {
  return published !== void 0 ? published === "required" : required || zero === "write" && schema.type !== "object" && schema.type !== "time";
}
function eitherOf(...types) {
  return { oneOf: types.map((type) => ({ type })) };
}

// src/http/openapi/parameters.ts
var selectors = {
  fieldSelector: {
    type: "string",
    doc: "Only objects whose fields have these values, as `metadata.name=a,status.phase!=b`; each kind says which fields."
  },
  labelSelector: { type: "string", doc: "Only objects whose labels match, as `a=b,c!=d,e in (f,g),h,!i`." }
}, paging = {
  continue: { type: "string", doc: "The `continue` of the part before: yields the next part of the same list." },
  limit: { type: "integer", doc: "At most so many objects; the rest is had by `continue`." },
  resourceVersion: {
    type: "string",
    doc: "Which state to read: the most recent when unset, any with 0, else one not older than this version."
  },
  resourceVersionMatch: {
    type: "string",
    doc: "How resourceVersion is meant: Exact, or NotOlderThan."
  },
  timeoutSeconds: { type: "integer", doc: "How long the call may last, whatever goes on." }
}, writing = {
  dryRun: { type: "string", doc: "With `All`, everything is checked and answered as usual, and nothing is written." },
  fieldManager: { type: "string", doc: "Who writes: the owner of the fields that change. At most 128 bytes." },
  fieldValidation: {
    type: "string",
    doc: "What becomes of unknown and repeated fields: Strict refuses, Warn warns (as when unset), Ignore drops them silently."
  }
}, queryParameters = {
  ...selectors,
  ...paging,
  ...writing,
  allowWatchBookmarks: {
    type: "boolean",
    doc: "A watch may send events of type BOOKMARK, which carry only a version."
  },
  force: { type: "boolean", doc: "Apply only: takes over fields that other managers own." },
  gracePeriodSeconds: {
    type: "integer",
    doc: "How long the object may take to end; 0: none. Unset: as the kind has it."
  },
  pretty: { type: "string", doc: "With `true`, the answer is indented for people." },
  propagationPolicy: {
    type: "string",
    doc: "What becomes of the objects that this one owns: Orphan keeps them, Background deletes them afterwards, Foreground before."
  },
  watch: { type: "boolean", doc: "Instead of a list, a stream of its changes from resourceVersion on." }
}, pathParameters = {
  name: { type: "string", doc: "The name of the object." },
  namespace: { type: "string", doc: "The namespace of the object." }
}, list = [
  "allowWatchBookmarks",
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit",
  "pretty",
  "resourceVersion",
  "resourceVersionMatch",
  "timeoutSeconds",
  "watch"
], queryOf = {
  get: ["pretty"],
  list,
  watch: list,
  create: ["dryRun", "fieldManager", "fieldValidation", "pretty"],
  update: ["dryRun", "fieldManager", "fieldValidation", "pretty"],
  patch: ["dryRun", "fieldManager", "fieldValidation", "force", "pretty"],
  delete: ["dryRun", "gracePeriodSeconds", "pretty", "propagationPolicy"],
  deletecollection: [
    "continue",
    "dryRun",
    "fieldSelector",
    "gracePeriodSeconds",
    "labelSelector",
    "limit",
    "pretty",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "timeoutSeconds"
  ]
};

// src/http/openapi/operations.ts
function* versionPaths(groupVersion) {
  for (let served of groupVersion.types) yield* typePaths(groupVersion, served);
}
var streams = ["application/json;stream=watch"];
function typePaths(groupVersion, served) {
  let { kind } = served, place = placeOf(groupVersion, kind), operation = operationsOf(served), { one, parameters } = place, name = groupVersion.name, noun = `${parameters.length > 0 ? "Namespaced" : ""}${kind.kind}`;
  return [
    place.path("", parameters, [
      operation.list(`list${name}${noun}`),
      operation.create(`create${name}${noun}`),
      operation.removeAll(`delete${name}Collection${noun}`)
    ]),
    place.path("/{name}", place.ofOne, [
      operation.read(`read${one}`),
      operation.replace(`replace${one}`),
      operation.patch(`patch${one}`),
      operation.remove(`delete${one}`)
    ]),
    ...[...served.subresources].map(
      ([sub, subresource]) => subresourcePath(groupVersion, served, { sub, subresource })
    ),
    place.watchPath("", parameters, [operation.watchAll(`watch${one}List`)]),
    place.watchPath("/{name}", place.ofOne, [operation.watchOne(`watch${one}`)]),
    ...kind.scope === "Cluster" ? [] : acrossNamespaces(operation, kind, groupVersion)
  ].filter(({ operations }) => operations.length > 0);
}
function placeOf({ path: base, name, tag, home }, kind) {
  let namespaced = kind.scope === "Namespaced", place = namespaced ? `/namespaces/{namespace}/${kind.plural}` : `/${kind.plural}`, parameters = namespaced ? ["namespace"] : [], make = (prefix) => (rest, named2, operations) => ({
    path: `${prefix}${place}${rest}`,
    tag,
    home,
    parameters: named2,
    operations: operations.filter((operation) => operation !== void 0)
  });
  return {
    one: `${name}${namespaced ? "Namespaced" : ""}${kind.kind}`,
    parameters,
    ofOne: ["name", ...parameters],
    path: make(base),
    watchPath: make(`${base}/watch`)
  };
}
function subresourcePath(groupVersion, served, { sub, subresource }) {
  let place = placeOf(groupVersion, served.kind), type = subresource.type ?? served.kind, operation = operationsOf({ ...served, kind: type, verbs: subresource.verbs }), id = `${place.one}${sub.split("/").map(capital).join("")}`, path = place.path(`/{name}/${sub}`, place.ofOne, [
    operation.create(`create${id}`),
    operation.read(`read${id}`),
    operation.replace(`replace${id}`),
    operation.patch(`patch${id}`)
  ]);
  return subresource.type === void 0 ? path : { ...path, home: homeOf(type) };
}
function acrossNamespaces(operation, { kind, plural }, { path, name, tag, home }) {
  let all = operation.list(`list${name}${kind}ForAllNamespaces`), changes = operation.watchAll(`watch${name}${kind}ListForAllNamespaces`);
  return [
    { path: `${path}/${plural}`, tag, home, parameters: [], operations: all ? [all] : [] },
    { path: `${path}/watch/${plural}`, tag, home, parameters: [], operations: changes ? [changes] : [] }
  ];
}
function operationsOf({ vendor, kind, verbs }) {
  let noun = `${/^[AEIOU]/.test(kind.kind) ? "an" : "a"} ${kind.kind}`, all = `objects of kind ${kind.kind}`, object = { schema: kind.schema, required: !0, types: accepted }, options = { schema: deleteOptions, required: !1, types: accepted }, shared = { kind: { group: groupName(vendor, kind.group), version: kind.version, kind: kind.kind }, produces: offered }, deleted = kind.deleteAnswers === "object" ? kind.schema : status, make = (verb, operation) => (id) => verbs.includes(verb) ? { ...shared, ...operation, id } : void 0;
  return {
    read: make("get", {
      method: "get",
      action: "get",
      doc: `Reads ${noun}.`,
      query: queryOf.get,
      answers: answers(kind.schema, [200])
    }),
    list: make("list", {
      method: "get",
      action: "list",
      doc: `Lists or watches ${all}.`,
      query: queryOf.list,
      answers: answers(listOf(kind), [200]),
      produces: [...offered, ...streams]
    }),
    create: make("create", {
      method: "post",
      action: "post",
      doc: `Creates ${noun}.`,
      query: queryOf.create,
      body: object,
      answers: answers(kind.schema, [200, 201, 202])
    }),
    replace: make("update", {
      method: "put",
      action: "put",
      doc: `Replaces ${noun}.`,
      query: queryOf.update,
      body: object,
      answers: answers(kind.schema, [200, 201])
    }),
    patch: make("patch", {
      method: "patch",
      action: "patch",
      doc: `Changes ${noun} in part.`,
      query: queryOf.patch,
      body: { schema: patch, required: !0, types: patchTypes },
      answers: answers(kind.schema, [200, 201])
    }),
    remove: make("delete", {
      method: "delete",
      action: "delete",
      doc: `Deletes ${noun}.`,
      query: queryOf.delete,
      body: options,
      answers: answers(deleted, [200, 202])
    }),
    removeAll: make("deletecollection", {
      method: "delete",
      action: "deletecollection",
      doc: `Deletes all ${all} that are selected.`,
      query: queryOf.deletecollection,
      body: options,
      answers: answers(status, [200])
    }),
    watchOne: make("watch", {
      method: "get",
      action: "watch",
      doc: `Watches ${noun}. Better: list with watch and a field selector on the name.`,
      query: queryOf.watch,
      answers: answers(watchEvent, [200]),
      produces: streams
    }),
    watchAll: make("watch", {
      method: "get",
      action: "watchlist",
      doc: `Watches ${all}. Better: list with watch.`,
      query: queryOf.watch,
      answers: answers(watchEvent, [200]),
      produces: streams
    })
  };
}
var meanings = { 200: "OK", 201: "Created", 202: "Accepted" };
function answers(schema, codes) {
  let good = codes.map((code) => [code, { doc: meanings[code], schema }]);
  return { ...Object.fromEntries(good), 401: { doc: "Unauthorized", schema: status } };
}
function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

// src/http/openapi/discovery-operations.ts
function discoveryPaths(groupVersions2) {
  let groups = new Map(groupVersions2.filter(({ group }) => group !== "").map((version) => [version.group, version]));
  return [
    discovery("/version/", "version", { id: "getCodeVersion", doc: "Tells what the server is.", schema: versionInfo }),
    discovery("/api/", "core", {
      id: "getCoreAPIVersions",
      doc: "Tells the versions of the core group.",
      schema: apiVersions
    }),
    discovery("/apis/", "apis", { id: "getAPIVersions", doc: "Tells the groups.", schema: apiGroupList }),
    ...[...groups.values()].map(
      ({ group, name, tag, version }) => discovery(`/apis/${group}/`, tag.slice(0, -version.length - 1), {
        id: `get${name.slice(0, -version.length)}APIGroup`,
        doc: "Tells the versions of the group.",
        schema: apiGroup
      })
    )
  ];
}
function versionPath({ path, tag, name }) {
  return discovery(`${path}/`, tag, {
    id: `get${name}APIResources`,
    doc: "Tells the resource types.",
    schema: apiResourceList
  });
}
function discovery(path, tag, { id, doc, schema }) {
  let operation = { method: "get", id, doc, query: [], answers: answers(schema, [200]), produces: offered };
  return { path, tag, home: "", parameters: [], operations: [operation] };
}

// src/http/openapi/v2.ts
function partsV2(described) {
  let versions = groupVersions(described), definitions = new Definitions(described.vendor, 2);
  return {
    head: {
      swagger: "2.0",
      info: { title: "orch", version: described.version },
      securityDefinitions: { BearerToken: bearerToken },
      security: [{ BearerToken: [] }]
    },
    paths: writePaths(allPaths(versions), { definitions, writeOperation: writeOperation2, pathParameter }),
    types: writeTypes(definitions, versions)
  };
}
function* allPaths(versions) {
  yield* discoveryPaths(versions);
  for (let version of versions)
    yield versionPath(version), yield* versionPaths(version);
}
function writeOperation2(operation, { tag, home }, { definitions }) {
  let { body, kind, action } = operation, bodyParameter = body && {
    in: "body",
    name: "body",
    ...body.required ? { required: !0 } : {},
    schema: definitions.write(body.schema, home)
  }, answers2 = Object.entries(operation.answers).map(([code, { doc, schema }]) => [
    code,
    { description: doc, schema: definitions.write(schema, home) }
  ]), parameters = [...bodyParameter ? [bodyParameter] : [], ...operation.query.map(queryParameter)];
  return {
    description: operation.doc,
    operationId: operation.id,
    tags: [tag],
    schemes: ["https"],
    ...body === void 0 ? {} : { consumes: [...body.types] },
    produces: [...operation.produces],
    ...parameters.length === 0 ? {} : { parameters },
    responses: Object.fromEntries(answers2),
    ...action === void 0 ? {} : { [definitions.marker("action")]: action },
    ...kind === void 0 ? {} : { [definitions.marker("group-version-kind")]: { ...kind } }
  };
}
function queryParameter(name) {
  let { type, doc } = queryParameters[name];
  return { name, in: "query", type, description: doc };
}
function pathParameter(name) {
  let { type, doc } = pathParameters[name];
  return { name, in: "path", required: !0, type, description: doc };
}

// src/http/openapi/v3.ts
function partsV3(described, version) {
  let definitions = new Definitions(described.vendor, 3);
  return {
    head: {
      openapi: "3.0.0",
      info: { title: "orch", version: described.version },
      security: [{ BearerToken: [] }]
    },
    paths: writePaths(allPaths2(version), { definitions, writeOperation: writeOperation3, pathParameter: pathParameter2 }),
    types: writeTypes(definitions, groupVersions(described))
  };
}
function* allPaths2(version) {
  yield versionPath(version), yield* versionPaths(version);
}
function writeOperation3(operation, { tag, home }, { definitions }) {
  let { body, kind, action, query } = operation, answers2 = Object.entries(operation.answers).map(([code, { doc, schema }]) => [
    code,
    { description: doc, content: content(operation.produces, definitions.write(schema, home)) }
  ]);
  return {
    description: operation.doc,
    operationId: operation.id,
    tags: [tag],
    ...query.length === 0 ? {} : { parameters: query.map(queryParameter2) },
    ...body === void 0 ? {} : {
      requestBody: {
        ...body.required ? { required: !0 } : {},
        content: content(body.types, definitions.write(body.schema, home))
      }
    },
    responses: Object.fromEntries(answers2),
    ...action === void 0 ? {} : { [definitions.marker("action")]: action },
    ...kind === void 0 ? {} : { [definitions.marker("group-version-kind")]: { ...kind } }
  };
}
function content(types, schema) {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}
function queryParameter2(name) {
  let { type, doc } = queryParameters[name];
  return { name, in: "query", description: doc, schema: { type } };
}
function pathParameter2(name) {
  let { type, doc } = pathParameters[name];
  return { name, in: "path", required: !0, description: doc, schema: { type } };
}

// src/http/openapi/make.ts
async function makeV2Json(described) {
  let { head, paths, types } = partsV2(described), pathsText = await membersOf(paths), typesText = await membersOf(types);
  return Buffer.from(`${opened(head)},"paths":{${pathsText}},"definitions":{${typesText}}}`);
}
async function makeV3Json(described, version) {
  let { head, paths, types } = partsV3(described, version), pathsText = await membersOf(paths), typesText = await membersOf(types), components = opened({ securitySchemes: { BearerToken: bearerToken } });
  return Buffer.from(`${opened(head)},"paths":{${pathsText}},"components":${components},"schemas":{${typesText}}}}`);
}
async function makeV2Protobuf(described) {
  let { head, paths, types } = partsV2(described), encodedPaths = await inSlices(paths, ([name, value]) => encodeV2({ paths: { [name]: value } })), encodedTypes = await inSlices(types, ([name, value]) => encodeV2({ definitions: { [name]: value } }));
  return Buffer.concat([encodeV2(head), ...encodedPaths, ...encodedTypes]);
}
async function membersOf(entries) {
  return (await inSlices(entries, ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)).join(",");
}
function opened(object) {
  return JSON.stringify(object).slice(0, -1);
}
var sliceMs = 5;
async function inSlices(items, map) {
  let results = [], until = performance.now() + sliceMs;
  for (let item of items)
    results.push(map(item)), !(performance.now() < until) && (await setImmediate(), until = performance.now() + sliceMs);
  return results;
}
export {
  makeV2Json,
  makeV2Protobuf,
  makeV3Json
};
