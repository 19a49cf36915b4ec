/**
 * Sets the condition Supported of KWOK objects. The condition shows whether simulated nodes support an object and, if
 * not, which of its fields are unsupported.
 */
import type { Json } from '../../../api/json/json.ts'
import { asJson, timestamp } from '../../../api/model/object.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { type Sliced, slicedValue, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import type { Source } from '../../../client/reconcile/sources.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey, type ObjectName, objectKey } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import { StageError } from '../stages/stage-error.ts'
import { firstObjects, maxObjects } from './compiled-objects.ts'
import { execRules } from './exec-objects.ts'
import type { FollowedKinds, FollowedObjects } from './follow-objects.ts'
import { type KwokCondition, type KwokObject, kwokKinds } from './kinds.ts'
import { attachRules, logRules } from './log-objects.ts'
import { readMetric } from './metric-objects.ts'
import { type RuleType, readClusterRules, readOwnRules } from './pod-rules.ts'
import { portRules } from './port-objects.ts'
import { readStageObject } from './stage-objects.ts'
import type { StagedKinds } from './staged-kinds.ts'
import { usageRules } from './usage-objects.ts'

export interface ReportParts {
  /** Client with permission to write the status of KWOK objects. */
  readonly client: Client
  readonly clock: Clock
  readonly vendor: Vendor
  /** Reports the valid stages that have no effect at the moment. */
  readonly stagedKinds: Pick<StagedKinds, 'problemOf' | 'onProblem'>
  /** Whether a log directory is configured. If not, Logs and ClusterLogs objects are reported as unsupported. */
  readonly readsLogs: boolean
}

/** Parses an object of one kind. Throws StageError if the object is not supported. */
type Reader = (object: Json) => Sliced<unknown>

const ownReader =
  <R>(type: RuleType<R>): Reader =>
  (object) =>
    slicedValue(readOwnRules(type, object))

const clusterReader =
  <R>(type: RuleType<R>): Reader =>
  (object) =>
    slicedValue(readClusterRules(type, object))

/** Returns a reader for each KWOK kind. */
function readersOf({ readsLogs, vendor }: Pick<ReportParts, 'readsLogs' | 'vendor'>): {
  [name in keyof typeof kwokKinds]: Reader
} {
  const ifLogsAreRead = (reader: Reader) => (readsLogs ? reader : refuseLogs)
  return {
    stage: (object) => slicedValue(readStageObject(object, vendor)),
    resourceUsage: ownReader(usageRules),
    clusterResourceUsage: clusterReader(usageRules),
    logs: ifLogsAreRead(ownReader(logRules)),
    clusterLogs: ifLogsAreRead(clusterReader(logRules)),
    attach: ifLogsAreRead(ownReader(attachRules)),
    clusterAttach: ifLogsAreRead(clusterReader(attachRules)),
    exec: ownReader(execRules),
    clusterExec: clusterReader(execRules),
    portForward: ownReader(portRules),
    clusterPortForward: clusterReader(portRules),
    metric: readMetric,
  }
}

function refuseLogs(): never {
  throw new StageError('log files are disabled: set --simulation-logs to a directory with log files')
}

/** An informer of KWOK objects, with the reader of its kind. */
interface ReportedKind {
  readonly informer: Informer<KwokObject>
  readonly read: Reader
}

/** Returns the loop. Its keys have the form `<plural>/<name>` or `<plural>/<namespace>/<name>`. */
export function reportLoop(followed: FollowedKinds, parts: ReportParts): Loop {
  const readers = readersOf(parts)
  const names = Object.keys(followed) as (keyof FollowedKinds)[]
  const kinds = new Map<string, ReportedKind>(
    names.map((name) => [kwokKinds[name].plural, { informer: followed[name].informer, read: readers[name] }]),
  )
  return {
    name: 'kwok-objects',
    sources: [
      ...names.map((name) => reportSource(followed[name])),
      { connect: (add) => parts.stagedKinds.onProblem((name) => add(`${kwokKinds.stage.plural}/${name}`)) },
    ],
    reconcile: async (key, signal) => {
      const plural = key.slice(0, key.indexOf('/'))
      const name = nameOfKey(key.slice(plural.length + 1))
      await report({ name, ...kinds.get(plural)! }, parts, signal)
      return 'done'
    },
  }
}

function reportSource({ informer, feed }: FollowedObjects): Source {
  const { plural, namespaced } = informer.type
  return {
    feed,
    connect: (add) =>
      informer.onChange(({ key, object }) => {
        if (object !== undefined) add(`${plural}/${key}`)
        // If there were too many objects, deleting one object lets another object take effect, so check all of them.
        else if (!namespaced && informer.size >= maxObjects)
          for (const each of informer.objects()) add(`${plural}/${objectKey(each)}`)
      }),
  }
}

async function report(
  { name, informer, read }: ReportedKind & { readonly name: ObjectName },
  { client, clock, stagedKinds }: ReportParts,
  signal: AbortSignal,
): Promise<void> {
  const object = informer.get(name)
  if (object === undefined) return
  const isStage = informer.type.plural === kwokKinds.stage.plural
  const problem = isStage ? stagedKinds.problemOf(name.name) : undefined
  const condition = await conditionOf(object, informer, { read, problem, now: clock.now() })
  const previous = object.status?.conditions?.find(({ type: each }) => each === condition.type)
  if (previous?.status === condition.status && previous.message === condition.message) return
  const others = (object.status?.conditions ?? []).filter(({ type: each }) => each !== condition.type)
  const status = { ...object.status, conditions: [...others, condition] }
  try {
    await client.update(informer.type, { ...object, status }, { subresource: 'status', signal })
  } catch (error) {
    // Ignore a conflict or a 404: the change to the object triggers another reconcile.
    if (!isConflict(error) && !isNotFound(error)) throw error
  }
}

async function conditionOf(
  object: KwokObject,
  informer: Informer<KwokObject>,
  { read, problem, now }: { readonly read: Reader; readonly problem: string | undefined; readonly now: number },
): Promise<KwokCondition> {
  const result = await readSliced(read, object)
  const isIncluded = informer.type.namespaced || informer.size <= maxObjects || firstObjects(informer).includes(object)
  const [reason, message] =
    result instanceof StageError
      ? ['NotSupported', result.message]
      : !isIncluded
        ? ['TooManyObjects', `only the first ${maxObjects} objects by name apply`]
        : problem !== undefined
          ? ['NotFollowed', problem]
          : ['Supported', '']
  const status = reason === 'Supported' ? 'True' : 'False'
  return { type: 'Supported', status, reason, message, lastTransitionTime: timestamp(now) }
}

/**
 * Reads an object in several time slices, because compiling many expressions takes a long time. Returns the error, if
 * any.
 */
async function readSliced(read: Reader, object: KwokObject): Promise<unknown> {
  try {
    return await new TimeSlice().run(read(asJson(object)))
  } catch (error) {
    if (error instanceof StageError) return error
    throw error
  }
}
