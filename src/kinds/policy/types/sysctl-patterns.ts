/**
 * Patterns of kernel parameters in a policy: names, or beginnings of names that end with `*`. What is allowed and what
 * is forbidden may not overlap. Found in time that grows with the lists: names are short, and beginnings are looked up.
 */
import { at, type FieldError, type FieldPath, forbidden, invalid } from '../../../model/field-error.ts'

const longest = 253
const part = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/
const lastPart = /^(?:[a-z0-9][-_a-z0-9]*)?[a-z0-9*]$/

export function checkSysctlPatterns(patterns: readonly string[], path: FieldPath): FieldError[] {
  const all = patterns.some((pattern) => pattern === '*')
  return [
    ...patterns.flatMap((pattern, i) => {
      if (pattern === '') return [invalid(at(path, i), pattern, 'empty sysctl not allowed')]
      return isPattern(pattern)
        ? []
        : [invalid(at(path, i), pattern, 'must be a sysctl name, or the beginning of one and *')]
    }),
    ...(all && patterns.length > 1
      ? [forbidden(`${path}.items`, "if '*' is present, must not specify other sysctls")]
      : []),
  ]
}

function isPattern(pattern: string): boolean {
  if (pattern.length > longest) return false
  const parts = pattern.split(/[./]/)
  return lastPart.test(parts.at(-1)!) && parts.slice(0, -1).every((each) => part.test(each))
}

/** Of two patterns that overlap the fault is reported at the narrower; of two equal ones at the allowed one. */
export function checkOverlap(
  allowed: readonly string[],
  banned: readonly string[],
  paths: { readonly allowed: FieldPath; readonly banned: FieldPath },
): FieldError[] {
  const bannedNames = namesIn(banned)
  const allowedNames = namesIn(allowed)
  return [
    ...allowed.flatMap((name, i) => {
      const overlaps = isCovered(name, bannedNames) || (isOpen(name) && bannedNames.opens.some(beginning(name)))
      return overlaps ? [invalid(at(paths.allowed, i), name, 'sysctl overlaps with a forbidden one')] : []
    }),
    ...banned.flatMap((name, i) =>
      !isOpen(name) && isBegun(name, allowedNames)
        ? [invalid(at(paths.banned, i), name, 'sysctl overlaps with an allowed one')]
        : [],
    ),
  ]
}

interface Names {
  readonly exact: ReadonlySet<string>
  /** What patterns begin with. */
  readonly begins: ReadonlySet<string>
  readonly opens: Beginnings
}

function namesIn(patterns: readonly string[]): Names {
  const sound = patterns.filter(isPattern)
  const begins = sound.filter(isOpen).map(beginning)
  return {
    exact: new Set(sound.filter((name) => !isOpen(name))),
    begins: new Set(begins),
    opens: new Beginnings(begins),
  }
}

function isOpen(name: string): boolean {
  return name.endsWith('*')
}

function beginning(name: string): string {
  return isOpen(name) ? name.slice(0, -1) : name
}

function isCovered(name: string, names: Names): boolean {
  return (!isOpen(name) && names.exact.has(name)) || isBegun(name, names)
}

/** Whether a pattern begins as this does. */
function isBegun(name: string, { begins }: Names): boolean {
  if (name.length > longest) return false
  const text = beginning(name)
  for (let length = 0; length <= text.length; length++) if (begins.has(text.slice(0, length))) return true
  return false
}

/** Texts in order, to find whether one starts with another. */
class Beginnings {
  readonly #sorted: readonly string[]

  constructor(texts: readonly string[]) {
    this.#sorted = texts.toSorted()
  }

  /** Whether some text starts with this one. */
  some(text: string): boolean {
    let low = 0
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#sorted[middle]! < text) low = middle + 1
      else high = middle
    }
    return this.#sorted[low]?.startsWith(text) ?? false
  }
}
