/** Errors in the text of an expression, in the wording and layout of cel-go. */

export interface Issue {
  /** Offset in the expression's text. */
  readonly at: number
  readonly text: string
}

/** A syntax error. Thrown by the lexer and parser. The checker collects its issues instead. */
export class SyntaxIssue {
  readonly issue: Issue

  constructor(at: number, text: string) {
    this.issue = { at, text }
  }
}

const maxShown = 20
const maxLine = 500

/** Formats the issues, each with its line and a marker below the position. */
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
