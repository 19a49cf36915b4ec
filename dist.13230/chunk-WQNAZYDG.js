import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  StatusError,
  TransportError,
  collectionPath,
  isStatus,
  parseJson
} from "./chunk-E6FJZVAF.js";

// src/client/watch.ts
async function* watch(client, type, { namespace, bookmarks, signal, accept, ...query } = {}) {
  let response = await client.open({
    method: "GET",
    path: collectionPath(type, namespace),
    query: { ...query, watch: !0, allowWatchBookmarks: bookmarks || void 0 },
    signal,
    accept
  });
  for await (let line of lines(response.body, maxLineBytes)) yield readEvent(line);
}
var maxLineBytes = 16 * 1024 * 1024;
function readEvent(line) {
  let { type, object } = parseJson(line);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object };
    case "BOOKMARK":
      return { type, resourceVersion: object.metadata.resourceVersion ?? "" };
    case "ERROR":
      throw isStatus(object) ? new StatusError(object) : new TransportError("a watch brought an error that is no Status");
    default:
      throw new TransportError(`a watch brought an event of the unknown type ${JSON.stringify(type)}`);
  }
}
var newline = 10;
async function* lines(chunks, maxBytes) {
  let decoder = new TextDecoder("utf-8", { fatal: !0 }), parts = [], size = 0;
  for await (let chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      let last = chunk.subarray(start, end);
      yield decoder.decode(parts.length === 0 ? last : joined([...parts, last], size + last.length)), parts = [], size = 0, start = end + 1;
    }
    if (start !== chunk.length && (parts.push(chunk.subarray(start)), size += chunk.length - start, size > maxBytes))
      throw new TransportError(`a line of a watch is longer than ${maxBytes} bytes`);
  }
}
function joined(parts, size) {
  let all = new Uint8Array(size), at = 0;
  for (let part of parts)
    all.set(part, at), at += part.length;
  return all;
}

export {
  watch
};
