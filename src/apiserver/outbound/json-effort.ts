/**
 * Limits the cost of parsing untrusted JSON. Long strings, such as a base64 patch, are cheap to parse, but millions of
 * tiny values are expensive. Counting the values in advance takes a fraction of the parsing time.
 */
import { runToCompletion, type Sliced } from '../../base/concurrency/time-slice.ts'
import { CallError } from '../../wire/http/client/call-error.ts'

const defaultMaxValues = 200_000
const comma = 0x2c
const bracket = 0x5b
const brace = 0x7b

/** Number of bytes to scan between yields. */
const bytesPerSlice = 128 * 1024

/** Throws CallError if the JSON text has too many values. */
export function assertFewValues(json: Buffer, maxValues = defaultMaxValues): void {
  runToCompletion(assertFewValuesSliced(json, maxValues))
}

/**
 * Throws CallError if JSON contains too many values. Works in steps. Counts every character that can precede a value,
 * even inside strings, so the count may be too high but never too low.
 */
export function* assertFewValuesSliced(json: Buffer, maxValues = defaultMaxValues): Sliced<void> {
  if (json.length < maxValues) return
  let values = 0
  for (let start = 0; start < json.length; start += bytesPerSlice) {
    values += valuesIn(json, start, Math.min(start + bytesPerSlice, json.length))
    if (values > maxValues) throw new CallError('answer', `the response has more than ${maxValues} values`)
    yield
  }
}

/**
 * Returns the number of values in a range of bytes. Uses indexed access, because an iterator takes several times as
 * long.
 */
function valuesIn(json: Buffer, start: number, end: number): number {
  let values = 0
  for (let i = start; i < end; i++) {
    const byte = json[i]
    if (byte === comma || byte === bracket || byte === brace) values++
  }
  return values
}
