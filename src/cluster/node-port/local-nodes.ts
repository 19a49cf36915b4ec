/**
 * The simulated nodes of this process. The API server connects to the local machine only for these nodes. This list
 * alone determines which nodes are simulated here. The status of Node objects is ignored. With several workers, one
 * worker runs the nodes and the other workers receive the list (`tellOf`, `setElsewhere`).
 */
import { type Duplex, duplexPair } from 'node:stream'
import type { NodeRuntime, PodPlace } from './runtime.ts'

/** The local address of a simulated node's port. */
export interface NodeAddress {
  readonly name: string
  readonly host: string
  readonly port: number
}

export interface LocalNode extends NodeAddress {
  /** Connects to a port of a pod. The connection fails if the pod is not listening on the port. */
  connect(place: PodPlace, port: number): Duplex
}

/** Makes a node in this thread available to the server. */
export function localNode(runtime: NodeRuntime, { host, port }: Omit<NodeAddress, 'name'>): LocalNode {
  return { name: runtime.name, host, port, connect: (place, target) => connectTo(runtime, place, target) }
}

/** The simulated nodes of this server by name, including those that run in other threads. */
export class LocalNodes {
  readonly #nodes = new Map<string, LocalNode>()
  #remoteNodes: ReadonlyMap<string, LocalNode> = new Map()
  #onChange: ((nodes: readonly NodeAddress[]) => void) | undefined
  #isTelling = false

  /** Adds a node. Returns a function that removes it. */
  add(node: LocalNode): () => void {
    const { name } = node
    this.#nodes.set(name, node)
    this.#changed()
    return () => {
      if (this.#nodes.get(name) !== node) return
      this.#nodes.delete(name)
      this.#changed()
    }
  }

  find(name: string): LocalNode | undefined {
    return this.#nodes.get(name) ?? this.#remoteNodes.get(name)
  }

  /** Calls `onChange` with all nodes in this thread, both now and after every change. */
  tellOf(onChange: (nodes: readonly NodeAddress[]) => void): void {
    this.#onChange = onChange
    this.#changed()
  }

  /** Replaces the list of nodes in other threads. */
  setElsewhere(nodes: readonly LocalNode[]): void {
    this.#remoteNodes = new Map(nodes.map((node) => [node.name, node]))
  }

  /**
   * Schedules a call to the listener. Several changes share one call, because thousands of nodes may be added at once.
   */
  #changed(): void {
    if (this.#isTelling) return
    this.#isTelling = true
    queueMicrotask(() => {
      this.#isTelling = false
      this.#onChange?.(
        this.#nodes
          .values()
          .map(({ name, host, port }) => ({ name, host, port }))
          .toArray(),
      )
    })
  }
}

function connectTo(runtime: NodeRuntime, place: PodPlace, port: number): Duplex {
  const [near, far] = duplexPair()
  const over = new AbortController()
  far.on('close', () => over.abort())
  const connected = runtime.isReachable ? runtime.pod(place)?.connect(port, far, over.signal) : undefined
  const broken = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' })
  if (connected === undefined) near.destroy(broken)
  else
    connected.then(
      () => far.end(),
      () => near.destroy(broken),
    )
  return near
}
