/** `orchctl edit`: an object in the user's editor. What is saved is sent as a patch of what was changed. */
import { flag, type OptionsOf, text, toggle } from '../../base/flags.ts'
import { isConflict, StatusError } from '../../client/status-error.ts'
import { type ApiObject, asJson } from '../../model/object.ts'
import { liveOf } from '../changing.ts'
import { defineCommand } from '../command.ts'
import { connectionFlags } from '../connection-flags.ts'
import { editText, windowsLineEndingsFlag } from '../editing.ts'
import { singularName } from '../find-type.ts'
import { noteCause, recordFlag, saveConfigFlag, withNotes } from '../kept-notes.ts'
import { editedManifest } from '../manifests/edited.ts'
import { ManifestError } from '../manifests/manifest-error.ts'
import { patchFor } from '../patches/patch-for.ts'
import { printDocument, withoutManagedFields } from '../printers/objects.ts'
import { type Session, withSession } from '../session.ts'
import { fileFlags, findSubjects, type Subject } from '../subjects.ts'
import { fieldValidation, report, requestOptions, validateFlag, writeFlags } from '../writing.ts'

const { dryRun: _, ...written } = writeFlags
const flags = {
  ...fileFlags,
  ...written,
  validate: validateFlag,
  saveConfig: saveConfigFlag,
  record: recordFlag,
  windowsLineEndings: windowsLineEndingsFlag,
  subresource: flag('subresource', 'NAME', '', text, 'edit a part with its own rules: status, scale'),
  outputPatch: toggle('output-patch', 'also print the patch that is sent'),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const editCommand = defineCommand({
  name: 'edit',
  forms: ['(TYPE NAME | TYPE/NAME | -f FILE) [flags]'],
  about: `Opens an object in an editor, and changes it to what was saved.

The editor is that of $KUBE_EDITOR, else of $EDITOR, else vi. A file that was not changed, or is empty, changes nothing.`,
  examples: ['orchctl edit configmap greeting', 'EDITOR=nano orchctl edit deployment/web'],
  flags,
  run: async (context, { options, words }) => {
    await withSession(context, options, async (session) => {
      const none = { selector: '', fieldSelector: '', all: false, allNamespaces: false }
      for (const subject of await findSubjects(session, words, { ...options, ...none }))
        await editOne(session, subject, options)
    })
  },
})

async function editOne(session: Session, subject: Subject, options: Options): Promise<void> {
  const live = withoutManagedFields(await editedPart(session, subject, options))
  await editText(session.context, {
    what: 'object',
    windowsLineEndings: options.windowsLineEndings,
    original: await printDocument(asJson(live), 'yaml'),
    save: (text, file) => save(session, subject, { live, text, file, options }),
  })
}

/** The object, or the part of it that is edited. */
async function editedPart(session: Session, { type, name }: Subject, { subresource }: Options): Promise<ApiObject> {
  if (subresource === '') return await liveOf(session, { type, name })
  return await session.client.get(type, name, { subresource, signal: session.context.signal })
}

interface Saving {
  readonly live: ApiObject
  readonly text: string
  readonly file: string
  readonly options: Options
}

async function save(session: Session, subject: Subject, { live, text, file, options }: Saving): Promise<string> {
  const { type, name } = subject
  const { object, origin } = await editedManifest(live, { name: file, text })
  const wanted = await withNotes(session, object, { saveConfig: options.saveConfig })
  const states = { original: asJson(live), modified: asJson(wanted), current: asJson(live) }
  const writing = { ...options, dryRun: 'none' } as const
  // A part of another kind, such as a Scale, is not described by the schema of the object.
  const patch = await patchFor({ ...type, kind: live.kind }, await session.types.vendor(), states)
  if (patch === undefined) return await report(writing, { type, object: live, done: 'skipped' })
  try {
    const part = options.subresource === '' ? {} : { subresource: options.subresource }
    const request = { ...requestOptions(session, writing), ...part, fieldValidation: fieldValidation(options.validate) }
    if (options.outputPatch) session.context.out(`Patch: ${JSON.stringify(Object.values(patch)[0])}\n`)
    const edited = await session.client.patch(type, name, { ...request, patch })
    await noteCause(session, subject, writing)
    return await report(writing, { type, object: edited, done: 'edited' })
  } catch (error) {
    if (!(error instanceof StatusError) || isConflict(error)) throw error
    throw new ManifestError({ origin, doing: 'saving', subject: `${singularName(type)}/${name.name}` }, error)
  }
}
