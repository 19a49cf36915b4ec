/**
 * Implements `orchctl edit`, which opens objects in the user's editor. Several objects are opened as one List. The
 * command sends each edited object as a patch. If the server rejects a patch, the others are still sent.
 */

import { asJson } from '../../../api/model/object.ts'
import { flag, type OptionsOf, text, toggle, UsageError } from '../../../base/flags/flags.ts'
import { StatusError } from '../../../client/requests/status-error.ts'
import { fileFlags, findSubjects, type Subject } from '../arguments/subjects.ts'
import { readTargetWords } from '../arguments/targets.ts'
import { noteCause, recordFlag, saveConfigFlag, withNotes } from '../changes/change-cause.ts'
import { type EditedPart, editObjects } from '../changes/edit-objects.ts'
import { editedFormat, windowsLineEndingsFlag } from '../changes/editor.ts'
import { liveOf } from '../changes/patch-command.ts'
import { fieldValidation, report, requestOptions, validateFlag, writeFlags } from '../changes/report-write.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { singularName } from '../connection/find-type.ts'
import { type Session, withSession } from '../connection/session.ts'
import type { Manifest } from '../manifests/manifest.ts'
import { ManifestError } from '../manifests/manifest-error.ts'
import { patchFor } from '../patches/patch-for.ts'
import { withoutManagedFields } from '../printers/objects.ts'
import { defineCommand } from '../program/command.ts'

const { dryRun: _, ...written } = writeFlags
const flags = {
  ...fileFlags,
  ...written,
  validate: validateFlag,
  saveConfig: saveConfigFlag,
  record: recordFlag,
  windowsLineEndings: windowsLineEndingsFlag,
  subresource: flag({
    name: 'subresource',
    value: 'NAME',
    read: text,
    help: 'subresource to edit, such as status or scale',
  }),
  outputPatch: toggle({ name: 'output-patch', help: 'also print the patch' }),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const editCommand = defineCommand({
  name: 'edit',
  forms: ['(TYPE [NAME...] | TYPE/NAME... | -f FILE) [flags]'],
  about: `Edit the named objects, or all objects of a type, in an editor, and update the changed objects.

The editor is $KUBE_EDITOR, or otherwise $EDITOR or vi. Several objects open as one List. Saving an unchanged or empty
file changes nothing. Objects that you remove from the List stay unchanged.`,
  examples: ['orchctl edit configmap greeting', 'EDITOR=nano orchctl edit deployment/web', 'orchctl edit services'],
  flags,
  run: async (context, { options, words }) => {
    await withSession(context, options, async (session) => {
      const parts = await readParts(session, await subjectsToEdit(session, words, options), options)
      if (parts.length === 0) throw new UsageError('edit cancelled, no objects found')
      await editObjects(session, parts, {
        what: 'object',
        windowsLineEndings: options.windowsLineEndings,
        format: editedFormat(options.output),
        saveOne: (part, { manifest, index }) => saveOne(session, part, { manifest, options, index }),
      })
    })
  },
})

async function subjectsToEdit(session: Session, words: readonly string[], options: Options): Promise<Subject[]> {
  const all = options.filename.length === 0 && readTargetWords(words).every(({ name }) => name === undefined)
  const selection = { selector: '', fieldSelector: '', all, allNamespaces: false }
  return await findSubjects(session, words, { ...options, ...selection })
}

async function readParts(
  session: Session,
  subjects: readonly Subject[],
  { subresource }: Options,
): Promise<EditedPart[]> {
  const read = async (subject: Subject) =>
    subresource === ''
      ? await liveOf(session, subject)
      : await session.client.get(subject.type, subject.name, { subresource, signal: session.context.signal })
  return await Promise.all(
    subjects.map(async (subject) => ({ ...subject, editable: withoutManagedFields(await read(subject)) })),
  )
}

async function saveOne(
  session: Session,
  part: EditedPart,
  { manifest, options, index }: { manifest: Manifest; options: Options; index: number },
): Promise<string> {
  const { type, name, editable: live } = part
  const editedObject = await withNotes(session, manifest.object, { saveConfig: options.saveConfig })
  const states = { original: asJson(live), modified: asJson(editedObject), current: asJson(live) }
  const writing = { ...options, dryRun: 'none' } as const
  // Use the kind of the returned object, because a subresource may have a different kind, such as Scale, and therefore
  // a different schema.
  const patch = await patchFor({ ...type, kind: live.kind }, await session.types.vendor(), states)
  if (patch === undefined) return await report(writing, { type, object: live, done: 'skipped', index })
  try {
    const subresource = options.subresource === '' ? {} : { subresource: options.subresource }
    const validation = { fieldValidation: fieldValidation(options.validate) }
    if (options.outputPatch) session.context.out(`Patch: ${JSON.stringify(Object.values(patch)[0])}\n`)
    const request = { ...requestOptions(session, writing), ...subresource, ...validation, patch }
    const object = await session.client.patch(type, name, request)
    await noteCause(session, part, writing)
    return await report(writing, { type, object, done: 'edited', index })
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw new ManifestError(
      { origin: manifest.origin, doing: 'saving', subject: `${singularName(type)}/${name.name}` },
      error,
    )
  }
}
