/** Containers must drop all capabilities and may add back only NET_BIND_SERVICE. */
import type { Container } from '../../../../api/kinds/core/types/container.ts'
import {
  type Check,
  type CheckedPod,
  containersOf,
  distinct,
  isWindows,
  nameList,
  namesWhere,
  quotedList,
  unless,
  type Violation,
} from '../check.ts'

export const capabilitiesRestricted: Check = {
  id: 'capabilities_restricted',
  level: 'restricted',
  rules: [
    {
      since: 22,
      rule: checkPod,
    },
    { since: 25, rule: unless(isWindows, checkPod) },
  ],
}

function forbidden({ securityContext }: Container): string[] {
  return (securityContext?.capabilities?.add ?? []).filter((capability) => capability !== 'NET_BIND_SERVICE')
}

function checkPod(pod: CheckedPod): Violation | undefined {
  const keeping = namesWhere(pod, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'))
  const adding = containersOf(pod.spec).filter((container) => forbidden(container).length > 0)
  const added = quotedList(distinct(adding.flatMap(forbidden)))
  const faults = [
    [keeping, 'must set securityContext.capabilities.drop=["ALL"]'],
    [adding.map(({ name = '' }) => name), `must not include ${added} in securityContext.capabilities.add`],
  ] as const
  const detail = faults
    .filter(([names]) => names.length > 0)
    .map(([names, what]) => `${nameList('container', names)} ${what}`)
  return detail.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: detail.join('; ') }
}
