/**
 * Implements `orchctl undo`, which reverts one change to an object by restoring the previous values of the changed
 * fields. The write uses the user's own permissions and requires the version that the command read. After a conflict,
 * the command retries. If one of those fields has changed since then, nothing is written. A deleted object is
 * recreated.
 */

import { type Json, type JsonObject, sameJson } from '../../../api/json/json.ts'
import { valueAt, withValueAt } from '../../../api/json/json-changes.ts'
import { type ApiObject, asJson, asObject } from '../../../api/model/object.ts'
import { flag, type OptionsOf, text, UsageError } from '../../../base/flags/flags.ts'
import { changeObject } from '../../../client/informers/change-object.ts'
import { withTypedSession } from '../changes/remove-nulls.ts'
import { report, requestOptions, writeFlags } from '../changes/report-write.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import {
  changesOf,
  type FieldChange,
  type HistoryRevision,
  type PastSubject,
  pastSubject,
  stateAt,
  stepsOf,
} from '../connection/object-history.ts'
import { objectNameIn, type Session } from '../connection/session.ts'
import { defineCommand } from '../program/command.ts'

const flags = {
  revision: flag({
    name: 'revision',
    value: 'REVISION',
    read: text,
    help: 'revision of the change to revert, as shown by `orchctl history`; default: the last change',
  }),
  ...writeFlags,
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const undoCommand = defineCommand({
  name: 'undo',
  forms: ['(TYPE NAME | TYPE/NAME) [--revision=REVISION] [flags]'],
  about: `Revert the last change to an object, or the change with a given revision.

The command restores only the fields that the change set, and fails if these fields have changed again since then. A
deleted object is recreated. The status is not restored, because controllers report it.`,
  examples: [
    'orchctl undo deployment/web',
    'orchctl undo cm greeting --revision=1234 --dry-run=server -o yaml',
    'orchctl undo cm/deleted-by-mistake',
  ],
  flags,
  run: async (context, { options, words }) => {
    if (options.dryRun === 'client') throw new UsageError('--dry-run=client is not supported: use --dry-run=server')
    await withTypedSession(context, options, async (session) => {
      const subject = await pastSubject(session, words)
      const { change, older } = await findChange(session, subject, options.revision)
      const object = change.deleted
        ? await createAgain(session, subject, { older, options })
        : await putBack(session, subject, { change, options })
      const done = change.deleted ? 'created again' : `undone (revision ${change.revision})`
      context.out(await report(options, { type: subject.type, object, done }))
    })
  },
})

interface Found {
  readonly change: HistoryRevision
  /** The revision that precedes the change. Undefined if it is no longer in the history. */
  readonly older: HistoryRevision | undefined
}

async function findChange(session: Session, subject: PastSubject, revision: string): Promise<Found> {
  let change: HistoryRevision | undefined
  for await (const each of changesOf(session, subject)) {
    if (change !== undefined) return { change, older: each }
    if (revision === '' ? isByItself(each) : each.revision === revision) change = each
  }
  if (change !== undefined) return { change, older: undefined }
  throw new UsageError(
    revision === ''
      ? `no change to ${subject.type.plural} "${subject.name}" to undo`
      : `revision ${revision} is not a change to ${subject.type.plural} "${subject.name}": see orchctl history`,
  )
}

/**
 * Whether the change is more than a status report. Without --revision, the command skips status reports, including the
 * annotations that control loops write together with the status.
 */
function isByItself({ deleted = false, subresource, changes = [] }: HistoryRevision): boolean {
  return deleted || (subresource !== 'status' && changes.some((change) => !isStatus(change)))
}

function isStatus({ path = '' }: FieldChange): boolean {
  return path === '.status' || path.startsWith('.status.') || path.startsWith('.status[')
}

interface PuttingBack {
  readonly change: HistoryRevision
  readonly options: Options
}

async function putBack(session: Session, subject: PastSubject, { change, options }: PuttingBack): Promise<ApiObject> {
  const { type, name } = subject
  const { created, beyond, revision } = change
  if (created) throw new UsageError(`revision ${revision} created the object: to undo the creation, use orchctl delete`)
  const revertedChanges = (change.changes ?? []).filter((each) => !isStatus(each))
  if (beyond || revertedChanges.length === 0)
    throw new UsageError(
      `the changes in revision ${revision} are unknown or affect only the status: there is nothing to undo`,
    )
  if (revertedChanges.some(({ concealed }) => concealed))
    throw new UsageError('the history contains no Secret values, so nothing can be restored')
  const undone = await changeObject(session.client, type, {
    ...requestOptions(session, options),
    name: objectNameIn(session, type, name),
    change: (live) => withoutChange(live, change, revertedChanges),
  })
  return undone!
}

/**
 * Returns the live object without the change. Throws UsageError if one of the fields has been changed again since then.
 */
function withoutChange(
  live: ApiObject,
  { revision, uid }: HistoryRevision,
  revertedChanges: readonly FieldChange[],
): ApiObject {
  if (uid !== undefined && uid !== live.metadata.uid)
    throw new UsageError(`conflict: the object was recreated after revision ${revision}, so nothing was undone`)
  const disturbed = revertedChanges.filter(
    (each) => !sameJson(valueAt(asJson(live), stepsOf(each)), each.after as Json | undefined),
  )
  if (disturbed.length > 0)
    throw new UsageError(
      `conflict: fields were changed again after revision ${revision}, so nothing was undone: ${disturbed.map(({ path }) => path).join(', ')}`,
    )
  const next = revertedChanges.reduce<Json | undefined>(
    (object, each) => withValueAt(object, stepsOf(each), each.before as Json | undefined),
    asJson(live),
  )
  return asObject(next as JsonObject)
}

async function createAgain(
  session: Session,
  subject: PastSubject,
  { older, options }: { older: HistoryRevision | undefined; options: Options },
): Promise<ApiObject> {
  const [before] = older?.revision === undefined ? [] : await stateAt(session, subject, older.revision)
  if (before === undefined) throw new UsageError('the deleted object is no longer in the history')
  const { status: _, ...object } = asJson(before)
  const { name, namespace, labels, annotations } = before.metadata
  const metadata = JSON.parse(JSON.stringify({ name, namespace, labels, annotations })) as JsonObject
  return await session.client.create(
    subject.type,
    asObject({ ...object, metadata } as JsonObject),
    requestOptions(session, options),
  )
}
