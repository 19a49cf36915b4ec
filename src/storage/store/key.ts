/**
 * Validates keys and writes before they reach a backend. All backends order keys by their UTF-8 bytes (see
 * base/collections/utf8-order.ts).
 */
import { shorten } from '../../base/text/shorten.ts'
import {
  type Key,
  maxKeyBytes,
  maxLifetimeSeconds,
  maxNoteBytes,
  maxReservedKeys,
  type Revision,
  StoreError,
  type Write,
} from './store.ts'

/**
 * Throws an error if a key is invalid. Keys are built from validated names, so an invalid key is a bug. This check
 * detects the bug before the key reaches a backend.
 */
export function assertKey(key: Key): void {
  if (!isKey(key)) throw new StoreError(`invalid key: ${JSON.stringify(shorten(key, 100))}`)
}

/** Whether a store can contain the key. */
export function isKey(text: string): boolean {
  const fits = text.length > 0 && text.length <= maxKeyBytes && Buffer.byteLength(text) <= maxKeyBytes
  // UTF-8 encodes all lone surrogates in the same way, so two keys with lone surrogates could collide.
  return fits && !text.includes('\0') && text.isWellFormed()
}

/** Validates a write before it reaches a backend. Throws StoreError. */
export function assertWrite(write: Write): void {
  const { key, expected, value, lifetimeSeconds, guards } = write
  assertKey(key)
  assertRevision(expected)
  if (value === undefined && expected === 0) throw new StoreError('cannot delete a key that does not exist')
  if (lifetimeSeconds !== undefined) assertLifetime(lifetimeSeconds, value)
  for (const guard of guards ?? []) {
    assertKey(guard.key)
    if (guard.revision !== 'present') assertRevision(guard.revision)
  }
  assertReservations(write)
  if ((write.note?.text.length ?? 0) > maxNoteBytes)
    throw new StoreError(`the note of a write is longer than ${maxNoteBytes} bytes`)
}

/**
 * Validates the reserved and released keys. A key with a lifetime cannot reserve other keys, because the reservations
 * would outlive the key.
 */
function assertReservations({ key, reserves = [], releases = [], lifetimeSeconds }: Write): void {
  const reservations = [...reserves.map((reservation) => reservation.key), ...releases]
  if (reservations.length === 0) return
  if (reservations.length > maxReservedKeys)
    throw new StoreError(`a write can reserve and release at most ${maxReservedKeys} keys`)
  if (lifetimeSeconds !== undefined && reserves.length > 0)
    throw new StoreError('a key with a TTL cannot reserve other keys')
  if (new Set([key, ...reservations]).size <= reservations.length)
    throw new StoreError('a write contains the same key twice')
  for (const claim of reservations) assertKey(claim)
}

function assertRevision(revision: Revision): void {
  if (!Number.isSafeInteger(revision) || revision < 0) throw new StoreError(`invalid revision: ${revision}`)
}

function assertLifetime(seconds: number, value: Write['value']): void {
  const fits = Number.isInteger(seconds) && seconds >= 1 && seconds <= maxLifetimeSeconds
  if (!fits) throw new StoreError(`invalid TTL in seconds: ${seconds}`)
  if (value === undefined) throw new StoreError('a deletion cannot have a TTL')
}
