/** Pods must not use the network, process or IPC namespaces of the host. */
import type { Check } from '../check.ts'

const fields = ['hostNetwork', 'hostPID', 'hostIPC'] as const

export const hostNamespaces: Check = {
  id: 'hostNamespaces',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule: ({ spec }) => {
        const shared = fields.filter((field) => spec[field])
        if (shared.length === 0) return undefined
        return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
      },
    },
  ],
}
