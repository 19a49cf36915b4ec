/** Tests the metadata of token requests, which depends on the emulated version. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const accounts = '/api/v1/namespaces/default/serviceaccounts'

test('since 1.34, a token request with a different UID is rejected; earlier versions ignore the UID', async () => {
  for (const [version, expected] of [
    ['1.33', 201],
    ['1.34', 409],
  ] as const) {
    const client = (await serve({ after }, [`--emulated-version=${version}`])).client()
    const { body: account } = await client.post(accounts, { metadata: { name: 'a' } })
    const request = (uid: string) => client.post(`${accounts}/a/token`, { metadata: { uid }, spec: {} })
    const other = await request('other')
    assert.deepEqual([other.status, other.body.metadata.uid], [expected, undefined], version)
    const own = await request(account.metadata.uid)
    const shown = version === '1.34' ? account.metadata.uid : undefined
    assert.deepEqual([own.status, own.body.metadata.uid], [201, shown], version)
  }
})
