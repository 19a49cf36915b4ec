/**
 * Tests bodies of about a megabyte with nearly the maximum number of values, in the formats that take longest. Other
 * requests can run in between, whether the body is accepted or rejected. The tests measure the CPU time between two
 * event-loop turns of an in-process server. The limit is higher than the time that a busy machine needs, and lower than
 * the time that an idle machine would need without slicing.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { giveAccount } from '../../support/accounts.ts'
import { assertBrief } from '../../support/effort.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'
import { collectionOf, define, undefine } from '../custom/definitions.ts'

const boundMs = 150
/**
 * Maximum time in milliseconds for 45,000 members. Without slicing, a single pass takes longer than this on a busy
 * machine.
 */
const patchBoundMs = 60
/** Maximum time in milliseconds for a write of a custom object in any format. */
const customBoundMs = 45
const most = 95_000

let server: InProcess

before(async () => {
  server = await startInProcess()
  await giveAccount(server.client)
})
after(async () => await server.stop())

const list = <T>(count: number, item: (i: number) => T) => Array.from({ length: count }, (_, i) => item(i))
const map = (count: number, entry: (i: number) => [string, unknown]) => Object.fromEntries(list(count, entry))
const limits = (count: number) => ({
  spec: { containers: [{ name: 'c', image: 'i', resources: { limits: map(count, (i) => [`a.b/r${i}`, '1']) } }] },
})

interface Shape {
  readonly kind: 'Pod' | 'ConfigMap' | 'Secret'
  readonly body: { readonly metadata?: object; readonly [member: string]: unknown }
  /** The status and the message that the response must have. */
  readonly status: number
  readonly expected: RegExp
}

const tooMany = { status: 413, expected: /limit is 100000 values/ }

const shapes: { readonly [what: string]: Shape } = {
  limits: { kind: 'Pod', body: limits(most), ...tooMany },
  'stored limits': { kind: 'Pod', body: limits(20_000), status: 201, expected: /"a\.b\/r19999":"1"/ },
  containers: {
    kind: 'Pod',
    body: { spec: { containers: list(30_000, (i) => ({ name: `c${i}`, image: 'i' })) } },
    ...tooMany,
  },
  labels: { kind: 'ConfigMap', body: { metadata: { labels: map(most, (i) => [`k${i}`, 'v']) } }, ...tooMany },
  'bad labels': {
    kind: 'ConfigMap',
    body: { metadata: { labels: map(most, (i) => [`k${i}_`, '-']) } },
    status: 422,
    expected: /name part must consist/,
  },
  keys: { kind: 'ConfigMap', body: { data: map(most, (i) => [`k${i}`, 'v']) }, ...tooMany },
  'stored keys': {
    kind: 'ConfigMap',
    body: { data: map(45_000, (i) => [`k${i}`, 'v']) },
    status: 201,
    expected: /"k44999":"v"/,
  },
  'secret keys': { kind: 'Secret', body: { data: map(most, (i) => [`k${i}`, 'YQ==']) }, ...tooMany },
}

for (const [what, { kind, body, status, expected }] of Object.entries(shapes)) {
  test(`a body with very many values is processed in time slices: ${what}`, { timeout: 300_000 }, async (t) => {
    const all = `/api/v1/namespaces/default/${kind.toLowerCase()}s`
    const raw = JSON.stringify({ apiVersion: 'v1', kind, ...body, metadata: { ...body.metadata, name: 'large' } })
    const { stretch } = await assertBrief(boundMs, async () => {
      const answer = await server.client.send(all, { method: 'POST', raw })
      assert.equal(answer.status, status, answer.text.slice(0, 500))
      assert.match(answer.text, expected)
      if (status === 201) assert.equal((await server.client.delete(`${all}/large`)).status, 200)
    })
    t.diagnostic(`${status} after ${stretch.toFixed(0)} ms at a stretch`)
  })
}

const wide = `{${list(45_000, (i) => `"k${i}":"v"`).join(',')}}`
const patches: { readonly [type: string]: string } = {
  'application/merge-patch+json': `{"data":${wide}}`,
  'application/strategic-merge-patch+json': `{"data":${wide}}`,
  'application/json-patch+json': `[{"op":"add","path":"/data","value":${wide}}]`,
  'application/apply-patch+yaml': `{"apiVersion":"v1","kind":"ConfigMap","data":${wide}}`,
}

for (const [type, raw] of Object.entries(patches)) {
  test(`a patch with very many members is processed in time slices: ${type}`, { timeout: 300_000 }, async (t) => {
    await server.client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'patched' } })
    const path = '/api/v1/namespaces/default/configmaps/patched?dryRun=All&fieldManager=m'
    const { stretch } = await assertBrief(patchBoundMs, async () => {
      const answer = await server.client.send(path, { method: 'PATCH', raw, headers: { 'content-type': type } })
      assert.equal(answer.status, 200, answer.text.slice(0, 500))
      assert.match(answer.text, /"k44999":"v"/)
    })
    t.diagnostic(`${stretch.toFixed(0)} ms at a stretch`)
  })
}

const embedded = { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true }
const item = { type: 'object', required: ['name'], properties: { name: { type: 'string' }, v: { type: 'string' } } }
const customs: { readonly [what: string]: { readonly schema: JsonObject; readonly value: Json } } = {
  'embedded objects': {
    schema: { type: 'array', items: embedded },
    value: list(11_000, () => ({
      apiVersion: 'v1',
      kind: 'A',
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
    })),
  },
  'set elements': {
    schema: { type: 'array', 'x-orch-list-type': 'set', items: { type: 'string' } },
    value: list(20_000, (i) => `e${i}`),
  },
  'keyed list elements': {
    schema: { type: 'array', 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['name'], items: item },
    value: list(8000, (i) => ({ name: `e${i}`, v: 'x' })),
  },
}

for (const [what, { schema, value }] of Object.entries(customs)) {
  test(`a custom object with very many parts is processed in time slices: ${what}`, { timeout: 300_000 }, async (t) => {
    const { client } = server
    const name = await define(client, { schema: { type: 'object', properties: { l: schema } } })
    const body = { apiVersion: 'stable.example.com/v1', kind: 'Widget', metadata: { name: 'large' }, l: value }
    const raw = JSON.stringify(body)
    const large = `${collectionOf()}/large`
    const type = (form: string) => ({ method: 'PATCH', headers: { 'content-type': `application/${form}` } })
    const { stretch } = await assertBrief(customBoundMs, async () => {
      const answers = [
        await client.send(collectionOf(), { method: 'POST', raw }),
        await client.send(large, { ...type('merge-patch+json'), raw: JSON.stringify({ l: value }) }),
        await client.send(`${large}?fieldManager=m`, { ...type('apply-patch+yaml'), raw }),
        await client.delete(large),
      ]
      assert.deepEqual(
        answers.map(({ status }) => status),
        [201, 200, 200, 200],
        answers.map(({ text }) => text.slice(0, 200)).join(),
      )
    })
    t.diagnostic(`${stretch.toFixed(0)} ms at a stretch`)
    await undefine(client, name)
  })
}

const addresses: { readonly [what: string]: readonly [path: string, body: object] } = {
  'ranges excluded by a policy': [
    '/apis/networking.orch.io/v1/namespaces/default/networkpolicies?dryRun=All',
    {
      metadata: { name: 'a' },
      spec: {
        podSelector: {},
        ingress: [
          { from: [{ ipBlock: { cidr: '2001:db8::/32', except: list(50_000, (i) => `2001:db8:${i}::/64`) } }] },
        ],
      },
    },
  ],
  'endpoint addresses': [
    '/apis/discovery.orch.io/v1/namespaces/default/endpointslices?dryRun=All',
    {
      metadata: { name: 'a' },
      addressType: 'IPv6',
      endpoints: list(1_000, (i) => ({ addresses: list(60, (j) => `2001:db8::${i}:${j}`) })),
    },
  ],
}

for (const [what, [path, body]] of Object.entries(addresses))
  test(`tens of thousands of ${what} are processed in time slices`, { timeout: 300_000 }, async (t) => {
    const { result, stretch } = await assertBrief(boundMs, () => server.client.post(path, body as JsonObject))
    assert.ok([201, 422].includes(result.status), result.text.slice(0, 300))
    t.diagnostic(`${result.status}, ${stretch.toFixed(0)} ms at a stretch`)
  })
