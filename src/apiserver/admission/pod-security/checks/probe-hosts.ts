/**
 * Probes and lifecycle handlers must not connect to hosts other than the pod, because the node would connect on behalf
 * of the pod.
 */
import type { Container } from '../../../../api/kinds/core/types/container.ts'
import { type Check, containersOf, distinct, nameList, quotedList } from '../check.ts'

export const probeHosts: Check = {
  id: 'hostProbesAndHostLifecycle',
  level: 'baseline',
  rules: [
    {
      since: 34,
      rule: ({ spec }) => {
        const bad = containersOf(spec).filter((one) => hostsOf(one).length > 0)
        if (bad.length === 0) return undefined
        const names = bad.map(({ name = '' }) => name)
        const hosts = quotedList(distinct(bad.flatMap(hostsOf)))
        const verb = names.length === 1 ? 'uses' : 'use'
        return {
          reason: 'probe or lifecycle host',
          detail: `${nameList('container', names)} ${verb} probe or lifecycle host ${hosts}`,
        }
      },
    },
  ],
}

function hostsOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container): string[] {
  return [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap((handler) =>
    [handler?.httpGet?.host ?? '', handler?.tcpSocket?.host ?? ''].filter((host) => host !== ''),
  )
}
