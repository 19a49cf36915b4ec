/** Converts the headers of an HTTP/1.1 response to the format that a transport returns. */
import type { AnswerHead } from '../../wire/http/client/answer-parser.ts'

/** Headers that must have a single value. Only their first value is used. */
const singleValued: ReadonlySet<string> = new Set([
  'age',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
  'server',
])

/**
 * Returns headers by lower-case name. The values of a repeated header are joined by commas, unless the header may have
 * only one value.
 */
export function joinHeaders({ headers, rawHeaders }: Pick<AnswerHead, 'headers' | 'rawHeaders'>): {
  readonly [name: string]: string
} {
  if (rawHeaders.length === 2 * headers.size) return Object.fromEntries(headers)
  const joined = new Map<string, string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    const earlier = joined.get(name)
    if (earlier === undefined) joined.set(name, rawHeaders[i + 1]!)
    else if (!singleValued.has(name)) joined.set(name, `${earlier}, ${rawHeaders[i + 1]}`)
  }
  return Object.fromEntries(joined)
}
