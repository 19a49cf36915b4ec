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

/**
 * Returns the head of a response, up to and including the empty line, to be written as latin1. `more` contains
 * additional header lines.
 */
export function answerHead(status: number, headers: ResponseHeaders, more = ''): string {
  let text = `HTTP/1.1 ${status} ${reasons.get(status) ?? ''}\r\n`
  let hasDate = false
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    const value = headers[i + 1]!
    assertFits(name, value)
    if (name === 'date') hasDate = true
    text += `${name}: ${value}\r\n`
  }
  if (!hasDate) text += `date: ${dateHeader()}\r\n`
  return `${text}${more}\r\n`
}
