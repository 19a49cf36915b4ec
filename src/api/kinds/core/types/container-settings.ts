/**
 * Validation of a container that depends on settings of its pod: restart policy, grace period, operating system, user
 * namespace and resource claims.
 */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkDnsLabel } from '../../../model/names.ts'
import { isEnabled, isSince, type RuleContext } from '../../../schema/context.ts'
import { type Container, isSidecar } from './container.ts'
import { checkResizePolicies, checkRestart } from './container-restarts.ts'
import { checkFileKeys } from './environment.ts'
import type { Lifecycle } from './handlers.ts'
import { checkStopSignal } from './stop-signals.ts'
import type { Volume } from './volume.ts'

/** Settings of a pod that affect the validation of its containers. */
export interface PodSettings {
  readonly restartPolicy?: string
  readonly terminationGracePeriodSeconds?: number
  readonly hostUsers?: boolean
  readonly os?: { readonly name?: string }
  readonly resourceClaims?: readonly { readonly name?: string }[]
}

/** Name of a pod field that contains containers. */
export type ContainerList = 'containers' | 'initContainers' | 'ephemeralContainers'

interface Settings {
  readonly pod: PodSettings
  readonly context: RuleContext
}

/** Returns the validation rules for the containers of a pod. */
export function containerRules(pod: PodSettings, volumes: ReadonlyMap<string, Volume>, context: RuleContext) {
  const settings: Settings = { pod, context }
  const claims = new Set(pod.resourceClaims?.map(({ name = '' }) => name))
  return (one: Container, path: FieldPath, list: ContainerList): FieldError[] => {
    const { lifecycle, resources: { claims: used } = {}, env } = one
    const hasLifecycle = list === 'containers' || (list === 'initContainers' && isSidecar(one))
    return [
      ...checkRestartOf(one, { list, path }, context),
      ...(one.resizePolicy === undefined || list === 'ephemeralContainers'
        ? []
        : checkResizePolicies(one.resizePolicy, child(path, 'resizePolicy'), pod.restartPolicy)),
      ...(lifecycle && hasLifecycle ? checkLifecycle(lifecycle, child(path, 'lifecycle'), settings) : []),
      ...(used === undefined ? [] : checkClaimUse(used, claims, child(path, 'resources.claims'))),
      ...(env === undefined ? [] : checkFileKeys(env, volumes, child(path, 'env'))),
      ...checkUserNamespace(one, path, settings),
    ]
  }
}

interface Place {
  readonly list: ContainerList
  readonly path: FieldPath
}

function checkRestartOf(one: Container, { list, path }: Place, context: RuleContext): FieldError[] {
  const { restartPolicy } = one
  if (list === 'ephemeralContainers') return []
  if (isEnabled('ContainerRestartRules', context)) return checkRestart(one, path, context)
  if (restartPolicy === undefined) return []
  const place = child(path, 'restartPolicy')
  if (list === 'containers') return [forbidden(place, 'may not be set for non-init containers')]
  return isSidecar(one) ? [] : [notSupported(place, restartPolicy, ['Always'])]
}

function checkLifecycle(
  { postStart, preStop, stopSignal }: Lifecycle,
  path: FieldPath,
  settings: Settings,
): FieldError[] {
  const { pod } = settings
  const sleeps = [
    [postStart?.sleep, child(path, 'postStart.sleep')],
    [preStop?.sleep, child(path, 'preStop.sleep')],
  ] as const
  return [
    ...sleeps.flatMap(([sleep, place]) => (sleep ? checkSleep(sleep.seconds ?? 0, place, settings) : [])),
    ...(stopSignal === undefined ? [] : checkStopSignal(stopSignal, pod.os?.name ?? '', child(path, 'stopSignal'))),
  ]
}

/** Requires a pause in a lifecycle hook to end within the pod's grace period. */
function checkSleep(seconds: number, path: FieldPath, { pod, context }: Settings): FieldError[] {
  const { terminationGracePeriodSeconds: grace = 30 } = pod
  const min = isEnabled('PodLifecycleSleepActionAllowZero', context) ? 0 : 1
  if (seconds >= min && seconds <= grace) return []
  return [invalid(path, seconds, `must be between ${min} and terminationGracePeriodSeconds (${grace})`)]
}

/**
 * Validates a container's references to the claims of its pod. A container refers to each claim either as a whole or by
 * individual requests.
 */
export function checkClaimUse(
  used: readonly { readonly name?: string; readonly request?: string }[],
  claims: ReadonlySet<string>,
  path: FieldPath,
): FieldError[] {
  const whole = new Set<string>()
  const parts = new Set<string>()
  return used.flatMap(({ name = '', request = '' }, i) => {
    const place = at(path, i)
    if (name === '') return [required(place)]
    const part = `${name}/${request}`
    const repeated = whole.has(name) || parts.has(request === '' ? name : part)
    if (request === '') whole.add(name)
    else parts.add(name).add(part)
    return [
      ...(repeated ? [duplicate(place, request === '' || whole.has(name) ? name : part)] : []),
      ...(request === '' ? [] : checkDnsLabel(request).map((text) => invalid(child(place, 'request'), request, text))),
      ...(claims.has(name) ? [] : [notFound(place, name)]),
    ]
  })
}

/**
 * Allows a container to unmask /proc only in a pod with its own user namespace. Rejects block devices in such a pod.
 */
function checkUserNamespace(one: Container, path: FieldPath, { pod, context }: Settings): FieldError[] {
  const isOwn = pod.hostUsers === false
  const unmasks = one.securityContext?.procMount === 'Unmasked' && isSince('1.30', context)
  return [
    ...(unmasks && !isOwn
      ? [invalid(child(path, 'securityContext.procMount'), 'Unmasked', '`hostUsers` must be false to use `Unmasked`')]
      : []),
    ...(isOwn && (one.volumeDevices ?? []).length > 0
      ? [forbidden(child(path, 'volumeDevices'), 'when `hostUsers` is false')]
      : []),
  ]
}
