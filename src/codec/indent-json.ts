/** JSON with one member a line, in the same canonical order of keys as `stringifyJson`. */
import { compareUtf8 } from '../base/utf8-order.ts'
import { isObject, type Json } from '../model/json.ts'

export function indentJson(value: Json): string {
  return `${write(value, '')}\n`
}

function write(value: Json, margin: string): string {
  const inner = `${margin}  `
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((item) => `${inner}${write(item, inner)}`).join(',\n')}\n${margin}]`
  }
  if (isObject(value)) {
    const keys = Object.keys(value).sort(typeFirst)
    if (keys.length === 0) return '{}'
    return `{\n${keys.map((key) => `${inner}${JSON.stringify(key)}: ${write(value[key]!, inner)}`).join(',\n')}\n${margin}}`
  }
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value)
}

function typeFirst(a: string, b: string): number {
  return rank(a) - rank(b) || compareUtf8(a, b)
}

function rank(key: string): number {
  return key === 'apiVersion' ? 0 : key === 'kind' ? 1 : 2
}
