/** The fields of a pod that quotas use. Only these, so that controllers and admission compute the same usage. */
import type { ApiObject } from '../object.ts'
import type { WrittenAmounts } from './amounts.ts'

export interface CountedContainer {
  readonly resources?: { readonly requests?: WrittenAmounts; readonly limits?: WrittenAmounts }
}

interface AffinityTerm {
  readonly namespaces?: readonly string[]
  readonly namespaceSelector?: object
}

interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly AffinityTerm[]
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly { readonly podAffinityTerm?: AffinityTerm }[]
}

export interface CountedPod {
  readonly spec?: {
    readonly containers?: readonly CountedContainer[]
    readonly initContainers?: readonly CountedContainer[]
    readonly overhead?: WrittenAmounts
    readonly priorityClassName?: string
    readonly activeDeadlineSeconds?: number
    readonly affinity?: { readonly podAffinity?: PodAffinity; readonly podAntiAffinity?: PodAffinity }
  }
  readonly status?: { readonly phase?: string }
}

/** Returns the object as a counted pod. */
export function asPod(object: ApiObject): CountedPod & ApiObject {
  return object
}

/** Returns the containers whose requests count. */
export function containersOf({ spec = {} }: CountedPod): readonly CountedContainer[] {
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
}

/** Whether any affinity term of the pod refers to other namespaces. */
export function looksElsewhere({ spec = {} }: CountedPod): boolean {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {}
  return [podAffinity, podAntiAffinity].flatMap(termsOf).some(({ namespaces = [], namespaceSelector }) => {
    return namespaces.length > 0 || namespaceSelector !== undefined
  })
}

function termsOf(affinity: PodAffinity = {}): AffinityTerm[] {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: needed = [],
    preferredDuringSchedulingIgnoredDuringExecution: liked = [],
  } = affinity
  return [...needed, ...liked.map(({ podAffinityTerm = {} }) => podAffinityTerm)]
}
