/**
 * Implements `orchctl apply`, which creates or updates objects from files. Client-side apply (the default) stores the
 * last applied configuration in an annotation and computes a three-way merge that preserves fields set by other
 * clients. With `--server-side`, the server merges and tracks the owner of each field.
 */
import { UsageError } from '../../../../base/flags/flags.ts'
import type { Subject } from '../../arguments/subjects.ts'
import { writeInOrder } from '../../changes/apply-order.ts'
import { report } from '../../changes/report-write.ts'
import { singularName } from '../../connection/find-type.ts'
import { type Session, withSession } from '../../connection/session.ts'
import { chosenManifests, type Manifest, readManifests } from '../../manifests/manifest.ts'
import { ManifestError } from '../../manifests/manifest-error.ts'
import { defineCommand } from '../../program/command.ts'
import { clientSideApply } from './client-side.ts'
import { type ApplyOptions, applyFlags } from './options.ts'
import { checkPrune, prune } from './prune.ts'
import { serverSideApply } from './server-side.ts'

export const applyCommand = defineCommand({
  name: 'apply',
  forms: ['-f FILE [flags]'],
  about: `Create or update objects from files: create missing objects, patch objects that differ, and leave all other objects unchanged.

Fields that a file no longer contains are removed from the object. Fields set by others are kept. With \`--server-side\`,
the server merges: it tracks the owner of every field, and rejects changes to fields that others own unless
\`--force-conflicts\` is set.`,
  examples: [
    'orchctl apply -f manifests/',
    'orchctl apply -f deployment.yaml --server-side',
    'orchctl apply -f manifests/ --prune -l app=web',
    'orchctl apply -f pod.yaml --dry-run=server -o yaml',
  ],
  flags: applyFlags,
  run: async (context, { options, words }) => {
    checkTogether(words, options)
    const manifests = await chosenManifests(await readManifests(context, options), options.selector)
    if (manifests.length === 0) throw new UsageError('no objects passed to apply')
    await withSession(context, options, async (session) => {
      const uids = new Set<string>()
      const subjects = await writeInOrder(session, manifests, {
        done: 'applied',
        lasting: options.dryRun === 'none',
        act: (subject, index) => applyOne(session, subject, { options, index, uids }),
      })
      if (options.prune) await prune(session, options, { subjects, uids })
    })
  },
})

function checkTogether(words: readonly string[], options: ApplyOptions): void {
  if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}: specify files with -f`)
  if (options.filename.length === 0) throw new UsageError('no files specified: use -f to specify the files to apply')
  if (options.forceConflicts && !options.serverSide)
    throw new UsageError('--force-conflicts only works with --server-side')
  if (options.force && options.serverSide)
    throw new UsageError('--force cannot be used with --server-side (did you mean --force-conflicts?)')
  if (options.force && options.dryRun === 'server')
    throw new UsageError(
      '--dry-run=server cannot be used with --force: the creation would fail because the object still exists',
    )
  if (options.serverSide && options.dryRun === 'client')
    throw new UsageError("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)")
  if (options.prune) checkPrune(options)
}

interface Application {
  readonly options: ApplyOptions
  readonly index: number
  /** UIDs of all applied objects. */
  readonly uids: Set<string>
}

async function applyOne(
  session: Session,
  subject: Subject & Manifest,
  { options, index, uids }: Application,
): Promise<string> {
  const { type, origin, name } = subject
  try {
    if (name.name === '')
      throw new UsageError(
        `${origin.name}: metadata.name is missing: apply requires a name (create -f supports generateName)`,
      )
    const { object, done } = await (options.serverSide ? serverSideApply : clientSideApply)(session, subject, options)
    if (object.metadata.uid !== undefined) uids.add(object.metadata.uid)
    return await report(options, { type, object, done, index })
  } catch (error) {
    throw new ManifestError({ origin, doing: 'applying', subject: `${singularName(type)}/${name.name}` }, error)
  }
}
