/**
 * Provisions volumes as directories on this machine for claims whose class names this provisioner, and deletes released
 * volumes whose reclaim policy is Delete. A volume is named after the UID of its claim, so an interrupted attempt is
 * resumed and never creates a second volume. Before the provisioner deletes data, it reads the volume and the claim
 * from the server instead of trusting the cache.
 */

import type { Node } from '../../../api/kinds/core/node.ts'
import type { PersistentVolume } from '../../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/kinds/core/persistent-volume-claim.ts'
import type { StorageClass } from '../../../api/kinds/storage/storage-class.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import { nameOfKey, objectKey } from '../../../client/requests/resource-type.ts'
import { isConflict, StatusError } from '../../../client/requests/status-error.ts'
import { type BindingKeys, bindingKeys, hostPathProvisionerName } from '../../volumes/annotations.ts'
import { classOf, isOnNode } from '../../volumes/matching.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import { VolumeDirectories } from './directories.ts'
import type { VolumeParts } from './parts.ts'
import { fail } from './volumes.ts'

export interface HostPathParts extends VolumeParts {
  /** Parent of all volume directories. */
  readonly directory: string
}

interface Provisioner extends HostPathParts {
  readonly keys: BindingKeys
  readonly name: string
  readonly directories: VolumeDirectories
}

export function hostPathProvisionerLoop(parts: HostPathParts): Loop {
  const provisioner: Provisioner = {
    ...parts,
    keys: bindingKeys(parts.vendor),
    name: hostPathProvisionerName(parts.vendor),
    directories: new VolumeDirectories(parts.directory),
  }
  return {
    name: 'host-path-provisioner',
    sources: [
      fromInformer(parts.claims, ({ key }) => [`claim ${key}`]),
      fromInformer(parts.volumes, ({ key }) => [`volume ${key}`]),
      fromInformer(parts.classes, ({ key }) =>
        [...parts.claims.objects()]
          .filter((claim) => classOf(claim, provisioner.keys) === key)
          .map((claim) => `claim ${objectKey(claim)}`),
      ),
    ],
    reconcile: async (key, signal) => {
      const name = nameOfKey(key.slice(key.indexOf(' ') + 1))
      if (key.startsWith('volume ')) return await syncVolume(provisioner, name, signal)
      return await provision(provisioner, parts.claims.get(name), signal)
    },
  }
}

async function provision(
  provisioner: Provisioner,
  claim: PersistentVolumeClaim | undefined,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { keys, recorder } = provisioner
  if (claim === undefined || !isWaiting(provisioner, claim)) return 'done'
  const storageClass = provisioner.classes.get({ name: classOf(claim, keys) })
  const selected = claim.metadata.annotations?.[keys.selectedNode]
  if (storageClass?.provisioner !== provisioner.name) return 'done'
  if (storageClass.volumeBindingMode === 'WaitForFirstConsumer' && selected === undefined) return 'done'
  const node =
    selected === undefined
      ? undefined
      : await ignoreNotFound(provisioner.client.get(kinds.Node, { name: selected }, { signal }))
  const why =
    refusal(claim, storageClass) ?? (selected === undefined ? undefined : nodeRefusal(selected, node, storageClass))
  if (why !== undefined) {
    recorder.record(claim, { type: 'Warning', reason: 'ProvisioningFailed', message: why })
    return 'done'
  }
  await make(provisioner, claim, { storageClass, node, signal })
  return 'done'
}

/** Whether the binder requested a volume that does not exist yet. */
function isWaiting({ keys, name, ...parts }: Provisioner, { metadata, spec }: PersistentVolumeClaim): boolean {
  const { annotations = {}, uid, deletionTimestamp } = metadata
  if ((annotations[keys.provisioner] ?? annotations[keys.betaProvisioner]) !== name) return false
  if (deletionTimestamp !== undefined || (spec?.volumeName ?? '') !== '') return false
  return parts.volumes.get({ name: `pvc-${uid}` }) === undefined
}

function refusal({ spec = {} }: PersistentVolumeClaim, { parameters = {} }: StorageClass): string | undefined {
  if (spec.selector !== undefined) return 'claim.Spec.Selector is not supported for dynamic provisioning'
  if (spec.volumeMode === 'Block') return 'block volumes are not supported by this provisioner'
  if (spec.dataSource !== undefined) return 'data sources are not supported by this provisioner'
  const [unknown] = Object.keys(parameters)
  return unknown === undefined ? undefined : `the parameter ${JSON.stringify(unknown)} of the StorageClass is unknown`
}

function nodeRefusal(name: string, node: Node | undefined, storageClass: StorageClass): string | undefined {
  if (node === undefined) return `the selected node ${JSON.stringify(name)} does not exist`
  const required = topologyOf(storageClass)
  if (required === undefined || isOnNode({ spec: { nodeAffinity: { required } } } as PersistentVolume, node))
    return undefined
  return `the selected node ${JSON.stringify(name)} is in none of the topologies that the StorageClass allows`
}

/** Converts the allowed topologies of a class to node selector terms. Undefined if the class allows all nodes. */
function topologyOf({ allowedTopologies = [] }: StorageClass) {
  if (allowedTopologies.length === 0) return undefined
  const nodeSelectorTerms = allowedTopologies.map(({ matchLabelExpressions = [] }) => ({
    matchExpressions: matchLabelExpressions.map(({ key, values }) => ({ key: key!, operator: 'In', values: values! })),
  }))
  return { nodeSelectorTerms }
}

interface Making {
  readonly storageClass: StorageClass
  readonly node: Node | undefined
  readonly signal: AbortSignal
}

async function make(
  { client, recorder, keys, name: provisioner, vendor, directories }: Provisioner,
  claim: PersistentVolumeClaim,
  { storageClass, node, signal }: Making,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = claim.metadata
  const { accessModes = [], resources } = claim.spec ?? {}
  const required = node === undefined ? topologyOf(storageClass) : onlyOn(node, vendor)
  const path = await directories.make(`pvc-${uid}`)
  const volume: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pvc-${uid}`, annotations: { [keys.provisionedBy]: provisioner } },
    spec: {
      capacity: { storage: resources?.requests?.storage ?? '0' },
      accessModes,
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy === 'Retain' ? 'Retain' : 'Delete',
      storageClassName: storageClass.metadata.name!,
      volumeMode: 'Filesystem',
      hostPath: { path, type: 'Directory' },
      ...(storageClass.mountOptions === undefined ? {} : { mountOptions: storageClass.mountOptions }),
      ...(required === undefined ? {} : { nodeAffinity: { required } }),
    },
  }
  try {
    await client.create(kinds.PersistentVolume, volume, { signal })
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error
  }
  const message = `Successfully provisioned volume pvc-${uid} using ${provisioner}`
  recorder.record(claim, { type: 'Normal', reason: 'ProvisioningSucceeded', message })
}

function onlyOn({ metadata: { name = '', labels = {} } }: Node, vendor: Vendor) {
  const key = vendorKey(vendor, 'hostname')
  return { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [labels[key] ?? name] }] }] }
}

async function syncVolume(
  provisioner: Provisioner,
  { name }: { name: string },
  signal: AbortSignal,
): Promise<StepOutcome> {
  const cachedVolume = provisioner.volumes.get({ name })
  if (cachedVolume === undefined) await provisioner.directories.forget(name)
  else if (isReclaimable(provisioner, cachedVolume)) await reclaim(provisioner, cachedVolume, signal)
  return 'done'
}

/** Whether this provisioner created the volume, its claim is deleted and its policy is Delete. */
function isReclaimable({ keys, name }: Provisioner, { metadata, spec, status }: PersistentVolume): boolean {
  if (metadata.annotations?.[keys.provisionedBy] !== name) return false
  return status?.phase === 'Released' && spec?.persistentVolumeReclaimPolicy === 'Delete'
}

/**
 * Deletes the data of a released volume and then the volume. If the directory is on another machine, leaves the volume
 * to the provisioner there.
 */
async function reclaim(provisioner: Provisioner, cachedVolume: PersistentVolume, signal: AbortSignal): Promise<void> {
  const { client, directories, recorder } = provisioner
  const { name = '', uid = '' } = cachedVolume.metadata
  const volume = await ignoreNotFound(client.get(kinds.PersistentVolume, { name }, { signal }))
  if (volume === undefined || volume.metadata.uid !== uid || !isReclaimable(provisioner, volume)) return
  if (await isClaimed(provisioner, volume, signal)) return
  const path = volume.spec?.hostPath?.path ?? ''
  try {
    if ((await directories.remove(name, path)) === 'absent') {
      const message = `the directory ${path} is on another machine, whose provisioner removes it`
      recorder.record(volume, { type: 'Warning', reason: 'VolumeFailedDelete', message })
      return
    }
  } catch (error) {
    await fail(provisioner, volume, { reason: 'VolumeFailedDelete', message: messageOf(error), signal })
    return
  }
  try {
    await ignoreNotFound(client.delete(kinds.PersistentVolume, { name }, { preconditions: { uid }, signal }))
  } catch (error) {
    if (!isConflict(error)) throw error
  }
}

/** Whether the claim that the volume references exists and is not bound to another volume. */
async function isClaimed(
  { client }: Provisioner,
  { metadata, spec }: PersistentVolume,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace = '', name = '', uid } = spec?.claimRef ?? {}
  const claim = await ignoreNotFound(client.get(kinds.PersistentVolumeClaim, { namespace, name }, { signal }))
  if (claim === undefined || claim.metadata.uid !== uid) return false
  return ['', metadata.name].includes(claim.spec?.volumeName ?? '')
}
