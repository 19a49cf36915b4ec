/**
 * Tests requests that scan very many objects. For every selector and format, other requests must not wait long, and the
 * result must be correct. The tests measure the CPU time between two event-loop turns of an in-process server. The
 * limit is far above the actual time, and far below the time that evaluating all terms of a selector for each object
 * would take.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { collection, fill, nameOf } from '../../../bench/objects.ts'
import { configMap } from '../../../src/api/kinds/core/config-map.ts'
import { namespace } from '../../../src/api/kinds/core/namespace.ts'
import { assertBrief } from '../../support/effort.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'

const count = 12_000
const boundMs = 150
const all = '/api/v1/configmaps'

let server: InProcess

before(async () => {
  server = await startInProcess([namespace, configMap], [], (data) => fill(data, count))
})
after(async () => await server.stop())

const many = (terms: number, term: (i: number) => string) => Array.from({ length: terms }, (_, i) => term(i)).join()
const values = many(6000, (i) => `v${i}`)

const selections: readonly (readonly [what: string, query: { [name: string]: string }, found: number])[] = [
  ['a thousand unequal fields', { fieldSelector: many(1000, (i) => `metadata.name!=n${i}`) }, count],
  ['a thousand absent labels', { labelSelector: many(1000, (i) => `!k${i}`) }, count],
  [
    'a label with thousands of excluded values and one that no object has',
    { labelSelector: `ten notin (${values}),zz` },
    0,
  ],
  ['a label with thousands of allowed values', { labelSelector: `ten in (${values},t17)` }, 10],
  ['a label that all objects have', { labelSelector: 'app=bench' }, count],
  ['a label that ten objects have', { labelSelector: 'ten=t17' }, 10],
]

for (const [what, selector, found] of selections) {
  test(`listing with ${what} as the filter does not block the event loop`, { timeout: 300_000 }, async (t) => {
    const ask = async (more: { [name: string]: string }) =>
      (await server.client.get(`${all}?${new URLSearchParams({ ...selector, ...more })}`)).body
    const { result, stretch } = await assertBrief(boundMs, () => ask({ limit: '3' }))
    t.diagnostic(`${stretch.toFixed(0)} ms at a stretch`)
    assert.equal(result.items.length, Math.min(3, found))
    assert.equal((await ask({})).items.length, found)
  })
}

test('a watch with a selector that matches nothing does not block the event loop', { timeout: 300_000 }, async () => {
  const query = new URLSearchParams({
    watch: '1',
    timeoutSeconds: '1',
    labelSelector: `${many(999, (i) => `!k${i}`)},zz`,
  })
  const { result } = await assertBrief(boundMs, () => server.client.get(`${all}?${query}`))
  assert.equal(result.text, '')
})

const views = ['Table', 'PartialObjectMetadataList'] as const

for (const as of views) {
  test(`a list of all objects as ${as} does not block the event loop`, { timeout: 300_000 }, async (t) => {
    const accept = `application/json;as=${as};g=meta.orch.io;v=v1`
    const { result, stretch } = await assertBrief(boundMs, () => server.client.get(all, { accept }))
    t.diagnostic(`${stretch.toFixed(0)} ms at a stretch`)
    const { kind, rows, items, metadata, columnDefinitions } = result.body
    const names = (rows ?? items).map((item: { object?: object }) => nameIn(item.object ?? item))
    assert.equal(kind, as)
    assert.ok(Number(metadata.resourceVersion) > 0)
    assert.deepEqual(
      names,
      Array.from({ length: count }, (_, i) => nameOf(i)),
    )
    if (as === 'Table') assert.ok(columnDefinitions.length >= 2 && rows[0].cells.length === columnDefinitions.length)
  })
}

const nameIn = (object: object) => (object as { metadata: { name: string } }).metadata.name

test('a list has the same content in all formats', { timeout: 300_000 }, async () => {
  for (const query of ['?limit=120', '?limit=2', '?labelSelector=none']) {
    const get = (accept: string, more = '') => server.client.get(`${collection}${query}${more}`, { accept })
    const { body } = await get('application/json')
    const pretty = (await get('application/json', '&pretty=true')).text
    assert.deepEqual(JSON.parse(pretty), body)
    assert.deepEqual(pretty.split('\n').map(trimmed).join(''), JSON.stringify(body).replaceAll('\n', ''))
    const yaml = (await get('application/yaml')).text
    assert.deepEqual(parse(yaml, { maxAliasCount: 0 }), body)
    for (const as of views) {
      const accept = (type: string) => `${type};as=${as};g=meta.orch.io;v=v1`
      const plain = (await get(accept('application/json'))).body
      assert.deepEqual(JSON.parse((await get(accept('application/json'), '&pretty=true')).text), plain)
      assert.deepEqual(parse((await get(accept('application/yaml'))).text), plain)
      assert.equal((plain.rows ?? plain.items).length, body.items.length)
    }
    const { status } = await get('application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1')
    assert.equal(status, 406)
  }
})

/** Removes the whitespace from a line of indented JSON. */
function trimmed(line: string): string {
  return line.trim().replace(/^("(?:[^"\\]|\\.)*"): /, '$1:')
}
