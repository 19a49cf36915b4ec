/**
 * Parses YAML to JSON values in linear time, in Node.js and in browsers.
 *
 * The YAML library provides only a flat list of events. This module builds the values from the events, so that it can
 * limit the nesting depth and the expansion of aliases. It reports duplicate keys and uses their last value. An alias
 * is a copy of the value of its anchor. A merge key (`<<`) adds those members that the map itself does not contain. The
 * parser rejects aliases and merge keys once the text with all copies exceeds the size limit of a body
 * (docs/decisions/0009).
 */
import {
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from 'js-yaml'
import { isObject, type Json, type JsonObject, own, setKey } from '../json/json.ts'
import { badRequest } from '../model/api-error.ts'
import type { ParsedJson } from './json.ts'
import { loneSurrogate, maxDepth, maxDuplicates, maxValues, pathText, tooDeep, tooManyValues } from './json-scan.ts'
import { plainScalar, type Scalar } from './yaml-scalar.ts'

/**
 * Parses a single YAML document. `limit` is the maximum size of a body in bytes, which also limits the expansion of
 * aliases.
 */
export function parseYamlText(text: string, limit: number): ParsedJson {
  const reader = new Reader(text, eventsOf(text), limit)
  return { value: reader.read(), duplicates: reader.duplicates }
}

/**
 * Parses every document of a YAML file, such as a file of manifests. `limit` is the maximum size of each document in
 * bytes.
 */
export function parseYamlDocuments(text: string, limit: number): ParsedJson[] {
  const events = eventsOf(text)
  const documents: ParsedJson[] = []
  for (let start = 0; start < events.length; ) {
    const end = documentEnd(events, start)
    const reader = new Reader(text, events.slice(start, end), limit)
    documents.push({ value: reader.read(), duplicates: reader.duplicates })
    start = end
  }
  return documents
}

function documentEnd(events: readonly Event[], start: number): number {
  let end = start + 1
  while (end < events.length && events[end]!.type !== EVENT_ID.DOCUMENT) end++
  return end
}

/** Maximum recursion depth of the YAML library. The nesting depth of values is limited separately. */
const parserDepth = maxDepth + 8

function eventsOf(text: string): Event[] {
  try {
    return parseEvents(text, { maxDepth: parserDepth })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    if (error.reason.startsWith('nesting exceeded')) throw tooDeep()
    throw badRequest(`the body is not valid YAML: line ${(error.mark?.line ?? 0) + 1}: ${error.reason}`, {
      cause: error,
    })
  }
}

/** The value of a YAML anchor, with the sizes that each of its aliases adds. */
interface Anchored {
  readonly value: Json
  /** Approximate size of the value as JSON, with all aliases expanded. */
  readonly size: number
  /** Number of levels of objects and lists inside the value. */
  readonly height: number
  /** Number of JSON values in the anchor's value, including nested values and the value itself. */
  readonly count: number
}

type NodeEvent = Exclude<Event, { type: 1 } | { type: 6 }>

class Reader {
  readonly duplicates: string[] = []
  readonly #text: string
  readonly #events: readonly Event[]
  readonly #limit: number
  readonly #anchors = new Map<string, Anchored>()
  /** Path of the value that is being built. */
  readonly #place: (string | number)[] = []
  #next = 0
  /** Approximate JSON size in bytes of all values so far, including the copies that aliases create. */
  #size = 0
  #copied = 0
  #count = 0
  #deepest = 0

  constructor(text: string, events: readonly Event[], limit: number) {
    this.#text = text
    this.#events = events
    this.#limit = limit
  }

  read(): Json {
    const document = this.#events[this.#next++]
    if (document === undefined) return null
    if (document.type !== EVENT_ID.DOCUMENT) throw new TypeError('the body contains no YAML document')
    if (document.directives.some(({ kind }) => kind === 'tag')) throw badRequest('the body must not declare YAML tags')
    const value = this.#node()
    this.#next++
    if (this.#next < this.#events.length) throw badRequest('the body contains more than one YAML document')
    return value
  }

  #node(): Json {
    const event = this.#events[this.#next++] as NodeEvent
    const depth = this.#place.length
    if (event.type === EVENT_ID.ALIAS) return this.#copy(event)
    const size = this.#size
    const deepest = this.#deepest
    const count = this.#count
    if (++this.#count > maxValues) throw tooManyValues()
    this.#deepest = depth
    const value = this.#content(event)
    if (event.anchorStart >= 0) {
      const height = this.#deepest - depth
      const name = this.#slice(event.anchorStart, event.anchorEnd)
      this.#anchors.set(name, { value, size: this.#size - size, height, count: this.#count - count })
    }
    this.#deepest = Math.max(deepest, this.#deepest)
    return value
  }

  #content(event: Exclude<NodeEvent, { type: 5 }>): Json {
    if (event.type === EVENT_ID.SCALAR) return this.#scalar(event)
    const tag = event.tagStart < 0 ? '' : coreTag(this.#slice(event.tagStart, event.tagEnd))
    const isMap = event.type === EVENT_ID.MAPPING
    if (tag !== '' && tag !== (isMap ? 'map' : 'seq'))
      throw badRequest(`the YAML tag !!${tag} does not match its value`)
    this.#size += 2
    // Only maps and lists count toward the nesting depth.
    this.#deepest = this.#place.length + 1
    if (this.#deepest > maxDepth) throw tooDeep()
    return isMap ? this.#map() : this.#list()
  }

  #list(): Json[] {
    const list: Json[] = []
    while (!this.#ends()) {
      this.#place.push(list.length)
      list.push(this.#node())
      this.#place.pop()
    }
    return list
  }

  #map(): JsonObject {
    const map: JsonObject = {}
    const merged: Json[] = []
    while (!this.#ends()) {
      const merges = this.#isMergeKey()
      const key = this.#key()
      if (merges) merged.push(this.#node())
      else this.#member(map, key)
    }
    for (const source of merged.flat()) mergeInto(map, source)
    return map
  }

  #member(map: JsonObject, key: string): void {
    this.#place.push(key)
    const value = this.#node()
    this.#place.pop()
    if (Object.hasOwn(map, key) && this.duplicates.length < maxDuplicates)
      this.duplicates.push(pathText(this.#place, key))
    setKey(map, key, value)
  }

  #ends(): boolean {
    if (this.#events[this.#next]!.type !== EVENT_ID.POP) return false
    this.#next++
    return true
  }

  #isMergeKey(): boolean {
    const event = this.#events[this.#next]!
    return (
      event.type === EVENT_ID.SCALAR &&
      event.style === SCALAR_STYLE.PLAIN &&
      event.valueEnd - event.valueStart === 2 &&
      this.#text.startsWith('<<', event.valueStart)
    )
  }

  #key(): string {
    const key = this.#node()
    // Do not count the key: a member counts as one value.
    this.#count--
    if (typeof key === 'object') throw badRequest(`map keys must be strings: ${pathText(this.#place, '?')}`)
    return String(key)
  }

  #scalar(event: ScalarEvent): Scalar {
    const text = getScalarValue(this.#text, event)
    this.#size += text.length + 3
    if (!event.fast && !text.isWellFormed()) throw loneSurrogate(JSON.stringify(text.slice(0, 100)))
    const plain = event.style === SCALAR_STYLE.PLAIN
    if (event.tagStart < 0) return plain ? plainScalar(text) : text
    return tagged(this.#slice(event.tagStart, event.tagEnd), text)
  }

  #copy({ anchorStart, anchorEnd }: { readonly anchorStart: number; readonly anchorEnd: number }): Json {
    const name = this.#slice(anchorStart, anchorEnd)
    const anchored = this.#anchors.get(name)
    if (anchored === undefined) throw badRequest(`the YAML alias *${name.slice(0, 100)} refers to an undefined anchor`)
    const { value, size, height, count } = anchored
    this.#count += count
    this.#size += size
    this.#copied += size
    if (this.#text.length + this.#copied > this.#limit || this.#count > maxValues)
      throw badRequest(`the YAML aliases expand to more than ${this.#limit} bytes or ${maxValues} values`)
    this.#deepest = Math.max(this.#deepest, this.#place.length + height)
    if (this.#deepest > maxDepth) throw tooDeep()
    return copyOf(value)
  }

  #slice(start: number, end: number): string {
    return this.#text.slice(start, end)
  }
}

/**
 * Adds the members of a merge key to a map. The map's own members take precedence, and earlier merged maps take
 * precedence over later ones.
 */
function mergeInto(map: JsonObject, source: Json): void {
  if (!isObject(source)) throw badRequest('the value of a YAML merge key (<<) must be a map or a list of maps')
  for (const key of Object.keys(source)) if (!Object.hasOwn(map, key)) setKey(map, key, own(source, key)!)
}

/** Returns a deep copy of a value, so that a change to one copy does not affect another. */
function copyOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyOf)
  if (!isObject(value)) return value
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) setKey(copy, key, copyOf(value[key]!))
  return copy
}

const core = 'tag:yaml.org,2002:'

/** Returns the name of a core tag, such as `str` for `!!str`. Returns '' for other tags, which are ignored. */
function coreTag(tag: string): string {
  if (tag.startsWith(`!<${core}`)) return tag.slice(2 + core.length, -1)
  return tag.startsWith('!!') ? tag.slice(2) : ''
}

const fits: { readonly [tag: string]: (value: Scalar) => boolean } = {
  int: (value) => typeof value === 'bigint' || Number.isInteger(value),
  float: (value) => typeof value === 'number' || typeof value === 'bigint',
  bool: (value) => typeof value === 'boolean',
  null: (value) => value === null,
}

function tagged(tag: string, text: string): Scalar {
  const name = coreTag(tag)
  if (name === 'str' || name === '') return text
  if (name === 'binary') return textOfBase64(text)
  const value = plainScalar(text)
  if (Object.hasOwn(fits, name) && fits[name]!(value)) return value
  throw badRequest(`the YAML tag !!${name.slice(0, 50)} does not match its value`)
}

/** Returns a `!!binary` value as a base64 string, because JSON has no binary values. kube-apiserver does the same. */
function textOfBase64(text: string): string {
  const encoded = text.replaceAll(/[\r\n]/g, '')
  if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded))
    throw badRequest('a YAML !!binary value is not valid base64')
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw badRequest('a YAML !!binary value does not decode to UTF-8 text')
  }
}
