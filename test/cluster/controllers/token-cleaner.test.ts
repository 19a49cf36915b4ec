/** Tests that bootstrap tokens are deleted when they expire, but not earlier. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import { openLoopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const namespace = 'kube-system'
const type = 'bootstrap.orch.io/token'
const base64 = (text: string) => Buffer.from(text).toString('base64')
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+/, '')

test('the manager deletes bootstrap tokens', async (t) => {
  const { client, start } = await openLoopServer(t)
  const make = (id: string, expiration?: string, secretType = type) =>
    client.create(kinds.Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: `bootstrap-token-${id}` },
      type: secretType,
      data: {
        'token-id': base64(id),
        'token-secret': base64('0123456789abcdef'),
        ...(expiration === undefined ? {} : { expiration: base64(expiration) }),
      },
    })
  const isGone = (id: string) =>
    client.get(kinds.Secret, { namespace, name: `bootstrap-token-${id}` }).then(() => false, isNotFound)
  const gone = (id: string) => until(() => isGone(id), Boolean)

  await t.test(
    'expired and unreadable bootstrap tokens are deleted immediately, and other tokens when they expire',
    async () => {
      const held = await make('held00', inSeconds(-10))
      const finalizers = ['example.com/hold']
      await client.update(kinds.Secret, { ...held, metadata: { ...held.metadata, finalizers } })
      await make('past00', inSeconds(-10))
      await make('odd000', 'tomorrow')
      await make('soon00', inSeconds(2))
      await make('later0', inSeconds(3600))
      await make('never0')
      await make('other0', inSeconds(-10), 'Opaque')
      const manager = start(['tokencleaner'])
      await gone('past00')
      await gone('odd000')
      await gone('soon00')
      for (const id of ['later0', 'never0', 'other0', 'held00']) assert.equal(await isGone(id), false, id)
      await manager.stop()
    },
  )

  await t.test('a bootstrap token is deleted when the wall clock reaches its expiration', async () => {
    const clock = { now: () => Date.now() + 2 * 3_600_000, monotonic: () => performance.now() }
    const manager = start(['tokencleaner'], { clock })
    await gone('later0')
    assert.equal(await isGone('never0'), false)
    await manager.stop()
  })
})
