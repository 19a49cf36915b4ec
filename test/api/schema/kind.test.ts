/** Tests the definition of kinds and versions. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { defineKind, defineVersion, type ObjectOf } from '../../../src/api/schema/kind.ts'
import { field, s } from '../../../src/api/schema/schema.ts'

const note = { note: field(2, s.string()) }
const stored = defineKind({
  names: { group: 'core', version: 'v1', kind: 'Note', plural: 'notes', shortNames: ['no'], scope: 'Cluster' },
  doc: 'A note.',
  fields: note,
  rules: { readOnly: ['note'], fillDefaults: () => {}, validate: () => [] },
  lifecycle: { deleteAnswers: 'object', holdsDeletion: () => true, gracePeriod: () => 1 },
  views: { selectable: () => ({}), columns: [], redactErrorValues: true },
  deprecated: { since: '1.2', removal: '1.3' },
})
type Note = ObjectOf<typeof note>
const unchanged = { fromStored: (object: Note) => object, toStored: (object: Note) => object }

test('a kind defined without options has no rules, and its names must be DNS subdomains', () => {
  const plain = defineKind({
    names: { group: 'core', version: 'v1', kind: 'Plain', plural: 'plains', scope: 'Namespaced' },
    doc: 'Nothing.',
    fields: {},
  })
  assert.deepEqual([plain.rules, plain.lifecycle, plain.views, plain.deprecated], [{}, {}, {}, undefined])
  assert.deepEqual(plain.nameFormat('a.b'), [])
  assert.notDeepEqual(plain.nameFormat('A'), [])
})

test('an API version inherits everything from the stored version except its schema, rules and deprecation', () => {
  const fillDefaults = () => {}
  const version = defineVersion(stored, { version: 'v2', fields: note, fillDefaults, ...unchanged })
  const own = new Set(['version', 'schema', 'rules', 'conversion', 'deprecated'])
  for (const name of Object.keys(stored) as (keyof typeof stored)[])
    if (!own.has(name)) assert.deepEqual(version[name], stored[name], name)
  assert.equal(version.version, 'v2')
  assert.deepEqual(version.rules, { readOnly: ['note'], fillDefaults })
  assert.equal(version.deprecated, undefined)
  assert.equal(version.conversion?.stored, stored)
})

test('an API version may have a different group and different field selectors than the stored version', () => {
  const version = defineVersion(stored, {
    group: 'other',
    version: 'v1',
    fields: note,
    selectable: { text: 'note' },
    ...unchanged,
  })
  assert.deepEqual([version.group, version.selectorNames], ['other', { text: 'note' }])
})
