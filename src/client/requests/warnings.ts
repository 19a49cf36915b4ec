/** Reads the warnings in the headers of responses. */
import type { TransportResponse } from './transport.ts'

/** Returns the text of each `299 - "text"` warning. A header may contain several warnings, separated by commas. */
export function warningTexts({ warning }: TransportResponse['headers']): string[] {
  if (warning === undefined) return []
  const entries = warning.matchAll(/\d{3} \S+ ("(?:[^"\\]|\\.)*")/g)
  return [...entries].map(([, quoted]) => decodeHeader(quoted!.slice(1, -1).replaceAll(/\\(.)/g, '$1')))
}

/** Convert the header back to bytes and decode it as UTF-8. Node and browsers decode headers as Latin-1. */
function decodeHeader(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(text, (character) => character.charCodeAt(0)))
}
