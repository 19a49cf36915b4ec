/**
 * The simulated nodes of a process, as one of its workers sees them: it says which it runs itself, and reaches those of others.
 * Agents of nodes have a port; a port of a pod is reached through the worker that runs the pod.
 */
import { type Duplex, pipeline } from 'node:stream'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { LocalNodes, NodeAddress } from '../../cluster/node-port/local-nodes.ts'
import type { NodeConnection, NodeMessage } from '../threads/messages.ts'
import { PortStream } from '../threads/port-stream.ts'

type Tell = (message: NodeMessage, transfer: MessagePort[]) => void

export class NodesElsewhere {
  readonly #tell: Tell
  #local: LocalNodes | undefined
  #nodes: readonly NodeAddress[] = []

  constructor(tell: Tell) {
    this.#tell = tell
  }

  /** Keeps the list of a server complete. */
  join(local: LocalNodes): void {
    this.#local = local
    local.tellOf((nodes) => this.#tell({ type: 'nodes', nodes }, []))
    this.set(this.#nodes)
  }

  /** Those that other workers run. */
  set(nodes: readonly NodeAddress[]): void {
    this.#nodes = nodes
    this.#local?.setElsewhere(
      nodes.map((address) => ({
        ...address,
        connect: (place, target) => this.#connect({ node: address.name, place, target }),
      })),
    )
  }

  /** Another worker's connection to a pod that this one runs. */
  accept({ node, place, target, port }: NodeConnection & { readonly port: MessagePort }): void {
    const found = this.#local?.find(node)
    if (found === undefined) {
      port.close()
      return
    }
    const near = found.connect(place, target)
    const far = new PortStream(port)
    // Whatever ends one of them ends the other.
    pipeline(near, far, near, () => {})
  }

  #connect(connection: NodeConnection): Duplex {
    const { port1, port2 } = new MessageChannel()
    this.#tell({ ...connection, type: 'connect', port: port2 }, [port2])
    return new PortStream(port1)
  }
}
