/**
 * Simulated nodes in the server's thread, as loops next to the control loops. Test servers (`orch/testing`) use them,
 * because a test may advance the nodes' clock and because there is no bundle from which a thread could be started.
 * `orch up` runs the nodes in a separate thread (`simulation/simulation-host.ts`).
 */

import type { User } from '../../api/model/user.ts'
import { type Vendor, vendorOf } from '../../api/model/vendor.ts'
import { removeTemporary, temporaryDirectory } from '../../base/files/temporary-directory.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import { Client } from '../../client/requests/client.ts'
import { inDomainOf } from '../../client/requests/resource-type.ts'
import type { Transport } from '../../client/requests/transport.ts'
import type { ControlLoop, LoopContext } from '../../cluster/controllers/control-loop.ts'
import type { NodePort } from '../../cluster/node-port/node-port.ts'
import type { SimulatedDevices } from '../../cluster/nodes/devices/node-devices.ts'
import { type Simulation, simulateNodes } from '../../cluster/nodes/simulation.ts'
import { readStageFiles } from '../../cluster/nodes/stages/read-stage-files.ts'
import type { ApiServer } from '../assembly/api-server.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { UpOptions } from '../flags/up.ts'
import { agentOf, ownNodeNames, ownNodes } from '../simulation/own-nodes.ts'
import { openLocalNodePort } from './local-node-port.ts'

type NodeServer = Pick<
  ApiServer,
  'emulatedVersion' | 'transport' | 'clock' | 'localNodes' | 'signingAuthority' | 'loopRecords'
>

export interface SimulatedNodeParts {
  readonly within: (transport: Transport) => Transport
  /** Contents of the `--node-stages` files, by path. */
  readonly stageTexts?: ReadonlyMap<string, string>
  readonly devices?: readonly SimulatedDevices[]
}

/** Creates simulated nodes that run in the thread of the server. */
export type InProcessNodes = typeof simulatedNodes

/**
 * Returns entries for the table of control loops. `within` wraps a transport so that the loops' requests end with the
 * leader's term.
 */
export function simulatedNodes(
  server: NodeServer,
  options: ServerOptions & UpOptions,
  { within, stageTexts, devices }: SimulatedNodeParts,
): ControlLoop[] {
  const vendor = vendorOf(options.profile)
  const stages = stageTexts && readStageFiles([...stageTexts.keys()], (file) => stageTexts.get(file)!)
  const volumeDirectory = options.nodeVolumes ? temporaryDirectory('orch-nodes-') : undefined
  const port = new LaterPort()
  let simulation: Simulation | undefined
  const simulated = (context: LoopContext) => {
    const rules = context.informer(inDomainOf(vendor, kinds.SimulationRule))
    simulation ??= simulateNodes({
      ...(volumeDirectory === undefined ? {} : { volumeDirectory }),
      nodes: ownNodes(ownNodeNames(options.nodes), {
        capacity: options.nodeCapacity,
        devices,
        kubernetesVersion: server.emulatedVersion,
        port: () => port.number,
      }),
      vendor,
      clock: server.clock,
      pods: context.informer(kinds.Pod),
      nodeObjects: context.informer(kinds.Node),
      rules: { informer: rules, feed: rules },
      speed: options.simulationSpeed,
      clientOf: nodeClients((user) => within(server.transport(user)), vendor),
      ...(stages === undefined ? {} : { stages }),
      onError: (error) =>
        context.log.warn('cannot record events or create volumes for a simulated node', errorFields(error)),
    })
    return simulation
  }
  const podLoop = (context: LoopContext): Loop => {
    const { pods: loop, runtimes } = simulated(context)
    port.open(openLocalNodePort(server, { vendor, nodes: runtimes }), context.log)
    const onStop = async () => {
      await loop.onStop?.()
      await port.close()
      if (volumeDirectory !== undefined) removeTemporary(volumeDirectory)
    }
    return { ...loop, onStop }
  }
  return [
    { name: 'node-heartbeats', make: (context) => simulated(context).heartbeats },
    { name: 'node-pods', make: podLoop },
  ]
}

/** A port for the nodes that is opened after the loops have started. */
class LaterPort {
  #opened: NodePort | undefined
  #opening: Promise<void> = Promise.resolve()

  /** Port number, or 0 before the port listens. */
  get number(): number {
    return this.#opened?.port ?? 0
  }

  open(opening: Promise<NodePort>, log: Log): void {
    this.#opening = opening.then(
      (opened) => {
        this.#opened = opened
      },
      (error: unknown) =>
        log.error('cannot open the port for simulated nodes; logs and exec are unavailable', errorFields(error)),
    )
  }

  async close(): Promise<void> {
    await this.#opening
    await this.#opened?.close()
  }
}

/** Returns a function that returns the client of a node's agent. The client is created on the first call. */
function nodeClients(transportAs: (user: User) => Transport, vendor: Vendor): (node: string) => Client {
  const clientsByNode = new Map<string, Client>()
  return (node) => {
    const client = clientsByNode.get(node) ?? new Client(transportAs(agentOf(node)), { userAgent: vendor.nodeAgent })
    clientsByNode.set(node, client)
    return client
  }
}
