/**
 * Rules for the containers or ports of pods. Each type of rule has a pair of kinds, such as Logs and ClusterLogs. An
 * object of the namespaced kind applies to the pod with the same name. An object of the cluster-scoped kind applies to
 * the pods that it selects.
 */
import type { Json, JsonObject } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { array, fields, number, object, text } from '../stages/fields.ts'
import { StageError } from '../stages/stage-error.ts'
import { CompiledObjects, NamedObjects } from './compiled-objects.ts'
import type { FollowedObjects } from './follow-objects.ts'
import { readPodSelector, type SelectsPod } from './pod-selector.ts'

/** Describes one type of rule, such as the `logs` of Logs and ClusterLogs objects. */
export interface RuleType<R> {
  /** Name of the field in the spec that lists the rules, such as `logs`. */
  readonly list: string
  /** Name of the field that limits a rule to certain containers or ports. */
  readonly subjects: 'containers' | 'ports'
  /** Names of all other fields that a rule may have. */
  readonly fields: readonly string[]
  /** Parses the content of a rule from its other fields. Throws StageError. */
  readonly read: (rule: JsonObject, where: string) => R
}

/** A container name or a port number. */
type Subject = string | number

interface Rule<R> {
  /** The containers or ports to which the rule is limited. Undefined if the rule applies to all of them. */
  readonly subjects: ReadonlySet<Subject> | undefined
  readonly value: R
}

interface SelectedRules<R> {
  readonly selects: SelectsPod
  readonly rules: readonly Rule<R>[]
}

const maxRules = 32

/** Reads an object of the namespaced kind. Throws StageError. */
export function readOwnRules<R>(type: RuleType<R>, value: Json): readonly Rule<R>[] {
  return readRules(type, fields(object(value, 'the object').spec, 'spec', [type.list]))
}

/** Reads an object of the cluster-scoped kind. Throws StageError. */
export function readClusterRules<R>(type: RuleType<R>, value: Json): SelectedRules<R> {
  const spec = fields(object(value, 'the object').spec, 'spec', ['selector', type.list])
  return { selects: readPodSelector(spec.selector), rules: readRules(type, spec) }
}

function readRules<R>({ list, subjects, fields: others, read }: RuleType<R>, spec: JsonObject): Rule<R>[] {
  const rules = array(spec[list], `spec.${list}`)
  if (rules.length > maxRules) throw new StageError(`spec.${list} has more than ${maxRules} elements`)
  return rules.map((each, i) => {
    const where = `spec.${list}[${i}]`
    const rule = fields(each, where, [subjects, ...others])
    const named = array(rule[subjects], `${where}.${subjects}`).map((name) =>
      subjects === 'ports' ? (number(name, `${where}.ports`) ?? 0) : text(name, `${where}.containers`),
    )
    return { subjects: named.length === 0 ? undefined : new Set(named), value: read(rule, where) }
  })
}

/** Looks up the rule that applies to a container or port of a pod. */
export class PodRules<R> {
  readonly #own: NamedObjects<readonly Rule<R>[]>
  readonly #cluster: CompiledObjects<SelectedRules<R>>

  constructor(type: RuleType<R>, own: FollowedObjects, cluster: FollowedObjects) {
    this.#own = new NamedObjects(own.informer, (each) => readOwnRules(type, each))
    this.#cluster = new CompiledObjects(cluster.informer, (each) => readClusterRules(type, each))
  }

  /**
   * Returns the first rule that applies to a container or port and satisfies the condition. The pod's own object takes
   * precedence over the cluster-scoped objects, which are searched by name. Within an object, a rule that lists the
   * container or port takes precedence over a rule without a list.
   */
  find(pod: Pick<Pod, 'metadata'>, subject: Subject, isUsable: (value: R) => boolean = () => true): R | undefined {
    const { namespace = '', name = '' } = pod.metadata
    const own = this.#own.get({ namespace, name })
    const found = own && findIn(own, subject, isUsable)
    if (found !== undefined) return found
    for (const { selects, rules } of this.#cluster.all) {
      const selected = selects(pod) ? findIn(rules, subject, isUsable) : undefined
      if (selected !== undefined) return selected
    }
    return undefined
  }
}

function findIn<R>(rules: readonly Rule<R>[], subject: Subject, isUsable: (value: R) => boolean): R | undefined {
  const usable = rules.filter(({ value }) => isUsable(value))
  const rule =
    usable.find(({ subjects }) => subjects?.has(subject)) ?? usable.find(({ subjects }) => subjects === undefined)
  return rule?.value
}
