/**
 * Sysctl patterns of a policy, which are names or prefixes followed by `*`. Allowed and forbidden patterns must not
 * overlap. The check looks up each prefix of a name in a set, so its time is linear in the number of patterns.
 */
import { at, type FieldError, type FieldPath, forbidden, invalid } from '../../../model/field-error.ts'

const maxLength = 253
const part = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/
const lastPart = /^(?:[a-z0-9][-_a-z0-9]*)?[a-z0-9*]$/

export function checkSysctlPatterns(patterns: readonly string[], path: FieldPath): FieldError[] {
  const all = patterns.some((pattern) => pattern === '*')
  return [
    ...patterns.flatMap((pattern, i) => {
      if (pattern === '') return [invalid(at(path, i), pattern, 'empty sysctl not allowed')]
      return isPattern(pattern)
        ? []
        : [invalid(at(path, i), pattern, 'must be a sysctl name, or a prefix followed by *')]
    }),
    ...(all && patterns.length > 1
      ? [forbidden(`${path}.items`, "if '*' is present, must not specify other sysctls")]
      : []),
  ]
}

function isPattern(pattern: string): boolean {
  if (pattern.length > maxLength) return false
  const parts = pattern.split(/[./]/)
  return lastPart.test(parts.at(-1)!) && parts.slice(0, -1).every((each) => part.test(each))
}

/**
 * Reports overlapping patterns. The error is reported for the narrower pattern, or for the allowed pattern if both are
 * equal.
 */
export function checkOverlap(
  allowed: readonly string[],
  banned: readonly string[],
  paths: { readonly allowed: FieldPath; readonly banned: FieldPath },
): FieldError[] {
  const allowedNames = namesIn(allowed)
  const bannedNames = namesIn(banned)
  return [
    ...allowed.flatMap((name, i) =>
      isCovered(name, bannedNames)
        ? [invalid(at(paths.allowed, i), name, 'sysctl overlaps with a forbidden sysctl')]
        : [],
    ),
    ...banned.flatMap((name, i) =>
      isNarrower(name, allowedNames)
        ? [invalid(at(paths.banned, i), name, 'sysctl overlaps with an allowed sysctl')]
        : [],
    ),
  ]
}

interface Names {
  readonly exact: ReadonlySet<string>
  /** Prefixes of the patterns that end with `*`, without the `*`. */
  readonly begins: ReadonlySet<string>
}

function namesIn(patterns: readonly string[]): Names {
  const sound = patterns.filter(isPattern)
  return {
    exact: new Set(sound.filter((name) => !isOpen(name))),
    begins: new Set(sound.filter(isOpen).map(beginning)),
  }
}

function isOpen(name: string): boolean {
  return name.endsWith('*')
}

function beginning(name: string): string {
  return isOpen(name) ? name.slice(0, -1) : name
}

function isCovered(name: string, names: Names): boolean {
  return (!isOpen(name) && names.exact.has(name)) || isBegun(beginning(name), names)
}

/** Whether one of `names` is a pattern that matches everything that `name` matches, and more. */
function isNarrower(name: string, names: Names): boolean {
  if (!isOpen(name)) return isBegun(name, names)
  return name !== '*' && isBegun(name.slice(0, -2), names)
}

/** Returns whether any pattern is a prefix of the string. */
function isBegun(text: string, { begins }: Names): boolean {
  if (text.length > maxLength) return false
  for (let length = 0; length <= text.length; length++) if (begins.has(text.slice(0, length))) return true
  return false
}
