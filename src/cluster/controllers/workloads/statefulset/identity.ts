/**
 * Identity of a pod in a StatefulSet: its ordinal, its name and its claims. A replacement pod has the same identity.
 */

import type { StatefulSet } from '../../../../api/kinds/apps/stateful-set.ts'
import type { PersistentVolumeClaim } from '../../../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { type Vendor, vendorKey } from '../../../../api/model/vendor.ts'
import { isAtLeast } from '../../../../api/versions/emulated-version.ts'
import type { Draft } from '../../../../client/requests/resource-type.ts'
import { templateOfRevision } from '../controller-revisions.ts'
import { podFromTemplate } from '../pod-control.ts'
import type { SetStep } from './parts.ts'

/** Key of the pod label that contains the name of the revision. */
const revisionLabel = 'controller-revision-hash'

export function podName({ metadata: { name } }: StatefulSet, ordinal: number): string {
  return `${name}-${ordinal}`
}

/** Returns the first ordinal of a set, and the ordinal that follows the last one. */
export function ordinalRange({ spec }: StatefulSet): { readonly start: number; readonly end: number } {
  const start = spec?.ordinals?.start ?? 0
  return { start, end: start + (spec?.replicas ?? 1) }
}

/** Returns the ordinal in the name of a pod, or undefined if the name does not belong to this set. */
export function ordinalOf(
  { metadata: { name: set } }: StatefulSet,
  { metadata: { name = '' } }: Pod,
): number | undefined {
  const ordinal = /^(.*)-(\d{1,9})$/.exec(name)
  return ordinal !== null && ordinal[1] === set ? Number(ordinal[2]) : undefined
}

/** Returns the name of the revision from which a pod was created. */
export function revisionOf({ metadata }: Pick<Pod, 'metadata'>): string | undefined {
  return metadata.labels?.[revisionLabel]
}

const nameLabel = (vendor: Vendor) => vendorKey(vendor, 'pod-name', 'statefulset')

function hasIndexLabel({ emulation: { version, gates } }: SetStep['parts']): boolean {
  return isAtLeast(version, '1.28') && (gates.has('PodIndexLabel') || isAtLeast(version, '1.32'))
}

/**
 * Creates the pod object for an ordinal from the update revision. Uses the current revision if the update has not
 * reached the ordinal.
 */
export function newPod(step: SetStep, ordinal: number): Draft<Pod> {
  const { set, parts } = step
  const revision = isHeldBack(set, ordinal) ? step.current : step.update
  const { metadata, spec } = podFromTemplate(templateOfRevision(revision) ?? set.spec?.template, set)
  const name = podName(set, ordinal)
  const labels = {
    ...metadata.labels,
    [nameLabel(parts.vendor)]: name,
    [revisionLabel]: revision.metadata.name ?? '',
    ...(hasIndexLabel(parts) ? { [vendorKey(parts.vendor, 'pod-index', 'apps')]: String(ordinal) } : {}),
  }
  const { serviceName = '' } = set.spec ?? {}
  return {
    metadata: { ...metadata, name, labels },
    spec: { ...spec, hostname: name, subdomain: serviceName, volumes: volumesWithClaims(set, ordinal, spec?.volumes) },
  }
}

/** Whether a missing pod must be created from the current revision even though a newer revision exists. */
function isHeldBack({ spec = {}, status = {} }: StatefulSet, ordinal: number): boolean {
  const { type, rollingUpdate } = spec.updateStrategy ?? {}
  const start = spec.ordinals?.start ?? 0
  if (rollingUpdate !== undefined) return ordinal < start + (rollingUpdate.partition ?? 0)
  return type === 'RollingUpdate' && ordinal < start + (status.currentReplicas ?? 0)
}

type Volumes = NonNullable<NonNullable<Pod['spec']>['volumes']>

/** Adds the claims of an ordinal as volumes. These volumes replace template volumes with the same names. */
function volumesWithClaims(set: StatefulSet, ordinal: number, volumes: Volumes = []): Volumes {
  const own = (set.spec?.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? '')
  const mounted = own.map((name) => ({
    name,
    persistentVolumeClaim: { claimName: claimName(set, name, ordinal), readOnly: false },
  }))
  return [...mounted, ...volumes.filter(({ name = '' }) => !own.includes(name))]
}

function claimName({ metadata }: StatefulSet, template: string, ordinal: number): string {
  return `${template}-${metadata.name}-${ordinal}`
}

/** Returns the claims of an ordinal. The claims outlive the pods of the ordinal. */
export function claimsOf(set: StatefulSet, ordinal: number): Draft<PersistentVolumeClaim>[] {
  const { volumeClaimTemplates = [], selector } = set.spec ?? {}
  const { namespace = '' } = set.metadata
  return volumeClaimTemplates.map(({ metadata: { name = '', labels, annotations } = {}, spec }) => ({
    metadata: {
      name: claimName(set, name, ordinal),
      namespace,
      labels: { ...labels, ...selector?.matchLabels },
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(spec === undefined ? {} : { spec }),
  }))
}

/** Returns the pod with the labels and volumes of its ordinal, or undefined if the pod already has them. */
export function withIdentity({ set, parts }: SetStep, pod: Pod, ordinal: number): Pod | undefined {
  const name = podName(set, ordinal)
  const label = nameLabel(parts.vendor)
  const mounts = new Map((pod.spec?.volumes ?? []).map((each) => [each.name, each.persistentVolumeClaim?.claimName]))
  const hasStorage = (set.spec?.volumeClaimTemplates ?? []).every(
    ({ metadata: { name: template = '' } = {} }) => mounts.get(template) === claimName(set, template, ordinal),
  )
  if (pod.metadata.labels?.[label] === name && hasStorage) return undefined
  const volumes = hasStorage ? pod.spec?.volumes : volumesWithClaims(set, ordinal, pod.spec?.volumes)
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, [label]: name } },
    spec: { ...pod.spec, ...(volumes === undefined ? {} : { volumes }) },
  }
}
