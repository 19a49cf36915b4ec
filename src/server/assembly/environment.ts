/** What an API server is assembled in: the log, the clock, and what takes the place of its own parts in tests. */
import type { Kind } from '../../api/schema/kind.ts'
import type { Authenticator } from '../../apiserver/authn/authenticator.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { TimerClock } from '../../base/time/clock.ts'
import type { Store } from '../../storage/store/store.ts'
import type { ConsoleAccess } from '../../tools/console/access.ts'
import type { WorkerPlace } from '../threads/worker-place.ts'
import type { RequestHooks } from './request-handling.ts'

/** What a caller may provide to an API server besides its options. */
export interface Environment {
  readonly log: Log
  /**
   * What objects, tokens and loops go by; the machine's clock by default. Time-outs of requests, metrics and the
   * certificates that TLS shows go by that in any case: they are judged by others.
   */
  readonly clock?: TimerClock
  /** Sees every request on its way through the pipeline. */
  readonly hooks?: RequestHooks
  /** A further way to authenticate, asked after all others of this server itself. */
  readonly authenticator?: Authenticator
  /** What is served; all built-in kinds unless said otherwise. */
  readonly kinds?: readonly Kind[]
  /** Whether the namespace `default` begins with limits; false by default. */
  readonly defaultLimits?: boolean
  /** The store, in place of the one that the options name. The server closes it. */
  readonly store?: Store
  /** Whether node agents are restricted to their own objects unless a flag disables NodeRestriction; false by default. */
  readonly restrictsNodes?: boolean
  /** Whether there is a storage class for claims that name none; false by default. */
  readonly defaultStorageClass?: boolean
  /** How the administrator signs in to the console with a link; without it there is none. */
  readonly console?: ConsoleAccess | undefined
  /** Where this server is one of several in this process. */
  readonly worker?: WorkerPlace
  /** Aborts when the server is about to be stopped, also while it starts: it is not ready from then on. */
  readonly stopping?: AbortSignal
}

/** Members of the environment that have a default. */
type Defaulted = 'clock' | 'kinds' | 'defaultLimits' | 'defaultStorageClass' | 'stopping'

/** The environment with its defaults filled in, and what closes the server. */
export type AssemblyContext = Environment &
  Required<Pick<Environment, Defaulted>> & {
    /** Closes what is opened. */
    readonly opened: AsyncDisposableStack
  }
