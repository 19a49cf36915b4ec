/**
 * YAML in and out. In: one document; anchors, aliases and merge keys are refused before anything is expanded, as they
 * let a small text grow without bound. Scalars take the types of YAML 1.1 (`yes` is a boolean), as users of this field
 * expect, without its dates. Out: keys in byte order, lists not indented, control characters escaped.
 */
import { isUtf8 } from 'node:buffer'
import { Document, isAlias, isNode, isPair, isScalar, Pair, parseDocument, Scalar, visit, YAMLMap, YAMLSeq } from 'yaml'
import { compareUtf8 } from '../base/utf8-order.ts'
import { badRequest } from '../model/api-error.ts'
import { isObject, type Json, type JsonObject, setKey } from '../model/json.ts'
import type { ParsedJson } from './json.ts'
import { maxDepth } from './json-scan.ts'

export function parseYaml(bytes: Buffer): ParsedJson {
  if (!isUtf8(bytes)) throw badRequest('the body is not valid UTF-8')
  try {
    const document = parseDocument(bytes.toString('utf8'), {
      version: '1.1',
      merge: false,
      intAsBigInt: true,
      customTags: plainTags,
      logLevel: 'silent',
    })
    const duplicates = readErrors(document)
    refuseReferences(document)
    return { value: normalize(document.toJS({ maxAliasCount: 0 }), 0), duplicates }
  } catch (error) {
    // The parser recurses; a text that nests too deeply ends there.
    if (error instanceof RangeError) throw badRequest('the body is nested too deeply', { cause: error })
    throw error
  }
}

/** Only what JSON has a type for; a date stays the text it is. */
function plainTags(tags: readonly unknown[]): never {
  const plain = ['null', 'bool', 'int', 'float', 'str', 'map', 'seq']
  return tags.filter(
    (tag) =>
      typeof tag === 'string' || plain.some((name) => (tag as { tag?: string }).tag === `tag:yaml.org,2002:${name}`),
  ) as never
}

/** Keys that occur twice are reported; any other fault is an error. */
function readErrors(document: ReturnType<typeof parseDocument>): string[] {
  const duplicates: string[] = []
  for (const error of document.errors) {
    if (error.code !== 'DUPLICATE_KEY') throw badRequest(`the body is not valid YAML: ${error.message.split('\n')[0]}`)
    duplicates.push(`line ${error.linePos?.[0].line ?? 0}`)
  }
  return duplicates
}

function refuseReferences(document: ReturnType<typeof parseDocument>): void {
  visit(document, (_key, node, path) => {
    if (path.length > maxDepth * 3) throw badRequest(`the body is nested deeper than ${maxDepth} levels`)
    if (isAlias(node) || (isNode(node) && 'anchor' in node && node.anchor))
      throw badRequest('anchors and aliases are not accepted: write the value out')
    if (isPair(node) && isScalar(node.key) && node.key.value === '<<')
      throw badRequest('merge keys (<<) are not accepted: write the fields out')
  })
}

/** Integers as numbers where that is exact; no values that JSON does not have. */
function normalize(value: unknown, depth: number): Json {
  if (depth > maxDepth) throw badRequest(`the body is nested deeper than ${maxDepth} levels`)
  if (typeof value === 'bigint')
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
  if (typeof value === 'number' && !Number.isFinite(value))
    throw badRequest(`${value} is not a number that can be stored`)
  if (Array.isArray(value)) return value.map((item) => normalize(item, depth + 1))
  if (typeof value !== 'object' || value === null) return value === undefined ? null : (value as Json)
  const object: JsonObject = {}
  for (const [key, item] of Object.entries(value)) setKey(object, key, normalize(item, depth + 1))
  return object
}

export function stringifyYaml(value: Json): string {
  const document = new Document(undefined, { version: '1.1', aliasDuplicateObjects: false })
  document.contents = nodeOf(document, value) as never
  return document.toString({ indentSeq: false, lineWidth: 0 }).replaceAll(unprintable, escaped)
}

/** What drives a terminal, turns the direction of writing, or ends a line for some readers of YAML and not for others. */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu

/** Outside of quotes only the ends of lines and tabs are left: see `textNode`. */
function escaped(character: string): string {
  if (character === '\n' || character === '\t') return character
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Quoted if it holds what must be escaped. */
function textNode(text: string): Scalar {
  const node = new Scalar(text)
  if (text.replaceAll(/[\n\t]/g, '').search(unprintable) >= 0) node.type = Scalar.QUOTE_DOUBLE
  return node
}

/** Built node by node, so that keys stand in byte order and integer-like keys stay where they are put. */
function nodeOf(document: Document, value: Json): unknown {
  if (Array.isArray(value)) {
    const list = new YAMLSeq()
    list.items = value.map((item) => nodeOf(document, item))
    return list
  }
  if (typeof value === 'string') return textNode(value)
  if (!isObject(value)) return document.createNode(value)
  const map = new YAMLMap()
  const keys = Object.keys(value).filter((key) => value[key] !== undefined)
  map.items = keys.sort(compareUtf8).map((key) => new Pair(textNode(key), nodeOf(document, value[key]!)))
  return map
}
