/** Host ports are forbidden. */
import type { Container } from '../../../../api/kinds/core/types/container.ts'
import { type Check, containersOf, distinct, list, nameList } from '../check.ts'

export const hostPorts: Check = {
  id: 'hostPorts',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule: ({ spec }) => {
        const bad = containersOf(spec).filter((container) => takenBy(container).length > 0)
        if (bad.length === 0) return undefined
        const names = bad.map(({ name = '' }) => name)
        const ports = distinct(bad.flatMap(takenBy))
        const verb = names.length === 1 ? 'uses' : 'use'
        const noun = ports.length === 1 ? 'hostPort' : 'hostPorts'
        return { reason: 'hostPort', detail: `${nameList('container', names)} ${verb} ${noun} ${list(ports)}` }
      },
    },
  ],
}

function takenBy({ ports = [] }: Container): string[] {
  return ports.filter(({ hostPort = 0 }) => hostPort !== 0).map(({ hostPort }) => `${hostPort}`)
}
