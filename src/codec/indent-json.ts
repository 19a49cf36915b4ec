/** JSON with one member a line. */
import { compareUtf8 } from '../base/utf8-order.ts'
import { isObject, type Json } from '../model/json.ts'

export interface IndentStyle {
  /** What each level adds to the left. */
  readonly step: string
  readonly order: (a: string, b: string) => number
}

/** In the same canonical order of keys as `stringifyJson`. */
const canonical: IndentStyle = { step: '  ', order: typeFirst }

export function indentJson(value: Json, style: IndentStyle = canonical): string {
  return `${write(value, '', style)}\n`
}

function write(value: Json, margin: string, style: IndentStyle): string {
  const inner = `${margin}${style.step}`
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((item) => `${inner}${write(item, inner, style)}`).join(',\n')}\n${margin}]`
  }
  if (isObject(value)) {
    const keys = Object.keys(value).sort(style.order)
    if (keys.length === 0) return '{}'
    return `{\n${keys.map((key) => `${inner}${JSON.stringify(key)}: ${write(value[key]!, inner, style)}`).join(',\n')}\n${margin}}`
  }
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value)
}

function typeFirst(a: string, b: string): number {
  return rank(a) - rank(b) || compareUtf8(a, b)
}

function rank(key: string): number {
  return key === 'apiVersion' ? 0 : key === 'kind' ? 1 : 2
}
