/** Tests the catalogue: lookups, hidden types, and rebuilding derived data after changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../../src/api/kinds/core/config-map.ts'
import { secret } from '../../../src/api/kinds/core/secret.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import { Catalogue, whileUnchanged } from '../../../src/apiserver/registry/catalogue/catalogue.ts'
import type { ServedType } from '../../../src/apiserver/registry/catalogue/resource.ts'
import { serveKind } from '../../../src/apiserver/registry/catalogue/served.ts'

const vendor = vendorOf('orch')
const served = (kind: Kind) => serveKind(kind, { vendor }, []) as ServedType

test('adding, replacing and removing types increments the generation of the catalogue', () => {
  const catalogue = new Catalogue(vendor)
  const first = served(configMap)
  const second = served(configMap)
  const generations = [catalogue.generation]
  catalogue.add([first])
  generations.push(catalogue.generation)
  assert.equal(catalogue.find('', 'v1', 'configmaps'), first)
  catalogue.replace([first], [second, served(secret)])
  generations.push(catalogue.generation)
  assert.equal(catalogue.find('', 'v1', 'configmaps'), second)
  assert.equal(catalogue.all().length, 2)
  catalogue.remove([second])
  generations.push(catalogue.generation)
  assert.equal(catalogue.find('', 'v1', 'configmaps'), undefined)
  assert.equal(new Set(generations).size, 4)
})

test('a type cannot replace an existing type with the same name, even if that type is hidden', () => {
  const catalogue = new Catalogue(vendor, (kind) => kind !== secret)
  const first = served(configMap)
  catalogue.add([first, served(secret)])
  const { generation } = catalogue
  for (const kind of [{ ...configMap }, { ...secret }]) {
    assert.throws(() => catalogue.add([served(kind)]), /another type already uses the path/)
    assert.throws(() => catalogue.replace([], [served(kind)]), /another type already uses the path/)
  }
  assert.throws(
    () => catalogue.replace([first], [served(configMap), served(configMap)]),
    /another type already uses the path/,
  )
  assert.equal(catalogue.find('', 'v1', 'configmaps'), first)
  assert.equal(catalogue.generation, generation)
})

test('objects of a hidden type are still stored', () => {
  const catalogue = new Catalogue(vendor, (kind) => kind !== secret)
  catalogue.add([served(configMap), served(secret)])
  assert.equal(catalogue.find('', 'v1', 'secrets'), undefined)
  assert.deepEqual(
    catalogue.all().map(({ plural }) => plural),
    ['configmaps'],
  )
  assert.equal(catalogue.stored('core', 'secrets')?.plural, 'secrets')
})

test('data derived from the catalogue is computed once per generation', () => {
  const catalogue = new Catalogue(vendor)
  let createdCount = 0
  const count = whileUnchanged([catalogue], () => {
    createdCount++
    return catalogue.all().length
  })
  assert.deepEqual([count(), count(), createdCount], [0, 0, 1])
  catalogue.add([served(configMap)])
  assert.deepEqual([count(), count(), createdCount], [1, 1, 2])
})
