/**
 * Archives changes before etcd compacts them. The archive position is the revision up to which changes are archived.
 * The archive reads etcd's log after this position. For each change, it stores the value that was replaced, together
 * with the note that the commit wrote in the same transaction. The archive is therefore complete: it also contains
 * foreign writes and expired leases. The only cost for a commit is its note.
 *
 * Any server can archive at any time. A server writes each segment together with the archive position, provided that
 * the position is unchanged. If several servers archive the same changes, only one of them succeeds. The others
 * continue after the segment that it has written. If another client has compacted etcd past the position, there is a
 * gap, and the journal restarts after the gap.
 */
import type { Clock } from '../../../../base/time/clock.ts'
import { type Change, type Note, type Retention, type Revision, RevisionGone, ValueTooLarge } from '../../store.ts'
import type { Connection } from '../connection.ts'
import { noteFailure, readFailure, writeFailure } from '../failure.ts'
import type { KeySpace } from '../key-space.ts'
import {
  decodeRange,
  decodeSwap,
  type EtcdEvent,
  encodeRange,
  encodeSwap,
  maxOperations,
  methods,
} from '../messages.ts'
import { eventsFrom } from '../watch.ts'
import { clearJournal } from './clear-journal.ts'
import { Draft } from './draft.ts'
import { type ArchivePosition, readNote, readPosition, writePosition } from './encoding.ts'
import type { Layout } from './layout.ts'

export interface ArchiveParts {
  readonly connection: Connection
  readonly space: KeySpace
  readonly layout: Layout
  readonly retention: Retention
  readonly clock: Clock
  /** Returns the revision of the last change that the change stream has delivered. */
  readonly newest: () => Revision
  /** Returns a revision that a watch is certain to report. The result is not before `newest`. */
  readonly anchor: () => Promise<Revision>
  readonly onWarning: (text: string) => void
  /** A signal that aborts when the store closes. */
  readonly signal: AbortSignal
}

/**
 * The archive position, and the etcd revision at which it was written. The revision is 0 if there is no position yet.
 */
interface StoredPosition {
  readonly position: ArchivePosition
  readonly etcdRevision: number
}

const maxTries = 20

export class Archive {
  /** The archive position as this server last read it. */
  lastReadPosition: ArchivePosition | undefined
  /**
   * Every change up to this revision is archived. The stored position can be lower, because it moves only when there
   * are changes to archive.
   */
  #through: Revision = 0
  #line: Promise<unknown> = Promise.resolve()
  readonly #parts: ArchiveParts

  constructor(parts: ArchiveParts) {
    this.#parts = parts
  }

  /** Creates the archive position if it is missing. After this, every change is archived. */
  async begin(): Promise<void> {
    for (let tries = 0; tries < maxTries; tries++) if ((await this.#ensurePosition()) !== undefined) return
  }

  /** Archives all changes that the change stream has delivered so far, and resolves to the archive position. */
  async keepUp(): Promise<ArchivePosition> {
    const pass = this.#line.then(() => this.#pass())
    this.#line = pass.catch(() => {})
    return await pass
  }

  /** Reads the archive position. Returns undefined if it does not exist yet. */
  async readPosition(): Promise<ArchivePosition | undefined> {
    const { current } = await this.#readStoredPosition()
    return current?.position
  }

  /** Invalidates all data in the journal. The segments of the journal are deleted later, like outdated segments. */
  async cut(): Promise<void> {
    await this.keepUp()
    for (let tries = 0; tries < maxTries; tries++) {
      const { current } = await this.#readStoredPosition()
      if (current === undefined) return
      const { position, etcdRevision } = current
      if (await this.#swap(etcdRevision, { ...position, cut: position.through }, [])) return
    }
    throw readFailure(new Error('the journal position changes too often'))
  }

  async #pass(): Promise<ArchivePosition> {
    const { newest, signal } = this.#parts
    const targetRevision = newest()
    for (let tries = 0; tries < maxTries && !signal.aborted; tries++) {
      const current = await this.#ensurePosition()
      if (current === undefined) continue
      this.lastReadPosition = current.position
      if (Math.max(current.position.through, this.#through) >= targetRevision) return current.position
      const archivedPosition = await this.#append(current).catch((error: unknown) => this.#beginAnew(current, error))
      if (archivedPosition !== undefined) return archivedPosition
    }
    throw readFailure(new Error('cannot archive changes: other servers keep archiving them first'))
  }

  /** Appends a segment. Returns undefined if another server has appended a segment first. */
  async #append({ position, etcdRevision }: StoredPosition): Promise<ArchivePosition | undefined> {
    const { connection, space, retention, clock } = this.#parts
    const meeting = await this.#parts.anchor()
    const stop = new AbortController()
    const signal = AbortSignal.any([stop.signal, this.#parts.signal])
    let current: StoredPosition | undefined = { position, etcdRevision }
    let draft = new Draft(position, retention)
    const write = async () => {
      current = await this.#write(current!, draft)
      if (current !== undefined) draft = new Draft(current.position, retention)
    }
    try {
      for await (const events of eventsFrom(connection, space, { after: position.through, signal })) {
        for (const { revision, changes, note } of byRevision(space, events)) {
          if (changes.length === 0) continue
          if (!draft.takes(changes)) await write()
          if (current === undefined) return undefined
          draft.add(revision, changes, note ?? { time: clock.now(), text: nothing })
        }
        if (space.revision(events.at(-1)!.entry.modRevision) >= meeting) break
      }
    } finally {
      stop.abort()
    }
    if (!draft.isEmpty) await write()
    if (current !== undefined) this.#through = meeting
    return current?.position
  }

  async #write(current: StoredPosition, draft: Draft): Promise<StoredPosition | undefined> {
    const { layout, onWarning } = this.#parts
    for (const values of ['with', 'without'] as const) {
      const { position, puts } = draft.finish(layout, values)
      if (puts.length > maxOperations) continue
      try {
        const etcdRevision = await this.#swap(current.etcdRevision, position, puts)
        return etcdRevision === undefined ? undefined : { position, etcdRevision }
      } catch (error) {
        if (!(error instanceof ValueTooLarge)) throw error
      }
    }
    onWarning(`revision ${draft.through} has too many changes: the object history restarts`)
    const position = { ...current.position, through: draft.through, cut: draft.through }
    const etcdRevision = await this.#swap(current.etcdRevision, position, [])
    return etcdRevision === undefined ? undefined : { position, etcdRevision }
  }

  async #beginAnew(current: StoredPosition, error: unknown): Promise<undefined> {
    if (!(error instanceof RevisionGone) || error.name !== 'RevisionGone') throw error
    const { revision } = await this.#readStoredPosition()
    const isNew = await this.#swap(current.etcdRevision, this.#begin(revision), [])
    if (isNew !== undefined)
      this.#parts.onWarning(
        `etcd was compacted before changes were archived: the object history restarts at revision ${revision}`,
      )
    return undefined
  }

  /**
   * Creates the archive position if it is missing or belongs to another generation. Returns undefined if another server
   * has written it first.
   */
  async #ensurePosition(): Promise<StoredPosition | undefined> {
    const { current, revision } = await this.#readStoredPosition()
    if (current !== undefined && current.position.offset === this.#parts.space.offset) return current
    const equals = current?.etcdRevision ?? 0
    if (!(await clearJournal(this.#parts, equals))) return undefined
    const position = this.#begin(revision)
    const etcdRevision = await this.#swap(equals, position, [])
    return etcdRevision === undefined ? undefined : { position, etcdRevision }
  }

  #begin(revision: Revision): ArchivePosition {
    const { offset } = this.#parts.space
    return { offset, through: revision, cut: revision, total: this.lastReadPosition?.total ?? 0 }
  }

  async #readStoredPosition(): Promise<{ current: StoredPosition | undefined; revision: Revision }> {
    const { connection, space } = this.#parts
    const request = encodeRange({ key: space.note('history') })
    const answer = await connection.call(methods.range, request, { effect: 'read' }).catch((error: unknown) => {
      throw readFailure(error)
    })
    const { entries, revision } = decodeRange(answer)
    const [entry] = entries
    return {
      current: entry && { position: readPosition(entry.value), etcdRevision: entry.modRevision },
      revision: space.revision(revision),
    }
  }

  /**
   * Replaces the archive position. Returns the etcd revision of the new position, or undefined if another server has
   * written the position first.
   */
  async #swap(
    equals: number,
    position: ArchivePosition,
    puts: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[],
  ): Promise<number | undefined> {
    const { connection, space } = this.#parts
    const compare = { target: 'modRevision', equals } as const
    const request = encodeSwap({ key: space.note('history'), compare, value: writePosition(position), puts })
    try {
      const { succeeded, revision } = decodeSwap(await connection.call(methods.txn, request, { effect: 'write' }))
      if (succeeded) this.lastReadPosition = position
      return succeeded ? revision : undefined
    } catch (error) {
      const failure = writeFailure(error, request.length)
      throw failure instanceof ValueTooLarge ? failure : noteFailure(error)
    }
  }
}

const nothing = new Uint8Array(0)

/** All changes of one revision, with their note. */
interface Step {
  readonly revision: Revision
  readonly changes: readonly Change[]
  /** The note of the changes. Undefined if a lease expired or if a server without a journal wrote the change. */
  readonly note: Note | undefined
}

function* byRevision(space: KeySpace, events: readonly EtcdEvent[]): Generator<Step> {
  for (let from = 0; from < events.length; ) {
    const at = events[from]!.entry.modRevision
    let end = from
    while (events[end]?.entry.modRevision === at) end++
    const step = events.slice(from, end)
    const note = step.find(({ entry }) => space.isChangeNote(entry))
    yield {
      revision: space.revision(at),
      changes: step.filter(({ entry }) => !space.isNote(entry)).map((event) => space.change(event)),
      note: note && readNote(note.entry.value),
    }
    from = end
  }
}
