/** Sends the HTML pages of the console and the documentation, with their security headers. */
import type { Exchange } from '../../apiserver/http/request/exchange.ts'

/**
 * Sets the headers of a page, which allow only the page's own scripts, styles and connections, and forbid framing.
 * `trustedTypes` names the Trusted Types policy that the page's scripts create, or is `'none'`.
 */
export function setPageHeaders(exchange: Exchange, trustedTypes: string): void {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${trustedTypes}`,
  ]
  exchange.setHeader('content-security-policy', policy.join('; '))
  for (const [header, value] of otherHeaders) exchange.setHeader(header, value)
}

const otherHeaders: readonly (readonly [name: string, value: string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
]

/** Sends 304 Not Modified. */
export function sendUnchanged(exchange: Exchange): void {
  exchange.open(304, undefined)
  exchange.complete = true
  exchange.transport.end()
}
