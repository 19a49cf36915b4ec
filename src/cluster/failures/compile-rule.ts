/** Compiles a SimulationRule: the failure that it causes, and the pods or nodes to which it applies. */

import { createHash } from 'node:crypto'
import type { SimulationRule } from '../../api/kinds/ops/simulation-rule.ts'
import type { ObjectBase } from '../../api/model/object.ts'
import { type NodeFailure, nodeFailures, type PodFailure, podFailures } from '../../api/model/simulated-failures.ts'
import { LabelMatcher, requirementsOf } from '../../api/selectors/label-selector.ts'

type Matcher = (object: Pick<ObjectBase, 'metadata'>) => boolean

/** A compiled rule for pods: the pods it selects, and how they fail. */
export interface PodRule {
  readonly name: string
  readonly failure: PodFailure
  /** Delay in milliseconds, or undefined for the default delay of the failure. */
  readonly delayMs: number | undefined
  readonly matches: Matcher
}

export interface NodeRule {
  readonly name: string
  readonly failure: NodeFailure
  readonly matches: Matcher
}

/** Compiles a rule for pods. Returns undefined if the rule's failure does not apply to pods. */
export function podRuleOf(rule: SimulationRule): PodRule | undefined {
  const { failure: name, delaySeconds } = rule.spec ?? {}
  const failure = podFailures.find((each) => each === name)
  if (failure === undefined) return undefined
  const delayMs = delaySeconds === undefined ? undefined : delaySeconds * 1000
  return { name: rule.metadata.name ?? '', failure, delayMs, matches: matcherOf(rule) }
}

/** Compiles a rule for nodes. Returns undefined if the rule's failure does not apply to nodes. */
export function nodeRuleOf(rule: SimulationRule): NodeRule | undefined {
  const { failure: name } = rule.spec ?? {}
  const failure = nodeFailures.find((each) => each === name)
  return failure && { name: rule.metadata.name ?? '', failure, matches: matcherOf(rule) }
}

function matcherOf({ spec = {} }: SimulationRule): Matcher {
  const { namespaces = [], names = [], selector = {}, probabilityPercent = 100, seed = 0 } = spec
  const [inNamespaces, withNames] = [new Set(namespaces), new Set(names)]
  const labels = new LabelMatcher(requirementsOf(selector))
  return ({ metadata: { namespace = '', name = '', labels: own } }) =>
    (inNamespaces.size === 0 || inNamespaces.has(namespace)) &&
    (withNames.size === 0 || withNames.has(name)) &&
    labels.matches(own) &&
    isChosen(`${seed}/${namespace}/${name}`, probabilityPercent)
}

/**
 * Whether the hash of the text falls within the given percentage of all hashes. Hashing makes the choice reproducible
 * for a given seed.
 */
function isChosen(text: string, percent: number): boolean {
  if (percent >= 100) return true
  const fraction = createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32
  return fraction * 100 < percent
}
