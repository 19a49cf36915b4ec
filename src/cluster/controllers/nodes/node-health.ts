/**
 * Tracks when each node last showed that it is alive, by renewing its Lease or the heartbeat of its Ready condition.
 * Uses the clock of this process, because the clocks of nodes may be wrong.
 */

import type { Lease } from '../../../api/kinds/coordination/lease.ts'
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Clock } from '../../../base/time/clock.ts'

interface Heard {
  at: number
  renewTime: string
  heartbeat: string
}

export interface GraceTimes {
  /** Time in milliseconds that a node may be silent after it has reported its status. */
  readonly graceMs: number
  /** Time in milliseconds that a node may be silent before its first report. */
  readonly startupGraceMs: number
}

export class NodeHealth {
  readonly #heard = new Map<string, Heard>()
  readonly #clock: Clock
  readonly #times: GraceTimes

  constructor(times: GraceTimes, clock: Clock) {
    this.#times = times
    this.#clock = clock
  }

  followLease(name: string, lease: Lease | undefined): void {
    const renewTime = lease?.spec?.renewTime ?? ''
    const heard = this.#entry(name)
    if (renewTime !== '' && renewTime !== heard.renewTime) heard.at = this.#clock.monotonic()
    heard.renewTime = renewTime
  }

  followNode(name: string, node: Node | undefined): void {
    if (node === undefined) {
      this.#heard.delete(name)
      return
    }
    const heard = this.#entry(name)
    const heartbeat = heartbeatOf(node)
    if (heartbeat !== heard.heartbeat) heard.at = this.#clock.monotonic()
    heard.heartbeat = heartbeat
  }

  /**
   * Returns for how many more milliseconds the node may be silent. If the result is 0 or negative, the node is
   * considered lost.
   */
  leftMs(name: string, node: Node): number {
    const graceMs = heartbeatOf(node) === '' ? this.#times.startupGraceMs : this.#times.graceMs
    return this.#entry(name).at + graceMs - this.#clock.monotonic()
  }

  #entry(name: string): Heard {
    const existing = this.#heard.get(name)
    if (existing !== undefined) return existing
    const heard = { at: this.#clock.monotonic(), renewTime: '', heartbeat: '' }
    this.#heard.set(name, heard)
    return heard
  }
}

/** Returns the heartbeat time of the Ready condition, or '' if the node has no such condition. */
function heartbeatOf({ status }: Node): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime ?? ''
}

type Condition = NonNullable<NonNullable<Node['status']>['conditions']>[number]

const neverUpdated = ['NodeStatusNeverUpdated', 'Kubelet never posted node status.'] as const
const stopped = ['NodeStatusUnknown', 'Kubelet stopped posting node status.'] as const

/** Condition types that a node agent reports. */
const reported = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/** Returns the conditions of a silent node. All conditions that the agent reports become Unknown. */
export function unknownConditions(node: Node, now: string): Condition[] {
  const before = node.status?.conditions ?? []
  const others = before.filter(({ type = '' }) => !reported.includes(type))
  return [
    ...reported.map((type): Condition => {
      const existing = before.find((each) => each.type === type)
      if (existing?.status === 'Unknown') return existing
      const lastHeartbeatTime = existing?.lastHeartbeatTime ?? node.metadata.creationTimestamp ?? now
      const times = { lastHeartbeatTime, lastTransitionTime: now }
      const [reason, message] = existing === undefined ? neverUpdated : stopped
      return { type, status: 'Unknown', ...times, reason, message }
    }),
    ...others,
  ]
}
