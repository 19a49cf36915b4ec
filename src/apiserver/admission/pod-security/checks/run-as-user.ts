/** Pods and containers must not set runAsUser to 0. */
import { type Check, type CheckedPod, hasOwnUsers, namesWhere, setters, unless, type Violation } from '../check.ts'

export const runAsUser: Check = {
  id: 'runAsUser',
  level: 'restricted',
  rules: [
    {
      since: 23,
      rule: checkPod,
    },
    { since: 35, rule: unless(hasOwnUsers, checkPod) },
  ],
}

function checkPod(pod: CheckedPod): Violation | undefined {
  const containers = namesWhere(pod, ({ securityContext }) => securityContext?.runAsUser === 0)
  const who = setters({ pod: pod.spec.securityContext?.runAsUser === 0, containers })
  return who === '' ? undefined : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` }
}
