/** Resource usage of containers, as specified by ResourceUsage and ClusterResourceUsage objects. */
import type { Json } from '../../../api/json/json.ts'
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import { asJson } from '../../../api/model/object.ts'
import { array, fields, object, text } from '../stages/fields.ts'
import { StageError } from '../stages/stage-error.ts'
import { CompiledObjects, NamedObjects } from './compiled-objects.ts'
import type { FollowedObjects } from './follow-objects.ts'
import { readPodSelector, type SelectsPod } from './pod-selector.ts'
import { compileUsage, constantUsage, type UsageExpression } from './usage-expression.ts'

const resources = ['cpu', 'memory'] as const

/** A resource whose usage can be specified: `cpu` or `memory`. */
export type UsageResource = (typeof resources)[number]

/** A compiled ClusterResourceUsage: the pods it selects, and the usage of their containers. */
export interface ClusterUsage {
  readonly selects: SelectsPod
  readonly usages: readonly ContainerRule[]
}

interface ContainerRule {
  /** Names of the containers that the rule applies to. Undefined means all containers. */
  readonly containers: ReadonlySet<string> | undefined
  readonly amounts: { readonly [resource in UsageResource]?: UsageExpression }
}

const maxUsages = 32

/** Reads the usages of a ResourceUsage, which apply to the pod of the same name. Throws StageError. */
export function readResourceUsage(value: Json): readonly ContainerRule[] {
  return readUsages(fields(object(value, 'the object').spec, 'spec', ['usages']).usages)
}

/** Reads a ClusterResourceUsage, which applies to the pods that it selects. Throws StageError. */
export function readClusterResourceUsage(value: Json): ClusterUsage {
  const spec = fields(object(value, 'the object').spec, 'spec', ['selector', 'usages'])
  return { selects: readPodSelector(spec.selector), usages: readUsages(spec.usages) }
}

function readUsages(value: Json | undefined): ContainerRule[] {
  const usages = array(value, 'spec.usages')
  if (usages.length > maxUsages) throw new StageError(`spec.usages has more than ${maxUsages} elements`)
  return usages.map((each, i) => {
    const where = `spec.usages[${i}]`
    const { containers, usage } = fields(each, where, ['containers', 'usage'])
    const names = array(containers, `${where}.containers`).map((name) => text(name, `${where}.containers`))
    const amounts = Object.entries(fields(usage, `${where}.usage`, resources)).map(
      ([resource, amount]) => [resource, readAmount(amount, `${where}.usage.${resource}`)] as const,
    )
    return { containers: names.length === 0 ? undefined : new Set(names), amounts: Object.fromEntries(amounts) }
  })
}

function readAmount(value: Json | undefined, where: string): UsageExpression {
  const { value: constant, expression } = fields(value, where, ['value', 'expression'])
  if ((constant === undefined) === (expression === undefined))
    throw new StageError(`${where} needs either a value or an expression`)
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

/** Looks up the usage of containers. A ResourceUsage for the pod takes precedence over any ClusterResourceUsage. */
export class UsageObjects {
  readonly #own: NamedObjects<readonly ContainerRule[]>
  readonly #cluster: CompiledObjects<ClusterUsage>

  constructor(own: FollowedObjects, cluster: FollowedObjects) {
    this.#own = new NamedObjects(own.informer, readResourceUsage)
    this.#cluster = new CompiledObjects(cluster.informer, readClusterResourceUsage)
  }

  /**
   * Returns the usage in cores or bytes, or undefined if no object specifies it. Throws StageError if the expression
   * fails.
   */
  usageOf({ pod, node, container, resource, now }: UsageSubject): number | undefined {
    const { namespace = '', name = '' } = pod.metadata
    const selected = this.#cluster.all.flatMap(({ selects, usages }) => (selects(pod) ? usages : []))
    const rules = [...(this.#own.get({ namespace, name }) ?? []), ...selected]
    const rule = rules.find(
      ({ containers, amounts }) => amounts[resource] !== undefined && containers?.has(container.name ?? '') !== false,
    )
    return rule?.amounts[resource]?.({ pod: asJson(pod), node: asJson(node ?? {}), container: asJson(container), now })
  }
}
