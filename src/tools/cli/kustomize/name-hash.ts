/** Computes the suffix of a generated name: a hash of the object's name and data, computed as in kustomize. */
import { createHash } from 'node:crypto'
import { isObject, type Json, own } from '../../../api/json/json.ts'
import { sortUtf8 } from '../../../base/collections/utf8-order.ts'
import type { Resource } from './resource.ts'

/** Returns a suffix of ten characters. Its alphabet contains no vowels and no characters that look alike. */
export function nameHash({ object, kind, identity: { name } }: Resource): string {
  const parts: Record<string, Json> = { kind, name, data: own(object, 'data') ?? '' }
  if (kind === 'Secret') parts.type = own(object, 'type') ?? ''
  const binary = own(object, 'binaryData')
  if (kind === 'ConfigMap' && isObject(binary)) parts.binaryData = binary
  const digest = createHash('sha256').update(goJson(parts)).digest('hex')
  return [...digest.slice(0, 10)].map((letter) => otherLetters[letter] ?? letter).join('')
}

const otherLetters: { readonly [letter: string]: string } = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' }

/** Formats JSON as Go does: with sorted keys and escaped HTML characters. */
function goJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`
  if (isObject(value))
    return `{${sortUtf8(Object.keys(value))
      .map((key) => `${goJson(key)}:${goJson(value[key] ?? null)}`)
      .join(',')}}`
  if (typeof value !== 'string') return String(value)
  return JSON.stringify(value.toWellFormed())
    .replaceAll(/[<>&\u2028\u2029]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll(/\\\\|\\[bf]/g, (text) => ({ '\\b': '\\u0008', '\\f': '\\u000c' })[text] ?? text)
}
