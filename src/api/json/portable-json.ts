/**
 * Parses and writes JSON in Node.js and browsers without rounding. An integer beyond 2^53 is a bigint in memory, as
 * everywhere in this program, and is written with all its digits. Only texts with such integers cost more.
 */
import { parseNative } from './native-json.ts'

const longDigits = /\d{16}/

/** Parses a server response. Integers beyond 2^53 become bigint. */
export function parseJson(text: string): unknown {
  return parseNative(text, longDigits.test(text) ? exactInteger : undefined)
}

function exactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  return /^-?\d{1,40}$/.test(source) ? BigInt(source) : value
}

/** Writes a value, including bigints. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? rawJson(member) : member))
}

// TypeScript's standard library does not declare `JSON.rawJSON` yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

function rawJson(value: bigint): unknown {
  return rawJSON(String(value))
}
