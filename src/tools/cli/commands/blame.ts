/** `orchctl blame`: shows the change that last set each field of an object: revision, time, user and field manager. */
import { isObject, type JsonObject } from '../../../api/json/json.ts'
import { isOneWithinOther, leavesOf, type PathElement, pathText } from '../../../api/json/json-changes.ts'
import { asJson } from '../../../api/model/object.ts'
import { withTypedSession } from '../changes/remove-nulls.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import {
  changesOf,
  type HistoryRevision,
  type PastSubject,
  pastSubject,
  stepsOf,
} from '../connection/object-history.ts'
import { objectNameIn, type Session } from '../connection/session.ts'
import { Columns } from '../printers/columns.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand } from '../program/command.ts'

export const blameCommand = defineCommand({
  name: 'blame',
  forms: ['(TYPE NAME | TYPE/NAME) [flags]'],
  about: `Show who last set each field of an object, with the revision, time, user and field manager of that change.

If a field was set before the recorded history begins, the command shows no change for that field.`,
  examples: ['orchctl blame deployment web', 'orchctl blame cm/greeting'],
  flags: connectionFlags,
  run: async (context, { options, words }) => {
    await withTypedSession(context, options, async (session) => {
      const subject = await pastSubject(session, words)
      const place = objectNameIn(session, subject.type, subject.name)
      const fields = leavesOf(shownOf(asJson(await session.client.get(subject.type, place, context))))
      const setBy = await findSetters(session, subject, fields)
      const rows = fields.map((field) => [...headOf(setBy.get(field)), pathText(field)].map(escapeLine))
      context.out(new Columns().lines([['REVISION', 'TIME', 'USER', 'MANAGER', 'FIELD'], ...rows]))
    })
  },
})

/** Returns the object without its type, managed fields, resourceVersion and generation. */
function shownOf({ metadata, apiVersion: _, kind: __, ...object }: JsonObject): JsonObject {
  const {
    managedFields: ___,
    resourceVersion: ____,
    generation: _____,
    ...shownMetadata
  } = isObject(metadata) ? metadata : {}
  return { metadata: shownMetadata, ...object }
}

type Path = readonly PathElement[]

/**
 * For each field, finds the newest change to the field itself, to one of its parents, or to a nested field that no
 * longer exists.
 */
async function findSetters(
  session: Session,
  subject: PastSubject,
  fields: readonly Path[],
): Promise<Map<Path, HistoryRevision>> {
  const open = new Set(fields)
  const settersByPath = new Map<Path, HistoryRevision>()
  for await (const revision of changesOf(session, subject)) {
    // Changes to an earlier object with the same name do not count.
    if (revision.deleted || open.size === 0) break
    for (const changed of (revision.changes ?? []).map(stepsOf))
      for (const field of open) {
        if (!isOneWithinOther(field, changed)) continue
        settersByPath.set(field, revision)
        open.delete(field)
      }
  }
  return settersByPath
}

function headOf(revision: HistoryRevision | undefined): string[] {
  const { revision: version, time, user, manager } = revision ?? {}
  return [version || '<unknown>', time || '<unknown>', user || '<unknown>', manager || '<none>']
}
