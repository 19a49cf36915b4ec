/** The subresource `resize` of a pod, which changes the resources of its containers while they run. */
import { sameJson } from '../../../json/json.ts'
import { at, child, type FieldError, type FieldPath, forbidden, invalid } from '../../../model/field-error.ts'
import { compareQuantities } from '../../../model/quantity.ts'
import { isEnabled, isSince, type RuleContext } from '../../../schema/context.ts'
import { type Container, isSidecar } from './container.ts'
import { isMirror } from './pod-annotations.ts'
import type { PodSpec } from './pod-spec.ts'
import { hasPodResources, qosClassOf } from './qos-class.ts'
import type { ResourceList } from './resource-list.ts'
import { quantityIn, type ResourceRequirements } from './resources.ts'

type List = 'containers' | 'initContainers'

const lists: readonly List[] = ['containers', 'initContainers']

/** Returns the previous spec with the resources and resize policies of the new spec. */
export function resizedSpec(next: PodSpec, previous: PodSpec, context: RuleContext): PodSpec {
  const resized: PodSpec = { ...previous }
  for (const list of lists) {
    if (next[list] === undefined) delete resized[list]
    else resized[list] = resizedContainers(next[list], previous[list] ?? [])
  }
  if (!isEnabled('InPlacePodLevelResourcesVerticalScaling', context)) return resized
  const { resources: _, ...others } = resized
  return next.resources === undefined ? others : { ...others, resources: next.resources }
}

/**
 * Returns the containers with their new resources. Unknown containers are preserved, so that validation reports them.
 */
function resizedContainers(next: readonly Container[], previous: readonly Container[]): Container[] {
  const byName = new Map(previous.map((one) => [one.name, one]))
  return next.map((one) => {
    const before = byName.get(one.name)
    if (before === undefined) return one
    const { resources: _r, resizePolicy: _p, ...others } = before
    const { resources, resizePolicy } = one
    return {
      ...others,
      ...(resources === undefined ? {} : { resources }),
      ...(resizePolicy === undefined ? {} : { resizePolicy }),
    }
  })
}

interface Resized {
  readonly next: PodSpec
  readonly previous: PodSpec
  readonly annotations: { readonly [key: string]: string }
}

/** Validates a resize. If a pod cannot be resized at all, the error has the path `*`. */
export function checkResize({ next, previous, annotations }: Resized, context: RuleContext): FieldError[] {
  const why = obstacle(previous, annotations, context)
  if (why !== undefined) return [forbidden('*', why)]
  const moved = lists.filter((list) => !sameNames(next[list], previous[list]))
  if (moved.length > 0)
    return moved.map((list) => forbidden(`spec.${list}`, `${list} may not be added or removed on resize`))
  const qosClass = qosClassOf(previous)
  return [
    ...(qosClassOf(next) === qosClass
      ? []
      : [invalid('spec', qosClass, 'Pod QOS Class may not change as a result of resizing')]),
    ...checkPodLevel(next, previous),
    ...lists.flatMap((list) =>
      checkContainers({ next: next[list] ?? [], previous: previous[list] ?? [] }, `spec.${list}`, context),
    ),
    ...checkOthers(next, previous, context),
  ]
}

function obstacle(previous: PodSpec, annotations: Resized['annotations'], context: RuleContext): string | undefined {
  if (isMirror(annotations, context.vendor)) return 'static pods cannot be resized'
  if (previous.os?.name === 'windows') return 'windows pods cannot be resized'
  if (hasPodResources(previous) && !isEnabled('InPlacePodLevelResourcesVerticalScaling', context))
    return 'pods with pod-level resources cannot be resized'
  return undefined
}

function sameNames(next: readonly Container[] = [], previous: readonly Container[] = []): boolean {
  return next.length === previous.length && next.every(({ name }, i) => name === previous[i]!.name)
}

function checkPodLevel(next: PodSpec, previous: PodSpec): FieldError[] {
  if (previous.resources === undefined) return []
  if (next.resources === undefined) return [forbidden('spec.resources', 'pod-level resources cannot be removed')]
  return checkKept(next.resources, previous.resources, 'spec.resources')
}

function checkContainers(
  { next, previous }: { next: readonly Container[]; previous: readonly Container[] },
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  return next.flatMap((one, i) => {
    const before = previous[i]!
    const place = child(at(path, i), 'resources')
    return [
      ...checkKept(one.resources ?? {}, before.resources ?? {}, place),
      ...(isSince('1.34', context) ? [] : checkMemory(one, before, child(place, 'limits'))),
    ]
  })
}

function checkKept(next: ResourceRequirements, previous: ResourceRequirements, path: FieldPath): FieldError[] {
  return (['requests', 'limits'] as const)
    .filter((list) => Object.keys(previous[list] ?? {}).some((name) => !Object.hasOwn(next[list] ?? {}, name)))
    .map((list) => forbidden(child(path, list), `resource ${list} cannot be removed`))
}

/**
 * Rejects a lower memory limit unless the container restarts on such a change. Versions since 1.34 do not have this
 * rule.
 */
function checkMemory(next: Container, previous: Container, path: FieldPath): FieldError[] {
  const [limit, before] = [next, previous].map(({ resources }) => quantityIn(resources?.limits, 'memory'))
  const restarts = previous.resizePolicy?.some(
    ({ resourceName, restartPolicy }) => resourceName === 'memory' && restartPolicy === 'RestartContainer',
  )
  return restarts || limit === undefined || before === undefined || compareQuantities(limit, before) >= 0
    ? []
    : [forbidden(path, 'memory limits cannot be decreased unless resizePolicy is RestartContainer')]
}

/** Rejects a resize of anything other than CPU and memory. */
function checkOthers(next: PodSpec, previous: PodSpec, context: RuleContext): FieldError[] {
  const initToo = isEnabled('InPlacePodVerticalScalingInitContainers', context)
  const isFixed = (one: Container, i: number) =>
    !isSidecar(one) && !initToo && !sameJson(one.resources, previous.initContainers![i]!.resources)
  if (next.initContainers?.some(isFixed))
    return [forbidden('spec', 'resources for non-sidecar init containers are immutable')]
  const changed = lists.some((list) => next[list]?.some((one, i) => hasOtherChange(one, previous[list]![i]!)))
  const podChanged = !sameJson(withoutCompute(next.resources), withoutCompute(previous.resources))
  return changed || podChanged ? [forbidden('spec', 'only cpu and memory resources are mutable')] : []
}

function hasOtherChange(next: Container, previous: Container): boolean {
  return (
    !sameJson(next.resizePolicy, previous.resizePolicy) ||
    !sameJson(withoutCompute(next.resources), withoutCompute(previous.resources))
  )
}

function withoutCompute({ requests, limits, ...others }: ResourceRequirements = {}) {
  const rest = (list: ResourceList = {}) => Object.entries(list).filter(([name]) => name !== 'cpu' && name !== 'memory')
  return { ...others, requests: rest(requests), limits: rest(limits) }
}
