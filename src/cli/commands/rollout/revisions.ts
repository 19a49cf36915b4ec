/**
 * What a workload was before: the replica sets that a deployment has made, or the revisions that the controllers of
 * daemon sets and stateful sets keep. Numbers grow with time; `change-cause` is what a user noted about the change.
 */

import { UsageError } from '../../../base/flags.ts'
import type { ApiObject } from '../../../model/object.ts'
import { type Vendor, vendorKey } from '../../../model/vendor.ts'
import { changeCauseKey } from '../../kept-notes.ts'
import type { Session } from '../../session.ts'
import type { Template, Workload } from './workloads.ts'

export interface Revision {
  readonly number: number
  readonly cause: string
  readonly template: Template
  /** The object that keeps it. */
  readonly keeper: ApiObject
}

interface ControllerRevision extends ApiObject {
  revision?: number
  data?: { spec?: { template?: Template & { $patch?: string } } }
}

const replicaSets = { group: 'apps', version: 'v1', plural: 'replicasets', namespaced: true }
const controllerRevisions = { group: 'apps', version: 'v1', plural: 'controllerrevisions', namespaced: true }

/** The annotation that says which revision of a deployment an object is of. */
export function revisionKey(vendor: Vendor): string {
  return vendorKey(vendor, 'revision', 'deployment')
}

/** Oldest first. */
export async function revisionsOf(session: Session, workload: Workload): Promise<Revision[]> {
  const vendor = await session.types.vendor()
  const type = workload.kind === 'Deployment' ? replicaSets : controllerRevisions
  const { items } = await session.client.list(type, {
    namespace: workload.metadata.namespace ?? '',
    signal: session.context.signal,
  })
  const read = workload.kind === 'Deployment' ? fromReplicaSet : fromControllerRevision
  return items
    .filter((keeper) => isControlledBy(keeper, workload))
    .map((keeper) => read(keeper, vendor))
    .filter(({ number }) => number > 0)
    .sort((a, b) => a.number - b.number)
}

function isControlledBy({ metadata }: ApiObject, owner: ApiObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid, controller }) => controller && uid === owner.metadata.uid)
}

function fromReplicaSet(keeper: Workload, vendor: Vendor): Revision {
  const annotations = keeper.metadata.annotations ?? {}
  return {
    number: Number(annotations[revisionKey(vendor)] ?? 0),
    cause: annotations[changeCauseKey(vendor)] ?? '',
    template: keeper.spec?.template ?? {},
    keeper,
  }
}

/** Its data is a patch that puts the template of that time in the place of today's. */
function fromControllerRevision(keeper: ControllerRevision, vendor: Vendor): Revision {
  const { $patch: _, ...template } = keeper.data?.spec?.template ?? {}
  const cause = keeper.metadata.annotations?.[changeCauseKey(vendor)] ?? ''
  return { number: keeper.revision ?? 0, cause, template, keeper }
}

/** The revision to go back to; 0: the one before the last. Throws UsageError where there is none. */
export function wantedRevision(revisions: readonly Revision[], number: number, name: string): Revision {
  if (number > 0) {
    const found = revisions.find((revision) => revision.number === number)
    if (found === undefined) throw new UsageError(`unable to find specified revision ${number} in history`)
    return found
  }
  const previous = revisions.at(-2)
  if (previous === undefined)
    throw new UsageError(`no rollout history found for ${name}: there is nothing to go back to`)
  return previous
}
