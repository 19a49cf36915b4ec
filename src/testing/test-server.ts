/** What a test sees of its server. Whatever stands here is public: docs/testing.md shows how it is used. */

import type { ProfileName } from '../api/model/vendor.ts'
import type { Client } from '../client/requests/client.ts'
import type { Transport } from '../client/requests/transport.ts'
import type { CallLog, CallMatch } from './call-log.ts'
import type { Failure, PlannedFailure } from './failure.ts'
import type { TestKubeconfig } from './kubeconfigs.ts'
import type { Snapshot } from './snapshot.ts'
import type { ServerClock } from './test-clock.ts'

/** How a test server is made. Everything may be left out. */
export interface TestServerOptions {
  /**
   * The names of the API: `kubernetes`, as kubectl, client-go and all clients of Kubernetes know them (the default), or
   * `orch`.
   */
  readonly profile?: ProfileName
  /**
   * Whether namespaces are deleted, garbage is collected, service accounts are made and so on: `true` (the default) for
   * what `orch up` runs, `false` for an API server alone, or the names of control loops as `--controllers` takes them.
   */
  readonly controlLoops?: boolean | readonly string[]
  /** Where objects are kept: in `memory` (the default), or in the embedded store in a `temporary` directory. */
  readonly store?: 'memory' | 'temporary'
  /**
   * How the clients that the server hands out reach it: `in-process` (the default) without a network in between, or over
   * `tls`. The port is open either way, for kubectl and other programs.
   */
  readonly transport?: 'in-process' | 'tls'
  /** The state that it begins with, in place of that of a new cluster. */
  readonly from?: Snapshot
  /** The time that its clock shows at first; the present by default. */
  readonly startAt?: Date | string | number
  /** Further flags of `orch up`, such as `--feature-gates=...`. */
  readonly flags?: readonly string[]
  /** Takes the lines that the server logs; they are dropped by default. */
  readonly log?: (line: string) => void
}

/** What is known of a user besides the name. */
export interface UserOptions {
  /** `system:masters` may do everything; `system:authenticated` is everyone's. None by default. */
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly extra?: { readonly [key: string]: readonly string[] }
}

/** A user of a test server, and the ways of this user to it. */
export interface TestUser {
  readonly name: string
  readonly client: Client
  /** The way below the client: for a client of one's own making, as in `connect({ transport })`. */
  readonly transport: Transport
  /** For kubectl, client-go and every other program. */
  readonly kubeconfig: TestKubeconfig
  /** The bearer token that proves who this is. */
  readonly token: string
}

/**
 * A whole API server with its control loops inside the process of a test. Any number may run at once.
 *
 * @example
 * import { startTestServer } from 'orch/testing'
 *
 * await using server = await startTestServer()
 * await server.client.create(configMaps, { metadata: { namespace: 'default', name: 'a' }, data: { k: 'v' } })
 */
export interface TestServer extends AsyncDisposable {
  /** Where it listens: `https://127.0.0.1:41234`. */
  readonly url: string
  /** A client that may do everything. */
  readonly client: Client
  /** The way below that client. */
  readonly transport: Transport
  /** A client config that may do everything, for kubectl, client-go and every other program. */
  readonly kubeconfig: TestKubeconfig
  /** What the server and its control loops go by: `server.clock.advance('1h')`. */
  readonly clock: ServerClock
  /** What clients asked, in order. */
  readonly calls: CallLog

  /** A user with no rights but those that RBAC gives the name and the groups. */
  user(name: string, options?: UserOptions): TestUser

  /**
   * Makes the next call that matches fail, once.
   *
   * @example
   * server.failOnce({ verb: 'update', resource: 'deployments', name: 'web' }, { code: 409 })
   * server.failOnce({ verb: 'create', user: 'alice' }, { code: 503, retryAfter: 1 })
   * server.failOnce({ verb: 'create', resource: 'jobs' }, { cut: 'answer' })
   */
  failOnce(match: CallMatch, failure: Failure): PlannedFailure

  /** Breaks watches off that are under way, without an end. Returns how many there were. */
  cutWatches(match?: Omit<CallMatch, 'verb'>): number

  /** The state as it is now, for `reset`, for `fork`, or for another server to begin `from`. */
  snapshot(): Promise<Snapshot>

  /**
   * Brings all objects back to a snapshot, or to what there was when the server had started, and forgets calls and
   * failures. Versions only rise. Watches stay open and see what goes and what comes back, so that a controller that is
   * shared by several tests follows at once. Users stay, and so does the time of the clock.
   */
  reset(to?: Snapshot): Promise<void>

  /**
   * Resolves when nothing has been written for a moment: the control loops, and every controller of the test, have done
   * what there was to do. For tests that check that something does *not* happen.
   */
  settled(): Promise<void>

  /** Another server that begins with the state of this one as it is now. Each goes its own way from there. */
  fork(options?: Omit<TestServerOptions, 'from' | 'profile'>): Promise<TestServer>

  /** Ends the server, its clients and everything under way, and removes its files. */
  close(): Promise<void>
}
