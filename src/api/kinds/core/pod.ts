/**
 * Pod: containers that run together on one node. Once it exists hardly anything of it can change; ephemeral containers
 * are added through a subresource of their own. It is deleted at once while no node runs it; else the node has a grace
 * period to stop it, which a later delete can only shorten.
 */

import { defined } from '../../json/json.ts'
import { at, child, type FieldError, forbidden, invalid } from '../../model/field-error.ts'
import { checkDnsSubdomain } from '../../model/names.ts'
import type { Vendor } from '../../model/vendor.ts'
import type { PrepareContext, RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field } from '../../schema/schema.ts'
import { keep, specAndStatus } from '../spec-and-status.ts'
import type { Container } from './types/container.ts'
import {
  checkAnnotationUpdate,
  checkDeletionCost,
  checkPodAnnotations,
  checkSeccompPairs,
  dropOlderAnnotations,
  pairSeccomp,
} from './types/pod-annotations.ts'
import { podColumns, podRowConditions } from './types/pod-columns.ts'
import { dropUnserved, podSpec } from './types/pod-spec.ts'
import { podStatus } from './types/pod-status.ts'
import { checkEphemeralUpdate, checkImageBlanks, checkSpecUpdate, checkStatusUpdate } from './types/pod-update.ts'
import { podWarnings } from './types/pod-warnings.ts'
import { qosClassOf } from './types/qos-class.ts'
import type { Volume } from './types/volume.ts'

const fields = {
  spec: field(2, podSpec, { zero: 'write', doc: 'What it is made of and where it may run.' }),
  status: field(3, podStatus, { zero: 'write', doc: 'How it is. Set by its node.' }),
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
  doc: 'Containers that run together on one node.',
  fields,
  rules: specAndStatus<Pod>({
    fillDefaults: fillPod,
    newStatus: ({ spec = {} }) => ({ phase: 'Pending', qosClass: qosClassOf(spec) }),
    prepareForCreate: prepareNew,
    prepareForUpdate: ({ spec }, _, context) => dropUnserved(spec, 'spec', context),
    validate: checkPod,
    validateCreate: checkNew,
    validateUpdate: checkUpdate,
    warnings: ({ spec, metadata }, previous, { vendor }) =>
      previous === undefined ? podWarnings({ spec, annotations: metadata.annotations }, '', vendor) : [],
  }),
  life: {
    deleteAnswers: 'object',
    gracePeriod,
  },
  views: {
    columns: podColumns,
    rowConditions: podRowConditions,
    selectable: ({ spec = {}, status = {} }) => ({
      'spec.nodeName': spec.nodeName ?? '',
      // What it was called once.
      'spec.host': spec.nodeName ?? '',
      'spec.restartPolicy': spec.restartPolicy ?? '',
      'spec.schedulerName': spec.schedulerName ?? '',
      'spec.serviceAccountName': spec.serviceAccountName ?? '',
      'status.phase': status.phase ?? '',
      'status.podIP': status.podIP ?? '',
      // Known, and of no pod: one value cannot say what a list holds.
      'status.podIPs': '',
      'status.nominatedNodeName': status.nominatedNodeName ?? '',
    }),
    subresources: {
      status: { verbs: ['get', 'update', 'patch'], readOnly: ['spec'], prepareForUpdate: keepAllButStatus },
      ephemeralcontainers: {
        verbs: ['get', 'update', 'patch'],
        readOnly: ['status'],
        prepareForUpdate: keepAllButEphemeralContainers,
      },
    },
  },
})

/** Defaults that templates do not get: what they leave open is for the pod to fill in. */
function fillPod({ spec = {}, metadata }: Pod, { vendor }: RuleContext): void {
  dropOlderAnnotations(metadata, vendor)
  spec.enableServiceLinks ??= true
  for (const one of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) requestLimits(one)
}

/** Who sets a limit and no request asks for all of it. */
function requestLimits({ resources }: Container): void {
  if (resources?.limits === undefined) return
  resources.requests = resources.requests ? { ...resources.limits, ...resources.requests } : { ...resources.limits }
}

function prepareNew(object: Pod, context: PrepareContext): void {
  const { vendor } = context
  const spec = object.spec ?? {}
  const annotations = { ...object.metadata.annotations }
  dropUnserved(spec, 'spec', context)
  pairSeccomp(annotations, spec, vendor)
  if (Object.keys(annotations).length > 0) object.metadata.annotations = annotations
}

/** Old node agents drop the owners of pods when they write a status, and tell of deletions. */
function keepAllButStatus(next: Pod, previous: Pod): void {
  keep(next, previous, 'spec')
  const { ownerReferences: _o, deletionTimestamp: _d, ...metadata } = next.metadata
  const { ownerReferences, deletionTimestamp } = previous.metadata
  next.metadata = { ...metadata, ...defined({ ownerReferences, deletionTimestamp }) }
}

/** An ephemeral container never changes, so nobody owns its fields. */
function keepAllButEphemeralContainers(next: Pod, previous: Pod, context: PrepareContext): void {
  const { ephemeralContainers } = next.spec ?? {}
  const { ephemeralContainers: _, ...spec } = previous.spec ?? {}
  next.spec = ephemeralContainers === undefined ? spec : { ...spec, ephemeralContainers }
  dropUnserved(next.spec, 'spec', context)
  keep(next, previous, 'status')
  next.metadata = { ...previous.metadata }
}

function checkPod({ metadata, spec = {} }: Pod, { vendor, subresource }: RuleContext): FieldError[] {
  const { annotations = {} } = metadata
  // Who writes a status or a node has no part in the spec.
  const hasAccount = spec.serviceAccountName || subresource === 'status' || subresource === 'binding'
  return [
    ...checkPodAnnotations(annotations, spec, 'metadata.annotations', vendor),
    ...checkImageBlanks(spec, 'spec'),
    ...checkClaims(metadata.name ?? '', spec.volumes ?? []),
    ...(hasAccount ? [] : checkNoTokens(spec.volumes ?? [])),
  ]
}

/** Without an account there is nobody whose token it could be. */
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

/** The claim for an ephemeral volume is named after the pod and the volume; no other volume may use it. */
function checkClaims(pod: string, volumes: readonly Volume[]): FieldError[] {
  const nameOf = ({ name = '', ephemeral }: Volume) => (ephemeral ? `${pod}-${name}` : undefined)
  const made = new Set(volumes.map(nameOf))
  return volumes.flatMap((volume, i) => {
    const path = at('spec.volumes', i)
    const { name, persistentVolumeClaim: claim } = volume
    const own = name ? nameOf(volume) : undefined
    return [
      ...(own === undefined ? [] : checkDnsSubdomain(own).map((text) => invalid(child(path, 'name'), name, text))),
      ...(claim?.claimName !== undefined && made.has(claim.claimName)
        ? [invalid(child(path, 'persistentVolumeClaim.claimName'), claim.claimName, 'is made for an ephemeral volume')]
        : []),
    ]
  })
}

function checkNew({ metadata, spec = {} }: Pod, { vendor }: RuleContext): FieldError[] {
  const { annotations = {} } = metadata
  return [
    ...(spec.ephemeralContainers === undefined
      ? []
      : [forbidden('spec.ephemeralContainers', 'cannot be set on create')]),
    ...checkSeccompPairs(annotations, spec, 'spec', vendor),
    ...checkDeletionCost(annotations, 'metadata.annotations', vendor),
  ]
}

/** A cost that makes no sense stays where it was let through once. */
function checkCostUpdate({ metadata: next }: Pod, { metadata: previous }: Pod, vendor: Vendor): FieldError[] {
  const faults = checkDeletionCost(next.annotations ?? {}, 'metadata.annotations', vendor)
  const wasSound = checkDeletionCost(previous.annotations ?? {}, '', vendor).length === 0
  return wasSound ? faults : []
}

function checkUpdate(next: Pod, previous: Pod, { vendor, subresource }: RuleContext): FieldError[] {
  const annotations = [
    ...checkAnnotationUpdate(next.metadata.annotations ?? {}, previous.metadata.annotations ?? {}, vendor),
    ...checkCostUpdate(next, previous, vendor),
  ]
  const nextSpec = next.spec ?? {}
  const previousSpec = previous.spec ?? {}
  if (subresource === 'status')
    return [...annotations, ...checkStatusUpdate(next.status ?? {}, previous.status ?? {}, previousSpec)]
  if (subresource === 'ephemeralcontainers') return checkEphemeralUpdate(nextSpec, previousSpec)
  // The node is chosen, which no other write can do.
  if (subresource === 'binding') return annotations
  return [...annotations, ...checkSpecUpdate(nextSpec, previousSpec)]
}

const defaultGrace = 30

/** A node needs time to stop a pod; where none runs it there is nothing to wait for. */
function gracePeriod({ spec = {}, status = {} }: Pod, requested: number | undefined): number {
  const ended = status.phase === 'Succeeded' || status.phase === 'Failed'
  if (!spec.nodeName || ended) return 0
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? defaultGrace
  return seconds < 0 ? 1 : seconds
}
