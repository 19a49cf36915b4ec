/**
 * Limits the work of parsing untrusted JSON. JSON that is mostly text, such as a base64 patch, is cheap to parse, but
 * millions of tiny values are expensive. Values are counted before parsing, at a fraction of the cost.
 */
import { runToCompletion, type Sliced } from '../../base/concurrency/time-slice.ts'
import { CallError } from '../../wire/http/client/call-error.ts'

const defaultMaxValues = 200_000
const comma = 0x2c
const bracket = 0x5b
const brace = 0x7b

/** Number of bytes after which the counting can be interrupted. */
const bytesPerSlice = 128 * 1024

/** Throws CallError if the JSON text has too many values. */
export function assertFewValues(json: Buffer, maxValues = defaultMaxValues): void {
  runToCompletion(assertFewValuesSliced(json, maxValues))
}

/**
 * Like `assertFewValues`, but as a generator that can be interrupted. Counts characters that could start a value, even
 * inside strings, so the count is never too low.
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

/** Returns the number of values in a range. Uses indexed access, because an iterator takes several times as long. */
function valuesIn(json: Buffer, start: number, end: number): number {
  let values = 0
  for (let i = start; i < end; i++) {
    const byte = json[i]
    if (byte === comma || byte === bracket || byte === brace) values++
  }
  return values
}
