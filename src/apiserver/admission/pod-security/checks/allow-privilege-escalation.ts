/** All containers must set allowPrivilegeEscalation to false. */
import { type Check, nameList, namesWhere } from '../check.ts'

export const allowPrivilegeEscalation: Check = {
  id: 'allowPrivilegeEscalation',
  level: 'restricted',
  rules: [
    {
      since: 8,
      rule: (pod) => {
        const names = namesWhere(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
        return names.length === 0
          ? undefined
          : {
              reason: 'allowPrivilegeEscalation != false',
              detail: `${nameList('container', names)} must set securityContext.allowPrivilegeEscalation=false`,
            }
      },
    },
  ],
}
