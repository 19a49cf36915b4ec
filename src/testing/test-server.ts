/** Public interface of a test server, documented in docs/test-an-operator/typescript.md. */

import type { ProfileName } from '../api/model/vendor.ts'
import type { EmulatedVersion } from '../api/versions/emulated-version.ts'
import type { Client } from '../client/requests/client.ts'
import type { Transport } from '../client/requests/transport.ts'
import type { CallLog, CallMatch } from './call-log.ts'
import type { Failure, PlannedFailure } from './failure.ts'
import type { TestKubeconfig } from './kubeconfigs.ts'
import type { Snapshot } from './snapshot.ts'
import type { ServerClock } from './test-clock.ts'

/** Options of a test server. All of them are optional. */
export interface TestServerOptions {
  /**
   * Profile of the API names: `kubernetes` (the default), which kubectl, client-go and all other Kubernetes clients
   * expect, or `orch`.
   */
  readonly profile?: ProfileName
  /** Kubernetes version to emulate, such as `1.31`. Defaults to the default of `--emulated-version`. */
  readonly emulatedVersion?: EmulatedVersion
  /**
   * Control loops to run, such as namespace deletion, garbage collection and service accounts: `true` (the default) for
   * the loops of `orch up`, `false` for none, or a list of names as in `--controllers`.
   */
  readonly controlLoops?: boolean | readonly string[]
  /** Store for objects: `memory` (the default), or the embedded store in a `temporary` directory. */
  readonly store?: 'memory' | 'temporary'
  /**
   * Transport of the server's own clients: `in-process` (the default), which does not use the network, or `tls`. The
   * port is open in both cases, for kubectl and other programs.
   */
  readonly transport?: 'in-process' | 'tls'
  /** Snapshot to start from. By default, the server starts with a new cluster. */
  readonly from?: Snapshot
  /** Initial time of the clock. Defaults to now. */
  readonly startAt?: Date | string | number
  /** Additional flags of `orch up`, such as `--feature-gates=...`. */
  readonly flags?: readonly string[]
  /** Receives the log lines of the server. They are dropped by default. */
  readonly log?: (line: string) => void
}

/** Properties of a test user. */
export interface UserOptions {
  /**
   * Groups of the user. Members of `system:masters` have all permissions. `system:authenticated` is always added.
   * Defaults to none.
   */
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly extra?: { readonly [key: string]: readonly string[] }
}

/** A user of a test server with clients and credentials. */
export interface TestUser {
  readonly name: string
  readonly client: Client
  /** Transport of the client, for custom clients: `connect({ transport })`. */
  readonly transport: Transport
  /** A kubeconfig for kubectl, client-go and all other programs. */
  readonly kubeconfig: TestKubeconfig
  /** Bearer token of the user. */
  readonly token: string
}

/**
 * A complete API server with control loops in the process of a test. Any number of servers can run at the same time.
 *
 * @example import { startTestServer } from 'orch/testing'
 *
 * await using server = await startTestServer() await server.client.create(configMaps, { metadata: { namespace:
 * 'default', name: 'a' }, data: { k: 'v' } })
 */
export interface TestServer extends AsyncDisposable {
  /** URL of the server: `https://127.0.0.1:41234`. */
  readonly url: string
  /** Client of a user with all permissions. */
  readonly client: Client
  /** Transport of `client`. */
  readonly transport: Transport
  /** A kubeconfig with all permissions, for kubectl, client-go and all other programs. */
  readonly kubeconfig: TestKubeconfig
  /** Clock of the server and its control loops: `server.clock.advance('1h')`. */
  readonly clock: ServerClock
  /** Log of client calls, oldest first. */
  readonly calls: CallLog

  /** Returns a user who has only the permissions that RBAC grants to the given user name and groups. */
  user(name: string, options?: UserOptions): TestUser

  /**
   * Makes the next matching call fail, once.
   *
   * @example
   * server.failOnce({ verb: 'update', resource: 'deployments', name: 'web' }, { code: 409 })
   * server.failOnce({ verb: 'create', user: 'alice' }, { code: 503, retryAfter: 1 })
   * server.failOnce({ verb: 'create', resource: 'jobs' }, { cut: 'answer' })
   */
  failOnce(match: CallMatch, failure: Failure): PlannedFailure

  /**
   * Closes the connections of open watches without ending the watches properly. Returns the number of these watches.
   */
  cutWatches(match?: Omit<CallMatch, 'verb'>): number

  /** Returns the current state, for `reset`, `fork`, or the `from` option of another server. */
  snapshot(): Promise<Snapshot>

  /**
   * Restores all objects to their state in a snapshot or, by default, right after the start. Clears calls and failures.
   * Resource versions only increase. Watches stay open and receive the changes, so that a controller shared by several
   * tests observes the restored state immediately. Users and the clock are not reset.
   */
  reset(to?: Snapshot): Promise<void>

  /**
   * Resolves when no data has been written for a moment, which means that the control loops and the test's controllers
   * have finished their work. Useful for tests that check that something does *not* happen.
   */
  settled(): Promise<void>

  /** Starts another server from the current state of this server. The two servers are independent afterwards. */
  fork(options?: Omit<TestServerOptions, 'from' | 'profile' | 'emulatedVersion'>): Promise<TestServer>

  /** Stops the server and its clients and removes its files. */
  close(): Promise<void>
}
