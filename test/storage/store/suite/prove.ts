/** How a promise of the store contract is proved: on a store of its own, which is gone afterwards. */
import { test } from 'node:test'
import type { Store } from '../../../../src/storage/store/store.ts'

export interface Opened {
  readonly store: Store
  /** Closes the store and opens another on the same data, where data outlives the store. */
  reopen?(): Promise<Store>
  /** Closes and removes everything, whatever the test has closed already. */
  cleanup(): Promise<void>
}

export type Open = () => Promise<Opened>
export type OpenDurable = () => Promise<Opened & { reopen(): Promise<Store> }>

type Proof = (store: Store) => Promise<void>
type RestartProof = (store: Store, reopen: () => Promise<Store>) => Promise<void>

/** No proof takes seconds; one that waits for what never comes fails instead. */
export const timeout = 30_000

/** Returns what makes a test of a promise and its proof. */
export function provesOn(open: Open): (promise: string, proof: Proof) => void {
  return (promise, proof) =>
    void test(promise, { timeout }, async () => {
      const opened = await open()
      try {
        await proof(opened.store)
      } finally {
        await opened.cleanup()
      }
    })
}

export function provesAcrossRestarts(open: OpenDurable): (promise: string, proof: RestartProof) => void {
  return (promise, proof) =>
    void test(promise, { timeout }, async () => {
      const opened = await open()
      try {
        await proof(opened.store, () => opened.reopen())
      } finally {
        await opened.cleanup()
      }
    })
}
