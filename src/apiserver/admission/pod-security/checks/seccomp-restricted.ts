/**
 * Either the pod or all containers must set the seccomp profile to RuntimeDefault or Localhost, and no container may
 * set a different profile.
 */
import {
  type Check,
  type CheckedPod,
  containersOf,
  distinct,
  isWindows,
  nameList,
  namesWhere,
  quotedList,
  setters,
  unless,
  type Violation,
} from '../check.ts'

export const seccompRestricted: Check = {
  id: 'seccompProfile_restricted',
  level: 'restricted',
  rules: [
    {
      since: 19,
      rule: checkPod,
    },
    { since: 25, rule: unless(isWindows, checkPod) },
  ],
}

function violation(detail: string) {
  return { reason: 'seccompProfile', detail }
}

function isFree(type: string | undefined): boolean {
  return type !== undefined && type !== 'RuntimeDefault' && type !== 'Localhost'
}

function checkPod(pod: CheckedPod): Violation | undefined {
  const ofPod = pod.spec.securityContext?.seccompProfile?.type
  const types = containersOf(pod.spec).map(({ securityContext }) => securityContext?.seccompProfile?.type)
  const refusing = namesWhere(pod, ({ securityContext }) => isFree(securityContext?.seccompProfile?.type))
  const who = setters({ pod: isFree(ofPod), containers: refusing })
  const values = quotedList(distinct([ofPod, ...types].filter((type) => isFree(type)) as string[]))
  if (who !== '') return violation(`${who} must not set securityContext.seccompProfile.type to ${values}`)
  const silent = namesWhere(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined)
  if (ofPod !== undefined || silent.length === 0) return undefined
  return violation(
    `pod or ${nameList('container', silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  )
}
