/**
 * Annotations of Deployments and their ReplicaSets: current and earlier revision numbers, the Deployment's replica
 * counts at the time when the ReplicaSet was last scaled, and user annotations, which are copied between the two
 * objects.
 */
import type { Deployment } from '../../../../api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import { type Vendor, vendorKey } from '../../../../api/model/vendor.ts'

type Annotations = { readonly [key: string]: string }

/** Maximum length in characters of the revision history in a ReplicaSet's annotation. */
const maxHistory = 2000

/** Key of the annotation that requests a rollback to a revision. Clients of an old API version set it. */
export const rollbackKey = 'deprecated.deployment.rollback.to'

const keyOf = (vendor: Vendor, name: string) => vendorKey(vendor, name, 'deployment')

export const revisionKey = (vendor: Vendor): string => keyOf(vendor, 'revision')

/** Returns the 64-bit revision number, or 0 if the object has none. */
export function revisionOf(vendor: Vendor, { metadata: { annotations = {} } }: ReplicaSet): bigint {
  return readRevision(annotations[revisionKey(vendor)]) ?? 0n
}

/** Sorts by revision, lowest first. */
export function byRevision(vendor: Vendor): (a: ReplicaSet, b: ReplicaSet) => number {
  return (a, b) => {
    const first = revisionOf(vendor, a)
    const second = revisionOf(vendor, b)
    return first < second ? -1 : Number(first > second)
  }
}

/** Parses a revision number. Returns undefined if the text is not a number. */
export function readRevision(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,19}$/.test(text) ? BigInt(text) : undefined
}

/**
 * Returns the number of replicas that the Deployment had when this ReplicaSet was last scaled, or undefined if this
 * number was not recorded.
 */
export function desiredNoted(vendor: Vendor, { metadata }: ReplicaSet): number | undefined {
  return wholeNumber(metadata.annotations?.[keyOf(vendor, 'desired-replicas')])
}

/** Returns the maximum number of pods that the annotation records, or undefined if there is no annotation. */
export function maxNoted(vendor: Vendor, { metadata }: ReplicaSet): number | undefined {
  return wholeNumber(metadata.annotations?.[keyOf(vendor, 'max-replicas')])
}

/** The desired replicas of a Deployment, and the maximum number of pods during its rollout. */
export interface Asked {
  readonly desired: number
  readonly max: number
}

export function replicasNeedUpdate(vendor: Vendor, set: ReplicaSet, { desired, max }: Asked): boolean {
  const { annotations = {} } = set.metadata
  return (
    annotations[keyOf(vendor, 'desired-replicas')] !== String(desired) ||
    annotations[keyOf(vendor, 'max-replicas')] !== String(max)
  )
}

export function withReplicasNoted(vendor: Vendor, set: ReplicaSet, { desired, max }: Asked): ReplicaSet {
  return withAnnotations(set, {
    ...set.metadata.annotations,
    [keyOf(vendor, 'desired-replicas')]: String(desired),
    [keyOf(vendor, 'max-replicas')]: String(max),
  })
}

/**
 * Returns the ReplicaSet with the annotations of its Deployment and this revision. The ReplicaSet's earlier revision
 * number is added to its revision history.
 */
export function withRevision(
  vendor: Vendor,
  set: ReplicaSet,
  { deployment, revision }: { readonly deployment: Deployment; readonly revision: bigint },
): ReplicaSet {
  const copied = { ...set.metadata.annotations, ...copiedOf(vendor, deployment.metadata.annotations) }
  const before = copied[revisionKey(vendor)]
  const number = before === undefined || before === '' ? 0n : readRevision(before)
  // If a user has set the annotation to a value that is not a number, the annotation is left unchanged.
  if (number === undefined || number >= revision) return withAnnotations(set, copied)
  const historyKey = keyOf(vendor, 'revision-history')
  const history = before === undefined ? {} : { [historyKey]: longerHistory(copied[historyKey], before) }
  return withAnnotations(set, { ...copied, ...history, [revisionKey(vendor)]: String(revision) })
}

/** Returns the annotations of a Deployment after a rollback to a ReplicaSet. */
export function annotationsAfterRollback(vendor: Vendor, deployment: Deployment, set: ReplicaSet): Annotations {
  const { annotations = {} } = deployment.metadata
  const copied = new Set(Object.keys(copiedOf(vendor, annotations)))
  const own = Object.fromEntries(Object.entries(annotations).filter(([key]) => !copied.has(key)))
  return { ...own, ...copiedOf(vendor, set.metadata.annotations) }
}

/** Returns the annotations that a Deployment and its ReplicaSets share. */
function copiedOf(vendor: Vendor, annotations: Annotations = {}): Annotations {
  const own = ['revision', 'revision-history', 'desired-replicas', 'max-replicas'].map((name) => keyOf(vendor, name))
  const skipped = new Set([...own, rollbackKey, vendorKey(vendor, 'last-applied-configuration', 'kubectl')])
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !skipped.has(key)))
}

function longerHistory(history: string | undefined, revision: string): string {
  if (history === undefined || history === '') return revision
  const revisions = history.split(',')
  const length = () => revisions.reduce((sum, each) => sum + each.length + 1, revision.length)
  while (revisions.length > 0 && length() > maxHistory) revisions.shift()
  return [...revisions, revision].join(',')
}

function withAnnotations(set: ReplicaSet, annotations: Annotations): ReplicaSet {
  return { ...set, metadata: { ...set.metadata, annotations } }
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
