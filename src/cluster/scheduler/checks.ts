/**
 * Runs a profile's filters for one Pod on many nodes. If other Pods of equal or higher priority are nominated for a
 * node, the Pod must fit both with and without them.
 */
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import type { NodeInfo } from './node-info.ts'
import { isRefusal, type NodeCheck, prepared, type Refusal, type Sight } from './plugin.ts'
import type { PodInfo } from './pod-info.ts'
import type { Profile } from './profile.ts'

/**
 * Prepares a profile's filters for a Pod. If a filter shows that the Pod fits on no node, returns the reasons instead.
 */
export function* prepareChecks(pod: PodInfo, { filters }: Profile, sight: Sight): Sliced<Checks | Refusal> {
  const checks: NodeCheck[] = []
  for (const { filter } of filters) {
    const check = yield* prepared(filter!(pod, sight))
    if (isRefusal(check)) return check
    if (check !== undefined) checks.push(check)
  }
  return new Checks(pod, checks, sight)
}

export class Checks {
  readonly #pod: PodInfo
  readonly #checks: readonly NodeCheck[]
  readonly #sight: Sight

  constructor(pod: PodInfo, checks: readonly NodeCheck[], sight: Sight) {
    this.#pod = pod
    this.#checks = checks
    this.#sight = sight
  }

  /** Returns the reason why the Pod does not fit on the node, or undefined if it fits. */
  refusal(node: NodeInfo): Refusal | undefined {
    const { cluster } = this.#sight
    if (!cluster.hasNominations) return this.#ask(node)
    const { key, priority } = this.#pod
    const awaited = [...cluster.nominatedAt(node.name)].filter((each) => each.key !== key && each.priority >= priority)
    if (awaited.length > 0) {
      for (const each of awaited) this.add(each, node)
      const refused = this.#ask(node)
      for (const each of awaited) this.remove(each, node)
      if (refused !== undefined) return refused
    }
    return this.#ask(node)
  }

  /** Adds a Pod to the node for a what-if check. The caller must undo this with `remove` before yielding. */
  add(pod: PodInfo, node: NodeInfo): void {
    node.add(pod)
    for (const check of this.#checks) check.add?.(pod, node)
  }

  /** Removes a Pod from the node for a what-if check. The caller must undo this with `add` before yielding. */
  remove(pod: PodInfo, node: NodeInfo): void {
    node.remove(pod)
    for (const check of this.#checks) check.remove?.(pod, node)
  }

  #ask(node: NodeInfo): Refusal | undefined {
    for (const { check } of this.#checks) {
      const refused = check(node)
      if (refused !== undefined) return refused
    }
    return undefined
  }
}
