/**
 * `orchctl edit`: an object in the user's editor. What is saved is sent as a patch of what was changed; a file that is
 * not accepted comes up again with the reason on top. Nothing that was typed is lost: at the end it is in a file.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type OptionsOf, UsageError } from '../../base/flags.ts'
import { isConflict, StatusError } from '../../client/status-error.ts'
import { type ApiObject, asJson } from '../../model/object.ts'
import { liveOf } from '../changing.ts'
import { type Context, defineCommand } from '../command.ts'
import { connectionFlags } from '../connection-flags.ts'
import { explainError } from '../explain-error.ts'
import { singularName } from '../find-type.ts'
import { manifestsIn } from '../manifests/manifest.ts'
import { ManifestError } from '../manifests/manifest-error.ts'
import { patchFor } from '../patches/patch-for.ts'
import { printDocument, withoutManagedFields } from '../printers/objects.ts'
import { type Session, withSession } from '../session.ts'
import { fileFlags, findSubjects, type Subject } from '../subjects.ts'
import { fieldValidation, report, requestOptions, validateFlag, writeFlags } from '../writing.ts'

const { dryRun: _, ...written } = writeFlags
const flags = { ...fileFlags, ...written, validate: validateFlag, ...connectionFlags }

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
  const { context } = session
  const live = withoutManagedFields(await liveOf(session, { type: subject.type, name: subject.name }))
  const original = await printDocument(asJson(live), 'yaml')
  const directory = mkdtempSync(join(tmpdir(), 'orchctl-edit-'))
  const file = join(directory, 'object.yaml')
  let text = original
  let reason = ''
  for (;;) {
    writeFileSync(file, header(reason) + text, { mode: 0o600 })
    await runEditor(context, file)
    const saved = withoutHeader(readFileSync(file, 'utf8'))
    if (saved.trim() === '' || saved === text) {
      const kept = reason === '' ? '' : `; what you wrote is in ${file}`
      if (kept === '') rmSync(directory, { recursive: true, force: true })
      if (reason === '') return context.err('Edit cancelled, no changes made.\n')
      throw new UsageError(`edit cancelled, no valid changes were saved${kept}`)
    }
    text = saved
    try {
      context.out(await save(session, subject, { live, text, file, options }))
      return rmSync(directory, { recursive: true, force: true })
    } catch (error) {
      context.signal.throwIfAborted()
      if (!(error instanceof UsageError || error instanceof ManifestError)) throw error
      reason = await explainError(error)
    }
  }
}

async function runEditor({ env, runProgram }: Context, file: string): Promise<void> {
  const editor = env.KUBE_EDITOR || env.EDITOR || 'vi'
  // Through the shell, since it may have arguments: EDITOR='code --wait'.
  const code = await runProgram('sh', ['-c', `${editor} "$1"`, 'sh', file])
  if (code !== 0)
    throw new UsageError(`the editor ${JSON.stringify(editor)} ended with exit code ${code}: nothing was changed`)
}

const intro = `# Edit the object below. Lines that begin with '#' here at the top are ignored, and an empty file
# changes nothing. If what you save is not accepted, this file comes up again with the reason.
`

function header(reason: string): string {
  return `${intro}#\n${reason
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `# ${line}\n`)
    .join('')}`
}

function withoutHeader(text: string): string {
  return text.replace(/^(?:#.*\n)+/, '')
}

interface Saving {
  readonly live: ApiObject
  readonly text: string
  readonly file: string
  readonly options: Options
}

async function save(session: Session, subject: Subject, { live, text, file, options }: Saving): Promise<string> {
  const { type, name } = subject
  const manifests = await manifestsIn({ name: file, text })
  const [manifest] = manifests
  if (manifest === undefined || manifests.length > 1) throw new UsageError('the file must hold one object')
  const { object, origin } = manifest
  if (
    object.kind !== live.kind ||
    object.metadata.name !== live.metadata.name ||
    object.metadata.namespace !== live.metadata.namespace
  )
    throw new UsageError('kind, name and namespace of the object cannot be changed')
  const states = { original: asJson(live), modified: asJson(object), current: asJson(live) }
  const writing = { ...options, dryRun: 'none' } as const
  const patch = await patchFor(type, await session.types.vendor(), states)
  if (patch === undefined) return await report(writing, { type, object: live, done: 'skipped' })
  try {
    const request = { ...requestOptions(session, writing), fieldValidation: fieldValidation(options.validate) }
    return await report(writing, {
      type,
      object: await session.client.patch(type, name, { ...request, patch }),
      done: 'edited',
    })
  } catch (error) {
    if (!(error instanceof StatusError) || isConflict(error)) throw error
    throw new ManifestError({ origin, doing: 'saving', subject: `${singularName(type)}/${name.name}` }, error)
  }
}
