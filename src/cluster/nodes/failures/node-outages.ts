/**
 * Applies the failures that SimulationRules specify to the nodes of this process. A node that is down or partitioned
 * neither sends requests nor responds to them. When a node that was down recovers, all its containers restart, as after
 * a reboot. With disk pressure, a node rejects new pods and evicts one running pod every ten seconds, lowest priority
 * first.
 */
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { NodeFailure } from '../../../api/model/simulated-failures.ts'
import { repeat } from '../../../base/time/clock.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Index } from '../../../client/informers/object-index.ts'
import type { Source } from '../../../client/reconcile/sources.ts'
import { objectKey } from '../../../client/requests/resource-type.ts'
import type { ActiveRules } from '../../failures/active-rules.ts'

export interface NodeOutageParts {
  readonly rules: Pick<ActiveRules, 'nodeFailures' | 'hasNodeRules'>
  readonly nodes: readonly string[]
  readonly nodeObjects: Informer<Node>
  readonly podsByNode: Index<Pod>
}

const evictionMs = 10_000
/** Minimum priority of critical pods, which stay on a node with disk pressure. */
const criticalPriority = 2_000_000_000
const noFailures: ReadonlySet<NodeFailure> = new Set()

export class NodeOutages {
  readonly #parts: NodeOutageParts
  /** Nodes that were failing and nodes that were down at the last refresh. */
  #affected: ReadonlySet<string> = new Set()
  readonly #down = new Set<string>()
  /** UIDs of pods whose containers stopped when their node went down and have not restarted yet. */
  readonly #lostContainers = new Set<string>()
  readonly #evicted = new Set<string>()

  constructor(parts: NodeOutageParts) {
    this.#parts = parts
  }

  isUnreachable(node: string): boolean {
    const failures = this.#failuresOf(node)
    return failures.has('down') || failures.has('partition')
  }

  hasDiskPressure(node: string): boolean {
    return this.#failuresOf(node).has('disk-pressure')
  }

  /** Whether the pod is critical. A node with disk pressure neither rejects nor evicts critical pods. */
  isCritical({ spec }: Pod): boolean {
    return (spec?.priority ?? 0) >= criticalPriority
  }

  /** Whether the pod's containers stopped because its node went down. */
  hasLostContainers({ metadata: { uid = '' } }: Pod): boolean {
    return this.#lostContainers.has(uid)
  }

  /** Whether the node evicts the pod because of disk pressure. */
  isEvicted({ metadata: { uid = '' }, spec }: Pod): boolean {
    return this.#evicted.has(uid) && this.hasDiskPressure(spec?.nodeName ?? '')
  }

  /** Drops the state of a pod. Must be called when the pod has been deleted, has terminated or has restarted. */
  forget({ metadata: { uid = '' } }: Pod): void {
    this.#lostContainers.delete(uid)
    this.#evicted.delete(uid)
  }

  /**
   * Recomputes which nodes fail. Must be called after every rule change. Returns the nodes that failed before or fail
   * now.
   */
  refresh(): string[] {
    const { nodes, rules } = this.#parts
    const before = this.#affected
    this.#affected = new Set(rules.hasNodeRules ? nodes.filter((node) => this.#failuresOf(node).size > 0) : [])
    for (const node of this.#down) if (!this.#failuresOf(node).has('down')) this.#down.delete(node)
    for (const node of this.#affected)
      if (this.#failuresOf(node).has('down') && !this.#down.has(node)) this.#shutDown(node)
    return [...new Set([...before, ...this.#affected])]
  }

  #shutDown(node: string): void {
    this.#down.add(node)
    for (const { metadata, status } of this.#parts.podsByNode.get(node))
      if (status?.phase === 'Running') this.#lostContainers.add(metadata.uid ?? '')
  }

  /**
   * Returns an event source that triggers the reconciliation of pods to evict. `speed` is the speed of the nodes, as a
   * multiple of real time.
   */
  evictions(speed: number): Source {
    return {
      connect: (add, clock) =>
        repeat(clock, evictionMs / speed, () => {
          for (const pod of this.#nextEvictions()) {
            this.#evicted.add(pod.metadata.uid ?? '')
            add(objectKey(pod))
          }
        }),
    }
  }

  #nextEvictions(): Pod[] {
    const { nodes, podsByNode, rules } = this.#parts
    if (!rules.hasNodeRules) return []
    return nodes
      .filter((node) => this.hasDiskPressure(node) && !this.isUnreachable(node))
      .flatMap((node) => {
        const pods = [...podsByNode.get(node)].filter((pod) => pod.status?.phase === 'Running' && !this.isCritical(pod))
        return pods.sort((a, b) => (a.spec?.priority ?? 0) - (b.spec?.priority ?? 0)).slice(0, 1)
      })
  }

  #failuresOf(name: string): ReadonlySet<NodeFailure> {
    const { rules, nodeObjects } = this.#parts
    if (!rules.hasNodeRules) return noFailures
    return rules.nodeFailures(nodeObjects.get({ name }) ?? { metadata: { name } })
  }
}
