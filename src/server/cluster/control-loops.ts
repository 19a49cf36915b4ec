/**
 * Runs the control loops of `orch up`. Each loop has its own in-process client, which acts as the loop's service
 * account.
 */
import { createPrivateKey } from 'node:crypto'
import { join, resolve } from 'node:path'
import { serviceAccountGroups, serviceAccountName, type User } from '../../api/model/user.ts'
import { vendorOf } from '../../api/model/vendor.ts'
import { systemNamespace } from '../../apiserver/upkeep/system-objects.ts'
import { errorFields } from '../../base/telemetry/log.ts'
import { type Term, withinTerm } from '../../client/informers/leader-election.ts'
import type { RunningLoops } from '../../client/reconcile/loop.ts'
import { Client } from '../../client/requests/client.ts'
import type { Transport } from '../../client/requests/transport.ts'
import { controlLoops } from '../../cluster/controllers/all.ts'
import type { ControlLoop } from '../../cluster/controllers/control-loop.ts'
import type { SigningAuthorities } from '../../cluster/controllers/csr-signing.ts'
import { startControlLoops } from '../../cluster/controllers/manager.ts'
import { selectLoops } from '../../cluster/controllers/select-loops.ts'
import type { SimulatedDevices } from '../../cluster/nodes/devices/node-devices.ts'
import type { SchedulerSettings } from '../../cluster/scheduler/scheduler.ts'
import type { ApiServer } from '../assembly/api-server.ts'
import { slicedJson } from '../assembly/sliced-json.ts'
import { clusterLoopOptions, podRangesOf } from '../flags/cluster-loops.ts'
import { concurrencyOf } from '../flags/loops.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { UpOptions } from '../flags/up.ts'
import { managerLease, runElected, usualTiming } from '../manager/election.ts'
import { kwokKinds } from '../simulation/kwok.ts'
import { startSimulation } from '../simulation/simulation-host.ts'
import type { InProcessNodes } from './simulated-nodes.ts'

/** Settings of the control loops that are read from files, and settings for simulated nodes. */
export interface LoopFiles {
  /** Contents of the `--node-stages` files, by path. */
  readonly stageTexts?: ReadonlyMap<string, string>
  /** Devices that each simulated node publishes. */
  readonly devices?: readonly SimulatedDevices[]
  readonly scheduler?: SchedulerSettings
  /** Runs simulated nodes in this thread. If undefined, the nodes run in a separate thread. */
  readonly inProcessNodes?: InProcessNodes
}

/**
 * Starts the control loops. Servers that share an etcd elect a leader. An embedded store is used by only one server, so
 * no election is needed.
 */
export function startOwnControlLoops(
  server: ApiServer,
  options: ServerOptions & UpOptions,
  files: LoopFiles = {},
): RunningLoops {
  const vendor = vendorOf(options.profile)
  const { log } = server.loopRecords
  podRangesOf(options)
  if (options.etcdServers.length === 0)
    return startLoopsOf(server, options, { within: (transport) => transport, ...files })
  const ended = new AbortController()
  const election = {
    client: new Client(server.transport(managerUser), { userAgent: vendor.managers.loops ?? managerUser.name }),
    vendor,
    clock: server.clock,
    log,
    lease: managerLease,
    timing: usualTiming,
  }
  const terms = async () => {
    const start = (term: Term) =>
      startLoopsOf(server, options, { within: (transport) => withinTerm(transport, term), ...files })
    while (await runElected(election, start, ended.signal))
      log.warn('lost the leader-election lease; trying to acquire it again')
  }
  const running = terms().catch((error: unknown) => log.error('control loops failed', errorFields(error)))
  return {
    // Do not wait for the first pass, because another server may be the leader.
    firstPass: Promise.resolve(),
    stop: async () => {
      ended.abort()
      await running
    },
  }
}

function startLoopsOf(
  server: ApiServer,
  options: ServerOptions & UpOptions,
  parts: LoopFiles & { readonly within: (transport: Transport) => Transport },
): RunningLoops {
  const { stageTexts, devices, inProcessNodes } = parts
  if (options.nodes === 0) return startTable(server, options, parts)
  if (inProcessNodes !== undefined)
    return startTable(server, options, { ...parts, nodes: inProcessNodes(server, options, parts) })
  const kwok = kwokKinds(server, options, parts.within)
  const loops = startTable(server, options, { ...parts, nodes: [kwok.loop] })
  const simulationParts = { within: parts.within, kwokInstalled: kwok.installed, stageTexts, devices }
  const simulation = startSimulation(server, options, simulationParts)
  return {
    firstPass: Promise.all([loops.firstPass, simulation.firstPass]).then(() => {}),
    stop: async () => {
      await Promise.all([loops.stop(), simulation.stop()])
    },
  }
}

interface TableParts extends Pick<LoopFiles, 'scheduler'> {
  readonly within: (transport: Transport) => Transport
  /** Additional loops, which run simulated nodes in this thread. */
  readonly nodes?: readonly ControlLoop[]
}

function startTable(
  server: ApiServer,
  options: ServerOptions & UpOptions,
  { within, scheduler, nodes = [] }: TableParts,
): RunningLoops {
  const vendor = vendorOf(options.profile)
  const enabledLoops = selectLoops(controlLoops, options.controllers, {
    cluster: !options.ephemeral || options.nodes > 0,
  })
  return startControlLoops([...enabledLoops, ...nodes], {
    // The user agent determines the field manager of the loop's writes.
    clientAs: (account) =>
      new Client(within(server.transport(account === undefined ? managerUser : serviceAccount(account))), {
        userAgent: vendor.managers.loops ?? account ?? managerUser.name,
        form: slicedJson,
      }),
    vendor,
    emulation: server.emulation,
    clock: server.clock,
    records: server.loopRecords,
    concurrency: concurrencyOf(options),
    options: {
      ...clusterLoopOptions(options),
      quotaSyncMs: options.resourceQuotaSyncPeriod,
      volumeDirectory: resolve(options.volumeDirectory || join(options.dataDir, 'volumes')),
      rootAuthority: () => server.authority,
      issueToken: (token) => server.issueLegacyToken(token),
      createTokenSecrets: options.createTokenSecrets,
      ...(scheduler === undefined ? {} : { scheduler }),
      signing: { authorities: everySigner(server), maxLifetimeMs: options.clusterSigningDuration },
      // Writes can be paused only if this process handles all writes, that is, if there are no other servers or
      // workers.
      ...(options.etcdServers.length === 0 && (options.workers === 1 || options.workers === 'auto')
        ? { whileStill: (namespace, run) => server.quotaActivity.whileStill(namespace, run) }
        : {}),
    },
  })
}

/** Returns the signers. All built-in signers use the CA of this server. */
function everySigner({ signingAuthority: { certificate, key } }: ApiServer): SigningAuthorities {
  const issuer = { certificate, key: createPrivateKey(key) }
  const authority = () => issuer
  return { client: authority, nodeClient: authority, nodeServing: authority, legacyUnknown: authority }
}

/**
 * User of the informers that all loops share. Its role can read all objects, but can write only service accounts and
 * their Secrets.
 */
export const managerUser: User = { name: 'system:kube-controller-manager', uid: '', groups: [], extra: new Map() }

function serviceAccount(name: string): User {
  const groups = serviceAccountGroups(systemNamespace)
  return { name: serviceAccountName(systemNamespace, name), uid: '', groups, extra: new Map() }
}
