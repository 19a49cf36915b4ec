/** Parses the method and path of the request. */
import type { Step } from '../pipeline.ts'
import { readRequest } from '../request/request-info.ts'

/** Sets `info` from the method and URL. */
export const resolveRequest: Step = (exchange) => {
  exchange.info = readRequest(exchange.transport.method, exchange.transport.target)
}
