/**
 * Tests definitions that valid writes have put into unusual states. The server's own writes must still succeed, so that
 * the definitions can be established, repaired and deleted.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { HttpClient } from '../../support/http-client.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'
import { define, definitionOf, definitions, isEstablished, undefine, waitForEvent } from './definitions.ts'

let server: InProcess
let client: HttpClient
before(async () => {
  server = await startInProcess()
  client = server.client
})
after(() => server.stop())

const headers = { 'content-type': 'application/merge-patch+json' }

async function storedVersions(name: string, versions: string[]): Promise<void> {
  const body = { status: { storedVersions: versions } }
  const patched = await client.send(`${definitions}/${name}/status`, { method: 'PATCH', headers, body })
  assert.equal(patched.status, 200, patched.text)
  assert.deepEqual(patched.body.status.storedVersions, versions)
}

test('invalid storedVersions in the status of a definition are repaired', async () => {
  const name = await define(client, { plural: 'mendeds', kind: 'Mended' })
  await storedVersions(name, ['v9'])
  await waitForEvent(client, name, ({ object }) => object.status?.storedVersions?.join() === 'v1')
  const body = { metadata: { labels: { a: 'b' } } }
  const changed = await client.send(`${definitions}/${name}`, { method: 'PATCH', headers, body })
  assert.equal(changed.status, 200, changed.text)
  await undefine(client, name)
})

test('a definition with the maximum number of values can be established and deleted', async () => {
  const many = (count: number) => definitionOf({ schema: about(Array.from({ length: count }, (_, i) => `${i}`)) })
  const about = (choices: string[]) => ({ type: 'object', properties: { a: { type: 'string', enum: choices } } })
  // Use the number that the server counts, which includes the fields that the server adds on creation.
  const create = (count: number) => client.post(`${definitions}?dryRun=All`, many(count))
  let taken = 99_900
  let refused = 99_990
  while (refused - taken > 1) {
    const middle = (taken + refused) >> 1
    if ((await create(middle)).status === 201) taken = middle
    else refused = middle
  }
  const made = await client.post(definitions, many(taken))
  assert.equal(made.status, 201, made.text.slice(0, 500))
  const { name } = made.body.metadata
  await isEstablished(client, name)
  await undefine(client, name)
})
