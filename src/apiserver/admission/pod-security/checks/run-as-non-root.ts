/**
 * Containers must not run as root. Either the pod or all containers must set `runAsNonRoot` to true, and no container
 * may set it to false.
 */
import {
  type Check,
  type CheckedPod,
  hasOwnUsers,
  nameList,
  namesWhere,
  setters,
  unless,
  type Violation,
} from '../check.ts'

export const runAsNonRoot: Check = {
  id: 'runAsNonRoot',
  level: 'restricted',
  rules: [
    {
      since: 0,
      rule: checkPod,
    },
    { since: 35, rule: unless(hasOwnUsers, checkPod) },
  ],
}

function violation(detail: string) {
  return { reason: 'runAsNonRoot != true', detail }
}

function checkPod(pod: CheckedPod): Violation | undefined {
  const ofPod = pod.spec.securityContext?.runAsNonRoot
  const refusing = namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false)
  const who = setters({ pod: ofPod === false, containers: refusing })
  if (who !== '') return violation(`${who} must not set securityContext.runAsNonRoot=false`)
  const silent = namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined)
  if (ofPod || silent.length === 0) return undefined
  return violation(`pod or ${nameList('container', silent)} must set securityContext.runAsNonRoot=true`)
}
