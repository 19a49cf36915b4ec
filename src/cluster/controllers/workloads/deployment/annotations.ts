/**
 * The annotations of Deployments and their ReplicaSets: the number of a revision and those that it had before, what the
 * Deployment asked for when a ReplicaSet was last scaled, and those of users, which are copied from the one to the other.
 */
import type { Deployment } from '../../../../api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import { type Vendor, vendorKey } from '../../../../api/model/vendor.ts'

type Annotations = { readonly [key: string]: string }

/** As long as the list of earlier revisions of a ReplicaSet may become. */
const maxHistory = 2000

/** Asks for a return to a revision; clients of an old version of the API wrote it. */
export const rollbackKey = 'deprecated.deployment.rollback.to'

const keyOf = (vendor: Vendor, name: string) => vendorKey(vendor, name, 'deployment')

export const revisionKey = (vendor: Vendor): string => keyOf(vendor, 'revision')

/** The number of a revision, of 64 bits; 0 where there is none. */
export function revisionOf(vendor: Vendor, { metadata: { annotations = {} } }: ReplicaSet): bigint {
  return readRevision(annotations[revisionKey(vendor)]) ?? 0n
}

/** The lower revision first. */
export function byRevision(vendor: Vendor): (a: ReplicaSet, b: ReplicaSet) => number {
  return (a, b) => {
    const first = revisionOf(vendor, a)
    const second = revisionOf(vendor, b)
    return first < second ? -1 : Number(first > second)
  }
}

/** Undefined where it is no number. */
export function readRevision(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,19}$/.test(text) ? BigInt(text) : undefined
}

/** How many replicas the Deployment asked for when this ReplicaSet was last scaled; undefined: not noted. */
export function desiredNoted(vendor: Vendor, { metadata }: ReplicaSet): number | undefined {
  return wholeNumber(metadata.annotations?.[keyOf(vendor, 'desired-replicas')])
}

/** How many there could be at most then. */
export function maxNoted(vendor: Vendor, { metadata }: ReplicaSet): number | undefined {
  return wholeNumber(metadata.annotations?.[keyOf(vendor, 'max-replicas')])
}

/** What a Deployment asks for: its replicas, and how many pods there may be while it is rolled out. */
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

/** The ReplicaSet with the annotations of its Deployment and this revision; a number that it had before is kept. */
export function withRevision(
  vendor: Vendor,
  set: ReplicaSet,
  { deployment, revision }: { readonly deployment: Deployment; readonly revision: bigint },
): ReplicaSet {
  const copied = { ...set.metadata.annotations, ...copiedOf(vendor, deployment.metadata.annotations) }
  const before = copied[revisionKey(vendor)]
  const number = before === undefined || before === '' ? 0n : readRevision(before)
  // A number that someone made unreadable is theirs.
  if (number === undefined || number >= revision) return withAnnotations(set, copied)
  const historyKey = keyOf(vendor, 'revision-history')
  const history = before === undefined ? {} : { [historyKey]: longerHistory(copied[historyKey], before) }
  return withAnnotations(set, { ...copied, ...history, [revisionKey(vendor)]: String(revision) })
}

/** The annotations of a Deployment that is returned to the state of a ReplicaSet. */
export function annotationsAfterRollback(vendor: Vendor, deployment: Deployment, set: ReplicaSet): Annotations {
  const { annotations = {} } = deployment.metadata
  const copied = new Set(Object.keys(copiedOf(vendor, annotations)))
  const own = Object.fromEntries(Object.entries(annotations).filter(([key]) => !copied.has(key)))
  return { ...own, ...copiedOf(vendor, set.metadata.annotations) }
}

/** Those that a Deployment and its ReplicaSets share. */
function copiedOf(vendor: Vendor, annotations: Annotations = {}): Annotations {
  const own = ['revision', 'revision-history', 'desired-replicas', 'max-replicas'].map((name) => keyOf(vendor, name))
  const skipped = new Set([...own, rollbackKey, vendorKey(vendor, 'last-applied-configuration', 'kubectl')])
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !skipped.has(key)))
}

function longerHistory(history: string | undefined, revision: string): string {
  if (history === undefined || history === '') return revision
  const kept = history.split(',')
  const length = () => kept.reduce((sum, each) => sum + each.length + 1, revision.length)
  while (kept.length > 0 && length() > maxHistory) kept.shift()
  return [...kept, revision].join(',')
}

function withAnnotations(set: ReplicaSet, annotations: Annotations): ReplicaSet {
  return { ...set, metadata: { ...set.metadata, annotations } }
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
