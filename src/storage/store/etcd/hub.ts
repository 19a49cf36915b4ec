/**
 * Implements the thread that watches etcd for the stores of other threads (`relayed-changes.ts`). This thread decodes
 * each change once, into memory that all threads share, and compacts the store for all threads. The other threads read
 * and write on separate connections, so this thread does not delay their requests.
 *
 * All stores share the generations of this store. When a worker detects that etcd has gone back in time, it requests a
 * generation whose revisions are higher than those that the worker has returned. The current generation then ends in
 * all threads.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { shareChanges } from '../packed-changes.ts'
import { type Batch, type Revision, type RevisionGone, StoreError, StoreRestored } from '../store.ts'
import type {
  ChangeSource,
  ChangeSourceCallbacks,
  EtcdLocation,
  GenerationParts,
  GenerationSource,
} from './generation-source.ts'
import { beginLocalGeneration } from './local-generation.ts'
import type { ChangePort, Join, Relayed } from './relay.ts'
import { type EtcdOptions, EtcdStore } from './store.ts'

/** Watches etcd for the stores of other threads. */
export class EtcdHub {
  readonly #store: EtcdStore
  readonly #generations: HubGenerations
  #closed = false

  /** Opens the store of this thread. Throws StoreError within the deadline if no member can be used. */
  static async open(options: EtcdOptions): Promise<EtcdHub> {
    const generations = new HubGenerations()
    return new EtcdHub(await EtcdStore.open(options, generations), generations)
  }

  private constructor(store: EtcdStore, generations: HubGenerations) {
    this.#store = store
    this.#generations = generations
  }

  /**
   * Creates a message port for another thread. The port is transferred to that thread and closes when the thread ends.
   */
  async connect(): Promise<ChangePort> {
    if (this.#closed) throw new StoreError('the store is closed')
    const { port1, port2 } = new MessageChannel()
    this.#generations.add(port1)
    return { port: port2 }
  }

  /** Closes the store. Open stores of other threads end as well. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#store.close()
  }
}

interface Present {
  readonly generationParts: GenerationParts
  readonly source: ChangeSource
  readonly callbacks: ChangeSourceCallbacks
}

class HubGenerations implements GenerationSource {
  readonly compacts = true
  readonly #ports = new Set<MessagePort>()
  /** Ports to the worker threads that use the current generation. */
  readonly #followers = new Set<MessagePort>()
  /** Ports to the worker threads that wait for a generation, each with the revision that the generation must exceed. */
  readonly #joining = new Map<MessagePort, Revision>()
  #present: Present | undefined

  add(port: MessagePort): void {
    this.#ports.add(port)
    port.on('message', ({ reportedRevision }: Join) => this.#join(port, reportedRevision))
    port.once('close', () => {
      this.#ports.delete(port)
      this.#followers.delete(port)
      this.#joining.delete(port)
    })
  }

  async begin(location: EtcdLocation, reportedRevision: Revision): Promise<GenerationParts> {
    const highest = Math.max(reportedRevision, ...this.#joining.values())
    const generationParts = await beginLocalGeneration(location, highest, {
      onBatch: (batch, after) => this.#passOn(batch, after),
      onGap: (revision, gap) => this.#passOnGap(revision, gap),
    })
    return { ...generationParts, openChanges: (callbacks) => this.#open(generationParts, callbacks) }
  }

  close(): void {
    for (const port of this.#ports) port.close()
  }

  #open(generationParts: GenerationParts, callbacks: ChangeSourceCallbacks): ChangeSource {
    const source = generationParts.openChanges(callbacks)
    this.#present = { generationParts, source, callbacks }
    // Defer the joins, because a port may end the new generation before the caller has stored it.
    queueMicrotask(() => {
      for (const [port, reportedRevision] of this.#joining) this.#join(port, reportedRevision)
    })
    return {
      changeStream: source.changeStream,
      stop: (reason) => {
        if (reason instanceof StoreRestored) this.#endPresent()
        return source.stop(reason)
      },
    }
  }

  /**
   * Adds a worker's port to the current generation. If the worker has returned revisions above the generation's offset,
   * etcd has gone back in time, and the generation ends.
   */
  #join(port: MessagePort, reportedRevision: Revision): void {
    this.#joining.set(port, reportedRevision)
    const present = this.#present
    if (present === undefined) return
    if (present.generationParts.space.offset >= reportedRevision) this.#admit(port, present)
    else present.callbacks.onRestored()
  }

  #admit(port: MessagePort, { generationParts, source }: Present): void {
    const { revision, newest, anchored } = source.changeStream
    this.#joining.delete(port)
    this.#followers.add(port)
    const { space, sharedRevisions } = generationParts
    const position = { revision, newest, anchored }
    this.#post(port, { type: 'generation', offset: space.offset, memory: sharedRevisions.memory, position })
  }

  #endPresent(): void {
    this.#present = undefined
    this.#broadcast({ type: 'over' })
    this.#followers.clear()
  }

  #passOn({ changes, through }: Batch, after: Revision): void {
    if (this.#followers.size === 0) return
    const shared = changes.length === 0 ? undefined : shareChanges(changes)
    this.#broadcast({ type: 'batch', after, through, changes: shared })
  }

  #passOnGap(revision: Revision, gap: RevisionGone): void {
    this.#broadcast({ type: 'gap', revision, lost: gap.revision, oldest: gap.oldest })
  }

  #broadcast(message: Relayed): void {
    for (const port of this.#followers) this.#post(port, message)
  }

  #post(port: MessagePort, message: Relayed): void {
    port.postMessage(message)
  }
}
