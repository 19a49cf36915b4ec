/**
 * Deletes and recreates an object to change immutable fields: `replace --force`, `apply --force`. First, a dry run
 * under another name checks whether the server would accept the new object. If it would not, the old object is not
 * deleted.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import type { WriteOptions } from '../../../client/requests/client.ts'
import { isNotFound, StatusError } from '../../../client/requests/status-error.ts'
import type { Subject } from '../arguments/subjects.ts'
import type { Session } from '../connection/session.ts'
import { type DeletionOptions, deletionRequest, patienceOf } from './deletion.ts'
import { isGone, waitFor } from './wait-for.ts'

export interface Recreation {
  readonly object: ApiObject
  readonly request: WriteOptions
  /** Options, such as the grace period, for deleting the old object. */
  readonly deletion: DeletionOptions
  /** The old object. It is restored if the server rejects the new object after all. */
  readonly former?: ApiObject
}

/** Deletes the existing object, waits until it no longer exists, and creates the new object. */
export async function recreate(
  session: Session,
  subject: Subject,
  { object, request, former, deletion }: Recreation,
): Promise<ApiObject> {
  const { client, context } = session
  const { type, name } = subject
  await client.create(type, underAnotherName(object), { ...request, dryRun: true })
  await client.delete(type, name, { ...deletionRequest(deletion), signal: context.signal }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
  if (deletion.wait) await waitFor(session, subject, { until: isGone(undefined), timeoutMs: patienceOf(deletion) })
  return await client.create(type, asNew(object), request).catch(async (error: unknown) => {
    if (former !== undefined) await bringBack(session, subject, { former, error })
    throw error
  })
}

async function bringBack(
  { client, context }: Session,
  { type, name }: Subject,
  { former, error }: { former: ApiObject; error: unknown },
): Promise<void> {
  await client.create(type, asNew(former), { signal: context.signal }).catch((second: unknown) => {
    if (!(error instanceof StatusError && second instanceof StatusError)) throw second
    throw new UsageError(
      `${name.name} was deleted, but neither the new object nor the previous one could be created: ${error.message}; ${second.message}`,
    )
  })
}

/** Returns the object without fields that only existing objects have. */
function asNew(object: ApiObject): ApiObject {
  const { resourceVersion: _, uid: __, creationTimestamp: ___, managedFields: ____, ...metadata } = object.metadata
  return { ...object, metadata }
}

function underAnotherName(object: ApiObject): ApiObject {
  const { name = '', ...metadata } = asNew(object).metadata
  return { ...object, metadata: { ...metadata, generateName: `${name}-` } }
}
