/**
 * Groups of neighboring objects whose bytes are joined once as list items, so that later lists copy them as a whole.
 *
 * A group belongs to its first object. Cached objects never change, so a group is valid as long as the list contains
 * exactly the same objects in a row. When a write replaces an object, the next list that contains its neighbors joins
 * them again. Objects are joined when a second list contains them, because many objects are listed only once. The
 * memory of all groups is limited.
 */

/** Maximum number of objects and bytes in a group. After a write, at most one group must be joined again. */
const maxObjects = 32
const maxGroupBytes = 32 * 1024
/** Minimum number of objects in a group. Copying a smaller group as a whole saves hardly any time. */
const minObjects = 4
const mega = 1024 * 1024
const comma = 0x2c

/** An object that can be copied into a list together with its neighbors. */
export interface Joinable {
  readonly json: Buffer
  /**
   * The group that starts with this object. The value `listed` marks an object that has been listed once but does not
   * start a group yet.
   */
  joined: JoinedGroup | 'listed' | undefined
}

/**
 * Writes an object as a list item into the buffer at the given offset, and returns the offset after the item. An item
 * is never longer than the object's own JSON.
 */
export type WriteItem<T extends Joinable> = (object: T, into: Buffer, at: number) => number

/** Several consecutive list items in one buffer, separated by commas. */
class JoinedGroup {
  readonly objects: readonly Joinable[]
  readonly bytes: Buffer
  /** Whether a list has used the group since the group was last considered for eviction. */
  isUsed = true

  constructor(objects: readonly Joinable[], bytes: Buffer) {
    this.objects = objects
    this.bytes = bytes
  }

  /** Whether the slice contains exactly the group's objects, starting at the given index. */
  isAt(slice: readonly Joinable[], index: number): boolean {
    const { objects } = this
    for (let i = 0; i < objects.length; i++) if (slice[index + i] !== objects[i]) return false
    return true
  }
}

/**
 * Joined groups of objects, within a memory limit. A group that a list has used recently is not evicted; the new group
 * is discarded instead. Otherwise, a list with too many objects would evict the groups that the next list needs.
 */
export class JoinedObjects {
  readonly #maxBytes: number
  readonly #groups = new Set<JoinedGroup>()
  #bytes = 0

  /**
   * Creates an empty set of groups. `maxBytes` limits the joined bytes. The groups also reference objects that have
   * been replaced in the meantime, which can use up to the same amount of memory in addition.
   */
  constructor(maxBytes = 16 * mega) {
    this.#maxBytes = maxBytes
  }

  /** Number of bytes that the groups use. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Returns the joined group that starts at the given index of the slice. Returns undefined if the object does not
   * start a group and must be written on its own.
   */
  at<T extends Joinable>(slice: readonly T[], index: number, writeItem: WriteItem<T>): JoinedGroup | undefined {
    const first = slice[index]!
    const { joined } = first
    if (joined === undefined) {
      first.joined = 'listed'
      return undefined
    }
    if (joined === 'listed') return this.#join(slice, index, writeItem)
    if (!joined.isAt(slice, index)) {
      this.#drop(joined)
      return this.#join(slice, index, writeItem)
    }
    joined.isUsed = true
    return joined
  }

  /** Creates a group from the object at an index and the objects after it, up to the next group. */
  #join<T extends Joinable>(slice: readonly T[], index: number, writeItem: WriteItem<T>): JoinedGroup | undefined {
    let size = 0
    let end = index
    for (; end < slice.length && end < index + maxObjects; end++) {
      const { json, joined } = slice[end]!
      const isNextGroup = joined !== undefined && joined !== 'listed'
      if (isNextGroup || size + json.length > maxGroupBytes) break
      size += json.length
    }
    if (end - index < minObjects || !this.#makeRoom(size)) return undefined
    const objects = slice.slice(index, end)
    const group = new JoinedGroup(objects, joinItems(objects, size, writeItem))
    this.#groups.add(group)
    this.#bytes += sizeOf(group)
    slice[index]!.joined = group
    return group
  }

  /** Evicts groups if necessary to make room for the given number of bytes. Returns whether the bytes fit. */
  #makeRoom(bytes: number): boolean {
    for (const oldest of this.#groups) {
      if (this.#bytes + bytes <= this.#maxBytes) break
      if (oldest.isUsed) {
        oldest.isUsed = false
        this.#groups.delete(oldest)
        this.#groups.add(oldest)
        return false
      }
      this.#drop(oldest)
    }
    return this.#bytes + bytes <= this.#maxBytes
  }

  #drop(group: JoinedGroup): void {
    this.#groups.delete(group)
    this.#bytes -= sizeOf(group)
    group.objects[0]!.joined = 'listed'
  }
}

function joinItems<T extends Joinable>(objects: readonly T[], size: number, writeItem: WriteItem<T>): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size)
  let used = 0
  for (const object of objects) {
    if (used > 0) bytes[used++] = comma
    used = writeItem(object, bytes, used)
  }
  return bytes.subarray(0, used)
}

function sizeOf({ bytes }: JoinedGroup): number {
  return bytes.buffer.byteLength
}

/** The joined list items of all kinds, which share one memory limit. */
export const joinedObjects = new JoinedObjects()
