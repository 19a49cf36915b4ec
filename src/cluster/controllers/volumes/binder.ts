import type { PersistentVolume } from '../../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/kinds/core/persistent-volume-claim.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import { nameOfKey, objectKey } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import { bindingKeys } from '../../volumes/annotations.ts'
import { classOf } from '../../volumes/matching.ts'
import { claimNames, isUnscheduled } from '../../volumes/pod-claims.ts'
import { syncClaim } from './claims.ts'
import type { Binder, BinderParts } from './parts.ts'
import { UnboundSince } from './unbound-since.ts'
import { syncVolume } from './volumes.ts'

export function volumeBinderLoop(parts: BinderParts): Loop {
  const binder = { ...parts, keys: bindingKeys(parts.vendor), unboundSince: new UnboundSince(parts.clock) }
  const volumesByClaim = parts.volumes.index(({ spec }) => claimOfReference(spec?.claimRef))
  return {
    name: 'persistentvolume-binder',
    sources: [
      fromInformer(parts.claims, ({ key, object, previous }) => {
        if (object === undefined) binder.unboundSince.forget(previous?.metadata.uid ?? '')
        return [
          `claim ${key}`,
          ...volumeNamed(object ?? previous).map((name) => `volume ${name}`),
          // When a claim is deleted, reconcile the volumes that are reserved for it, because the claim itself may not
          // have named a volume yet.
          ...(object === undefined ? volumesByClaim.get(key).map((volume) => `volume ${objectKey(volume)}`) : []),
        ]
      }),
      fromInformer(parts.volumes, ({ key, object, previous }) => [
        `volume ${key}`,
        ...claimsConcernedBy(binder, (object ?? previous)!).map((claim) => `claim ${claim}`),
      ]),
      fromInformer(parts.classes, ({ key }) =>
        unboundClaims(binder, (claim) => classOf(claim, binder.keys) === key).map((claim) => `claim ${claim}`),
      ),
      // A change to a Pod may change the reason why a claim is waiting for its first Pod.
      fromInformer(parts.pods, ({ object }) =>
        object === undefined || !isUnscheduled(object)
          ? []
          : claimNames(object).map((name) => `claim ${object.metadata.namespace}/${name}`),
      ),
    ],
    reconcile: (key, signal) => reconcile(binder, key, signal),
  }
}

function volumeNamed(claim: PersistentVolumeClaim | undefined): string[] {
  const name = claim?.spec?.volumeName ?? ''
  return name === '' ? [] : [name]
}

/**
 * Returns the keys of claims that a changed volume may affect: the claim that it references or, if it references none,
 * all unbound claims.
 */
function claimsConcernedBy(binder: Binder, { metadata, spec }: PersistentVolume): string[] {
  if (spec?.claimRef !== undefined) return claimOfReference(spec.claimRef)
  return unboundClaims(binder, (claim) => [undefined, '', metadata.name].includes(claim.spec?.volumeName))
}

function claimOfReference(reference: { readonly namespace?: string; readonly name?: string } | undefined): string[] {
  return reference === undefined ? [] : [`${reference.namespace}/${reference.name}`]
}

function unboundClaims({ claims, keys }: Binder, fits: (claim: PersistentVolumeClaim) => boolean): string[] {
  return [...claims.objects()]
    .filter((claim) => claim.metadata.annotations?.[keys.bindCompleted] === undefined && fits(claim))
    .map(objectKey)
}

async function reconcile(binder: Binder, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const space = key.indexOf(' ')
  const name = nameOfKey(key.slice(space + 1))
  try {
    if (key.startsWith('claim ')) {
      const claim = binder.claims.get(name)
      return claim === undefined ? 'done' : await syncClaim(binder, claim, signal)
    }
    const volume = binder.volumes.get(name)
    return volume === undefined ? 'done' : await syncVolume(binder, volume, signal)
  } catch (error) {
    // A conflict or a 404 means that another client changed or deleted the object first. Retry with the current object.
    if (isConflict(error) || isNotFound(error)) return 'later'
    throw error
  }
}
