/**
 * `orch node-agent`: one simulated node in a separate process. The agent joins a cluster with a bootstrap token, and
 * connects to the API server over TLS as the user of its node, like any other node agent.
 */

import { join, resolve } from 'node:path'
import type { Vendor } from '../../api/model/vendor.ts'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import { makePrivateDirectory } from '../../base/files/files.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import { systemClock, type TimerClock } from '../../base/time/clock.ts'
import { Informer } from '../../client/informers/informer.ts'
import { startLoops } from '../../client/reconcile/loop.ts'
import { MissingRights } from '../../client/reconcile/missing-rights.ts'
import { WorkQueueMetrics } from '../../client/reconcile/work-queue-metrics.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import { Client } from '../../client/requests/client.ts'
import type { NodePort } from '../../cluster/node-port/node-port.ts'
import { followRules } from '../../cluster/nodes/failures/follow-failures.ts'
import { rangeOfName } from '../../cluster/nodes/pods/addresses.ts'
import { type Simulation, simulateNodes } from '../../cluster/nodes/simulation.ts'
import { readStageFiles } from '../../cluster/nodes/stages/read-stage-files.ts'
import type { Stage } from '../../cluster/nodes/stages/stage.ts'
import type { NodeAgentOptions } from '../flags/node-agent.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'
import { learnVendor, learnVersion } from '../manager/learn-vendor.ts'
import { openAgentPort } from './agent-port.ts'
import { NodeCredentials } from './node-credentials.ts'

export interface NodeAgent {
  /** Stops the agent. The Node object remains, as when a machine is switched off. */
  stop(): Promise<void>
}

/**
 * Starts the agent. Resolves when the node is running. Throws UsageError, StageError or JoinError, or the signal's
 * reason if the signal aborts first.
 */
export async function startNodeAgent(
  options: NodeAgentOptions,
  { log, stopping }: { readonly log: Log; readonly stopping: AbortSignal },
): Promise<NodeAgent> {
  if (options.name === '') throw new UsageError('--name is required: specify the name of the node')
  const clock = systemClock
  const stages =
    options.stages.length === 0 ? undefined : readStageFiles(options.stages, (file) => readFlagFile('stages', file))
  const directory = resolve(options.rootDir || join('.orch', `node-${options.name}`))
  await makePrivateDirectory(directory, ['kubeconfig', 'pods'])
  const ended = new AbortController()
  const files = {
    nodeName: options.name,
    bootstrapKubeconfig: options.bootstrapKubeconfig,
    timeoutMs: options.timeout,
    kubeconfig: options.kubeconfig || join(directory, 'kubeconfig'),
  }
  const credentials = await NodeCredentials.open(files, { clock, log, stopping })
  const client = new Client(credentials.transport.send)
  const vendor = await learnVendor(client, log, stopping)
  const kubernetesVersion = await learnVersion(client, log, stopping)
  if (vendor === undefined || kubernetesVersion === undefined) {
    credentials.transport.close()
    throw stopping.reason
  }
  const renewing = credentials.renew(vendor, ended.signal)
  const podDependencies = {
    credentials,
    vendor,
    kubernetesVersion,
    clock,
    log,
    directory,
    stages,
    signal: ended.signal,
  }
  let port: NodePort | undefined
  const { simulation, loops } = startNode(options, { ...podDependencies, port: () => port?.port ?? 0 })
  if (options.port > 0) port = await openAgentPort(options, { ...podDependencies, runtime: simulation.runtimes[0]! })
  log.info('node agent started', { node: options.name, directory })
  return {
    stop: async () => {
      ended.abort()
      await Promise.all([loops.stop(), renewing, port?.close()])
      credentials.transport.close()
    },
  }
}

interface Around {
  readonly credentials: NodeCredentials
  readonly vendor: Vendor
  /** Kubernetes version of the API server. */
  readonly kubernetesVersion: EmulatedVersion
  readonly clock: TimerClock
  readonly log: Log
  readonly directory: string
  readonly stages: readonly Stage[] | undefined
  readonly port: () => number
}

function startNode(options: NodeAgentOptions, around: Around) {
  const { credentials, vendor, kubernetesVersion, clock, log, directory, stages, port } = around
  const { name, nodeIp: address, capacity, nodeLabels: labels, taints } = options
  const podRange = options.podCidr || rangeOfName(name)
  const client = new Client(credentials.transport.send, { userAgent: vendor.nodeAgent })
  const onError = (error: unknown) => log.warn('watch failed; will resume', errorFields(error))
  const onWriteError = (error: unknown) =>
    log.warn('cannot record events or write volume files for the node', errorFields(error))
  const podInformer = new Informer(client, kinds.Pod, {
    selection: { fieldSelector: `spec.nodeName=${name}` },
    onError,
  })
  const simulation: Simulation = simulateNodes({
    nodes: [{ name, kubernetesVersion, address, capacity, labels, taints, podRange, port }],
    pods: podInformer,
    nodeObjects: new Informer(client, kinds.Node, { selection: { fieldSelector: `metadata.name=${name}` }, onError }),
    rules: followRules(client, vendor, { onError }),
    speed: options.simulationSpeed,
    clientOf: () => client,
    vendor,
    clock,
    volumeDirectory: directory,
    onError: onWriteError,
    ...(stages === undefined ? {} : { stages }),
  })
  void podInformer.synced.then((isSynced) => (isSynced ? simulation.removeLeftovers() : undefined)).catch(onWriteError)
  const records = { log, clock, metrics: new WorkQueueMetrics(), missingRights: new MissingRights(log) }
  return { simulation, loops: startLoops([simulation.heartbeats, simulation.pods], records) }
}
