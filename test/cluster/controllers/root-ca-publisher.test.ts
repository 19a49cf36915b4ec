/**
 * Tests that every namespace has a ConfigMap with the server's CA, and that the ConfigMap is restored after changes.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import { deaths, openLoopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const name = 'kube-root-ca.crt'

test('the manager publishes the root CA', async (t) => {
  const { client, start } = await openLoopServer(t)
  const options = { rootAuthority: () => 'the CA' }
  const makeNamespace = (namespace: string) =>
    client.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const held = (namespace: string) =>
    client.get(kinds.ConfigMap, { namespace, name }).then(
      ({ data }) => JSON.stringify(data),
      (error: unknown) => {
        if (isNotFound(error)) return ''
        throw error
      },
    )
  const published = (namespace: string, text = 'the CA') =>
    until(
      () => held(namespace),
      (latest) => latest === JSON.stringify({ 'ca.crt': text }),
    )

  await t.test('the root CA publisher does not run without a CA', async () => {
    const manager = start(['root-ca-cert-publisher'])
    await manager.firstPass
    await manager.stop()
    assert.equal(await held('default'), '')
  })

  await t.test('the CA is published in every namespace even if the manager is killed during any write', async () => {
    for (const death of deaths(3)) {
      const dying = start(['root-ca-cert-publisher'], { options, death })
      await dying.killed
      await dying.stop()
      const next = start(['root-ca-cert-publisher'], { options })
      for (const namespace of ['default', 'kube-system', 'kube-public']) await published(namespace)
      await next.stop()
      for (const namespace of ['default', 'kube-system', 'kube-public'])
        await client.delete(kinds.ConfigMap, { namespace, name })
    }
  })

  await t.test(
    'changed root CA ConfigMaps are restored, and a terminating namespace does not block other namespaces',
    async () => {
      const ca = { text: 'the CA' }
      const manager = start(['root-ca-cert-publisher'], { options: { rootAuthority: () => ca.text } })
      await makeNamespace('going')
      await published('going')
      await client.delete(kinds.Namespace, { name: 'going' })
      await client.delete(kinds.ConfigMap, { namespace: 'going', name })
      await makeNamespace('a')
      await published('a')
      const configMap = await client.get(kinds.ConfigMap, { namespace: 'a', name })
      await client.update(kinds.ConfigMap, { ...configMap, data: { 'ca.crt': 'forged', more: 'x' } })
      await published('a')
      await client.delete(kinds.ConfigMap, { namespace: 'a', name })
      await published('a')
      assert.equal(await held('going'), '')
      await manager.stop()
      const next = start(['root-ca-cert-publisher'], { options: { rootAuthority: () => 'another' } })
      await published('a', 'another')
      await next.stop()
    },
  )
})
