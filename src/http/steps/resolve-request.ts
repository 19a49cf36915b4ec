/** Reads what is asked for off the method and the path, and in which form errors are to be told. */
import type { Vendor } from '../../model/vendor.ts'
import { preferredForm } from '../negotiate.ts'
import type { Step } from '../pipeline.ts'
import { readRequest } from '../request-info.ts'

export function resolveRequest(vendor: Vendor): Step {
  return async (exchange, next) => {
    exchange.info = readRequest(exchange.transport.method, exchange.transport.target)
    exchange.form = preferredForm({ headers: exchange.headers, query: exchange.info.query, watch: false, vendor })
    await next()
  }
}
