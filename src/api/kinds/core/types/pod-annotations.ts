/**
 * Annotations that control how a pod runs. They mark mirrors of static pods, set the deletion cost, and select seccomp
 * and AppArmor profiles. The server keeps the seccomp annotations consistent with the fields that replaced them.
 */
import { at, child, type FieldError, type FieldPath, forbidden, invalid } from '../../../model/field-error.ts'
import { type Vendor, vendorKey } from '../../../model/vendor.ts'
import { appArmorKey, checkAppArmor } from './app-armor-annotations.ts'
import type { Container } from './container.ts'
import { checkDescendingPath } from './file-paths.ts'
import { allContainers } from './pod-containers.ts'
import type { PodSpec } from './pod-spec.ts'
import type { SeccompProfile } from './security-context.ts'

type Annotations = { [key: string]: string }

function mirrorKey(vendor: Vendor): string {
  return vendorKey(vendor, 'config.mirror')
}

/** Whether the pod mirrors a static pod, which the node has read from a file. */
export function isMirror(annotations: { readonly [key: string]: string }, vendor: Vendor): boolean {
  return Object.hasOwn(annotations, mirrorKey(vendor))
}

/**
 * Returns the annotation key of the deletion cost. When a controller scales down, pods with a lower cost are deleted
 * first.
 */
function deletionCostKey(vendor: Vendor): string {
  return vendorKey(vendor, 'pod-deletion-cost', 'controller')
}

/** Removes the alpha and beta annotations for init containers, which fields have replaced. Modifies the metadata. */
export function dropOlderAnnotations(metadata: { annotations?: Annotations }, vendor: Vendor): void {
  if (metadata.annotations === undefined) return
  const older = ['pod.alpha', 'pod.beta'].flatMap((prefix) =>
    ['init-containers', 'init-container-statuses'].map((name) => vendorKey(vendor, name, prefix)),
  )
  if (!older.some((key) => Object.hasOwn(metadata.annotations!, key))) return
  const keptAnnotations = Object.entries(metadata.annotations).filter(([key]) => !older.includes(key))
  if (keptAnnotations.length === 0) delete metadata.annotations
  else metadata.annotations = Object.fromEntries(keptAnnotations)
}

export function seccompPodKey(vendor: Vendor): string {
  return vendorKey(vendor, 'pod', 'seccomp.security.alpha')
}

export function seccompContainerKey(vendor: Vendor, name: string): string {
  return vendorKey(vendor, name, 'container.seccomp.security.alpha')
}

export function checkPodAnnotations(
  annotations: Annotations,
  spec: PodSpec,
  path: FieldPath,
  vendor: Vendor,
): FieldError[] {
  if (Object.keys(annotations).length === 0) return []
  const mirror = mirrorKey(vendor)
  const lonely = annotations[mirror] !== undefined && !spec.nodeName
  return [
    ...(lonely ? [invalid(at(path, mirror), annotations[mirror], 'a mirror pod must have spec.nodeName')] : []),
    ...checkSeccompAnnotations(annotations, path, vendor),
    ...checkAppArmor(annotations, spec, path, vendor),
  ]
}

function checkSeccompAnnotations(annotations: Annotations, path: FieldPath, vendor: Vendor): FieldError[] {
  const prefix = seccompContainerKey(vendor, '')
  return Object.entries(annotations)
    .filter(([key]) => key === seccompPodKey(vendor) || key.startsWith(prefix))
    .flatMap(([key, profile]) => checkSeccompProfile(profile, child(path, key)))
}

export function checkSeccompProfile(profile: string, path: FieldPath): FieldError[] {
  if (['docker/default', 'runtime/default', 'unconfined'].includes(profile)) return []
  if (profile.startsWith('localhost/')) return checkDescendingPath(profile.slice('localhost/'.length), path)
  return [invalid(path, profile, 'must be a valid seccomp profile')]
}

const maxCost = 2 ** 31 - 1
const minCost = -(2 ** 31)

export function checkDeletionCost(annotations: Annotations, path: FieldPath, vendor: Vendor): FieldError[] {
  const key = deletionCostKey(vendor)
  const text = annotations[key]
  if (text === undefined || isCost(text)) return []
  return [invalid(at(path, key), text, 'must be a 32bit integer')]
}

/** Whether the string is a 32-bit integer without a plus sign or leading zeros. */
function isCost(text: string): boolean {
  return /^(?:0|[1-9][0-9]{0,9}|-[0-9]{1,10})$/.test(text) && Number(text) >= minCost && Number(text) <= maxCost
}

/** Rejects changes to annotations that take effect only when a pod starts. */
export function checkAnnotationUpdate(next: Annotations, previous: Annotations, vendor: Vendor): FieldError[] {
  const fixed = (key: string) => key === mirrorKey(vendor) || key.startsWith(appArmorKey(vendor, ''))
  const keys = new Set([...Object.keys(next), ...Object.keys(previous)].filter(fixed))
  return [...keys]
    .filter((key) => next[key] !== previous[key])
    .map((key) => forbidden(at('metadata.annotations', key), 'may not be added, changed or removed'))
}

/** Completes a new pod: adds an annotation for each seccomp field, and a field for each seccomp annotation. */
export function pairSeccomp(annotations: Annotations, spec: PodSpec, vendor: Vendor): void {
  pairOne(annotations, seccompPodKey(vendor), spec)
  for (const [one] of allContainers(spec, '')) pairOne(annotations, seccompContainerKey(vendor, one.name ?? ''), one)
}

function pairOne(annotations: Annotations, key: string, part: Pick<PodSpec, 'securityContext'> | Container): void {
  const profile = part.securityContext?.seccompProfile
  const annotation = annotations[key]
  if (profile !== undefined && annotation === undefined) {
    const text = annotationOf(profile)
    if (text !== undefined) annotations[key] = text
  } else if (profile === undefined && annotation !== undefined) {
    const annotatedProfile = profileOf(annotation)
    if (annotatedProfile !== undefined)
      part.securityContext = { ...part.securityContext, seccompProfile: annotatedProfile }
  }
}

function annotationOf({ type, localhostProfile }: SeccompProfile): string | undefined {
  if (type === 'RuntimeDefault') return 'runtime/default'
  if (type === 'Unconfined') return 'unconfined'
  return type !== 'Localhost' || localhostProfile === undefined ? undefined : `localhost/${localhostProfile}`
}

function profileOf(annotation: string): SeccompProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default' || annotation === 'docker/default') return { type: 'RuntimeDefault' }
  const file = /^localhost\/(.+)$/s.exec(annotation)?.[1]
  return file === undefined ? undefined : { type: 'Localhost', localhostProfile: file }
}

/** Requires each seccomp annotation to match its field. */
export function checkSeccompPairs(
  annotations: Annotations,
  spec: PodSpec,
  path: FieldPath,
  vendor: Vendor,
): FieldError[] {
  if (Object.keys(annotations).length === 0) return []
  const parts: [string, SeccompProfile | undefined, FieldPath][] = [
    [seccompPodKey(vendor), spec.securityContext?.seccompProfile, path],
    ...allContainers(spec, path).map(([one, where]): [string, SeccompProfile | undefined, FieldPath] => [
      seccompContainerKey(vendor, one.name ?? ''),
      one.securityContext?.seccompProfile,
      where,
    ]),
  ]
  return parts.flatMap(([key, profile, where]) => {
    const annotation = annotations[key]
    const part = profile && annotation !== undefined ? disagreement(annotation, profile) : undefined
    const place = child(where, 'securityContext.seccompProfile')
    return part === undefined ? [] : [forbidden(child(place, part), 'must match the seccomp annotation')]
  })
}

/**
 * Returns the name of the seccomp profile field that contradicts the annotation, if any. Unknown types are reported
 * elsewhere.
 */
function disagreement(annotation: string, { type, localhostProfile }: SeccompProfile): string | undefined {
  if (type === 'Localhost') {
    if (!annotation.startsWith('localhost/')) return 'type'
    return annotation.slice('localhost/'.length) === localhostProfile ? undefined : 'localhostProfile'
  }
  const isKnownType = type === 'Unconfined' || type === 'RuntimeDefault'
  return isKnownType && profileOf(annotation)?.type !== type ? 'type' : undefined
}
