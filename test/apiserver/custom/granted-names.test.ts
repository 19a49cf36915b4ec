/**
 * Tests that a name is granted only once, even if a server lags behind. Two servers share a store, and one of them has
 * not received the latest changes. When the lagging server reads the latest state, it waits until it has caught up.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { customResourceDefinition } from '../../../src/api/kinds/apiextensions/custom-resource-definition.ts'
import type { CustomResourceDefinition } from '../../../src/api/kinds/apiextensions/definition-fields.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { defaultGates } from '../../../src/api/versions/feature-gates.ts'
import {
  type DefinitionStatusParts,
  namesFor,
  writeStatus,
} from '../../../src/apiserver/custom/definitions/definition-status.ts'
import { DefinitionSummaries } from '../../../src/apiserver/custom/definitions/definition-summaries.ts'
import { grantsAll } from '../../../src/apiserver/custom/definitions/names.ts'
import { Catalogue } from '../../../src/apiserver/registry/catalogue/catalogue.ts'
import { type RegistryParts, serveKinds, waitForCaches } from '../../../src/apiserver/registry/catalogue/resource.ts'
import { ContinueTokens } from '../../../src/apiserver/registry/reads/continue-token.ts'
import { HistoryReaders } from '../../../src/apiserver/registry/reads/history-readers.ts'
import { stored } from '../../../src/apiserver/registry/reads/lookup.ts'
import { repairReservations } from '../../../src/apiserver/registry/reservations/repair-reservations.ts'
import { deleteObject } from '../../../src/apiserver/registry/verbs/delete.ts'
import { updateObject } from '../../../src/apiserver/registry/verbs/update.ts'
import { contextOf, createMissing } from '../../../src/apiserver/upkeep/own-objects.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { Caches } from '../../../src/storage/cache/caches.ts'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import { definitionOf } from './definitions.ts'
import { LaggingView } from './lagging-view.ts'

const vendor = vendorOf('orch')

interface Server extends DefinitionStatusParts {
  readonly caches: Caches
}

async function serve(store: MemoryStore): Promise<Server> {
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
  return { caches, catalogue, resource, known: new DefinitionSummaries(resource, catalogue) }
}

const store = new MemoryStore()
const view = new LaggingView(store)
const [near, far] = await Promise.all([serve(store), serve(view)])
const { signal } = new AbortController()

async function define(plural: string): Promise<string> {
  const { metadata, spec } = definitionOf({ plural, kind: 'Wanted' })
  await createMissing(near.resource, { namespace: '', name: metadata.name }, { spec: spec as unknown as JsonObject })
  return metadata.name
}

async function judge(server: Server, name: string): Promise<boolean> {
  const definition = server.known.get(name)!
  const granted = namesFor(server, definition)
  await writeStatus(server, definition, { granted, signal })
  return grantsAll(granted)
}

/** Deletes a definition and removes its finalizers, as the server does when the definition has no objects left. */
async function remove(name: string): Promise<void> {
  const finalizers = (previous: ApiObject) => ({ ...previous, metadata: { ...previous.metadata, finalizers: [] } })
  const just = { gracePeriodSeconds: undefined, propagation: undefined, preconditions: [] }
  await deleteObject(contextOf(near.resource, '', 'DeleteOptions'), name, just)
  const context = contextOf(near.resource, '', 'UpdateOptions')
  await updateObject(context, name, (previous) => ({ object: finalizers(previous), managed: true }))
  await waitForCaches(near.resource)
}

/** Returns the kind that the status of the definition grants. */
async function kindOf(name: string): Promise<string | undefined> {
  await waitForCaches(near.resource)
  return near.known.get(name)!.acceptedNames.kind
}

test('a name is granted to only one custom kind, even if a server has not yet received the competing definition', async () => {
  const late = await define('lates')
  await waitForCaches(far.resource)
  view.hold()
  const early = await define('earlies')
  assert.ok(await judge(near, early))
  assert.equal(far.known.get(early), undefined, 'it must not know')
  assert.ok(await judge(far, late), 'nothing that it knows speaks against it')
  assert.deepEqual([await kindOf(early), await kindOf(late)], ['Wanted', ''])
  // The server has received the other definition and therefore reports the conflict.
  assert.equal(await judge(far, late), false)

  const taken = updateObject(
    { ...contextOf(near.resource, '', 'UpdateOptions'), subresource: 'status' },
    late,
    (previous) => {
      const { status } = previous as unknown as CustomResourceDefinition
      const granted = { ...status, acceptedNames: { plural: 'lates', kind: 'Wanted' } }
      return { object: { ...previous, status: granted } as unknown as ApiObject, managed: false }
    },
  )
  await assert.rejects(taken, { code: 422, message: /another definition in the group uses this name/ })
})

test('missing name reservations of custom kinds are restored, and are released when the definitions are deleted', async () => {
  const keys = async () => (await store.list({ prefix: 'claims/' })).entries.map(({ key }) => key)
  const held = await keys()
  assert.ok(held.includes('claims/definition-kinds/stable.example.com/Wanted'), held.join())
  assert.ok(held.includes('claims/definition-resources/stable.example.com/earlies'), held.join())
  for (const { key, revision } of (await store.list({ prefix: 'claims/' })).entries)
    await store.commit({ key, expected: revision, value: undefined })
  await waitForCaches(near.resource)
  assert.deepEqual((await repairReservations(near.catalogue)).restored.sort(), held)

  for (const name of ['earlies.stable.example.com', 'lates.stable.example.com']) await remove(name)
  assert.deepEqual(await keys(), [])
})

test('a definition with invalid storedVersions in its status can be deleted', async () => {
  const name = await define('odds')
  const status = { ...contextOf(near.resource, '', 'UpdateOptions'), subresource: 'status' }
  await updateObject(status, name, (previous) => {
    const odd = { ...(previous as CustomResourceDefinition).status, storedVersions: ['v9'] }
    return { object: { ...previous, status: odd } as ApiObject, managed: false }
  })
  await remove(name)
  assert.equal(near.known.get(name), undefined)
})
