/**
 * Two loops that let deleted storage go when nobody uses it: claims that no pod names, volumes that no claim is bound
 * to. Each takes a finalizer away that admission puts on new objects (StorageObjectInUseProtection), and puts it on
 * those from before.
 *
 * A claim counts as used by every pod that names it, whether that runs, waits for a node or has ended: its files may
 * still be mounted, or about to be. Pods are not followed, as a copy of all of them would be large: those of its
 * namespace are asked for when a claim is to go, again and again while one of them holds it.
 */

import type { PersistentVolume } from '../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
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
import { unlessGone } from './unless-gone.ts'

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

type IsUsed<T> = (object: T, signal: AbortSignal) => Promise<boolean>

/** What holds a claim is looked at again at least this often. */
const backoff = { firstMs: 100, longestMs: 5_000 }

function protectionLoop<T extends ApiObject>(name: string, parts: ProtectionParts<T>, isUsed: IsUsed<T>): Loop {
  return {
    name,
    sources: [fromInformer(parts.informer)],
    backoff,
    reconcile: async (key, signal) => {
      const known = parts.informer.get(nameOfKey(key))
      return known === undefined ? 'done' : await reconcile(parts, known, { isUsed, signal })
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

/** Takes the finalizer away from what is going, and adds it to what is not: of this very object, as it is now. */
async function setFinalizer<T extends ApiObject>(
  { client, informer, finalizer }: ProtectionParts<T>,
  { metadata: { uid, name = '', namespace } }: T,
  signal: AbortSignal,
): Promise<void> {
  const change = (object: T): T | undefined => {
    const { finalizers = [], deletionTimestamp } = object.metadata
    const others = finalizers.filter((each) => each !== finalizer)
    const wanted = deletionTimestamp === undefined ? [...others, finalizer] : others
    if (object.metadata.uid !== uid || wanted.length === finalizers.length) return undefined
    return { ...object, metadata: { ...object.metadata, finalizers: wanted } }
  }
  const place = namespace === undefined ? { name } : { name, namespace }
  await unlessGone(changeObject(client, informer.type, { name: place, change, signal }))
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
