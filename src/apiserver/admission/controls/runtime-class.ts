/**
 * RuntimeClass: applies the overhead and the scheduling constraints of a pod's RuntimeClass to the pod. Rejects pods
 * that set a different overhead, or an overhead without a RuntimeClass.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { ResourceList } from '../../../api/kinds/core/types/resource-list.ts'
import { quantityIn } from '../../../api/kinds/core/types/resources.ts'
import type { RuntimeClass } from '../../../api/kinds/node/runtime-class.ts'
import { runtimeClass as runtimeClasses } from '../../../api/kinds/node/runtime-class.ts'
import type { Lookup, StoredObject } from '../../../api/model/lookup.ts'
import { compareQuantities } from '../../../api/model/quantity.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { mergeTolerations } from '../merge-tolerations.ts'
import { refusal } from '../refusal.ts'

export function runtimeClass({ lookup }: { readonly lookup: Lookup }): Control<Pod> {
  return {
    name: 'RuntimeClass',
    handles: { operations: ['CREATE'], types: [pods], subresources: [''] },
    mutate: (request) => {
      const { runtimeClassName: name } = specOf(request)
      if (name === undefined) return refuseOverhead(request)
      const place = { namespace: '', name }
      const storedClass = lookup.getCached(runtimeClasses, place) ?? lookup.getLatest(runtimeClasses, place)
      return storedClass instanceof Promise
        ? storedClass.then((later) => applyClass(request, later))
        : applyClass(request, storedClass)
    },
  }
}

type PodSpec = NonNullable<Pod['spec']>

function specOf({ object }: AdmissionRequest<Pod>): PodSpec {
  return object.spec ?? {}
}

function refuseOverhead(request: AdmissionRequest<Pod>): undefined {
  if (specOf(request).overhead !== undefined)
    throw refusal(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
}

function applyClass(
  request: AdmissionRequest<Pod>,
  storedClass: StoredObject<RuntimeClass> | undefined,
): Pod | undefined {
  const spec = specOf(request)
  if (storedClass === undefined)
    throw refusal(request, `pod rejected: RuntimeClass "${spec.runtimeClassName}" not found`)
  request.dependOn?.(storedClass)
  const { overhead, scheduling } = storedClass.object
  if (overhead === undefined) refuseOverhead(request)
  const cost = overhead && { overhead: costOf(request, overhead.podFixed ?? {}) }
  const place = scheduling && schedulingOf(request, scheduling)
  return cost || place ? { ...request.object, spec: { ...spec, ...cost, ...place } } : undefined
}

function costOf(request: AdmissionRequest<Pod>, cost: ResourceList): ResourceList {
  const { overhead } = specOf(request)
  if (overhead !== undefined && !sameAmounts(overhead, cost))
    throw refusal(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
  return cost
}

function sameAmounts(a: ResourceList, b: ResourceList): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => isSame(a, b, name))
}

function isSame(a: ResourceList, b: ResourceList, name: string): boolean {
  const one = quantityIn(a, name)
  const other = quantityIn(b, name)
  return one !== undefined && other !== undefined && compareQuantities(one, other) === 0
}

function schedulingOf(
  request: AdmissionRequest<Pod>,
  { nodeSelector: classSelector = {}, tolerations = [] }: NonNullable<RuntimeClass['scheduling']>,
): Pick<PodSpec, 'nodeSelector' | 'tolerations'> {
  const { nodeSelector = {}, tolerations: own = [] } = specOf(request)
  const key = Object.keys(classSelector).find(
    (each) => Object.hasOwn(nodeSelector, each) && nodeSelector[each] !== classSelector[each],
  )
  if (key !== undefined)
    throw refusal(
      request,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${classSelector[key]}; pod.spec.nodeSelector[${key}] = ${nodeSelector[key]}`,
    )
  const joined = { ...nodeSelector, ...classSelector }
  return {
    ...(Object.keys(joined).length === 0 ? {} : { nodeSelector: joined }),
    ...(tolerations.length === 0 ? {} : { tolerations: mergeTolerations(own, tolerations) }),
  }
}
