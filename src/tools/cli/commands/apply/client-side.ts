/** Client-side apply with a three-way merge. Creates the object, or patches it if it differs. */

import { sameJson } from '../../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import type { Vendor } from '../../../../api/model/vendor.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import type { WriteOptions } from '../../../../client/requests/client.ts'
import { typeName } from '../../../../client/requests/resource-type.ts'
import { isConflict, isInvalid, isNotFound } from '../../../../client/requests/status-error.ts'
import type { Subject } from '../../arguments/subjects.ts'
import { withNotes } from '../../changes/change-cause.ts'
import { fieldValidation, requestOptions } from '../../changes/report-write.ts'
import type { Session } from '../../connection/session.ts'
import type { Manifest } from '../../manifests/manifest.ts'
import { conflictsOf, patchFor } from '../../patches/patch-for.ts'
import type { States } from '../../patches/three-way.ts'
import { lastAppliedKey, recordOf, withoutRecord, withRecord } from './last-applied.ts'
import type { ApplyOptions } from './options.ts'

interface Applied {
  readonly object: ApiObject
  readonly done: 'created' | 'configured' | 'unchanged'
}

export async function clientSideApply(
  session: Session,
  subject: Subject & Manifest,
  options: ApplyOptions & {
    /** Whether to record the last applied configuration in the object. */
    readonly recorded?: boolean
  },
): Promise<Applied> {
  const { client, context, types } = session
  const { recorded = true } = options
  const vendor = await types.vendor()
  const noted = await withNotes(session, subject.object, { record: options.record })
  const modified = recorded ? withRecord(noted, vendor) : withoutRecord(noted, vendor)
  const live = await client.get(subject.type, subject.name, { signal: context.signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
  const request = { ...requestOptions(session, options), fieldValidation: fieldValidation(options.validate) }
  if (live === undefined) return await createLive(session, subject, { modified, options, request })
  if (recorded && recordOf(live, vendor) === undefined) context.err(noRecordWarning(subject, vendor))
  return await patchLive(session, subject, { modified, live, vendor, options, request })
}

interface Writing {
  readonly modified: ApiObject
  readonly options: ApplyOptions
  readonly request: WriteOptions
}

async function createLive(
  { client }: Session,
  { type }: Subject,
  { modified, options, request }: Writing,
): Promise<Applied> {
  if (options.dryRun === 'client') return { object: modified, done: 'created' }
  return { object: await client.create(type, modified, { fieldManager: manager, ...request }), done: 'created' }
}

/**
 * The field manager of client-side apply, named as in kubectl. Server-side apply uses another field manager, because it
 * handles field ownership differently.
 */
const manager = 'orchctl-client-side-apply'

async function patchLive(
  session: Session,
  subject: Subject,
  { modified, live, vendor, options, request }: Writing & { live: ApiObject; vendor: Vendor },
): Promise<Applied> {
  const { type, name } = subject
  const states = { original: recordOf(live, vendor), modified: asJson(modified), current: asJson(live) }
  const patch = await patchFor(type, vendor, states)
  if (patch === undefined) return { object: live, done: 'unchanged' }
  if (!options.overwrite) await refuseConflicts(subject, vendor, states)
  if (options.dryRun === 'client') return { object: live, done: 'configured' }
  const writing = { fieldManager: manager, ...request }
  const object = await session.client.patch(type, name, { ...writing, patch }).catch(async (error: unknown) => {
    if (!options.force || !(isInvalid(error) || isConflict(error))) throw error
    const { recreate } = await import('../../changes/recreate.ts')
    return await recreate(session, subject, { object: modified, request: writing, former: live, deletion: options })
  })
  // Compare the objects, because a patch that changes only fields set by the server does not count as a change.
  const changed = !sameJson(asJson(object), asJson(live)) || options.dryRun === 'server'
  return { object, done: changed ? 'configured' : 'unchanged' }
}

/**
 * Throws a UsageError that lists the conflicting fields, if any. The last-applied annotation always differs and is
 * ignored.
 */
async function refuseConflicts({ type }: Subject, vendor: Vendor, states: States): Promise<void> {
  const record = `metadata.annotations.${lastAppliedKey(vendor)}`
  const paths = (await conflictsOf(type, vendor, states)).filter((path) => path !== record)
  if (paths.length > 0)
    throw new UsageError(
      `${paths.join(', ')} changed since the last apply; omit --overwrite=false to overwrite the changes`,
    )
}

function noRecordWarning({ type, name }: Subject, vendor: Vendor): string {
  return `Warning: ${typeName(type)} ${JSON.stringify(name.name)} has no ${lastAppliedKey(vendor)}: it was not created by apply, so fields that were removed from the file stay in the object; this apply records the annotation\n`
}
