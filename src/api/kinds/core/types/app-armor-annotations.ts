/**
 * Annotations that select the AppArmor profile of a container. Kubernetes 1.30 replaced them with fields, and the
 * server keeps both consistent in new pods.
 */
import { own } from '../../../json/json.ts'
import { at, child, type FieldError, type FieldPath, forbidden, invalid } from '../../../model/field-error.ts'
import { type Vendor, vendorKey } from '../../../model/vendor.ts'
import { isSince, type PrepareContext, type RuleContext } from '../../../schema/context.ts'
import type { AppArmorProfile } from './app-armor-profile.ts'
import { allContainers } from './pod-containers.ts'
import type { PodSpec } from './pod-spec.ts'

type Annotations = { [key: string]: string }

export function appArmorKey(vendor: Vendor, name: string): string {
  return vendorKey(vendor, name, 'container.apparmor.security.beta')
}

export function checkAppArmor(annotations: Annotations, spec: PodSpec, path: FieldPath, vendor: Vendor): FieldError[] {
  const prefix = appArmorKey(vendor, '')
  const names = new Set(allContainers(spec, '').map(([{ name }]) => name))
  return Object.entries(annotations)
    .filter(([key]) => key.startsWith(prefix))
    .flatMap(([key, profile]) => [
      ...(names.has(key.slice(prefix.length)) ? [] : [invalid(at(path, key), key, 'container not found')]),
      ...(isAppArmorProfile(profile) ? [] : [invalid(at(path, key), profile, 'invalid AppArmor profile name')]),
    ])
}

export function isAppArmorProfile(profile: string): boolean {
  return ['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith('localhost/')
}

const localPrefix = 'localhost/'

function profileOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default' || annotation === '') return { type: 'RuntimeDefault' }
  return annotation.startsWith(localPrefix)
    ? { type: 'Localhost', localhostProfile: annotation.slice(localPrefix.length) }
    : undefined
}

function annotationOf({ type, localhostProfile }: AppArmorProfile): string | undefined {
  if (type === 'Unconfined') return 'unconfined'
  if (type === 'RuntimeDefault') return 'runtime/default'
  return type === 'Localhost' && localhostProfile !== undefined ? `${localPrefix}${localhostProfile}` : undefined
}

/** Returns the warning about an annotation that a field has replaced. `path` is the path of the annotations. */
export function appArmorWarning(container: string, path: FieldPath, vendor: Vendor): string {
  return `${at(path, appArmorKey(vendor, container))}: deprecated since v1.30; use the "appArmorProfile" field instead`
}

/**
 * Completes a new pod: adds a field for each annotation, and before 1.34 an annotation for each field, because older
 * nodes read annotations. Modifies the annotations and the spec.
 */
export function pairAppArmor(annotations: Annotations, spec: PodSpec, context: PrepareContext): void {
  const { vendor, warn } = context
  if (!isSince('1.30', context) || spec.os?.name === 'windows') return
  const ofPod = spec.securityContext?.appArmorProfile
  for (const [one] of allContainers(spec, '')) {
    const { name = '', securityContext } = one
    const key = appArmorKey(vendor, name)
    const annotation = own(annotations, key)
    const profile = securityContext?.appArmorProfile
    if (typeof annotation !== 'string') {
      const text = profile || ofPod ? annotationOf((profile ?? ofPod)!) : undefined
      if (text !== undefined && !isSince('1.34', context)) annotations[key] = text
    } else if (profile === undefined) {
      const annotatedProfile = profileOf(annotation)
      const isOfPod = ofPod !== undefined && annotation === annotationOf(ofPod)
      if (annotatedProfile !== undefined && !isOfPod)
        one.securityContext = { ...securityContext, appArmorProfile: annotatedProfile }
      warn?.(appArmorWarning(name, 'metadata.annotations', vendor))
    }
  }
}

/** Requires each AppArmor annotation of a new pod to match its field. */
export function checkAppArmorPairs(
  { annotations, spec }: { annotations: Annotations; spec: PodSpec },
  path: FieldPath,
  { vendor }: RuleContext,
): FieldError[] {
  if (Object.keys(annotations).length === 0 || spec.os?.name === 'windows') return []
  return allContainers(spec, path).flatMap(([{ name = '', securityContext }, where]) => {
    const annotation = own(annotations, appArmorKey(vendor, name))
    const profile = securityContext?.appArmorProfile
    if (typeof annotation !== 'string' || profile === undefined) return []
    const part = disagreement(annotation, profile)
    const place = child(where, 'securityContext.appArmorProfile')
    return part === undefined ? [] : [forbidden(child(place, part), 'must match the AppArmor annotation')]
  })
}

/**
 * Returns the name of the AppArmor profile field that contradicts the annotation, if any. Unknown types are reported
 * elsewhere.
 */
function disagreement(annotation: string, { type, localhostProfile }: AppArmorProfile): string | undefined {
  if (type === 'Localhost') {
    if (!annotation.startsWith(localPrefix)) return 'type'
    return annotation.slice(localPrefix.length) === localhostProfile ? undefined : 'localhostProfile'
  }
  const isKnown = type === 'Unconfined' || type === 'RuntimeDefault'
  return isKnown && profileOf(annotation)?.type !== type ? 'type' : undefined
}
