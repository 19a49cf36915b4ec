/** All containers must set allowPrivilegeEscalation to false. */
import { type Check, type CheckedPod, isWindows, nameList, namesWhere, unless, type Violation } from '../check.ts'

export const allowPrivilegeEscalation: Check = {
  id: 'allowPrivilegeEscalation',
  level: 'restricted',
  rules: [
    {
      since: 8,
      rule: checkPod,
    },
    { since: 25, rule: unless(isWindows, checkPod) },
  ],
}

function checkPod(pod: CheckedPod): Violation | undefined {
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
  return names.length === 0
    ? undefined
    : {
        reason: 'allowPrivilegeEscalation != false',
        detail: `${nameList('container', names)} must set securityContext.allowPrivilegeEscalation=false`,
      }
}
