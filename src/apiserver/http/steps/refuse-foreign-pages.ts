/**
 * Rejects writes and upgrades from web pages of other origins (`wire/http/foreign-pages.ts`). This step runs before
 * authentication, because the browser would attach the user's client certificate. Pages from the origins in
 * `--cors-allowed-origins` may write.
 *
 * The step also rejects bodies that browsers send without a content type: the server would parse them as JSON, but
 * browsers send them to other origins without a preflight request. Requests for service worker scripts are rejected as
 * well.
 */

import { forbiddenError, unsupportedMediaType } from '../../../api/model/api-error.ts'
import { asksForServiceWorker, canChange, foreignPageFault, originOf } from '../../../wire/http/foreign-pages.ts'
import type { Step } from '../pipeline.ts'
import { mediaType } from '../request/content.ts'
import type { Exchange } from '../request/exchange.ts'
import type { IsAllowedOrigin } from './allow-origins.ts'

/** Returns the step that rejects foreign pages. `isAllowed` is undefined if no other origin is allowed. */
export function refuseForeignPages(isAllowed: IsAllowedOrigin | undefined): Step {
  return (exchange) => {
    const { headers, transport } = exchange
    const request = {
      method: transport.method,
      isUpgrade: transport.upgrade !== undefined,
      valuesOf: (name: string) => headers.all(name),
    }
    if (asksForServiceWorker(request)) throw forbiddenError(undefined, '', 'this server serves no service workers')
    if (!canChange(request)) return
    const ownOrigin = originOf('https', headers.first('host') ?? '')
    const fault = foreignPageFault({ ...request, ownOrigin }, isAllowed)
    if (fault !== undefined)
      throw forbiddenError(undefined, '', `${fault}: allow its origin with --cors-allowed-origins if that is intended`)
    refuseUntypedBody(exchange)
  }
}

function refuseUntypedBody(exchange: Exchange): void {
  const { headers, transport } = exchange
  if (!transport.hasBody || headers.first('content-length') === '0' || !headers.hasPrefix('sec-fetch-')) return
  if (mediaType(exchange) === '') throw unsupportedMediaType('a browser must send a body with its Content-Type')
}
