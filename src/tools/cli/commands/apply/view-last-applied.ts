/** Implements `orchctl apply view-last-applied`, which prints the last applied configurations of objects. */
import { flag, type OptionsOf, oneOf, UsageError } from '../../../../base/flags/flags.ts'
import { findSubjects, type Subject, subjectFlags } from '../../arguments/subjects.ts'
import { inBulk } from '../../changes/bulk.ts'
import { liveOf } from '../../changes/patch-command.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { type Session, withSession } from '../../connection/session.ts'
import { escapeText } from '../../printers/escape.ts'
import { printDocument } from '../../printers/objects.ts'
import { defineCommand } from '../../program/command.ts'
import { noRecord, recordOf } from './last-applied.ts'

const { fieldSelector: _, ...chosenBy } = subjectFlags

const flags = {
  output: flag({
    name: 'output',
    letter: 'o',
    value: 'FORMAT',
    default: 'yaml',
    read: oneOf(['yaml', 'json']),
    help: 'output format: yaml or json',
  }),
  ...chosenBy,
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const viewLastAppliedCommand = defineCommand({
  name: 'apply view-last-applied',
  forms: ['(TYPE NAME... | TYPE/NAME... | -f FILE | TYPE -l SELECTOR | TYPE --all) [flags]'],
  about: 'Show the last applied configuration of objects.',
  examples: ['orchctl apply view-last-applied deployment/web', 'orchctl apply view-last-applied -f web.yaml -o json'],
  flags,
  run: async (context, { options, words }) => {
    await withSession(context, options, async (session) => {
      const subjects = await findSubjects(session, words, { ...options, fieldSelector: '' })
      await inBulk(context, subjects, {
        sortOf: ({ type }) => type,
        done: 'read',
        act: (subject) => view(session, subject, options),
      })
    })
  },
})

async function view(session: Session, subject: Subject, { output, selector, all }: Options): Promise<string> {
  const record = recordOf(await liveOf(session, subject), await session.types.vendor())
  if (record === undefined) {
    // Objects that were never applied are skipped if a selector matched them, but cause an error if they were requested
    // by name.
    if (selector !== '' || all) return ''
    throw new UsageError(noRecord(subject))
  }
  if (output === 'yaml') return await printDocument(record, 'yaml')
  return escapeText(`${JSON.stringify(record, null, 2)}\n`)
}
