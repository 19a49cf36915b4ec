/**
 * Adds the annotations that `--save-config` and `--record` request: the applied configuration, which later applies need
 * for comparison, and the command line, which `rollout history` shows as the change cause.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { toggle } from '../../../base/flags/flags.ts'
import type { Subject } from '../arguments/subjects.ts'
import type { Session } from '../connection/session.ts'
import { requestOptions, type WritingOptions } from './report-write.ts'

export const recordFlag = toggle({
  name: 'record',
  help: 'record the command line in the change-cause annotation of the object',
})
export const saveConfigFlag = toggle({
  name: 'save-config',
  help: 'record the configuration in an annotation of the object, for a later orchctl apply',
})

export interface NoteOptions {
  readonly record?: boolean
  readonly saveConfig?: boolean
}

export function changeCauseKey(vendor: Vendor): string {
  return vendorKey(vendor, 'change-cause')
}

/** Returns the object with the annotations that `--save-config` and `--record` request. */
export async function withNotes(session: Session, object: ApiObject, options: NoteOptions): Promise<ApiObject> {
  if (!options.record && !options.saveConfig) return object
  const vendor = await session.types.vendor()
  const { metadata } = object
  const annotations = { ...metadata.annotations, [changeCauseKey(vendor)]: session.context.commandLine }
  const noted = options.record ? { ...object, metadata: { ...metadata, annotations } } : object
  if (!options.saveConfig) return noted
  const { withRecord } = await import('../commands/apply/last-applied.ts')
  return withRecord(noted, vendor)
}

/**
 * Records the command line as the change cause of an object that was just changed. Sends a separate patch, as kubectl
 * does.
 */
export async function noteCause(
  session: Session,
  { type, name }: Pick<Subject, 'type' | 'name'>,
  options: NoteOptions & WritingOptions,
): Promise<void> {
  if (!options.record || options.dryRun === 'client') return
  const annotations = { [changeCauseKey(await session.types.vendor())]: session.context.commandLine }
  await session.client.patch(type, name, {
    ...requestOptions(session, options),
    patch: { merge: { metadata: { annotations } } },
  })
}
