/**
 * Tests custom objects whose versions are converted by a webhook. The objects are read, written, listed, watched and
 * applied in each version.
 */
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { answerWith, Converter, convert, honest, type Loose, widgetVersions } from '../../support/converter.ts'
import { serve } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { define, definitions, undefine } from './definitions.ts'

const group = 'stable.example.com'
const collection = (version: string, namespace = 'default') =>
  `/apis/${group}/${version}/namespaces/${namespace}/widgets`

const client = (await serve({ after })).client()
const converter = await Converter.start({ after })
const name = await define(client, { versions: widgetVersions('v1'), conversion: converter.conversion() })

afterEach(async () => {
  converter.answer = honest
  for (const { metadata } of (await client.get(collection('v1'))).body.items)
    await client.delete(`${collection('v1')}/${metadata.name}`)
  converter.calls()
})

function widget(version: string, named: string, spec: object, metadata: object = {}) {
  return { apiVersion: `${group}/${version}`, kind: 'Widget', metadata: { name: named, ...metadata }, spec }
}

async function made(version: string, named: string, spec: object, metadata: object = {}): Promise<Loose> {
  const answer = await client.post(collection(version), widget(version, named, spec, metadata))
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

async function merged(path: string, body: object, type = 'application/merge-patch+json') {
  return await client.send(path, { method: 'PATCH', headers: { 'content-type': type }, raw: JSON.stringify(body) })
}

test('an object is converted only once and returned in the other version', async () => {
  const stored = await made('v1', 'a', { size: 3, color: 'red' })
  assert.equal(converter.calls(), 0, 'the stored version needs no webhook')
  const [one, two] = await Promise.all([client.get(`${collection('v2')}/a`), client.get(`${collection('v2')}/a`)])
  assert.deepEqual(one.body, {
    ...stored,
    apiVersion: `${group}/v2`,
    spec: { color: 'red', dimensions: { size: '3' } },
  })
  assert.equal(two.text, one.text)
  assert.deepEqual((await client.get(`${collection('v2')}/a`)).body, one.body)
  const [review] = converter.reviews
  assert.equal(converter.calls(), 1)
  assert.equal(review?.apiVersion, 'apiextensions.orch.io/v1')
  assert.equal(review?.kind, 'ConversionReview')
  assert.equal(review?.request.desiredAPIVersion, `${group}/v2`)
  assert.deepEqual(review?.request.objects, [stored])
  assert.equal(converter.paths.at(-1), '/convert?timeout=30s')
})

test('an object written in another version is stored in the storage version', async () => {
  const written = await made('v2', 'a', { dimensions: { size: '7' }, unknown: 1 })
  assert.deepEqual(written.spec, { dimensions: { size: '7' } })
  assert.deepEqual((await client.get(`${collection('v1')}/a`)).body.spec, { size: 7 })
  const put = await client.put(`${collection('v2')}/a`, { ...written, spec: { dimensions: { size: '8' } } })
  assert.deepEqual([put.status, put.body.spec, put.body.metadata.generation], [200, { dimensions: { size: '8' } }, 2])
  const patched = await merged(`${collection('v2')}/a`, { spec: { dimensions: { size: '9' } } })
  assert.deepEqual([patched.status, patched.body.spec], [200, { dimensions: { size: '9' } }])
  assert.deepEqual((await client.get(`${collection('v1')}/a`)).body.spec, { size: 9 })
  const dry = await merged(`${collection('v2')}/a?dryRun=All`, { spec: { dimensions: { size: '10' } } })
  assert.deepEqual(
    [dry.status, dry.body.apiVersion, dry.body.spec],
    [200, `${group}/v2`, { dimensions: { size: '10' } }],
  )
})

test('a list of custom objects is converted in one webhook call, and tables and subresources use the converted objects', async () => {
  for (const size of [1, 2, 3]) await made('v1', `w${size}`, { size, replicas: size })
  converter.calls()
  const list = await client.get(collection('v2'))
  assert.deepEqual(
    list.body.items.map(({ apiVersion, spec }: Loose) => [apiVersion, spec.dimensions.size]),
    ['1', '2', '3'].map((size) => [`${group}/v2`, size]),
  )
  assert.equal(converter.reviews[0]?.request.objects.length, 3)
  assert.equal(converter.calls(), 1)
  const accept = 'application/json;as=Table;v=v1;g=meta.orch.io'
  const table = await client.get(`${collection('v2')}?includeObject=Object`, { accept })
  assert.deepEqual(table.body.rows[2].object.spec, { dimensions: { size: '3' }, replicas: 3 })
  assert.equal((await client.get(`${collection('v2')}/w2/scale`)).body.spec.replicas, 2)
  const scaled = await merged(`${collection('v2')}/w2/scale`, { spec: { replicas: 5 } })
  assert.equal(scaled.body.spec.replicas, 5, scaled.text)
  const status = await merged(`${collection('v2')}/w2/status`, { status: { ready: true } })
  assert.deepEqual([status.status, status.body.spec], [200, { dimensions: { size: '2' }, replicas: 5 }])
  assert.deepEqual((await client.get(`${collection('v1')}/w2`)).body.spec, { size: 2, replicas: 5 })
})

test('watch events arrive in order in the version of the watch, and each event is converted once for all watchers', async () => {
  await made('v1', 'a', { size: 1 })
  converter.calls()
  const seen = async () => {
    const events: unknown[] = []
    for await (const { type, object } of client.watch(`${collection('v2')}?watch=1`, AbortSignal.timeout(30_000))) {
      events.push([type, object.apiVersion, object.metadata.name, object.spec.dimensions?.size])
      if (object.metadata.name === 'last') break
    }
    return events
  }
  const watches = [seen(), seen(), seen()]
  // All three watchers have received the first object.
  await until(
    () => client.get(`${collection('v1')}/a`),
    () => converter.reviews.length > 0,
  )
  for (const size of [2, 3, 4]) await merged(`${collection('v1')}/a`, { spec: { size } })
  await client.delete(`${collection('v1')}/a`)
  await made('v1', 'last', { size: 5 })
  const [first, ...others] = await Promise.all(watches)
  for (const other of others) assert.deepEqual(other?.slice(-5), first?.slice(-5))
  assert.deepEqual(first?.slice(-3), [
    ['MODIFIED', `${group}/v2`, 'a', '4'],
    ['DELETED', `${group}/v2`, 'a', '4'],
    ['ADDED', `${group}/v2`, 'last', '5'],
  ])
  assert.ok(converter.reviews.length <= 6, `${converter.reviews.length} calls`)
})

test('an apply in one version detects conflicts with field owners in another version', async () => {
  const apply = (version: string, manager: string, spec: object) =>
    merged(
      `${collection(version)}/a?fieldManager=${manager}`,
      widget(version, 'a', spec),
      'application/apply-patch+yaml',
    )
  assert.equal((await apply('v1', 'one', { size: 3 })).status, 201)
  const conflict = await apply('v2', 'two', { dimensions: { size: '4' } })
  assert.equal(conflict.status, 409, conflict.text)
  assert.match(conflict.body.message, /conflict with "one": \.spec\.size/)
  const agreed = await apply('v2', 'two', { dimensions: { size: '3' }, color: 'red' })
  assert.equal(agreed.status, 200, agreed.text)
  const without = await apply('v1', 'one', {})
  assert.deepEqual(without.body.spec, { size: 3, color: 'red' }, 'the other still owns the size')
  const updated = await merged(`${collection('v1')}/a?fieldManager=three`, { spec: { size: 5 } })
  const entries = updated.body.metadata.managedFields.map(({ manager, fieldsV1 }: Loose) => [manager, fieldsV1])
  assert.deepEqual(Object.fromEntries(entries), {
    one: { 'f:spec': {} },
    two: { 'f:spec': { 'f:color': {} } },
    three: { 'f:spec': { 'f:size': {} } },
  })
})

test('the conversion webhook may change labels and annotations but no other metadata', async () => {
  await made('v1', 'a', { size: 1 }, { labels: { kept: 'no' }, finalizers: ['example.com/f'] })
  converter.answer = (review) =>
    answerWith(
      review,
      review.request.objects.map((object) => {
        const metadata = { name: 'a', namespace: 'default', uid: object.metadata.uid, labels: { made: 'here' } }
        return { ...convert(object, review.request.desiredAPIVersion), metadata: { ...metadata, generation: 99 } }
      }),
    )
  const { metadata } = (await client.get(`${collection('v2')}/a`)).body
  assert.deepEqual(
    [metadata.labels, metadata.finalizers, metadata.generation],
    [{ made: 'here' }, ['example.com/f'], 1],
  )
  await merged(`${collection('v1')}/a`, { metadata: { finalizers: [] } })
})

test('a conversion webhook that supports only v1beta1 receives v1beta1, and its response may omit type and uid', async () => {
  const old = await define(client, {
    plural: 'oldies',
    kind: 'Widget',
    group: 'old.example.com',
    versions: widgetVersions('v1'),
    conversion: converter.conversion(['v7', 'v1beta1', 'v1']),
  })
  converter.answer = (review) => {
    const { response } = honest(review)
    return { response: { ...response, uid: 'other' } }
  }
  const path = '/apis/old.example.com/v2/namespaces/default/oldies'
  const object = { ...widget('v2', 'a', { dimensions: { size: '1' } }), apiVersion: 'old.example.com/v2' }
  const answer = await client.post(path, object)
  assert.equal(answer.status, 201, answer.text)
  assert.equal(converter.reviews[0]?.apiVersion, 'apiextensions.orch.io/v1beta1')
  await undefine(client, old)
})

test('a metric records the duration of conversions', async () => {
  await made('v2', 'a', { dimensions: { size: '1' } })
  const { text } = await client.get('/metrics')
  const labels = `crd_name="${name}",from_version="v2",succeeded="true",to_version="v1"`
  assert.match(text, new RegExp(`apiserver_crd_webhook_conversion_duration_seconds_count\\{${labels}\\} [1-9]`))
})

test('changing the storage version under load neither loses objects nor mixes up their contents', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `w${i}`)
  await Promise.all(names.map((each, i) => made('v1', each, { size: i })))
  let rolled = false
  const writes = names.map(async (each, i) => {
    for (let round = 1; !rolled || round < 4; round++) {
      const version = round % 2 === 0 ? 'v1' : 'v2'
      const color = `c${round}`
      const answer = await merged(`${collection(version)}/${each}`, { spec: { color } })
      assert.equal(answer.status, 200, answer.text)
      const size = version === 'v1' ? answer.body.spec.size : Number(answer.body.spec.dimensions.size)
      assert.deepEqual([size, answer.body.spec.color], [i, color])
    }
  })
  const path = `${definitions}/${name}`
  const roll = async (storage: 'v1' | 'v2') => {
    const answer = await merged(path, { spec: { versions: widgetVersions(storage) } })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }
  const after = await roll('v2')
  assert.deepEqual(after.status.storedVersions, ['v1', 'v2'])
  rolled = true
  await Promise.all(writes)
  for (const version of ['v1', 'v2']) {
    const { items } = (await client.get(collection(version))).body
    const sizes = items.map(({ spec }: Loose) => Number(spec.size ?? spec.dimensions.size))
    assert.deepEqual(
      sizes.toSorted((a: number, b: number) => a - b),
      names.map((_, i) => i),
    )
  }
  converter.calls()
  await client.get(`${collection('v2')}/w1`)
  assert.equal(converter.calls(), 0, 'it has been written since, so it is stored in v2')
  await roll('v1')
})
