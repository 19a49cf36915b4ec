/**
 * Admission of pods on a node. Tracks the requests of admitted pods, and checks whether enough resources are free and
 * whether the pod's node selection matches. A node checks every pod that any client has bound to it. A pod counts as
 * admitted if its status shows the admission or if it was admitted recently. No other state is stored, so a restarted
 * process derives the same state from the statuses.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { SelectableNode } from '../../../api/selectors/node-selector.ts'
import { nodeMatcher } from '../../scheduler/plugins/node-rules.ts'
import { arePortsInConflict, type HostPort, hostPortsOf } from '../../scheduler/pod-info.ts'
import { type Amounts, amountsOf, podsAllowed, type ResourceList, requestsOf } from '../../scheduler/resources.ts'
import type { Fit } from './pod-resize.ts'

/** Reason why a pod is rejected, with the same wording as in a kubelet. */
export interface Refusal {
  readonly reason: string
  readonly message: string
}

/**
 * The properties of a node that determine whether it admits a pod: allocatable resources, labels, taints and disk
 * pressure.
 */
export interface NodeState {
  readonly offered: ResourceList
  readonly selectable: SelectableNode
  /** Returns whether the node rejects this pod because its disk is full. */
  readonly isFullFor: (pod: Pod) => boolean
}

/** Resources and ports that a pod needs on its node. */
interface Demands {
  readonly requests: Amounts
  readonly ports: readonly HostPort[]
}

export class NodeRoom {
  readonly #state: () => NodeState
  readonly #admitted = new Map<string, Demands>()

  constructor(state: () => NodeState) {
    this.#state = state
  }

  /** Updates a pod. The pod uses its resources from its start until it terminates. */
  observe(key: string, pod: Pod | undefined): void {
    const { phase, startTime } = pod?.status ?? {}
    if (pod === undefined || phase === 'Succeeded' || phase === 'Failed') this.#admitted.delete(key)
    else if (startTime !== undefined) this.#admitted.set(key, demandsOf(pod))
  }

  /** Admits the pod. If it cannot be admitted, returns the insufficient resource or the violated rule. */
  admit(key: string, pod: Pod): Refusal | undefined {
    if (this.#admitted.has(key)) return undefined
    const demands = demandsOf(pod)
    const { offered, selectable, isFullFor } = this.#state()
    if (isFullFor(pod)) return { reason: 'Evicted', message: 'The node had condition: [DiskPressure]. ' }
    const refusal = this.#whatIsShort(demands.requests, offered) ?? this.#whatIsBroken(pod, demands, selectable)
    if (refusal === undefined) this.#admitted.set(key, demands)
    return refusal
  }

  /** Returns whether a running pod fits after a resize. */
  fitOf(key: string, pod: Pod): Fit {
    const desired = requestsOf({ ...pod, status: {} })
    const amounts = amountsOf(this.#state().offered)
    let why: Fit = 'fits'
    for (const [name, amountIn] of resourcesOf(desired)) {
      const capacity = amountIn(amounts)
      const requested = amountIn(desired)
      const shortage = (reason: 'Infeasible' | 'Deferred', used: number) => {
        const message = `Node didn't have enough ${reason === 'Infeasible' ? 'capacity' : 'resource'}: ${name}, requested: ${requested}`
        return { reason, message: `${message}, ${used === 0 ? '' : `used: ${used}, `}capacity: ${capacity}` }
      }
      if (requested > capacity) return shortage('Infeasible', 0)
      const used = [...this.#admitted].reduce(
        (sum, [other, { requests }]) => sum + (other === key ? 0 : amountIn(requests)),
        0,
      )
      if (used + requested > capacity) why = shortage('Deferred', used)
    }
    return why
  }

  #whatIsBroken({ spec = {} }: Pod, { ports }: Demands, node: SelectableNode): Refusal | undefined {
    if (nodeMatcher({ spec })?.(node) === false) return broken('NodeAffinity')
    const isTaken = (port: HostPort) =>
      this.#admitted.values().some((admitted) => admitted.ports.some((other) => arePortsInConflict(port, other)))
    return ports.some(isTaken) ? broken('NodePorts') : undefined
  }

  #whatIsShort(requests: Amounts, offered: ResourceList): Refusal | undefined {
    const maxPods = podsAllowed(offered)
    if (this.#admitted.size + 1 > maxPods)
      return outOf('pods', { requested: 1, used: this.#admitted.size, capacity: maxPods })
    const amounts = amountsOf(offered)
    for (const [name, amountIn] of resourcesOf(requests)) {
      const requested = amountIn(requests)
      const used = this.#admitted.values().reduce((sum, admitted) => sum + amountIn(admitted.requests), 0)
      const capacity = amountIn(amounts)
      if (requested > 0 && used + requested > capacity) return outOf(name, { requested, used, capacity })
    }
    return undefined
  }
}

function demandsOf(pod: Pod): Demands {
  const { spec = {} } = pod
  return { requests: requestsOf(pod), ports: hostPortsOf(spec) }
}

type AmountIn = (amounts: Amounts) => number

function resourcesOf({ others }: Amounts): (readonly [name: string, amountIn: AmountIn])[] {
  return [
    ['cpu', ({ cpu }) => cpu],
    ['memory', ({ memory }) => memory],
    ['ephemeral-storage', ({ ephemeralStorage }) => ephemeralStorage],
    ...[...others.keys()].map((name) => [name, (amounts: Amounts) => amounts.others.get(name) ?? 0] as const),
  ]
}

function outOf(name: string, amounts: { readonly requested: number; used: number; capacity: number }): Refusal {
  const { requested, used, capacity } = amounts
  const message = `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`
  return { reason: `OutOf${name}`, message }
}

/** Returns the rejection for a violated scheduling rule. */
function broken(rule: string): Refusal {
  return { reason: rule, message: `Predicate ${rule} failed` }
}
