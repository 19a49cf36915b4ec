/**
 * Deletes journal segments that are too old or exceed the size limit, oldest first. One transaction of bounded size
 * deletes a segment and all records that it lists. The journal starts at its first segment. Several servers can delete
 * segments at the same time, but each segment is deleted only once.
 */
import type { Clock } from '../../../../base/time/clock.ts'
import type { Retention, Revision } from '../../store.ts'
import type { Connection } from '../connection.ts'
import { noteFailure, readFailure } from '../failure.ts'
import type { KeySpace } from '../key-space.ts'
import { decodeRange, decodeSwap, encodeRange, encodeSwap, type KeyValue, methods } from '../messages.ts'
import { type ArchivePosition, readSegment, type Segment } from './encoding.ts'
import type { Layout } from './layout.ts'

export interface JournalRetentionParts {
  readonly connection: Connection
  readonly space: KeySpace
  readonly layout: Layout
  readonly retention: Retention
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** A journal segment as stored in etcd. */
interface HeldSegment {
  readonly entry: KeyValue
  readonly segment: Segment
}

export class JournalRetention {
  readonly #parts: JournalRetentionParts

  constructor(parts: JournalRetentionParts) {
    this.#parts = parts
  }

  /** Returns the first segment that ends at or after a revision. */
  async segmentAt(revision: Revision): Promise<Segment | undefined> {
    return (await this.#find(revision))?.segment
  }

  /** Returns the oldest revision whose state the journal can list. */
  async floor(position: ArchivePosition): Promise<Revision> {
    const first = await this.segmentAt(0)
    return Math.max(position.cut, first?.from ?? position.through)
  }

  /** Deletes the segments that are too old or exceed the size limit. */
  async forgetOld(position: ArchivePosition): Promise<void> {
    await this.#dropWhile((segment) => this.#isDue(segment, position))
  }

  /** Deletes half of the journal to free space. */
  async forgetHalf({ total }: ArchivePosition): Promise<void> {
    const first = await this.segmentAt(0)
    if (first === undefined) return
    const half = (total - first.start) / 2
    await this.#dropWhile(({ start }) => total - start > half)
  }

  async #dropWhile(isDue: (segment: Segment) => boolean): Promise<void> {
    while (!this.#parts.signal.aborted) {
      const oldest = await this.#find(0)
      if (oldest === undefined || !isDue(oldest.segment)) return
      await this.#drop(oldest)
    }
  }

  #isDue({ through, start, changes }: Segment, position: ArchivePosition): boolean {
    const { retention, clock } = this.#parts
    if (through <= position.cut || position.total - start > retention.bytes) return true
    const since = clock.now() - retention.time
    return changes.every(({ time }) => time < since)
  }

  /**
   * Deletes a segment and makes a progress write, so that the change streams of all servers pass the revision of the
   * deletion.
   */
  async #drop({ entry, segment }: HeldSegment): Promise<void> {
    const { connection, layout, space } = this.#parts
    const deletes = segment.changes.flatMap((change) =>
      change.hasValue ? [layout.record(change), layout.value(change)] : [layout.record(change)],
    )
    const compare = { target: 'modRevision', equals: entry.modRevision } as const
    const puts = [{ key: space.note('tick'), value: Buffer.from(entry.key) }]
    const request = encodeSwap({ key: Buffer.from(entry.key), compare, value: undefined, puts, deletes })
    try {
      // Another server may have deleted the segment already.
      decodeSwap(await connection.call(methods.txn, request, { effect: 'write' }))
    } catch (error) {
      throw noteFailure(error)
    }
  }

  async #find(revision: Revision): Promise<HeldSegment | undefined> {
    const { connection, layout } = this.#parts
    const request = encodeRange({ ...layout.segments(revision), limit: 1 })
    try {
      const { entries } = decodeRange(await connection.call(methods.range, request, { effect: 'read' }))
      const [entry] = entries
      return entry && { entry, segment: readSegment(entry.value) }
    } catch (error) {
      throw readFailure(error)
    }
  }
}
