/**
 * Patterns that users write in schemas: they run in time linear in the text, whatever the pattern, so that no schema
 * can hold up the server. The engine is loaded on first use.
 */
export type CompilePattern = (pattern: string) => CompiledPattern

export type CompiledPattern =
  | { readonly outcome: 'pattern'; readonly matches: (text: string) => boolean }
  | { readonly outcome: 'refused'; readonly why: string }

/** A longer one is no pattern that a person wrote, and costs milliseconds to compile. */
const longestPattern = 4096

export async function loadPatterns(): Promise<CompilePattern> {
  const { RE2JS, RE2JSException } = await import('re2js')
  return (pattern) => {
    if (pattern.length > longestPattern)
      return { outcome: 'refused', why: `must have at most ${longestPattern} characters` }
    try {
      const compiled = RE2JS.compile(pattern)
      return { outcome: 'pattern', matches: (text) => compiled.test(text) }
    } catch (error) {
      if (error instanceof RE2JSException) return { outcome: 'refused', why: error.message }
      throw error
    }
  }
}
