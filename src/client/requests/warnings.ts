/** Reads the warnings that the headers of an answer carry. */
import type { TransportResponse } from './transport.ts'

/** The texts of `299 - "text"`; several of them are joined by commas. */
export function warningTexts({ warning }: TransportResponse['headers']): string[] {
  if (warning === undefined) return []
  const entries = warning.matchAll(/\d{3} \S+ ("(?:[^"\\]|\\.)*")/g)
  return [...entries].map(([, quoted]) => decodeHeader(quoted!.slice(1, -1).replaceAll(/\\(.)/g, '$1')))
}

/** Node and browsers read a header as one character per byte; the text of a warning is UTF-8. */
function decodeHeader(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(text, (character) => character.charCodeAt(0)))
}
