/** Sets response headers that affect the client's later connections. */
import type { Step } from '../pipeline.ts'

/** Adds Strict-Transport-Security to every response, so that browsers use only TLS. */
export function demandTls(directives: string): Step {
  return (exchange) => exchange.setHeader('strict-transport-security', directives)
}
