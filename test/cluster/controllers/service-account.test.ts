/**
 * Tests the serviceaccount loop in a real `orch up`. Every namespace has a default account, which is recreated after
 * a deletion. If a manager is killed, the next manager continues its work.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { TransportError } from '../../../src/client/requests/transport.ts'
import { serveUp } from '../../support/in-process.ts'
import { deaths, openLoopServer } from '../../support/loop-manager.ts'
import { eventOf } from '../../support/resource-types.ts'
import { until } from '../../support/until.ts'

test('every namespace has a default service account, which is recreated if deleted', async (t) => {
  const server = await serveUp(t)
  const client = new Client(server.transport())
  await client.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } })
  const added = ({ type }: { type: string }) => type === 'ADDED'
  for (const namespace of ['default', 'kube-system', 'kube-public', 'kube-node-lease', 'fresh'])
    await eventOf(client, kinds.ServiceAccount, { name: { namespace, name: 'default' }, fits: added })

  const name = { namespace: 'fresh', name: 'default' }
  const first = await client.get(kinds.ServiceAccount, name)
  const resourceVersion = first.metadata.resourceVersion!
  await client.delete(kinds.ServiceAccount, name)
  const again = await eventOf(client, kinds.ServiceAccount, { name, resourceVersion, fits: added })
  assert.ok(again.type !== 'BOOKMARK' && again.object.metadata.uid !== first.metadata.uid)
  assert.doesNotMatch(server.output(), / error /)
})

test('a terminating namespace gets no default service account', async (t) => {
  const server = await serveUp(t)
  const client = new Client(server.transport())
  for (let i = 0; i < 20; i++) {
    const made = await client.create(kinds.Namespace, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: `n${i}` },
    })
    await client.delete(kinds.Namespace, { name: `n${i}` })
    await eventOf(client, kinds.Namespace, {
      name: { name: `n${i}` },
      resourceVersion: made.metadata.resourceVersion!,
      fits: ({ type }) => type === 'DELETED',
    })
  }
  assert.doesNotMatch(server.output(), / error /)
})

test('neither an error in one namespace nor a killed manager prevents default service accounts in other namespaces', async (t) => {
  const { start, client } = await openLoopServer(t)
  const names = ['default', 'kube-system', 'kube-public', 'kube-node-lease']
  const accounts = async () =>
    (await client.list(kinds.ServiceAccount, {})).items.map(({ metadata }) => metadata.namespace)
  for (const death of deaths(names.length)) {
    const dying = start(['serviceaccount'], { death })
    await dying.killed
    await dying.stop()
    const next = start(['serviceaccount'])
    const made = await until(accounts, (found) => found.length >= names.length)
    assert.deepEqual(made.toSorted(), names.toSorted())
    await next.stop()
    for (const namespace of names) await client.delete(kinds.ServiceAccount, { namespace, name: 'default' })
  }
  const isRefused = (path: string) => path.includes('/namespaces/default/')
  const running = start(['serviceaccount'], {
    through: (send) => async (request) => {
      if (request.method === 'POST' && isRefused(request.path)) throw new TransportError('refused')
      return await send(request)
    },
  })
  const rest = await until(accounts, (found) => found.length === names.length - 1)
  assert.ok(!rest.includes('default'))
  await running.stop()
})
