/**
 * A Pod is a group of containers that run together on one node. Most of a pod is immutable after creation. Ephemeral
 * containers are added through a separate subresource. A pod that is not assigned to a node, or that has finished, is
 * deleted immediately. Otherwise, the node gets a grace period in which to stop the pod. Later delete requests can only
 * shorten this period.
 */

import { defined, sameJson } from '../../json/json.ts'
import { at, child, type FieldError, forbidden, invalid, required } from '../../model/field-error.ts'
import { checkDnsSubdomain } from '../../model/names.ts'
import { timestamp } from '../../model/object.ts'
import type { Vendor } from '../../model/vendor.ts'
import { isSince, type PrepareContext, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field } from '../../schema/schema.ts'
import { beginGeneration } from '../generation.ts'
import { keep, specAndStatus } from '../spec-and-status.ts'
import { checkAppArmorPairs, pairAppArmor } from './types/app-armor-annotations.ts'
import type { Container } from './types/container.ts'
import { resetGated } from './types/gated-parts.ts'
import { addLabelRequirements } from './types/match-label-keys.ts'
import {
  checkAnnotationUpdate,
  checkDeletionCost,
  checkPodAnnotations,
  checkSeccompPairs,
  dropOlderAnnotations,
  isMirror,
  pairSeccomp,
} from './types/pod-annotations.ts'
import { podColumns, podRowConditions } from './types/pod-columns.ts'
import { podSpecAddresses } from './types/pod-dns.ts'
import { checkResize, resizedSpec } from './types/pod-resize.ts'
import { fillPodResources } from './types/pod-resources.ts'
import { openHostPorts, type PodSpec, podSpec } from './types/pod-spec.ts'
import { type PodCondition, podStatus } from './types/pod-status.ts'
import { checkStatusUpdate, podStatusWarnings } from './types/pod-status-update.ts'
import { checkEphemeralUpdate, checkImageBlanks, checkSpecUpdate } from './types/pod-update.ts'
import { podWarnings } from './types/pod-warnings.ts'
import { qosClassOf } from './types/qos-class.ts'
import { checkSeLinuxChange } from './types/security-context.ts'
import { strictIpFaults } from './types/strict-values.ts'
import type { Volume } from './types/volume.ts'

const fields = {
  spec: field(2, podSpec, { zeroValue: 'write', doc: 'Desired behavior of the pod.' }),
  status: field(3, podStatus, { zeroValue: 'write', doc: 'Observed status, reported by the node agent.' }),
}

export type Pod = ObjectOf<typeof fields>

export const pod = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'Pod',
    plural: 'pods',
    shortNames: ['po'],
    categories: ['all'],
    scope: 'Namespaced',
  },
  doc: 'A group of containers that run together on one node.',
  fields,
  rules: specAndStatus<Pod>({
    fillDefaults: fillPod,
    newStatus: ({ spec = {} }, context) => ({
      phase: 'Pending',
      ...((spec.schedulingGates ?? []).length > 0 ? { conditions: [gatedCondition(context)] } : {}),
      qosClass: qosClassOf(spec),
    }),
    prepareForCreate: prepareNew,
    prepareForUpdate: (next, previous, context) => {
      resetGated({ spec: next.spec, previous: previous.spec }, 'spec', context)
      countPodGeneration(next, previous, context)
    },
    validate: checkPod,
    validateCreate: checkNew,
    validateUpdate: checkUpdate,
    warnings: ({ spec, metadata }, previous, context) =>
      previous === undefined ? podWarnings({ spec, annotations: metadata.annotations }, '', context) : [],
    statusWarnings: ({ status = {} }, context) => podStatusWarnings(status, context),
  }),
  lifecycle: {
    deleteAnswers: 'object',
    gracePeriod,
  },
  views: {
    columns: podColumns,
    rowConditions: podRowConditions,
    selectable: ({ spec = {}, status = {} }) => ({
      'spec.nodeName': spec.nodeName ?? '',
      // The former name of the field `spec.nodeName`, which clients still use in selectors.
      'spec.host': spec.nodeName ?? '',
      'spec.restartPolicy': spec.restartPolicy ?? '',
      'spec.hostNetwork': `${spec.hostNetwork ?? false}`,
      'spec.schedulerName': spec.schedulerName ?? '',
      'spec.serviceAccountName': spec.serviceAccountName ?? '',
      'status.phase': status.phase ?? '',
      'status.podIP': status.podIP ?? '',
      // This selector field is always empty, because `podIPs` is a list and field selectors compare single values.
      'status.podIPs': '',
      'status.nominatedNodeName': status.nominatedNodeName ?? '',
    }),
    laterSelectable: { 'spec.hostNetwork': '1.28' },
    subresources: {
      status: { verbs: ['get', 'update', 'patch'], readOnly: ['spec'], prepareForUpdate: keepAllButStatus },
      ephemeralcontainers: {
        verbs: ['get', 'update', 'patch'],
        readOnly: ['status'],
        prepareForUpdate: keepAllButEphemeralContainers,
      },
      resize: {
        since: '1.32',
        gate: 'InPlacePodVerticalScaling',
        verbs: ['get', 'update', 'patch'],
        readOnly: ['status'],
        prepareForUpdate: keepAllButResources,
      },
    },
  },
})

/** Sets defaults that apply to pods but not to pod templates. */
function fillPod({ spec = {}, metadata }: Pod, { vendor }: RuleContext): void {
  dropOlderAnnotations(metadata, vendor)
  spec.enableServiceLinks ??= true
  openHostPorts(spec)
  for (const one of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) requestLimits(one)
  fillPodResources(spec)
}

/** Returns the PodScheduled condition of a pod with scheduling gates. */
function gatedCondition(context: PrepareContext): PodCondition {
  return {
    type: 'PodScheduled',
    status: 'False',
    ...(isSince('1.30', context) ? { lastTransitionTime: timestamp(context.now) } : {}),
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  }
}

/** Sets missing resource requests of containers to their limits. */
function requestLimits({ resources }: Container): void {
  if (resources?.limits === undefined) return
  resources.requests = resources.requests ? { ...resources.limits, ...resources.requests } : { ...resources.limits }
}

function prepareNew(object: Pod, context: PrepareContext): void {
  const { vendor } = context
  if (isSince('1.33', context)) beginGeneration(object)
  const spec = object.spec ?? {}
  const annotations = { ...object.metadata.annotations }
  resetGated({ spec }, 'spec', context)
  if (isSince('1.24', context) && (spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1
  if (!isSince('1.27', context)) pairSeccomp(annotations, spec, vendor)
  pairAppArmor(annotations, spec, context)
  addLabelRequirements(spec, object.metadata.labels ?? {}, context)
  if (Object.keys(annotations).length > 0) object.metadata.annotations = annotations
}

/**
 * Restores the spec and the metadata in a status update. Owner references and the deletion timestamp are also restored,
 * because old node agents send other values for them.
 */
function keepAllButStatus(next: Pod, previous: Pod): void {
  keep(next, previous, 'spec')
  const { ownerReferences: _o, deletionTimestamp: _d, ...metadata } = next.metadata
  const { ownerReferences, deletionTimestamp } = previous.metadata
  next.metadata = { ...metadata, ...defined({ ownerReferences, deletionTimestamp }) }
}

/**
 * Restores all fields of a pod except the ephemeral containers. Before 1.33, the field managers are restored too, so
 * ephemeral containers have no owner.
 */
function keepAllButEphemeralContainers(next: Pod, previous: Pod, context: PrepareContext): void {
  const { ephemeralContainers } = next.spec ?? {}
  const { ephemeralContainers: _, ...spec } = previous.spec ?? {}
  next.spec = ephemeralContainers === undefined ? spec : { ...spec, ephemeralContainers }
  resetGated({ spec: next.spec, previous: previous.spec }, 'spec', context)
  keep(next, previous, 'status')
  const { managedFields } = isSince('1.33', context) ? next.metadata : previous.metadata
  next.metadata = { ...previous.metadata, ...defined({ managedFields }) }
  countPodGeneration(next, previous, context)
}

/** Restores all fields of a pod except the resources and the field managers. */
function keepAllButResources(next: Pod, previous: Pod, context: PrepareContext): void {
  next.spec = resizedSpec(next.spec ?? {}, previous.spec ?? {}, context)
  keep(next, previous, 'status')
  const { managedFields } = next.metadata
  next.metadata = { ...previous.metadata, ...defined({ managedFields }) }
  countPodGeneration(next, previous, context)
}

/**
 * Increments the generation of a pod. Pods have had a generation since 1.33. An older pod gets a generation when its
 * spec changes.
 */
function countPodGeneration(next: Pod, previous: Pod, context: PrepareContext): void {
  const { generation = 0 } = previous.metadata
  if (!isSince('1.33', context)) return
  if (!sameJson(next.spec, previous.spec)) next.metadata.generation = generation + 1
}

function checkPod({ metadata, spec = {} }: Pod, context: RuleContext): FieldError[] {
  const { vendor, subresource } = context
  const { annotations = {} } = metadata
  // Writes to the status and binding subresources leave the spec unchanged, so the service account is not checked.
  const hasAccount = spec.serviceAccountName || subresource === 'status' || subresource === 'binding'
  return [
    ...checkPodAnnotations(annotations, spec, 'metadata.annotations', vendor),
    ...checkImageBlanks(spec, 'spec', context),
    ...checkClaims(metadata.name ?? '', spec.volumes ?? []),
    ...(hasAccount ? [] : checkNoTokens(spec.volumes ?? [])),
    ...checkImageVolumes(spec.volumes ?? []),
    ...checkClaimNames(metadata.name ?? '', spec),
    ...(spec.resourceClaims !== undefined && isMirror(annotations, vendor)
      ? [forbidden('*', 'static pods do not support resource claims')]
      : []),
  ]
}

/**
 * Requires a reference in each image volume of a pod. In a pod template, the reference is optional because the
 * controller can add it later.
 */
function checkImageVolumes(volumes: readonly Volume[]): FieldError[] {
  return volumes.flatMap(({ image }, i) =>
    image === undefined || image.reference ? [] : [required(`spec.volumes[${i}].image.reference`)],
  )
}

/** Validates the names of generated ResourceClaims, which consist of the pod's name and the entry's name. */
function checkClaimNames(pod: string, { resourceClaims = [] }: PodSpec): FieldError[] {
  return resourceClaims.flatMap(({ name = '', resourceClaimTemplateName, source = {} }, i) => {
    const isGenerated = (resourceClaimTemplateName ?? source.resourceClaimTemplateName) !== undefined
    const claim = `${pod}-${name}`
    if (!isGenerated || name === '') return []
    return checkDnsSubdomain(claim).map((text) => invalid(`spec.resourceClaims[${i}].name`, claim, text))
  })
}

/** Rejects projected service account tokens in a pod without a service account. */
function checkNoTokens(volumes: readonly Volume[]): FieldError[] {
  return volumes.flatMap(({ projected }, i) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }, j) =>
      serviceAccountToken === undefined
        ? []
        : [
            forbidden(
              `spec.volumes[${i}].projected.sources[${j}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ],
    ),
  )
}

/**
 * Rejects a volume that uses the claim of an ephemeral volume of the same pod. The name of such a claim consists of the
 * pod's name and the volume's name.
 */
function checkClaims(pod: string, volumes: readonly Volume[]): FieldError[] {
  const nameOf = ({ name = '', ephemeral }: Volume) => (ephemeral ? `${pod}-${name}` : undefined)
  const volumeNames = new Set(volumes.map(nameOf))
  return volumes.flatMap((volume, i) => {
    const path = at('spec.volumes', i)
    const { name, persistentVolumeClaim: claim } = volume
    const own = name ? nameOf(volume) : undefined
    return [
      ...(own === undefined ? [] : checkDnsSubdomain(own).map((text) => invalid(child(path, 'name'), name, text))),
      ...(claim?.claimName !== undefined && volumeNames.has(claim.claimName)
        ? [
            invalid(
              child(path, 'persistentVolumeClaim.claimName'),
              claim.claimName,
              'conflicts with the claim for an ephemeral volume',
            ),
          ]
        : []),
    ]
  })
}

function checkNew({ metadata, spec = {} }: Pod, context: RuleContext): FieldError[] {
  const { annotations = {} } = metadata
  const { vendor } = context
  return [
    ...(spec.nodeName && (spec.schedulingGates ?? []).length > 0
      ? [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
      : []),
    ...strictIpFaults({ next: podSpecAddresses(spec, 'spec') }, context),
    ...checkSeLinuxChange(spec, 'spec', context),
    ...checkAppArmorPairs({ annotations, spec }, 'spec', context),
    ...(spec.ephemeralContainers === undefined
      ? []
      : [forbidden('spec.ephemeralContainers', 'cannot be set on create')]),
    ...checkSeccompPairs(annotations, spec, 'spec', vendor),
    ...checkDeletionCost(annotations, 'metadata.annotations', vendor),
  ]
}

/** Validates the deletion cost of a pod. An invalid deletion cost is accepted if the stored pod already has it. */
function checkCostUpdate({ metadata: next }: Pod, { metadata: previous }: Pod, vendor: Vendor): FieldError[] {
  const faults = checkDeletionCost(next.annotations ?? {}, 'metadata.annotations', vendor)
  const wasSound = checkDeletionCost(previous.annotations ?? {}, '', vendor).length === 0
  return wasSound ? faults : []
}

function checkUpdate(next: Pod, previous: Pod, context: RuleContext): FieldError[] {
  const { vendor, subresource } = context
  const annotations = [
    ...checkAnnotationUpdate(next.metadata.annotations ?? {}, previous.metadata.annotations ?? {}, vendor),
    ...checkCostUpdate(next, previous, vendor),
  ]
  const nextSpec = next.spec ?? {}
  const previousSpec = previous.spec ?? {}
  if (subresource === 'status')
    return [
      ...annotations,
      ...checkStatusUpdate({ next: next.status ?? {}, previous: previous.status ?? {}, spec: previousSpec }, context),
    ]
  if (subresource === 'ephemeralcontainers') return checkEphemeralUpdate(nextSpec, previousSpec)
  if (subresource === 'resize')
    return checkResize(
      { next: nextSpec, previous: previousSpec, annotations: previous.metadata.annotations ?? {} },
      context,
    )
  // After creation, the node name of a pod can be set only by binding the pod.
  if (subresource === 'binding') return annotations
  return [...annotations, ...checkSpecUpdate(nextSpec, previousSpec, context)]
}

const defaultGrace = 30

/**
 * Returns the grace period in seconds for deleting a pod. A node needs time to stop a pod, but a pod that is unassigned
 * or finished needs no grace period.
 */
function gracePeriod({ spec = {}, status = {} }: Pod, requested: number | undefined): number {
  const ended = status.phase === 'Succeeded' || status.phase === 'Failed'
  if (!spec.nodeName || ended) return 0
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? defaultGrace
  return seconds < 0 ? 1 : seconds
}
