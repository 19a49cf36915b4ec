/** `orchctl history`: who changed an object, when, how and what. */
import { flag, type OptionsOf, toggle, UsageError } from '../../base/flags.ts'
import type { Json } from '../../model/json.ts'
import { defineCommand } from '../command.ts'
import { connectionFlags } from '../connection-flags.ts'
import { changesOf, type HistoryRevision, pastSubject } from '../past.ts'
import { Columns } from '../printers/columns.ts'
import { escapeLine } from '../printers/escape.ts'
import { withTypedSession } from '../without-nulls.ts'

const flags = {
  limit: flag('limit', 'NUMBER', '20', readLimit, 'the most changes to show'),
  values: toggle('values', 'with every field that changed, and its values before and after'),
  noHeaders: toggle('no-headers', 'without the line of headings'),
  ...connectionFlags,
}

export const historyCommand = defineCommand({
  name: 'history',
  forms: ['(TYPE NAME | TYPE/NAME) [flags]'],
  about: `Shows the changes of an object, the newest first: revision, time, user, field manager, verb, and what changed.

An object that was deleted has a history too. How far it reaches back is for the server to say
(--history-retention). Of Secrets it shows which keys changed, and no values.`,
  examples: [
    'orchctl history deployment/web',
    'orchctl history cm greeting --values',
    'orchctl history secret login --limit=100',
  ],
  flags,
  run: async (context, { options, words }) => {
    await withTypedSession(context, options, async (session) => {
      const subject = await pastSubject(session, words)
      const found: HistoryRevision[] = []
      for await (const revision of changesOf(session, subject)) {
        found.push(revision)
        if (found.length === options.limit) break
      }
      if (found.length === 0) return context.err(`No history of ${subject.type.plural} "${subject.name}" found.\n`)
      context.out(options.values ? found.map(withValues).join('') : tableOf(found, options))
    })
  },
})

function tableOf(found: readonly HistoryRevision[], { noHeaders }: OptionsOf<typeof flags>): string {
  const headings = ['REVISION', 'TIME', 'USER', 'MANAGER', 'VERB', 'CHANGED']
  const rows = found.map((revision) => [...headOf(revision), changedText(revision)].map(escapeLine))
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
  if (beyond) return '<before the history begins>'
  const paths = changes.map(({ path = '' }) => path)
  const more = paths.length > maxPaths ? ` and ${paths.length - maxPaths} more` : ''
  return paths.length === 0 ? '<nothing>' : `${paths.slice(0, maxPaths).join(', ')}${more}`
}

function withValues(revision: HistoryRevision): string {
  const lines = (revision.changes ?? []).map(({ path = '', before, after, concealed }) =>
    concealed ? `  ${path}: <secret>` : `  ${path}: ${valueText(before)} -> ${valueText(after)}`,
  )
  const gone = revision.deleted ? ['  removed'] : []
  return [headOf(revision).join('  '), ...gone, ...lines].map((line) => `${escapeLine(line)}\n`).join('')
}

function valueText(value: unknown): string {
  return value === undefined ? '<none>' : JSON.stringify(value as Json)
}

function readLimit(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a number of changes`)
  return Number(value)
}
