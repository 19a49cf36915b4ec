/** Builds the head of an HTTP/1.1 response: the status line, the headers and the date. */
import { assertFits, dateHeader } from '../../../wire/http/answer-headers.ts'
import type { ResponseHeaders } from '../server-transport.ts'

/** The reason phrases of common status codes. Other codes, which a backend may send, have an empty reason phrase. */
const reasons: ReadonlyMap<number, string> = new Map([
  [101, 'Switching Protocols'],
  [200, 'OK'],
  [201, 'Created'],
  [202, 'Accepted'],
  [204, 'No Content'],
  [206, 'Partial Content'],
  [301, 'Moved Permanently'],
  [302, 'Found'],
  [304, 'Not Modified'],
  [307, 'Temporary Redirect'],
  [308, 'Permanent Redirect'],
  [400, 'Bad Request'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'Not Found'],
  [405, 'Method Not Allowed'],
  [406, 'Not Acceptable'],
  [408, 'Request Timeout'],
  [409, 'Conflict'],
  [410, 'Gone'],
  [413, 'Payload Too Large'],
  [415, 'Unsupported Media Type'],
  [417, 'Expectation Failed'],
  [422, 'Unprocessable Entity'],
  [429, 'Too Many Requests'],
  [431, 'Request Header Fields Too Large'],
  [500, 'Internal Server Error'],
  [501, 'Not Implemented'],
  [502, 'Bad Gateway'],
  [503, 'Service Unavailable'],
  [504, 'Gateway Timeout'],
])

/** A header line, as `HTTP/1.1` sends it. */
interface Line {
  readonly name: string
  readonly value: string
  /** Undefined until the same header occurs in a second response. */
  text: string | undefined
}

/**
 * The most recent line at each position of a head. Most responses repeat most of these lines, which then need not be
 * checked or assembled again.
 */
const lastLines: (Line | undefined)[] = []
/** Limits on the lines to cache, so that they take little memory. */
const maxLines = 32
const maxValue = 256

/**
 * Returns the head of a response, up to and including the empty line, to be written as latin1. `more` contains
 * additional header lines.
 */
export function answerHead(status: number, headers: ResponseHeaders, more = ''): string {
  let text = `HTTP/1.1 ${status} ${reasons.get(status) ?? ''}\r\n`
  let hasDate = false
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    if (name === 'date') hasDate = true
    text += lineAt(i / 2, name, headers[i + 1]!)
  }
  if (!hasDate) text += lineAt(headers.length / 2, 'date', dateHeader())
  return `${text}${more}\r\n`
}

function lineAt(index: number, name: string, value: string): string {
  const last = lastLines[index]
  if (last !== undefined && last.name === name && last.value === value) {
    // Array.join copies the parts. A concatenated string would only reference them and be assembled for each response.
    last.text ??= [name, ': ', value, '\r\n'].join('')
    return last.text
  }
  assertFits(name, value)
  if (index < maxLines && value.length <= maxValue) lastLines[index] = { name, value, text: undefined }
  return `${name}: ${value}\r\n`
}
