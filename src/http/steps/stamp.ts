/** Gives the exchange an ID, which the answer carries, and reads its headers. */
import { randomUUID } from 'node:crypto'
import { RequestHeaders } from '../headers.ts'
import type { Step } from '../pipeline.ts'

/** Gives the exchange an ID and reads its headers. */
export const stamp: Step = (exchange) => {
  exchange.setHeader('audit-id', randomUUID())
  exchange.setHeader('cache-control', 'no-cache, private')
  exchange.headers = new RequestHeaders(exchange.transport.rawHeaders)
}
