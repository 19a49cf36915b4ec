/** Opens the back end of a server: store caches, catalogue of served types, access control and admission. */

import { loadPatternEngine } from '../../api/cel/pattern-engine.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import { apiVersionOf, vendorOf } from '../../api/model/vendor.ts'
import { validatingFamily } from '../../apiserver/admission/policy/families.ts'
import { Policies } from '../../apiserver/admission/policy/policies.ts'
import { QuotaActivity } from '../../apiserver/admission/quota/activity.ts'
import { KnownWebhooks } from '../../apiserver/admission/webhook/known-webhooks.ts'
import type { Authenticator } from '../../apiserver/authn/authenticator.ts'
import { bootstrapTokens } from '../../apiserver/authn/bootstrap-tokens.ts'
import type { DeniedCertificates } from '../../apiserver/authn/denied-certificates.ts'
import { RequestForwarder } from '../../apiserver/http/relay/request-forwarder.ts'
import { forwardingLimits } from '../../apiserver/http/relay/requests-in-progress.ts'
import { HttpsCaller } from '../../apiserver/outbound/https-caller.ts'
import type { Address } from '../../apiserver/outbound/service-address.ts'
import type { Catalogue } from '../../apiserver/registry/catalogue/catalogue.ts'
import { PolicyReports } from '../../apiserver/resources/policy-reports.ts'
import { secretLabels } from '../../apiserver/upkeep/legacy-token-tracking.ts'
import { systemNamespace } from '../../apiserver/upkeep/system-objects.ts'
import { openFileLimit } from '../../base/limits/open-files.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { systemClock } from '../../base/time/clock.ts'
import { MissingRights } from '../../client/reconcile/missing-rights.ts'
import { LocalNodes } from '../../cluster/node-port/local-nodes.ts'
import type { ConsoleAccess } from '../../tools/console/access.ts'
import { makeAdmission } from '../admission/admission.ts'
import { ownWritesIn } from '../admission/admission-writes.ts'
import { ownerTypesIn, parameterTypesIn, servedTypesIn } from '../admission/admitted-types.ts'
import { ScheduledBackups } from '../backup/scheduled-backups.ts'
import { emulationFrom } from '../flags/emulation.ts'
import type { EmulatedOptions, ServerOptions } from '../flags/options.ts'
import type { Reloading } from '../flags/reloading.ts'
import { alphaVersions, isSpoken } from '../flags/runtime-config.ts'
import { openAccess } from '../identity/authorization.ts'
import type { FrontProxy } from '../identity/front-proxy.ts'
import type { Identify } from '../identity/identity.ts'
import type { ServerMetrics } from '../telemetry/metrics.ts'
import { countWorkers, hasDuties, type WorkerContext } from '../threads/worker-context.ts'
import { openCaches } from './caches.ts'
import { type CatalogueParts, openCatalogue } from './catalogue.ts'
import { startCustomResources } from './custom-resources.ts'
import type { AssemblyContext } from './environment.ts'
import { openFlowControl } from './flow-control.ts'
import type { Foundation } from './foundation.ts'
import { maximaOf } from './listener.ts'
import { openOtherApis } from './other-apis.ts'
import { readinessOf } from './readiness.ts'
import { startUpkeep } from './upkeep.ts'
import { addressPolicy, openWays } from './ways-to-nodes.ts'

/** The parts of the server that `openBackend` opens, such as the catalogue and admission. */
export type Backend = Awaited<ReturnType<typeof openBackend>>

/**
 * Opens the caches and starts the scheduled backups. Also creates the readiness check, and the log and metrics for the
 * control loops.
 */
function openState(options: ServerOptions, foundation: Foundation, context: AssemblyContext) {
  const { log, clock, worker } = context
  const { store, failed, notice, metrics } = foundation
  const localNodes = new LocalNodes()
  const listening: { address: Address | undefined } = { address: undefined }
  const addresses = addressPolicy(options, () => listening.address)
  worker?.shareNodes(localNodes)
  const eventRetention = { historyMs: options.historyDuration, clock: systemClock }
  const unbuilt = [...alphaVersions(options.runtimeConfig, { kinds: context.kinds, vendor: vendorOf(options.profile) })]
  if (unbuilt.length > 0)
    log.warn('alpha API versions are not implemented, so they are not served', { versions: unbuilt.join(', ') })
  const caches = openCaches(store, { failed, log, eventRetention, sharing: worker?.sharing })
  const missingRights = new MissingRights(log)
  const loopRecords = { log, clock, metrics: metrics.workQueues, missingRights }
  const backupSource = { store: foundation.raw, dataDir: options.etcdServers.length > 0 ? undefined : options.dataDir }
  const backups = new ScheduledBackups(options, { source: backupSource, log, clock })
  metrics.store.showLastBackup(() => backups.newest)
  const readiness = readinessOf({ store, caches, failed, notice, missingRights, backups, stopping: context.stopping })
  return { localNodes, listening, addresses, caches, loopRecords, backupSource, backups, readiness }
}

/** Opens the store caches, the catalogue of served types and access control. */
export async function openBackend(options: EmulatedOptions, foundation: Foundation, context: AssemblyContext) {
  const { log, clock, kinds, opened, worker } = context
  const { vendor, metrics, audited, authorities, frontProxy, reloading } = foundation
  const state = openState(options, foundation, context)
  const { localNodes, listening, addresses, caches, loopRecords, backups, readiness } = state
  const { catalogue, lookup, ways, registry, access, admission, identity, quotaActivity, ownWrites } = await openApi(
    options,
    {
      ...foundation,
      caches,
      clock,
      kinds,
      log,
      opened,
      worker,
      authenticator: context.authenticator,
      furtherControls: context.restrictsNodes ? ['NodeRestriction'] : [],
      console: context.console,
      components: [readiness.store],
      recentEvents: () => audited.recent.all(),
      ownAddress: () => listening.address,
      waysFor: openWays(options, { ...foundation, localNodes, addresses, opened }),
    },
  )
  const limitRequests = openFlowControl(options, { catalogue, lookup, metrics: metrics.flows, worker })
  opened.defer(() => caches.stop())
  await caches.start()
  const custom = await startCustomResources(catalogue, registry, {
    records: loopRecords,
    metrics: metrics.conversions,
    lookup,
    opened,
    ownAddress: () => listening.address,
  })
  if (hasDuties(worker)) {
    await startUpkeep(catalogue, loopRecords, { ...context, emulation: emulationFrom(options), ownWrites })
    backups.start()
    opened.defer(() => backups.stop())
  }
  const forwarder = openPasser(frontProxy, options, worker)
  const otherApiParts = { catalogue, lookup, vendor, frontProxy, authorities, loopRecords, forwarder, reloading }
  const otherApis = await openOtherApis(options, otherApiParts, context)
  await access.policy.current()
  return {
    ...foundation,
    ...state,
    identity,
    authorizer: access.authorizer,
    admission,
    limitRequests,
    catalogue,
    custom,
    otherApis,
    ways,
    forwarder,
    quotaActivity,
  }
}

/**
 * Opens the component that forwards requests to other servers. The number of forwarded requests is limited, so that
 * enough file descriptors remain for all workers' client connections.
 */
function openPasser(
  { otherHeaders, sendsUid }: FrontProxy,
  options: ServerOptions,
  worker: WorkerContext | undefined,
): RequestForwarder {
  const limits = forwardingLimits(openFileLimit() ?? usualOpenFiles, maximaOf(options).total, countWorkers(worker))
  return new RequestForwarder({ clock: systemClock, identityHeaders: otherHeaders, sendsUid, limits })
}

const usualOpenFiles = 1024

interface ApiParts
  extends Omit<
    CatalogueParts,
    'access' | 'accounting' | 'authenticateToken' | 'caller' | 'controls' | 'webhooks' | 'policyReports'
  > {
  readonly log: Log
  readonly identify: Identify
  readonly authenticator: Authenticator | undefined
  readonly console: ConsoleAccess | undefined
  readonly denied: DeniedCertificates
  /** Additional admission plugins that are enabled unless a flag disables them. */
  readonly furtherControls: readonly string[]
  readonly metrics: ServerMetrics
  readonly reloading: Reloading
  readonly opened: AsyncDisposableStack
  readonly worker: WorkerContext | undefined
  /** Returns the address on which this server listens, or undefined before it listens. */
  readonly ownAddress: () => Address | undefined
}

/**
 * Returns the authenticators that use stored objects or are specific to this process: those for service account tokens,
 * bootstrap tokens and console sessions, and the one that the caller provides, if any.
 */
function strategiesOf(
  options: EmulatedOptions,
  parts: ApiParts & { readonly catalogue: Catalogue; readonly lookup: Lookup },
): Authenticator[] {
  const { catalogue, lookup, clock, log, metrics, accountTokens, console, authenticator } = parts
  const vendor = vendorOf(options.profile)
  return [
    accountTokens.strategy({
      lookup,
      clock,
      log,
      metrics: metrics.tokens,
      emulation: emulationFrom(options),
      setLabels: secretLabels(catalogue),
    }),
    ...(options.enableBootstrapTokenAuth
      ? [bootstrapTokens({ vendor, lookup, clock, namespace: systemNamespace })]
      : []),
    ...(console === undefined ? [] : [console.authenticate]),
    ...(authenticator === undefined ? [] : [authenticator]),
  ]
}

/** Opens the catalogue, access control and admission in this order, because each depends on the previous one. */
async function openApi(options: EmulatedOptions, parts: ApiParts) {
  const vendor = vendorOf(options.profile)
  const nodeCaller = new HttpsCaller('orch-metrics')
  parts.opened.defer(() => nodeCaller.close())
  const { catalogue, lookup, ways, registry } = await openCatalogue(options, {
    ...parts,
    caller: nodeCaller,
    access: () => access,
    authenticateToken: () => identity.tokens,
    accounting: () => accounting,
    controls: () => controls,
    webhooks: () => knownWebhooks.all(),
    policyReports: () => reports,
  })
  const knownWebhooks = new KnownWebhooks()
  parts.metrics.admission.webhooks.showBreakers(() => knownWebhooks.all())
  const { clock, identify, metrics, log, reloading } = parts
  parts.denied.follow(lookup)
  const strategies = strategiesOf(options, { ...parts, catalogue, lookup })
  const { authenticationReloads, authorizationReloads: reloads } = metrics
  const identity = await identify(strategies, options, authenticationReloads)
  const access = await openAccess(options, { vendor, lookup, clock, log, reloading, reloads })
  parts.opened.defer(() => access.close())
  const { authorizer } = access
  const servedTypes = servedTypesIn(catalogue)
  const ownWrites = ownWritesIn({ catalogue, store: parts.store, admission: () => admission })
  const own = {
    lookup,
    servedTypes,
    ownWrites,
    ownerType: ownerTypesIn(catalogue),
    findParameterType: parameterTypesIn(catalogue),
    loadPatterns: loadPatternEngine,
  }
  const served = () => catalogue.all()
  const validating = { ...own, validatingPolicies: new Policies(validatingFamily, own) }
  const reports = new PolicyReports({ ...validating, vendor, clock, log, access: () => access, served })
  parts.opened.defer(() => reports.stop())
  const caller = new HttpsCaller('orch-admission')
  parts.opened.defer(() => caller.close())
  const { requestTimeout: requestLimitMs } = options
  const imagePolicy = imagePolicyParts(options, parts)
  const webhookParts = { caller, knownWebhooks, ownAddress: parts.ownAddress, requestLimitMs, ...imagePolicy }
  const workers = countWorkers(parts.worker)
  const quotaActivity = new QuotaActivity(undefined, () => workers() === 1)
  const running = { access, furtherDefaults: parts.furtherControls }
  const counting = { quotaActivity, clock, sharedRates: parts.worker?.limits.rates }
  const admissionParts = {
    vendor,
    emulation: emulationFrom(options),
    authorizer,
    ...running,
    ...validating,
    ...webhookParts,
    ...counting,
    log,
  }
  const { admission, accounting, controls } = await makeAdmission(options, admissionParts, metrics.admission)
  return { catalogue, lookup, ways, registry, access, admission, identity, quotaActivity, ownWrites }
}

/**
 * Returns the dependencies of the ImagePolicyWebhook plugin: the enabled API versions, and a function that opens its
 * backend.
 */
function imagePolicyParts(options: ServerOptions, { reloading, opened }: ApiParts) {
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
