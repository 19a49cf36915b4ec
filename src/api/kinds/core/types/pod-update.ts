/** Rules for updating a pod: which fields of the spec and the status may change. */

import { sameJson } from '../../../json/json.ts'
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
import { parseIp } from '../../../model/ip-range.ts'
import { checkDnsSubdomain, checkIpAddress, checkQualifiedName } from '../../../model/names.ts'
import { type Container, listedAlone } from './container.ts'
import { allContainers } from './pod-containers.ts'
import { maxDeadline, type PodSpec } from './pod-spec.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'
import { repeatedAt } from './repeated.ts'
import type { Toleration } from './scheduling.ts'

/** Images may change, the deadline may be shortened, and tolerations may be added or change `tolerationSeconds`. */
export function checkSpecUpdate(next: PodSpec, previous: PodSpec): FieldError[] {
  const resized = (['containers', 'initContainers'] as const).find(
    (list) => next[list]?.length !== previous[list]?.length,
  )
  // Reports nothing else, because the other checks compare containers by position.
  if (resized) return [forbidden(`spec.${resized}`, 'pod updates may not add or remove containers')]
  if (isLaterDeadline(next, previous)) return [invalid(deadlinePath, next.activeDeadlineSeconds, laterDeadline)]
  return [
    ...checkKeptDeadline(next, previous),
    ...checkTolerationUpdate(next.tolerations ?? [], previous.tolerations ?? []),
    ...(same(withUpdatable(next, previous), previous)
      ? []
      : [forbidden('spec', 'only images, activeDeadlineSeconds and additions to tolerations may change')]),
  ]
}

const deadlinePath = 'spec.activeDeadlineSeconds'
const laterDeadline = 'must not be negative, nor greater than the previous value'

/**
 * An invalid deadline is reported alone. A removed deadline is reported along with other errors. Clients expect both.
 */
function isLaterDeadline({ activeDeadlineSeconds: next }: PodSpec, previous: PodSpec): boolean {
  return next !== undefined && (next < 0 || next > (previous.activeDeadlineSeconds ?? maxDeadline))
}

function checkKeptDeadline({ activeDeadlineSeconds: next }: PodSpec, { activeDeadlineSeconds: previous }: PodSpec) {
  return previous === undefined || next !== undefined ? [] : [invalid(deadlinePath, next, 'must not be removed')]
}

function checkTolerationUpdate(next: readonly Toleration[], previous: readonly Toleration[]): FieldError[] {
  const there = new Set(next.map(withoutTime))
  const kept = previous.every((old) => there.has(withoutTime(old)))
  return kept ? [] : [forbidden('spec.tolerations', 'existing ones may only change their tolerationSeconds')]
}

/** Returns a comparison key that ignores `tolerationSeconds`. */
function withoutTime({ key, operator, value, effect }: Toleration): string {
  return JSON.stringify([key, operator, value, effect])
}

/** Returns `next` with the previous values of all fields that may change. */
function withUpdatable(next: PodSpec, previous: PodSpec): PodSpec {
  const { activeDeadlineSeconds: _d, tolerations: _t, ...kept } = next
  const { activeDeadlineSeconds, tolerations, terminationGracePeriodSeconds: grace } = previous
  // Pods stored with a negative grace period may change it to 1.
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

/** Rejects leading or trailing whitespace in image names, which would name another image. */
export function checkImageBlanks(spec: PodSpec, path: FieldPath): FieldError[] {
  const { ephemeralContainers = [], ...others } = spec
  const named = ephemeralContainers.flatMap((one, i): [Container, FieldPath][] =>
    one.name ? [[one, listedAlone(at(child(path, 'ephemeralContainers'), i))]] : [],
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
    ...checkEnded(next, previous, { list: 'initContainerStatuses', policy: restartPolicy }),
    // The node agent never restarts ephemeral containers.
    ...checkEnded(next, previous, { list: 'ephemeralContainerStatuses', policy: 'Never' }),
    ...checkAddresses(next),
  ]
}

interface Ended {
  readonly list: 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses'
  readonly policy: PodSpec['restartPolicy']
}

/** Rejects restarting a container that has terminated for good. Errors name the previous index of the container. */
function checkEnded(next: PodStatus, previous: PodStatus, { list, policy }: Ended): FieldError[] {
  if (policy === 'Always') return []
  const isFinal = (old: ContainerStatus) =>
    hasEnded(old) && (policy !== 'OnFailure' || old.state?.terminated?.exitCode === 0)
  const going = new Set((next[list] ?? []).filter((now) => !hasEnded(now)).map(({ name }) => name))
  return (previous[list] ?? []).flatMap((old, i) =>
    isFinal(old) && going.has(old.name)
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
  const families = new Set(ips.map((ip) => parseIp(ip)?.family))
  const faults = ips.flatMap((ip, i) => checkIpAddress(ip).map((text) => invalid(at(path, i), ip, text)))
  const unreadable = ips.length > 1 && faults.length > 0
  return [
    ...faults,
    ...(unreadable ? [notJudged(path, 'the IP families of the addresses are unknown')] : []),
    ...(unreadable || ips.length > families.size
      ? [invalid(path, ips, 'may specify no more than one IP for each IP family')]
      : []),
    ...[...repeatedAt(ips)].map((i) => duplicate(at(path, i), ips[i]!)),
  ]
}

function same(a: object, b: object): boolean {
  return sameJson(a, b)
}
