/**
 * Tests that unused tokens in Secrets are marked as invalid, and that their Secrets are deleted after another period.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trackingConfigMap } from '../../../src/api/model/legacy-tokens.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import type { Transport } from '../../../src/client/requests/transport.ts'
import { openLoopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'
import { withoutAccounts } from '../../support/workloads.ts'

const loop = 'legacy-service-account-token-cleaner'
const namespace = 'default'
const dayMs = 24 * 60 * 60_000
const lastUsed = 'orch.io/legacy-token-last-used'
const invalidSince = 'orch.io/legacy-token-invalid-since'
const inDays = (days: number) => ({ now: () => Date.now() + days * dayMs, monotonic: () => performance.now() })
const dayIn = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10)

test('the manager cleans up unused legacy tokens', async (t) => {
  const { client, start } = await openLoopServer(t, [...withoutAccounts, '--emulated-version=1.36'])
  const names = ['unused', 'mounted', 'recent', 'unreadable', 'unlisted', 'other', 'opaque', 'marked']
  /** The names of the tokens that the loop would clean up. */
  const unusedNames = ['unused', 'marked']
  const account = await client.create(kinds.ServiceAccount, {
    metadata: { namespace, name: 'robot' },
    secrets: names.filter((name) => name !== 'unlisted').map((name) => ({ name })),
  })
  const labelsOf: { readonly [name: string]: { readonly [label: string]: string } } = {
    recent: { [lastUsed]: dayIn(8) },
    unreadable: { [lastUsed]: 'yesterday' },
    marked: { [invalidSince]: 'long-ago', [lastUsed]: dayIn(-1) },
  }
  for (const name of names)
    await client.create(kinds.Secret, {
      metadata: {
        namespace,
        name,
        labels: labelsOf[name] ?? {},
        annotations: {
          'orch.io/service-account.name': 'robot',
          'orch.io/service-account.uid': name === 'other' ? 'another' : account.metadata.uid!,
        },
      },
      type: name === 'opaque' ? 'Opaque' : 'orch.io/service-account-token',
    })
  const volumes = [{ name: 'token', secret: { secretName: 'mounted' } }]
  await client.create(kinds.Pod, {
    metadata: { namespace, name: 'user' },
    spec: { containers: [{ name: 'c', image: 'i' }], volumes },
  })
  const read = (name: string) => client.get(kinds.Secret, { namespace, name })
  const marks = async () => {
    const { items } = await client.list(kinds.Secret, { namespace })
    return Object.fromEntries(
      items.flatMap(({ metadata: { name = '', labels } }) => {
        const mark = labels?.[invalidSince]
        return mark === undefined ? [] : [[name, mark]]
      }),
    )
  }
  const options = { unusedTokenMs: 7 * dayMs }
  const run = async (days: number, isDone: () => Promise<unknown>) => {
    const manager = start([loop], { options, clock: inDays(days) })
    await until(isDone, Boolean)
    await manager.stop()
  }
  const tracking = { namespace: 'kube-system', name: trackingConfigMap }

  await t.test('no legacy token is marked as unused before its use has been recorded for a whole period', async () => {
    const { data } = await until(
      () => client.get(kinds.ConfigMap, tracking),
      ({ data: found }) => found?.since !== undefined,
    )
    assert.equal(data?.since, dayIn(0))
    let reads = 0
    const counting =
      (send: Transport): Transport =>
      async (request) => {
        if (request.path.includes(trackingConfigMap)) reads++
        return await send(request)
      }
    const manager = start([loop], { options, clock: inDays(7.001), through: counting })
    await until(
      async () => reads,
      (count) => count === unusedNames.length,
    )
    await manager.stop()
    assert.deepEqual(await marks(), { marked: 'long-ago' })
  })

  await t.test('only unused legacy tokens are marked', async () => {
    await run(10, async () => Object.values(await marks()).every((day) => day === dayIn(10)) && (await marks()).unused)
    assert.deepEqual(await marks(), { unused: dayIn(10), marked: dayIn(10) })
  })

  await t.test('the Secret of a marked legacy token is deleted after another period', async () => {
    await run(12, async () => (await marks()).recent === undefined)
    assert.deepEqual(await marks(), { unused: dayIn(10), marked: dayIn(10) })
    await run(18.5, () => read('unused').then(() => false, isNotFound))
    for (const name of ['mounted', 'unreadable', 'unlisted', 'other', 'opaque']) await read(name)
    assert.deepEqual(await marks(), { recent: dayIn(18.5) })
  })
})
