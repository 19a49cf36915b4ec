/**
 * Computes the resources of a pod that count toward quotas. Controllers and admission share this code so that their
 * results agree.
 */
import type { ApiObject } from '../object.ts'
import type { Quantity } from '../quantity.ts'
import { add, addTo, raiseTo, readAmounts, type WrittenAmounts } from './amounts.ts'

export interface CountedContainer {
  readonly restartPolicy?: string
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
    readonly resources?: CountedContainer['resources']
    readonly overhead?: WrittenAmounts
    readonly priorityClassName?: string
    readonly activeDeadlineSeconds?: number
    readonly affinity?: { readonly podAffinity?: PodAffinity; readonly podAntiAffinity?: PodAffinity }
  }
  readonly status?: { readonly phase?: string }
}

/** Narrows the static type of an object that is known to be a pod. */
export function asPod(object: ApiObject): CountedPod & ApiObject {
  return object
}

type Resources = NonNullable<CountedContainer['resources']>

/** Whether a pod itself can have requests and limits for the resource. */
function isPodResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')
}

/** Whether the pod itself has requests or limits, so that its containers need none. */
export function hasPodResources({ spec = {} }: CountedPod): boolean {
  const { requests = {}, limits = {} } = spec.resources ?? {}
  return [...Object.keys(requests), ...Object.keys(limits)].some(isPodResource)
}

/**
 * Returns the amounts that a pod needs at the same time. Init containers run one after the other, alongside the
 * sidecars that started before them. Amounts specified for the pod itself replace the amounts of its containers.
 */
export function podAmounts({ spec = {} }: CountedPod, list: keyof Resources): Map<string, Quantity> {
  const running = new Map<string, Quantity>()
  const starting = new Map<string, Quantity>()
  const sidecars = new Map<string, Quantity>()
  for (const { resources } of spec.containers ?? []) addTo(running, readAmounts(resources?.[list]))
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const amounts = readAmounts(resources?.[list])
    raiseTo(starting, add(sidecars, amounts))
    if (restartPolicy !== 'Always') continue
    addTo(sidecars, amounts)
    addTo(running, amounts)
  }
  raiseTo(running, starting)
  for (const [name, amount] of readAmounts(spec.resources?.[list])) if (isPodResource(name)) running.set(name, amount)
  return running
}

/** Returns the containers whose requests are counted. */
export function containersOf({ spec = {} }: CountedPod): readonly CountedContainer[] {
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
}

/** Whether any affinity term of the pod refers to pods in other namespaces. */
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
