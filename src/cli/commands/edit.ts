/**
 * `orchctl edit`: objects in the user's editor, several as one List. What is saved is sent as a patch of what was changed,
 * one for each object; one that is refused does not hold up the others.
 */
import { flag, type OptionsOf, text, toggle, UsageError } from '../../base/flags.ts'
import { StatusError } from '../../client/status-error.ts'
import { type ApiObject, asJson } from '../../model/object.ts'
import { inBulk } from '../bulk.ts'
import { liveOf } from '../changing.ts'
import { defineCommand } from '../command.ts'
import { connectionFlags } from '../connection-flags.ts'
import { editText, windowsLineEndingsFlag } from '../editing.ts'
import { singularName } from '../find-type.ts'
import { noteCause, recordFlag, saveConfigFlag, withNotes } from '../kept-notes.ts'
import { editedManifests } from '../manifests/edited.ts'
import type { Manifest } from '../manifests/manifest.ts'
import { ManifestError } from '../manifests/manifest-error.ts'
import { patchFor } from '../patches/patch-for.ts'
import { printDocument, withoutManagedFields } from '../printers/objects.ts'
import { type Session, withSession } from '../session.ts'
import { fileFlags, findSubjects, type Subject } from '../subjects.ts'
import { readWanted } from '../targets.ts'
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
  forms: ['(TYPE [NAME...] | TYPE/NAME... | -f FILE) [flags]'],
  about: `Opens objects in an editor, and changes them to what was saved: those that are named, or all of a type.

The editor is that of $KUBE_EDITOR, else of $EDITOR, else vi. Several objects come up as one List. A file that was not
changed, or is empty, changes nothing; an object that is taken out of the List stays as it is.`,
  examples: ['orchctl edit configmap greeting', 'EDITOR=nano orchctl edit deployment/web', 'orchctl edit services'],
  flags,
  run: async (context, { options, words }) => {
    await withSession(context, options, async (session) => {
      const parts = await readParts(session, await subjectsToEdit(session, words, options), options)
      if (parts.length === 0) throw new UsageError('edit cancelled, no objects found')
      const saved = new Map<Part, string>()
      await editText(context, {
        what: parts.length === 1 ? 'object' : 'objects',
        windowsLineEndings: options.windowsLineEndings,
        original: await textOf(parts),
        save: (text, name) => saveAll(session, parts, { source: { name, text }, saved, options }),
      })
    })
  },
})

async function subjectsToEdit(session: Session, words: readonly string[], options: Options): Promise<Subject[]> {
  const all = options.filename.length === 0 && readWanted(words).every(({ name }) => name === undefined)
  const selection = { selector: '', fieldSelector: '', all, allNamespaces: false }
  return await findSubjects(session, words, { ...options, ...selection })
}

/** An object, or a part of it, as it was when the editor opened. */
interface Part extends Subject {
  readonly live: ApiObject
}

async function readParts(session: Session, subjects: readonly Subject[], { subresource }: Options): Promise<Part[]> {
  const read = async (subject: Subject) =>
    subresource === ''
      ? await liveOf(session, subject)
      : await session.client.get(subject.type, subject.name, { subresource, signal: session.context.signal })
  return await Promise.all(
    subjects.map(async (subject) => ({ ...subject, live: withoutManagedFields(await read(subject)) })),
  )
}

async function textOf(parts: readonly Part[]): Promise<string> {
  const [first, ...more] = parts.map(({ live }) => asJson(live))
  if (more.length === 0) return await printDocument(first!, 'yaml')
  return await printDocument({ apiVersion: 'v1', items: [first!, ...more], kind: 'List', metadata: {} }, 'yaml')
}

interface Saving {
  readonly source: { readonly name: string; readonly text: string }
  /** What the server has taken of each part: it is not sent again when the text comes up again for another part. */
  readonly saved: Map<Part, string>
  readonly options: Options
}

async function saveAll(session: Session, parts: readonly Part[], { source, saved, options }: Saving): Promise<string> {
  const lives = parts.map(({ live }) => live)
  const edited = (await editedManifests(lives, source)).flatMap((manifest, i) =>
    manifest === undefined ? [] : [{ part: parts[i]!, manifest, wanted: JSON.stringify(manifest.object) }],
  )
  await inBulk(
    session.context,
    edited.filter(({ part, wanted }) => saved.get(part) !== wanted),
    {
      sortOf: ({ part }) => part.type,
      done: 'edited',
      act: async ({ part, manifest, wanted }, index) => {
        const text = await saveOne(session, part, { manifest, options, index })
        saved.set(part, wanted)
        return text
      },
    },
  )
  return ''
}

async function saveOne(
  session: Session,
  part: Part,
  { manifest, options, index }: { manifest: Manifest; options: Options; index: number },
): Promise<string> {
  const { type, name, live } = part
  const wanted = await withNotes(session, manifest.object, { saveConfig: options.saveConfig })
  const states = { original: asJson(live), modified: asJson(wanted), current: asJson(live) }
  const writing = { ...options, dryRun: 'none' } as const
  // A part of another kind, such as a Scale, is not described by the schema of the object.
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
