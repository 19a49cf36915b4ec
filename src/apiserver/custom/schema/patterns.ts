/**
 * Compiles the patterns in user schemas. Matching takes linear time for any pattern, and strings that are too long are
 * rejected, so that no schema can block the server. The engine is loaded when it is first needed.
 */
import { loadPatternEngine, maxPatternSize, tooLarge } from '../../../api/cel/pattern-engine.ts'
import { estimateSize } from '../../../api/cel/pattern-size.ts'
import type { Json } from '../../../api/json/json.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'

export type CompilePattern = (pattern: string) => CompiledPattern

export type CompiledPattern =
  | {
      readonly outcome: 'pattern'
      readonly matches: (text: string) => boolean
      /** Maximum number of steps per character of the input text. */
      readonly size: number
    }
  | Refusal

interface Refusal {
  readonly outcome: 'refused'
  readonly why: string
}

/** Maximum total size of the patterns in a schema, in steps. Each step takes about a hundred bytes of memory. */
const maxSizes = 100_000

export interface CompiledPatterns {
  readonly compile: CompilePattern
  /** Patterns that are treated as matching any string because they exceed a current limit. */
  readonly unenforced: readonly string[]
}

/**
 * Compiles all patterns in a schema, and yields between patterns. The size of the schema has already been validated. A
 * schema may have been stored under older limits. Its patterns that exceed the current limits then match every string.
 */
export async function compilePatterns(
  schema: Json,
  { timeSlice = new TimeSlice(), stored = false }: PatternOptions,
): Promise<CompiledPatterns> {
  const patterns = [...patternsIn(schema)]
  if (patterns.length === 0) return { compile: unknown, unenforced: [] }
  const compile = await loadEngine()
  const unenforced = new Set<string>()
  const compiled = new Map<string, CompiledPattern>()
  let sizes = 0
  for (const pattern of patterns) {
    if (compiled.has(pattern)) continue
    const size = estimateSize(pattern)
    const made = sizes > maxSizes ? tooMany : size > maxPatternSize ? tooLarge : compile(pattern)
    if (made.outcome === 'pattern') sizes += Math.max(size, made.size)
    else if (stored) unenforced.add(pattern)
    compiled.set(pattern, unenforced.has(pattern) ? everything : made)
    await timeSlice.yieldIfDue()
  }
  return { compile: (pattern) => compiled.get(pattern) ?? unknown(pattern), unenforced: [...unenforced] }
}

interface PatternOptions {
  readonly timeSlice?: TimeSlice | undefined
  /** Whether the schema is already stored. Its patterns are then not rejected for exceeding a limit. */
  readonly stored?: boolean | undefined
}

const everything: CompiledPattern = { outcome: 'pattern', matches: () => true, size: 0 }

const tooMany: CompiledPattern = { outcome: 'refused', why: 'the patterns in this schema are too large in total' }

function unknown(pattern: string): never {
  throw new TypeError(`pattern was not compiled in advance: ${pattern}`)
}

function* patternsIn(schema: Json): Generator<string> {
  const queue: Json[] = [schema]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (typeof next !== 'object' || next === null) continue
    for (const [key, value] of Object.entries(next)) {
      if (key === 'pattern' && typeof value === 'string') yield value
      else if (typeof value === 'object' && value !== null) queue.push(value as Json)
    }
  }
}

async function loadEngine(): Promise<CompilePattern> {
  const read = await loadPatternEngine()
  return (source) => {
    const compiledPattern = read(source)
    if (compiledPattern.outcome === 'refused') return compiledPattern
    const { test, size } = compiledPattern.pattern
    return { outcome: 'pattern', matches: test, size }
  }
}
