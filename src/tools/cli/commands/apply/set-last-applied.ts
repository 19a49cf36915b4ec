/**
 * Implements `orchctl apply set-last-applied`, which records a file as the last applied configuration of an object and
 * changes nothing else. The next apply can then determine which fields it may remove, even from objects that were not
 * created by apply.
 */
import { type OptionsOf, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { fileFlags, type Subject, subjectsOf } from '../../arguments/subjects.ts'
import { bySubject, inBulk } from '../../changes/bulk.ts'
import { liveOf } from '../../changes/patch-command.ts'
import { report, requestOptions, writeFlags } from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { singularName } from '../../connection/find-type.ts'
import { type Session, withSession } from '../../connection/session.ts'
import { type Manifest, readManifests } from '../../manifests/manifest.ts'
import { ManifestError } from '../../manifests/manifest-error.ts'
import { escapeLine } from '../../printers/escape.ts'
import { defineCommand } from '../../program/command.ts'
import { lastAppliedKey, noRecord, recordPatch, withRecord } from './last-applied.ts'

const flags = {
  createAnnotation: toggle({
    name: 'create-annotation',
    help: 'also create the annotation on objects that have no last applied configuration yet',
  }),
  ...fileFlags,
  ...writeFlags,
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const setLastAppliedCommand = defineCommand({
  name: 'apply set-last-applied',
  forms: ['-f FILE [flags]'],
  about: `Record the contents of files as the last applied configuration, and change nothing else.

The next \`orchctl apply\` removes fields that the recorded file contains and the new file does not.`,
  examples: [
    'orchctl apply set-last-applied -f web.yaml',
    'orchctl apply set-last-applied -f web.yaml --create-annotation',
  ],
  flags,
  run: async (context, { options, words }) => {
    if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}: specify files with -f`)
    if (options.filename.length === 0)
      throw new UsageError('no files specified: use -f to specify the files with the last applied configuration')
    const manifests = await readManifests(context, options)
    await withSession(context, options, async (session) => {
      await inBulk(context, await subjectsOf(session, manifests), {
        ...bySubject,
        done: 'recorded',
        act: (subject, index) => record(session, subject, { options, index }),
      })
    })
  },
})

async function record(
  session: Session,
  subject: Subject & Manifest,
  { options, index }: { options: Options; index: number },
): Promise<string> {
  const { type, name, origin } = subject
  try {
    const vendor = await session.types.vendor()
    const live = await liveOf(session, { type, name })
    const before = live.metadata.annotations?.[lastAppliedKey(vendor)]
    if (before === undefined && !options.createAnnotation)
      throw new UsageError(`${noRecord(subject)}; --create-annotation creates the annotation`)
    const next = withRecord(subject.object, vendor)
    if (before === next.metadata.annotations?.[lastAppliedKey(vendor)])
      return `set-last-applied ${escapeLine(name.name)}: no changes required.\n`
    const patch = recordPatch(next, vendor)
    const object =
      options.dryRun === 'client'
        ? live
        : await session.client.patch(type, name, { ...requestOptions(session, options), patch })
    return await report(options, { type, object, done: 'configured', index })
  } catch (error) {
    throw new ManifestError({ origin, doing: 'recording', subject: `${singularName(type)}/${name.name}` }, error)
  }
}
