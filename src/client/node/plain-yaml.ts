/**
 * Parses the simple YAML of most kubeconfigs: one key and value per line, lists, and simple quotes. Every command reads
 * a kubeconfig first, and loading the full YAML library takes longer than the request that follows. For ambiguous text,
 * the parser returns undefined, and the caller uses the library. If the parser returns a value, the library would
 * return the same value.
 */
import type { Json, JsonObject } from '../../api/json/json.ts'

/** Returns the value, or undefined if the input needs the full parser. */
export function parsePlainYaml(text: string): Json | undefined {
  const lines: Line[] = []
  for (const line of text.split('\n')) {
    if (/^ *(?:#.*)?$/.test(line)) continue
    const lineMatch = linePattern.exec(line)
    if (lineMatch === null) return undefined
    const { indent = '', dashes = '', key, value } = lineMatch.groups!
    if (notTexts.test(key!)) return undefined
    lines.push({ indent: indent.length, inner: indent.length + dashes.length, key: key!, value })
  }
  const reader = { lines, next: 0 }
  const value = lines.length === 0 ? undefined : readMapping(reader, 0)
  return reader.next === lines.length ? value : undefined
}

/** Matches `key:`, `key: value` or `- key: value`. */
const linePattern =
  /^(?<indent> *)(?<dashes>- )?(?<key>[A-Za-z][\w-]*):(?: (?<value>true|false|\{\}|\[\]|"[ !#-[\]-~]*"|[A-Za-z/][\w+/=.:@-]*))?$/

interface Line {
  /** Columns at which the line and its key start. They differ if the line starts a list item. */
  readonly indent: number
  readonly inner: number
  readonly key: string
  readonly value: string | undefined
}

interface Reader {
  readonly lines: readonly Line[]
  next: number
}

/** Parses a mapping whose keys start at a column. Ends at a line that is indented less. */
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

/**
 * Parses the value that follows a key: a mapping that is indented further than the key, or a list, which may start in
 * the same column.
 */
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

/** Words that some YAML versions interpret as a boolean or null. */
const notTexts = /^(?:true|false|null|yes|no|on|off|y|n)$/i

function scalarOf(value: string): Json | undefined {
  if (value === 'true') return true
  if (value === 'false') return false
  if (value === '{}') return {}
  if (value === '[]') return []
  if (value.startsWith('"')) return value.slice(1, -1)
  return notTexts.test(value) || value.endsWith(':') ? undefined : value
}
