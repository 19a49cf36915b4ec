/** Leader election among managers: the identity of this process, its log messages and its Event. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { EventRecorder } from '../../client/informers/event-recorder.ts'
import { type ElectionTiming, leadOnce, type Term } from '../../client/informers/leader-election.ts'
import type { RunningLoops } from '../../client/reconcile/loop.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import type { ObjectName } from '../../client/requests/resource-type.ts'

export interface ManagerElection {
  readonly client: Client
  readonly clock: Clock
  readonly log: Log
  readonly lease: ObjectName
  readonly timing: ElectionTiming
}

/** The Lease of kube-controller-manager. The default roles allow managers to use it. */
export const managerLease: ObjectName = { namespace: 'kube-system', name: 'kube-controller-manager' }
/** Default timing of the leader election, as in kube-controller-manager. */
export const usualTiming: ElectionTiming = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 }

/**
 * Runs the control loops for one term of leadership. Resolves to true when the Lease has been lost, and to false when
 * the signal aborts.
 */
export async function runElected(
  { client, clock, log, lease, timing }: ManagerElection,
  start: (term: Term) => RunningLoops,
  signal: AbortSignal,
): Promise<boolean> {
  const identity = `${hostname()}_${randomUUID()}`
  const onError = (error: unknown) => log.warn('cannot acquire or renew the leader-election lease', errorFields(error))
  const onLeader = (leader: string) => {
    if (leader !== identity) log.info('waiting for leadership; another manager is the leader', { leader })
  }
  const work = async (term: Term) => {
    log.info('became the leader', { identity })
    void tell(client, { lease, identity, clock, log })
    const running = start(term)
    await new Promise<void>((resolve) => {
      term.signal.addEventListener('abort', () => resolve(), { once: true })
      if (term.signal.aborted) resolve()
    })
    await running.stop()
  }
  return await leadOnce({ client, lease, identity, clock, timing, onError, onLeader }, work, signal)
}

interface Elected {
  readonly lease: ObjectName
  readonly identity: string
  readonly clock: Clock
  readonly log: Log
}

/** Records an Event about the Lease that names the new leader. */
async function tell(client: Client, { lease, identity, clock, log }: Elected): Promise<void> {
  const onError = (error: unknown) => log.warn('cannot record event', errorFields(error))
  const recorder = new EventRecorder({ client, component: 'kube-controller-manager', clock, onError })
  try {
    const object = await client.get(kinds.Lease, lease)
    recorder.record(object, { type: 'Normal', reason: 'LeaderElection', message: `${identity} became leader` })
    await recorder.flush()
  } catch (error) {
    onError(error)
  }
}
