/**
 * Implements `orchctl apply edit-last-applied`, which opens the last applied configurations in the user's editor.
 * Several configurations open as one List. The objects themselves remain unchanged.
 */

import { sameJson } from '../../../../api/json/json.ts'
import { asObject } from '../../../../api/model/object.ts'
import { type OptionsOf, UsageError } from '../../../../base/flags/flags.ts'
import { fileFlags, findSubjects, type Subject } from '../../arguments/subjects.ts'
import { noteCause, recordFlag } from '../../changes/change-cause.ts'
import { type EditedPart, editObjects } from '../../changes/edit-objects.ts'
import { editedFormat, windowsLineEndingsFlag } from '../../changes/editor.ts'
import { liveOf } from '../../changes/patch-command.ts'
import { report, requestOptions, writeFlags } from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { type Session, withSession } from '../../connection/session.ts'
import type { Manifest } from '../../manifests/manifest.ts'
import { defineCommand } from '../../program/command.ts'
import { noRecord, recordOf, recordPatch, withRecord } from './last-applied.ts'

const { dryRun: _, ...written } = writeFlags
const flags = {
  ...fileFlags,
  ...written,
  windowsLineEndings: windowsLineEndingsFlag,
  record: recordFlag,
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const editLastAppliedCommand = defineCommand({
  name: 'apply edit-last-applied',
  forms: ['(TYPE NAME... | TYPE/NAME... | -f FILE) [flags]'],
  about: `Open the last applied configuration of objects in an editor, and record the edited version.

The objects themselves do not change, but the next \`orchctl apply\` compares with the new record. Several objects open
as one List. Objects that were not created by apply are skipped.`,
  examples: ['orchctl apply edit-last-applied deployment/web', 'orchctl apply edit-last-applied -f web.yaml -o json'],
  flags,
  run: async (context, { options, words }) => {
    await withSession(context, options, async (session) => {
      const none = { selector: '', fieldSelector: '', all: false, allNamespaces: false }
      const records = await readRecords(session, await findSubjects(session, words, { ...options, ...none }))
      await editObjects(session, records, {
        what: 'record',
        windowsLineEndings: options.windowsLineEndings,
        format: editedFormat(options.output),
        saveOne: (part, edited) => saveRecord(session, part, { ...edited, options }),
      })
    })
  },
})

/** Returns the last applied configuration of each object that has one. Throws UsageError if no object has one. */
async function readRecords(session: Session, subjects: readonly Subject[]): Promise<EditedPart[]> {
  const vendor = await session.types.vendor()
  const records = await Promise.all(
    subjects.map(async (subject) => ({ subject, record: recordOf(await liveOf(session, subject), vendor) })),
  )
  const parts = records.flatMap(({ subject, record }) =>
    record === undefined ? [] : [{ ...subject, editable: asObject(record) }],
  )
  if (parts.length > 0) return parts
  const [first, ...more] = subjects
  const missing =
    first !== undefined && more.length === 0
      ? noRecord(first)
      : 'no last-applied-configuration annotation found on any of these objects'
  throw new UsageError(`${missing}; \`orchctl apply set-last-applied --create-annotation\` creates the annotation`)
}

async function saveRecord(
  session: Session,
  { type, name, editable }: EditedPart,
  { manifest, options, index }: { manifest: Manifest; options: Options; index: number },
): Promise<string> {
  const vendor = await session.types.vendor()
  const writing = { ...options, dryRun: 'none' } as const
  if (sameJson(manifest.object, editable))
    return await report(writing, { type, object: editable, done: 'skipped', index })
  const patch = recordPatch(withRecord(manifest.object, vendor), vendor)
  const object = await session.client.patch(type, name, { ...requestOptions(session, writing), patch })
  await noteCause(session, { type, name }, writing)
  return await report(writing, { type, object, done: 'edited', index })
}
