/** Only parameters of the kernel that are safe, as they count for the pod alone. */
import { type Check, distinct, list } from '../check.ts'

/** They count for the pod alone, and do no harm. */
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
