/** Runs a test of the store contract on a new store, which is removed afterwards. */
import { test } from 'node:test'
import type { Store } from '../../../../src/storage/store/store.ts'

export interface Opened {
  readonly store: Store
  /** Closes the store and opens another store on the same data. Undefined if the data does not outlive the store. */
  reopen?(): Promise<Store>
  /** Closes and removes everything that the test has not closed. */
  cleanup(): Promise<void>
}

export type Open = () => Promise<Opened>
export type OpenDurable = () => Promise<Opened & { reopen(): Promise<Store> }>

type Proof = (store: Store) => Promise<void>
type RestartProof = (store: Store, reopen: () => Promise<Store>) => Promise<void>

/** Timeout of a test in milliseconds. Only a test that hangs takes this long. */
export const timeout = 30_000

/** Returns a function that registers a test for one guarantee of the store contract. */
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
