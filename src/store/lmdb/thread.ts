/**
 * The store's thread: the only owner of the LMDB file. All that waits in its port is taken at once; the commits among
 * it are one transaction with one sync, and are answered when it is durable. Between two groups of commits at most
 * one slice of a read or one step of expiry or compaction runs, so neither commits nor reads starve.
 */
import { join } from 'node:path'
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type Revision, StoreError, StoreFull } from '../store.ts'
import { DiskReservation } from './disk-reservation.ts'
import type { CommitRequest, Failure, Reply, Request } from './messages.ts'
import { checkPages } from './page-check.ts'
import { countEntries, getEntry, listEntries, readLog } from './read.ts'
import { openTables, readState, type State, type Tables } from './tables.ts'
import { compactStep, expireStep, readDue } from './upkeep.ts'
import { checkSoleWriter, commitGroup } from './write.ts'

type OpenRequest = Extract<Request, { type: 'open' }>
type OtherRequest = Exclude<Request, CommitRequest | OpenRequest>

/** How long a step of compaction may work before its sync; together well under 5 ms. */
const compactionBudgetMs = 2

class StoreThread {
  readonly #port: MessagePort
  readonly #tables: Tables
  readonly #room: DiskReservation
  #state: State
  #failed: Failure | undefined
  #commits: CommitRequest[] = []
  readonly #others: OtherRequest[] = []

  constructor(port: MessagePort, directory: string) {
    this.#port = port
    checkPages(join(directory, 'data.mdb'))
    this.#tables = openTables(directory)
    this.#state = readState(this.#tables.meta)
    this.#room = new DiskReservation(this.#tables, join(directory, 'data.mdb'))
  }

  start(id: number): void {
    this.#port.on('message', (request: CommitRequest | OtherRequest) => this.#work(request))
    this.#answer(id, { ...this.#state })
  }

  #work(request: CommitRequest | OtherRequest): void {
    this.#take(request)
    while (this.#commits.length > 0 || this.#others.length > 0) {
      this.#takeWaiting()
      if (this.#commits.length > 0) this.#commit()
      const other = this.#others.shift()
      if (other) this.#serve(other)
    }
  }

  #takeWaiting(): void {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port))
      this.#take(next.message)
  }

  #take(request: CommitRequest | OtherRequest): void {
    if (request.type === 'commit') this.#commits.push(request)
    else this.#others.push(request)
  }

  #commit(): void {
    const group = this.#commits
    this.#commits = []
    try {
      this.#assertSound()
      const batches = group.map(({ writes }) => writes)
      this.#room.begin()
      const { state, replies } = commitGroup(this.#tables, this.#state, { batches, room: this.#room })
      const cut = this.#advance(state)
      // The last reply says where history begins: by then all changes of the group are known on the other side.
      for (const [i, reply] of replies.entries())
        this.#answerBlock(group[i]!.id, reply, i === replies.length - 1 ? cut : undefined)
    } catch (error) {
      const failure = this.#failure(error, true)
      for (const { id } of group) this.#refuse(id, failure)
    }
  }

  #serve(request: OtherRequest): void {
    try {
      this.#run(request)
    } catch (error) {
      this.#refuse(request.id, this.#failure(error, request.type === 'compact' || request.type === 'expire'))
    } finally {
      // A read transaction that stays open keeps old pages from being used again.
      if (request.type !== 'close') this.#tables.root.resetReadTxn()
    }
  }

  #run(request: OtherRequest): void {
    switch (request.type) {
      case 'get':
        this.#answerBlock(request.id, getEntry(this.#tables, request.key))
        break
      case 'list':
        this.#list(request)
        break
      case 'count':
        this.#answer(request.id, countEntries(this.#tables, this.#state.revision, request.range))
        break
      case 'log':
        this.#answerBlock(request.id, readLog(this.#tables, request.after, request.limit))
        break
      case 'compact':
        this.#compact(request)
        break
      case 'expire':
        this.#expire(request)
        break
      case 'close':
        this.#close(request.id)
    }
  }

  #list({ id, range, limit }: Extract<Request, { type: 'list' }>): void {
    const reply = listEntries(this.#tables, this.#state.revision, range, limit)
    this.#answer(id, reply, [reply.entries])
  }

  #compact({ id, oldest, upTo }: Extract<Request, { type: 'compact' }>): void {
    this.#assertSound()
    this.#room.begin()
    const compaction = { oldest, upTo, budgetMs: compactionBudgetMs, room: this.#room }
    const { state, more } = compactStep(this.#tables, this.#state, compaction)
    this.#state = state
    this.#answer(id, { more })
  }

  #expire({ id, now }: Extract<Request, { type: 'expire' }>): void {
    checkSoleWriter(this.#tables, this.#state)
    const due = readDue(this.#tables, now)
    if (due.length === 0) {
      this.#answer(id, undefined)
      return
    }
    this.#assertSound()
    this.#room.begin()
    const { state, changes } = expireStep(this.#tables, this.#state, { due, room: this.#room })
    const cut = this.#advance(state)
    this.#answerBlock(id, changes, cut)
  }

  /** Takes over the state that was written. Returns where history begins now, if deletes have cut it off. */
  #advance(state: State): Revision | undefined {
    const cut = state.oldest > this.#state.oldest ? state.oldest : undefined
    this.#state = state
    return cut
  }

  #close(id: number): void {
    this.#room.close()
    this.#tables.root.close().then(
      () => this.#answer(id, undefined),
      (error: unknown) => this.#refuse(id, this.#failure(error, false)),
    )
  }

  #answerBlock(id: number, block: ArrayBuffer, cut?: Revision): void {
    this.#answer(id, block, [block], cut)
  }

  #answer(id: number, result: unknown, transfer: ArrayBuffer[] = [], cut?: Revision): void {
    this.#port.postMessage({ id, result, cut } satisfies Reply, transfer)
  }

  #refuse(id: number, failure: Failure): void {
    this.#port.postMessage({ id, failure } satisfies Reply)
  }

  #failure(error: unknown, writing: boolean): Failure {
    const failure = toFailure(error, writing)
    if (failure.kind === 'failed') this.#failed ??= failure
    return failure
  }

  #assertSound(): void {
    if (this.#failed) throw new StoreError(`nothing is written any more: ${this.#failed.message}`)
  }
}

/** lmdb lost what it needs to go on: input or output error, fatal error of the environment. */
const failedCodes = [5, -30795]

/**
 * What lmdb itself could not write is the end, whatever the reason it gives. A sync that failed for want of space has
 * lost pages like any other failed sync: the next one would succeed, and the pages would still be missing.
 */
function toFailure(error: unknown, writing: boolean): Failure {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? Number(error.code) : Number.NaN
  if (error instanceof StoreFull) return { kind: 'full', message, ambiguous: false }
  // Nothing of the transaction was written; but nothing will be, with a file that is damaged or not ours alone.
  if (error instanceof StoreError) return { kind: writing ? 'failed' : 'error', message, ambiguous: false }
  if (writing || failedCodes.includes(code) || message.includes('MDB_PANIC'))
    return { kind: 'failed', message: `the data file failed: ${message}`, ambiguous: writing }
  return { kind: 'error', message: `the data file: ${message}`, ambiguous: false }
}

const { port, loaded } = workerData as { port: MessagePort; loaded: Int32Array }
Atomics.store(loaded, 0, 1)
Atomics.notify(loaded, 0)
port.once('message', ({ id, directory }: OpenRequest) => {
  try {
    new StoreThread(port, directory).start(id)
  } catch (error) {
    port.postMessage({ id, failure: toFailure(error, false) } satisfies Reply)
    port.close()
  }
})
