/**
 * Three loops that delay the deletion of storage that is in use: claims that a pod references, volumes that are bound
 * to a claim, and VolumeAttributesClasses that a claim or volume names. Admission adds a finalizer to new objects
 * (StorageObjectInUseProtection). The loops remove the finalizer when the storage is unused, and add it to older
 * objects that lack it.
 *
 * Every pod that references a claim counts as a user, even if it is pending or has terminated, because the claim may
 * still be mounted or may soon be mounted. The loop does not watch pods, because caching all of them would take a lot
 * of memory. Instead, it lists the pods of the namespace when a claim is terminating, and repeats the list while a pod
 * uses the claim.
 */

import type { PersistentVolume } from '../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
import type { VolumeAttributesClass } from '../../api/kinds/storage/volume-attributes-class.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { changeObject } from '../../client/informers/change-object.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { nameOfKey } from '../../client/requests/resource-type.ts'
import { claimNames } from '../volumes/pod-claims.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

export interface ProtectionParts<T extends ApiObject> {
  readonly client: Client
  readonly informer: Informer<T>
  readonly finalizer: string
}

export function claimProtectionLoop(parts: ProtectionParts<PersistentVolumeClaim>): Loop {
  const isUsed = (claim: PersistentVolumeClaim, signal: AbortSignal) => usedByPod(parts.client, claim, signal)
  return protectionLoop('pvc-protection', parts, isUsed)
}

export function volumeProtectionLoop(parts: ProtectionParts<PersistentVolume>): Loop {
  return protectionLoop('pv-protection', parts, async ({ status }) => status?.phase === 'Bound')
}

export function attributesClassProtectionLoop(parts: ProtectionParts<VolumeAttributesClass>): Loop {
  const isUsed = async ({ metadata: { name = '' } }: VolumeAttributesClass, signal: AbortSignal) =>
    (await claimsUse(parts.client, name, signal)) || (await volumesUse(parts.client, name, signal))
  return protectionLoop('volumeattributesclass-protection', parts, isUsed)
}

async function claimsUse(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
  for await (const { items } of client.pages(kinds.PersistentVolumeClaim, { signal }))
    for (const { spec, status } of items) {
      const { currentVolumeAttributesClassName: current, modifyVolumeStatus: change } = status ?? {}
      if ([spec?.volumeAttributesClassName, current, change?.targetVolumeAttributesClassName].includes(name))
        return true
    }
  return false
}

async function volumesUse(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
  for await (const { items } of client.pages(kinds.PersistentVolume, { signal }))
    if (items.some(({ spec }) => spec?.volumeAttributesClassName === name)) return true
  return false
}

type IsUsed<T> = (object: T, signal: AbortSignal) => Promise<boolean>

/** Minimum and maximum delay in milliseconds between two checks of a terminating object. */
const backoff = { firstMs: 100, longestMs: 5_000 }

function protectionLoop<T extends ApiObject>(name: string, parts: ProtectionParts<T>, isUsed: IsUsed<T>): Loop {
  return {
    name,
    sources: [fromInformer(parts.informer)],
    backoff,
    reconcile: async (key, signal) => {
      const cachedObject = parts.informer.get(nameOfKey(key))
      return cachedObject === undefined ? 'done' : await reconcile(parts, cachedObject, { isUsed, signal })
    },
  }
}

interface Step<T> {
  readonly isUsed: IsUsed<T>
  readonly signal: AbortSignal
}

async function reconcile<T extends ApiObject>(
  parts: ProtectionParts<T>,
  object: T,
  { isUsed, signal }: Step<T>,
): Promise<StepOutcome> {
  const { finalizers = [], deletionTimestamp } = object.metadata
  const isProtected = finalizers.includes(parts.finalizer)
  const isGoing = deletionTimestamp !== undefined
  if (isProtected !== isGoing) return 'done'
  if (isGoing && (await isUsed(object, signal))) return 'later'
  await setFinalizer(parts, object, signal)
  return 'done'
}

/**
 * Adds the finalizer to an object, or removes it if the object is terminating. Does nothing if the object has been
 * replaced by one with a different UID.
 */
async function setFinalizer<T extends ApiObject>(
  { client, informer, finalizer }: ProtectionParts<T>,
  { metadata: { uid, name = '', namespace } }: T,
  signal: AbortSignal,
): Promise<void> {
  const change = (object: T): T | undefined => {
    const { finalizers = [], deletionTimestamp } = object.metadata
    const others = finalizers.filter((each) => each !== finalizer)
    const desiredFinalizers = deletionTimestamp === undefined ? [...others, finalizer] : others
    if (object.metadata.uid !== uid || desiredFinalizers.length === finalizers.length) return undefined
    return { ...object, metadata: { ...object.metadata, finalizers: desiredFinalizers } }
  }
  const place = namespace === undefined ? { name } : { name, namespace }
  await ignoreNotFound(changeObject(client, informer.type, { name: place, change, signal }))
}

async function usedByPod(
  client: Client,
  { metadata: { name = '', namespace = '' } }: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const { items } of client.pages(kinds.Pod, { namespace, signal }))
    if (items.some((pod) => claimNames(pod).includes(name))) return true
  return false
}
