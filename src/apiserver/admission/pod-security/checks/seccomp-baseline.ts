/**
 * The seccomp profile must not be Unconfined. The profile is set by annotations up to release 1.18 and by fields in
 * later releases.
 */
import { vendorKey } from '../../../../api/model/vendor.ts'
import {
  type Check,
  type CheckedPod,
  containersOf,
  distinct,
  list,
  quotedList,
  setters,
  type Violation,
} from '../check.ts'

export const seccompBaseline: Check = {
  id: 'seccompProfile_baseline',
  level: 'baseline',
  rules: [
    { since: 0, rule: checkAnnotations },
    { since: 19, rule: checkFields },
  ],
}

function checkAnnotations({ annotations, spec, vendor }: CheckedPod): Violation | undefined {
  const ofContainers = containersOf(spec).map(({ name = '' }) =>
    vendorKey(vendor, name, 'container.seccomp.security.alpha'),
  )
  const keys = [vendorKey(vendor, 'pod', 'seccomp.security.alpha'), ...ofContainers]
  const bad = keys
    .filter((key) => Object.hasOwn(annotations, key) && !isAllowed(annotations[key]!))
    .map((key) => `${key}=${JSON.stringify(annotations[key])}`)
  if (bad.length === 0) return undefined
  const noun = bad.length === 1 ? 'annotation' : 'annotations'
  return { reason: 'seccompProfile', detail: `forbidden ${noun} ${list(distinct(bad))}` }
}

function isAllowed(profile: string): boolean {
  return ['runtime/default', 'docker/default'].includes(profile) || profile.startsWith('localhost/')
}

function checkFields({ spec }: CheckedPod): Violation | undefined {
  const ofPod = spec.securityContext?.seccompProfile?.type
  const bad = containersOf(spec).filter(({ securityContext }) => isFree(securityContext?.seccompProfile?.type))
  const who = setters({ pod: isFree(ofPod), containers: bad.map(({ name = '' }) => name) })
  if (who === '') return undefined
  const types = bad.map(({ securityContext }) => securityContext?.seccompProfile?.type ?? '')
  const values = quotedList(distinct(isFree(ofPod) ? [...types, ofPod ?? ''] : types))
  return { reason: 'seccompProfile', detail: `${who} must not set securityContext.seccompProfile.type to ${values}` }
}

function isFree(type: string | undefined): boolean {
  return type !== undefined && type !== 'RuntimeDefault' && type !== 'Localhost'
}
