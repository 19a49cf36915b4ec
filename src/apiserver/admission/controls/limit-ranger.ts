/**
 * LimitRanger: sets default requests and limits of containers from the namespace's LimitRanges, and rejects containers,
 * pods and claims that violate a LimitRange. Pods are checked only on creation because their resources are immutable.
 * Claims are also checked on update.
 */

import type { LimitRange } from '../../../api/kinds/core/limit-range.ts'
import { limitRange as limitRanges } from '../../../api/kinds/core/limit-range.ts'
import type { PersistentVolumeClaim } from '../../../api/kinds/core/persistent-volume-claim.ts'
import { persistentVolumeClaim as persistentVolumeClaims } from '../../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { ResourceList } from '../../../api/kinds/core/types/resource-list.ts'
import { invalidObject } from '../../../api/model/api-error.ts'
import { tooLong } from '../../../api/model/field-error.ts'
import type { Lookup, StoredObject } from '../../../api/model/lookup.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { maxAnnotationBytes } from '../../../api/selectors/label-rules.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { runToCompletion, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { type Bounds, breaksOf, claimBreaksOf } from '../limits/constraints.ts'
import { askedByPod } from '../limits/pod-resources.ts'
import { refusal } from '../refusal.ts'

interface Parts {
  readonly lookup: Lookup
  readonly vendor: Vendor
  readonly emulation: Emulation
}

export function limitRanger({ lookup, vendor, emulation }: Parts): Control<Pod | PersistentVolumeClaim> {
  const note = vendorKey(vendor, 'limit-ranger')
  return {
    name: 'LimitRanger',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: [pods, persistentVolumeClaims],
      subresources: ['', 'resize'],
    },
    mutate: (request) => {
      if (!isPod(request) || request.operation === 'UPDATE') return undefined
      const bounds = rangesOf(lookup, request).flatMap(boundsOf)
      return fillPod(
        request,
        bounds.filter(({ type }) => type === 'Container'),
        note,
      )
    },
    validate: (request) => {
      const { object, operation, subresource } = request
      const going = operation === 'UPDATE' && object.metadata.deletionTimestamp !== undefined
      if (going || (isPod(request) && operation === 'UPDATE' && subresource !== 'resize')) return undefined
      const ranges = rangesOf(lookup, request)
      if (ranges.length === 0) return undefined
      const work = judge(request, ranges, emulation)
      return isLarge(request) ? new TimeSlice().run(work) : runToCompletion(work)
    },
  }
}

type LimitedRequest = AdmissionRequest<Pod | PersistentVolumeClaim>

/** Whether the pod has so many containers that checking all of them at once could block other requests. */
function isLarge(request: LimitedRequest): boolean {
  if (!isPod(request)) return false
  const { containers = [], initContainers = [] } = request.object.spec ?? {}
  return containers.length + initContainers.length > 100
}

/**
 * Maximum number of LimitRanges whose revisions become preconditions of a write. If a namespace has more LimitRanges,
 * concurrent changes to the remaining ones may go unnoticed.
 */
const maxRestedOn = 20

function rangesOf(lookup: Lookup, { namespace, dependOn }: LimitedRequest): StoredObject<LimitRange>[] {
  const ranges = lookup.list(limitRanges, { namespace, whole: true })
  if (dependOn !== undefined) for (const range of ranges.slice(0, maxRestedOn)) dependOn(range)
  return ranges
}

function isPod(request: LimitedRequest): request is AdmissionRequest<Pod> {
  return request.type.plural === pods.plural
}

function isClaim(request: LimitedRequest): request is AdmissionRequest<PersistentVolumeClaim> {
  return request.type.plural === persistentVolumeClaims.plural
}

function boundsOf({ object }: StoredObject<LimitRange>): readonly Bounds[] {
  return object.spec?.limits ?? []
}

/** Sets missing requests and limits, and lists them in an annotation. Returns undefined if nothing is missing. */
function fillPod(request: AdmissionRequest<Pod>, bounds: readonly Bounds[], note: string): Pod | undefined {
  if (bounds.length === 0) return undefined
  const { object } = request
  const { spec = {}, metadata } = object
  const defaults = defaultsOf(bounds)
  const notes = new Notes(request)
  const containers = spec.containers?.map((one) => fill(one, defaults, { who: 'container', notes }))
  const initContainers = spec.initContainers?.map((one) => fill(one, defaults, { who: 'init container', notes }))
  if (notes.text === '') return undefined
  const annotations = { ...metadata.annotations, [note]: `LimitRanger plugin set: ${notes.text}` }
  return {
    ...object,
    metadata: { ...metadata, annotations },
    spec: { ...spec, ...(containers && { containers }), ...(initContainers && { initContainers }) },
  }
}

/**
 * Builds the text of the annotation that lists the defaults. Throws an error as soon as the text exceeds the maximum
 * size of an annotation.
 */
class Notes {
  readonly #request: AdmissionRequest
  text = ''

  constructor(request: AdmissionRequest) {
    this.#request = request
  }

  add(note: string): void {
    this.text += this.text === '' ? note : `; ${note}`
    if (this.text.length <= maxAnnotationBytes) return
    const { type, name } = this.#request
    throw invalidObject(type, name, [tooLong('metadata.annotations', maxAnnotationBytes)])
  }
}

interface Defaults {
  readonly requests: ResourceList
  readonly limits: ResourceList
}

/** Returns the default values. If several LimitRanges set the same default, the first one applies. */
function defaultsOf(bounds: readonly Bounds[]): Defaults {
  let defaults: Defaults = { requests: {}, limits: {} }
  for (const { defaultRequest, default: limits } of bounds)
    defaults = {
      requests: { ...defaultRequest, ...defaults.requests },
      limits: { ...limits, ...defaults.limits },
    }
  return defaults
}

function fill(
  container: Container,
  { requests, limits }: Defaults,
  { who, notes }: { who: string; notes: Notes },
): Container {
  const { resources = {}, name } = container
  const missing = without(requests, resources.requests)
  const unlimited = without(limits, resources.limits)
  if (missing.length === 0 && unlimited.length === 0) return container
  const noteFor = (names: readonly string[], what: string) =>
    `${names.toSorted().join(', ')} ${what} for ${who} ${name}`
  if (missing.length > 0) notes.add(noteFor(missing, 'request'))
  if (unlimited.length > 0) notes.add(noteFor(unlimited, 'limit'))
  return {
    ...container,
    resources: {
      ...resources,
      ...(missing.length > 0 && { requests: { ...requests, ...resources.requests } }),
      ...(unlimited.length > 0 && { limits: { ...limits, ...resources.limits } }),
    },
  }
}

function without(defaults: ResourceList, setValues: ResourceList = {}): string[] {
  return Object.keys(defaults).filter((name) => !Object.hasOwn(setValues, name))
}

/** Maximum number of violations in a rejection. */
const maxReportedBreaches = 20

/** Checks all LimitRanges. Throws an error that lists all violations of the first violated LimitRange. */
function* judge(
  request: LimitedRequest,
  ranges: readonly StoredObject<LimitRange>[],
  emulation: Emulation,
): Generator<void, void> {
  for (const range of ranges) {
    const breaches = new Set<string>()
    for (const bounds of boundsOf(range))
      for (const partBreaches of breachesOf(request, bounds, emulation)) {
        for (const breach of partBreaches) if (breaches.size < maxReportedBreaches) breaches.add(breach)
        if (breaches.size === maxReportedBreaches) break
        yield
      }
    if (breaches.size > 0) throw refusal(request, `${told([...breaches])} (LimitRange ${range.object.metadata.name})`)
  }
}

function breachesOf(request: LimitedRequest, bounds: Bounds, emulation: Emulation): Iterable<string[]> {
  if (isPod(request)) return podBreaches(request.object, bounds, emulation)
  return isClaim(request) ? [claimBreaches(request.object, bounds)] : []
}

function told(breaches: readonly string[]): string {
  return breaches.length === 1 ? breaches[0]! : `[${breaches.join(', ')}]`
}

/** Yields the LimitRange violations of each container, and of the pod as a whole. */
function* podBreaches({ spec = {} }: Pod, bounds: Bounds, emulation: Emulation): Generator<string[]> {
  if (bounds.type === 'Pod') yield breaksOf(bounds, askedByPod(spec, emulation))
  if (bounds.type !== 'Container') return
  for (const list of [spec.containers, spec.initContainers])
    for (const { resources: { requests = {}, limits = {} } = {} } of list ?? [])
      yield breaksOf(bounds, { requests, limits })
}

function claimBreaches({ spec }: PersistentVolumeClaim, bounds: Bounds): string[] {
  if (bounds.type !== 'PersistentVolumeClaim') return []
  return claimBreaksOf(bounds, spec?.resources?.requests ?? {})
}
