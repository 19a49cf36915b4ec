/**
 * The store's thread, which is the only thread that uses the LMDB file. The thread processes all waiting messages
 * together. The commits among these messages form one transaction with one sync. The thread acknowledges the commits
 * when the transaction is durable. Between two groups of commits, at most one slice of a read or one step of expiry or
 * compaction runs, so neither commits nor reads starve.
 *
 * The stores of other threads have their own ports. The thread processes messages from all ports at the same time, and
 * all commits join the same transaction.
 */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { isError, messageOf } from '../../../base/text/errors.ts'
import { Packer } from '../pack.ts'
import { type Revision, StoreDamaged, StoreError, StoreFull } from '../store.ts'
import { BackgroundCheck } from './background-check.ts'
import { damagesMemory, stopForGood } from './damaged-memory.ts'
import { placeCheck } from './directory.ts'
import { DiskReservation } from './disk-reservation.ts'
import { Followers } from './followers.ts'
import type {
  AttachRequest,
  CommitRequest,
  Failure,
  OpenReply,
  OpenRequest,
  PinReply,
  PinRequest,
  Reply,
  Request,
} from './messages.ts'
import { checkPages, reportDamage } from './page-check.ts'
import { countEntries, getEntry, listEntries, readLog } from './read.ts'
import { floorOf, readJournalChanges, revisionAt } from './read-journal.ts'
import { openTables, readState, type State, type Tables } from './tables.ts'
import { compactStep, expireStep, readDue } from './upkeep.ts'
import { checkSoleWriter, commitGroup } from './write.ts'

type OtherRequest = Exclude<Request, CommitRequest | OpenRequest | AttachRequest | PinRequest>
type AnyRequest = Exclude<Request, OpenRequest>

/** A request to the thread, with the port for the reply. */
interface PendingRequest<T> {
  readonly request: T
  readonly port: MessagePort
}

/** Maximum duration of a compaction step before its sync. Including the sync, a step takes well under 5 ms. */
const compactionBudgetMs = 2

/**
 * Maximum number of commits in a group while pages are verified before they are read. Verification takes time, so the
 * groups are small.
 */
const guardedGroup = 16

class StoreThread {
  /** The ports through which stores send requests. The first port belongs to the store that owns the file. */
  readonly #ports: MessagePort[]
  readonly #tables: Tables
  readonly #room: DiskReservation
  readonly #assertInPlace: () => void
  readonly #followers = new Followers()
  #state: State
  /** The oldest revision that the journal can list. */
  #floor: Revision
  #failed: Failure | undefined
  readonly #commits: PendingRequest<CommitRequest>[] = []
  readonly #others: PendingRequest<OtherRequest>[] = []
  /** The background check of the file. Undefined if all pages were checked before the file was opened. */
  #check: BackgroundCheck | undefined
  /** Compaction requests that wait until all pages are checked. */
  readonly #waitingCompactions: PendingRequest<OtherRequest>[] = []

  constructor(port: MessagePort, { directory, backgroundCheck }: OpenRequest) {
    this.#ports = [port]
    const path = join(directory, 'data.mdb')
    if (backgroundCheck !== undefined && fileSize(path) > backgroundCheck.above)
      this.#check = new BackgroundCheck(path, backgroundCheck.delayMs)
    else checkPages(path)
    const { tables, state, floor } = reportDamage(path, () => openState(directory, this.#check))
    this.#tables = tables
    this.#state = state
    this.#floor = floor
    this.#room = new DiskReservation(this.#tables, path, () => this.#check?.pinned)
    this.#assertInPlace = placeCheck(path)
  }

  start(id: number): void {
    const port = this.#ports[0]!
    port.on('message', (request: AnyRequest) => this.#work({ request, port }))
    this.#answer({ port, id }, this.#opened)
    this.#check?.start((damage) => this.#checked(damage))
  }

  /**
   * Called when all pages have been checked. `damage` describes the first fault. It is undefined if the file is intact.
   */
  #checked(damage: unknown): void {
    if (damage !== undefined) this.#failure(damage, true)
    this.#others.push(...this.#waitingCompactions.splice(0))
    this.#workOff()
  }

  get #opened(): OpenReply {
    const { revision, oldest } = this.#state
    return { revision, oldest, floor: this.#floor }
  }

  #work(pending: PendingRequest<AnyRequest>): void {
    this.#take(pending)
    this.#workOff()
  }

  #workOff(): void {
    while (this.#commits.length > 0 || this.#others.length > 0) {
      this.#takeWaiting()
      if (this.#commits.length > 0) this.#commit()
      const other = this.#others.shift()
      if (other) this.#serve(other)
    }
  }

  #takeWaiting(): void {
    for (const port of this.#ports)
      for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port))
        this.#take({ request: next.message, port })
  }

  #take({ request, port }: PendingRequest<AnyRequest>): void {
    if (request.type === 'commit') this.#commits.push({ request, port })
    else if (request.type === 'attach') this.#attach(request, port)
    else if (isPin(request)) this.#pin(request, port)
    else this.#others.push({ request, port })
  }

  /**
   * Attaches another store. The first message to this store contains the current revision. The store then receives all
   * later changes.
   */
  #attach({ id, port, memory }: AttachRequest, owner: MessagePort): void {
    this.#followers.add(port, memory)
    this.#followers.forget(this.#state.oldest)
    this.#followers.forgetJournal(this.#floor)
    this.#followers.publish(this.#state.revision, new ArrayBuffer(0))
    this.#ports.push(port)
    port.on('message', (request: AnyRequest) => this.#work({ request, port }))
    port.on('close', () => this.#detach(port))
    this.#answer({ port, id: 0 }, this.#opened)
    this.#answer({ port: owner, id }, undefined)
  }

  #detach(port: MessagePort): void {
    this.#followers.remove(port)
    this.#ports.splice(this.#ports.indexOf(port), 1)
  }

  #pin({ id, type, revision, reach }: PinRequest, port: MessagePort): void {
    const readable = revision >= (reach === 'journal' ? this.#floor : this.#state.oldest)
    if (type === 'unpin') this.#followers.unpin(port, revision)
    else if (readable) this.#followers.pin(port, revision)
    this.#answer({ port, id }, { readable } satisfies PinReply)
  }

  #commit(): void {
    const group = this.#commits.splice(0, this.#tables.isGuarded() ? guardedGroup : this.#commits.length)
    try {
      this.#assertSound()
      const batches = group.map(({ request }) => request.writes)
      const changes = this.#followers.any ? new Packer(sizeOf(batches)) : undefined
      this.#room.begin()
      const { state, replies } = commitGroup(this.#tables, this.#state, { batches, room: this.#room, changes })
      const cut = this.#advance(state)
      if (changes) this.#followers.publish(state.revision, changes.finish(), cut)
      // The last reply of the group also contains the new start of the history window, so that it arrives after all
      // changes.
      for (const [i, reply] of replies.entries())
        this.#answerBlock(recipientOf(group[i]!), reply, i === replies.length - 1 ? cut : undefined)
    } catch (error) {
      const failure = this.#failure(error, true)
      for (const pending of group) this.#refuse(recipientOf(pending), failure)
    }
  }

  #serve(pending: PendingRequest<OtherRequest>): void {
    const { request } = pending
    if (request.type === 'compact' && this.#tables.isGuarded() && this.#failed === undefined) {
      this.#waitingCompactions.push(pending)
      return
    }
    try {
      this.#run(request, recipientOf(pending))
    } catch (error) {
      this.#refuse(recipientOf(pending), this.#failure(error, request.type === 'compact' || request.type === 'expire'))
    } finally {
      // Close the read transaction. Otherwise, it would prevent lmdb from reusing old pages.
      if (request.type !== 'close') this.#tables.root.resetReadTxn()
    }
  }

  #run(request: OtherRequest, to: Recipient): void {
    switch (request.type) {
      case 'get':
        this.#answerBlock(to, getEntry(this.#tables, request.key))
        break
      case 'list':
        this.#list(request, to)
        break
      case 'count':
        this.#answer(to, countEntries(this.#tables, this.#state.revision, request.range))
        break
      case 'log':
        this.#answerBlock(to, readLog(this.#tables, request.after, request.limit))
        break
      case 'journalChanges':
        this.#answerBlock(to, readJournalChanges(this.#tables, request.key, { ...request, floor: this.#floor }))
        break
      case 'when':
        this.#answer(to, { revision: revisionAt(this.#tables, this.#state, request.time) })
        break
      case 'compact':
        this.#compact(request, to)
        break
      case 'expire':
        this.#expire(request, to)
        break
      case 'close':
        this.#close(to)
    }
  }

  #list({ range, limit }: Extract<Request, { type: 'list' }>, to: Recipient): void {
    const reply = listEntries(this.#tables, this.#state.revision, range, limit)
    this.#answer(to, reply, { transfer: [reply.entries] })
  }

  #compact({ oldest, upTo, journal }: Extract<Request, { type: 'compact' }>, to: Recipient): void {
    this.#assertSound()
    this.#room.begin()
    this.#followers.forget(oldest)
    const compaction = {
      oldest,
      upTo: Math.min(upTo, this.#followers.oldestPin),
      journal,
      budgetMs: compactionBudgetMs,
      room: this.#room,
    }
    const { state, more } = compactStep(this.#tables, this.#state, compaction)
    this.#state = state
    this.#floor = floorOf(this.#tables, state)
    this.#followers.forgetJournal(this.#floor)
    this.#answer(to, { more, floor: this.#floor })
  }

  #expire({ now }: Extract<Request, { type: 'expire' }>, to: Recipient): void {
    // Check every second whether the file is missing. A check for every write would delay writes.
    this.#assertInPlace()
    checkSoleWriter(this.#tables, this.#state)
    const due = readDue(this.#tables, now)
    // Expiry and compaction remove many records in one step, so they wait until all pages are checked.
    if (due.length === 0 || this.#tables.isGuarded()) {
      this.#answer(to, undefined)
      return
    }
    this.#assertSound()
    this.#room.begin()
    const { state, changes } = expireStep(this.#tables, this.#state, { due, room: this.#room, now })
    const cut = this.#advance(state)
    this.#followers.publish(state.revision, changes, cut)
    this.#answerBlock(to, changes, cut)
  }

  /**
   * Records the state that a transaction has written. Returns the new start of the history window if deletes have
   * truncated it.
   */
  #advance(state: State): Revision | undefined {
    const cut = state.oldest > this.#state.oldest ? state.oldest : undefined
    this.#state = state
    if (cut !== undefined) this.#floor = Math.max(this.#floor, cut)
    return cut
  }

  /** Closes the file. The thread ends when all ports are closed. The owner closes its own port. */
  #close(to: Recipient): void {
    this.#check?.stop()
    for (const pending of this.#waitingCompactions.splice(0)) this.#refuse(recipientOf(pending), closedFailure)
    for (const port of this.#ports) if (port !== to.port) port.close()
    this.#room.close()
    this.#tables.root.close().then(
      () => this.#answer(to, undefined),
      (error: unknown) => this.#refuse(to, this.#failure(error, false)),
    )
  }

  #answerBlock(to: Recipient, block: ArrayBuffer, cut?: Revision): void {
    this.#answer(to, block, { transfer: [block], cut })
  }

  #answer({ port, id }: Recipient, result: unknown, { transfer = [], cut }: AnswerOptions = {}): void {
    port.postMessage({ id, result, cut } satisfies Reply, transfer)
  }

  #refuse({ port, id }: Recipient, failure: Failure): void {
    port.postMessage({ id, failure } satisfies Reply)
  }

  #failure(error: unknown, writing: boolean): Failure {
    const failure = toFailure(this.#check?.explain(error) ?? error, writing)
    if (damagesMemory(error)) this.#end(failure)
    if (!isFinal(failure) || this.#failed) return failure
    this.#failed = failure
    // All stores on the file must stop writing, regardless of which store detected the failure.
    if (this.#followers.any || failure.kind === 'damaged')
      for (const port of this.#ports) this.#refuse({ port, id: toAll }, failure)
    return failure
  }

  #end(failure: Failure): never {
    for (const port of this.#ports) this.#refuse({ port, id: toAll }, { ...failure, last: true })
    stopForGood()
  }

  #assertSound(): void {
    if (this.#failed) throw new StoreError(`the store no longer accepts writes: ${this.#failed.message}`)
  }
}

function openState(directory: string, check: BackgroundCheck | undefined) {
  const tables = openTables(directory, check)
  const state = readState(tables.meta)
  return { tables, state, floor: floorOf(tables, state) }
}

/** The port for a reply, and the ID of the request to which the reply belongs. */
interface Recipient {
  readonly port: MessagePort
  readonly id: number
}

interface AnswerOptions {
  readonly transfer?: ArrayBuffer[]
  readonly cut?: Revision | undefined
}

function isPin(request: OtherRequest | PinRequest): request is PinRequest {
  return request.type === 'pin' || request.type === 'unpin'
}

function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** The request ID of a reply to all stores. No request uses this ID. */
const toAll = -1

function recipientOf({ port, request }: PendingRequest<AnyRequest>): Recipient {
  return { port, id: request.id }
}

function sizeOf(batches: readonly ArrayBuffer[]): number {
  return batches.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

const closedFailure: Failure = { kind: 'error', message: 'the store is closed', ambiguous: false }

/** Whether the store can no longer write after this failure. */
function isFinal({ kind }: Failure): boolean {
  return kind === 'failed' || kind === 'damaged'
}

/** lmdb error codes that make all later writes impossible: an I/O error, and a fatal error of the environment. */
const failedCodes = [5, -30795]

/**
 * Converts an error to a failure. If lmdb could not write, the failure is final regardless of its cause. For example,
 * if a sync fails for lack of space, pages are lost. The next sync would succeed, but the pages would still be missing.
 */
function toFailure(error: unknown, writing: boolean): Failure {
  const message = messageOf(error)
  const code = isError(error) && 'code' in error ? Number(error.code) : Number.NaN
  if (error instanceof StoreDamaged) return { kind: 'damaged', message, ambiguous: false }
  if (error instanceof StoreFull) return { kind: 'full', message, ambiguous: false }
  // A StoreError is thrown before anything is written. If a write throws a StoreError, the file is damaged or used by
  // another process, so later writes would fail too.
  if (error instanceof StoreError) return { kind: writing ? 'failed' : 'error', message, ambiguous: false }
  if (writing || failedCodes.includes(code) || message.includes('MDB_PANIC'))
    return { kind: 'failed', message: `the data file failed: ${message}`, ambiguous: writing }
  return { kind: 'error', message: `the data file: ${message}`, ambiguous: false }
}

const { port, loaded } = workerData as { port: MessagePort; loaded: Int32Array }
Atomics.store(loaded, 0, 1)
Atomics.notify(loaded, 0)
port.once('message', (request: OpenRequest) => {
  const { id } = request
  try {
    new StoreThread(port, request).start(id)
  } catch (error) {
    port.postMessage({ id, failure: toFailure(error, false) } satisfies Reply)
    port.close()
  }
})
