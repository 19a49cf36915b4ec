/** Response headers that control the connection. */
import type { Step } from '../pipeline.ts'

/** Sends Strict-Transport-Security with every response, so that browsers use only TLS. */
export function demandTls(directives: string): Step {
  return (exchange) => exchange.setHeader('strict-transport-security', directives)
}
