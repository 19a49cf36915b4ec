/**
 * When a node was last heard of, by the clock of this process: its agent renews a Lease and its conditions. What nodes
 * themselves say of the time does not count, as their clocks may be wrong.
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
  /** For how long a node that has reported its state may be silent. */
  readonly graceMs: number
  /** For how long one may be that never has. */
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

  /** For how many milliseconds more the node may be silent; 0 or less: it is taken for lost. */
  leftMs(name: string, node: Node): number {
    const graceMs = heartbeatOf(node) === '' ? this.#times.startupGraceMs : this.#times.graceMs
    return this.#entry(name).at + graceMs - this.#clock.monotonic()
  }

  #entry(name: string): Heard {
    const known = this.#heard.get(name)
    if (known !== undefined) return known
    const heard = { at: this.#clock.monotonic(), renewTime: '', heartbeat: '' }
    this.#heard.set(name, heard)
    return heard
  }
}

/** When the agent last wrote the condition Ready; empty where it never has, or others did. */
function heartbeatOf({ status }: Node): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime ?? ''
}

type Condition = NonNullable<NonNullable<Node['status']>['conditions']>[number]

const neverUpdated = ['NodeStatusNeverUpdated', 'Kubelet never posted node status.'] as const
const stopped = ['NodeStatusUnknown', 'Kubelet stopped posting node status.'] as const

/** What an agent reports. */
const reported = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/** The conditions of a node that is not heard of: what its agent reports is unknown. */
export function unknownConditions(node: Node, now: string): Condition[] {
  const before = node.status?.conditions ?? []
  const others = before.filter(({ type = '' }) => !reported.includes(type))
  return [
    ...reported.map((type): Condition => {
      const known = before.find((each) => each.type === type)
      if (known?.status === 'Unknown') return known
      const lastHeartbeatTime = known?.lastHeartbeatTime ?? node.metadata.creationTimestamp ?? now
      const times = { lastHeartbeatTime, lastTransitionTime: now }
      const [reason, message] = known === undefined ? neverUpdated : stopped
      return { type, status: 'Unknown', ...times, reason, message }
    }),
    ...others,
  ]
}
