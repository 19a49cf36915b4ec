/**
 * Runs StorageVersionMigrations. The loop records the resource version of the collection, then writes every older
 * object by an apply request that changes nothing. The API server stores the result in the current form. An object that
 * was changed or deleted after it was listed needs no rewrite: a later change already stored the current form.
 *
 * The recorded resource version also lets another manager continue an interrupted migration: objects that were already
 * rewritten have later versions.
 */
import type { StorageVersionMigration } from '../../api/kinds/storagemigration/storage-version-migration.ts'
import { type ApiObject, timestamp } from '../../api/model/object.ts'
import { isMigration, storageMigrator } from '../../api/model/storage-migration.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import type { Client } from '../../client/requests/client.ts'
import { type DiscoveredType, discover } from '../../client/requests/discovery.ts'
import { metadataForm } from '../../client/requests/metadata-form.ts'
import { isConflict, StatusError } from '../../client/requests/status-error.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

export interface MigratorParts {
  readonly client: Client
  readonly clock: Clock
  readonly migrations: Informer<StorageVersionMigration>
}

/** Number of objects to rewrite in parallel. */
const parallelWrites = 8
const pageSize = 500

export function storageVersionMigratorLoop(parts: MigratorParts): Loop {
  return {
    name: 'storage-version-migrator-controller',
    sources: [fromInformer(parts.migrations)],
    reconcile: async (name, signal) => {
      const migration = parts.migrations.get({ name })
      const { status = {}, metadata } = migration ?? {}
      if (migration === undefined || metadata?.deletionTimestamp !== undefined) return 'done'
      if (isMigration('Succeeded', status) || isMigration('Failed', status)) return 'done'
      return await step(parts, migration, signal)
    },
  }
}

/** Starts the migration if it has no resource version yet, and runs it otherwise. */
async function step(
  parts: MigratorParts,
  migration: StorageVersionMigration,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const fail = (message: string) => report(parts, migration, { result: { type: 'Failed', message }, signal })
  const type = await typeOf(parts.client, migration, signal)
  if (typeof type === 'string') await fail(type)
  else if (!migration.status?.resourceVersion) {
    const resourceVersion = await latestVersion(parts.client, type, signal)
    await report(parts, migration, { result: { type: 'Running' }, resourceVersion, signal })
  } else {
    const fault = await rewriteAll(parts.client, type, { olderThan: migration.status.resourceVersion, signal })
    if (fault === undefined) await report(parts, migration, { result: { type: 'Succeeded' }, signal })
    else await fail(fault)
  }
  return 'done'
}

/** Returns the type to migrate, or the reason why it cannot be migrated. */
async function typeOf(
  client: Client,
  { spec }: StorageVersionMigration,
  signal: AbortSignal,
): Promise<DiscoveredType | string> {
  const { group = '', resource = '' } = spec?.resource ?? {}
  const { types, failures } = await discover(client, { signal })
  const type = types.find((each) => each.group === group && each.plural === resource)
  if (type === undefined) {
    const failure = failures.find((each) => each.startsWith(`${group}/`))
    if (failure !== undefined) throw new Error(`discovery failed: ${failure}`)
    return 'the server does not serve the resource'
  }
  const missing = ['list', 'patch'].filter((verb) => !type.verbs.includes(verb))
  return missing.length === 0 ? type : `the resource does not support ${missing.join(' and ')}`
}

async function latestVersion(client: Client, type: DiscoveredType, signal: AbortSignal): Promise<string> {
  for await (const { resourceVersion } of client.pages(type, { limit: 1, accept: metadataForm.list, signal }))
    return resourceVersion
  throw new Error('the list has no pages')
}

/**
 * Rewrites the objects that have not changed since the given version. Returns the reason if an object cannot be
 * rewritten.
 */
async function rewriteAll(
  client: Client,
  type: DiscoveredType,
  { olderThan, signal }: { readonly olderThan: string; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const start = BigInt(olderThan)
  const options = { limit: pageSize, accept: metadataForm.list, signal, onRestart: () => undefined }
  for await (const { items } of client.pages(type, options)) {
    const outdated = items.filter(({ metadata }) => BigInt(metadata.resourceVersion ?? 0) <= start)
    for (let i = 0; i < outdated.length; i += parallelWrites) {
      const batch = outdated.slice(i, i + parallelWrites)
      const faults = await Promise.all(batch.map((object) => rewrite(client, type, { object, signal })))
      const fault = faults.find((each) => each !== undefined)
      if (fault !== undefined) return fault
    }
  }
  return undefined
}

/**
 * Rewrites an object by an apply request that contains only the object's identity and version. Returns the reason if
 * the server rejects the write. Throws an error if a later attempt may succeed.
 */
async function rewrite(
  client: Client,
  type: DiscoveredType,
  { object, signal }: { readonly object: ApiObject; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { namespace, name = '', uid = '', resourceVersion = '' } = object.metadata
  const apply = {
    apiVersion: type.group === '' ? type.version : `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion },
  }
  try {
    await client.apply(type, apply, { fieldManager: storageMigrator, signal })
    return undefined
  } catch (error) {
    if (isConflict(error)) return undefined
    if (!(error instanceof StatusError) || error.code >= 500 || error.code === 429) throw error
    return `cannot rewrite ${namespace === undefined ? '' : `${namespace}/`}${name}: ${messageOf(error)}`
  }
}

interface Result {
  readonly type: 'Running' | 'Succeeded' | 'Failed'
  readonly message?: string
}

/** Condition reasons, as in Kubernetes. */
const reasons = {
  Running: 'StorageVersionMigrationInProgress',
  Succeeded: 'StorageVersionMigrationSucceeded',
  Failed: 'StorageVersionMigrationFailed',
} as const

const maxMessageLength = 1024

/**
 * Sets the condition that reports the result to True. If the migration has ended, sets the Running condition to False.
 */
async function report(
  { client, clock, migrations }: MigratorParts,
  migration: StorageVersionMigration,
  { result, signal, ...started }: { result: Result; resourceVersion?: string; signal: AbortSignal },
): Promise<void> {
  const { type, message = '' } = result
  const lastTransitionTime = timestamp(clock.now())
  const set = { type, status: 'True', reason: reasons[type], message: message.slice(0, maxMessageLength) }
  const before = migration.status?.conditions ?? []
  const ended = before
    .filter((each) => each.type === 'Running')
    .map((each) => ({ ...each, status: 'False', reason: reasons[type], lastTransitionTime }))
  const conditions = [...(type === 'Running' ? [] : ended), { ...set, lastTransitionTime }]
  const status = { ...migration.status, ...started, conditions }
  await ignoreNotFound(client.update(migrations.type, { ...migration, status }, { subresource: 'status', signal }))
}
