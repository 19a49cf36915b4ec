/**
 * What objects hold of the pools, in the way of a write: a kind gives its object what it needs before it is validated,
 * and the commit takes and releases it together with the object. There is nothing to give back when a write fails, is
 * refused or is a dry run: until the commit nothing was taken.
 */
import { claimKey } from '../cache/claims.ts'
import { invalidObject } from '../model/api-error.ts'
import { tooMany } from '../model/field-error.ts'
import type { ApiObject } from '../model/object.ts'
import type { Claim } from '../schema/claims.ts'
import { maxClaims } from '../store/store.ts'
import { allocatorOf } from './pools.ts'
import { kindRef, type Resource, readMostRecent } from './resource.ts'

/** Any change from one such object to another fits one commit. */
const maxHeld = maxClaims / 2

/** Gives the object with what it needs. Nothing is refused that this server has not heard of the end of yet. */
export async function allocate(
  resource: Resource,
  object: ApiObject,
  previous: ApiObject | undefined,
): Promise<ApiObject> {
  const { claims } = resource.kind
  if (claims === undefined) return object
  const held = heldBy(resource, previous)
  const attempt = () => {
    const next = structuredClone(object)
    const allocator = allocatorOf({ pools: resource.pools, claims: resource.caches.claims, most: maxHeld, held })
    const faults = claims.allocate(next, previous, allocator)
    return { next, faults: faults.length > 0 ? faults : checkCount(resource, next) }
  }
  let { next, faults } = attempt()
  if (faults.length > 0) {
    await readMostRecent(resource)
    ;({ next, faults } = attempt())
  }
  if (faults.length > 0) throw invalidObject(kindRef(resource), object.metadata.name ?? '', faults)
  return next
}

function checkCount(resource: Resource, object: ApiObject) {
  const { length } = heldBy(resource, object)
  return length > maxHeld ? [tooMany('spec', length, maxHeld)] : []
}

/** The keys to take and to release where `next` takes the place of `previous`; undefined: there is none. */
export function claimChanges(
  resource: Resource,
  next: ApiObject | undefined,
  previous: ApiObject | undefined,
): { takes: string[]; releases: string[] } | undefined {
  if (resource.kind.claims === undefined) return undefined
  const after = new Set(heldBy(resource, next).map(keyOfClaim))
  const before = new Set(heldBy(resource, previous).map(keyOfClaim))
  return {
    takes: [...after].filter((key) => !before.has(key)),
    releases: [...before].filter((key) => !after.has(key)),
  }
}

export function heldBy({ kind }: Resource, object: ApiObject | undefined): readonly Claim[] {
  return object === undefined ? [] : (kind.claims?.held(object) ?? [])
}

export function keyOfClaim({ pool, value }: Claim): string {
  return claimKey(pool, value)
}
