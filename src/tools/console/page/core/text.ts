/**
 * Sanitizes external text: invisible characters and characters that change the writing direction become visible, and
 * long text is truncated. The result is used only in text nodes, never as HTML.
 */

const longest = 2_000

const unprintable = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Formats one line. Control characters become `␀` or `<U+202E>`, and the text is truncated after `most` characters. */
export function displayText(value: unknown, most: number = longest): string {
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value)
  const cut = text.length > most ? `${text.slice(0, most)}… (${text.length.toLocaleString('en')} characters)` : text
  return cut.replace(unprintable, visible)
}

/** Formats several lines. Line breaks and tabs are preserved. */
export function shownLines(text: string, most: number = 100_000): string {
  const cut =
    text.length > most
      ? `${text.slice(0, most)}\n… cut here: ${text.length.toLocaleString('en')} characters in all`
      : text
  return cut.replace(unprintable, (character) =>
    character === '\n' || character === '\t' ? character : visible(character),
  )
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}

/** Formats a number for a chart, such as `1.5 k` or `20 M`. */
export function shortNumber(value: number): string {
  const units: readonly (readonly [number, string])[] = [
    [1e9, ' G'],
    [1e6, ' M'],
    [1e3, ' k'],
  ]
  const [size, unit] = units.find(([least]) => Math.abs(value) >= least) ?? [1, '']
  const scaled = value / size
  return `${Number.isInteger(scaled) ? scaled : twoDigits(scaled)}${unit}`
}

/** Formats a duration, such as `4.2 ms` or `1.3 s`. */
export function shortSeconds(seconds: number): string {
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`
  if (seconds < 1) return `${twoDigits(seconds * 1000)} ms`
  return `${twoDigits(seconds)} s`
}

function twoDigits(value: number): string {
  // With two significant digits, values of 99.5 and above would be printed with an exponent.
  return Math.abs(value) >= 99.5 ? String(Math.round(value)) : value.toPrecision(2)
}

/** Formats a size, such as `118 MiB`. */
export function shortBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  const scaled = bytes / 1024 ** step
  return `${scaled >= 100 || step === 0 ? Math.round(scaled) : scaled.toPrecision(3)} ${units[step]}`
}
