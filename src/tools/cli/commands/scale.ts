/** Implements `orchctl scale`, which sets the number of replicas through the `scale` subresource. */

import type { ApiObject } from '../../../api/model/object.ts'
import { flag, type OptionsOf, UsageError } from '../../../base/flags/flags.ts'
import { objectPath, typeName } from '../../../client/requests/resource-type.ts'
import { isNotFound } from '../../../client/requests/status-error.ts'
import { readWhole } from '../arguments/numbers.ts'
import { findSubjects, type Subject, subjectFlags } from '../arguments/subjects.ts'
import { bySubject, inBulk } from '../changes/bulk.ts'
import { noteCause, recordFlag } from '../changes/change-cause.ts'
import { liveOf, resourceVersionFlag } from '../changes/patch-command.ts'
import { withTypedSession } from '../changes/remove-nulls.ts'
import { report, requestOptions, writeFlags } from '../changes/report-write.ts'
import { waitFor } from '../changes/wait-for.ts'
import { connectionFlags, readTime } from '../connection/connection-flags.ts'
import type { Session } from '../connection/session.ts'
import { defineCommand } from '../program/command.ts'

const { fieldSelector: _, ...chosenBy } = subjectFlags

const flags = {
  replicas: flag({
    name: 'replicas',
    value: 'NUMBER',
    default: '-1',
    read: readWhole,
    help: 'desired number of replicas',
  }),
  currentReplicas: flag({
    name: 'current-replicas',
    value: 'NUMBER',
    default: '-1',
    read: readWhole,
    help: 'expected current number of replicas; the command fails if the number differs; -1 accepts any number',
  }),
  resourceVersion: resourceVersionFlag,
  timeout: flag({
    name: 'timeout',
    value: 'TIME',
    default: '0',
    read: readTime,
    help: 'maximum time to wait for the desired number of replicas; 0 to return immediately',
  }),
  ...chosenBy,
  ...writeFlags,
  record: recordFlag,
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const scaleCommand = defineCommand({
  name: 'scale',
  forms: [
    'TYPE NAME... --replicas=NUMBER [flags]',
    '(-f FILE | TYPE -l SELECTOR | TYPE --all) --replicas=NUMBER [flags]',
  ],
  about:
    'Set the number of replicas of a deployment, replica set, stateful set or any other kind with a scale subresource.',
  examples: [
    'orchctl scale deployment web --replicas=3',
    'orchctl scale deployment web --replicas=3 --current-replicas=2',
    'orchctl scale statefulsets -l app=db --replicas=0',
  ],
  flags,
  run: async (context, { options, words }) => {
    if (options.replicas < 0) throw new UsageError('--replicas=NUMBER is required, and must not be negative')
    await withTypedSession(context, options, async (session) => {
      const subjects = await findSubjects(session, words, { ...options, fieldSelector: '' })
      if (subjects.length === 0) throw new UsageError('no objects passed to scale')
      await inBulk(context, subjects, {
        ...bySubject,
        done: 'scaled',
        act: (subject, index) => scaleOne(session, subject, { options, index }),
      })
    })
  },
})

interface Scale extends ApiObject {
  spec?: { replicas?: number }
}

/** Returns a condition that is met when the status reports this number of replicas for the current generation. */
function hasReplicas(replicaCount: number): (object: ApiObject | undefined) => boolean {
  return (object) => {
    const { status, metadata } = (object ?? {}) as { status?: Reported; metadata?: { generation?: number } }
    const isRecent = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0)
    return object !== undefined && isRecent && (status?.replicas ?? 0) === replicaCount
  }
}

interface Reported {
  readonly replicas?: number
  readonly observedGeneration?: number
}

async function scaleOne(
  session: Session,
  subject: Subject,
  { options, index }: { options: Options; index: number },
): Promise<string> {
  const { type, name } = subject
  const live = await liveOf(session, subject)
  const path = objectPath(type, name, 'scale')
  const { client, context } = session
  const scale = await client.read<Scale>(path, { signal: context.signal }).catch((error: unknown) => {
    if (isNotFound(error)) throw new UsageError(`${typeName(type)} have no scale subresource`)
    throw error
  })
  const now = scale.spec?.replicas ?? 0
  if (options.currentReplicas >= 0 && now !== options.currentReplicas)
    throw new UsageError(`Expected replicas to be ${options.currentReplicas}, was ${now}`)
  if (options.resourceVersion !== '' && scale.metadata.resourceVersion !== options.resourceVersion)
    throw new UsageError(
      `Expected resource version to be ${options.resourceVersion}, was ${scale.metadata.resourceVersion}`,
    )
  if (options.dryRun === 'client') return await report(options, { type, object: live, done: 'scaled', index })
  const patch = {
    merge: {
      ...(options.currentReplicas < 0 && options.resourceVersion === ''
        ? {}
        : { metadata: { resourceVersion: scale.metadata.resourceVersion } }),
      spec: { replicas: options.replicas },
    },
  }
  await client.patch(type, name, { ...requestOptions(session, options), subresource: 'scale', patch })
  await noteCause(session, subject, options)
  if (options.timeout > 0 && options.dryRun === 'none')
    await waitFor(session, subject, { until: hasReplicas(options.replicas), timeoutMs: options.timeout })
  const object =
    options.output.form === '' || options.output.form === 'name'
      ? live
      : await client.get(type, name, { signal: context.signal })
  return await report(options, { type, object, done: 'scaled', index })
}
