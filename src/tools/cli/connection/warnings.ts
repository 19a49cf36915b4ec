/** Wraps a transport to print warnings in responses. `trace.ts` shows requests. */
import type { Transport } from '../../../client/requests/transport.ts'
import { warningTexts } from '../../../client/requests/warnings.ts'
import { escapeLine } from '../printers/escape.ts'

/**
 * Prints each warning once, even if several responses contain it. `told` contains the warnings that were already
 * printed.
 */
export function withWarnings(
  send: Transport,
  { tell, reportedWarnings }: { readonly tell: (text: string) => void; readonly reportedWarnings: Set<string> },
): Transport {
  return async (request) => {
    const response = await send(request)
    for (const warning of warningTexts(response.headers)) {
      if (reportedWarnings.has(warning)) continue
      reportedWarnings.add(warning)
      tell(`Warning: ${escapeLine(warning)}\n`)
    }
    return response
  }
}
