/** Resource usage of containers, as specified by ResourceUsage and ClusterResourceUsage objects. */
import type { Json } from '../../../api/json/json.ts'
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import { asJson } from '../../../api/model/object.ts'
import { fields, text } from '../stages/fields.ts'
import { StageError } from '../stages/stage-error.ts'
import type { FollowedObjects } from './follow-objects.ts'
import { PodRules, type RuleType } from './pod-rules.ts'
import { compileUsage, constantUsage, type UsageExpression } from './usage-expression.ts'

const resources = ['cpu', 'memory'] as const

/** A resource whose usage can be specified: `cpu` or `memory`. */
export type UsageResource = (typeof resources)[number]

/** Usage expressions of a container, by resource. A rule may omit resources. */
type Amounts = { readonly [resource in UsageResource]?: UsageExpression }

/** Describes the `usages` field of ResourceUsage and ClusterResourceUsage objects, and parses its rules. */
export const usageRules: RuleType<Amounts> = {
  list: 'usages',
  subjects: 'containers',
  fields: ['usage'],
  read: ({ usage }, where) =>
    Object.fromEntries(
      Object.entries(fields(usage, `${where}.usage`, resources)).map(
        ([resource, amount]) => [resource, readAmount(amount, `${where}.usage.${resource}`)] as const,
      ),
    ),
}

function readAmount(value: Json | undefined, where: string): UsageExpression {
  const { value: constant, expression } = fields(value, where, ['value', 'expression'])
  if ((constant === undefined) === (expression === undefined))
    throw new StageError(`${where} requires either a value or an expression`)
  try {
    return constant === undefined ? compileUsage(text(expression, 'expression')) : constantUsage(constant)
  } catch (error) {
    if (error instanceof StageError) throw new StageError(`${where}: ${error.message}`, { cause: error })
    throw error
  }
}

/** The container and resource whose usage is requested, and the pod and node that its expression can refer to. */
export interface UsageSubject {
  readonly pod: Pod
  readonly node: Node | undefined
  readonly container: Container
  readonly resource: UsageResource
  readonly now: number
}

/** Looks up the usage expressions that KWOK objects specify for containers. */
export class UsageObjects {
  readonly #rules: PodRules<Amounts>

  constructor(own: FollowedObjects, cluster: FollowedObjects) {
    this.#rules = new PodRules(usageRules, own, cluster)
  }

  /**
   * Returns the usage in cores or bytes, or undefined if no object specifies it. Throws StageError if the expression
   * fails.
   */
  usageOf({ pod, node, container, resource, now }: UsageSubject): number | undefined {
    const amounts = this.#rules.find(pod, container.name ?? '', (each) => each[resource] !== undefined)
    return amounts?.[resource]?.({ pod: asJson(pod), node: asJson(node ?? {}), container: asJson(container), now })
  }
}
