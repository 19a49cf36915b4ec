/** `orchctl blame`: each field of an object with the change that it comes from: revision, time, user, manager. */
import { isObject, type JsonObject } from '../../../api/json/json.ts'
import { isOneWithinOther, leavesOf, pathText, type Step } from '../../../api/json/json-changes.ts'
import { asJson } from '../../../api/model/object.ts'
import { withTypedSession } from '../changes/without-nulls.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { changesOf, type HistoryRevision, type PastSubject, pastSubject, stepsOf } from '../connection/past.ts'
import { placeOf, type Session } from '../connection/session.ts'
import { Columns } from '../printers/columns.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand } from '../program/command.ts'

export const blameCommand = defineCommand({
  name: 'blame',
  forms: ['(TYPE NAME | TYPE/NAME) [flags]'],
  about: `Shows each field of an object with the change that set it: revision, time, user, field manager.

What was set before the history begins has no change beside it.`,
  examples: ['orchctl blame deployment web', 'orchctl blame cm/greeting'],
  flags: connectionFlags,
  run: async (context, { options, words }) => {
    await withTypedSession(context, options, async (session) => {
      const subject = await pastSubject(session, words)
      const place = placeOf(session, subject.type, subject.name)
      const fields = leavesOf(shownOf(asJson(await session.client.get(subject.type, place, context))))
      const setBy = await findSetters(session, subject, fields)
      const rows = fields.map((field) => [...headOf(setBy.get(field)), pathText(field)].map(escapeLine))
      context.out(new Columns().lines([['REVISION', 'TIME', 'USER', 'MANAGER', 'FIELD'], ...rows]))
    })
  },
})

/** Without what says itself who set it, and what no one sets. */
function shownOf({ metadata, apiVersion: _, kind: __, ...object }: JsonObject): JsonObject {
  const { managedFields: ___, resourceVersion: ____, generation: _____, ...kept } = isObject(metadata) ? metadata : {}
  return { metadata: kept, ...object }
}

type Path = readonly Step[]

/** By field: the newest change of it, of something that it lies within, or of a part that it no longer has. */
async function findSetters(
  session: Session,
  subject: PastSubject,
  fields: readonly Path[],
): Promise<Map<Path, HistoryRevision>> {
  const open = new Set(fields)
  const found = new Map<Path, HistoryRevision>()
  for await (const revision of changesOf(session, subject)) {
    // What a predecessor of the same name was is of no concern.
    if (revision.deleted || open.size === 0) break
    for (const changed of (revision.changes ?? []).map(stepsOf))
      for (const field of open) {
        if (!isOneWithinOther(field, changed)) continue
        found.set(field, revision)
        open.delete(field)
      }
  }
  return found
}

function headOf(revision: HistoryRevision | undefined): string[] {
  const { revision: version, time, user, manager } = revision ?? {}
  return [version || '<unknown>', time || '<unknown>', user || '<unknown>', manager || '<none>']
}
