/** Privileged containers are forbidden. */
import { type Check, nameList, namesWhere } from '../check.ts'

export const privileged: Check = {
  id: 'privileged',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule: (pod) => {
        const names = namesWhere(pod, ({ securityContext }) => securityContext?.privileged === true)
        if (names.length === 0) return undefined
        return {
          reason: 'privileged',
          detail: `${nameList('container', names)} must not set securityContext.privileged=true`,
        }
      },
    },
  ],
}
