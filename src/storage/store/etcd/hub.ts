/**
 * The thread that watches etcd for the stores of other threads (`relayed-feed.ts`). A single watch decodes the changes
 * once into memory that all threads share. Compaction also runs here, once for all. The other threads read and write on
 * their own connections, so this thread delays none of their requests.
 *
 * All stores share the eras of this store. A worker that detects that etcd went back in time requests an era above the
 * revisions it has seen. The current era then ends for all.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { shareChanges } from '../packed-changes.ts'
import { type Batch, type Revision, type RevisionGone, StoreError, StoreRestored } from '../store.ts'
import type { Era, Eras, FeedSource, FeedSurroundings, Place } from './era.ts'
import { beginOwn } from './own-eras.ts'
import type { FeedPort, Join, Relayed } from './relay.ts'
import { type EtcdOptions, EtcdStore } from './store.ts'

/** Watches etcd for the stores of other threads. */
export class EtcdHub {
  readonly #store: EtcdStore
  readonly #eras: HubEras
  #closed = false

  /** Throws StoreError within the deadline if no member can be used. */
  static async open(options: EtcdOptions): Promise<EtcdHub> {
    const eras = new HubEras()
    return new EtcdHub(await EtcdStore.open(options, eras), eras)
  }

  private constructor(store: EtcdStore, eras: HubEras) {
    this.#store = store
    this.#eras = eras
  }

  /** Creates a port for one more thread, to be transferred to it. The port closes when that thread ends. */
  async connect(): Promise<FeedPort> {
    if (this.#closed) throw new StoreError('the store is closed')
    const { port1, port2 } = new MessageChannel()
    this.#eras.add(port1)
    return { port: port2 }
  }

  /** Closes the store. Stores of other threads that are still open end now. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#store.close()
  }
}

interface Present {
  readonly era: Era
  readonly source: FeedSource
  readonly around: FeedSurroundings
}

class HubEras implements Eras {
  readonly compacts = true
  readonly #ports = new Set<MessagePort>()
  /** Ports that follow the current era. */
  readonly #followers = new Set<MessagePort>()
  /** Ports that wait for an era, and the revision that it must exceed. */
  readonly #joining = new Map<MessagePort, Revision>()
  #present: Present | undefined

  add(port: MessagePort): void {
    this.#ports.add(port)
    port.on('message', ({ told }: Join) => this.#join(port, told))
    port.once('close', () => {
      this.#ports.delete(port)
      this.#followers.delete(port)
      this.#joining.delete(port)
    })
  }

  async begin(place: Place, told: Revision): Promise<Era> {
    const highest = Math.max(told, ...this.#joining.values())
    const era = await beginOwn(place, highest, {
      onBatch: (batch, after) => this.#passOn(batch, after),
      onGap: (revision, gap) => this.#passOnGap(revision, gap),
    })
    return { ...era, openFeed: (around) => this.#open(era, around) }
  }

  close(): void {
    for (const port of this.#ports) port.close()
  }

  #open(era: Era, around: FeedSurroundings): FeedSource {
    const source = era.openFeed(around)
    this.#present = { era, source, around }
    // Deferred because one of these may end the era again, and the code that opens the era is not ready yet.
    queueMicrotask(() => {
      for (const [port, told] of this.#joining) this.#join(port, told)
    })
    return {
      feed: source.feed,
      stop: (reason) => {
        if (reason instanceof StoreRestored) this.#endPresent()
        return source.stop(reason)
      },
    }
  }

  /** A port that has seen revisions above the offset of the current era shows that this era has ended. */
  #join(port: MessagePort, told: Revision): void {
    this.#joining.set(port, told)
    const present = this.#present
    if (present === undefined) return
    if (present.era.space.offset >= told) this.#admit(port, present)
    else present.around.onRestored()
  }

  #admit(port: MessagePort, { era, source }: Present): void {
    const { revision, newest, anchored } = source.feed
    this.#joining.delete(port)
    this.#followers.add(port)
    const { space, known } = era
    const position = { revision, newest, anchored }
    this.#tell(port, { type: 'era', offset: space.offset, memory: known.memory, position })
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
    for (const port of this.#followers) this.#tell(port, message)
  }

  #tell(port: MessagePort, message: Relayed): void {
    port.postMessage(message)
  }
}
