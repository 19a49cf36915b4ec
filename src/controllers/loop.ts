/**
 * What a control loop is: a name, what it follows, and one step that brings one object closer to what is wanted.
 *
 * A step is given a key and reads the state itself, so it may be called at any time, again and after a restart; it
 * says whether to look again. `startLoops` runs informers and queues and is their one owner: `stop` waits for all.
 */
import type { Backoff } from '../base/backoff.ts'
import type { Informer, ObjectChange } from '../client/informer.ts'
import type { ApiObject } from '../model/object.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { type StepOutcome, WorkQueue } from './work-queue.ts'
import type { WorkQueueMetrics } from './work-queue-metrics.ts'

export interface Loop {
  readonly name: string
  readonly sources: readonly Source[]
  /** How many keys at once; 4 if left out. */
  readonly concurrency?: number
  /** The growing pause before a key that failed, or is not done, comes again. */
  readonly backoff?: Backoff
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<StepOutcome>
}

/** An informer, and which keys its changes concern. Loops may share an informer. */
export interface Source {
  readonly informer: Pick<Informer, 'run' | 'synced'>
  readonly connect: (add: (key: string) => void) => () => void
}

/** Follows an informer: by the changed object's own key, unless `keysOf` says otherwise. */
export function follow<T extends ApiObject>(
  informer: Informer<T>,
  keysOf: (change: ObjectChange<T>) => Iterable<string> = ({ key }) => [key],
): Source {
  return {
    informer,
    connect: (add) =>
      informer.onChange((change) => {
        for (const key of keysOf(change)) add(key)
      }),
  }
}

export interface RunningLoops {
  /** Ends all loops and informers; resolves when nothing of theirs is under way. */
  stop(): Promise<void>
}

export interface LoopRecords {
  readonly log: Log
  readonly metrics: WorkQueueMetrics
}

export function startLoops(loops: readonly Loop[], records: LoopRecords): RunningLoops {
  const stop = new AbortController()
  const informers = new Set(loops.flatMap(({ sources }) => sources.map(({ informer }) => informer)))
  const running = [
    ...loops.map((loop) => runLoop(loop, records, stop.signal)),
    ...[...informers].map((informer) => informer.run(stop.signal)),
  ]
  return {
    stop: async () => {
      stop.abort()
      await Promise.all(running)
    },
  }
}

/** Steps begin when all sources have been listed: before that, what is missing is only not known yet. */
async function runLoop(loop: Loop, { log, metrics }: LoopRecords, signal: AbortSignal): Promise<void> {
  const queue = new WorkQueue({
    meter: (state) => metrics.open(loop.name, state),
    work: loop.reconcile,
    onError: (key, error) => log.error('a control loop failed', { loop: loop.name, key, ...errorFields(error) }),
    ...(loop.concurrency === undefined ? {} : { concurrency: loop.concurrency }),
    ...(loop.backoff === undefined ? {} : { backoff: loop.backoff }),
  })
  const disconnect = loop.sources.map(({ connect }) => connect((key) => queue.add(key)))
  await Promise.all(loop.sources.map(({ informer }) => informer.synced))
  await queue.run(signal)
  for (const end of disconnect) end()
}
