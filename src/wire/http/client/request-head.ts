/** Formats the head of an HTTP/1.1 request. */
import { fitsLine } from '../header-line.ts'
import { CallError } from './call-error.ts'

/**
 * Returns the head of a request. `headers` contains alternating names and values. Throws CallError if the path or a
 * header contains a line break.
 */
export function requestHead(method: string, path: string, headers: readonly string[]): string {
  let head = `${method} ${path} HTTP/1.1`
  let isValid = !/\s/.test(path) && fitsLine(head)
  for (let i = 0; i < headers.length; i += 2) {
    const line = `${headers[i]}: ${headers[i + 1]}`
    isValid &&= fitsLine(line)
    head += `\r\n${line}`
  }
  if (!isValid) throw new CallError('connection', 'the path or a header contains characters that cannot be sent')
  return `${head}\r\n\r\n`
}

/** Converts a map of headers to alternating names and values. A header in the map may have multiple values. */
export function listHeaders(headers: { readonly [name: string]: string | readonly string[] }): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [name, value] : value.flatMap((each) => [name, each]),
  )
}
