/** Several documents of JSON that follow each other, as `jq` and others print them: YAML wants a mark between them. */

/** A string, or a bracket that opens or closes. */
const parts = /"(?:[^"\\]|\\.)*"|[{}[\]]/g

/**
 * The same text with a mark before each document but the first; where each begins a line, lines
 * keep their numbers. Other texts stay as they are.
 */
export function separateJson(text: string): string {
  const starts = /^\s*\{/.test(text) ? documentStarts(text) : []
  const documents = starts.map((start, i) => text.slice(start, starts[i + 1]))
  if (documents.length < 2 || !documents.every((document) => document.trimEnd().endsWith('}'))) return text
  // A mark stands at the beginning of a line.
  const marks = documents.map((_, i) => (i === 0 ? '' : documents[i - 1]!.endsWith('\n') ? '--- ' : '\n--- '))
  return text.slice(0, starts[0]) + documents.map((document, i) => marks[i] + document).join('')
}

/** Where brackets open that are in no other. */
function documentStarts(text: string): number[] {
  const starts: number[] = []
  let depth = 0
  for (const { 0: part, index } of text.matchAll(parts)) {
    if (part === '{' || part === '[') {
      if (depth === 0) starts.push(index)
      depth++
    } else if (part === '}' || part === ']') depth--
  }
  return starts
}
