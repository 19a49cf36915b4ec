/** `orchctl autoscale`: creates an autoscaler for a workload. */

import type { ApiObject } from '../../../api/model/object.ts'
import { flag, type OptionsOf, text, UsageError } from '../../../base/flags/flags.ts'
import { hasSubresource } from '../../../client/requests/discovery.ts'
import { readCount } from '../arguments/numbers.ts'
import { fileFlags, findSubjects, type Subject } from '../arguments/subjects.ts'
import { recordFlag } from '../changes/change-cause.ts'
import { liveOf } from '../changes/patch-command.ts'
import { withTypedSession } from '../changes/remove-nulls.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import type { Session } from '../connection/session.ts'
import { defineCommand } from '../program/command.ts'
import { createObject, creationFlags } from './create/generator.ts'

const flags = {
  ...fileFlags,
  max: flag({ name: 'max', value: 'NUMBER', read: readOptional, help: 'maximum number of replicas' }),
  min: flag({
    name: 'min',
    value: 'NUMBER',
    read: readOptional,
    help: 'minimum number of replicas; default: set by the server',
  }),
  cpuPercent: flag({
    name: 'cpu-percent',
    value: 'PERCENT',
    read: readOptional,
    help: 'target average CPU utilization in percent; default: set by the server',
  }),
  name: flag({
    name: 'name',
    value: 'NAME',
    read: text,
    help: "name of the autoscaler; default: the workload's name",
  }),
  ...creationFlags,
  record: recordFlag,
  ...connectionFlags,
}

/** Parses an optional number. Accepts -1, which kubectl uses for "not set". */
function readOptional(value: string): number | undefined {
  return value === '' || value === '-1' ? undefined : readCount(value)
}

export const autoscaleCommand = defineCommand({
  name: 'autoscale',
  forms: ['(TYPE NAME | TYPE/NAME | -f FILE) --max=NUMBER [--min=NUMBER] [flags]'],
  about: 'Create an autoscaler, which sets the number of replicas of a workload according to its CPU usage.',
  examples: ['orchctl autoscale deployment web --min=2 --max=10 --cpu-percent=80'],
  flags,
  run: async (context, { options, words }) => {
    const { max, min } = options
    if (max === undefined) throw new UsageError('required flag(s) "max" not set')
    if (max < 1) throw new UsageError(`--max=MAXPODS is required and must be at least 1, max: ${max}`)
    if (min !== undefined && max < min)
      throw new UsageError(`--max=MAXPODS must be larger or equal to --min=MINPODS, max: ${max}, min: ${min}`)
    await withTypedSession(context, options, async (session) => {
      const subjectOptions = { ...options, selector: '', fieldSelector: '', all: false, allNamespaces: false }
      for (const [index, subject] of (await findSubjects(session, words, subjectOptions)).entries()) {
        const scaler = await scalerFor(session, subject, options)
        context.out(await createObject(session, scaler, { options, done: 'autoscaled', index }))
      }
    })
  },
})

async function scalerFor(session: Session, subject: Subject, options: OptionsOf<typeof flags>): Promise<ApiObject> {
  // Use the object from the file, if any, because the object may not exist on the server yet.
  const { kind, apiVersion, metadata } = subject.object ?? (await liveOf(session, subject))
  const { client, context } = session
  if (!(await hasSubresource(client, { ...subject.type, subresource: 'scale' }, { signal: context.signal })))
    throw new UsageError(`cannot autoscale a ${kind}: it has no scale subresource`)
  const place = session.namespaceGiven ? { namespace: session.namespace } : {}
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: options.name || (metadata.name ?? ''), ...place },
    spec: {
      scaleTargetRef: { apiVersion, kind, name: metadata.name ?? '' },
      ...(options.min !== undefined && { minReplicas: options.min }),
      maxReplicas: options.max,
      ...(options.cpuPercent !== undefined && { targetCPUUtilizationPercentage: options.cpuPercent }),
    },
  } as ApiObject
}
