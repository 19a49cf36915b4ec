/**
 * The simulated nodes that run in this process. The API server reaches these, and only these, on this machine itself:
 * that a node is one of them is known by this list, and never by what a Node's status claims.
 */
import type { NodeRuntime } from './runtime.ts'

export interface LocalNode {
  readonly runtime: NodeRuntime
  /** Where the port of this node listens on this machine. */
  readonly host: string
  readonly port: number
}

/** The simulated nodes of this process, by name. */
export class LocalNodes {
  readonly #nodes = new Map<string, LocalNode>()

  /** Returns how the node is taken off the list. */
  add(node: LocalNode): () => void {
    const { name } = node.runtime
    this.#nodes.set(name, node)
    return () => {
      if (this.#nodes.get(name) === node) this.#nodes.delete(name)
    }
  }

  find(name: string): LocalNode | undefined {
    return this.#nodes.get(name)
  }
}
