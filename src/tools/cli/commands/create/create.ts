/** `orchctl create -f`: creates objects from files. */

import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import { flag, type OptionsOf, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { fileFlags, type Subject } from '../../arguments/subjects.ts'
import { writeInOrder } from '../../changes/apply-order.ts'
import { type NoteOptions, recordFlag, saveConfigFlag, withNotes } from '../../changes/change-cause.ts'
import { editText, windowsLineEndingsFlag } from '../../changes/editor.ts'
import {
  fieldValidation,
  report,
  requestOptions,
  validateFlag,
  type WritingOptions,
  writeFlags,
} from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { singularName } from '../../connection/find-type.ts'
import { callRaw, rawFlag } from '../../connection/raw.ts'
import { type Session, withSession } from '../../connection/session.ts'
import { chosenManifests, type Manifest, manifestsIn, readManifests } from '../../manifests/manifest.ts'
import { ManifestError } from '../../manifests/manifest-error.ts'
import { printDocument } from '../../printers/objects.ts'
import { defineCommand } from '../../program/command.ts'

const flags = {
  ...fileFlags,
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: 'label selector for objects in the files',
  }),
  edit: toggle({ name: 'edit', help: 'edit the objects in an editor before creating them' }),
  windowsLineEndings: windowsLineEndingsFlag,
  raw: rawFlag,
  ...writeFlags,
  saveConfig: saveConfigFlag,
  record: recordFlag,
  validate: validateFlag,
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const createCommand = defineCommand({
  name: 'create',
  forms: ['-f FILE [flags]', 'KIND NAME [flags]'],
  about: `Create objects from files, or one object described by flags.

A file contains JSON or YAML: one or more documents, or a List. If an object cannot be created, the others are still created.`,
  examples: [
    'orchctl create -f pod.yaml',
    'orchctl create -f manifests/ -R --dry-run=server',
    'cat pod.json | orchctl create -f -',
    'orchctl create configmap greeting --from-literal=hello=world',
  ],
  flags,
  run: async (context, { options, words }) => {
    if (options.raw !== '') return await callRaw(context, options, { method: 'POST', words, files: options })
    if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}`)
    if (options.filename.length === 0)
      throw new UsageError('specify files with -f, or a kind to create: see `orchctl create --help`')
    const manifests = await chosenManifests(await readManifests(context, options), options.selector)
    if (manifests.length === 0) throw new UsageError('no objects passed to create')
    await withSession(context, options, async (session) => {
      if (!options.edit) return await createAll(session, manifests, options)
      await editText(context, {
        what: 'objects',
        windowsLineEndings: options.windowsLineEndings,
        format: 'yaml',
        original: await documentsOf(manifests),
        save: async (text, name) => {
          await createAll(session, await manifestsIn({ name, text }), options)
          return ''
        },
      })
    })
  },
})

async function createAll(session: Session, manifests: readonly Manifest[], options: Options): Promise<void> {
  const validation = fieldValidation(options.validate)
  await writeInOrder(session, manifests, {
    done: 'created',
    lasting: options.dryRun === 'none',
    act: (subject, index) => createOne(session, subject, { options, validation, index }),
  })
}

async function documentsOf(manifests: readonly Manifest[]): Promise<string> {
  const texts = await Promise.all(manifests.map(({ object }) => printDocument(asJson(object), 'yaml')))
  return texts.join('---\n')
}

interface Creation {
  readonly options: WritingOptions & NoteOptions
  readonly validation: 'Strict' | 'Warn' | 'Ignore'
  readonly index: number
}

/** Removes the resourceVersion, which objects read from a server contain. The server rejects it in new objects. */
function withoutVersion(object: ApiObject): ApiObject {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

async function createOne(
  session: Session,
  subject: Subject & Manifest,
  { options, validation, index }: Creation,
): Promise<string> {
  const { type, origin } = subject
  const object = await withNotes(session, withoutVersion(subject.object), options)
  if (options.dryRun === 'client') return await report(options, { type, object, done: 'created', index })
  try {
    const created = await session.client.create(type, object, {
      ...requestOptions(session, options),
      fieldValidation: validation,
    })
    return await report(options, { type, object: created, done: 'created', index })
  } catch (error) {
    const name = `${singularName(type)}/${object.metadata.name ?? object.metadata.generateName ?? ''}`
    throw new ManifestError({ origin, doing: 'creating', subject: name }, error)
  }
}
