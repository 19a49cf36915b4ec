/**
 * What a workload was before: the replica sets that a deployment has made, or the revisions that the controllers of
 * daemon sets and stateful sets keep. Numbers grow with time; `change-cause` is what a user noted about the change.
 */

import type { ApiObject } from '../../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../../api/model/vendor.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { ResourceType } from '../../../../client/requests/resource-type.ts'
import { changeCauseKey } from '../../changes/kept-notes.ts'
import type { Session } from '../../connection/session.ts'
import type { Template, Workload } from './workloads.ts'

export interface Revision {
  /** Of 64 bits: beyond what a number holds exactly. */
  readonly number: bigint
  readonly cause: string
  readonly template: Template
  /** The object that keeps it. */
  readonly keeper: ApiObject
}

interface ControllerRevision extends ApiObject {
  revision?: number | bigint
  data?: { spec?: { template?: Template & { $patch?: string } } }
}

/** The annotation that says which revision of a deployment an object is of. */
export function revisionKey(vendor: Vendor): string {
  return vendorKey(vendor, 'revision', 'deployment')
}

/** Oldest first. */
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

/** Its data is a patch that puts the template of that time in the place of today's. */
function fromControllerRevision(keeper: ControllerRevision, vendor: Vendor): Revision {
  const { $patch: _, ...template } = keeper.data?.spec?.template ?? {}
  const cause = keeper.metadata.annotations?.[changeCauseKey(vendor)] ?? ''
  return { number: revisionNumber(String(keeper.revision)), cause, template, keeper }
}

/** What an annotation says, with all its digits; 0 where that is no number. */
export function revisionNumber(text = ''): bigint {
  return isRevision(text) ? BigInt(text) : 0n
}

/** Reads the number of a revision on the command line. */
export function readRevision(text: string): bigint {
  if (!isRevision(text)) throw new UsageError(`${JSON.stringify(text)} is not the number of a revision`)
  return BigInt(text)
}

function isRevision(text: string): boolean {
  return /^\d{1,19}$/.test(text)
}

/** The revision to go back to; 0: the one before the last. Throws UsageError where there is none. */
export function wantedRevision(revisions: readonly Revision[], number: bigint, name: string): Revision {
  if (number > 0n) {
    const found = revisions.find((revision) => revision.number === number)
    if (found === undefined) throw new UsageError(`unable to find specified revision ${number} in history`)
    return found
  }
  const previous = revisions.at(-2)
  if (previous === undefined)
    throw new UsageError(`no rollout history found for ${name}: there is nothing to go back to`)
  return previous
}
