/**
 * The simulated nodes of all workers, as seen by one worker. Each worker sends the names of its own nodes to the other
 * workers. A worker connects to the node agents of other workers through the agents' port, and to pod ports through the
 * worker that runs the pod.
 */
import { type Duplex, pipeline } from 'node:stream'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { LocalNodes, NodeAddress } from '../../cluster/node-port/local-nodes.ts'
import type { NodeConnection, NodeMessage } from '../threads/messages.ts'
import { PortStream } from '../threads/port-stream.ts'

type Tell = (message: NodeMessage, transfer: MessagePort[]) => void

export class RemoteNodes {
  readonly #tell: Tell
  #local: LocalNodes | undefined
  #nodes: readonly NodeAddress[] = []

  constructor(tell: Tell) {
    this.#tell = tell
  }

  /** Adds the nodes of other workers to a server's list of nodes. */
  join(local: LocalNodes): void {
    this.#local = local
    local.tellOf((nodes) => this.#tell({ type: 'nodes', nodes }, []))
    this.set(this.#nodes)
  }

  /** Replaces the list of nodes that other workers run. */
  set(nodes: readonly NodeAddress[]): void {
    this.#nodes = nodes
    this.#local?.setElsewhere(
      nodes.map((address) => ({
        ...address,
        connect: (place, target) => this.#connect({ node: address.name, place, target }),
      })),
    )
  }

  /** Accepts a connection from another worker to a pod of this worker. */
  accept({ node, place, target, port }: NodeConnection & { readonly port: MessagePort }): void {
    const localNode = this.#local?.find(node)
    if (localNode === undefined) {
      port.close()
      return
    }
    const near = localNode.connect(place, target)
    const far = new PortStream(port)
    // `pipeline` closes both streams when either fails or ends.
    pipeline(near, far, near, () => {})
  }

  #connect(connection: NodeConnection): Duplex {
    const { port1, port2 } = new MessageChannel()
    this.#tell({ ...connection, type: 'connect', port: port2 }, [port2])
    return new PortStream(port1)
  }
}
