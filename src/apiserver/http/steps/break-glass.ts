/**
 * Break-glass: a request with the header `Break-Glass: <reason>` skips all admission webhooks, but not the built-in
 * admission plugins. The header is meant for emergencies, such as a broken webhook that locks out all users. A flag
 * must enable the feature. The user needs permission to `create` `admissionbypasses` in the group `ops`, in the
 * namespace of the request. Every use is logged, regardless of the outcome of the request.
 */

import { badRequest, forbiddenError } from '../../../api/model/api-error.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import type { Log } from '../../../base/telemetry/log.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { Step } from '../pipeline.ts'
import type { Exchange } from '../request/exchange.ts'
import { assertAllowed } from './authorize.ts'

export interface BreakGlassParts {
  readonly authorizer: Authorizer
  readonly vendor: Vendor
  readonly isEnabled: boolean
  readonly log: Log
}

const maxReason = 500

/** Lets permitted users bypass admission webhooks, and logs every use. */
export function breakGlass({ authorizer, vendor, isEnabled, log }: BreakGlassParts): Step {
  const type = { group: groupName(vendor, 'ops'), version: 'v1', plural: 'admissionbypasses' }
  return (exchange) => {
    const reason = exchange.headers.first('break-glass')
    if (reason === undefined) return
    const { info, user } = exchange
    if (!info.resource) throw badRequest('the header Break-Glass is allowed only in resource requests')
    if (!isEnabled)
      throw forbiddenError(
        undefined,
        '',
        'break-glass access is disabled: start the server with --enable-break-glass=true',
      )
    if (reason.trim() === '') throw badRequest('the header Break-Glass must contain a reason for bypassing webhooks')
    const { namespace } = info
    const attributes = { resource: true, verb: 'create', ...type, subresource: '', namespace, name: '' } as const
    const use = () => {
      exchange.bypass = reason.slice(0, maxReason)
      exchange.audit?.annotate(`${type.group}/break-glass`, exchange.bypass)
      log.warn('request bypassed the admission webhooks', { ...whoOf(exchange), reason: exchange.bypass })
    }
    const allowed = assertAllowed(authorizer, { user, attributes })
    return allowed instanceof Promise ? allowed.then(use) : use()
  }
}

function whoOf({ user, impersonator, transport }: Exchange) {
  return {
    user: (impersonator ?? user).name,
    ...(impersonator && { as: user.name }),
    method: transport.method,
    target: shorten(transport.target, 500),
  }
}
