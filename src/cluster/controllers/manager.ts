/**
 * Runs the control loops of the table in parallel. Each loop gets a client for its own service account, loops share
 * informers, and loops that cannot run are logged. The caller provides the clients.
 */

import type { ApiObject } from '../../api/model/object.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { type Emulation, isAvailable } from '../../api/versions/availability.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { EventRecorder } from '../../client/informers/event-recorder.ts'
import { Informer } from '../../client/informers/informer.ts'
import { type Loop, type LoopRecords, type RunningLoops, startLoops } from '../../client/reconcile/loop.ts'
import type { Client } from '../../client/requests/client.ts'
import { type ResourceType, type Selection, typeName } from '../../client/requests/resource-type.ts'
import type { ControlLoop, LoopContext, LoopOptions } from './control-loop.ts'

export interface ManagerParts {
  /** Returns a client for a service account in the system namespace, or for the manager if no account is given. */
  readonly clientAs: (account?: string) => Client
  readonly vendor: Vendor
  /** The emulated Kubernetes version, which determines the loops to run. */
  readonly emulation: Emulation
  readonly clock: Clock
  readonly options: LoopOptions
  /** Number of objects to reconcile in parallel, by loop name. Defaults to the number in the table. */
  readonly concurrency?: ReadonlyMap<string, number>
  readonly records: LoopRecords
}

/** Starts control loops with shared informers and one client per loop. */
export function startControlLoops(controlLoops: readonly ControlLoop[], parts: ManagerParts): RunningLoops {
  const { log } = parts.records
  const informer = sharedInformers(parts.clientAs(), { log, streamingLists: parts.emulation.gates.has('WatchList') })
  const recorders: EventRecorder[] = []
  const loops = controlLoops
    .filter((entry) => isAvailable(entry, parts.emulation))
    .flatMap((entry) => {
      const recorder = recorderOf(entry, parts)
      recorders.push(recorder)
      const newLoop = makeLoop(entry, parts, { recorder, informer })
      if (!('notRunning' in newLoop)) return newLoop
      const fields = { loop: entry.name, reason: newLoop.notRunning }
      if (newLoop.isUsual !== true) log.warn('cannot start control loop', fields)
      return []
    })
  const running = startLoops(loops, parts.records)
  return {
    firstPass: running.firstPass,
    stop: async () => {
      await running.stop()
      for (const recorder of recorders) recorder.stop()
    },
  }
}

function makeLoop(
  { name, account, syncs, make }: ControlLoop,
  { clientAs, vendor, emulation, clock, options, concurrency, records: { log } }: ManagerParts,
  shared: Pick<LoopContext, 'recorder' | 'informer'>,
): ReturnType<ControlLoop['make']> {
  const newLoop = make({ client: clientAs(account), vendor, emulation, clock, log, options, ...shared })
  const atOnce = concurrency?.get(name) ?? syncs?.default
  if ('notRunning' in newLoop || atOnce === undefined) return newLoop
  return [newLoop].flat().map((loop) => ({ ...loop, concurrency: atOnce }) satisfies Loop)
}

function recorderOf(loop: ControlLoop, { clientAs, clock, records }: ManagerParts): EventRecorder {
  const { name, account, eventSource = account ?? name } = loop
  const onError = (error: unknown) => records.log.warn('cannot record event', { loop: name, ...errorFields(error) })
  return new EventRecorder({ client: clientAs(account), component: eventSource, clock, onError })
}

function sharedInformers(
  client: Client,
  { log, streamingLists }: { readonly log: Log; readonly streamingLists: boolean },
): LoopContext['informer'] {
  const informersByKey = new Map<string, Informer>()
  return <T extends ApiObject>(type: ResourceType<T>, selection: Selection = {}) => {
    const key = JSON.stringify([type.group, type.version, type.plural, Object.entries(selection).sort()])
    const onError = (error: unknown) =>
      log.error('watch failed; will resume', { type: typeName(type), ...errorFields(error) })
    const informer = informersByKey.get(key) ?? new Informer<T>(client, type, { selection, streamingLists, onError })
    informersByKey.set(key, informer as Informer)
    return informer as Informer<T>
  }
}
