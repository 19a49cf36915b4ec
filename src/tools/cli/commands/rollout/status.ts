/** Implements `orchctl rollout status`, which shows the progress of a rollout and waits until it ends. */
import { flag, type OptionsOf, readBoolean, UsageError } from '../../../../base/flags/flags.ts'
import type { Subject } from '../../arguments/subjects.ts'
import { liveOf } from '../../changes/patch-command.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { waitFor } from '../../changes/wait-for.ts'
import { connectionFlags, readTime } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { defineCommand } from '../../program/command.ts'
import { progressOf } from './progress.ts'
import { readRevision, revisionKey, revisionNumber } from './revisions.ts'
import { findWorkloads, type Workload, workloadFlags } from './workloads.ts'

const flags = {
  watch: flag({
    name: 'watch',
    letter: 'w',
    default: 'true',
    read: readBoolean,
    help: 'wait for the rollout to finish; if false, print the current progress and exit',
  }),
  timeout: flag({
    name: 'timeout',
    value: 'TIME',
    default: '0',
    read: readTime,
    help: 'maximum time to wait; 0 for no limit',
  }),
  revision: flag({
    name: 'revision',
    value: 'NUMBER',
    default: '0',
    read: readRevision,
    help: 'expected revision of the rollout; the command fails if the revision differs; 0 accepts any revision',
  }),
  ...workloadFlags,
  ...connectionFlags,
}

export const statusCommand = defineCommand({
  name: 'rollout status',
  forms: ['(TYPE NAME | TYPE/NAME | TYPE | -f FILE) [flags]'],
  about: 'Show the progress of the rollouts of deployments, daemon sets and stateful sets, and wait until they finish.',
  examples: ['orchctl rollout status deployment/web', 'orchctl rollout status deployment/web --timeout=60s'],
  flags,
  run: async (context, { options, words }) => {
    await withTypedSession(context, options, async (session) => {
      const subjects = await findWorkloads(session, words, options)
      if (subjects.length === 0) throw new UsageError('no resources found')
      for (const subject of subjects) await statusOf(session, subject, options)
    })
  },
})

async function statusOf(session: Session, subject: Subject, options: OptionsOf<typeof flags>): Promise<void> {
  const key = revisionKey(await session.types.vendor())
  const look = (object: Workload | undefined): boolean => {
    if (object === undefined) throw new UsageError('object has been deleted')
    const progress = progressOf(subject, object)
    if (options.revision > 0n) checkRevision(revisionNumber(object.metadata.annotations?.[key]), options.revision)
    session.context.out(progress.text)
    return progress.done
  }
  // If the object does not exist, the command fails immediately. If the object is deleted later, the error is
  // different.
  const live = await liveOf(session, subject)
  if (!options.watch) return void look(live)
  await waitFor(session, subject, { until: look, timeoutMs: options.timeout || Number.MAX_SAFE_INTEGER })
}

function checkRevision(running: bigint, requestedRevision: bigint): void {
  if (running !== requestedRevision)
    throw new UsageError(`desired revision (${requestedRevision}) is different from the running revision (${running})`)
}
