/** Defines the context that validation, defaulting and preparation rules receive. */
import type { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { FieldError } from '../model/field-error.ts'
import type { User } from '../model/user.ts'
import type { Vendor } from '../model/vendor.ts'
import type { Emulation } from '../versions/availability.ts'
import { type EmulatedVersion, isAtLeast, type KubeVersion, oldestVersion } from '../versions/emulated-version.ts'
import { defaultGatesOf, type FeatureGate, type Gates } from '../versions/feature-gates.ts'

/** Inputs to rules other than the object, such as the vendor, the request's subresource and the emulated version. */
export interface RuleContext {
  readonly vendor: Vendor
  /** Subresource of the request, or '' for the main resource. */
  readonly subresource: string
  /** Group ID and version that the request uses, such as `core/v1` or `events/v1`. */
  readonly through?: string
  /** The enabled feature gates. Defaults to the default gates of the version. */
  readonly gates?: Gates
  /** The emulated Kubernetes version. Defaults to the oldest supported version. */
  readonly version?: EmulatedVersion
  /**
   * Returns the labels of the object's namespace. Returns undefined for cluster-scoped objects and outside of a server.
   */
  readonly namespaceLabels?: () => { readonly [key: string]: string } | undefined
}

/** The emulated version and the feature gates in a context, either of which may be unset. */
export type EmulationContext = Pick<RuleContext, 'version' | 'gates'>

/** Returns the version and gates in a context, or their defaults. */
export function emulationOf({ version = oldestVersion, gates = defaultGatesOf(version) }: EmulationContext): Emulation {
  return { version, gates }
}

/** Whether the emulated version is `version` or later. */
export function isSince(version: KubeVersion, context: EmulationContext): boolean {
  return isAtLeast(emulationOf(context).version, version)
}

/** Whether a feature gate is enabled in this context. */
export function isEnabled(gate: FeatureGate, context: RuleContext): boolean {
  return emulationOf(context).gates.has(gate)
}

/** Context for expensive rules, which must yield to other requests. */
export interface JudgeContext extends RuleContext {
  readonly timeSlice: TimeSlice
  /** The errors that other rules have found so far. Some rules can evaluate only valid objects. */
  readonly faults: readonly FieldError[]
  /** Adds a warning to the response, even if the request is rejected. */
  readonly warn: (text: string) => void
}

/** Context for rules that prepare an object for storage. It includes the user who writes the object, and the time. */
export interface PrepareContext extends RuleContext {
  readonly user: User
  /** Whether the server itself writes the object, as opposed to a client. */
  readonly own?: boolean
  /** The current wall-clock time in milliseconds. */
  readonly now: number
  /** Adds a warning to the response. */
  readonly warn?: ((text: string) => void) | undefined
  /** Called for every field that is dropped because its feature gate is disabled. */
  readonly onDropped?: ((field: DroppedField) => void) | undefined
}

/** A dropped field, and the feature gate that would allow it. */
export interface DroppedField {
  readonly path: string
  readonly feature: string
}
