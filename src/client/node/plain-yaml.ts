/**
 * Reads the plain YAML that client configs are mostly written in: a key and a value on each line, lists of such, no
 * quotes but simple ones. Every command reads one first, and the whole of YAML takes longer to load and to read it than
 * the request after it. Whatever is not so plain that it can only mean one thing is left to the library: then this gives
 * undefined, and never another value than the library would.
 */
import type { Json, JsonObject } from '../../api/json/json.ts'

/** The value; undefined where the text is not so plain. */
export function parsePlainYaml(text: string): Json | undefined {
  const lines: Line[] = []
  for (const line of text.split('\n')) {
    if (/^ *(?:#.*)?$/.test(line)) continue
    const found = linePattern.exec(line)
    if (found === null) return undefined
    const { indent = '', dashes = '', key, value } = found.groups!
    if (notTexts.test(key!)) return undefined
    lines.push({ indent: indent.length, inner: indent.length + dashes.length, key: key!, value })
  }
  const reader = { lines, next: 0 }
  const value = lines.length === 0 ? undefined : readMapping(reader, 0)
  return reader.next === lines.length ? value : undefined
}

/** `key:`, `key: value` or `- key: value`. */
const linePattern =
  /^(?<indent> *)(?<dashes>- )?(?<key>[A-Za-z][\w-]*):(?: (?<value>true|false|\{\}|\[\]|"[ !#-[\]-~]*"|[A-Za-z/][\w+/=.:@-]*))?$/

interface Line {
  /** Where it begins, and where its key begins: they differ for the first line of an item. */
  readonly indent: number
  readonly inner: number
  readonly key: string
  readonly value: string | undefined
}

interface Reader {
  readonly lines: readonly Line[]
  next: number
}

/** The lines whose key begins in this column, up to one that begins before it. */
function readMapping(reader: Reader, column: number): JsonObject | undefined {
  const entries: [string, Json][] = []
  const first = reader.next
  for (let line = reader.lines[first]; line !== undefined; line = reader.lines[reader.next]) {
    const isItem = line.indent !== line.inner
    if (isItem && reader.next > first) break
    if (line.inner < column) break
    if (line.inner > column || entries.some(([key]) => key === line!.key)) return undefined
    reader.next++
    const value = line.value === undefined ? readBelow(reader, column) : scalarOf(line.value)
    if (value === undefined) return undefined
    entries.push([line.key, value])
  }
  return Object.fromEntries(entries)
}

/** What stands below a key in this column: a mapping further right, or a list, which may begin where the key does. */
function readBelow(reader: Reader, column: number): Json | undefined {
  const line = reader.lines[reader.next]
  if (line === undefined) return undefined
  if (line.indent === line.inner) return line.indent > column ? readMapping(reader, line.indent) : undefined
  return line.indent >= column ? readList(reader, line.indent) : undefined
}

function readList(reader: Reader, column: number): Json | undefined {
  const items: Json[] = []
  for (let line = reader.lines[reader.next]; line !== undefined; line = reader.lines[reader.next]) {
    if (line.indent !== column || line.indent === line.inner) break
    const item = readMapping(reader, line.inner)
    if (item === undefined) return undefined
    items.push(item)
  }
  return items
}

/** Words that YAML, or a version of it, takes for something else than a text. */
const notTexts = /^(?:true|false|null|yes|no|on|off|y|n)$/i

function scalarOf(value: string): Json | undefined {
  if (value === 'true') return true
  if (value === 'false') return false
  if (value === '{}') return {}
  if (value === '[]') return []
  if (value.startsWith('"')) return value.slice(1, -1)
  return notTexts.test(value) || value.endsWith(':') ? undefined : value
}
