/** Containers must use the default /proc mount type, which masks sensitive paths. */
import {
  type Check,
  type CheckedPod,
  containersOf,
  distinct,
  hasOwnUsers,
  nameList,
  quotedList,
  unless,
  type Violation,
} from '../check.ts'

export const procMount: Check = {
  id: 'procMount',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule: checkPod,
    },
    { since: 35, rule: unless(hasOwnUsers, checkPod) },
  ],
}

function checkPod({ spec }: CheckedPod): Violation | undefined {
  const bad = containersOf(spec).filter(
    ({ securityContext }) => (securityContext?.procMount ?? 'Default') !== 'Default',
  )
  if (bad.length === 0) return undefined
  const names = bad.map(({ name = '' }) => name)
  const values = distinct(bad.map(({ securityContext }) => securityContext?.procMount ?? ''))
  return {
    reason: 'procMount',
    detail: `${nameList('container', names)} must not set securityContext.procMount to ${quotedList(values)}`,
  }
}
