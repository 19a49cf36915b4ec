/** Formats flag values as they would appear on a command line. */
import { isDeepStrictEqual } from 'node:util'
import type { Flag, Flags, OptionsOf } from '../../base/flags/flags.ts'

/**
 * Returns the value of each flag that the help text lists, by name. A flag that is not set and has no default has the
 * value ''. The values are published, so URLs are shown without credentials. All other secrets are in files that the
 * flags specify.
 */
export function flagValues<F extends Flags>(flags: F, options: OptionsOf<F>): Map<string, string> {
  return new Map(
    Object.entries(flags)
      .filter(([, { hidden }]) => hidden !== true)
      .map(([option, flag]) => [
        flag.name,
        withoutCredentials(valueText(flag, (options as { readonly [name: string]: unknown })[option])),
      ]),
  )
}

function withoutCredentials(text: string): string {
  return text.replaceAll(/:\/\/[^/@]*@/g, '://***@')
}

function valueText(flag: Flag<unknown>, value: unknown): string {
  if (value === undefined) return ''
  if (flag.default !== '' && isDefault(flag, value)) return flag.default
  if (value instanceof Map) return [...value].map(([name, each]) => `${name}=${each}`).join(',')
  if (Array.isArray(value)) return value.map(plain).join(',')
  return flag.value === 'TIME' && typeof value === 'number' ? timeText(value) : plain(value)
}

function isDefault(flag: Flag<unknown>, value: unknown): boolean {
  const standard = flag.readAll === undefined ? flag.read(flag.default) : flag.readAll([flag.default])
  return isDeepStrictEqual(standard, value)
}

/** Parsed objects such as CIDR ranges keep the original text in `text`. */
function plain(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if ('text' in value) return String(value.text)
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each))
}

const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const

/** Returns milliseconds as a duration such as `1h30m`. */
function timeText(milliseconds: number): string {
  let rest = milliseconds
  let text = ''
  for (const [unit, length] of units) {
    const count = Math.floor(rest / length)
    if (count > 0) text += `${count}${unit}`
    rest -= count * length
  }
  return text || '0s'
}
