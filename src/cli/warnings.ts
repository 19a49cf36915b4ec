/** What is laid around the way to the server: the warnings that answers carry are told. `trace.ts` shows requests. */
import type { Transport, TransportResponse } from '../client/transport.ts'
import { escapeLine } from './printers/escape.ts'

/** Tells each warning of the server once, whatever number of answers carry it. `told` holds those that were. */
export function withWarnings(
  send: Transport,
  { tell, told }: { readonly tell: (text: string) => void; readonly told: Set<string> },
): Transport {
  return async (request) => {
    const response = await send(request)
    for (const warning of warningsOf(response)) {
      if (told.has(warning)) continue
      told.add(warning)
      tell(`Warning: ${escapeLine(warning)}\n`)
    }
    return response
  }
}

/** `299 - "text"`, several of them joined by commas. */
function warningsOf({ headers }: TransportResponse): string[] {
  const header = headers.warning
  if (header === undefined) return []
  const found = header.matchAll(/\d{3} \S+ ("(?:[^"\\]|\\.)*")/g)
  return [...found].map(([, quoted]) => quoted!.slice(1, -1).replaceAll(/\\(.)/g, '$1'))
}
