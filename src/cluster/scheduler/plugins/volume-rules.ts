/**
 * Volume rules: whether a node can access the volumes, how many volumes it supports, and which disks need exclusive
 * use.
 */
import type { PersistentVolume } from '../../../api/kinds/core/persistent-volume.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { NodeInfo } from '../node-info.ts'
import { happened, type Plugin, type Refusal, type Sight } from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'
import { claimsOf, VolumeChooser } from '../pod-volumes.ts'

const { nodeAdded, nodeLabels, podGone, claimChanged, volumeChanged, classChanged, csiNodeChanged } = happened

/**
 * Excludes nodes that cannot access the Pod's bound volumes, and nodes for which no volumes for the Pod's unbound
 * claims can be found or provisioned.
 */
export const volumeBinding: Plugin = {
  name: 'VolumeBinding',
  wokenBy: nodeAdded | nodeLabels | claimChanged | volumeChanged | classChanged | csiNodeChanged,
  filter: (pod, { storage, vendor }) => {
    if (pod.claims.length === 0) return undefined
    const claims = claimsOf(pod, storage, vendor)
    if ('reasons' in claims) return claims
    const chooser = new VolumeChooser(claims, storage, vendor)
    return {
      check: (node) => {
        const choice = chooser.choose(node)
        return 'reasons' in choice ? choice : undefined
      },
    }
  },
}

const otherZone: Refusal = {
  plugin: 'VolumeZone',
  reasons: ['node(s) had no available volume zone'],
  isFinal: true,
}

/** Excludes nodes outside the zone or region that the labels of a volume specify. */
export const volumeZone: Plugin = {
  name: 'VolumeZone',
  wokenBy: nodeAdded | nodeLabels | claimChanged | volumeChanged | classChanged,
  filter: (pod, sight) => {
    const { zone, region, betaZone, betaRegion } = sight.cluster.keys
    const keys = [zone, region, betaZone, betaRegion]
    const demands = boundVolumes(pod, sight).flatMap(({ metadata: { labels = {} } }) =>
      keys.flatMap((key) => (Object.hasOwn(labels, key) ? [{ key, values: labels[key]!.split('__') }] : [])),
    )
    if (demands.length === 0) return undefined
    return {
      check: (node) => {
        if (keys.every((key) => node.label(key) === undefined)) return undefined
        return demands.every(({ key, values }) => values.includes(node.label(key) ?? '')) ? undefined : otherZone
      },
    }
  },
}

function boundVolumes({ namespace, claims }: PodInfo, { storage }: Sight): PersistentVolume[] {
  return claims.flatMap((name) => {
    const volumeName = storage.claims.get({ namespace, name })?.spec?.volumeName ?? ''
    return (volumeName === '' ? undefined : storage.volumes.get({ name: volumeName })) ?? []
  })
}

const tooManyVolumes: Refusal = {
  plugin: 'NodeVolumeLimits',
  reasons: ['node(s) exceed max volume count'],
  isFinal: false,
}

/** Limits the number of CSI volumes per driver on a node to the limit in the node's CSINode. */
export const nodeVolumeLimits: Plugin = {
  name: 'NodeVolumeLimits',
  wokenBy: csiNodeChanged | podGone,
  filter: (pod, sight) => {
    const podVolumes = csiVolumes(pod, sight)
    if (podVolumes.size === 0) return undefined
    return {
      check: (node) => {
        const limits = limitsOf(node, sight)
        if (limits.size === 0) return undefined
        const attachedVolumes = new Map<string, string>()
        for (const other of node.pods)
          for (const [handle, driver] of csiVolumes(other, sight)) attachedVolumes.set(handle, driver)
        return exceeds(limits, attachedVolumes, podVolumes) ? tooManyVolumes : undefined
      },
    }
  },
}

type Drivers = ReadonlyMap<string, string>

/** Returns the drivers of the CSI volumes that the Pod uses, keyed by driver and handle. */
function csiVolumes(pod: PodInfo, sight: Sight): Drivers {
  if (pod.claims.length === 0) return new Map()
  return new Map(
    boundVolumes(pod, sight).flatMap(({ spec }) => {
      const { driver = '', volumeHandle = '' } = spec?.csi ?? {}
      return driver === '' ? [] : [[`${driver} ${volumeHandle}`, driver] as const]
    }),
  )
}

function limitsOf({ name }: NodeInfo, { storage }: Sight): Map<string, number> {
  const drivers = storage.csiNodes.get({ name })?.spec?.drivers ?? []
  return new Map(
    drivers.flatMap(({ name: driver = '', allocatable }) =>
      allocatable?.count === undefined ? [] : [[driver, allocatable.count] as const],
    ),
  )
}

function exceeds(limits: ReadonlyMap<string, number>, attachedVolumes: Drivers, podVolumes: Drivers): boolean {
  const all = new Map([...attachedVolumes, ...podVolumes])
  const isNew = new Set([...podVolumes].flatMap(([handle, driver]) => (attachedVolumes.has(handle) ? [] : [driver])))
  const counts = Map.groupBy(all.values(), (driver) => driver)
  return [...isNew].some((driver) => {
    const limit = limits.get(driver)
    return limit !== undefined && counts.get(driver)!.length > limit
  })
}

const diskTaken: Refusal = {
  plugin: 'VolumeRestrictions',
  reasons: ['node(s) had no available disk'],
  isFinal: false,
}

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]

/** Allows only one Pod on a node to use a disk that Pods reference directly, unless all Pods use the disk read-only. */
export const volumeRestrictions: Plugin = {
  name: 'VolumeRestrictions',
  wokenBy: podGone | claimChanged,
  filter: (pod) => {
    const podVolumes = disksOf(pod)
    if (podVolumes.length === 0) return undefined
    return {
      check: (node) => {
        for (const other of node.pods)
          if (disksOf(other).some((disk) => podVolumes.some((each) => conflict(each, disk)))) return diskTaken
        return undefined
      },
    }
  },
}

interface Disk {
  readonly id: string
  readonly isReadOnly: boolean
}

function conflict(a: Disk, b: Disk): boolean {
  return a.id === b.id && !(a.isReadOnly && b.isReadOnly)
}

function disksOf({ spec }: PodInfo): Disk[] {
  return (spec.volumes ?? []).flatMap(diskOf)
}

function diskOf({ gcePersistentDisk: gce, awsElasticBlockStore: aws, iscsi, rbd }: Volume): Disk[] {
  if (gce !== undefined) return [{ id: `gce ${gce.pdName}`, isReadOnly: gce.readOnly === true }]
  // Two Pods can never share an AWS disk, not even in read-only mode.
  if (aws !== undefined) return [{ id: `aws ${aws.volumeID}`, isReadOnly: false }]
  if (iscsi !== undefined) return [{ id: `iscsi ${iscsi.iqn}`, isReadOnly: iscsi.readOnly === true }]
  if (rbd === undefined) return []
  const isReadOnly = rbd.readOnly === true
  return (rbd.monitors ?? []).map((monitor) => ({ id: `rbd ${monitor} ${rbd.pool} ${rbd.image}`, isReadOnly }))
}
