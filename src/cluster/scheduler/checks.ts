/**
 * The filters of a profile, prepared for one Pod and applied to many nodes. On a node that is nominated for Pods of
 * equal or higher priority, this Pod must fit both with and without those Pods.
 */
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import type { NodeInfo } from './node-info.ts'
import { isRefusal, type NodeCheck, prepared, type Refusal, type Sight } from './plugin.ts'
import type { PodInfo } from './pod-info.ts'
import type { Profile } from './profile.ts'

/** Prepares the filters for a Pod. Returns a refusal if the Pod fits on no node. */
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

  /** Simulates that the Pod is on the node. The caller must call `remove` before anything else happens. */
  add(pod: PodInfo, node: NodeInfo): void {
    node.add(pod)
    for (const check of this.#checks) check.add?.(pod, node)
  }

  /** Simulates that the Pod is not on the node. The caller must call `add` before anything else happens. */
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
