/**
 * Writes the volume assignments of a Pod before the Pod is bound. Existing volumes are assigned to their claims. Claims
 * without an existing volume are annotated with the node, and a provisioner then creates volumes for that node. The Pod
 * waits until all claims are bound.
 */

import type { PersistentVolume } from '../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Client } from '../../client/requests/client.ts'
import { objectKey } from '../../client/requests/resource-type.ts'
import type { BindingKeys } from '../volumes/annotations.ts'
import { ObjectWaiters, type WaitLimits, type WaitState } from './object-waiters.ts'
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
  readonly #waiters = new ObjectWaiters()

  constructor(claims: Informer<PersistentVolumeClaim>, keys: BindingKeys) {
    this.#claims = claims
    this.#keys = keys
  }

  /** Notifies the Pods that wait for a changed claim. */
  notice(key: string): void {
    this.#waiters.notice(key)
  }

  /**
   * Waits until all claims are bound. Resolves with undefined if all claims are bound, or with the reason if a claim
   * cannot be bound.
   */
  async wait(
    claims: readonly PersistentVolumeClaim[],
    { node, ...limits }: WaitLimits & { readonly node: string },
  ): Promise<string | undefined> {
    const states = () => claims.map((claim) => this.#stateOf(claim, node))
    return await this.#waiters.wait(claims.map(objectKey), states, limits)
  }

  #stateOf({ metadata: { namespace = '', name = '', uid } }: PersistentVolumeClaim, node: string): WaitState {
    const claim = this.#claims.get({ namespace, name })
    if (claim === undefined || claim.metadata.uid !== uid) return { why: `persistentvolumeclaim "${name}" not found` }
    const { annotations = {} } = claim.metadata
    if ((claim.spec?.volumeName ?? '') !== '' && annotations[this.#keys.bindCompleted] !== undefined) return 'ready'
    const selected = annotations[this.#keys.selectedNode]
    if (selected !== undefined && selected !== node)
      return { why: `claim "${name}" was assigned to node "${selected}"` }
    return 'waiting'
  }
}
