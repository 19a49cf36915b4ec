/**
 * Availability of a part of the API: the versions that have the part, and the feature gate that it needs. Kinds,
 * versions, fields, enum values, subresources, columns, admission plugins, roles, flow objects, loops and flags declare
 * their availability with the same three optional properties. A part without these properties exists in every version.
 *
 *     hostUsers: field(37, s.boolean(), { since: '1.25', gate: 'UserNamespacesSupport', doc: '…' })
 *
 * `availabilityOf` is the only function that reads the properties.
 */
import { type EmulatedVersion, isAtLeast, type KubeVersion } from './emulated-version.ts'
import type { FeatureGate, Gates } from './feature-gates.ts'

/** The versions that have a part of the API, and the feature gate that it needs. */
export interface Availability {
  /** The first version that has the part. If undefined, all versions before `until` have it. */
  readonly since?: KubeVersion
  /** The first version that no longer has the part. */
  readonly until?: KubeVersion
  /** The feature gate that must be enabled. If the gate is disabled, the part exists but cannot be used. */
  readonly gate?: GateCondition
}

/** One or more feature gates. If there are several, all of them or, with `anyOf`, at least one must be enabled. */
export type GateCondition = FeatureGate | readonly FeatureGate[] | { readonly anyOf: readonly FeatureGate[] }

/** The Kubernetes version that a server emulates, and its enabled feature gates. */
export interface Emulation {
  readonly version: EmulatedVersion
  readonly gates: Gates
}

/**
 * Whether a server has a part of the API:
 *
 * - `later`: not yet in the emulated version.
 * - `removed`: no longer in the emulated version.
 * - `disabled`: its feature gate is off.
 * - `available`: it can be used.
 */
export type AvailabilityState = 'later' | 'removed' | 'disabled' | 'available'

/** Returns the availability of a part in an emulated version. Without `gates`, feature gates are ignored. */
export function availabilityOf(
  { since, until, gate }: Availability,
  { version, gates }: Pick<Emulation, 'version'> & Partial<Emulation>,
): AvailabilityState {
  if (since !== undefined && !isAtLeast(version, since)) return 'later'
  if (until !== undefined && isAtLeast(version, until)) return 'removed'
  return gate === undefined || gates === undefined || isGateEnabled(gate, gates) ? 'available' : 'disabled'
}

/** Whether the version has the part, even if its gate is disabled. */
export function exists(part: Availability, version: EmulatedVersion): boolean {
  return availabilityOf(part, { version }) === 'available'
}

/** Whether the version has the part and its gate is enabled. */
export function isAvailable(part: Availability, emulation: Emulation): boolean {
  return availabilityOf(part, emulation) === 'available'
}

/** Whether the feature gates of a condition are enabled. */
export function isGateEnabled(gate: GateCondition, gates: Gates): boolean {
  if (typeof gate === 'string') return gates.has(gate)
  return 'anyOf' in gate ? gate.anyOf.some((name) => gates.has(name)) : gate.every((name) => gates.has(name))
}

/** Returns the feature gates that a condition names. */
export function gateNames(gate: GateCondition): readonly FeatureGate[] {
  if (typeof gate === 'string') return [gate]
  return 'anyOf' in gate ? gate.anyOf : gate
}
