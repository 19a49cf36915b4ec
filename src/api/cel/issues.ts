/** Errors in an expression, with the wording and layout of cel-go. */

export interface Issue {
  /** Offset of the error in the expression text. */
  readonly at: number
  readonly text: string
}

/** A syntax error thrown by the lexer or the parser. The checker collects issues instead of throwing them. */
export class SyntaxIssue {
  readonly issue: Issue

  constructor(at: number, text: string) {
    this.issue = { at, text }
  }
}

const maxShown = 20
const maxLine = 500

/**
 * Formats issues. Each issue is followed by the line of the expression and a marker below the position of the error.
 */
export function showIssues(source: string, issues: readonly Issue[]): string {
  const ordered = issues.toSorted((a, b) => a.at - b.at).slice(0, maxShown)
  return ordered.map((issue) => showIssue(source, issue)).join('\n')
}

function showIssue(source: string, { at, text }: Issue): string {
  const before = source.slice(0, at)
  const begin = before.lastIndexOf('\n') + 1
  const lineNumber = before.split('\n').length
  const column = [...before.slice(begin)].length
  const end = source.indexOf('\n', begin)
  const line = source.slice(begin, end < 0 ? undefined : end).replaceAll('\t', ' ')
  const head = `ERROR: <input>:${lineNumber}:${column + 1}: ${text}`
  if (line.length > maxLine) return head
  return `${head}\n | ${line}\n | ${'.'.repeat(column)}^`
}
