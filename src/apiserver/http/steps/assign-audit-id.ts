/** Assigns the audit ID, which the response also contains, and reads the headers. */
import { randomUUID } from 'node:crypto'
import type { Step } from '../pipeline.ts'
import { RequestHeaders } from '../request/headers.ts'

/** Matches a valid audit ID. A proxy or client may choose the ID of its request, and an invalid ID is replaced. */
const sound = /^[\w.:-]{1,64}$/

/** Assigns the audit ID and reads the headers. */
export const assignAuditId: Step = (exchange) => {
  exchange.headers = new RequestHeaders(exchange.transport.rawHeaders)
  const requestedId = exchange.headers.first('audit-id')
  exchange.auditId = requestedId !== undefined && sound.test(requestedId) ? requestedId : randomUUID()
  exchange.setHeader('audit-id', exchange.auditId)
  exchange.setHeader('cache-control', 'no-cache, private')
}
