/** A device of a ResourceSlice, and the keys that identify devices and pools. */
import type { ResourceClaim } from '../../../api/kinds/resource/resource-claim.ts'
import type { ResourceSlice } from '../../../api/kinds/resource/resource-slice.ts'

export type SliceSpec = NonNullable<ResourceSlice['spec']>
export type Allocation = NonNullable<NonNullable<ResourceClaim['status']>['allocation']>

/** A device, with the ResourceSlice that advertises it. */
export interface Device {
  /** Driver, pool and name, which together identify the device. */
  readonly id: string
  readonly driver: string
  readonly pool: string
  readonly device: NonNullable<SliceSpec['devices']>[number]
  readonly slice: SliceSpec
}

interface Named {
  readonly driver?: string | undefined
  readonly pool?: string | undefined
  readonly device?: string | undefined
}

/** Returns the ID of a device, or of the device that an allocation result names. */
export function idOf({ driver = '', pool = '', device = '' }: Named): string {
  return `${driver}/${pool}/${device}`
}

/** Returns the key of a device's pool. */
export function poolOf({ slice }: Device): string {
  return poolKey(slice)
}

/** Returns the key of a slice's pool. */
export function poolKey({ driver = '', pool = {} }: SliceSpec = {}): string {
  return `${driver}/${pool.name}`
}
