/**
 * Parses and formats JSON without rounding, in Node.js and in browsers. In memory, an integer beyond 2^53 is a bigint,
 * which is formatted with all its digits. Only documents with such integers take longer to parse.
 */
import { parseNative } from './native-json.ts'

const longDigits = /\d{16}/

/** Parses a response from the server. Integers beyond 2^53 become bigint. */
export function parseJson(text: string): unknown {
  return parseNative(text, longDigits.test(text) ? exactInteger : undefined)
}

function exactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  return /^-?\d{1,40}$/.test(source) ? BigInt(source) : value
}

/** Formats a value as JSON, including bigints. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? rawJson(member) : member))
}

// TypeScript's standard library does not yet declare `JSON.rawJSON`.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

function rawJson(value: bigint): unknown {
  return rawJSON(String(value))
}
