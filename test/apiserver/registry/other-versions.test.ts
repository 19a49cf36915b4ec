/**
 * Tests the conversion of stored objects between Kubernetes versions, with a kind that changes in several of them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeStored, HeaderReader, storedJson, UnreadableValue } from '../../../src/api/codec/stored.ts'
import { asObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { defineKind, orderOf } from '../../../src/api/schema/kind.ts'
import { derivation } from '../../../src/api/schema/of-version.ts'
import { field, s } from '../../../src/api/schema/schema.ts'
import { spanOf } from '../../../src/api/schema/version-span.ts'
import type { EmulatedVersion } from '../../../src/api/versions/emulated-version.ts'
import { serveKind } from '../../../src/apiserver/registry/catalogue/served.ts'
import { headerVersion, otherVersionReader } from '../../../src/apiserver/registry/reads/other-versions.ts'

const vendor = vendorOf('kubernetes')
const inner = s.object(
  { late: field(1, s.string(), { since: '1.34', doc: 'Late.' }), old: field(2, s.string(), { doc: 'Old.' }) },
  { name: 'Inner', doc: 'Nested.' },
)
const widget = defineKind({
  names: { group: 'core', version: 'v1', kind: 'Widget', plural: 'widgets', scope: 'Cluster' },
  doc: 'A kind for this test.',
  fields: {
    size: field(2, s.int32(), { default: 1, doc: 'Size.' }),
    policy: field(3, s.string(), { since: '1.28', default: 'Always', doc: 'Policy.' }),
    gated: field(4, s.string(), { since: '1.25', gate: 'APIListChunking', default: 'on', doc: 'Gated.' }),
    legacy: field(5, s.string(), { until: '1.31', doc: 'Legacy.' }),
    nested: field(6, inner, { doc: 'Nested.' }),
    fresh: field(7, inner, { since: '1.31', doc: 'Fresh.' }),
  },
  views: { selectable: (object) => ({ policy: object.policy ?? '' }) },
})

function typeAt(version: EmulatedVersion, gates?: ReadonlySet<'APIListChunking'>) {
  return serveKind(derivation(version).kind(widget), { vendor, version, gates }, [])
}

const key = 'objects/core/widgets/a'

function write(version: EmulatedVersion, fields: object): Buffer {
  const metadata = { name: 'a', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' }
  const object = asObject({ apiVersion: 'v1', kind: 'Widget', metadata, ...fields })
  const header = { labels: undefined, fields: { policy: 'none' }, version: headerVersion(version) }
  return encodeStored(key, { object, order: orderOf(typeAt(version).kind), header })
}

function show(version: EmulatedVersion, value: Buffer, gates?: ReadonlySet<'APIListChunking'>) {
  const header = new HeaderReader().read(key, value)
  const shown = otherVersionReader(() => typeAt(version, gates), version).convert(key, value, header.version)
  return { ...read(shown), isSame: shown === value }
}

function read(value: Uint8Array) {
  const { apiVersion: _, kind, metadata, ...fields } = JSON.parse(storedJson(value, '7', Buffer.alloc).json.toString())
  return { fields, metadata, header: new HeaderReader().read(key, value) }
}

test('Kubernetes versions between two changes to a kind use the same format for the kind', () => {
  const span = (version: EmulatedVersion) => spanOf(typeAt(version).kind, { version, vendor })
  assert.deepEqual(span('1.26'), { first: 25, end: 28 })
  assert.deepEqual(span('1.29'), { first: 29, end: 31 }, 'a gate changes the default of its field')
  assert.deepEqual(span('1.34'), { first: 34, end: Number.POSITIVE_INFINITY })
})

test('an object is returned as stored if the requested version has the same format', () => {
  assert.ok(show('1.30', write('1.29', { size: 2 })).isSame)
  assert.ok(show('1.36', write('1.35', { size: 2 })).isSame)
})

test('defaults introduced after the object was stored are filled in', () => {
  const { fields, header, metadata } = show('1.30', write('1.23', { size: 2, nested: { old: 'x' } }))
  assert.deepEqual(fields, { size: 2, policy: 'Always', gated: 'on', nested: { old: 'x' } })
  assert.deepEqual(header.fields, { policy: 'Always' })
  assert.equal(header.version, '1.30')
  assert.equal(metadata.resourceVersion, '7')
})

test('a default whose feature gate is disabled is not filled in', () => {
  const { fields } = show('1.30', write('1.23', { size: 2 }), new Set())
  assert.deepEqual(fields, { size: 2, policy: 'Always' })
})

test('fields that do not exist in the requested Kubernetes version are hidden', () => {
  const newest = write('1.36', { size: 3, policy: 'Never', nested: { late: 'l', old: 'o' }, fresh: {} })
  assert.deepEqual(show('1.23', newest).fields, { size: 3, nested: { old: 'o' } })
  const oldest = write('1.23', { size: 3, legacy: 'x' })
  assert.deepEqual(show('1.36', oldest).fields, { size: 3, policy: 'Always', gated: 'on' })
})

test('converting an object twice yields the same result as converting it once', () => {
  const once = otherVersionReader(() => typeAt('1.30'), '1.30').convert(key, write('1.23', { size: 2 }), undefined)
  const { fields, header } = read(once)
  assert.deepEqual(show('1.30', Buffer.from(once)).fields, fields)
  assert.equal(header.version, '1.30')
})

test('an object that cannot be converted is reported as unreadable', () => {
  const value = write('1.23', { size: 'large' })
  assert.throws(
    () => show('1.36', value),
    (error) => {
      assert.ok(error instanceof UnreadableValue)
      assert.match(error.message, /written at Kubernetes 1\.23 and cannot be read at 1\.36: .*size/)
      return true
    },
  )
})
