/**
 * Starts an API server. `startApiServer` resolves when requests are answered. Whatever is opened says at once how it is
 * closed: `stop`, and a start that fails half way, close it all in reverse order.
 */

import { allKinds } from '../../api/kinds/all.ts'
import type { User } from '../../api/model/user.ts'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import type { QuotaActivity } from '../../apiserver/admission/quota/activity.ts'
import type { LegacyToken } from '../../apiserver/authn/service-account/claims.ts'
import { beginStart } from '../../base/concurrency/time-slice.ts'
import { systemClock, type TimerClock } from '../../base/time/clock.ts'
import type { LoopRecords } from '../../client/reconcile/loop.ts'
import type { Transport as ClientTransport } from '../../client/requests/transport.ts'
import type { LocalNodes } from '../../cluster/node-port/local-nodes.ts'
import type { StoreError } from '../../storage/store/store.ts'
import type { ServerOptions } from '../flags/options.ts'
import { openBackend } from './backend.ts'
import type { AssemblyContext, Environment } from './environment.ts'
import { openFoundation } from './foundation.ts'
import { openFrontend } from './frontend.ts'

/** A server that answers requests. */
export interface ApiServer {
  /** A URL at which it listens: https://127.0.0.1:6443 */
  readonly url: string
  /** The URL for clients on other hosts (`--advertise-address`). */
  readonly advertisedUrl: string
  /** How many watches are under way. */
  readonly watches: number
  /** A way in for clients in this process, as this user. `stop` ends what is under way. */
  transport(user: User): ClientTransport
  /** By what clients verify this server, as it is now: certificates in PEM form. */
  readonly authority: string
  /** The self-made CA, whose client certificates this server accepts, with its key. */
  readonly signingAuthority: CertifiedKey
  /** Makes a token of a service account that is kept in a secret. */
  issueLegacyToken(token: LegacyToken): Promise<string>
  /** What it and its control loops go by. */
  readonly clock: TimerClock
  /** The writes of this server that quotas account for. */
  readonly quotaActivity: QuotaActivity
  /** What control loops beside the server record, for its log, `/metrics` and `/readyz`. */
  readonly loopRecords: LoopRecords
  /** The simulated nodes of this process, which this server may reach on this machine. */
  readonly localNodes: LocalNodes
  /**
   * Resolves with the reason when the store can never be written again. From then on the server is not ready; it
   * answers until it is stopped, which is for its owner to do.
   */
  readonly failed: Promise<StoreError>
  /** Lets what is under way finish, and releases everything. */
  stop(): Promise<void>
}

/** Resolves when requests are answered. */
export async function startApiServer(options: ServerOptions, environment: Environment): Promise<ApiServer> {
  using _start = beginStart()
  await using opened = new AsyncDisposableStack()
  const stopping = new AbortController().signal
  const defaults = { clock: systemClock, kinds: allKinds, defaultLimits: false, defaultStorageClass: false, stopping }
  const server = await assemble(options, { ...defaults, ...environment, opened })
  const owned = opened.move()
  return Object.assign(server, { stop: () => owned.disposeAsync() })
}

async function assemble(options: ServerOptions, context: AssemblyContext): Promise<Omit<ApiServer, 'stop'>> {
  const foundation = await openFoundation(options, context)
  const backend = await openBackend(options, foundation, context)
  const { url, advertised, inProcess } = await openFrontend(options, backend, context)
  const { caches, failed, loopRecords, certificates, accountTokens } = backend
  return {
    url: url.origin,
    advertisedUrl: advertised.origin,
    get watches() {
      return caches.watchers
    },
    transport: (user) => inProcess.transport(user),
    get authority() {
      return certificates.authority
    },
    signingAuthority: certificates.ownAuthority,
    issueLegacyToken: (token) => accountTokens.policy.issuer.issueLegacy(token),
    clock: context.clock,
    quotaActivity: backend.quotaActivity,
    loopRecords,
    localNodes: backend.localNodes,
    failed,
  }
}
