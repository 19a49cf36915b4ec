/**
 * Tests conversion webhooks that fail, hang or return invalid data. Error responses contain the reason, other requests
 * are unaffected, and the objects can still be deleted.
 */
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import type { CustomResourceDefinition } from '../../../src/api/kinds/apiextensions/definition-fields.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { ConversionMetrics } from '../../../src/apiserver/custom/conversion/conversion-metrics.ts'
import { conversionOf } from '../../../src/apiserver/custom/conversion/conversion-webhook.ts'
import { HttpsCaller } from '../../../src/apiserver/outbound/https-caller.ts'
import type { ServiceAddressParts } from '../../../src/apiserver/outbound/service-address.ts'
import { Destinations } from '../../../src/apiserver/outbound/webhook-address.ts'
import { openLog } from '../../../src/base/telemetry/log.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import {
  answerWith,
  type ConversionReview,
  Converter,
  convert,
  honest,
  type Loose,
  widgetVersions,
} from '../../support/converter.ts'
import { serve, serveUp } from '../../support/in-process.ts'
import { untilTrue } from '../../support/until.ts'
import { define, definitions, isGone, undefine } from './definitions.ts'

const group = 'stable.example.com'
const client = (await serve({ after })).client()
const converter = await Converter.start({ after })
const name = await define(client, { versions: widgetVersions('v1'), conversion: converter.conversion() })

const collection = (version: string, namespace = 'default') =>
  `/apis/${group}/${version}/namespaces/${namespace}/widgets`
const webhook = `conversion webhook for ${group}/v1, Kind=Widget`

let made = 0

/** Creates an object in v1, the storage version. */
async function stored(spec: object = { size: 1 }, metadata: object = {}, namespace = 'default'): Promise<string> {
  const named = `w${made++}`
  const object = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: named, ...metadata }, spec }
  const answer = await client.post(collection('v1', namespace), object)
  assert.equal(answer.status, 201, answer.text)
  return named
}

async function merged(path: string, body: object, through = client) {
  const headers = { 'content-type': 'application/merge-patch+json' }
  return await through.send(path, { method: 'PATCH', headers, raw: JSON.stringify(body) })
}

afterEach(() => {
  converter.answer = honest
})

/** Returns the response of a correct webhook, with the given change applied to each object. */
const changed = (change: (object: Loose) => Loose) => (review: ConversionReview) =>
  answerWith(
    review,
    review.request.objects.map((object) => change(convert(object, review.request.desiredAPIVersion))),
  )
const withMetadata = (metadata: object) =>
  changed((object) => ({ ...object, metadata: { ...object.metadata, ...metadata } }))

const faults: { readonly [response: string]: [(review: ConversionReview) => Loose, RegExp | string] } = {
  'invalid JSON': [() => 'x', /failed: .*not valid JSON$/],
  'a missing response': [({ apiVersion, kind }) => ({ apiVersion, kind }), `${webhook} failed: no response provided`],
  'a wrong type': [
    (review) => ({ ...honest(review), apiVersion: 'example.com/v1' }),
    `${webhook} failed: expected webhook response of apiextensions.orch.io/v1, Kind=ConversionReview, got example.com/v1, Kind=ConversionReview`,
  ],
  'a wrong review uid': [
    (review) => answerWith(review, [], { uid: 'x' }),
    /^conversion webhook for .* failed: expected response\.uid="[-0-9a-f]+", got "x"$/,
  ],
  'a failure': [
    (review) => answerWith(review, [], { result: { status: 'Failure', message: 'sizes are not known here' } }),
    `${webhook} failed: sizes are not known here`,
  ],
  'a failure without a reason': [
    (review) => answerWith(review, [], { result: { status: 'Failure' } }),
    `${webhook} failed: response.result.status was 'Failure', not 'Success'`,
  ],
  'missing objects': [(review) => answerWith(review, []), `${webhook} returned 0 objects, expected 1`],
  'a converted value that is not an object': [
    (review) => answerWith(review, [7]),
    `${webhook} returned invalid object: it is number`,
  ],
  'a wrong version': [
    changed((object) => ({ ...object, apiVersion: `${group}/v3` })),
    `${webhook} returned invalid object: invalid groupVersion (expected ${group}/v2, received ${group}/v3)`,
  ],
  'a changed kind': [
    changed((object) => ({ ...object, kind: 'Gadget' })),
    `${webhook} returned invalid object: invalid kind (expected Widget, received Gadget)`,
  ],
  'a changed name': [withMetadata({ name: 'x' }), /returned invalid object: must have the same name: w\d+ != x$/],
  'a changed namespace': [
    withMetadata({ namespace: 'x' }),
    /returned invalid object: must have the same namespace: default != x$/,
  ],
  'a changed uid': [withMetadata({ uid: 'x' }), /returned invalid object: must have the same UID: [-0-9a-f]+ != x$/],
  'missing metadata': [
    changed(({ metadata: _, ...object }) => object),
    /returned invalid object: must have the same name: w\d+ != $/,
  ],
  'labels that are not strings': [
    withMetadata({ labels: { a: 1 } }),
    /returned invalid metadata: metadata\.labels\[a\] must be a string, but is number in converted object$/,
  ],
  'invalid labels': [withMetadata({ labels: { a: '-' } }), /returned invalid metadata: metadata\.labels: /],
}

for (const [response, [answer, message]] of Object.entries(faults))
  test(`the error contains the reason for the failed conversion if the webhook response is invalid: ${response}`, async () => {
    const named = await stored()
    converter.answer = answer
    for (const path of [`${collection('v2')}/${named}`, `${collection('v2')}?fieldSelector=metadata.name%3D${named}`]) {
      const { status, body } = await client.get(path)
      assert.equal(status, 500)
      assert.deepEqual([body.kind, body.status, body.reason], ['Status', 'Failure', undefined])
      if (typeof message === 'string') assert.equal(body.message, message)
      else assert.match(body.message, message)
    }
    assert.equal((await client.get(`${collection('v1')}/${named}`)).status, 200, 'the stored version is served')
    await client.delete(`${collection('v1')}/${named}`)
  })

test('the error for a failed list names the object that cannot be converted, and __proto__ is an ordinary key', async () => {
  const names = [await stored({ size: 1 }), await stored({ size: 2 })]
  converter.answer = changed((object) => (object.spec.dimensions.size === '2' ? { ...object, kind: 'X' } : object))
  const { status, body } = await client.get(collection('v2'))
  assert.equal(status, 500)
  assert.equal(
    body.message,
    `${webhook} returned invalid converted object at index 1: invalid kind (expected Widget, received X)`,
  )
  converter.answer = (review) => JSON.stringify(honest(review)).replaceAll('"dimensions"', '"__proto__"')
  const [first] = (await client.get(collection('v2'))).body.items
  assert.deepEqual(first.spec, {}, 'a field that the version does not know is dropped')
  for (const each of names) await client.delete(`${collection('v1')}/${each}`)
})

test('a failed conversion stores nothing, but writes in the storage version still succeed', async () => {
  const named = await stored({ size: 1 })
  const path = (version: string) => `${collection(version)}/${named}`
  assert.equal((await merged(`${path('v2')}?fieldManager=two`, { spec: { color: 'red' } })).status, 200)
  converter.answer = (review) => answerWith(review, [], { result: { status: 'Failure', message: 'not now' } })
  const refused = await merged(path('v2'), { spec: { color: 'blue' } })
  assert.deepEqual(
    [refused.status, refused.body.message],
    [500, `conversion webhook for ${group}/v2, Kind=Widget failed: not now`],
  )
  const made = { apiVersion: `${group}/v2`, kind: 'Widget', metadata: { name: 'never' }, spec: {} }
  const created = await client.post(collection('v2'), made)
  assert.deepEqual(
    [created.status, created.body.message],
    [500, `conversion webhook for ${group}/v2, Kind=Widget failed: not now`],
  )
  assert.equal((await client.get(`${collection('v1')}/never`)).status, 404)
  // Field ownership is recorded in both versions. Without the webhook, ownership cannot be computed, so it stays
  // unchanged.
  const written = await merged(`${path('v1')}?fieldManager=one`, { spec: { color: 'green' } })
  assert.deepEqual([written.status, written.body.spec], [200, { size: 1, color: 'green' }])
  assert.match(String(written.headers.warning), /field ownership was not updated by this write: .*not now/)
  await client.delete(path('v1'))
})

test('if a conversion fails, a watch ends with the reason and can be resumed when the webhook recovers', async () => {
  const named = await stored({ size: 1 })
  const from = (await client.get(`${collection('v2')}/${named}`)).body.metadata.resourceVersion
  const path = `${collection('v2')}?watch=1&fieldSelector=metadata.name%3D${named}&resourceVersion=`
  const events = client.watch(`${path}${from}`, AbortSignal.timeout(30_000))
  const next = events.next()
  await merged(`${collection('v1')}/${named}`, { spec: { size: 2 } })
  const first = (await next).value
  assert.equal(first.object.spec.dimensions.size, '2')
  converter.answer = () => 'x'
  const failing = events.next()
  await merged(`${collection('v1')}/${named}`, { spec: { size: 3 } })
  const { type, object } = (await failing).value
  assert.deepEqual([type, object.kind, object.code], ['ERROR', 'Status', 500])
  assert.match(object.message, /failed: .*not valid JSON/)
  assert.equal((await events.next()).done, true)
  const refused = await client.get(`${path}0`)
  assert.match(refused.body.message, /not valid JSON/, 'a watch that cannot begin is refused')
  converter.answer = honest
  const resumed = client.watch(`${path}${first.object.metadata.resourceVersion}`, AbortSignal.timeout(30_000))
  assert.equal((await resumed.next()).value.object.spec.dimensions.size, '3')
  await resumed.return(undefined)
  await client.delete(`${collection('v1')}/${named}`)
})

test('a hanging conversion webhook does not block other requests, and objects that need conversion can be deleted', async () => {
  const named = await stored({ size: 1 }, { finalizers: ['example.com/f'] })
  converter.calls()
  const hanging = Promise.withResolvers<string>()
  converter.answer = () => hanging.promise
  const waiting = Array.from({ length: 40 }, () => client.get(`${collection('v2')}/${named}`))
  await untilTrue(async () => converter.reviews.length > 0)
  assert.equal((await client.get(`${collection('v1')}/${named}`)).status, 200)
  const metadata = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.orch.io'
  const shown = await client.get(`${collection('v2')}/${named}`, { accept: metadata })
  assert.equal(shown.body.metadata.name, named, 'metadata needs no webhook')
  converter.answer = () => 'x'
  const deleted = await client.delete(`${collection('v2')}/${named}`)
  assert.equal(deleted.status, 200, deleted.text)
  assert.match(String(deleted.headers.warning), /the object is being deleted, but it cannot be shown/)
  assert.ok((await client.get(`${collection('v1')}/${named}`)).body.metadata.deletionTimestamp)
  await merged(`${collection('v1')}/${named}`, { metadata: { finalizers: [] } })
  assert.equal((await client.get(`${collection('v1')}/${named}`)).status, 404)
  const other = await stored()
  assert.equal((await client.delete(`${collection('v2')}/${other}`)).status, 200)
  assert.equal(converter.calls() <= 3, true, 'those who read the same wait for one call')
  hanging.resolve('x')
  for (const { status } of await Promise.all(waiting)) assert.equal(status, 500)
})

test('a call to a conversion webhook that never responds times out together with queued calls', async () => {
  const log = openLog({ level: 0, format: 'json', write: () => {}, now: () => 0 })
  const caller = new HttpsCaller('orch-test')
  after(() => caller.close())
  const spec = { conversion: converter.conversion() }
  const convertBy = (timeoutMs?: number) =>
    conversionOf({ metadata: { name: 'widgets' }, spec } as CustomResourceDefinition, {
      vendor: vendorOf('orch'),
      caller,
      clock: systemClock,
      metrics: new ConversionMetrics(),
      timeoutMs,
      destinations: new Destinations({} as ServiceAddressParts, { byName: new Map() }),
      log,
    })!
  const object = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'w', uid: 'u' }, spec: {} }
  converter.answer = () => undefined
  const limited = convertBy(300)
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => limited([object], `${group}/v2`)))
  for (const outcome of outcomes)
    assert.match(String((outcome as PromiseRejectedResult).reason), /no (complete )?(answer|response) .*within \d+ ms/)
  converter.answer = honest
  converter.paths.length = 0
  await convertBy()([object], `${group}/v2`)
  // A call that the server has already abandoned may reach the webhook only now.
  const calls = converter.paths.filter((path) => !path.endsWith('timeout=0.3s'))
  assert.deepEqual(calls, ['/convert?timeout=30s'], 'what it has where nobody says less')
})

test('namespaces and definitions can be deleted while the conversion webhook is unavailable', async (t) => {
  // Run the loops that delete the contents of a namespace.
  const client = (await serveUp(t)).client()
  const settled = await Converter.start({ after })
  const wanted = { plural: 'doomed', kind: 'Doomed', versions: widgetVersions('v1'), conversion: settled.conversion() }
  const doomed = await define(client, wanted)
  await client.post('/api/v1/namespaces', { metadata: { name: 'dying' } })
  const path = (version: string, namespace: string) => `/apis/${group}/${version}/namespaces/${namespace}/doomed`
  const object = { apiVersion: `${group}/v1`, kind: 'Doomed', metadata: { name: 'a' }, spec: { size: 1 } }
  for (const namespace of ['dying', 'default'])
    assert.equal((await client.post(path('v1', namespace), object)).status, 201)
  // From this point on, the server neither serves nor stores v1, and every read needs the webhook.
  const [v1, v2] = widgetVersions('v2')
  const rolled = await merged(
    `${definitions}/${doomed}`,
    { spec: { versions: [{ ...v1, served: false }, v2] } },
    client,
  )
  assert.equal(rolled.status, 200, rolled.text)
  await settled.stop()
  const refused = await client.get(path('v2', 'dying'))
  assert.match(
    refused.body.message,
    /^conversion webhook for stable\.example\.com\/v1, Kind=Doomed failed: Post .*refused$/,
  )
  assert.equal((await client.delete('/api/v1/namespaces/dying')).status, 200)
  await untilTrue(async () => (await client.get('/api/v1/namespaces/dying')).status === 404)
  assert.equal((await client.delete(`${definitions}/${doomed}`)).status, 200)
  await isGone(client, doomed)
})

test('the server reports each error in the conversion settings of a definition', async () => {
  const conversion = converter.conversion() as Loose
  const { clientConfig } = conversion.webhook
  const refused: [object, string][] = [
    [{ strategy: 'Webhook' }, 'spec.conversion.webhookClientConfig'],
    [
      { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: [] } },
      'spec.conversion.conversionReviewVersions',
    ],
    [
      { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v7'] } },
      'spec.conversion.conversionReviewVersions',
    ],
    [
      { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1', 'v1'] } },
      'spec.conversion.conversionReviewVersions[1]',
    ],
    [
      { strategy: 'Webhook', webhook: { clientConfig: { url: 'http://a' }, conversionReviewVersions: ['v1'] } },
      'spec.conversion.webhookClientConfig.url',
    ],
    [
      {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { url: null, service: { name: 'a', namespace: '' } },
          conversionReviewVersions: ['v1'],
        },
      },
      'spec.conversion.webhookClientConfig.service.namespace',
    ],
    [{ strategy: 'None', webhook: conversion.webhook }, 'spec.conversion.webhookClientConfig'],
    [{ strategy: 'Guess' }, 'spec.conversion.strategy'],
  ]
  for (const [wanted, field] of refused) {
    const answer = await merged(`${definitions}/${name}`, { spec: { conversion: { webhook: null, ...wanted } } })
    assert.equal(answer.status, 422, answer.text)
    assert.equal(answer.body.details.causes[0].field, field, answer.text)
  }
  await undefine(client, name)
})
