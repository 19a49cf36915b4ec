/**
 * The test suite for the store contract, which is the same for every backend. Each part in `suite/` tests guarantees of
 * src/storage/store/store.ts against a real store, and can run alone. Seeded random operations are compared with the
 * model (MemoryStore) step by step. Revisions are compared by order and identity, never by number, because a backend
 * may leave gaps. `storeSuite` is the complete suite, with more seeds in the long variant. `clusterSuite` contains only
 * the tests for which the number of members could matter, but it is the complete suite in the long variant.
 */
import { describe } from 'node:test'
import { long } from '../../support/long.ts'
import { compareWithModel } from './model.ts'
import { claimSuite } from './suite/claims.ts'
import { commitSuite } from './suite/commits.ts'
import { lifetimeSuite } from './suite/lifetimes.ts'
import { listSuite } from './suite/lists.ts'
import { type Open, provesOn } from './suite/prove.ts'
import { watchSuite } from './suite/watches.ts'

export type { Opened } from './suite/prove.ts'
export { restartSuite } from './suite/restarts.ts'

export function storeSuite(name: string, open: Open): void {
  for (const part of [commitSuite, claimSuite, listSuite, watchSuite, lifetimeSuite]) part(name, open)
  modelSuite(name, open, long ? [1, 2, 3] : [1])
}

/** Registers the tests for clusters, for a backend that passes `storeSuite` with a single member. */
export function clusterSuite(name: string, open: Open): void {
  if (long) storeSuite(name, open)
  else {
    for (const part of [commitSuite, watchSuite, lifetimeSuite]) part(name, open)
    modelSuite(name, open, [1])
  }
}

function modelSuite(name: string, open: Open, seeds: readonly number[]): void {
  const prove = provesOn(open)
  describe(`${name}: comparison with the model`, () => {
    for (const seed of seeds) {
      prove(`random operations have the same results as in the model (seed ${seed})`, (store) =>
        compareWithModel(store, seed, 400),
      )
    }
  })
}
