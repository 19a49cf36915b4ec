/**
 * Implements `orchctl rollout pause`, `resume` and `restart`, which change a field of a workload to stop or start a
 * rollout.
 */

import { timestamp } from '../../../../api/model/object.ts'
import { vendorKey } from '../../../../api/model/vendor.ts'
import { type OptionsOf, UsageError } from '../../../../base/flags/flags.ts'
import type { Subject } from '../../arguments/subjects.ts'
import { changeSubjects } from '../../changes/patch-command.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { writeFlags } from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { type Command, defineCommand } from '../../program/command.ts'
import { allOfType, called, rolloutKind, type Workload, workloadFlags } from './workloads.ts'

const flags = { ...workloadFlags, ...writeFlags, ...connectionFlags }

interface Switch {
  readonly name: string
  readonly about: string
  readonly examples: readonly string[]
  /** Past participle of the operation, such as `paused`, for the report line. */
  readonly done: string
  /** Returns the fields of the spec to set. Throws UsageError if the rollout is already in the requested state. */
  readonly specOf: (live: Workload, subject: Subject, session: Session) => Promise<object> | object
}

function defineSwitch({ name, about, examples, done, specOf }: Switch): Command {
  return defineCommand({
    name: `rollout ${name}`,
    forms: ['(TYPE NAME | TYPE/NAME | TYPE | -f FILE) [flags]'],
    about,
    examples,
    flags,
    run: async (context, { options, words }: { options: OptionsOf<typeof flags>; words: readonly string[] }) => {
      await withTypedSession(context, options, async (session) => {
        await changeSubjects(session, words, {
          options: { ...options, ...allOfType(words, options) },
          unchanged: `not ${done}`,
          changeOf: async (live: Workload, subject) => {
            const spec = await specOf(live, subject, session)
            return { patch: { merge: { spec } }, done, next: { ...live, spec: { ...live.spec, ...spec } } }
          },
        })
      })
    },
  })
}

export const pauseCommand = defineSwitch({
  name: 'pause',
  about: 'Pause the rollout of deployments. Template changes take effect after `orchctl rollout resume`.',
  examples: ['orchctl rollout pause deployment/web'],
  done: 'paused',
  specOf: ({ spec }, subject) => {
    if (rolloutKind(subject) !== 'Deployment') throw new UsageError(`${called(subject)} pausing is not supported`)
    if (spec?.paused) throw new UsageError(`${called(subject)} is already paused`)
    return { paused: true }
  },
})

export const resumeCommand = defineSwitch({
  name: 'resume',
  about: 'Resume the rollout of paused deployments.',
  examples: ['orchctl rollout resume deployment/web'],
  done: 'resumed',
  specOf: ({ spec }, subject) => {
    if (rolloutKind(subject) !== 'Deployment') throw new UsageError(`${called(subject)} resuming is not supported`)
    if (!spec?.paused) throw new UsageError(`${called(subject)} is not paused`)
    return { paused: false }
  },
})

export const restartCommand = defineSwitch({
  name: 'restart',
  about: 'Restart deployments, daemon sets and stateful sets: replace their pods with a rollout.',
  examples: ['orchctl rollout restart deployment/web', 'orchctl rollout restart deployments -l app=web'],
  done: 'restarted',
  specOf: async ({ spec }, subject, session) => {
    if (rolloutKind(subject) === undefined) throw new UsageError(`${called(subject)} restarting is not supported`)
    if (spec?.paused)
      throw new UsageError(`${called(subject)} can't restart paused deployment (run rollout resume first)`)
    const key = vendorKey(await session.types.vendor(), 'restartedAt', 'kubectl')
    return { template: { metadata: { annotations: { [key]: timestamp(Date.now()) } } } }
  },
})
