/**
 * Attaches the volumes of Pods to the Pods' nodes, and detaches them when no Pod on the node uses them. The loop
 * creates and deletes VolumeAttachments for CSI volumes whose driver requires attaching, one node at a time. The
 * driver's attacher reports the result, which this loop copies to the node's status.
 *
 * A volume that the node still reports as in use stays attached for up to six minutes. After that time, the node is
 * considered lost.
 */

import { createHash } from 'node:crypto'
import { type Json, sameJson } from '../../../api/json/json.ts'
import type { Node } from '../../../api/kinds/core/node.ts'
import type { PersistentVolume } from '../../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { CSIDriver } from '../../../api/kinds/storage/csi-driver.ts'
import type { VolumeAttachment } from '../../../api/kinds/storage/volume-attachment.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Index } from '../../../client/informers/object-index.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { inDomainOf } from '../../../client/requests/resource-type.ts'
import { isConflict, StatusError } from '../../../client/requests/status-error.ts'
import { isFor } from '../../volumes/matching.ts'
import { claimNames } from '../../volumes/pod-claims.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'

export interface AttachDetachParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly clock: Clock
  readonly pods: Informer<Pod>
  readonly nodes: Informer<Node>
  readonly claims: Informer<PersistentVolumeClaim>
  readonly volumes: Informer<PersistentVolume>
  readonly attachments: Informer<VolumeAttachment>
  readonly drivers: Informer<CSIDriver>
}

/** How long an unneeded volume stays attached while its node reports it as in use, in milliseconds. */
const maxUnmountMs = 6 * 60_000
const lookAgainMs = 10_000

interface State extends AttachDetachParts {
  /**
   * Pods that use claims, by node. Most pods use no claims, and a change to one Pod must not require a scan of all
   * Pods.
   */
  readonly usersOn: Index<Pod>
  /** By attachment UID, the time when each unneeded attachment began to wait for its node to unmount the volume. */
  readonly waitingSince: Map<string, number>
  /** Attachments whose result has already been reported. */
  readonly reported: WeakSet<VolumeAttachment>
}

export function attachDetachLoop(parts: AttachDetachParts): Loop {
  const usersOn = parts.pods.index((pod) => (claimNames(pod).length === 0 ? [] : [pod.spec?.nodeName]))
  const state = {
    ...parts,
    usersOn,
    waitingSince: new Map<string, number>(),
    reported: new WeakSet<VolumeAttachment>(),
  }
  const using = (pod: Pod | undefined) => (pod === undefined || claimNames(pod).length === 0 ? undefined : pod)
  const allNodes = () => new Set([...parts.pods.objects()].map(({ spec }) => spec?.nodeName ?? '').filter(Boolean))
  const nodesOf = (...objects: readonly (Pod | VolumeAttachment | undefined)[]) =>
    new Set(objects.map((object) => object?.spec?.nodeName ?? '').filter(Boolean))
  return {
    name: 'attachdetach',
    sources: [
      fromInformer(parts.pods, ({ object, previous }) => nodesOf(using(object), using(previous))),
      fromInformer(parts.attachments, ({ object, previous }) => [
        ...nodesOf(object, previous),
        // Once a volume is detached, another node that waits for it can attach it.
        ...(object === undefined ? nodesFor(parts, volumeOf(parts, previous!)) : []),
      ]),
      fromInformer(parts.nodes),
      fromInformer(parts.claims, ({ object, previous }) => nodesUsing(parts, (object ?? previous)!)),
      fromInformer(parts.volumes, ({ object, previous }) => nodesFor(parts, object ?? previous)),
      fromInformer(parts.drivers, allNodes),
    ],
    reconcile: (name, signal) => reconcile(state, name, signal),
  }
}

function nodesUsing(
  { pods }: AttachDetachParts,
  { metadata: { namespace, name } }: PersistentVolumeClaim,
): Set<string> {
  const users = [...pods.objects()].filter(
    (pod) => pod.metadata.namespace === namespace && claimNames(pod).includes(name ?? ''),
  )
  return new Set(users.map(({ spec }) => spec?.nodeName ?? '').filter(Boolean))
}

/** Returns the names of the nodes whose Pods use the volume's claim. */
function nodesFor(parts: AttachDetachParts, volume: PersistentVolume | undefined): Set<string> {
  const { namespace = '', name = '' } = volume?.spec?.claimRef ?? {}
  const claim = parts.claims.get({ namespace, name })
  return claim === undefined ? new Set() : nodesUsing(parts, claim)
}

interface Wanted {
  readonly volume: PersistentVolume
  readonly driver: string
  readonly handle: string
  /** The first Pod that needs the volume. Events are recorded about this Pod. */
  readonly pod: Pod
}

async function reconcile(state: State, nodeName: string, signal: AbortSignal): Promise<StepOutcome> {
  const desiredAttachments = wantedOn(state, nodeName)
  const present = [...state.attachments.objects()].filter((each) => each.spec?.nodeName === nodeName && isOurs(each))
  const surplus = present.filter(({ metadata }) => !desiredAttachments.has(metadata.name ?? ''))
  const detachable = surplus.filter((each) => mayDetach(state, nodeName, each))
  // The node's status is updated before the volume is detached, so that the node does not mount it in the meantime.
  const remainingAttachments = present.filter(
    (each) => !detachable.includes(each) && each.metadata.deletionTimestamp === undefined,
  )
  await reportAttached(state, nodeName, { remainingAttachments, signal })
  const failures: unknown[] = []
  const attempt = (done: Promise<unknown>) => done.catch((error: unknown) => failures.push(error))
  for (const attachment of detachable) await attempt(detach(state, attachment, signal))
  for (const [name, each] of desiredAttachments) await attempt(attach(state, each, { name, nodeName, signal }))
  if (failures.length > 0) {
    if (failures.every(isConflict)) return 'later'
    throw failures[0]
  }
  return surplus.length > detachable.length ? { afterMs: lookAgainMs } : 'done'
}

/** Returns the volumes that must be attached for the Pods on a node, by attachment name. */
function wantedOn({ usersOn, claims, volumes, drivers }: State, nodeName: string): Map<string, Wanted> {
  const desiredAttachments = new Map<string, Wanted>()
  for (const pod of usersOn.get(nodeName)) {
    if (['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) continue
    for (const name of claimNames(pod)) {
      const claim = claims.get({ namespace: pod.metadata.namespace ?? '', name })
      const volume = volumes.get({ name: claim?.spec?.volumeName ?? '' })
      if (claim === undefined || volume === undefined || !isFor(volume, claim)) continue
      const { driver = '', volumeHandle: handle = '' } = volume.spec?.csi ?? {}
      if (driver === '' || drivers.get({ name: driver })?.spec?.attachRequired === false) continue
      const key = attachmentName({ driver, handle, nodeName })
      if (!desiredAttachments.has(key)) desiredAttachments.set(key, { volume, driver, handle, pod })
    }
  }
  return desiredAttachments
}

/** Returns the name of an attachment. Kubernetes uses the same names, so that an attachment is never created twice. */
function attachmentName({ driver, handle, nodeName }: { driver: string; handle: string; nodeName: string }): string {
  return `csi-${createHash('sha256').update(`${handle}${driver}${nodeName}`).digest('hex')}`
}

/** Whether this loop created the attachment, judging by its name. The loop never deletes other attachments. */
function isOurs(attachment: VolumeAttachment): boolean {
  return (
    /^csi-[0-9a-f]{64}$/.test(attachment.metadata.name ?? '') &&
    attachment.spec?.source?.persistentVolumeName !== undefined
  )
}

/** Returns the name that identifies a volume in the status of a node. */
function uniqueName({ vendor }: State, volume: PersistentVolume | undefined): string | undefined {
  const { driver, volumeHandle } = volume?.spec?.csi ?? {}
  return driver === undefined ? undefined : vendorKey(vendor, `csi/${driver}^${volumeHandle}`)
}

function volumeOf({ volumes }: AttachDetachParts, { spec }: VolumeAttachment): PersistentVolume | undefined {
  return volumes.get({ name: spec?.source?.persistentVolumeName ?? '' })
}

/** Whether the node has unmounted the volume, or has exceeded the time limit for unmounting. */
function mayDetach(state: State, nodeName: string, attachment: VolumeAttachment): boolean {
  const { uid = '', deletionTimestamp } = attachment.metadata
  if (deletionTimestamp !== undefined) return false
  const name = uniqueName(state, volumeOf(state, attachment))
  const inUse = state.nodes.get({ name: nodeName })?.status?.volumesInUse ?? []
  const now = state.clock.monotonic()
  const since = state.waitingSince.get(uid) ?? now
  const may = name === undefined || !inUse.includes(name) || now - since >= maxUnmountMs
  if (may) state.waitingSince.delete(uid)
  else state.waitingSince.set(uid, since)
  return may
}

async function detach({ client, vendor }: State, { metadata }: VolumeAttachment, signal: AbortSignal): Promise<void> {
  const { name = '', uid = '' } = metadata
  await ignoreNotFound(
    client.delete(inDomainOf(vendor, kinds.VolumeAttachment), { name }, { preconditions: { uid }, signal }),
  )
}

interface Place {
  readonly name: string
  readonly nodeName: string
  readonly signal: AbortSignal
}

async function attach(state: State, { volume, driver, pod }: Wanted, { name, nodeName, signal }: Place): Promise<void> {
  const cachedAttachment = state.attachments.get({ name })
  const volumeName = volume.metadata.name!
  if (cachedAttachment !== undefined) return reportOutcome(state, cachedAttachment, pod)
  const other = attachedElsewhere(state, volume, nodeName)
  if (other !== undefined) {
    const message = `Multi-Attach error for volume "${volumeName}" Volume is already exclusively attached to one node and can't be attached to another`
    return state.recorder.record(pod, { type: 'Warning', reason: 'FailedAttachVolume', message })
  }
  const spec = { attacher: driver, nodeName, source: { persistentVolumeName: volumeName } }
  const apiVersion = `${inDomainOf(state.vendor, kinds.VolumeAttachment).group}/v1`
  const object: VolumeAttachment = { apiVersion, kind: 'VolumeAttachment', metadata: { name }, spec }
  try {
    await state.client.create(inDomainOf(state.vendor, kinds.VolumeAttachment), object, { signal })
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error
  }
}

/** Returns the attachment to another node if the volume's access modes allow only one node. */
function attachedElsewhere(state: State, { metadata, spec }: PersistentVolume, nodeName: string) {
  if ((spec?.accessModes ?? []).some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')) return undefined
  return [...state.attachments.objects()].find(
    (each) => each.spec?.source?.persistentVolumeName === metadata.name && each.spec?.nodeName !== nodeName,
  )
}

/** Records an Event about the result of an attachment for the Pod. Each result is reported once. */
function reportOutcome({ recorder, reported }: State, attachment: VolumeAttachment, pod: Pod): void {
  const { spec, status } = attachment
  const volume = spec?.source?.persistentVolumeName ?? ''
  if (reported.has(attachment)) return
  reported.add(attachment)
  if (status?.attached === true) {
    const message = `AttachVolume.Attach succeeded for volume "${volume}"`
    recorder.record(pod, { type: 'Normal', reason: 'SuccessfulAttachVolume', message })
  } else if (status?.attachError !== undefined) {
    const message = `AttachVolume.Attach failed for volume "${volume}" : ${status.attachError.message ?? ''}`
    recorder.record(pod, { type: 'Warning', reason: 'FailedAttachVolume', message })
  }
}

/** Writes the attached volumes to the node's status, which the node agent reads before mounting. */
async function reportAttached(
  state: State,
  nodeName: string,
  { remainingAttachments, signal }: { remainingAttachments: readonly VolumeAttachment[]; signal: AbortSignal },
): Promise<void> {
  const node = state.nodes.get({ name: nodeName })
  if (node === undefined) return
  const names = remainingAttachments
    .filter(({ status }) => status?.attached === true)
    .flatMap((each) => uniqueName(state, volumeOf(state, each)) ?? [])
  const volumesAttached = names.sort().map((name) => ({ name, devicePath: '' }))
  const before = node.status?.volumesAttached ?? []
  if (sameJson(before as Json, volumesAttached as Json)) return
  const patch = { merge: { metadata: { uid: node.metadata.uid }, status: { volumesAttached } } }
  await ignoreNotFound(state.client.patch(kinds.Node, { name: nodeName }, { patch, subresource: 'status', signal }))
}
