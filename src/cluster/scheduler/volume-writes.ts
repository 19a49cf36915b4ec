/**
 * Writes the volume assignments of a Pod before the Pod is bound. Existing volumes are assigned to their claims. Other
 * claims are annotated with the node, and a provisioner then creates volumes for that node. The Pod waits until all
 * claims are bound.
 */

import type { PersistentVolume } from '../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Client } from '../../client/requests/client.ts'
import { objectKey } from '../../client/requests/resource-type.ts'
import type { BindingKeys } from '../volumes/annotations.ts'
import type { VolumeChoice } from './pod-volumes.ts'

export interface VolumeWriteParts {
  readonly client: Client
  readonly keys: BindingKeys
  readonly claims: Informer<PersistentVolumeClaim>
  readonly volumes: Informer<PersistentVolume>
}

/** Writes the chosen volumes and nodes. Throws if another client has changed them first. */
export async function writeVolumes(
  { client, keys, claims, volumes }: VolumeWriteParts,
  { matched, provisioned }: VolumeChoice,
  { node, signal }: { readonly node: string; readonly signal: AbortSignal },
): Promise<void> {
  for (const { claim, volume } of matched) {
    if (volume.spec?.claimRef?.uid === claim.metadata.uid) continue
    await client.update(volumes.type, heldBy(volume, claim, keys), { signal, fieldManager })
  }
  for (const claim of provisioned) {
    const { annotations = {} } = claim.metadata
    if (annotations[keys.selectedNode] === node) continue
    const metadata = { ...claim.metadata, annotations: { ...annotations, [keys.selectedNode]: node } }
    await client.update(claims.type, { ...claim, metadata }, { signal, fieldManager })
  }
}

/** Field manager of the scheduler's writes. */
export const fieldManager = 'kube-scheduler'

function heldBy(volume: PersistentVolume, { metadata }: PersistentVolumeClaim, keys: BindingKeys): PersistentVolume {
  const { namespace, name, uid, resourceVersion } = metadata
  const claimRef = {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    namespace: namespace!,
    name: name!,
    uid: uid!,
    resourceVersion: resourceVersion!,
  }
  const mark = volume.spec?.claimRef === undefined ? { [keys.boundByController]: 'yes' } : {}
  const annotations = { ...volume.metadata.annotations, ...mark }
  return { ...volume, metadata: { ...volume.metadata, annotations }, spec: { ...volume.spec, claimRef } }
}

/** Makes a Pod wait until its claims are bound. */
export class ClaimWaiters {
  readonly #claims: Informer<PersistentVolumeClaim>
  readonly #keys: BindingKeys
  readonly #checks = new Map<string, Set<() => void>>()

  constructor(claims: Informer<PersistentVolumeClaim>, keys: BindingKeys) {
    this.#claims = claims
    this.#keys = keys
  }

  /** Notifies the Pods that wait for a changed claim. */
  notice(key: string): void {
    for (const check of [...(this.#checks.get(key) ?? [])]) check()
  }

  /** Waits until all claims are bound. Resolves with undefined, or with the reason if a claim cannot be bound. */
  async wait(claims: readonly PersistentVolumeClaim[], { node, timeoutMs, signal }: Wait): Promise<string | undefined> {
    const outcome = Promise.withResolvers<string | undefined>()
    const check = () => {
      const states = claims.map((claim) => this.#stateOf(claim, node))
      const fault = states.find((state) => state !== 'bound' && state !== 'waiting')
      if (fault !== undefined) outcome.resolve(fault)
      else if (states.every((state) => state === 'bound')) outcome.resolve(undefined)
    }
    const onAbort = () => outcome.resolve('the scheduler is stopping')
    const timer = setTimeout(() => outcome.resolve('timed out waiting for the condition'), timeoutMs)
    signal.addEventListener('abort', onAbort)
    for (const claim of claims) this.#follow(objectKey(claim), check)
    check()
    try {
      return await outcome.promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      for (const claim of claims) this.#unfollow(objectKey(claim), check)
    }
  }

  /** Returns `bound`, `waiting`, or the reason why the claim cannot be bound to a volume for the node. */
  #stateOf({ metadata: { namespace = '', name = '', uid } }: PersistentVolumeClaim, node: string): string {
    const claim = this.#claims.get({ namespace, name })
    if (claim === undefined || claim.metadata.uid !== uid) return `persistentvolumeclaim "${name}" not found`
    const { annotations = {} } = claim.metadata
    if ((claim.spec?.volumeName ?? '') !== '' && annotations[this.#keys.bindCompleted] !== undefined) return 'bound'
    const selected = annotations[this.#keys.selectedNode]
    if (selected !== undefined && selected !== node) return `claim "${name}" was assigned to node "${selected}"`
    return 'waiting'
  }

  #follow(key: string, check: () => void): void {
    const checks = this.#checks.get(key) ?? new Set()
    this.#checks.set(key, checks.add(check))
  }

  #unfollow(key: string, check: () => void): void {
    const checks = this.#checks.get(key)
    checks?.delete(check)
    if (checks?.size === 0) this.#checks.delete(key)
  }
}

export interface Wait {
  readonly node: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}
