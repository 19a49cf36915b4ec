/**
 * Sets the condition Supported of KWOK objects, which shows whether simulated nodes use the object or, if not, which of
 * its fields they do not support.
 */
import type { Json } from '../../../api/json/json.ts'
import { asJson, timestamp } from '../../../api/model/object.ts'
import { type Sliced, slicedValue, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey, objectKey } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import { readTemplatedStage } from '../stages/read-templated-stage.ts'
import { StageError } from '../stages/stage-error.ts'
import { firstObjects, maxObjects } from './compiled-objects.ts'
import { execRules } from './exec-objects.ts'
import { type KwokCondition, type KwokObject, kwokKinds, kwokType } from './kinds.ts'
import { attachRules, logRules } from './log-objects.ts'
import { readMetric } from './metric-objects.ts'
import { type RuleType, readClusterRules, readOwnRules } from './pod-rules.ts'
import { portRules } from './port-objects.ts'
import { usageRules } from './usage-objects.ts'

export interface ReportParts {
  /** Client with permission to read KWOK objects and write their status. */
  readonly client: Client
  readonly clock: Clock
  /** Resolves once the API server serves KWOK's kinds. */
  readonly installed: Promise<void>
  /** Whether a log directory is configured. If not, Logs and ClusterLogs objects are reported as unsupported. */
  readonly readsLogs: boolean
  readonly onError: (error: unknown) => void
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
function readersOf({ readsLogs }: Pick<ReportParts, 'readsLogs'>): { [name in keyof typeof kwokKinds]: Reader } {
  const ifLogsAreRead = (reader: Reader) => (readsLogs ? reader : refuseLogs)
  return {
    stage: (object) => slicedValue(readTemplatedStage(object)),
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

/** Returns the loops that report KWOK objects, one per kind. */
export function reportKwokObjectsLoops(parts: ReportParts): Loop[] {
  const readers = readersOf(parts)
  return (Object.keys(readers) as (keyof typeof kwokKinds)[]).map((name) => reportLoop(name, readers[name], parts))
}

function refuseLogs(): never {
  throw new StageError('the server reads no log files: set the flag --simulation-logs to a directory with log files')
}

function reportLoop(
  name: keyof typeof kwokKinds,
  read: Reader,
  { client, clock, installed, onError }: ReportParts,
): Loop {
  const type = kwokType(kwokKinds[name])
  const informer = new Informer(client, type, { onError })
  const feed = {
    run: async (signal: AbortSignal) => {
      await Promise.race([installed, new Promise((resolve) => signal.addEventListener('abort', resolve))])
      await informer.run(signal)
    },
    synced: informer.synced,
  }
  return {
    name: `kwok-${type.plural}`,
    sources: [
      {
        feed,
        connect: (add) =>
          informer.onChange(({ key, object }) => {
            if (object !== undefined) add(key)
            // If the maximum was exceeded, deleting one object lets another take effect, so check all of them.
            else if (!type.namespaced && informer.size >= maxObjects)
              for (const each of informer.objects()) add(objectKey(each))
          }),
      },
    ],
    reconcile: async (key, signal) => {
      const object = informer.get(nameOfKey(key))
      if (object === undefined) return 'done'
      const condition = await conditionOf(object, informer, { read, now: clock.now() })
      const previous = object.status?.conditions?.find(({ type: each }) => each === condition.type)
      if (previous?.status === condition.status && previous.message === condition.message) return 'done'
      const others = (object.status?.conditions ?? []).filter(({ type: each }) => each !== condition.type)
      const status = { ...object.status, conditions: [...others, condition] }
      try {
        await client.update(type, { ...object, status }, { subresource: 'status', signal })
      } catch (error) {
        // Ignore a conflict or a 404: the change to the object triggers it again.
        if (!isConflict(error) && !isNotFound(error)) throw error
      }
      return 'done'
    },
  }
}

async function conditionOf(
  object: KwokObject,
  informer: Informer<KwokObject>,
  { read, now }: { readonly read: Reader; readonly now: number },
): Promise<KwokCondition> {
  const result = await readSliced(read, object)
  const isIncluded = informer.type.namespaced || informer.size <= maxObjects || firstObjects(informer).includes(object)
  const [reason, message] =
    result instanceof StageError
      ? ['NotSupported', result.message]
      : isIncluded
        ? ['Supported', '']
        : ['TooManyObjects', `only the first ${maxObjects} objects by name apply`]
  const status = reason === 'Supported' ? 'True' : 'False'
  return { type: 'Supported', status, reason, message, lastTransitionTime: timestamp(now) }
}

/**
 * Reads an object in several turns, because compiling many expressions takes a long time. Returns the error, if any.
 */
async function readSliced(read: Reader, object: KwokObject): Promise<unknown> {
  try {
    return await new TimeSlice().run(read(asJson(object)))
  } catch (error) {
    if (error instanceof StageError) return error
    throw error
  }
}
