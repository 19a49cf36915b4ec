/** Only safe sysctls are allowed. */
import { type Check, distinct, list } from '../check.ts'

/** Sysctls that are namespaced to the pod and harmless. */
export const safeSysctls = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
])

export const sysctls: Check = {
  id: 'sysctls',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule: ({ spec }) => {
        const names = (spec.securityContext?.sysctls ?? [])
          .map(({ name = '' }) => name)
          .filter((name) => !safeSysctls.has(name))
        return names.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: list(distinct(names)) }
      },
    },
  ],
}
