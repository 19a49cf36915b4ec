/** Validation across the containers of a pod, including their use of its volumes and network. */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notFound,
  required,
} from '../../../model/field-error.ts'
import { isSince, type RuleContext } from '../../../schema/context.ts'
import { validate } from '../../../schema/validate.ts'
import { type Container, checkNoProbes, isSidecar } from './container.ts'
import { type ContainerList, containerRules, type PodSettings } from './container-settings.ts'
import { type EphemeralContainer, ephemeralPath, isJudged } from './ephemeral-container.ts'
import { repeatedAt } from './repeated.ts'
import type { PodSecurityContext } from './security-context.ts'
import { type Volume, volume } from './volume.ts'
import { checkNoBacksteps } from './volumes/host-path.ts'

export interface Containers extends PodSettings {
  containers?: Container[]
  initContainers?: Container[]
  ephemeralContainers?: EphemeralContainer[]
  volumes?: Volume[]
  hostNetwork?: boolean
  securityContext?: PodSecurityContext
}

interface TogetherContext extends RuleContext {
  /** Whether the volumes are known to be valid, so that their validation can be skipped. */
  readonly sound: boolean
}

export function checkContainersTogether(spec: Containers, path: FieldPath, context: TogetherContext): FieldError[] {
  const { containers = [], ephemeralContainers = [], volumes = [] } = spec
  const place = child(path, 'containers')
  const sound = soundVolumes(volumes, context)
  return [
    ...(containers.length === 0 ? [required(place)] : []),
    ...checkVolumeNames(volumes, sound, child(path, 'volumes')),
    ...checkContainerNames(spec, path),
    ...allContainers({ ...spec, ephemeralContainers: [] }, path).flatMap(([one, where]) =>
      checkVolumeUse(one, sound, where),
    ),
    ...allContainers({ ephemeralContainers }, path).flatMap(([one, where]) =>
      isJudged(one, context) ? checkVolumeUse(one, sound, ephemeralPath(where, context)) : [],
    ),
    ...checkSettings({ spec, volumes: sound }, path, context),
    ...checkInitContainers(spec, child(path, 'initContainers'), context),
    ...checkHostPorts(containers, place),
    ...(spec.hostNetwork ? checkHostNetwork(containers, place, context) : []),
    ...checkHostProcesses(spec, path),
  ]
}

function checkSettings(
  { spec, volumes }: { spec: Containers; volumes: ReadonlyMap<string, Volume> },
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const check = containerRules(spec, volumes, context)
  return listNames.flatMap((list) =>
    (spec[list] ?? []).flatMap((one: Container, i) => check(one, at(child(path, list), i), list)),
  )
}

/** Returns every container of a pod with its field path. */
export function allContainers(spec: Containers, path: FieldPath): [Container, FieldPath][] {
  const all: [Container, FieldPath][] = []
  for (const name of listNames) {
    const list = spec[name]
    if (list !== undefined) for (let i = 0; i < list.length; i++) all.push([list[i]!, at(child(path, name), i)])
  }
  return all
}

const listNames: readonly ContainerList[] = ['initContainers', 'containers', 'ephemeralContainers']

/**
 * Returns the valid volumes by name. If a name occurs more than once, the first valid volume with that name is used.
 */
function soundVolumes(volumes: readonly Volume[], context: TogetherContext): Map<string, Volume> {
  const sound = new Map<string, Volume>()
  const isSound = (one: Volume) => context.sound || validate(volume, one, context).length === 0
  for (const one of volumes) if (!sound.has(one.name ?? '') && isSound(one)) sound.set(one.name!, one)
  return sound
}

function checkVolumeNames(volumes: readonly Volume[], sound: ReadonlyMap<string, Volume>, path: FieldPath) {
  const before = new Set<string>()
  return volumes.flatMap((one, i) => {
    const name = one.name ?? ''
    const repeated = before.has(name)
    if (sound.get(name) === one) before.add(name)
    return repeated ? [duplicate(child(at(path, i), 'name'), name)] : []
  })
}

/** Requires unique container names across init, regular and ephemeral containers. */
function checkContainerNames(spec: Containers, path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  const checkName = (name: string, where: FieldPath): FieldError[] => {
    const repeated = seen.has(name)
    seen.add(name)
    return repeated ? [duplicate(child(where, 'name'), name)] : []
  }
  const { ephemeralContainers = [], ...others } = spec
  const faults = (['containers', 'initContainers'] as const).flatMap((list) =>
    (others[list] ?? []).flatMap(({ name = '' }, i) => checkName(name, at(child(path, list), i))),
  )
  // The target container must precede the ephemeral container. Missing names are reported elsewhere.
  const ephemeral = ephemeralContainers.flatMap(({ name = '', targetContainerName: target = '' }, i) => {
    const where = at(child(path, 'ephemeralContainers'), i)
    const lost = target === '' || seen.has(target) ? [] : [notFound(child(where, 'targetContainerName'), target)]
    return name === '' ? lost : [...lost, ...checkName(name, where)]
  })
  return [...faults, ...ephemeral]
}

/**
 * Validates init containers. They run one at a time, so host ports can conflict only within one container. Errors are
 * reported for the first init container, as clients expect.
 */
function checkInitContainers({ initContainers = [] }: Containers, path: FieldPath, context: RuleContext) {
  return initContainers.flatMap((one, i) => [
    ...(isSidecar(one) ? [] : checkNoProbes(one, at(path, i), context)),
    ...checkHostPorts([one], path),
  ])
}

function checkHostPorts(containers: readonly Container[], path: FieldPath): FieldError[] {
  const names = new Set<string>()
  return eachPort(containers, path).flatMap(([{ protocol, hostIP = '', hostPort = 0 }, where]) => {
    const name = `${protocol}/${hostIP}/${hostPort}`
    if (hostPort === 0) return []
    if (names.has(name)) return [duplicate(child(where, 'hostPort'), name)]
    names.add(name)
    return []
  })
}

/**
 * Requires containers on the host network to have equal host and container ports. Since 1.28, pod templates need not
 * set host ports, and errors are reported for the host port.
 */
function checkHostNetwork(containers: readonly Container[], path: FieldPath, context: RuleContext): FieldError[] {
  const isLater = isSince('1.28', context)
  return eachPort(containers, path)
    .filter(([{ hostPort = 0, containerPort = 0 }]) => hostPort !== containerPort && !(isLater && hostPort === 0))
    .map(([{ containerPort, hostPort }, where]) =>
      isLater
        ? invalid(child(where, 'hostPort'), hostPort, 'must match `containerPort` when `hostNetwork` is true')
        : invalid(child(where, 'containerPort'), containerPort, 'must match `hostPort` when `hostNetwork` is true'),
    )
}

type Port = NonNullable<Container['ports']>[number]

function eachPort(containers: readonly Container[], path: FieldPath): [Port, FieldPath][] {
  return containers.flatMap(({ ports = [] }, i) =>
    ports.map((port, j): [Port, FieldPath] => [port, at(child(at(path, i), 'ports'), j)]),
  )
}

function checkVolumeUse(
  { volumeMounts = [], volumeDevices = [] }: Container,
  volumes: ReadonlyMap<string, Volume>,
  path: FieldPath,
): FieldError[] {
  const mounts = usesOf(volumeMounts.map(({ name = '', mountPath = '' }) => ({ name, place: mountPath })))
  const devices = usesOf(volumeDevices.map(({ name = '', devicePath = '' }) => ({ name, place: devicePath })))
  const mountFaults = checkMounts(mounts, volumes, child(path, 'volumeMounts'))
  if (volumeDevices.length === 0) return mountFaults
  return [
    ...mountFaults,
    ...checkOverlap(mounts, devices, { list: child(path, 'volumeMounts'), place: 'mountPath' }),
    ...checkDevices(devices, volumes, child(path, 'volumeDevices')),
    ...checkOverlap(devices, mounts, { list: child(path, 'volumeDevices'), place: 'devicePath' }),
  ]
}

/** The volume mounts or block devices of a container. */
interface Uses {
  readonly all: readonly { readonly name: string; readonly place: string }[]
  readonly names: ReadonlySet<string>
  readonly places: ReadonlySet<string>
}

/** Indexes the uses of volumes. If a volume is used more than once, only its last path counts, as clients expect. */
function usesOf(all: Uses['all']): Uses {
  const lastPlaces = new Map(all.map(({ name, place }) => [name, place]))
  return { all, names: new Set(lastPlaces.keys()), places: new Set(lastPlaces.values()) }
}

function checkMounts({ all }: Uses, volumes: ReadonlyMap<string, Volume>, path: FieldPath): FieldError[] {
  const repeated = repeatedAt(all.map(({ place }) => place))
  return all.flatMap(({ name, place }, i) => [
    ...(volumes.has(name) ? [] : [notFound(child(at(path, i), 'name'), name)]),
    ...(repeated.has(i) ? [invalid(child(at(path, i), 'mountPath'), place, 'must be unique')] : []),
  ])
}

function checkDevices({ all }: Uses, volumes: ReadonlyMap<string, Volume>, path: FieldPath): FieldError[] {
  const repeatedNames = repeatedAt(all.map(({ name }) => name || undefined))
  const repeatedPlaces = repeatedAt(all.map(({ place }) => place))
  return all.flatMap(({ name, place }, i) => {
    const namePath = child(at(path, i), 'name')
    const placePath = child(at(path, i), 'devicePath')
    return [
      ...(repeatedNames.has(i) ? [invalid(namePath, name, 'must be unique')] : []),
      ...(repeatedPlaces.has(i) ? [invalid(placePath, place, 'must be unique')] : []),
      ...checkBlock(name, volumes.get(name), namePath),
      ...checkNoBacksteps(place, placePath),
    ]
  })
}

/** Rejects a block device whose volume is not a claim. */
function checkBlock(name: string, used: Volume | undefined, path: FieldPath): FieldError[] {
  if (used === undefined) return [notFound(path, name)]
  if (used.persistentVolumeClaim || used.ephemeral) return []
  return [invalid(path, name, 'block devices require a persistentVolumeClaim or ephemeral volume')]
}

/** Rejects a volume or path that is used both as a mount and as a device. */
function checkOverlap({ all }: Uses, others: Uses, { list, place: placeName }: { list: FieldPath; place: string }) {
  return all.flatMap(({ name, place }, i) => [
    ...(others.names.has(name)
      ? [invalid(child(at(list, i), 'name'), name, 'must not be used as both a mount and a device')]
      : []),
    ...(others.places.has(place)
      ? [invalid(child(at(list, i), placeName), place, 'must not be used as both a mount and a device')]
      : []),
  ])
}

/**
 * Requires either all or none of the containers in a Windows pod to be host processes. A pod with host processes must
 * use the host network.
 */
function checkHostProcesses(spec: Containers, path: FieldPath): FieldError[] {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess
  const choices = allContainers(spec, path).map(([one, where]) => {
    const own = one.securityContext?.windowsOptions?.hostProcess
    return { own, where: child(where, 'securityContext.windowsOptions.hostProcess') }
  })
  const conflicts = choices
    .filter(({ own }) => own !== undefined && ofPod !== undefined && own !== ofPod)
    .map(({ own, where }) => invalid(where, own, "must match the pod's setting"))
  const hostProcesses = choices.filter(({ own }) => own ?? ofPod)
  if (hostProcesses.length === 0) return conflicts
  return [
    ...conflicts,
    ...(hostProcesses.length < choices.length
      ? [invalid(path, '', 'either all or no containers must be hostProcess')]
      : []),
    ...(spec.hostNetwork
      ? []
      : [invalid(child(path, 'hostNetwork'), false, 'must be true with hostProcess containers')]),
  ]
}
