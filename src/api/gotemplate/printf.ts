/**
 * Go's `printf` with the verbs `%v %s %d %q %t %f %e %g %x %X %o %b %c %U %T %%`, flags, width and precision. A verb
 * that does not fit its value produces an error text such as `%!d(string=hi)`, as in Go.
 */
import { exponentText, floatText, isInteger, plainText, typeName, type Value } from './values.ts'

interface Verb {
  readonly letter: string
  readonly flags: string
  readonly width: number | undefined
  readonly precision: number | undefined
}

const verbs = /%([-+# 0]*)(\*|\d+)?(?:\.(\*|\d*))?(.)?/gsu
/** Maximum width of a field. Larger widths have no practical use. */
const maxWidth = 10_000

export function printf(format: string, args: readonly Value[]): string {
  let next = 0
  const number = (text: string | undefined): number | undefined => {
    if (text === undefined) return undefined
    const value = text === '*' ? Number(args[next++]) : Number(text)
    return Number.isInteger(value) ? Math.min(Math.abs(value), maxWidth) : undefined
  }
  const text = format.replaceAll(verbs, (_, flags: string, width?: string, precision?: string, letter?: string) => {
    if (letter === undefined) return '%!(NOVERB)'
    if (letter === '%') return '%'
    const verb = { letter, flags, width: number(width), precision: number(precision) }
    if (next >= args.length) return `%!${letter}(MISSING)`
    return padded(formatVerb(args[next++], verb), verb)
  })
  const extra = args.slice(next).map((value) => (value == null ? '<nil>' : `${typeName(value)}=${plainText(value)}`))
  return extra.length === 0 ? text : `${text}%!(EXTRA ${extra.join(', ')})`
}

function formatVerb(value: Value, verb: Verb): string {
  const { letter } = verb
  if (letter === 'T') return typeName(value)
  if (letter === 'v') return typeof value === 'string' ? cut(value, verb) : signed(plainText(value), verb)
  const text = value == null ? undefined : ofKind(value, verb)
  if (text !== undefined) return text
  if (value == null) return `%!${letter}(<nil>)`
  // As in Go, a verb is applied to each element of a list or map.
  if (Array.isArray(value)) return `[${value.map((item) => formatVerb(item, verb)).join(' ')}]`
  if (typeof value === 'object')
    return `map[${Object.keys(value)
      .sort()
      .map((key) => `${formatVerb(key, verb)}:${formatVerb(value[key], verb)}`)
      .join(' ')}]`
  return `%!${letter}(${typeName(value)}=${plainText(value)})`
}

/** Formats a value with a verb. Returns undefined if the verb does not support values of this kind. */
function ofKind(value: NonNullable<Value>, verb: Verb): string | undefined {
  if (typeof value === 'string') return ofString(value, verb)
  if (typeof value === 'boolean') return verb.letter === 't' ? String(value) : undefined
  if (typeof value === 'object') return undefined
  const asFloat = 'feEgGF'.includes(verb.letter)
  if (asFloat) return signed(ofFloat(Number(value), verb), verb)
  return isInteger(value) ? ofInteger(BigInt(value), verb) : undefined
}

function cut(text: string, { precision }: Verb): string {
  return precision === undefined ? text : [...text].slice(0, precision).join('')
}

function ofString(text: string, verb: Verb): string | undefined {
  const { letter } = verb
  if (letter === 's') return cut(text, verb)
  if (letter === 'q') return quoted(cut(text, verb))
  if (letter !== 'x' && letter !== 'X') return undefined
  const hex = Buffer.from(text).toString('hex')
  return letter === 'x' ? hex : hex.toUpperCase()
}

/** Formats a string in double quotes, with escapes for nonprintable characters. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(/\\u00([01][\da-f])/g, '\\x$1')
}

const bases: { readonly [letter: string]: number } = { d: 10, b: 2, o: 8, x: 16, X: 16 }

function ofInteger(value: bigint, verb: Verb): string | undefined {
  const { letter } = verb
  if (letter === 'c' || letter === 'q' || letter === 'U') return ofCharacter(value, letter)
  const base = bases[letter]
  if (base === undefined) return undefined
  const digits = (value < 0n ? -value : value).toString(base).padStart(verb.precision ?? 0, '0')
  const prefix = verb.flags.includes('#') ? ({ b: '0b', o: '0', x: '0x', X: '0X' }[letter] ?? '') : ''
  return signed(`${value < 0n ? '-' : ''}${prefix}${letter === 'X' ? digits.toUpperCase() : digits}`, verb)
}

function ofCharacter(value: bigint, letter: string): string {
  const code = value >= 0n && value <= 0x10ffffn ? Number(value) : 0xfffd
  if (letter === 'U') return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  const character = String.fromCodePoint(code)
  return letter === 'c' ? character : `'${character}'`
}

/** Maximum precision. More digits have no practical use. */
const maxPrecision = 100

function ofFloat(value: number, { letter, precision }: Verb): string {
  if (!Number.isFinite(value)) return floatText(value)
  const digits = Math.min(precision ?? 6, maxPrecision)
  if (letter === 'f' || letter === 'F') return value.toFixed(digits)
  if (letter === 'e' || letter === 'E') {
    const text = withExponent(value.toExponential(digits))
    return letter === 'e' ? text : text.toUpperCase()
  }
  if (precision === undefined) return floatText(value)
  return withExponent(String(Number(value.toPrecision(Math.max(1, digits)))))
}

function withExponent(text: string): string {
  return text.replace(/e([-+]\d+)$/, (_, power: string) => `e${exponentText(Number(power))}`)
}

function signed(text: string, { flags, letter }: Verb): string {
  if (!/^[\d.]/.test(text) || !/[vdfeEgGF]/.test(letter)) return text
  return flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text
}

function padded(text: string, { flags, width = 0, letter }: Verb): string {
  const missing = width - [...text].length
  if (missing <= 0) return text
  if (flags.includes('-')) return text + ' '.repeat(missing)
  if (!flags.includes('0') || !/[dfeEgGxXobv]/.test(letter)) return ' '.repeat(missing) + text
  const sign = /^[-+ ]/.exec(text)?.[0] ?? ''
  return sign + '0'.repeat(missing) + text.slice(sign.length)
}
