/** What is laid around the way to the server: the warnings that answers carry are told. `trace.ts` shows requests. */
import type { Transport } from '../../../client/requests/transport.ts'
import { warningTexts } from '../../../client/requests/warnings.ts'
import { escapeLine } from '../printers/escape.ts'

/** Tells each warning of the server once, whatever number of answers carry it. `told` holds those that were. */
export function withWarnings(
  send: Transport,
  { tell, told }: { readonly tell: (text: string) => void; readonly told: Set<string> },
): Transport {
  return async (request) => {
    const response = await send(request)
    for (const warning of warningTexts(response.headers)) {
      if (told.has(warning)) continue
      told.add(warning)
      tell(`Warning: ${escapeLine(warning)}\n`)
    }
    return response
  }
}
