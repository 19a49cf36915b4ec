/**
 * Warns kubectl users if the server uses a profile other than `kubernetes`. Without the warning, kubectl only reports
 * that a kind has no matches or that its schema cannot be found.
 */
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Exchange } from '../request/exchange.ts'

/** Warns kubectl that the server's API group names differ from the names in Kubernetes manifests. */
export function warnKubectl(exchange: Exchange, { profile, groupDomain }: Vendor): void {
  if (profile === 'kubernetes' || !exchange.headers.first('user-agent')?.startsWith('kubectl')) return
  exchange.warn(
    `this server has the profile ${profile}, so its API groups end in ${groupDomain}; to use kubectl, start it with --profile=kubernetes`,
  )
}
