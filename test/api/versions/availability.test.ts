/**
 * Tests in which versions and with which feature gates parts of the API exist, and the kinds that are derived for a
 * version.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { column, nameColumn } from '../../../src/api/schema/columns.ts'
import { decode } from '../../../src/api/schema/decode.ts'
import { dropGatedFields } from '../../../src/api/schema/gated-fields.ts'
import { defineKind, defineVersion } from '../../../src/api/schema/kind.ts'
import { derivation } from '../../../src/api/schema/of-version.ts'
import { field, type ObjectSchema, s, withVersions } from '../../../src/api/schema/schema.ts'
import { type Availability, availabilityOf, isAvailable } from '../../../src/api/versions/availability.ts'
import type { EmulatedVersion } from '../../../src/api/versions/emulated-version.ts'
import { defaultGatesOf, type Gates } from '../../../src/api/versions/feature-gates.ts'

const noGates: Gates = new Set()

test('a field or kind exists from version "since" to the version before "until"', () => {
  const part: Availability = { since: '1.25', until: '1.28' }
  const states = (['1.24', '1.25', '1.27', '1.28'] as const).map((version) => availabilityOf(part, { version }))
  assert.deepEqual(states, ['later', 'available', 'available', 'removed'])
  assert.equal(availabilityOf({}, { version: '1.36' }), 'available')
})

test('a field or kind is available only if its feature gates are enabled', () => {
  const gates: Gates = new Set(['IdentifyPodOS'])
  const isOn = (gate: Availability['gate']) =>
    isAvailable(gate === undefined ? {} : { gate }, { version: '1.24', gates })
  assert.ok(isOn(undefined))
  assert.ok(isOn('IdentifyPodOS'))
  assert.ok(!isOn('HPAContainerMetrics'))
  assert.ok(!isOn(['IdentifyPodOS', 'HPAContainerMetrics']))
  assert.ok(isOn({ anyOf: ['IdentifyPodOS', 'HPAContainerMetrics'] }))
})

const part = s.object({
  plain: field(1, s.string()),
  later: field(2, s.string(), { since: '1.25' }),
  mode: field(3, withVersions(s.oneOf('Old', 'New'), { New: { since: '1.25' } })),
})
const unchanging = s.object({ text: field(1, s.string()) })
const fields = {
  parts: field(2, s.list(part)),
  same: field(3, unchanging),
  gone: field(4, s.string(), { until: '1.25' }),
  gated: field(5, s.list(s.object({ inner: field(1, s.string(), { gate: 'IdentifyPodOS' }) }))),
}
const note = defineKind({
  names: { group: 'core', version: 'v1', kind: 'Note', plural: 'notes', scope: 'Cluster' },
  doc: 'A note.',
  fields,
  views: { columns: [nameColumn, { ...column('New', 'A new column.', () => ''), since: '1.25' }] },
})
const noteV2 = defineVersion(note, {
  version: 'v2',
  fields,
  until: '1.30',
  deprecated: { since: '1.25' },
})

function kindAt(version: EmulatedVersion) {
  return derivation(version).kind(note)
}

function fieldNames({ fields }: ObjectSchema): string[] {
  return Object.keys(fields)
}

test('a kind that is derived for an emulated version has only the fields, values and columns of that version', () => {
  const [older, newer] = [kindAt('1.24'), kindAt('1.25')]
  assert.deepEqual(fieldNames(older.schema).slice(3), ['parts', 'same', 'gone', 'gated'])
  assert.deepEqual(fieldNames(newer.schema).slice(3), ['parts', 'same', 'gated'])
  const partOf = (kind: typeof note) => (kind.schema.fields.parts!.schema as unknown as { items: ObjectSchema }).items
  assert.deepEqual(fieldNames(partOf(older)), ['plain', 'mode'])
  assert.deepEqual(partOf(older).fields.mode!.schema, { ...part.fields.mode!.schema, values: ['Old'] })
  assert.equal(partOf(newer), part)
  assert.deepEqual(
    [older, newer].map(({ views }) => views.columns?.length),
    [1, 2],
  )
})

test('deriving a kind for a version returns the same object if the kind does not differ', () => {
  assert.equal(kindAt('1.24').schema.fields.same, note.schema.fields.same)
  assert.equal(derivation('1.24').schema(unchanging), unchanging)
  assert.equal(kindAt('1.24'), kindAt('1.24'))
  assert.equal(derivation('1.24').kind(kindAt('1.24')), kindAt('1.24'))
})

test('a derived API version refers to the derived stored kind, and is deprecated only from the Kubernetes version that deprecates it', () => {
  const [older, newer] = (['1.24', '1.25'] as const).map((version) => derivation(version).kind(noteV2))
  assert.equal(older!.conversion!.stored, kindAt('1.24'))
  assert.equal(older!.deprecated, undefined)
  assert.deepEqual(newer!.deprecated, { since: '1.25' })
})

test('an unknown field that exists in other Kubernetes versions is reported with those versions', () => {
  const { unknown, otherVersions } = decode(kindAt('1.24').schema, { parts: [{ later: 'x', never: 1 }] })
  assert.deepEqual(unknown, ['parts[0].later', 'parts[0].never'])
  assert.deepEqual([...otherVersions!.keys()], ['parts[0].later'])
  assert.equal(otherVersions!.get('parts[0].later')!.since, '1.25')
})

function dropped(object: object, previous: object | undefined, gates: Gates) {
  const paths: string[] = []
  const copy = structuredClone(object)
  dropGatedFields(
    note.schema,
    { object: copy as never, previous: previous as never },
    {
      vendor: vendorOf('orch'),
      subresource: '',
      gates,
      user: { name: 'alice', groups: [] } as never,
      now: 0,
      onDropped: ({ path }) => paths.push(path),
    },
  )
  return { copy, paths }
}

test('a field whose feature gate is disabled is dropped unless the stored object has the field', () => {
  const object = { gated: [{ inner: 'a' }, {}] }
  assert.deepEqual(dropped(object, undefined, noGates), { copy: { gated: [{}, {}] }, paths: ['gated[0].inner'] })
  assert.deepEqual(dropped(object, { gated: [{}] }, noGates).paths, ['gated[0].inner'])
  assert.deepEqual(dropped(object, { gated: [{}, { inner: 'b' }] }, noGates), { copy: object, paths: [] })
  assert.deepEqual(dropped(object, undefined, defaultGatesOf('1.24')), { copy: object, paths: [] })
})
