/**
 * Priority: sets the numeric priority of a pod from its PriorityClass, allows only one default class and protects the
 * two system classes.
 *
 * If a client sends a priority, the priority must equal the value of the class, because only the class determines the
 * priority.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import {
  type PriorityClass,
  priorityClass as priorityClasses,
  systemPriorityClasses,
} from '../../../api/kinds/scheduling/priority-class.ts'
import type { Lookup, StoredObject } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { refusal } from '../refusal.ts'

export function priority({ lookup }: { readonly lookup: Lookup }): Control<Pod | PriorityClass | undefined> {
  return {
    name: 'Priority',
    handles: {
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      types: [pods, priorityClasses],
      subresources: [''],
    },
    mutate: (request) => {
      if (!isPodWrite(request)) return undefined
      if (request.operation === 'UPDATE') return keepPriority(request)
      const storedClass = findClass(lookup, request)
      return storedClass instanceof Promise
        ? storedClass.then((later) => setPriority(request, later))
        : setPriority(request, storedClass)
    },
    validate: (request) => {
      if (request.type.plural !== priorityClasses.plural) return
      if (request.operation === 'DELETE') refuseSystemClass(request)
      else refuseSecondDefault(lookup, request)
    },
  }
}

type PodSpec = NonNullable<Pod['spec']>
type Handled = AdmissionRequest<Pod | PriorityClass | undefined>

/** Whether the request creates or updates a pod rather than a PriorityClass. */
function isPodWrite(request: Handled): request is AdmissionRequest<Pod> {
  return request.type.plural === pods.plural && request.operation !== 'DELETE'
}

function specOf(object: Pod | undefined): PodSpec {
  return object?.spec ?? {}
}

/** Restores the priority fields if an update omits them. */
function keepPriority({ object, oldObject }: AdmissionRequest<Pod>): Pod | undefined {
  const { priority: number, preemptionPolicy } = specOf(oldObject)
  const spec = specOf(object)
  const restoredFields = {
    ...(spec.priority === undefined && number !== undefined ? { priority: number } : {}),
    ...(spec.preemptionPolicy === undefined && preemptionPolicy !== undefined ? { preemptionPolicy } : {}),
  }
  return Object.keys(restoredFields).length === 0 ? undefined : { ...object, spec: { ...spec, ...restoredFields } }
}

type FoundClass = StoredObject<PriorityClass> | undefined

/**
 * Returns the PriorityClass of the pod or, if the pod names no class, the default class. Returns undefined if there is
 * no default class.
 */
function findClass(lookup: Lookup, request: AdmissionRequest<Pod>): FoundClass | Promise<FoundClass> {
  const { priorityClassName: name = '' } = specOf(request.object)
  if (name === '') return defaultClass(lookup)
  const place = { namespace: '', name }
  return lookup.getCached(priorityClasses, place) ?? lookup.getLatest(priorityClasses, place)
}

/**
 * Returns the default class. If concurrent writes created several default classes, returns the class with the lowest
 * value.
 */
function defaultClass(lookup: Lookup): FoundClass {
  return lookup
    .list(priorityClasses, { namespace: undefined })
    .filter(({ object }) => object.globalDefault)
    .sort((a, b) => numberOf(a) - numberOf(b))[0]
}

function numberOf({ object }: StoredObject<PriorityClass>): number {
  return object.value ?? 0
}

const without = { name: undefined, value: 0, policy: 'PreemptLowerPriority' }

function setPriority(request: AdmissionRequest<Pod>, storedClass: FoundClass): ApiObject {
  const spec = specOf(request.object)
  const { priorityClassName: className = '', priority: number, preemptionPolicy } = spec
  if (storedClass === undefined && className !== '')
    throw refusal(request, `no PriorityClass with name ${className} was found`)
  if (storedClass !== undefined) request.dependOn?.(storedClass)
  const { name, value, policy } = storedClass === undefined ? without : meaningOf(storedClass)
  const from = 'from the given PriorityClass name'
  if (number !== undefined && number !== value)
    throw refusal(
      request,
      `the integer value of priority (${number}) must not be provided in pod spec; priority admission controller computed ${value} ${from}`,
    )
  if (preemptionPolicy !== undefined && preemptionPolicy !== policy)
    throw refusal(
      request,
      `the string value of PreemptionPolicy (${preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} ${from}`,
    )
  const named = name === undefined ? {} : { priorityClassName: name }
  return { ...request.object, spec: { ...spec, ...named, priority: value, preemptionPolicy: policy } }
}

function meaningOf(storedClass: StoredObject<PriorityClass>) {
  const { metadata, preemptionPolicy: policy = without.policy } = storedClass.object
  return { name: metadata.name, value: numberOf(storedClass), policy }
}

function refuseSystemClass(request: Handled): void {
  if (systemPriorityClasses.some(({ name }) => name === request.name))
    throw refusal(request, 'this is a system priority class and cannot be deleted')
}

function refuseSecondDefault(lookup: Lookup, request: Handled): void {
  const { globalDefault }: PriorityClass = request.object!
  const currentDefault = globalDefault ? defaultClass(lookup)?.object.metadata.name : undefined
  if (currentDefault === undefined || currentDefault === request.name) return
  throw refusal(request, `PriorityClass ${currentDefault} is already marked as default. Only one default can exist`)
}
