/**
 * How much work parsing JSON of strangers can be: little where it is mostly text, as a patch in base64 is, and a great
 * deal where it has millions of tiny values. The values are counted before it is parsed, which costs a fraction of it.
 */
import { runToCompletion, type Steps } from '../../base/concurrency/time-slice.ts'
import { CallError } from './call-error.ts'

const defaultMost = 200_000
const [comma, bracket, brace] = [0x2c, 0x5b, 0x7b]

/** After how many bytes others have their turn. */
const bytesPerStep = 128 * 1024

/** Throws CallError where there are too many. */
export function assertFewValues(json: Buffer, most = defaultMost): void {
  runToCompletion(fewValuesSteps(json, most))
}

/**
 * The same, with a yield where it can be interrupted. Counts what could begin a value, whether or not it is within a
 * text: that is never too few.
 */
export function* fewValuesSteps(json: Buffer, most = defaultMost): Steps<void> {
  if (json.length < most) return
  let values = 0
  for (let start = 0; start < json.length; start += bytesPerStep) {
    values += valuesIn(json, start, Math.min(start + bytesPerStep, json.length))
    if (values > most) throw new CallError('answer', `the answer has more than ${most} values`)
    yield
  }
}

/** By index: an iterator takes several times as long. */
function valuesIn(json: Buffer, start: number, end: number): number {
  let values = 0
  for (let i = start; i < end; i++) {
    const byte = json[i]
    if (byte === comma || byte === bracket || byte === brace) values++
  }
  return values
}
