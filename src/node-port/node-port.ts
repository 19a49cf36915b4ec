/**
 * The HTTPS port of a node, or of many simulated nodes in one process: logs, exec, attach, port-forward and the pods of
 * a node. A client names the node in TLS (SNI) or in `Host`; where the port has one node only, it need not.
 */
import type { TimerClock } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import type { Vendor } from '../model/vendor.ts'
import type { Log } from '../telemetry/log.ts'
import type { NodeRuntime } from './runtime.ts'

export interface NodePortParts {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** The node of this name; '' where the client names none. Undefined where this port serves no such node. */
  readonly node: (name: string) => NodeRuntime | undefined
  /** The serving certificate of a node, asked for when a client first connects to it, and again when `until` is over. */
  readonly certificate: (node: string) => Promise<ServingCertificate>
  /** The authorities of client certificates, as PEM. */
  readonly clientAuthorities: () => string
  /** May create TokenReviews and SubjectAccessReviews. */
  readonly client: Client
  readonly vendor: Vendor
  readonly clock: TimerClock
  readonly log: Log
  /** How long a stream may be silent. */
  readonly idleMs: number
}

export interface ServingCertificate {
  readonly certificate: string
  readonly key: string
  /** Until when it may be shown, in milliseconds since 1970. */
  readonly until: number
}

/** A port that listens. */
export interface NodePort {
  readonly port: number
  /** Ends every stream. */
  close(): Promise<void>
}
