/** Formats CEL values for error messages, up to a maximum length. */

import { showDuration, showTimestamp } from './time-text.ts'
import {
  CelList,
  CelMap,
  Double,
  Duration,
  kindOf,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  UrlValue,
  type Value,
} from './values.ts'

/** Formats a value in about `maxLength` characters, for example as `["a", 1]`. Replaces any excess with `...`. */
export function showValue(value: Value, maxLength: number): string {
  const parts: string[] = []
  let left = maxLength
  const add = (text: string) => {
    if (left <= 0) return
    const isCut = text.length > left
    parts.push(isCut ? `${text.slice(0, left)}...` : text)
    left = isCut ? 0 : left - text.length
  }
  const addAll = (values: Iterable<() => void>) => {
    let isFirst = true
    for (const addValue of values) {
      if (left <= 0) return
      if (!isFirst) add(', ')
      isFirst = false
      addValue()
    }
  }
  const show = (each: Value): void => {
    if (each instanceof CelList) {
      add('[')
      addAll(map(each, (item) => () => show(item)))
      add(']')
    } else if (each instanceof CelMap) {
      add('{')
      addAll(
        map(each.keys(), (key) => () => {
          show(key)
          add(': ')
          show(each.get(key)!)
        }),
      )
      add('}')
    } else if (each instanceof Optional) {
      add(each.value === undefined ? 'optional.none()' : 'optional.of(')
      if (each.value !== undefined) {
        show(each.value)
        add(')')
      }
    } else add(scalarText(each, left))
  }
  show(value)
  return parts.join('')
}

function* map<T, R>(items: Iterable<T>, convert: (item: T) => R): Generator<R> {
  for (const item of items) yield convert(item)
}

function scalarText(value: Value, maxLength: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, maxLength + 1))
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof Double) return Number.isInteger(value.value) ? value.value.toFixed(1) : String(value.value)
  if (value instanceof Timestamp) return `timestamp("${showTimestamp(value)}")`
  if (value instanceof Duration) return `duration("${showDuration(value)}")`
  if (value instanceof TypeValue) return value.name
  if (value instanceof Uint8Array) return `bytes of length ${value.length}`
  if (value instanceof Opaque || value instanceof UrlValue)
    return `${kindOf(value)}("${value.text.slice(0, maxLength)}")`
  return String(value)
}
