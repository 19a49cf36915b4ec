/**
 * Changes as one block of memory, for other threads: of each its revision, whether it deletes (0 or 1), its key, the previous
 * revision (0: none), the previous value, the value. What is read from a block lies in it, and is not copied.
 */
import { Packer, Unpacker } from './pack.ts'
import type { Change } from './store.ts'

/** A block that several threads can read. */
export function shareChanges(changes: readonly Change[]): SharedArrayBuffer {
  const packed = new Packer(changes.reduce((sum, change) => sum + sizeOf(change), 0))
  for (const change of changes) packChange(packed, change)
  return shareBlock(packed.finish())
}

/** A copy of a block that several threads can read. */
export function shareBlock(block: ArrayBuffer): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(block.byteLength)
  new Uint8Array(shared).set(new Uint8Array(block))
  return shared
}

/** The changes of a packed slice of a log. */
export function readChanges(block: ArrayBuffer | SharedArrayBuffer): Change[] {
  const packed = new Unpacker(block)
  const changes: Change[] = []
  while (!packed.done) changes.push(readChange(packed))
  return changes
}

function readChange(packed: Unpacker): Change {
  const revision = packed.number()
  const deletes = packed.number() === 1
  const key = packed.key()
  const held = packed.number()
  const previous = held === 0 ? undefined : { key, revision: held, value: packed.bytes() }
  const value = deletes ? undefined : packed.bytes()
  return { key, revision, value, previous }
}

function packChange(packed: Packer, { key, revision, value, previous }: Change): void {
  packed.number(revision)
  packed.number(value === undefined ? 1 : 0)
  packed.key(key)
  packed.number(previous?.revision ?? 0)
  if (previous !== undefined) packed.bytes(previous.value)
  if (value !== undefined) packed.bytes(value)
}

/** At most, with the lengths and numbers. */
function sizeOf({ key, value, previous }: Change): number {
  return 64 + 3 * key.length + (value?.length ?? 0) + (previous?.value.length ?? 0)
}
