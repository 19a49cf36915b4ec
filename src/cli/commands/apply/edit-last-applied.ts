/** `orchctl apply edit-last-applied`: the record of what was applied, in the user's editor. The object stays as it is. */
import { type OptionsOf, UsageError } from '../../../base/flags.ts'
import { asObject } from '../../../model/object.ts'
import { liveOf } from '../../changing.ts'
import { defineCommand } from '../../command.ts'
import { connectionFlags } from '../../connection-flags.ts'
import { editText, windowsLineEndingsFlag } from '../../editing.ts'
import { noteCause, recordFlag } from '../../kept-notes.ts'
import { editedManifest } from '../../manifests/edited.ts'
import { printDocument } from '../../printers/objects.ts'
import { type Session, withSession } from '../../session.ts'
import { fileFlags, findSubjects, type Subject } from '../../subjects.ts'
import { report, requestOptions, writeFlags } from '../../writing.ts'
import { noRecord, recordOf, recordPatch, withRecord } from './last-applied.ts'

const { dryRun: _, ...written } = writeFlags
const flags = {
  ...fileFlags,
  ...written,
  windowsLineEndings: windowsLineEndingsFlag,
  record: recordFlag,
  ...connectionFlags,
}

export const editLastAppliedCommand = defineCommand({
  name: 'apply edit-last-applied',
  forms: ['(TYPE NAME | TYPE/NAME | -f FILE) [flags]'],
  about: `Opens in an editor what a file said when it was last applied, and records what was saved in its place.

The object itself does not change; the next \`orchctl apply\` goes by the new record.`,
  examples: ['orchctl apply edit-last-applied deployment/web'],
  flags,
  run: async (context, { options, words }) => {
    await withSession(context, options, async (session) => {
      const none = { selector: '', fieldSelector: '', all: false, allNamespaces: false }
      for (const subject of await findSubjects(session, words, { ...options, ...none }))
        await editRecord(session, subject, options)
    })
  },
})

async function editRecord(session: Session, { type, name }: Subject, options: OptionsOf<typeof flags>): Promise<void> {
  const vendor = await session.types.vendor()
  const record = recordOf(await liveOf(session, { type, name }), vendor)
  if (record === undefined)
    throw new UsageError(
      `${noRecord({ type, name })}; \`orchctl apply set-last-applied --create-annotation\` makes one`,
    )
  const writing = { ...options, dryRun: 'none' } as const
  await editText(session.context, {
    what: 'record of what was applied',
    windowsLineEndings: options.windowsLineEndings,
    original: await printDocument(record, 'yaml'),
    save: async (text, file) => {
      const { object: edited } = await editedManifest(asObject(record), { name: file, text })
      const patch = recordPatch(withRecord(edited, vendor), vendor)
      const object = await session.client.patch(type, name, { ...requestOptions(session, writing), patch })
      await noteCause(session, { type, name }, writing)
      return await report(writing, { type, object, done: 'edited' })
    },
  })
}
