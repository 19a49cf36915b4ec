/** What answers tell clients about connections. */
import type { Step } from '../pipeline.ts'

/** Sends Strict-Transport-Security with every answer: TLS alone is to be used. */
export function demandTls(directives: string): Step {
  return (exchange) => exchange.setHeader('strict-transport-security', directives)
}
