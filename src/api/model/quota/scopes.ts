/** The scopes of a quota, which select the pods that it counts. A quota without scopes counts all objects. */
import type { ApiObject } from '../object.ts'
import { readAmount } from './amounts.ts'
import { asPod, type CountedPod, containersOf, looksElsewhere } from './counted-pod.ts'
import { type CountedType, isPods } from './usage.ts'

/** One condition on the pods that a quota counts. */
export interface ScopeRequirement {
  readonly scopeName?: string
  readonly operator?: string
  readonly values?: readonly string[]
}

export interface ScopedSpec {
  readonly scopes?: readonly string[]
  readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeRequirement[] }
}

/** Whether a quota counts an object. */
export function counts(spec: ScopedSpec, type: CountedType, object: ApiObject): boolean {
  return requirementsOf(spec).every((requirement) => holds(requirement, type, object))
}

/** Returns all conditions of a quota on the pods that it counts. */
export function requirementsOf({ scopes = [], scopeSelector }: ScopedSpec): ScopeRequirement[] {
  return [...scopes.map((scopeName) => ({ scopeName, operator: 'Exists' })), ...(scopeSelector?.matchExpressions ?? [])]
}

/** Scopes match only pods. */
export function holds({ scopeName = '', ...requirement }: ScopeRequirement, type: CountedType, object: ApiObject) {
  return isPods(type) && (byScope[scopeName]?.(asPod(object), requirement) ?? false)
}

type Rule = (pod: CountedPod, requirement: Omit<ScopeRequirement, 'scopeName'>) => boolean

const byScope: { readonly [scope: string]: Rule } = {
  Terminating: hasDeadline,
  NotTerminating: (pod) => !hasDeadline(pod),
  BestEffort: (pod) => !asksForAnything(pod),
  NotBestEffort: asksForAnything,
  CrossNamespacePodAffinity: looksElsewhere,
  PriorityClass: ({ spec = {} }, { operator, values = [] }) => {
    const { priorityClassName: name = '' } = spec
    if (operator === 'Exists') return name !== ''
    if (operator === 'DoesNotExist') return name === ''
    if (operator === 'In') return name !== '' && values.includes(name)
    return operator === 'NotIn' && !values.includes(name)
  },
}

function hasDeadline({ spec = {} }: CountedPod): boolean {
  return spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0
}

function asksForAnything(pod: CountedPod): boolean {
  return containersOf(pod).some(({ resources = {} }) =>
    [resources.requests, resources.limits].some((list) =>
      ['cpu', 'memory'].some((name) => (readAmount(list, name)?.nanos ?? 0n) > 0n),
    ),
  )
}
