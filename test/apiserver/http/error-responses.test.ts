/**
 * Tests that every error gets a response in every format, even if its text is cut in the middle of a character, or if
 * the conversion to the format fails.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../src/api/model/api-error.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { Exchange } from '../../../src/apiserver/http/request/exchange.ts'
import { jsonForm } from '../../../src/apiserver/http/response/forms.ts'
import { answerErrors } from '../../../src/apiserver/http/steps/answer-errors.ts'
import type { ServerTransport } from '../../../src/apiserver/transport/server-transport.ts'
import { serve } from '../../support/in-process.ts'
import { closed, listen, open } from '../../support/listener.ts'
import { configMaps } from '../../support/paths.ts'
import { survivalCheck } from '../../support/survival-check.ts'

const table = 'application/json;as=Table;v=v1;g=meta.orch.io'
const forms = ['application/json', 'application/yaml', table, 'application/json;pretty=1']
/** Texts with an emoji at every position at which a message may be cut. */
const texts = [49, 50, 57, 58, 99, 100, 199, 200, 299, 300, 499, 500, 999, 1000, 1999, 2000].map(
  (length) => `${'k'.repeat(length)}😀`,
)

interface Row {
  readonly method: string
  readonly path: (text: string) => string
  readonly body?: (text: string) => unknown
  readonly type?: string
}

const query = (name: string) => (text: string) => `${configMaps}?${name}=${encodeURIComponent(text)}`
const rows: { readonly [name: string]: Row } = {
  'a kind': { method: 'POST', path: () => configMaps, body: (kind) => ({ kind, metadata: { name: 'a' } }) },
  'an apiVersion': { method: 'POST', path: () => configMaps, body: (apiVersion) => ({ apiVersion, metadata: {} }) },
  'a name': { method: 'POST', path: () => configMaps, body: (name) => ({ metadata: { name } }) },
  'a generated name': {
    method: 'POST',
    path: () => configMaps,
    body: (generateName) => ({ metadata: { generateName } }),
  },
  'a label': { method: 'POST', path: () => configMaps, body: (a) => ({ metadata: { name: 'a', labels: { a } } }) },
  'a data key': {
    method: 'POST',
    path: () => configMaps,
    body: (key) => ({ metadata: { name: 'a' }, data: { [key]: 'v' } }),
  },
  'an unknown field': {
    method: 'POST',
    path: () => `${configMaps}?fieldValidation=Strict`,
    body: (key) => ({ metadata: { name: 'a' }, [key]: 1 }),
  },
  'a timestamp': {
    method: 'POST',
    path: () => configMaps,
    body: (deletionTimestamp) => ({ metadata: { name: 'a', deletionTimestamp } }),
  },
  'delete options': { method: 'DELETE', path: () => `${configMaps}/a`, body: (kind) => ({ kind }) },
  'a path in a patch': {
    method: 'PATCH',
    path: () => `${configMaps}/kept`,
    type: 'application/json-patch+json',
    body: (text) => [{ op: 'test', path: `/data/${text}`, value: 1 }],
  },
  'an unknown name': { method: 'GET', path: (text) => `${configMaps}/${encodeURIComponent(text)}` },
  'a label selector': { method: 'GET', path: query('labelSelector') },
  'a field selector': { method: 'GET', path: query('fieldSelector') },
  'a version': { method: 'GET', path: query('resourceVersion') },
  'a limit': { method: 'GET', path: query('limit') },
  'a timeout': { method: 'GET', path: query('timeout') },
}

test('an error message is never cut inside an emoji', { timeout: 300_000 }, async (t) => {
  const server = await serve(t)
  const client = server.client()
  const assertAlive = survivalCheck(server)
  await client.post(configMaps, { metadata: { name: 'kept' } })
  for (const [name, { method, path, body, type }] of Object.entries(rows))
    for (const accept of forms)
      await t.test(`the server returns an error in the negotiated format: ${name}, as ${accept}`, async () => {
        const headers = { accept, ...(type === undefined ? {} : { 'content-type': type }) }
        for (const text of texts) {
          const sent = body === undefined ? {} : { body: body(text) }
          const answer = await client.send(path(text), { method, headers, ...sent })
          assert.ok([400, 404, 409, 422].includes(answer.status), `${answer.status} ${answer.text.slice(0, 200)}`)
          assert.match(answer.text, /Failure/)
          assert.ok(!/\ufffd|\\ud[89a-f]/i.test(answer.text), answer.text.slice(0, 500))
        }
        await assertAlive()
      })
})

test('if an error cannot be encoded, the client gets a fallback response', { timeout: 300_000 }, async (t) => {
  const faults: unknown[] = []
  const answerError = answerErrors(vendorOf('orch'), (error) => faults.push(error))
  const fail = (transport: ServerTransport) => {
    const exchange = new Exchange(transport, 0)
    exchange.agreed = true
    exchange.form = { ...jsonForm, mediaType: 'text/none', encode: () => Promise.reject(new Error('no such form')) }
    void answerError(exchange, new ApiError(422, 'Invalid', 'half an emoji: \ud83d'))
  }
  const socket = await open(await listen(t, { onRequest: fail }), 'http/1.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  const text = await closed(t, socket)
  assert.match(text, /^HTTP\/1\.1 422 .*\r\n\r\n\{"kind":"Status".*"status":"Failure","code":422\}$/s)
  assert.match(String(faults[0]), /no such form/)
})
