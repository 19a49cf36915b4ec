/** Gives the exchange an ID, which the answer carries, and reads its headers. */
import { randomUUID } from 'node:crypto'
import type { Step } from '../pipeline.ts'
import { RequestHeaders } from '../request/headers.ts'

/** A proxy or a client may name its request; whatever else it sends there is replaced. */
const sound = /^[\w.:-]{1,64}$/

/** Gives the exchange an ID and reads its headers. */
export const stamp: Step = (exchange) => {
  exchange.headers = new RequestHeaders(exchange.transport.rawHeaders)
  const given = exchange.headers.first('audit-id')
  exchange.auditId = given !== undefined && sound.test(given) ? given : randomUUID()
  exchange.setHeader('audit-id', exchange.auditId)
  exchange.setHeader('cache-control', 'no-cache, private')
}
