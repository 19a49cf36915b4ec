/** Validation of pod updates: which fields of the spec may change. */

import { own, sameJson } from '../../../json/json.ts'
import { at, child, type FieldError, type FieldPath, forbidden, invalid } from '../../../model/field-error.ts'
import { isSince, type RuleContext } from '../../../schema/context.ts'
import type { Container } from './container.ts'
import { ephemeralPath, isJudged } from './ephemeral-container.ts'
import { allContainers } from './pod-containers.ts'
import { maxDeadline, type PodSpec } from './pod-spec.ts'
import type { Toleration } from './scheduling.ts'

/**
 * Validates a change to a pod spec. Images may change, the deadline may be shortened, and tolerations may be added or
 * get a different value of `tolerationSeconds`. Scheduling gates may be removed. While a pod has a scheduling gate, its
 * node selection may become narrower.
 */
export function checkSpecUpdate(next: PodSpec, previous: PodSpec, context: RuleContext): FieldError[] {
  const resized = (['containers', 'initContainers'] as const).find(
    (list) => next[list]?.length !== previous[list]?.length,
  )
  // Report no other errors if containers were added or removed, because the other checks compare containers by index.
  if (resized) return [forbidden(`spec.${resized}`, 'pod updates may not add or remove containers')]
  if (isLaterDeadline(next, previous)) return [invalid(deadlinePath, next.activeDeadlineSeconds, laterDeadline)]
  return [
    ...checkKeptDeadline(next, previous),
    ...checkTolerationUpdate(next.tolerations ?? [], previous.tolerations ?? []),
    ...checkGateUpdate(next.schedulingGates ?? [], previous.schedulingGates ?? []),
    ...(mayNarrow(previous, context) ? checkNarrowing(next, previous) : []),
    ...(same(withUpdatable(next, previous, context), previous)
      ? []
      : [forbidden('spec', 'only images, activeDeadlineSeconds and additions to tolerations may change')]),
  ]
}

const deadlinePath = 'spec.activeDeadlineSeconds'
const laterDeadline = 'must not be negative, nor greater than the previous value'

/**
 * Whether the deadline is negative or later than before. As in Kubernetes, such a deadline is reported without any
 * other errors, whereas a removed deadline is reported together with them.
 */
function isLaterDeadline({ activeDeadlineSeconds: next }: PodSpec, previous: PodSpec): boolean {
  return next !== undefined && (next < 0 || next > (previous.activeDeadlineSeconds ?? maxDeadline))
}

function checkKeptDeadline({ activeDeadlineSeconds: next }: PodSpec, { activeDeadlineSeconds: previous }: PodSpec) {
  return previous === undefined || next !== undefined ? [] : [invalid(deadlinePath, next, 'must not be removed')]
}

function checkTolerationUpdate(next: readonly Toleration[], previous: readonly Toleration[]): FieldError[] {
  const there = new Set(next.map(withoutTime))
  const areTolerationsKept = previous.every((old) => there.has(withoutTime(old)))
  return areTolerationsKept
    ? []
    : [forbidden('spec.tolerations', 'existing ones may only change their tolerationSeconds')]
}

/** Returns a key for comparing tolerations regardless of their `tolerationSeconds`. */
function withoutTime({ key, operator, value, effect }: Toleration): string {
  return JSON.stringify([key, operator, value, effect])
}

/** Returns the next pod spec with the previous values of all fields that may change. */
function withUpdatable(next: PodSpec, previous: PodSpec, context: RuleContext): PodSpec {
  const { activeDeadlineSeconds: _d, tolerations: _t, schedulingGates: _g, ...others } = next
  const { activeDeadlineSeconds, tolerations, schedulingGates, terminationGracePeriodSeconds: grace } = previous
  const restoredSpec = mayNarrow(previous, context) ? withNodeChoice(others, previous) : others
  // A stored negative grace period may only be changed to 1.
  const mended = (grace ?? 0) < 0 && next.terminationGracePeriodSeconds === 1
  return {
    ...restoredSpec,
    ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(schedulingGates === undefined ? {} : { schedulingGates }),
    ...(mended && grace !== undefined ? { terminationGracePeriodSeconds: grace } : {}),
    ...withImages(next, previous, 'containers'),
    ...withImages(next, previous, 'initContainers'),
  }
}

type Gates = NonNullable<PodSpec['schedulingGates']>

function checkGateUpdate(next: Gates, previous: Gates): FieldError[] {
  const before = new Set(previous.map(({ name }) => name))
  return next.flatMap(({ name }, i) =>
    before.has(name)
      ? []
      : [
          forbidden(
            `spec.schedulingGates[${i}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  )
}

/**
 * Whether the node selector and the node affinity may become narrower. This is allowed while the pod has scheduling
 * gates.
 */
function mayNarrow({ schedulingGates = [] }: PodSpec, context: RuleContext): boolean {
  return schedulingGates.length > 0 && isSince('1.27', context)
}

const additionsOnly = 'only additions are allowed (no mutations or deletions)'

function checkNarrowing(next: PodSpec, previous: PodSpec): FieldError[] {
  const { nodeSelector = {} } = next
  const isNarrower = Object.entries(previous.nodeSelector ?? {}).every(
    ([key, value]) => own(nodeSelector, key) === value,
  )
  return [
    ...(isNarrower ? [] : [invalid('spec.nodeSelector', nodeSelector, additionsOnly)]),
    ...checkAffinityNarrowing(requiredTerms(next), requiredTerms(previous)),
  ]
}

function requiredTerms({ affinity }: PodSpec) {
  return affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
}

type Terms = ReturnType<typeof requiredTerms>

function checkAffinityNarrowing(next: Terms, previous: Terms): FieldError[] {
  const path = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms'
  if (previous.length === 0) return []
  if (next.length !== previous.length)
    return [invalid(path, next, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')]
  return previous.flatMap((term, i) =>
    hasOnlyAdditions(next[i]!, term) ? [] : [invalid(at(path, i), next[i], additionsOnly)],
  )
}

/**
 * Whether the next term is the previous term with additional requirements. An empty term matches no node, so additions
 * would make it wider.
 */
function hasOnlyAdditions(next: Terms[number], previous: Terms[number]): boolean {
  const lists = ['matchExpressions', 'matchFields'] as const
  const isEmpty = (term: Terms[number]) => lists.every((list) => (term[list] ?? []).length === 0)
  if (isEmpty(previous)) return isEmpty(next)
  return lists.every((list) => {
    const before = previous[list] ?? []
    return sameJson((next[list] ?? []).slice(0, before.length), before)
  })
}

/** Returns the next pod spec with the previous node selector and node affinity. */
function withNodeChoice(next: PodSpec, { nodeSelector, affinity: before }: PodSpec): PodSpec {
  const { nodeSelector: _s, affinity, ...others } = next
  const { nodeAffinity: _a, ...podAffinities } = affinity ?? {}
  const merged =
    before?.nodeAffinity === undefined ? podAffinities : { ...podAffinities, nodeAffinity: before.nodeAffinity }
  const isUnset = Object.keys(merged).length === 0 && (before === undefined || affinity === undefined)
  return {
    ...others,
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(isUnset ? {} : { affinity: merged }),
  }
}

function withImages(next: PodSpec, previous: PodSpec, list: 'containers' | 'initContainers') {
  const images = next[list]?.map((one, i): Container => {
    const { image: _, ...rest } = one
    const image = previous[list]?.[i]?.image
    return image === undefined ? rest : { ...rest, image }
  })
  return images === undefined ? {} : { [list]: images }
}

/** Rejects leading or trailing whitespace in image names, because it would make the name refer to a different image. */
export function checkImageBlanks(spec: PodSpec, path: FieldPath, context: RuleContext): FieldError[] {
  const { ephemeralContainers = [], ...others } = spec
  const named = ephemeralContainers.flatMap((one, i): [Container, FieldPath][] =>
    isJudged(one, context) ? [[one, ephemeralPath(at(child(path, 'ephemeralContainers'), i), context)]] : [],
  )
  const all = [...allContainers(others, path), ...named]
  return all
    .filter(([{ image = '' }]) => image !== image.trim())
    .map(([{ image }, where]) => invalid(child(where, 'image'), image, 'must not have leading or trailing whitespace'))
}

export function checkEphemeralUpdate(next: PodSpec, previous: PodSpec): FieldError[] {
  const path = 'spec.ephemeralContainers'
  const byName = new Map(next.ephemeralContainers?.map((one) => [one.name, one]))
  return (previous.ephemeralContainers ?? []).flatMap((old) => {
    const now = byName.get(old.name)
    if (now === undefined) return [forbidden(path, `existing ephemeral containers ${old.name} may not be removed`)]
    return same(now, old) ? [] : [forbidden(path, `existing ephemeral containers ${old.name} may not be changed`)]
  })
}

function same(a: object, b: object): boolean {
  return sameJson(a, b)
}
