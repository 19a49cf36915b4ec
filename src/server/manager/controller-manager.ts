/**
 * `orch controller-manager`: the control loops in a separate process, which connects to an API server over TLS like any
 * other client. It learns the API group names, the key prefixes and the Kubernetes version from that server. If there
 * are several managers, only the leader, which holds a Lease, is active. A manager that loses the Lease exits, because
 * it cannot know what the new leader is doing.
 */

import { join, resolve } from 'node:path'
import type { Vendor } from '../../api/model/vendor.ts'
import { selfSignedCertificate } from '../../api/pki/self-signed-certificate.ts'
import type { Emulation } from '../../api/versions/availability.ts'
import { defaultGatesOf } from '../../api/versions/feature-gates.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { Exposer } from '../../base/telemetry/exposition.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { Gauge } from '../../base/telemetry/metrics.ts'
import { systemClock } from '../../base/time/clock.ts'
import { type Term, timingFault, withinTerm } from '../../client/informers/leader-election.ts'
import { parserFor } from '../../client/node/config-parser.ts'
import { HttpTransport, type HttpTransportOptions } from '../../client/node/http-transport.ts'
import { readClientConfig } from '../../client/node/kubeconfig.ts'
import { processEnvironment, usualFiles } from '../../client/node/kubeconfig-files.ts'
import type { RunningLoops } from '../../client/reconcile/loop.ts'
import { MissingRights } from '../../client/reconcile/missing-rights.ts'
import { WorkQueueMetrics } from '../../client/reconcile/work-queue-metrics.ts'
import { Client } from '../../client/requests/client.ts'
import type { Transport } from '../../client/requests/transport.ts'
import { controlLoops } from '../../cluster/controllers/all.ts'
import type { ControlLoop } from '../../cluster/controllers/control-loop.ts'
import { startControlLoops } from '../../cluster/controllers/manager.ts'
import { selectLoops } from '../../cluster/controllers/select-loops.ts'
import type { SchedulerSettings } from '../../cluster/scheduler/scheduler.ts'
import { clusterLoopOptions, podRangesOf } from '../flags/cluster-loops.ts'
import type { ManagerOptions } from '../flags/controller-manager.ts'
import { concurrencyOf } from '../flags/loops.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'
import { openReloading } from '../flags/reloading.ts'
import { readSchedulerSettings } from '../flags/scheduler-configuration.ts'
import { AccountTokens } from './account-tokens.ts'
import { runElected } from './election.ts'
import { learnVendor, learnVersion } from './learn-vendor.ts'
import { openSecurePort } from './secure-port.ts'
import { type FileOptions, readSigningFiles } from './signing-files.ts'

export interface ControllerManager {
  /** The port of the manager's HTTPS server. Undefined if the manager has no HTTPS server. */
  readonly port: number | undefined
  /** Resolves when the Lease has been lost and all work has ended. */
  readonly lost: Promise<void>
  stop(): Promise<void>
}

/** Starts the manager. Resolves even if the API server is still unreachable. Throws UsageError for invalid flags. */
export async function startControllerManager(options: ManagerOptions, log: Log): Promise<ControllerManager> {
  await using opened = new AsyncDisposableStack()
  const enabledLoops = selectLoops(controlLoops, options.controllers)
  checkTiming(options)
  podRangesOf(options)
  const reloading = openReloading(log)
  opened.defer(() => reloading.close())
  const files = readSigningFiles(options, reloading)
  const scheduler = await readSchedulerSettings(options.schedulerConfig)
  const config = await readConfig(options)
  const connections = new Connections(config)
  opened.defer(() => connections.close())
  const manager = new Manager({ options, enabledLoops, files, scheduler, connections, log })
  const port = await openPort(options, manager)
  if (port !== undefined) opened.defer(() => port.close())
  opened.defer(() => manager.stop())
  const owned = opened.move()
  log.info('controller manager started', {
    server: config.server,
    loops: enabledLoops.map(({ name }) => name).join(' '),
  })
  return { port: port?.port, lost: manager.lost, stop: () => owned.disposeAsync() }
}

function timingOf({ leaseDuration, renewDeadline, retryPeriod }: ManagerOptions) {
  return { leaseDurationMs: leaseDuration, renewDeadlineMs: renewDeadline, retryPeriodMs: retryPeriod }
}

function checkTiming(options: ManagerOptions): void {
  const fault = timingFault(timingOf(options))
  if (options.leaderElect && fault !== undefined) throw new UsageError(`--leader-elect-lease-duration: ${fault}`)
}

async function readConfig({ kubeconfig }: ManagerOptions): Promise<HttpTransportOptions> {
  const environment = processEnvironment()
  const files = kubeconfig === '' ? usualFiles(environment) : [join(kubeconfig)]
  return readClientConfig({ files, parse: await parserFor(files) }).transport
}

/** Two transports to the API server: `own` with the credentials of the kubeconfig, and `bare` without any. */
class Connections {
  readonly own: HttpTransport
  readonly bare: HttpTransport

  constructor(config: HttpTransportOptions) {
    const { certificate: _c, token: _t, headers: _h, ...bare } = config
    this.own = new HttpTransport(config)
    this.bare = new HttpTransport(bare)
  }

  close(): void {
    this.own.close()
    this.bare.close()
  }
}

async function openPort(options: ManagerOptions, manager: Manager) {
  const { securePort: port, bindAddress: address, tlsCertFile, tlsPrivateKeyFile } = options
  if (port === 0) return undefined
  if ((tlsCertFile === '') !== (tlsPrivateKeyFile === ''))
    throw new UsageError('--tls-cert-file and --tls-private-key-file must be specified together')
  const pair =
    tlsCertFile === ''
      ? selfSignedCertificate(
          'orch-controller-manager',
          { dns: ['localhost'], ips: ['127.0.0.1', '::1'] },
          systemClock.now(),
        )
      : {
          certificate: readFlagFile('tls-cert-file', tlsCertFile),
          key: readFlagFile('tls-private-key-file', tlsPrivateKeyFile),
        }
  const { exposer, reviewer } = manager
  return await openSecurePort({ address, port, pair, exposer, reviewer, clock: systemClock })
}

interface ManagerParts {
  readonly options: ManagerOptions
  readonly enabledLoops: readonly ControlLoop[]
  readonly files: FileOptions
  readonly scheduler: SchedulerSettings | undefined
  readonly connections: Connections
  readonly log: Log
}

/** Properties of the API server that the manager reads from it: group names, Kubernetes version and feature gates. */
interface ServedApi {
  readonly vendor: Vendor
  readonly emulation: Emulation
}

class Manager {
  readonly exposer: Exposer
  readonly lost: Promise<void>
  readonly #parts: ManagerParts
  readonly #client: Client
  readonly #workQueues = new WorkQueueMetrics()
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #vendor: Vendor | undefined
  #leads = false

  constructor(parts: ManagerParts) {
    this.#parts = parts
    this.#client = new Client(parts.connections.own.send, { userAgent: 'kube-controller-manager' })
    const status = {
      name: 'leader_election_master_status',
      help: 'Set to 1 if this controller manager is the leader, otherwise 0.',
      labels: [],
    }
    this.exposer = new Exposer([...this.#workQueues.metrics, new Gauge(status, () => [[[], this.#leads ? 1 : 0]])])
    const leadershipLoss = Promise.withResolvers<void>()
    this.lost = leadershipLoss.promise
    this.#running = this.#run(leadershipLoss.resolve)
  }

  readonly reviewer = () => (this.#vendor === undefined ? undefined : { client: this.#client, vendor: this.#vendor })

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(onLost: () => void): Promise<void> {
    const { options, log } = this.#parts
    const { signal } = this.#stopping
    const vendor = await learnVendor(this.#client, log, signal)
    const version = await learnVersion(this.#client, log, signal)
    if (vendor === undefined || version === undefined) return
    this.#vendor = vendor
    const api = { vendor, emulation: { version, gates: defaultGatesOf(version) } }
    if (!options.leaderElect) return await this.#workUntil(api, signal)
    const election = {
      client: this.#client,
      clock: systemClock,
      log,
      timing: timingOf(options),
      lease: { namespace: options.resourceNamespace, name: options.resourceName },
    }
    const isLost = await runElected(election, (term) => this.#start(api, term), signal)
    this.#leads = false
    if (isLost) onLost()
  }

  async #workUntil(api: ServedApi, signal: AbortSignal): Promise<void> {
    const running = this.#start(api, { signal, mayGoOn: () => !signal.aborted })
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
      if (signal.aborted) resolve()
    })
    await running.stop()
  }

  #start({ vendor, emulation }: ServedApi, term: Term): RunningLoops {
    this.#leads = true
    const { options, enabledLoops, files, scheduler, log } = this.#parts
    const { issueTokenOf, ...signing } = files
    const transportOf = this.#transports(vendor)
    return startControlLoops(enabledLoops, {
      clientAs: (account) =>
        new Client(withinTerm(transportOf(account), term), {
          // The user agent determines the field manager of the loop's writes.
          userAgent: vendor.managers.loops ?? account ?? 'kube-controller-manager',
        }),
      vendor,
      emulation,
      clock: systemClock,
      concurrency: concurrencyOf(options as { [option: string]: unknown }),
      records: { log, metrics: this.#workQueues, missingRights: new MissingRights(log) },
      options: {
        ...signing,
        ...clusterLoopOptions(options),
        quotaSyncMs: options.resourceQuotaSyncPeriod,
        createTokenSecrets: options.createTokenSecrets,
        ...(scheduler === undefined ? {} : { scheduler }),
        ...(options.volumeDirectory === '' ? {} : { volumeDirectory: resolve(options.volumeDirectory) }),
        ...(issueTokenOf === undefined ? {} : { issueToken: issueTokenOf(vendor) }),
      },
    })
  }

  /** Returns transports that act as a service account, or as the manager itself. */
  #transports(vendor: Vendor): (account: string | undefined) => Transport {
    const { options, connections } = this.#parts
    if (!options.useServiceAccountCredentials) return () => connections.own.send
    const parts = { client: this.#client, anonymous: connections.bare.send, vendor, clock: systemClock }
    const tokens = new AccountTokens(parts)
    return (account) => (account === undefined ? connections.own.send : tokens.transport(account))
  }
}
