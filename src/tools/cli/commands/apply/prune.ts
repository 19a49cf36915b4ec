/**
 * Implements `apply --prune`, which deletes objects that an earlier apply created and that match the selector but are
 * not part of this apply. Objects created by apply have the last-applied annotation. Considers only common kinds, and
 * only the namespaces in the files.
 */

import type { ApiObject } from '../../../../api/model/object.ts'
import { groupName, type Vendor } from '../../../../api/model/vendor.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'
import { isNotFound } from '../../../../client/requests/status-error.ts'
import type { Subject } from '../../arguments/subjects.ts'
import { inBulk } from '../../changes/bulk.ts'
import { deletionRequest } from '../../changes/deletion.ts'
import { report } from '../../changes/report-write.ts'
import { objectNameOf, type Session } from '../../connection/session.ts'
import { lastAppliedKey } from './last-applied.ts'
import type { ApplyOptions } from './options.ts'

/**
 * Kinds that `--prune` considers, with the short IDs of their groups. Objects without the last-applied annotation, such
 * as a deployment's pods, are never pruned.
 */
const prunedKinds: readonly (readonly [group: string, kind: string])[] = [
  ...['ConfigMap', 'Endpoints', 'PersistentVolumeClaim', 'Pod', 'ReplicationController', 'Secret', 'Service'].map(
    (kind) => ['core', kind] as const,
  ),
  ...['Job', 'CronJob'].map((kind) => ['batch', kind] as const),
  ['networking', 'Ingress'],
  ...['DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'].map((kind) => ['apps', kind] as const),
  ...['PersistentVolume', 'Namespace'].map((kind) => ['core', kind] as const),
]

export function checkPrune({ selector, all, serverSide }: ApplyOptions): void {
  if (selector === '' && !all)
    throw new UsageError(
      'all resources selected for prune without explicitly passing --all: select with -l, or pass --all',
    )
  if (selector !== '' && all) throw new UsageError('cannot set --all and --selector at the same time')
  if (serverSide)
    throw new UsageError('--prune is not supported with --server-side: pruning uses the records of client-side apply')
}

export async function prune(
  session: Session,
  options: ApplyOptions,
  { subjects, uids }: { subjects: readonly Subject[]; uids: ReadonlySet<string> },
): Promise<void> {
  const vendor = await session.types.vendor()
  const allowlist = [...options.pruneAllowlist, ...options.pruneWhitelist]
  const types =
    allowlist.length > 0
      ? await Promise.all(allowlist.map(({ apiVersion, kind }) => session.types.ofKind(apiVersion, kind)))
      : await typesToPrune(session, vendor)
  const namespaces = new Set(subjects.flatMap(({ name }) => (name.namespace === undefined ? [] : [name.namespace])))
  const prunable: { type: DiscoveredType; object: ApiObject }[] = []
  for (const type of types)
    for (const namespace of type.namespaced ? namespaces : [undefined])
      for (const object of await listed(session, type, { namespace, selector: options.selector }))
        if (isLeftOver(object, vendor, uids)) prunable.push({ type, object })
  await inBulk(session.context, prunable, {
    sortOf: ({ type }) => type,
    done: 'pruned',
    act: ({ type, object }) => pruneOne(session, options, { type, object }),
  })
}

async function typesToPrune({ types }: Session, vendor: Vendor): Promise<DiscoveredType[]> {
  const { types: served } = await types.all()
  return prunedKinds.flatMap(([group, kind]) =>
    served.filter((type) => type.kind === kind && type.group === groupName(vendor, group)),
  )
}

async function listed(
  { client, context }: Session,
  type: DiscoveredType,
  { namespace, selector }: { namespace: string | undefined; selector: string },
): Promise<ApiObject[]> {
  const place = namespace === undefined ? {} : { namespace }
  const selection = selector === '' ? {} : { labelSelector: selector }
  return (await client.list(type, { ...place, ...selection, signal: context.signal })).items
}

function isLeftOver({ metadata }: ApiObject, vendor: Vendor, applied: ReadonlySet<string>): boolean {
  const recorded = metadata.annotations?.[lastAppliedKey(vendor)] !== undefined
  return recorded && !applied.has(metadata.uid ?? '') && metadata.deletionTimestamp === undefined
}

async function pruneOne(
  { client, context }: Session,
  options: ApplyOptions,
  { type, object }: { type: DiscoveredType; object: ApiObject },
): Promise<string> {
  if (options.dryRun === 'client') return await report(options, { type, object, done: 'pruned' })
  const preconditions = object.metadata.uid === undefined ? {} : { preconditions: { uid: object.metadata.uid } }
  const dryRun = options.dryRun === 'server' ? { dryRun: true } : {}
  try {
    await client.delete(type, objectNameOf(type, object), {
      ...deletionRequest(options),
      ...preconditions,
      ...dryRun,
      signal: context.signal,
    })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return await report(options, { type, object, done: 'pruned' })
}
