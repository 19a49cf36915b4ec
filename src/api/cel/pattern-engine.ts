/**
 * The engine for user-defined regular expressions. Matching takes linear time for any pattern, and the size of patterns
 * is limited, so that no pattern can block the server. The engine is loaded when it is first needed.
 */
import type { RE2JS } from 're2js'
import { estimateSize } from './pattern-size.ts'
import type { Pattern, ReadPattern } from './regex.ts'

/** Maximum length of a pattern. Handwritten patterns are shorter, and longer patterns take milliseconds to compile. */
const maxPatternLength = 4096
/** Maximum estimated size of a pattern. Compilation cannot be interrupted and takes about two microseconds per step. */
export const maxPatternSize = 10_000
/** The result for a pattern whose estimated size exceeds the limit. */
export const tooLarge = {
  outcome: 'refused',
  why: `it is too large because of its repetitions and character classes: the limit is ${maxPatternSize} steps`,
} as const

/**
 * Loads the engine. The engine limits the size of each pattern but not the total size of all patterns, because a rule
 * contains few patterns.
 */
export async function loadPatternEngine(): Promise<ReadPattern> {
  const { RE2JS, RE2JSException } = await import('re2js')
  return (source) => {
    if (source.length > maxPatternLength)
      return { outcome: 'refused', why: `must have at most ${maxPatternLength} characters` }
    if (estimateSize(source) > maxPatternSize) return tooLarge
    try {
      return { outcome: 'pattern', pattern: patternOf(RE2JS.compile(source)) }
    } catch (error) {
      if (error instanceof RE2JSException) return { outcome: 'refused', why: error.message }
      throw error
    }
  }
}

function patternOf(compiled: RE2JS): Pattern {
  return {
    size: compiled.programSize(),
    test: (text) => compiled.test(text),
    find: (text) => firstMatches(compiled, text, 1)[0],
    findAll: (text, limit) => firstMatches(compiled, text, limit),
  }
}

/** Returns the first matches of a pattern. Like Go, ignores an empty match directly after another match. */
function firstMatches(compiled: RE2JS, text: string, limit: number): string[] {
  const matches: string[] = []
  const matcher = compiled.matcher(text)
  let last = -1
  while (matches.length < limit && matcher.find()) {
    if (matcher.end() === matcher.start() && matcher.start() === last) continue
    last = matcher.end()
    matches.push(matcher.group() ?? '')
  }
  return matches
}
