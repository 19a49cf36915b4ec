/** Tests that, with `--create-token-secrets`, every service account has exactly one token Secret. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { deaths, openLoopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const namespace = 'default'
const options = { createTokenSecrets: true, issueToken: async ({ secret }: { secret: string }) => `token of ${secret}` }

test('the manager creates legacy token Secrets for service accounts', async (t) => {
  const { client, start } = await openLoopServer(t)
  const make = (name: string, rest: object = {}) =>
    client.create(kinds.ServiceAccount, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace, name },
      ...rest,
    })
  const listed = async (name: string) =>
    (await client.get(kinds.ServiceAccount, { namespace, name })).secrets?.map((each) => each.name) ?? []
  const own = async (name: string) =>
    (await client.list(kinds.Secret, { namespace })).items.filter(
      ({ metadata }) => metadata.annotations?.['orch.io/service-account.name'] === name,
    )
  const settled = async (name: string) => {
    await until(
      () => listed(name),
      (names) => names.length > 0,
    )
    const held = await until(
      () => own(name),
      (all) => all.length > 0 && all.every(({ data }) => data?.token),
    )
    assert.deepEqual(
      await listed(name),
      held.map(({ metadata }) => metadata.name),
    )
    assert.equal(held.length, 1)
    return held[0]!
  }

  await t.test(
    'each service account gets one token Secret even if the manager is killed during any write',
    async () => {
      for (const [i, death] of deaths(3).entries()) {
        const name = `killed-${i}`
        await make(name)
        const dying = start(['serviceaccount-token'], { options, death })
        await dying.killed
        await dying.stop()
        const next = start(['serviceaccount-token'], { options })
        const { metadata, data } = await settled(name)
        assert.equal(Buffer.from(data!.token!, 'base64').toString(), `token of ${metadata.name}`)
        await next.stop()
      }
    },
  )

  await t.test('a deleted token Secret is recreated, and other listed Secrets are kept', async () => {
    const manager = start(['serviceaccount-token'], { options })
    await make('again', { secrets: [{ name: 'mine' }] })
    await until(
      () => listed('again'),
      (names) => names.length === 2,
    )
    const [first] = await own('again')
    await client.delete(kinds.Secret, { namespace, name: first!.metadata.name! })
    const [second] = await until(
      () => own('again'),
      (all) => all.length === 1,
    )
    await until(
      () => listed('again'),
      (names) => names.join() === `mine,${second!.metadata.name}`,
    )
    await manager.stop()
  })

  await t.test('no token Secret is created without the flag or without a signing key', async () => {
    const manager = start(['serviceaccount-token'], { options: { issueToken: options.issueToken } })
    await make('plain')
    await manager.firstPass
    await manager.stop()
    await start(['serviceaccount-token'], { options: { createTokenSecrets: true } }).stop()
    assert.deepEqual([await listed('plain'), (await own('plain')).length], [[], 0])
  })
})
