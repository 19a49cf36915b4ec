/**
 * The SimulationRules of the cluster, compiled and sorted by name. The first rule that matches a pod determines the
 * failure of the pod. For a node, the failures of all matching rules apply.
 */

import type { SimulationRule } from '../../api/kinds/ops/simulation-rule.ts'
import type { ObjectBase } from '../../api/model/object.ts'
import type { NodeFailure } from '../../api/model/simulated-failures.ts'
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import { type NodeRule, nodeRuleOf, type PodRule, podRuleOf } from './compile-rule.ts'

/**
 * Maximum number of rules that are applied. The limit is needed because every changed pod is matched against all rules.
 */
const maxRules = 1000

/** The source of SimulationRules, such as an informer. */
export interface RuleObjects {
  readonly size: number
  objects(): Iterable<SimulationRule>
}

type Subject = Pick<ObjectBase, 'metadata'>

/** Compiles each rule only once, so that readers can compare compiled rules by identity. */
const compiled = memoizeByObject((rule: SimulationRule) => ({ pod: podRuleOf(rule), node: nodeRuleOf(rule) }))

/** Finds the rules that apply to a pod or a node. */
export class ActiveRules {
  readonly #objects: RuleObjects
  readonly #onExcess: (message: string) => void
  #current: { readonly pods: readonly PodRule[]; readonly nodes: readonly NodeRule[] } | undefined

  /** Creates the collection. `onExcess` is called with a message if there are too many rules. */
  constructor(objects: RuleObjects, onExcess: (message: string) => void = () => {}) {
    this.#objects = objects
    this.#onExcess = onExcess
  }

  /** Drops the compiled list. Must be called after every change to the rules. */
  invalidate(): void {
    this.#current = undefined
  }

  /** Returns the rule that makes this pod fail, if any. */
  podRule(pod: Subject): PodRule | undefined {
    return this.#rules().pods.find(({ matches }) => matches(pod))
  }

  nodeFailures(node: Subject): ReadonlySet<NodeFailure> {
    return new Set(
      this.#rules()
        .nodes.filter(({ matches }) => matches(node))
        .map(({ failure }) => failure),
    )
  }

  get hasNodeRules(): boolean {
    return this.#rules().nodes.length > 0
  }

  #rules() {
    this.#current ??= this.#compileAll()
    return this.#current
  }

  #compileAll() {
    const objects = [...this.#objects.objects()].sort((a, b) =>
      compareUtf8(a.metadata.name ?? '', b.metadata.name ?? ''),
    )
    if (objects.length > maxRules)
      this.#onExcess(`there are ${objects.length} simulation rules; only the first ${maxRules} by name apply`)
    const active = objects.slice(0, maxRules).map(compiled)
    return { pods: active.flatMap(({ pod }) => pod ?? []), nodes: active.flatMap(({ node }) => node ?? []) }
  }
}
