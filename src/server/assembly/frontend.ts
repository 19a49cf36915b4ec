/** Opens the parts of a server that handle requests: the pipeline, the port and the in-process transport. */

import { setImmediate } from 'node:timers/promises'
import type { DeniedCertificates } from '../../apiserver/authn/denied-certificates.ts'
import { maySwitchProtocols } from '../../apiserver/http/request/request-info.ts'
import { audit } from '../../apiserver/http/steps/audit.ts'
import { authenticate } from '../../apiserver/http/steps/authenticate.ts'
import { demandTls } from '../../apiserver/http/steps/connection-hints.ts'
import type { Listener } from '../../apiserver/transport/listener.ts'
import { Exposer } from '../../base/telemetry/exposition.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import { systemClock } from '../../base/time/clock.ts'
import { serveConsole } from '../../tools/console/console.ts'
import { openDocumentation } from '../../tools/console/documentation.ts'
import { makeBackup } from '../backup/make-backup.ts'
import type { Certificates } from '../certificates/certificates.ts'
import { auditLogLimits } from '../flags/audit.ts'
import { emulationFrom } from '../flags/emulation.ts'
import { flagValues } from '../flags/flag-values.ts'
import { type EmulatedOptions, type ServerOptions, serverFlags } from '../flags/options.ts'
import { spokenBy } from '../flags/runtime-config.ts'
import { allMetrics } from '../telemetry/metrics.ts'
import { openTracing } from '../telemetry/tracing.ts'
import { hasDuties } from '../threads/worker-context.ts'
import { readAllowedOrigins } from './allowed-origins.ts'
import type { Backend } from './backend.ts'
import type { AssemblyContext } from './environment.ts'
import { InProcess } from './in-process-transport.ts'
import { openListener } from './listener.ts'
import { type Handling, handleRequests } from './request-handling.ts'
import { servedPaths } from './served-paths.ts'
import { advertisedUrl, servedUrl } from './server-urls.ts'
import { startIdentityLease, startOwnService } from './upkeep.ts'

/** Opens the request pipeline. `advertisedHost` is called only after the server has started to listen. */
async function openPipeline(
  options: EmulatedOptions,
  backend: Backend,
  context: AssemblyContext & { readonly advertisedHost: () => string },
): Promise<Handling> {
  const { log, hooks, opened, worker, advertisedHost } = context
  const { vendor, authorizer, admission, metrics, catalogue, readiness, otherApis } = backend
  const servedMetrics = allMetrics(metrics, catalogue)
  const exposer = worker === undefined ? new Exposer(servedMetrics) : worker.exposing(servedMetrics)
  const paths = servedPaths({
    catalogue,
    emulation: emulationFrom(options),
    extensions: options.extensions,
    exposer,
    health: metrics.health,
    ...otherApis,
    worker,
    spoken: spokenBy(options.runtimeConfig, vendor),
    ready: readiness.checks,
    address: advertisedHost,
    issuer: backend.accountTokens.policy.issuer,
    keysAddress: options.serviceAccountJwksUri,
    makeBackup: () => makeBackup(backend.backupSource),
    profiling: options.profiling,
    flags: () => flagValues(serverFlags, { ...options, ...auditLogLimits(options) }),
  })
  const routes = {
    catalogue,
    paths,
    admission,
    authorizer,
    watchMetrics: metrics.watches,
    minWatchMs: options.minRequestTimeout * 1000,
    extensions: options.extensions,
    waitForType: backend.custom?.waitForType,
    handleOtherApi: otherApis.handleOtherApi,
    forwarder: backend.forwarder,
  }
  const serveDocumentation = await openDocumentation(options.docs)
  const hasDocumentation = serveDocumentation !== undefined
  return handleRequests({
    vendor,
    authorizer,
    gates: emulationFrom(options).gates,
    routes,
    metrics: metrics.requests,
    log,
    hooks,
    clock: systemClock,
    breakGlass: options.enableBreakGlass,
    audit: audit({ vendor, clock: systemClock, metrics: metrics.audit, ...backend.audited }),
    limitRequests: backend.limitRequests,
    demandTls: options.strictTransportSecurity === '' ? undefined : demandTls(options.strictTransportSecurity),
    serveConsole: options.console ? serveConsole({ access: context.console, hasDocumentation, log }) : undefined,
    serveDocumentation,
    tracing: await openTracing(options.tracingConfigFile, { vendor, log, metrics: metrics.traces, opened }),
    maxRequestMs: options.requestTimeout,
    isAllowedOrigin: await readAllowedOrigins(options.corsAllowedOrigins),
  })
}

/** Moves a worker's clients to the other workers. Clients reconnect when their connection ends. */
export interface ClientMoving {
  /** Ends each connection, with this probability, as soon as its running requests are complete. */
  moveClients(chance: number): void
  /**
   * Stops listening. Ends watches immediately, and other connections once their requests are complete. Resolves when no
   * connections are left, which takes as long as the longest request.
   */
  leave(): Promise<void>
}

/** Opens the request pipeline, the port and the transport for clients in the process. */
export async function openFrontend(options: EmulatedOptions, backend: Backend, context: AssemblyContext) {
  const { log, opened, worker } = context
  const { identity, metrics, readiness, certificates } = backend
  const { aggregation } = backend.otherApis
  const handling = await openPipeline(options, backend, { ...context, advertisedHost: () => advertised.host })
  opened.defer(() => handling.close())

  const answering = {
    handle: handling.handleAs(
      authenticate(metrics.authentication.measured(identity.requests), identity.isSecretHeader),
    ),
    maySwitch: (target: string) => maySwitchProtocols(target) || aggregation.maySwitch(target),
  }
  const { earlyPort } = backend
  const serving = { ...answering, clock: systemClock, log, counting: worker?.counting, portSharing: worker }
  const listener = earlyPort?.listener ?? (await openListener(options, certificates, serving))
  cutOffDenied(listener, backend.denied)
  // Close the caches only after the last response has been sent, because running requests read from them.
  opened.defer(() => listener.close(options.shutdownGrace, worker && (() => worker.allStoppedListening())))
  opened.defer(() => endStreams(backend))
  const inProcess = new InProcess(handling.handleAs, systemClock)
  opened.defer(() => endOwnRequests(inProcess, options, log))
  if (hasDuties(worker)) {
    await startOwnService(options, { ...backend, port: listener.port, log, opened })
    startIdentityLease(options, { ...backend, port: listener.port, opened })
  }
  const url = servedUrl(options, listener.port)
  const advertised = advertisedUrl(options, listener.port)
  backend.listening.address = { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: listener.port }
  await certificates.writeAdminConfig(url.origin)
  earlyPort?.takeOver(answering)
  opened.defer(keepFresh(certificates, url.origin, { listener, log }))
  opened.defer(async () => {
    readiness.stopping()
    // Allow readiness requests that have just arrived to finish.
    await setImmediate()
  })
  const moving: ClientMoving = {
    moveClients: (chance) => listener.moveClients(chance),
    leave: async () => {
      const departure = listener.leave()
      // End the watches, so that clients continue them on other workers.
      backend.caches.endWatches()
      await departure
    },
  }
  return { url, advertised, inProcess, moving }
}

/**
 * Ends watches and proxied connections. The server does not wait for them to end, because clients determine how long
 * they last.
 */
function endStreams({ caches, otherApis, ways }: Pick<Backend, 'caches' | 'otherApis' | 'ways'>): void {
  caches.endWatches()
  otherApis.aggregation.endStreams()
  ways.relay.endStreams()
}

/** Closes the connections of clients whose certificates have been denied. */
function cutOffDenied(listener: Listener, denied: DeniedCertificates): void {
  denied.onChange(() =>
    listener.cutOff(({ certificate }) => {
      const chain = certificate === undefined ? [] : [certificate.x509, ...certificate.intermediates]
      return chain.some((each) => denied.has(each))
    }),
  )
}

async function endOwnRequests(inProcess: InProcess, { shutdownGrace }: ServerOptions, log: Log): Promise<void> {
  const unfinishedRequests = await inProcess.close(shutdownGrace)
  if (unfinishedRequests > 0)
    log.warn('control loop requests did not finish within the grace period', { count: unfinishedRequests })
}

/** Renews self-signed certificates before they expire. Returns a function that stops the renewal. */
function keepFresh(
  certificates: Certificates,
  url: string,
  { listener, log }: { listener: Listener; log: Log },
): () => Promise<void> {
  return certificates.keepFresh(url, {
    onRenewed: (tls) => listener.renew(tls),
    onError: (error) => log.error('cannot renew the serving or administrator certificate', errorFields(error)),
  })
}
