/** What a key may be. Keys order by their UTF-8 bytes on every backend: see base/utf8-order. */
import { type Key, maxKeyBytes, StoreError } from './store.ts'

/** Keys come from checked names; one that does not fit is a fault of ours, caught before it can reach a backend. */
export function assertKey(key: Key): void {
  if (key.length === 0 || key.includes('\0') || Buffer.byteLength(key) > maxKeyBytes) {
    throw new StoreError(`not a key: ${JSON.stringify(key.slice(0, 100))}`)
  }
}
