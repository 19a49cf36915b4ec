/**
 * The generations of a store in a worker. Another thread watches etcd for all workers (`hub.ts`) and passes the changes
 * on through memory that all workers share. Commits and reads use the worker's own connection to etcd.
 *
 * Each batch contains the position of the change stream before it. If that position does not match the previous batch,
 * a message was lost. In that case, and when the port closes, the change stream stops and `onLost` is called once.
 */
import type { MessagePort } from 'node:worker_threads'
import { readChanges } from '../packed-changes.ts'
import { SharedRevisions } from '../shared-revisions.ts'
import { type Revision, RevisionGone, StoreError } from '../store.ts'
import { ChangeStream } from './change-stream.ts'
import type {
  ChangeSource,
  ChangeSourceCallbacks,
  EtcdLocation,
  GenerationParts,
  GenerationSource,
} from './generation-source.ts'
import { KeySpace } from './key-space.ts'
import type { ChangePort, Join, Relayed } from './relay.ts'

export class RelayedGenerations implements GenerationSource {
  readonly compacts = false
  readonly #port: MessagePort
  readonly #onLost: (error: StoreError) => void
  #lost: StoreError | undefined
  #joining: { readonly prefix: string; readonly generationParts: PromiseWithResolvers<GenerationParts> } | undefined
  /** The change stream of the current generation. Undefined after a generation ends and before the next one starts. */
  #present: RelayedChanges | undefined

  constructor({ port }: ChangePort, onLost: (error: StoreError) => void) {
    this.#port = port
    this.#onLost = onLost
    port.on('message', (message: Relayed) => this.#receive(message))
    port.once('close', () => this.#lose(new StoreError('the thread that watches etcd has exited')))
  }

  begin({ prefix }: EtcdLocation, reportedRevision: Revision): Promise<GenerationParts> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    const generationParts = Promise.withResolvers<GenerationParts>()
    this.#joining = { prefix, generationParts }
    this.#port.postMessage({ type: 'join', reportedRevision } satisfies Join)
    return generationParts.promise
  }

  close(): void {
    this.#lost ??= new StoreError('the store is closed')
    this.#joining?.generationParts.reject(this.#lost)
    this.#port.close()
  }

  #receive(message: Relayed): void {
    if (this.#lost !== undefined) return
    if (message.type === 'generation') this.#beginGeneration(message)
    else if (message.type === 'over') this.#endEra()
    else if (message.type === 'gap') {
      const { revision, lost, oldest } = message
      this.#present?.changeStream.beginAnew(revision, new RevisionGone(lost, oldest))
    } else this.#append(message)
  }

  #beginGeneration({ offset, memory, position }: Extract<Relayed, { type: 'generation' }>): void {
    const joining = this.#joining
    if (joining === undefined) return
    this.#joining = undefined
    const present = new RelayedChanges(new ChangeStream(position))
    this.#present = present
    joining.generationParts.resolve({
      space: new KeySpace(joining.prefix, offset),
      sharedRevisions: new SharedRevisions(memory),
      openChanges: (around) => present.open(around),
    })
  }

  #endEra(): void {
    this.#present?.restored()
    this.#present = undefined
  }

  #append({ after, through, changes }: Extract<Relayed, { type: 'batch' }>): void {
    const changeStream = this.#present?.changeStream
    if (changeStream === undefined) return
    if (changeStream.revision === after)
      changeStream.append({ changes: changes === undefined ? [] : readChanges(changes), through })
    else this.#lose(new StoreError(`the worker missed the changes from revision ${changeStream.revision} to ${after}`))
  }

  #lose(error: StoreError): void {
    if (this.#lost !== undefined) return
    this.#lost = error
    this.#present?.changeStream.end(error)
    this.#joining?.generationParts.reject(error)
    this.#onLost(error)
  }
}

/**
 * The change stream of one generation in a worker. It receives changes as soon as the generation starts, even before
 * the store opens it.
 */
class RelayedChanges implements ChangeSource {
  readonly changeStream: ChangeStream
  #onRestored: (() => void) | undefined
  #isRestored = false

  constructor(changeStream: ChangeStream) {
    this.changeStream = changeStream
  }

  open({ onRestored }: ChangeSourceCallbacks): this {
    this.#onRestored = onRestored
    // Defer the callback, because the caller of `open` is not ready for it yet.
    if (this.#isRestored) queueMicrotask(onRestored)
    return this
  }

  restored(): void {
    this.#isRestored = true
    this.#onRestored?.()
  }

  async stop(reason: StoreError): Promise<void> {
    this.changeStream.end(reason)
  }
}
