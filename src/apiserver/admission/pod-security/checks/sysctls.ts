/** Only safe sysctls are allowed. */
import { type Check, distinct, list, type Rule } from '../check.ts'

/** Harmless sysctls that affect only the pod itself. */
export const safeSysctls = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
])

const since27 = [...safeSysctls, 'net.ipv4.ip_local_reserved_ports']
const since29 = [
  ...since27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const since32 = [...since29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']

export const sysctls: Check = {
  id: 'sysctls',
  level: 'baseline',
  rules: [
    { since: 0, rule: ruleFor(safeSysctls) },
    { since: 27, rule: ruleFor(new Set(since27)) },
    { since: 29, rule: ruleFor(new Set(since29)) },
    { since: 32, rule: ruleFor(new Set(since32)) },
  ],
}

function ruleFor(allowed: ReadonlySet<string>): Rule {
  return ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? [])
      .map(({ name = '' }) => name)
      .filter((name) => !allowed.has(name))
    return names.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: list(distinct(names)) }
  }
}
