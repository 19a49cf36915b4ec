/** Prints the warnings that the server sends in responses. */
import type { Transport } from '../../../client/requests/transport.ts'
import { warningTexts } from '../../../client/requests/warnings.ts'
import { escapeLine } from '../printers/escape.ts'

/**
 * Returns a transport that prints the warnings in responses. Each warning is printed once, even if several responses
 * contain it. `reportedWarnings` contains the warnings that were already printed.
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
