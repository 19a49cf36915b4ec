/**
 * The scopes of a quota, which select the pods or the claims that it counts. A quota without scopes counts all objects.
 */
import type { ApiObject } from '../object.ts'
import { readAmount } from './amounts.ts'
import { asPod, type CountedPod, containersOf, hasPodResources, looksElsewhere } from './counted-pod.ts'
import { type CountedType, isPods, isVolumeClaims } from './usage.ts'

/** One condition of a quota's scope: a scope name with an operator and values. */
export interface ScopeRequirement {
  readonly scopeName?: string
  readonly operator?: string
  readonly values?: readonly string[]
}

export interface ScopedSpec {
  readonly scopes?: readonly string[]
  readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeRequirement[] }
}

/** Whether an object is within the scopes of a quota. */
export function counts(spec: ScopedSpec, type: CountedType, object: ApiObject): boolean {
  return requirementsOf(spec).every((requirement) => holds(requirement, type, object))
}

/** Returns all conditions of a quota on the objects that it counts. */
export function requirementsOf({ scopes = [], scopeSelector }: ScopedSpec): ScopeRequirement[] {
  return [...scopes.map((scopeName) => ({ scopeName, operator: 'Exists' })), ...(scopeSelector?.matchExpressions ?? [])]
}

/** Whether an object meets a condition. Each scope matches objects of one kind only: either pods or claims. */
export function holds({ scopeName = '', ...requirement }: ScopeRequirement, type: CountedType, object: ApiObject) {
  if (scopeName === 'VolumeAttributesClass') return isVolumeClaims(type) && hasAttributesClass(object, requirement)
  return isPods(type) && (byScope[scopeName]?.(asPod(object), requirement) ?? false)
}

type Requirement = Omit<ScopeRequirement, 'scopeName'>

interface CountedClaim {
  readonly spec?: { readonly volumeAttributesClassName?: string }
  readonly status?: {
    readonly currentVolumeAttributesClassName?: string
    readonly modifyVolumeStatus?: { readonly targetVolumeAttributesClassName?: string }
  }
}

/**
 * Whether a claim meets a condition on its VolumeAttributesClass. A claim whose class is being changed refers to more
 * than one class. It is enough if one of them matches.
 */
function hasAttributesClass(object: ApiObject & CountedClaim, requirement: Requirement): boolean {
  const { spec = {}, status = {} } = object
  const {
    currentVolumeAttributesClassName: current,
    modifyVolumeStatus: { targetVolumeAttributesClassName: target } = {},
  } = status
  const names = [spec.volumeAttributesClassName, current, target].filter((name) => name !== undefined && name !== '')
  return names.length === 0 ? fits('', requirement) : names.some((name) => fits(name!, requirement))
}

/** Whether the class name of an object meets a requirement. The name is empty if the object has no class. */
function fits(name: string, { operator, values = [] }: Requirement): boolean {
  if (operator === 'Exists') return name !== ''
  if (operator === 'DoesNotExist') return name === ''
  if (operator === 'In') return name !== '' && values.includes(name)
  return operator === 'NotIn' && !values.includes(name)
}

type Rule = (pod: CountedPod, requirement: Requirement) => boolean

const byScope: { readonly [scope: string]: Rule } = {
  Terminating: hasDeadline,
  NotTerminating: (pod) => !hasDeadline(pod),
  BestEffort: (pod) => !asksForAnything(pod),
  NotBestEffort: asksForAnything,
  CrossNamespacePodAffinity: looksElsewhere,
  PriorityClass: ({ spec = {} }, requirement) => fits(spec.priorityClassName ?? '', requirement),
}

function hasDeadline({ spec = {} }: CountedPod): boolean {
  return spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0
}

/** Whether the pod has any requests or limits. Resources of the pod itself replace those of its containers. */
function asksForAnything(pod: CountedPod): boolean {
  const parts = hasPodResources(pod) ? [pod.spec!] : containersOf(pod)
  return parts.some(({ resources = {} }) =>
    [resources.requests, resources.limits].some((list) =>
      ['cpu', 'memory'].some((name) => (readAmount(list, name)?.nanos ?? 0n) > 0n),
    ),
  )
}
