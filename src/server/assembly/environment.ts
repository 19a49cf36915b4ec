/**
 * Defines what a caller provides to an API server in addition to the options: a log, a clock and, in tests,
 * replacements for other parts.
 */
import type { Kind } from '../../api/schema/kind.ts'
import type { Authenticator } from '../../apiserver/authn/authenticator.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { TimerClock } from '../../base/time/clock.ts'
import type { Store } from '../../storage/store/store.ts'
import type { ConsoleAccess } from '../../tools/console/access.ts'
import type { WorkerContext } from '../threads/worker-context.ts'
import type { RequestHooks } from './request-handling.ts'

/** Parts of an API server that its caller can provide or replace, in addition to the options. */
export interface Environment {
  readonly log: Log
  /**
   * Clock for objects, tokens and loops. Defaults to the system clock. Request timeouts, metrics and TLS certificates
   * always use the system clock, because other programs depend on real time.
   */
  readonly clock?: TimerClock
  /** Callbacks that observe every request. */
  readonly hooks?: RequestHooks
  /** Authenticator for requests that no other authenticator recognizes. */
  readonly authenticator?: Authenticator
  /** Kinds to serve. Defaults to the built-in kinds of the emulated version. */
  readonly kinds?: readonly Kind[]
  /** Whether the server creates a LimitRange in the namespace `default`. Defaults to false. */
  readonly defaultLimits?: boolean
  /** A store to use instead of the one in the options. The server closes this store. */
  readonly store?: Store
  /** Whether NodeRestriction runs unless a flag disables it. Defaults to false. */
  readonly restrictsNodes?: boolean
  /** Whether the server serves the resource usage of nodes and pods. Defaults to false. */
  readonly servesMetrics?: boolean
  /** Whether the server creates a default StorageClass. Defaults to false. */
  readonly defaultStorageClass?: boolean
  /**
   * Access to the console, which lets the administrator sign in with a link. If undefined, the server accepts no
   * sign-in link.
   */
  readonly console?: ConsoleAccess | undefined
  /** The worker that runs this server, if the process has several workers. */
  readonly worker?: WorkerContext
  /**
   * A signal that aborts when the server is about to stop, even while it is starting. After that, the server is not
   * ready.
   */
  readonly stopping?: AbortSignal
}

/** Names of the environment's properties that have a default. */
type Defaulted = 'clock' | 'kinds' | 'defaultLimits' | 'defaultStorageClass' | 'stopping'

/** The environment with its defaults, and the resources to close when the server stops. */
export type AssemblyContext = Environment &
  Required<Pick<Environment, Defaulted>> & {
    /** Resources to close when the server stops. */
    readonly opened: AsyncDisposableStack
  }

/** The part of the context that is available before the emulated version, and thus the set of kinds, is known. */
export type FoundationContext = Omit<AssemblyContext, 'kinds'>
