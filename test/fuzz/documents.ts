/**
 * Generates random documents from a seed, and texts of these documents in several notations. Also provides functions
 * that damage a text.
 */
import { type Json, setKey } from '../../src/api/json/json.ts'
import type { RandomSource } from '../storage/store/random-source.ts'

const texts = [
  '',
  'a',
  'b c',
  'yes',
  'null',
  '1',
  '1.5',
  '0x1f',
  '2026-01-01',
  'é',
  '😀',
  '\u0000',
  '\u2028',
  '\n',
  'a\nb\n',
  ' a ',
  '"',
  '\\',
  '#',
  ': ',
  '- ',
  '__proto__',
  'constructor',
  '<<',
  '*a',
  '&a',
  '{',
  '[',
  '~',
  'x'.repeat(300),
  'ConfigMap',
  'v1',
  '\ud83d\ude00\ufffd',
  '\t',
  '%',
  '|',
  '>',
  '---',
]
const numbers = [0, 1, -1, 1.5, 1e21, 1e-7, 2 ** 31, 2 ** 53 - 1, 9007199254740993n, -9223372036854775808n, 0.1]

export function randomJson(random: RandomSource, depth = 4): Json {
  switch (random.below(depth > 0 ? 8 : 5)) {
    case 0:
      return null
    case 1:
      return random.chance(0.5)
    case 2:
      return random.pick(numbers)
    case 3:
    case 4:
      return randomText(random)
    case 5:
      return Array.from({ length: random.below(4) }, () => randomJson(random, depth - 1))
    default: {
      const object = {}
      for (let i = random.below(5); i > 0; i--) setKey(object, randomText(random), randomJson(random, depth - 1))
      return object
    }
  }
}

export function randomText(random: RandomSource): string {
  return random.chance(0.7)
    ? random.pick(texts)
    : String.fromCodePoint(...Array.from({ length: 1 + random.below(4) }, () => randomPoint(random)))
}

function randomPoint(random: RandomSource): number {
  const point = random.below(random.pick([0x80, 0x800, 0x10000, 0x110000]))
  return point >= 0xd800 && point <= 0xdfff ? 0x41 : point
}

/**
 * Returns the value as JSON text in a random notation. White space and escapes vary, but the order of members does not.
 */
export function spellJson(random: RandomSource, value: Json): string {
  const space = () => random.pick(['', '', '', ' ', '\n', '  '])
  if (typeof value === 'string') return spellText(random, value)
  if (Array.isArray(value))
    return `[${space()}${value.map((item) => spellJson(random, item)).join(`${space()},${space()}`)}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.keys(value).map(
    (key) => `${spellText(random, key)}${space()}:${space()}${spellJson(random, value[key]!)}`,
  )
  return `{${members.join(`${space()},${space()}`)}}`
}

function spellText(random: RandomSource, text: string): string {
  const json = JSON.stringify(text)
  if (random.chance(0.7)) return json
  return `"${Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`
}

const snippets = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\\',
  '\\ud800',
  '\u0000',
  '\ufeff',
  '- ',
  '&a ',
  '*a',
  '<<: ',
  '!!int ',
  '# ',
  '\n',
  '\t',
  '1e999',
  '-',
  '0',
  '|\n',
  '? ',
  '---\n',
  '%TAG',
  "'",
  'null',
  '__proto__',
]

/** Returns the text with some bytes changed, deleted, duplicated or inserted. */
export function damaged(random: RandomSource, text: string): Buffer {
  let bytes: Buffer = Buffer.from(text)
  for (let i = 1 + random.below(3); i > 0; i--) bytes = damagedOnce(random, bytes)
  return bytes
}

function damagedOnce(random: RandomSource, bytes: Buffer): Buffer<ArrayBuffer> {
  const at = random.below(bytes.length + 1)
  const length = random.below(1 + Math.min(20, bytes.length - at))
  const before = bytes.subarray(0, at)
  const part = bytes.subarray(at, at + length)
  const after = bytes.subarray(at + length)
  switch (random.below(5)) {
    case 0:
      return Buffer.concat([before, after])
    case 1:
      return Buffer.concat([before, part, part, after])
    case 2:
      return Buffer.concat([before, Buffer.from([random.below(256)]), after])
    case 3:
      return Buffer.from(before)
    default:
      return Buffer.concat([before, Buffer.from(random.pick(snippets)), part, after])
  }
}
