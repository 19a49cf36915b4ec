/**
 * Tests two servers on one store, one of which has not received a changed definition. Writes under the old definition
 * must not be stored.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { customResourceDefinition } from '../../../src/api/kinds/apiextensions/custom-resource-definition.ts'
import { type ApiObject, asObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { defaultGates } from '../../../src/api/versions/feature-gates.ts'
import { ConversionMetrics } from '../../../src/apiserver/custom/conversion/conversion-metrics.ts'
import { CustomResources } from '../../../src/apiserver/custom/definitions/custom-resources.ts'
import { HttpsCaller } from '../../../src/apiserver/outbound/https-caller.ts'
import { Destinations } from '../../../src/apiserver/outbound/webhook-address.ts'
import { Catalogue } from '../../../src/apiserver/registry/catalogue/catalogue.ts'
import {
  type RegistryParts,
  type Resource,
  serveKinds,
  waitForCaches,
} from '../../../src/apiserver/registry/catalogue/resource.ts'
import { ContinueTokens } from '../../../src/apiserver/registry/reads/continue-token.ts'
import { HistoryReaders } from '../../../src/apiserver/registry/reads/history-readers.ts'
import { lookupIn, stored } from '../../../src/apiserver/registry/reads/lookup.ts'
import { create } from '../../../src/apiserver/registry/verbs/create.ts'
import { deleteObject } from '../../../src/apiserver/registry/verbs/delete.ts'
import { updateObject } from '../../../src/apiserver/registry/verbs/update.ts'
import { TypeChanged } from '../../../src/apiserver/registry/writes/type-changed.ts'
import { contextOf, createMissing } from '../../../src/apiserver/upkeep/own-objects.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { MissingRights } from '../../../src/client/reconcile/missing-rights.ts'
import { WorkQueueMetrics } from '../../../src/client/reconcile/work-queue-metrics.ts'
import { Caches } from '../../../src/storage/cache/caches.ts'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import { openTestLog } from '../../support/test-log.ts'
import { definitionOf } from './definitions.ts'
import { LaggingView } from './lagging-view.ts'

const vendor = vendorOf('orch')

async function serve(store: MemoryStore) {
  const caches = new Caches(store, { onError: assert.fail, onUnreadable: ({ key }) => assert.fail(key) })
  const registry = {
    vendor,
    store,
    caches,
    clock: systemClock,
    gates: defaultGates(),
    lifetimeSeconds: 60,
    pools: [],
    continueTokens: new ContinueTokens(Buffer.alloc(32)),
    historyReaders: new HistoryReaders(),
  } as unknown as RegistryParts
  const catalogue = new Catalogue(vendor)
  catalogue.add(serveKinds([customResourceDefinition], registry, []))
  await caches.start()
  after(() => caches.stop())
  const resource = stored(catalogue, { group: 'apiextensions', plural: 'customresourcedefinitions' })
  const log = openTestLog()
  const records = { log, metrics: new WorkQueueMetrics(), missingRights: new MissingRights(log) }
  const caller = new HttpsCaller('test')
  after(() => caller.close())
  const nobody = { vendor, lookup: lookupIn(catalogue, registry), ownAddress: () => undefined }
  const destinations = new Destinations(nobody, { byName: new Map() })
  const conversion = { vendor, caller, destinations, clock: systemClock, metrics: new ConversionMetrics(), log }
  const custom = new CustomResources({ resource, catalogue, registry, records, conversion })
  await custom.start()
  after(() => custom.stop())
  return { catalogue, resource }
}

type Server = Awaited<ReturnType<typeof serve>>

/** Returns the type once the server serves it. */
async function typeOn({ catalogue }: Server, plural: string): Promise<Resource> {
  for (let turn = 0; turn < 100_000; turn++) {
    const type = catalogue.find('stable.example.com', 'v1', plural)
    if (type !== undefined && type.endpoint === undefined) return type
    await setImmediate()
  }
  throw new Error(`${plural} is not served`)
}

const field = { type: 'string' }
const schemaOf = (properties: JsonObject) => ({
  type: 'object',
  properties: { spec: { type: 'object', properties } },
})

const writes: { readonly [writeMethod: string]: (type: Resource) => Promise<unknown> } = {
  'an update': (type) =>
    updateObject(contextOf(type, 'default', 'UpdateOptions'), 'a', (previous) => ({
      object: { ...previous, spec: { first: 'changed' } } as ApiObject,
      managed: false,
    })),
  'an update that changes nothing': (type) =>
    updateObject(contextOf(type, 'default', 'UpdateOptions'), 'a', (previous) => ({ object: previous, managed: true })),
  'a create': (type) => {
    const { apiVersion, kind } = type
    const object = asObject({ apiVersion, kind: kind.kind, metadata: { name: 'new' }, spec: { first: 'x' } })
    return create(contextOf(type, 'default', 'CreateOptions'), { object, managed: false })
  },
  'a deletion blocked by a finalizer': (type) =>
    deleteObject(contextOf(type, 'default', 'DeleteOptions'), 'a', {
      gracePeriodSeconds: undefined,
      propagation: undefined,
      preconditions: [],
    }),
}

for (const [i, [writeMethod, write]] of Object.entries(writes).entries())
  test(`${writeMethod} through a server with an outdated definition is not stored`, async () => {
    const store = new MemoryStore()
    const view = new LaggingView(store)
    const [near, far] = await Promise.all([serve(store), serve(view)])
    const plural = `laggings${i}`
    const { metadata, spec } = definitionOf({ plural, kind: `Lagging${i}`, schema: schemaOf({ first: field }) })
    await createMissing(near.resource, { namespace: '', name: metadata.name }, { spec: spec as unknown as JsonObject })
    const type = await typeOn(near, plural)
    const object = { metadata: { finalizers: ['example.com/held'] }, spec: { first: 'x' } }
    await createMissing(type, { namespace: 'default', name: 'a' }, object)
    await waitForCaches(far.resource)
    const old = await typeOn(far, plural)
    await waitForCaches(old)
    view.hold()
    await updateObject(contextOf(near.resource, '', 'UpdateOptions'), metadata.name, (previous) => {
      const { versions } = definitionOf({ plural, schema: schemaOf({ first: field, second: field }) }).spec
      const changed = { ...(previous as { spec?: object }).spec, versions }
      return { object: { ...previous, spec: changed } as ApiObject, managed: false }
    })
    await assert.rejects(write(old), TypeChanged)
    // The server accepts the write with the current type.
    const current = await typeOn(far, plural)
    assert.notEqual(current, old)
    await write(current)
  })
