/** `orchctl blame`: each field of an object with the change that it comes from: revision, time, user, manager. */
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { jsonChanges, pathText, type Step } from '../../model/json-changes.ts'
import { asJson } from '../../model/object.ts'
import { defineCommand } from '../command.ts'
import { connectionFlags } from '../connection-flags.ts'
import { changesOf, type HistoryRevision, type PastSubject, pastSubject } from '../past.ts'
import { Columns } from '../printers/columns.ts'
import { escapeLine } from '../printers/escape.ts'
import { placeOf, type Session, withSession } from '../session.ts'

export const blameCommand = defineCommand({
  name: 'blame',
  forms: ['(TYPE NAME | TYPE/NAME) [flags]'],
  about: `Shows each field of an object with the change that set it: revision, time, user, field manager.

What was set before the history begins has no change beside it.`,
  examples: ['orchctl blame deployment web', 'orchctl blame cm/greeting'],
  flags: connectionFlags,
  run: async (context, { options, words }) => {
    await withSession(context, options, async (session) => {
      const subject = await pastSubject(session, words)
      const place = placeOf(session, subject.type, subject.name)
      const fields = leavesOf(shownOf(asJson(await session.client.get(subject.type, place, context))))
      const setBy = await findSetters(session, subject, fields)
      const rows = fields.map((field) => [...headOf(setBy.get(field)), field].map(escapeLine))
      context.out(new Columns().lines([['REVISION', 'TIME', 'USER', 'MANAGER', 'FIELD'], ...rows]))
    })
  },
})

/** Without what says itself who set it, and what no one sets. */
function shownOf({ metadata, apiVersion: _, kind: __, ...object }: JsonObject): JsonObject {
  const { managedFields: ___, resourceVersion: ____, generation: _____, ...kept } = isObject(metadata) ? metadata : {}
  return { metadata: kept, ...object }
}

/** The paths of all values that have no parts, as text. */
function leavesOf(value: Json): string[] {
  return jsonChanges({}, value).flatMap(({ path, after }) => leavesAt(path, after!))
}

function leavesAt(path: readonly Step[], value: Json): string[] {
  // Compared with nothing of its own sort, it comes apart by one level.
  const parts = isObject(value)
    ? jsonChanges({}, value, path)
    : Array.isArray(value) && value.length > 0
      ? jsonChanges([{ name: '' }], value, path).filter(({ after }) => after !== undefined)
      : []
  const isWhole = parts.length === 0 || parts.some((part) => part.path.length === path.length)
  return isWhole ? [pathText(path)] : parts.flatMap((part) => leavesAt(part.path, part.after!))
}

/** By field: the newest change of it, or of something that it lies within. */
async function findSetters(
  session: Session,
  subject: PastSubject,
  fields: readonly string[],
): Promise<Map<string, HistoryRevision>> {
  const open = new Set(fields)
  const found = new Map<string, HistoryRevision>()
  for await (const revision of changesOf(session, subject)) {
    // What a predecessor of the same name was is of no concern.
    if (revision.deleted || open.size === 0) break
    for (const { path = '' } of revision.changes ?? [])
      for (const field of open) {
        if (!isWithin(field, path)) continue
        found.set(field, revision)
        open.delete(field)
      }
  }
  return found
}

function isWithin(field: string, path: string): boolean {
  return field === path || path === '.' || (field.startsWith(path) && '.['.includes(field[path.length]!))
}

function headOf(revision: HistoryRevision | undefined): string[] {
  const { revision: version, time, user, manager } = revision ?? {}
  return [version || '<unknown>', time || '<unknown>', user || '<unknown>', manager || '<none>']
}
