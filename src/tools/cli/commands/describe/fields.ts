/** The generic description of an object: its metadata, then every field under a readable title. */

import { isObject, type Json, type JsonObject, own } from '../../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'

/** Metadata fields that have their own lines at the top, and managed fields, which are too long. */
const separatelyShown = new Set(['name', 'namespace', 'labels', 'annotations', 'managedFields'])

export function describeFields(object: ApiObject): string {
  const { name = '', namespace = '' } = object.metadata
  const { metadata, ...rest } = asJson(object)
  const otherMetadata = isObject(metadata)
    ? Object.fromEntries(Object.entries(metadata).filter(([key]) => !separatelyShown.has(key)))
    : {}
  return [
    `Name:\t${name}\nNamespace:\t${namespace}\n`,
    labelsText(object),
    annotationsText(object),
    content({ ...rest, metadata: otherMetadata }, 0),
  ].join('')
}

export function labelsText({ metadata }: ApiObject): string {
  return multiline(
    'Labels',
    Object.entries(metadata.labels ?? {}).map(([key, value]) => `${key}=${value}`),
  )
}

const longLine = 140

export function annotationsText({ metadata }: ApiObject): string {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(
    ([key]) => !key.endsWith('/last-applied-configuration'),
  )
  return multiline(
    'Annotations',
    annotations.map(([key, value]) => annotationLine(key, value)),
  )
}

function annotationLine(key: string, value: string): string {
  const text = value.replace(/\n$/, '')
  if (text.length < longLine && !text.includes('\n')) return `${key}: ${text}`
  return `${key}:\n${text
    .split('\n')
    .map((line) => `\t  ${line.length > longLine ? `${line.slice(0, longLine)}...` : line}`)
    .join('\n')}`
}

/** Writes one entry per line, with the first entry next to the title. */
export function multiline(title: string, entries: readonly string[]): string {
  if (entries.length === 0) return `${title}:\t<none>\n`
  return [...entries]
    .sort(compareUtf8)
    .map((entry, i) => `${i === 0 ? `${title}:` : ''}\t${entry}\n`)
    .join('')
}

function content(value: JsonObject, level: number): string {
  return Object.keys(value)
    .sort(compareUtf8)
    .map((key) => member(key, own(value, key) ?? null, level))
    .join('')
}

function member(key: string, value: Json, level: number): string {
  const lead = `${'  '.repeat(level)}${titleOf(key)}:`
  if (isObject(value)) return `${lead}\n${content(value, level + 1)}`
  if (Array.isArray(value)) return `${lead}\n${value.map((item) => element(item, level + 1)).join('')}`
  return `${lead}\t${text(value)}\n`
}

function element(item: Json, level: number): string {
  return isObject(item)
    ? content(item, level)
    : `${'  '.repeat(level)}${Array.isArray(item) ? JSON.stringify(item) : text(item)}\n`
}

function text(value: Json): string {
  return value === null ? '<nil>' : String(value)
}

const acronyms = new Set(['API', 'GUID', 'OSB', 'UID', 'URL'])

/**
 * Turns `resourceVersion` into `Resource Version` and `uid` into `UID`. Returns keys that are not field names
 * unchanged.
 */
function titleOf(key: string): string {
  if (/[^A-Za-z0-9]/.test(key)) return key
  const words = key.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|\d+/g) ?? [key]
  return words
    .map((word) => (acronyms.has(word.toUpperCase()) ? word.toUpperCase() : word[0]!.toUpperCase() + word.slice(1)))
    .join(' ')
}
