/**
 * A warning for users of kubectl whose server has another profile than `kubernetes`. Without it kubectl says no more than
 * that a kind has no matches, or that its schema cannot be found.
 */
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Exchange } from '../request/exchange.ts'

/** Warns kubectl, once per message, that the server has other names of API groups than its manifests. */
export function warnKubectl(exchange: Exchange, { profile, groupDomain }: Vendor): void {
  if (profile === 'kubernetes' || !exchange.headers.first('user-agent')?.startsWith('kubectl')) return
  exchange.warn(
    `this server has the profile ${profile}, so its API groups end in ${groupDomain}; to use kubectl, start it with --profile=kubernetes`,
  )
}
