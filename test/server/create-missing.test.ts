/**
 * Tests that two servers can create the same required objects concurrently. Neither server fails, and each object
 * exists once.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { service } from '../../src/api/kinds/core/service.ts'
import { vendorOf } from '../../src/api/model/vendor.ts'
import { Catalogue } from '../../src/apiserver/registry/catalogue/catalogue.ts'
import { type RegistryParts, serveKinds } from '../../src/apiserver/registry/catalogue/resource.ts'
import { ContinueTokens } from '../../src/apiserver/registry/reads/continue-token.ts'
import { HistoryReaders } from '../../src/apiserver/registry/reads/history-readers.ts'
import { stored } from '../../src/apiserver/registry/reads/lookup.ts'
import { createMissing } from '../../src/apiserver/upkeep/own-objects.ts'
import { parseFlags } from '../../src/base/flags/flags.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { serverFlags } from '../../src/server/flags/options.ts'
import { servicePools } from '../../src/server/flags/service-pools.ts'
import { Caches } from '../../src/storage/cache/caches.ts'
import { MemoryStore } from '../../src/storage/store/memory.ts'

const vendor = vendorOf('orch')
const store = new MemoryStore()
const pools = servicePools(parseFlags(serverFlags, []), new Set())

/** Opens one server on the shared store, with its own caches. */
async function openServer() {
  const caches = new Caches(store, { onError: assert.fail, onUnreadable: ({ key }) => assert.fail(key) })
  const registry = {
    vendor,
    store,
    caches,
    clock: systemClock,
    gates: undefined,
    lifetimeSeconds: 60,
    pools,
    continueTokens: new ContinueTokens(Buffer.alloc(32)),
    historyReaders: new HistoryReaders(),
  } as unknown as RegistryParts
  const catalogue = new Catalogue(vendor)
  catalogue.add(serveKinds([service], registry, []))
  await caches.start()
  after(() => caches.stop())
  return stored(catalogue, { group: 'core', plural: 'services' })
}

test('two servers can concurrently create the same Service with a fixed address without a conflict', async () => {
  const one = await openServer()
  const two = await openServer()
  for (let distance = 0; distance < 60; distance++) {
    const name = { namespace: 'default', name: `s-${distance}` }
    const spec = { clusterIP: `10.0.0.${distance + 10}`, ports: [{ port: 1 }] }
    const first = createMissing(one, name, { spec })
    for (let i = 0; i < distance; i++) await null
    await Promise.all([first, createMissing(two, name, { spec })])
  }
  assert.equal((await store.list({ prefix: 'objects/core/services/' })).entries.length, 60)
})
