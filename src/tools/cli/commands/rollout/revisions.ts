/**
 * Earlier revisions of a workload: the replica sets of a deployment, or the controller revisions of daemon sets and
 * stateful sets. Revision numbers increase over time. `change-cause` is a user's note about the change.
 */

import type { ApiObject } from '../../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../../api/model/vendor.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { ResourceType } from '../../../../client/requests/resource-type.ts'
import { changeCauseKey } from '../../changes/change-cause.ts'
import type { Session } from '../../connection/session.ts'
import type { Template, Workload } from './workloads.ts'

export interface Revision {
  /** Revision number. A bigint, because revisions have 64 bits. */
  readonly number: bigint
  readonly cause: string
  readonly template: Template
  /** The ReplicaSet or ControllerRevision that stores the revision. */
  readonly keeper: ApiObject
}

interface ControllerRevision extends ApiObject {
  revision?: number | bigint
  data?: { spec?: { template?: Template & { $patch?: string } } }
}

/** Returns the key of the annotation that contains the revision number of a Deployment or ReplicaSet. */
export function revisionKey(vendor: Vendor): string {
  return vendorKey(vendor, 'revision', 'deployment')
}

/** Returns the revisions of a workload, oldest first. */
export async function revisionsOf(session: Session, workload: Workload): Promise<Revision[]> {
  const vendor = await session.types.vendor()
  const type: ResourceType = workload.kind === 'Deployment' ? kinds.ReplicaSet : kinds.ControllerRevision
  const { items } = await session.client.list(type, {
    namespace: workload.metadata.namespace ?? '',
    signal: session.context.signal,
  })
  const read = workload.kind === 'Deployment' ? fromReplicaSet : fromControllerRevision
  return items
    .filter((keeper) => isControlledBy(keeper, workload))
    .map((keeper) => read(keeper, vendor))
    .filter(({ number }) => number > 0n)
    .sort((a, b) => (a.number < b.number ? -1 : 1))
}

function isControlledBy({ metadata }: ApiObject, owner: ApiObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid, controller }) => controller && uid === owner.metadata.uid)
}

function fromReplicaSet(keeper: Workload, vendor: Vendor): Revision {
  const annotations = keeper.metadata.annotations ?? {}
  return {
    number: revisionNumber(annotations[revisionKey(vendor)]),
    cause: annotations[changeCauseKey(vendor)] ?? '',
    template: keeper.spec?.template ?? {},
    keeper,
  }
}

/** Reads a revision from a ControllerRevision, whose data is a patch that replaces the pod template. */
function fromControllerRevision(keeper: ControllerRevision, vendor: Vendor): Revision {
  const { $patch: _, ...template } = keeper.data?.spec?.template ?? {}
  const cause = keeper.metadata.annotations?.[changeCauseKey(vendor)] ?? ''
  return { number: revisionNumber(String(keeper.revision)), cause, template, keeper }
}

/** Parses a revision number in an annotation without losing precision. Returns 0 if the text is not a number. */
export function revisionNumber(text = ''): bigint {
  return isRevision(text) ? BigInt(text) : 0n
}

/** Parses a revision number on the command line. */
export function readRevision(text: string): bigint {
  if (!isRevision(text)) throw new UsageError(`${JSON.stringify(text)} is not a revision number`)
  return BigInt(text)
}

function isRevision(text: string): boolean {
  return /^\d{1,19}$/.test(text)
}

/**
 * Returns the revision to which to roll back. The number 0 selects the previous revision. Throws UsageError if the
 * revision does not exist.
 */
export function wantedRevision(revisions: readonly Revision[], number: bigint, name: string): Revision {
  if (number > 0n) {
    const matchingRevision = revisions.find((revision) => revision.number === number)
    if (matchingRevision === undefined) throw new UsageError(`unable to find specified revision ${number} in history`)
    return matchingRevision
  }
  const previous = revisions.at(-2)
  if (previous === undefined) throw new UsageError(`no rollout history found for ${name}: there is no earlier revision`)
  return previous
}
