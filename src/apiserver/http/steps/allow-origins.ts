/**
 * Allows web pages of other origins to call this server from a browser (`--cors-allowed-origins`). The response headers
 * are the same as in kube-apiserver. This step responds to a preflight request from an allowed origin before
 * authentication, because browsers send preflight requests without credentials. Allowing an origin grants no
 * permissions. Permissions depend only on the credentials of a request. Writes from other origins are rejected
 * (`refuse-foreign-pages.ts`).
 */

import type { Step } from '../pipeline.ts'
import type { Exchange } from '../request/exchange.ts'

/** Returns whether web pages of this origin may call the server. */
export type IsAllowedOrigin = (origin: string) => boolean

/** Maximum length of an origin. Browsers never send longer origins. */
const maxOriginLength = 1024

/** Returns the CORS step. `isAllowed` is undefined if no origin is allowed. */
export function allowOrigins(isAllowed: IsAllowedOrigin | undefined): Step {
  return (exchange) => {
    if (isAllowed === undefined) return
    const origin = exchange.headers.first('origin') ?? ''
    if (origin === '' || origin.length > maxOriginLength || !isAllowed(origin)) return
    exchange.setHeader('access-control-allow-origin', origin)
    exchange.setHeader('access-control-allow-methods', 'POST, GET, OPTIONS, PUT, DELETE, PATCH')
    exchange.setHeader('access-control-allow-headers', allowedHeaders)
    exchange.setHeader('access-control-expose-headers', 'Date')
    exchange.setHeader('access-control-allow-credentials', 'true')
    if (exchange.transport.method === 'OPTIONS') answerPreflight(exchange)
  }
}

function answerPreflight(exchange: Exchange): void {
  exchange.open(204, undefined)
  exchange.complete = true
  exchange.transport.end()
}

const allowedHeaders =
  'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since'
