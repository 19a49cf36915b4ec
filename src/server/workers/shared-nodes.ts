/**
 * Distributes the addresses of simulated nodes among the workers after each change, and forwards connections to pod
 * ports to the worker that runs the pod.
 */
import type { Worker } from 'node:worker_threads'
import type { NodeAddress } from '../../cluster/node-port/local-nodes.ts'
import type { NodeMessage, ToWorker } from '../threads/messages.ts'

export class SharedNodes {
  readonly #nodes = new Map<Worker, readonly NodeAddress[]>()

  add(worker: Worker): void {
    this.#nodes.set(worker, [])
    this.#tell(worker)
  }

  remove(worker: Worker): void {
    const had = this.#nodes.get(worker)
    this.#nodes.delete(worker)
    if (had !== undefined && had.length > 0) this.#tellAll()
  }

  receive(worker: Worker, message: NodeMessage): void {
    if (!this.#nodes.has(worker)) return
    if (message.type === 'connect') this.#connect(message)
    else {
      this.#nodes.set(worker, message.nodes)
      this.#tellAll(worker)
    }
  }

  #connect(message: Extract<NodeMessage, { type: 'connect' }>): void {
    const runs = this.#nodes.entries().find(([, nodes]) => nodes.some(({ name }) => name === message.node))
    // Closing the port breaks the connection at the other end.
    if (runs === undefined) message.port.close()
    else runs[0].postMessage(message satisfies ToWorker, [message.port])
  }

  #tellAll(except?: Worker): void {
    for (const worker of this.#nodes.keys()) if (worker !== except) this.#tell(worker)
  }

  #tell(worker: Worker): void {
    const nodes = [...this.#nodes].flatMap(([each, nodesOfWorker]) => (each === worker ? [] : nodesOfWorker))
    worker.postMessage({ type: 'nodes', nodes } satisfies ToWorker)
  }
}
