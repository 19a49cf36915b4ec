/**
 * Distributes the addresses of simulated nodes among the workers after each change, and forwards connections to pod
 * ports to the worker that runs the pod.
 */
import type { NodeAddress } from '../../cluster/node-port/local-nodes.ts'
import type { NodeMessage, WorkerPort } from '../threads/messages.ts'

export class SharedNodes {
  readonly #nodes = new Map<WorkerPort, readonly NodeAddress[]>()

  add(worker: WorkerPort): void {
    this.#nodes.set(worker, [])
    this.#tell(worker)
  }

  remove(worker: WorkerPort): void {
    const had = this.#nodes.get(worker)
    this.#nodes.delete(worker)
    if (had !== undefined && had.length > 0) this.#tellAll()
  }

  receive(worker: WorkerPort, message: NodeMessage): void {
    if (!this.#nodes.has(worker)) return
    if (message.type === 'connect') this.#connect(message)
    else {
      this.#nodes.set(worker, message.nodes)
      this.#tellAll(worker)
    }
  }

  #connect(message: Extract<NodeMessage, { type: 'connect' }>): void {
    const runs = this.#nodes.entries().find(([, nodes]) => nodes.some(({ name }) => name === message.node))
    // No worker runs the node, so close the port to make the client's connection fail.
    if (runs === undefined) message.port.close()
    else runs[0].postMessage(message, [message.port])
  }

  #tellAll(except?: WorkerPort): void {
    for (const worker of this.#nodes.keys()) if (worker !== except) this.#tell(worker)
  }

  #tell(worker: WorkerPort): void {
    const nodes = [...this.#nodes].flatMap(([each, nodesOfWorker]) => (each === worker ? [] : nodesOfWorker))
    worker.postMessage({ type: 'nodes', nodes })
  }
}
