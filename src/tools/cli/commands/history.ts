/** Implements `orchctl history`, which shows who changed an object, when and how, and which fields changed. */

import type { Json } from '../../../api/json/json.ts'
import { flag, type OptionsOf, toggle, UsageError } from '../../../base/flags/flags.ts'
import { isStatusChange } from '../../../client/requests/status-change.ts'
import { withTypedSession } from '../changes/remove-nulls.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { changesOf, type HistoryRevision, pastSubject } from '../connection/object-history.ts'
import { Columns } from '../printers/columns.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand } from '../program/command.ts'

const flags = {
  limit: flag({
    name: 'limit',
    value: 'NUMBER',
    default: '20',
    read: readLimit,
    help: 'maximum number of changes to show',
  }),
  all: toggle({ name: 'all', help: 'also show changes that affect only the status' }),
  values: toggle({ name: 'values', help: 'show each changed field with its old and new value' }),
  noHeaders: toggle({ name: 'no-headers', help: 'omit the header line' }),
  ...connectionFlags,
}

export const historyCommand = defineCommand({
  name: 'history',
  forms: ['(TYPE NAME | TYPE/NAME) [flags]'],
  about: `Show the changes to an object, newest first: revision, time, user, field manager, verb and changed fields.

Changes that affect only the status are hidden unless --all is set. You can also show deleted objects. The server's
--history-retention limits the age of the history. For Secrets, only the changed keys are shown, not their values.`,
  examples: [
    'orchctl history deployment/web',
    'orchctl history cm greeting --values',
    'orchctl history secret login --limit=100',
    'orchctl history pod web --all',
  ],
  flags,
  run: async (context, { options, words }) => {
    await withTypedSession(context, options, async (session) => {
      const subject = await pastSubject(session, words)
      const { shownRevisions, hidden } = await readHistory(changesOf(session, subject), options)
      if (shownRevisions.length === 0 && hidden === 0)
        return context.err(`No history found for ${subject.type.plural} "${subject.name}".\n`)
      context.out(options.values ? shownRevisions.map(withValues).join('') : tableOf(shownRevisions, options))
      if (hidden > 0) context.err(`${hidden} status changes are hidden. Use --all to show them.\n`)
    })
  },
})

interface ShownHistory {
  readonly shownRevisions: readonly HistoryRevision[]
  /** Number of changes that are hidden because they affect only the status. */
  readonly hidden: number
}

async function readHistory(
  revisions: AsyncIterable<HistoryRevision>,
  { limit, all }: OptionsOf<typeof flags>,
): Promise<ShownHistory> {
  const shownRevisions: HistoryRevision[] = []
  let hidden = 0
  for await (const revision of revisions) {
    if (!all && isStatusChange(revision)) hidden++
    else shownRevisions.push(revision)
    if (shownRevisions.length === limit) break
  }
  return { shownRevisions, hidden }
}

function tableOf(revisions: readonly HistoryRevision[], { noHeaders }: OptionsOf<typeof flags>): string {
  const headings = ['REVISION', 'TIME', 'USER', 'MANAGER', 'VERB', 'CHANGED']
  const rows = revisions.map((revision) => [...headOf(revision), changedText(revision)].map(escapeLine))
  return new Columns().lines(noHeaders ? rows : [headings, ...rows])
}

function headOf({ revision = '', time, user, manager, verb, subresource, deleted }: HistoryRevision): string[] {
  const what = `${verb || '<unknown>'}${subresource ? ` ${subresource}` : ''}${deleted && verb !== 'delete' ? ', gone' : ''}`
  return [revision, time ?? '<unknown>', user || '<unknown>', manager || '<none>', what]
}

const maxPaths = 3

function changedText({ changes = [], deleted, beyond, created }: HistoryRevision): string {
  if (deleted) return 'removed'
  if (created) return 'created'
  if (beyond) return '<before the history starts>'
  const paths = changes.map(({ path = '' }) => path)
  const more = paths.length > maxPaths ? ` and ${paths.length - maxPaths} more` : ''
  return paths.length === 0 ? '<nothing>' : `${paths.slice(0, maxPaths).join(', ')}${more}`
}

function withValues(revision: HistoryRevision): string {
  const lines = (revision.changes ?? []).map(({ path = '', before, after, concealed }) =>
    concealed ? `  ${path}: <secret>` : `  ${path}: ${valueText(before)} -> ${valueText(after)}`,
  )
  const removalLines = revision.deleted ? ['  removed'] : []
  return [headOf(revision).join('  '), ...removalLines, ...lines].map((line) => `${escapeLine(line)}\n`).join('')
}

function valueText(value: unknown): string {
  return value === undefined ? '<none>' : JSON.stringify(value as Json)
}

function readLimit(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a valid number of changes`)
  return Number(value)
}
