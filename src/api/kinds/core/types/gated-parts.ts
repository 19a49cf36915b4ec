/**
 * Resets the parts of a pod that belong to disabled features, if dropping a single field would leave the pod invalid or
 * make it behave differently. The schema drops all other fields of disabled features (schema/gated-fields.ts).
 */
import { at, child, type FieldPath } from '../../../model/field-error.ts'
import { isEnabled, isSince, type PrepareContext } from '../../../schema/context.ts'
import type { FeatureGate } from '../../../versions/feature-gates.ts'
import type { Container } from './container.ts'
import type { EphemeralContainer } from './ephemeral-container.ts'
import type { Volume } from './volume.ts'

interface PodParts {
  containers?: Container[]
  initContainers?: Container[]
  ephemeralContainers?: EphemeralContainer[]
  volumes?: Volume[]
}

type List = 'containers' | 'initContainers' | 'ephemeralContainers'

const lists: readonly List[] = ['containers', 'initContainers', 'ephemeralContainers']

/** Resets all parts that belong to disabled features, unless the stored pod already has them. Modifies the spec. */
export function resetGated(
  { spec = {}, previous = {} }: { spec: PodParts | undefined; previous?: PodParts | undefined },
  path: FieldPath,
  context: PrepareContext,
): void {
  if (!isEnabled('ProcMountType', context)) resetProcMounts(spec, path, context)
  const isUnused = !isEnabled('ContainerRestartRules', context) && !usesRestartPolicies(previous)
  if (isSince('1.34', context) && isUnused) dropRestartPolicies(spec, path, context)
  const hasImages = previous.volumes?.some(({ image }) => image !== undefined)
  if (!isEnabled('ImageVolume', context) && !hasImages) dropImageVolumes(spec, path, context)
}

function* eachContainer(spec: PodParts, path: FieldPath): Generator<[Container, FieldPath, List], void> {
  for (const list of lists)
    for (const [i, one] of (spec[list] ?? []).entries()) yield [one, at(child(path, list), i), list]
}

function report(path: FieldPath, feature: FeatureGate, { onDropped }: PrepareContext): void {
  onDropped?.({ path, feature })
}

function resetProcMounts(spec: PodParts, path: FieldPath, context: PrepareContext): void {
  for (const [{ securityContext }, where] of eachContainer(spec, path)) {
    if (securityContext?.procMount === undefined || securityContext.procMount === 'Default') continue
    securityContext.procMount = 'Default'
    report(child(where, 'securityContext.procMount'), 'ProcMountType', context)
  }
}

/** Whether a container has a restart policy that only the feature ContainerRestartRules allows. */
function isOwnPolicy({ restartPolicy }: Container, list: List): boolean {
  return restartPolicy !== undefined && !(list === 'initContainers' && restartPolicy === 'Always')
}

function usesRestartPolicies(spec: PodParts): boolean {
  for (const [one, , list] of eachContainer(spec, '')) if (isOwnPolicy(one, list)) return true
  return false
}

function dropRestartPolicies(spec: PodParts, path: FieldPath, context: PrepareContext): void {
  for (const [one, where, list] of eachContainer(spec, path)) {
    if (!isOwnPolicy(one, list)) continue
    delete one.restartPolicy
    report(child(where, 'restartPolicy'), 'ContainerRestartRules', context)
  }
}

/** Drops volumes whose source is an image, together with their mounts. */
function dropImageVolumes(spec: PodParts, path: FieldPath, context: PrepareContext): void {
  const dropped = new Set<string | undefined>()
  for (const [i, { name, image }] of (spec.volumes ?? []).entries()) {
    if (image === undefined) continue
    dropped.add(name)
    report(child(at(child(path, 'volumes'), i), 'image'), 'ImageVolume', context)
  }
  if (dropped.size === 0) return
  spec.volumes = spec.volumes!.filter(({ name }) => !dropped.has(name))
  if (spec.volumes.length === 0) delete spec.volumes
  for (const [one] of eachContainer(spec, '')) {
    if (one.volumeMounts === undefined) continue
    one.volumeMounts = one.volumeMounts.filter(({ name }) => !dropped.has(name))
    if (one.volumeMounts.length === 0) delete one.volumeMounts
  }
}
