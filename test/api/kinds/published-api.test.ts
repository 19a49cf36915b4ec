/** Tests the published API: fields and types may be removed from an API version only as the deprecation rules allow. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { oldestVersion } from '../../../src/api/versions/emulated-version.ts'
import { readApi, vanished, writeApi } from '../../support/published-api.ts'

const reviewed = readFileSync(join(import.meta.dirname, '../../data/published-api.txt'), 'utf8')
const level = `v${oldestVersion}`

test('no published API field, resource or version has been removed', () => {
  assert.deepEqual(vanished(readApi(reviewed), readApi(writeApi()), level), [])
})

test('the published API is the same as the API recorded for review', () => {
  assert.ok(
    reviewed === writeApi(),
    'run bin/node test/support/published-api.ts > test/data/published-api.txt, and look at what changes',
  )
})

const small = `a/v1 things: Thing Namespaced [scale,status] = T1
a/v1alpha1 news: New Namespaced [] = T1
a/v1beta1 olds: Old Namespaced until=v1.22 [] = T1
a/v1beta1 youngs: Young Namespaced until=v1.25 [] = T1

T1 Thing: kind string; mode string(A|B); list [T2]; map {int32}
T2 Part: name string; again T1
`

const changes: { readonly [what: string]: [change: (text: string) => string, lost: string[]] } = {
  'no change': [(text) => text, []],
  'added values and fields': [
    (text) => text.replace('A|B', 'A|B|C').replace('name string', 'name string; more any'),
    [],
  ],
  'renumbered types': [(text) => text.replaceAll('T2', 'T7'), []],
  'a field that accepts any value instead of an enum': [(text) => text.replace('string(A|B)', 'string'), []],
  'a removed field': [
    (text) => text.replace('name string; ', ''),
    ['things', 'olds', 'youngs'].map((plural) => `a/v1${plural === 'things' ? '' : 'beta1'} ${plural}.list[].name`),
  ],
  'a removed enum value': [
    (text) => text.replace('A|B', 'A'),
    ['v1 things', 'v1beta1 olds', 'v1beta1 youngs'].map((place) => `a/${place}.mode: the value B`),
  ],
  'a changed type': [
    (text) => text.replace('{int32}', '{int64}'),
    ['v1 things', 'v1beta1 olds', 'v1beta1 youngs'].map((place) => `a/${place}.map[]: was int32, is int64`),
  ],
  'a changed scope': [
    (text) => text.replace('Thing Namespaced', 'Thing Cluster'),
    ['a/v1 things: was Thing Namespaced, is Thing Cluster'],
  ],
  'a removed subresource': [(text) => text.replace('scale,', ''), ['a/v1 things/scale']],
  'a removed alpha version': [(text) => text.replace(/a\/v1alpha1.*\n/, ''), []],
  'a beta version removed after its support period': [(text) => text.replace(/.*olds.*\n/, ''), []],
  'a beta version removed during its support period': [
    (text) => text.replace(/.*youngs.*\n/, ''),
    ['a/v1beta1 youngs'],
  ],
  'a removed stable version': [(text) => text.replace(/.*things.*\n/, ''), ['a/v1 things']],
}

for (const [what, [change, lost]] of Object.entries(changes))
  test(`the check of the published API reports only forbidden changes: ${what}`, () => {
    assert.deepEqual(vanished(readApi(small), readApi(change(small)), level), lost)
  })
