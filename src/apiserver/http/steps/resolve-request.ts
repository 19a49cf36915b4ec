/** Reads what is asked for off the method and the path. */
import type { Step } from '../pipeline.ts'
import { readRequest } from '../request/request-info.ts'

/** Reads what the URL and the method mean. */
export const resolveRequest: Step = (exchange) => {
  exchange.info = readRequest(exchange.transport.method, exchange.transport.target)
}
