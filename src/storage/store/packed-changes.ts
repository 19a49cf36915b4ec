/**
 * Changes packed into one block of memory for other threads. Each change contains its revision, whether it is a
 * deletion (0 or 1), its key, the previous revision (0 for none), the previous value and the value. Decoded changes are
 * views into the block, not copies.
 */
import { Packer, Unpacker } from './pack.ts'
import type { Change } from './store.ts'

/** Packs changes into a block that multiple threads can read. */
export function shareChanges(changes: readonly Change[]): SharedArrayBuffer {
  const packer = new Packer(changes.reduce((sum, change) => sum + sizeOf(change), 0))
  for (const change of changes) packChange(packer, change)
  return shareBlock(packer.finish())
}

/** Copies a block into memory that multiple threads can read. */
export function shareBlock(block: ArrayBuffer): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(block.byteLength)
  new Uint8Array(shared).set(new Uint8Array(block))
  return shared
}

/** Decodes changes of the log that were packed together. */
export function readChanges(block: ArrayBuffer | SharedArrayBuffer): Change[] {
  const unpacker = new Unpacker(block)
  const changes: Change[] = []
  while (!unpacker.done) changes.push(readChange(unpacker))
  return changes
}

function readChange(packed: Unpacker): Change {
  const revision = packed.number()
  const deletes = packed.number() === 1
  const key = packed.key()
  const previousRevision = packed.number()
  const previous = previousRevision === 0 ? undefined : { key, revision: previousRevision, value: packed.bytes() }
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

/** Returns an upper bound on the packed size of a change, including length prefixes and numeric fields. */
function sizeOf({ key, value, previous }: Change): number {
  return 64 + 3 * key.length + (value?.length ?? 0) + (previous?.value.length ?? 0)
}
