/** What may change of a pod that exists: of its spec next to nothing, of its status what a node can have seen. */
import { isIPv4 } from 'node:net'
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notJudged,
} from '../../../model/field-error.ts'
import { sameJson } from '../../../model/json.ts'
import { checkDnsSubdomain, checkIpAddress, checkQualifiedName } from '../../../model/names.ts'
import type { Container } from './container.ts'
import type { PodSpec } from './pod-spec.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'
import { repeatedAt } from './repeated.ts'
import type { Toleration } from './scheduling.ts'

/** Images may change, the deadline may come sooner, tolerations may be added or last longer. */
export function checkSpecUpdate(next: PodSpec, previous: PodSpec): FieldError[] {
  const resized = (['containers', 'initContainers'] as const).find(
    (list) => next[list]?.length !== previous[list]?.length,
  )
  // There is no use in listing what else has changed: containers can only be compared one by one.
  if (resized) return [forbidden(`spec.${resized}`, 'pod updates may not add or remove containers')]
  return [
    ...checkDeadlineUpdate(next, previous),
    ...checkTolerationUpdate(next.tolerations ?? [], previous.tolerations ?? []),
    ...(same(withUpdatable(next, previous), previous)
      ? []
      : [forbidden('spec', 'only images, activeDeadlineSeconds and additions to tolerations may change')]),
  ]
}

function checkDeadlineUpdate({ activeDeadlineSeconds: next }: PodSpec, { activeDeadlineSeconds: previous }: PodSpec) {
  const path = 'spec.activeDeadlineSeconds'
  if (previous === undefined || (next !== undefined && next <= previous)) return []
  const why = next === undefined ? 'must not be removed' : 'must be less than or equal to previous value'
  return [invalid(path, next, why)]
}

function checkTolerationUpdate(next: readonly Toleration[], previous: readonly Toleration[]): FieldError[] {
  const there = new Set(next.map(withoutTime))
  const kept = previous.every((old) => there.has(withoutTime(old)))
  return kept ? [] : [forbidden('spec.tolerations', 'existing ones may only change their tolerationSeconds')]
}

/** What a toleration is about, as a string to compare. */
function withoutTime({ key, operator, value, effect }: Toleration): string {
  return JSON.stringify([key, operator, value, effect])
}

/** `next` with everything that may change as it was. */
function withUpdatable(next: PodSpec, previous: PodSpec): PodSpec {
  const { activeDeadlineSeconds: _d, tolerations: _t, ...kept } = next
  const { activeDeadlineSeconds, tolerations, terminationGracePeriodSeconds: grace } = previous
  // A negative grace period was let through once; it may be put right.
  const mended = (grace ?? 0) < 0 && next.terminationGracePeriodSeconds === 1
  return {
    ...kept,
    ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(mended && grace !== undefined ? { terminationGracePeriodSeconds: grace } : {}),
    ...withImages(next, previous, 'containers'),
    ...withImages(next, previous, 'initContainers'),
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

/** A name with blanks around it would be taken for another image. */
export function checkImageBlanks({ containers = [], initContainers = [] }: PodSpec, path: FieldPath): FieldError[] {
  const within = (all: readonly Container[], list: FieldPath) =>
    all.flatMap(({ image = '' }, i) =>
      image === image.trim()
        ? []
        : [invalid(child(at(list, i), 'image'), image, 'must not have leading or trailing whitespace')],
    )
  return [...within(containers, child(path, 'containers')), ...within(initContainers, child(path, 'initContainers'))]
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

const ownConditions = ['PodScheduled', 'Ready', 'Initialized']

export function checkStatusUpdate(next: PodStatus, previous: PodStatus, { restartPolicy }: PodSpec): FieldError[] {
  const { conditions = [], nominatedNodeName: nominated = '' } = next
  const renominated = nominated !== '' && nominated !== previous.nominatedNodeName
  return [
    ...conditions.flatMap(({ type = '' }, i) =>
      ownConditions.includes(type)
        ? []
        : checkQualifiedName(type).map((text) => invalid(`metadata.conditions[${i}].Type`, type, text)),
    ),
    ...(renominated ? checkDnsSubdomain(nominated) : []).map((text) =>
      invalid('status.nominatedNodeName', nominated, text),
    ),
    ...checkEnded(next, previous, { list: 'containerStatuses', policy: restartPolicy }),
    // Init containers run once unless they fail.
    ...checkEnded(next, previous, {
      list: 'initContainerStatuses',
      policy: restartPolicy === 'Always' ? 'OnFailure' : restartPolicy,
    }),
    ...checkAddresses(next),
  ]
}

interface Ended {
  readonly list: 'containerStatuses' | 'initContainerStatuses'
  readonly policy: PodSpec['restartPolicy']
}

/** What has ended and is not started again stays so. */
function checkEnded(next: PodStatus, previous: PodStatus, { list, policy }: Ended): FieldError[] {
  if (policy === 'Always') return []
  const isFinal = (old: ContainerStatus) =>
    hasEnded(old) && (policy !== 'OnFailure' || old.state?.terminated?.exitCode === 0)
  const final = new Set((previous[list] ?? []).filter(isFinal).map(({ name }) => name))
  return (next[list] ?? []).flatMap((now, i) =>
    final.has(now.name) && !hasEnded(now)
      ? [forbidden(`status.${list}[${i}].state`, 'may not be transitioned to non-terminated state')]
      : [],
  )
}

function hasEnded({ state }: ContainerStatus): boolean {
  return state?.terminated !== undefined
}

function checkAddresses({ podIPs = [] }: PodStatus): FieldError[] {
  const path = 'status.podIPs'
  const ips = podIPs.map(({ ip = '' }) => ip)
  const families = new Set(ips.map((ip) => isIPv4(ip)))
  const faults = ips.flatMap((ip, i) => checkIpAddress(ip).map((text) => invalid(at(path, i), ip, text)))
  const unreadable = ips.length > 1 && faults.length > 0
  return [
    ...faults,
    ...(unreadable ? [notJudged(path, 'the families of the addresses are not known')] : []),
    ...(unreadable || ips.length > families.size
      ? [invalid(path, ips, 'may specify no more than one IP for each IP family')]
      : []),
    ...[...repeatedAt(ips)].map((i) => duplicate(at(path, i), ips[i]!)),
  ]
}

function same(a: object, b: object): boolean {
  return sameJson(a, b)
}
