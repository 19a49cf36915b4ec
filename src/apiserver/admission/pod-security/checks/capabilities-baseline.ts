/** Containers may add only capabilities in the default set. */
import type { Container } from '../../../../api/kinds/core/types/container.ts'
import { type Check, containersOf, distinct, nameList, quotedList } from '../check.ts'

const usual = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

export const capabilitiesBaseline: Check = {
  id: 'capabilities_baseline',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule: ({ spec }) => {
        const bad = containersOf(spec).filter((container) => unusual(container).length > 0)
        if (bad.length === 0) return undefined
        const names = bad.map(({ name = '' }) => name)
        const added = quotedList(distinct(bad.flatMap(unusual)))
        return {
          reason: 'non-default capabilities',
          detail: `${nameList('container', names)} must not include ${added} in securityContext.capabilities.add`,
        }
      },
    },
  ],
}

function unusual({ securityContext }: Container): string[] {
  return (securityContext?.capabilities?.add ?? []).filter((capability) => !usual.has(capability))
}
