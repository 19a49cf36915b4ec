/**
 * The one place where the parts are joined, in the order in which they need one another. `startApiServer` resolves when
 * requests are answered. Whatever is opened says at once how it is closed: `stop`, and a start that fails half way,
 * close it all in reverse order.
 */
import { setImmediate } from 'node:timers/promises'
import { allKinds } from '../../api/kinds/all.ts'
import type { User } from '../../api/model/user.ts'
import { apiVersionOf, vendorOf } from '../../api/model/vendor.ts'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import type { Kind } from '../../api/schema/kind.ts'
import { QuotaActivity } from '../../apiserver/admission/quota/activity.ts'
import { KnownWebhooks } from '../../apiserver/admission/webhook/known-webhooks.ts'
import type { Authenticator } from '../../apiserver/authn/authenticator.ts'
import { bootstrapTokens } from '../../apiserver/authn/bootstrap-tokens.ts'
import { DeniedCertificates } from '../../apiserver/authn/denied-certificates.ts'
import { nodeClientCertificates } from '../../apiserver/authn/node-client-certificates.ts'
import type { LegacyToken } from '../../apiserver/authn/service-account/claims.ts'
import type { Step } from '../../apiserver/http/pipeline.ts'
import { RequestPasser } from '../../apiserver/http/relay/pass-on.ts'
import { underWayLimits } from '../../apiserver/http/relay/requests-under-way.ts'
import { maySwitchProtocols } from '../../apiserver/http/request/request-info.ts'
import { audit } from '../../apiserver/http/steps/audit.ts'
import { authenticate } from '../../apiserver/http/steps/authenticate.ts'
import { demandTls } from '../../apiserver/http/steps/connection-hints.ts'
import { HttpsCaller } from '../../apiserver/outbound/https-caller.ts'
import type { Address } from '../../apiserver/outbound/service-address.ts'
import type { Listener } from '../../apiserver/transport/listener.ts'
import { systemNamespace } from '../../apiserver/upkeep/system-objects.ts'
import { beginStart } from '../../base/concurrency/time-slice.ts'
import { openFileLimit } from '../../base/limits/open-files.ts'
import { Exposer } from '../../base/telemetry/exposition.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import { systemClock, type TimerClock } from '../../base/time/clock.ts'
import type { LoopRecords } from '../../client/reconcile/loop.ts'
import { MissingRights } from '../../client/reconcile/missing-rights.ts'
import type { Transport as ClientTransport } from '../../client/requests/transport.ts'
import { LocalNodes } from '../../cluster/node-port/local-nodes.ts'
import type { Store, StoreError } from '../../storage/store/store.ts'
import type { ConsoleAccess } from '../../tools/console/access.ts'
import { serveConsole } from '../../tools/console/console.ts'
import { makeAdmission } from '../admission/admission.ts'
import { ownWritesIn } from '../admission/admission-writes.ts'
import { ownerTypesIn, servedTypesIn } from '../admission/admitted-types.ts'
import { makeBackup } from '../backup/make-backup.ts'
import { ScheduledBackups } from '../backup/scheduled.ts'
import { type Certificates, openCertificates } from '../certificates/certificates.ts'
import { ClientAuthorities } from '../certificates/client-authorities.ts'
import { shareAuthority } from '../certificates/shared-keys.ts'
import type { ServerOptions } from '../flags/options.ts'
import { openReloading, type Reloading } from '../flags/reloading.ts'
import { isSpoken, spokenBy } from '../flags/runtime-config.ts'
import { openAccess } from '../identity/authorization.ts'
import { type FrontProxy, openFrontProxy } from '../identity/front-proxy.ts'
import { readIdentity } from '../identity/identity.ts'
import { openAccountTokens, readGivenKeys, settleKeys } from '../identity/service-account-tokens.ts'
import { claimProfile } from '../store/profile.ts'
import { openStore } from '../store/store.ts'
import { openAudit } from '../telemetry/audit.ts'
import { allMetrics, openMetrics, type ServerMetrics } from '../telemetry/metrics.ts'
import { openTracing } from '../telemetry/tracing.ts'
import { hasDuties, type WorkerPlace } from '../threads/worker-place.ts'
import { startAggregation } from './aggregation.ts'
import { readAllowedOrigins } from './allowed-origins.ts'
import { openCaches } from './caches.ts'
import { type CatalogueParts, openCatalogue } from './catalogue.ts'
import { startCustomResources } from './custom-resources.ts'
import { openEarlyPort, openWaitingPort } from './early-port.ts'
import { openFlowControl } from './flow-control.ts'
import { InProcess } from './in-process-transport.ts'
import { maximaOf, openListener } from './listener.ts'
import { readinessOf } from './readiness.ts'
import { handleRequests, type RequestHooks } from './request-handling.ts'
import { servedPaths } from './served-paths.ts'
import { advertisedUrl, servedUrl } from './server-urls.ts'
import { startOwnService, startUpkeep } from './upkeep.ts'
import { followNodeClient, openWays } from './ways-to-nodes.ts'

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

/** Resolves when requests are answered. */
export async function startApiServer(options: ServerOptions, environment: Environment): Promise<ApiServer> {
  using _start = beginStart()
  await using opened = new AsyncDisposableStack()
  const stopping = new AbortController().signal
  const defaults = { clock: systemClock, kinds: allKinds, defaultLimits: false, defaultStorageClass: false, stopping }
  const server = await join(options, { ...defaults, ...environment, opened })
  const owned = opened.move()
  return Object.assign(server, { stop: () => owned.disposeAsync() })
}

type Defaulted = 'clock' | 'kinds' | 'defaultLimits' | 'defaultStorageClass' | 'stopping'

type Surroundings = Environment &
  Required<Pick<Environment, Defaulted>> & {
    /** Closes what is opened. */
    readonly opened: AsyncDisposableStack
  }

async function join(options: ServerOptions, around: Surroundings): Promise<Omit<ApiServer, 'stop'>> {
  const inner = await openInner(options, around)
  const { url, advertised, inProcess } = await openOuter(options, inner, around)
  const { caches, failed, loopRecords, certificates, accountTokens } = inner
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
    clock: around.clock,
    quotaActivity: inner.quotaActivity,
    loopRecords,
    localNodes: inner.localNodes,
    failed,
  }
}

type Inner = Awaited<ReturnType<typeof openInner>>

/** What everything else stands on: files that flags name, the store, keys and certificates. */
async function openFoundation(options: ServerOptions, around: Surroundings) {
  const { log, clock, opened, worker } = around
  const vendor = vendorOf(options.profile)
  const reloading = openReloading(log)
  opened.defer(() => reloading.close())
  const authorities = new ClientAuthorities(options, reloading)
  const denied = new DeniedCertificates()
  const nodeClient = followNodeClient(options, reloading, log)
  const isNodeClient = nodeClientCertificates(() => nodeClient.pair?.certificate)
  const identify = await readIdentity(options, { clock, log, authorities, denied, isNodeClient, reloading, opened })
  const givenKeys = readGivenKeys(options)
  const metrics = openMetrics(systemClock)
  const recording = { vendor, clock: systemClock, log, reloading, worker, opened, metrics: metrics.audit }
  const audited = await openAudit(options, recording)
  const early = { begun: clock.monotonic(), clock, log, opened }
  const waiting = await openWaitingPort(options, early)
  const { stopping, store: given } = around
  const below = { log, clock, metrics: metrics.store, given, worker, stopping }
  const { store, raw, failed, notice } = await openStore(options, below)
  opened.defer(() => store.close())
  await claimProfile(store, options.profile)
  await shareAuthority(options, store, systemClock)
  const means = { clock: systemClock, store, log, authorities, reloading, worker, opened }
  const certificates = await openCertificates(options, means)
  await waiting?.listener.close(0)
  const earlyPort = await openEarlyPort(options, { ...early, certificates, counting: worker?.counting })
  const frontProxy = await openFrontProxy(options, means)
  const accountTokens = openAccountTokens(options, await settleKeys(givenKeys, options, store))
  const who = { authorities, denied, identify, certificates, frontProxy, accountTokens }
  return { vendor, reloading, ...who, nodeClient, metrics, audited, store, raw, failed, notice, earlyPort }
}

/** What requests are about: the store and its caches, what is served, and who may do what with it. */
async function openInner(options: ServerOptions, around: Surroundings) {
  const { log, clock, kinds, opened } = around
  const foundation = await openFoundation(options, around)
  const { vendor, store, failed, notice, metrics, audited, authorities, denied, accountTokens, frontProxy } = foundation

  const listening: { address: Address | undefined } = { address: undefined }
  const localNodes = new LocalNodes()
  around.worker?.shareNodes(localNodes)
  const kept = { historyMs: options.historyDuration, clock: systemClock }
  const caches = openCaches(store, { failed, log, kept, sharing: around.worker?.sharing })
  const loopRecords = { log, clock, metrics: metrics.workQueues, missingRights: new MissingRights(log) }
  const { missingRights } = loopRecords
  const backupSource = { store: foundation.raw, dataDir: options.etcdServers.length > 0 ? undefined : options.dataDir }
  const backups = new ScheduledBackups(options, { source: backupSource, log, clock })
  const readiness = readinessOf({ store, caches, failed, notice, missingRights, backups, stopping: around.stopping })
  const { catalogue, lookup, ways, registry, access, admission, identity, quotaActivity, ownWrites } = await openApi(
    options,
    {
      ...{ ...foundation, caches, clock, kinds, log, opened, worker: around.worker },
      authenticator: around.authenticator,
      furtherControls: around.restrictsNodes ? ['NodeRestriction'] : [],
      console: around.console,
      components: [readiness.store],
      recentEvents: () => audited.recent.all(),
      ownAddress: () => listening.address,
      waysFor: openWays(options, { ...foundation, localNodes, ownAddress: () => listening.address, opened }),
    },
  )
  const limitRequests = openFlowControl(options, { catalogue, lookup, clock: systemClock, metrics: metrics.flows })
  opened.defer(() => caches.stop())
  await caches.start()
  const custom = await startCustomResources(catalogue, registry, {
    ...{ records: loopRecords, metrics: metrics.conversions, lookup, opened },
    ownAddress: () => listening.address,
  })
  if (hasDuties(around.worker)) {
    await startUpkeep(catalogue, loopRecords, { ...around, ownWrites })
    backups.start()
    opened.defer(() => backups.stop())
  }
  const passer = openPasser(frontProxy, options)
  const outside = { catalogue, lookup, vendor, frontProxy, authorities, loopRecords, passer }
  const aggregation = await startAggregation(outside, around)
  await access.policy.current()
  const who = { identity, denied, accountTokens, authorizer: access.authorizer, admission, limitRequests }
  const served = { catalogue, custom, aggregation, ways, passer, loopRecords, localNodes, listening, quotaActivity }
  return { ...foundation, ...who, ...served, caches, readiness, backupSource }
}

/** How requests come in and are answered: the pipeline, the port, and the way in for this process itself. */
async function openOuter(options: ServerOptions, inner: Inner, { console, log, hooks, opened, worker }: Surroundings) {
  const { vendor, identity, authorizer, admission, metrics, catalogue, readiness, certificates, aggregation } = inner
  const shown = allMetrics(metrics, catalogue)
  const exposer = worker === undefined ? new Exposer(shown) : worker.exposing(shown)
  const paths = servedPaths({
    ...{ catalogue, exposer, aggregation, worker, spoken: spokenBy(options.runtimeConfig, vendor) },
    ready: readiness.checks,
    address: () => advertised.host,
    issuer: inner.accountTokens.policy.issuer,
    keysAddress: options.serviceAccountJwksUri,
    makeBackup: () => makeBackup(inner.backupSource),
    profiling: options.profiling,
  })
  const routes = {
    ...{ catalogue, paths, admission, authorizer },
    watchMetrics: metrics.watches,
    minWatchMs: options.minRequestTimeout * 1000,
    arrival: inner.custom?.arrival,
    ...{ elsewhere: aggregation.handle.bind(aggregation), passer: inner.passer },
  }
  const handling = handleRequests({
    ...{ vendor, authorizer, routes, metrics: metrics.requests, log, hooks, clock: systemClock },
    breakGlass: options.enableBreakGlass,
    audit: audit({ vendor, clock: systemClock, metrics: metrics.audit, ...inner.audited }),
    limitRequests: inner.limitRequests,
    early: earlySteps(options, { console, log }),
    tracing: await openTracing(options.tracingConfigFile, { vendor, log, metrics: metrics.traces, opened }),
    maxRequestMs: options.requestTimeout,
    isAllowedOrigin: await readAllowedOrigins(options.corsAllowedOrigins),
  })
  opened.defer(() => handling.close())

  const answering = {
    handle: handling.handleAs(
      authenticate(metrics.authentication.measured(identity.requests), identity.isSecretHeader),
    ),
    maySwitch: (target: string) => maySwitchProtocols(target) || aggregation.maySwitch(target),
  }
  const { earlyPort } = inner
  const serving = { ...answering, clock: systemClock, log, counting: worker?.counting }
  const listener = earlyPort?.listener ?? (await openListener(options, certificates, serving))
  cutOffDenied(listener, inner.denied)
  // What is under way still reads from the caches, so they go on until the last answer is sent.
  opened.defer(() => listener.close(options.shutdownGrace, worker && (() => worker.allStoppedListening())))
  opened.defer(() => endStreams(inner))
  const inProcess = new InProcess(handling.handleAs, systemClock)
  opened.defer(() => endOwnRequests(inProcess, options, log))
  if (hasDuties(worker)) await startOwnService(options, { ...inner, port: listener.port, opened })
  const [url, advertised] = [servedUrl(options, listener.port), advertisedUrl(options, listener.port)]
  inner.listening.address = { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: listener.port }
  await certificates.writeAdminConfig(url.origin)
  earlyPort?.takeOver(answering)
  opened.defer(keepFresh(certificates, url.origin, { listener, log }))
  opened.defer(async () => {
    readiness.stopping()
    // Those who ask for readiness at this moment are still answered.
    await setImmediate()
  })
  return { url, advertised, inProcess }
}

/** Requests to other servers leave enough files for the connections of clients, over all workers. */
function openPasser({ otherHeaders }: FrontProxy, options: ServerOptions): RequestPasser {
  const limits = underWayLimits(openFileLimit() ?? usualOpenFiles, maximaOf(options).total, options.workers)
  return new RequestPasser({ clock: systemClock, identityHeaders: otherHeaders, limits })
}

const usualOpenFiles = 1024

/** Watches, and what leads to other servers, go on for as long as their clients like: nobody waits for that. */
function endStreams({ caches, aggregation, ways }: Pick<Inner, 'caches' | 'aggregation' | 'ways'>): void {
  caches.endWatches()
  aggregation.endStreams()
  ways.relay.endStreams()
}

/** Ends the connections of clients whose certificates are denied from now on. */
function cutOffDenied(listener: Listener, denied: DeniedCertificates): void {
  denied.onChange(() =>
    listener.cutOff(({ certificate }) => {
      const shown = certificate === undefined ? [] : [certificate.x509, ...certificate.sent]
      return shown.some((each) => denied.has(each))
    }),
  )
}

function earlySteps(options: ServerOptions, { console: access, log }: Pick<Surroundings, 'console' | 'log'>): Step[] {
  const { strictTransportSecurity: directives } = options
  return [
    ...(directives === '' ? [] : [demandTls(directives)]),
    ...(options.console ? [serveConsole({ access, log })] : []),
  ]
}

interface ApiParts
  extends Omit<CatalogueParts, 'access' | 'accounting' | 'authenticateToken' | 'controls' | 'webhooks'> {
  readonly log: Log
  readonly identify: Awaited<ReturnType<typeof readIdentity>>
  readonly authenticator: Authenticator | undefined
  readonly console: ConsoleAccess | undefined
  readonly denied: DeniedCertificates
  /** Admission controls that run unless a flag disables them, besides the default ones. */
  readonly furtherControls: readonly string[]
  readonly metrics: ServerMetrics
  readonly reloading: Reloading
  readonly opened: AsyncDisposableStack
  readonly worker: WorkerPlace | undefined
  /** Where this server listens; undefined before it does. */
  readonly ownAddress: () => Address | undefined
}

/** What is served, who may use it, and what every write must pass: each needs the one before. */
async function openApi(options: ServerOptions, parts: ApiParts) {
  const vendor = vendorOf(options.profile)
  const { catalogue, lookup, ways, registry } = await openCatalogue(options, {
    ...parts,
    access: () => access,
    authenticateToken: () => identity.tokens,
    accounting: () => accounting,
    controls: () => controls,
    webhooks: () => knownWebhooks.all(),
  })
  const knownWebhooks = new KnownWebhooks()
  parts.metrics.admission.webhooks.showBreakers(() => knownWebhooks.all())
  const { clock, accountTokens, identify, metrics, log, reloading } = parts
  parts.denied.follow(lookup)
  const identity = identify([
    accountTokens.strategy({ lookup, clock, metrics: metrics.tokens }),
    ...(options.enableBootstrapTokenAuth
      ? [bootstrapTokens({ vendor, lookup, clock, namespace: systemNamespace })]
      : []),
    ...(parts.console === undefined ? [] : [parts.console.authenticate]),
    ...(parts.authenticator === undefined ? [] : [parts.authenticator]),
  ])
  const access = await openAccess(options, { vendor, lookup, clock, log, reloading })
  parts.opened.defer(() => access.close())
  const { authorizer } = access
  const servedTypes = servedTypesIn(catalogue)
  const ownWrites = ownWritesIn({ catalogue, store: parts.store, admission: () => admission })
  const own = { servedTypes, ownWrites, ownerType: ownerTypesIn(catalogue) }
  const caller = new HttpsCaller('orch-admission')
  parts.opened.defer(() => caller.close())
  const { requestTimeout: requestLimitMs } = options
  const image = imagePolicyMeans(options, parts)
  const outside = { caller, knownWebhooks, ownAddress: parts.ownAddress, requestLimitMs, ...image }
  const quotaActivity = new QuotaActivity()
  const running = { access, furtherDefaults: parts.furtherControls }
  const counting = { quotaActivity, clock, sharedRates: parts.worker?.limits.rates }
  const means = { vendor, lookup, authorizer, ...running, ...own, ...outside, ...counting, log }
  const { admission, accounting, controls } = await makeAdmission(options, means, metrics.admission)
  return { catalogue, lookup, ways, registry, access, admission, identity, quotaActivity, ownWrites }
}

/** What the image policy needs: its backend is opened where there is one. */
function imagePolicyMeans(options: ServerOptions, { reloading, opened }: ApiParts) {
  return {
    isEnabled: (group: string, version: string) =>
      isSpoken(options.runtimeConfig, apiVersionOf(vendorOf(options.profile), group, version)),
    openService: async (file: string) => {
      const { webhookService } = await import('../identity/webhook-service.ts')
      const service = webhookService('admission-control-config-file', file, reloading)
      opened.defer(() => service.close())
      return service
    },
  }
}

async function endOwnRequests(inProcess: InProcess, { shutdownGrace }: ServerOptions, log: Log): Promise<void> {
  const left = await inProcess.close(shutdownGrace)
  if (left > 0) log.warn('requests of control loops did not end in time', { count: left })
}

/** Certificates of our own making are renewed before they run out. Gives what ends it. */
function keepFresh(
  certificates: Certificates,
  url: string,
  { listener, log }: { listener: Listener; log: Log },
): () => Promise<void> {
  return certificates.keepFresh(url, {
    onRenewed: (tls) => listener.renew(tls),
    onError: (error) => log.error('a certificate could not be renewed', errorFields(error)),
  })
}
