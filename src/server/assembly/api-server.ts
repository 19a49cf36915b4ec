/**
 * Starts an API server. `startApiServer` resolves when the server accepts requests. Each resource registers a function
 * that closes it, so that `stop` or a failed start closes all resources in reverse order.
 */

import { nodeMetrics } from '../../api/kinds/metrics/node-metrics.ts'
import { podMetrics } from '../../api/kinds/metrics/pod-metrics.ts'
import { kindsOfVersion } from '../../api/kinds/of-version.ts'
import type { User } from '../../api/model/user.ts'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import type { Kind } from '../../api/schema/kind.ts'
import type { Emulation } from '../../api/versions/availability.ts'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import type { QuotaActivity } from '../../apiserver/admission/quota/activity.ts'
import type { LegacyToken } from '../../apiserver/authn/service-account/claims.ts'
import type { AddressPolicy } from '../../apiserver/resources/allowed-address.ts'
import { beginStart } from '../../base/concurrency/time-slice.ts'
import { systemClock, type TimerClock } from '../../base/time/clock.ts'
import type { LoopRecords } from '../../client/reconcile/loop.ts'
import type { Transport as ClientTransport } from '../../client/requests/transport.ts'
import type { LocalNodes } from '../../cluster/node-port/local-nodes.ts'
import type { StoreError } from '../../storage/store/store.ts'
import { emulationFrom } from '../flags/emulation.ts'
import type { ServerOptions } from '../flags/options.ts'
import { openBackend } from './backend.ts'
import type { Environment, FoundationContext } from './environment.ts'
import { openFoundation } from './foundation.ts'
import { type ClientMoving, openFrontend } from './frontend.ts'

/** A running API server, and the parts of it that control loops and workers use. */
export interface ApiServer {
  /** A URL on which the server listens, such as https://127.0.0.1:6443. */
  readonly url: string
  /** The URL for clients on other hosts (`--advertise-address`). */
  readonly advertisedUrl: string
  /** Number of open watches. */
  readonly watches: number
  /** Returns a transport for in-process clients, authenticated as `user`. `stop` ends its requests. */
  transport(user: User): ClientTransport
  /** The current CA certificates in PEM format, which clients use to verify this server. */
  readonly authority: string
  /** The self-signed CA and its key. The server accepts client certificates that this CA issued. */
  readonly signingAuthority: CertifiedKey
  /** Issues a service account token for storage in a Secret. */
  issueLegacyToken(token: LegacyToken): Promise<string>
  /** Clock for the server and its control loops. Tests can advance it. */
  readonly clock: TimerClock
  /** Tracks whether writes that affect quotas are in progress in this server. */
  readonly quotaActivity: QuotaActivity
  /** Resolves when an object of a custom resource type is stored, or when the signal aborts. */
  whenUsed(type: { readonly group: string; readonly plural: string }, signal: AbortSignal): Promise<void>
  /** Receives the logs, metrics and readiness of the control loops, for the server's log, `/metrics` and `/readyz`. */
  readonly loopRecords: LoopRecords
  /** The Kubernetes version that the server emulates. */
  readonly emulatedVersion: EmulatedVersion
  /** The emulated Kubernetes version and the enabled feature gates. */
  readonly emulation: Emulation
  /** The simulated nodes of this process. The server may connect to them on loopback addresses. */
  readonly localNodes: LocalNodes
  /** Decides to which addresses the server may connect on behalf of users. */
  readonly addresses: AddressPolicy
  /**
   * Resolves with the reason when the store fails permanently. After that, the server is not ready, but it responds to
   * requests until its owner stops it.
   */
  readonly failed: Promise<StoreError>
  readonly moving: ClientMoving
  /** Stops accepting requests, waits for running requests and closes all resources. */
  stop(): Promise<void>
}

/** Starts the server and resolves when it accepts requests. */
export async function startApiServer(options: ServerOptions, environment: Environment): Promise<ApiServer> {
  using _start = beginStart()
  await using opened = new AsyncDisposableStack()
  const stopping = new AbortController().signal
  const defaults = { clock: systemClock, defaultLimits: false, defaultStorageClass: false, stopping }
  const server = await assemble(options, { ...defaults, ...environment, opened })
  const owned = opened.move()
  return Object.assign(server, { stop: () => owned.disposeAsync() })
}

/**
 * The context in which a server is assembled. If `kinds` is undefined, the kinds of the emulated version are served.
 */
type ServerContext = FoundationContext & Pick<Environment, 'kinds'>

async function assemble(
  configuredOptions: ServerOptions,
  environment: ServerContext,
): Promise<Omit<ApiServer, 'stop'>> {
  const foundation = await openFoundation(configuredOptions, environment)
  const { emulatedVersion } = foundation
  const options = { ...configuredOptions, emulatedVersion }
  const metricsKinds: readonly Kind[] = environment.servesMetrics ? [nodeMetrics, podMetrics] : []
  const kinds = environment.kinds ?? [...kindsOfVersion(emulatedVersion), ...metricsKinds]
  const context = { ...environment, kinds }
  const backend = await openBackend(options, foundation, context)
  const { url, advertised, inProcess, moving } = await openFrontend(options, backend, context)
  const { caches, failed, loopRecords, certificates, accountTokens } = backend
  caches.loadRest()
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
    whenUsed: async ({ group, plural }, signal) => await caches.find(`${group}.`, plural)?.whenUsed(signal),
    loopRecords,
    localNodes: backend.localNodes,
    addresses: backend.addresses,
    emulatedVersion,
    emulation: emulationFrom(options),
    failed,
    moving,
  }
}
