/**
 * Implements `orchctl delete`, which deletes objects by file, name or selector. By default, it waits until the objects
 * no longer exist.
 */
import { flag, type OptionsOf, oneOf, refusedFlag, toggle, UsageError } from '../../../base/flags/flags.ts'
import type { DeleteOptions } from '../../../client/requests/client.ts'
import { isNotFound } from '../../../client/requests/status-error.ts'
import { findSubjects, type Subject, subjectFlags } from '../arguments/subjects.ts'
import { bySubject, inBulk } from '../changes/bulk.ts'
import { deletionFlags, deletionRequest, patienceOf } from '../changes/deletion.ts'
import { reportBlockers } from '../changes/deletion-blockers.ts'
import { dryRunNote, writeFlags } from '../changes/report-write.ts'
import { isGone, waitFor } from '../changes/wait-for.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { singularName } from '../connection/find-type.ts'
import { callRaw, rawFlag } from '../connection/raw.ts'
import { type Session, withSession } from '../connection/session.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand } from '../program/command.ts'

const flags = {
  ...subjectFlags,
  ...deletionFlags,
  now: toggle({ name: 'now', help: 'terminate pods quickly; the same as --grace-period=1' }),
  force: toggle({
    name: 'force',
    help: 'with --grace-period=0: delete a pod without waiting for its node to confirm that the pod has stopped',
  }),
  raw: rawFlag,
  interactive: refusedFlag('i,interactive', 'not implemented: --dry-run=server lists what would be deleted'),
  ignoreNotFound: toggle({ name: 'ignore-not-found', help: 'treat objects that do not exist as deleted' }),
  dryRun: writeFlags.dryRun,
  output: flag({
    name: 'output',
    letter: 'o',
    value: 'FORMAT',
    read: oneOf(['', 'name']),
    help: 'output format: name, which prints only the names',
  }),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const deleteCommand = defineCommand({
  name: 'delete',
  forms: [
    '-f FILE [flags]',
    'TYPE NAME... [flags]',
    'TYPE/NAME... [flags]',
    'TYPE[,TYPE...] (-l SELECTOR | --all) [flags]',
  ],
  about: 'Delete objects, and wait until they no longer exist.',
  examples: [
    'orchctl delete configmap greeting',
    'orchctl delete -f manifests/',
    'orchctl delete pods,services -l app=web',
    'orchctl delete configmaps --all -n test --wait=false',
  ],
  flags,
  run: async (context, { options, words }) => {
    if (options.raw !== '') return await callRaw(context, options, { method: 'DELETE', words, files: options })
    checkTogether(options)
    await withSession(context, options, async (session) => {
      const subjects = await findSubjects(session, words, options)
      if (subjects.length === 0)
        return context.out(options.filename.length > 0 || options.ignoreNotFound ? '' : 'No resources found\n')
      warn(session, subjects, options)
      const deletedSubjects: Subject[] = []
      await inBulk(context, subjects, {
        ...bySubject,
        done: 'deleted',
        act: (subject) => deleteOne(session, subject, { options, deletedSubjects }),
      })
      if (options.wait && options.dryRun === 'none') await waitUntilGone(session, deletedSubjects, options)
    })
  },
})

function checkTogether({ now, gracePeriod, force }: Options): void {
  if (now && gracePeriod !== -1) throw new UsageError('--now and --grace-period cannot be specified together')
  if (force && gracePeriod > 0)
    throw new UsageError('--force and --grace-period greater than 0 cannot be specified together')
}

function warn(
  { context, namespaceGiven }: Session,
  subjects: readonly Subject[],
  { force, allNamespaces }: Options,
): void {
  if (force)
    context.err(
      'warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n',
    )
  if (namespaceGiven && !allNamespaces && subjects.some(({ type }) => !type.namespaced))
    context.err('warning: deleting cluster-scoped resources, not scoped to the provided namespace\n')
}

async function deleteOne(
  session: Session,
  subject: Subject,
  { options, deletedSubjects }: { options: Options; deletedSubjects: Subject[] },
): Promise<string> {
  const { type, name } = subject
  try {
    if (options.dryRun === 'client') await session.client.get(type, name, { signal: session.context.signal })
    else deletedSubjects.push({ ...subject, ...(await deleted(session, subject, options)) })
  } catch (error) {
    if (options.ignoreNotFound && isNotFound(error)) return ''
    throw error
  }
  const nameText = escapeLine(name.name)
  if (options.output === 'name') return `${singularName(type)}/${nameText}\n`
  return `${singularName(type)} "${nameText}" ${options.force ? 'force deleted' : 'deleted'}${dryRunNote(options.dryRun)}\n`
}

/**
 * Returns the UID of the deleted object if the server reports it. The UID distinguishes the object from a later object
 * with the same name.
 */
async function deleted(session: Session, { type, name }: Subject, options: Options): Promise<{ uid?: string }> {
  const answer = await session.client.delete(type, name, { ...deleteOptions(options), signal: session.context.signal })
  const uid =
    'details' in answer
      ? (answer.details as { uid?: string } | undefined)?.uid
      : (answer as { metadata: { uid?: string } }).metadata.uid
  return uid === undefined ? {} : { uid }
}

function deleteOptions(options: Options): DeleteOptions {
  const request = deletionRequest({ ...options, gracePeriod: graceSeconds(options) })
  return { ...request, ...(options.dryRun === 'server' ? { dryRun: true } : {}) }
}

/**
 * Returns the grace period in seconds. A grace period of zero requires --force, because a pod is then deleted before
 * its node confirms that it has stopped. Without --force, a period of zero becomes one second.
 */
function graceSeconds({ now, force, gracePeriod }: Options): number {
  if (force) return 0
  return now || gracePeriod === 0 ? 1 : gracePeriod
}

async function waitUntilGone(
  session: Session,
  subjects: readonly (Subject & { uid?: string })[],
  options: Options,
): Promise<void> {
  await inBulk(session.context, subjects, {
    ...bySubject,
    done: 'gone',
    act: async (subject) => {
      const waiting = new AbortController()
      const blockerReports = reportBlockers(session, subject, waiting.signal)
      try {
        await waitFor(session, subject, { until: isGone(subject.uid), timeoutMs: patienceOf(options) })
      } finally {
        waiting.abort()
        await blockerReports
      }
      return ''
    },
  })
}
