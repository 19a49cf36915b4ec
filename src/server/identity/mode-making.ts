/**
 * Defines the dependencies of authorization modes. They are the same for modes selected by a flag and modes listed in a
 * file.
 */
import type { Lookup } from '../../api/model/lookup.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Mode } from '../../apiserver/authz/access.ts'
import type { Policy } from '../../apiserver/authz/rbac/policy.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { AuthorizationMode } from '../flags/authorization.ts'
import type { EmulatedOptions } from '../flags/options.ts'
import type { Reloading } from '../flags/reloading.ts'
import type { ReloadMetrics } from './reload-metrics.ts'

export interface AccessParts {
  readonly vendor: Vendor
  readonly lookup: Lookup
  readonly clock: Clock
  readonly log: Log
  readonly reloading: Reloading
  readonly reloads: ReloadMetrics
}

export interface Making extends AccessParts {
  readonly options: EmulatedOptions
  readonly policy: Policy
  readonly opened: DisposableStack
}

/** An authorization mode that calls no webhook. */
export type PlainMode = Exclude<AuthorizationMode, 'Webhook'>

/** The authorizers in use, in order. Reloading the configuration file may replace them. */
export interface ConfiguredModes {
  readonly current: () => readonly Mode[]
  readonly hasType: (type: PlainMode) => boolean
}
