/**
 * Inserts separators between consecutive JSON documents, because YAML requires them. Programs such as `jq` print JSON
 * documents without separators.
 */

/** Matches a string or a bracket. */
const parts = /"(?:[^"\\]|\\.)*"|[{}[\]]/g

/**
 * Inserts a separator before each document except the first. If each document starts on a new line, the line numbers do
 * not change. A text that is not a sequence of JSON documents remains unchanged.
 */
export function separateJson(text: string): string {
  const starts = /^\s*\{/.test(text) ? documentStarts(text) : []
  const documents = starts.map((start, i) => text.slice(start, starts[i + 1]))
  if (documents.length < 2 || !documents.every((document) => document.trimEnd().endsWith('}'))) return text
  // Start a new line, unless the previous document already ends with a line break.
  const marks = documents.map((_, i) => (i === 0 ? '' : documents[i - 1]!.endsWith('\n') ? '--- ' : '\n--- '))
  return text.slice(0, starts[0]) + documents.map((document, i) => marks[i] + document).join('')
}

/** Returns the start offset of each JSON document. */
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
