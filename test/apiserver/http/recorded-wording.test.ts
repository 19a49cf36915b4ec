/**
 * Tests the parts of messages and descriptions that programs rely on. These parts are part of the interface. The rest of the wording may change.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { serve } from '../../support/in-process.ts'

const client = (await serve({ after })).client()
const namespaces = '/api/v1/namespaces'
const maps = `${namespaces}/default/configmaps`

test('the message for an invalid timeout is the same as in kube-apiserver', async () => {
  const answer = await client.get(`${maps}?timeout=abc`)
  assert.equal(answer.status, 400)
  assert.match(answer.body.message, /^invalid timeout specified in the request URL\b.*"abc"/)
})

test('the message for an unrecognized body is the same as in kube-apiserver', async () => {
  const unknown =
    /^the object provided is unrecognized \(must be of type Namespace\): couldn't get version\/kind; json parse error: /
  for (const raw of ['{', '[]', '"x"', '{"kind":5}', '{"apiVersion":{}}', '\xff']) {
    const answer = await client.send(namespaces, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      raw: Buffer.from(raw, 'latin1'),
    })
    assert.equal(answer.status, 400, raw)
    assert.match(answer.body.message, unknown, raw)
  }
})

test('the message for a value of the wrong type is the same as in kube-apiserver', async () => {
  await client.post(maps, { metadata: { name: 'formed' } })
  const cases: readonly (readonly [body: JsonObject, words: RegExp])[] = [
    [{ data: 'x' }, /\bdata: cannot restore map from string\b/],
    [{ data: [1] }, /\bdata: cannot restore map from slice\b/],
    [{ metadata: { finalizers: { a: 1 } } }, /\bmetadata.finalizers: cannot restore slice from map\b/],
    [{ metadata: { ownerReferences: [7] } }, /\bmetadata.ownerReferences\[0\]: cannot restore struct from: int64\b/],
  ]
  for (const [body, words] of cases)
    for (const type of ['merge-patch+json', 'json-patch+json']) {
      const operations = Object.entries(body).map(([name, value]) => ({ op: 'replace', path: `/${name}`, value }))
      const answer = await client.send(`${maps}/formed`, {
        method: 'PATCH',
        headers: { 'content-type': `application/${type}` },
        body: type === 'merge-patch+json' ? body : operations,
      })
      assert.ok(answer.status === 422 || answer.status === 400, answer.text)
      assert.match(answer.body.message, words)
    }
})

test('OpenAPI descriptions of query parameters contain the expected phrases', async () => {
  const { body } = await client.get('/openapi/v2')
  const { parameters } = body.paths['/api/v1/configmaps'].get
  const descriptionOf = (name: string): string =>
    parameters.find((parameter: { name: string }) => parameter.name === name).description
  assert.match(descriptionOf('labelSelector'), /list of returned objects by their labels/)
  assert.match(descriptionOf('fieldSelector'), /list of returned objects by their fields/)
  assert.match(descriptionOf('watch'), /^Watch for changes to the described resources\b/)
})
