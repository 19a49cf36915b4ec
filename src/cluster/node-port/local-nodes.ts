/**
 * The simulated nodes that run in this process. The API server reaches these, and only these, on this machine itself:
 * that a node is one of them is known by this list, and never by what a Node's status claims. Of several workers one runs
 * the nodes; the others are told of them (`tellOf`, `setElsewhere`).
 */
import { type Duplex, duplexPair } from 'node:stream'
import type { NodeRuntime, PodPlace } from './runtime.ts'

/** Where the port of a node listens on this machine. */
export interface NodeAddress {
  readonly name: string
  readonly host: string
  readonly port: number
}

export interface LocalNode extends NodeAddress {
  /** A connection to a port of a pod. It breaks where nothing listens. */
  connect(place: PodPlace, port: number): Duplex
}

/** A node that runs in this thread. */
export function localNode(runtime: NodeRuntime, { host, port }: Omit<NodeAddress, 'name'>): LocalNode {
  return { name: runtime.name, host, port, connect: (place, target) => connectTo(runtime, place, target) }
}

/** The simulated nodes of this process, by name. */
export class LocalNodes {
  readonly #nodes = new Map<string, LocalNode>()
  #elsewhere: ReadonlyMap<string, LocalNode> = new Map()
  #onChange: ((nodes: readonly NodeAddress[]) => void) | undefined
  #isTelling = false

  /** Returns how the node is taken off the list. */
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
    return this.#nodes.get(name) ?? this.#elsewhere.get(name)
  }

  /** Calls `onChange` with all nodes of this thread, now and whenever they have changed. */
  tellOf(onChange: (nodes: readonly NodeAddress[]) => void): void {
    this.#onChange = onChange
    this.#changed()
  }

  /** The nodes of other threads, in place of those set before. */
  setElsewhere(nodes: readonly LocalNode[]): void {
    this.#elsewhere = new Map(nodes.map((node) => [node.name, node]))
  }

  /** Thousands may be added at once: they are told of once. */
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
  const connected = runtime.pod(place)?.connect(port, far, over.signal)
  const broken = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' })
  if (connected === undefined) near.destroy(broken)
  else
    connected.then(
      () => far.end(),
      () => near.destroy(broken),
    )
  return near
}
