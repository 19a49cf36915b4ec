/** Tests the admission plugins of all versions, compared with recorded facts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emulatedVersions } from '../../src/api/versions/emulated-version.ts'
import { controlNamesOf } from '../../src/server/flags/admission-controls.ts'
import { pluginRows } from '../support/levels.ts'

test('each emulated Kubernetes version has the admission plugins of its release, with the same plugins enabled by default', () => {
  const rows = pluginRows()
  for (const version of emulatedVersions) {
    const expected = rows
      .filter(({ states }) => states[version] !== '')
      .map(({ columns, states }) => `${columns[0]} ${states[version]}`)
    const actual = controlNamesOf(version).map(({ name, byDefault }) => `${name} ${byDefault ? 'on' : 'off'}`)
    assert.deepEqual(actual.sort(), expected.sort(), version)
  }
})
