/**
 * Tests that `cluster-info` has a signature for every token that may be used for signing, and no other signatures. The
 * test verifies the signatures with jose.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compactVerify } from 'jose'
import { clusterInfo } from '../../../src/api/model/bootstrap-token.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { openLoopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const namespace = 'kube-system'
const secret = '0123456789abcdef'
const base64 = (text: string) => Buffer.from(text).toString('base64')
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+/, '')

for (const profile of ['orch', 'kubernetes'] as const)
  test(`the bootstrap signer signs cluster-info under the profile ${profile}`, async (t) => {
    const { client, start } = await openLoopServer(t, [`--profile=${profile}`])
    const type = profile === 'orch' ? 'bootstrap.orch.io/token' : 'bootstrap.kubernetes.io/token'
    const make = (id: string, changes: { [key: string]: string } = {}) => {
      const texts = { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-signing': 'true', ...changes }
      return client.create(kinds.Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace, name: `bootstrap-token-${id}` },
        type,
        data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64(text)])),
      })
    }
    const info = async () => (await client.get(kinds.ConfigMap, clusterInfo)).data ?? {}
    const signers = async () =>
      Object.keys(await info())
        .filter((each) => each.startsWith('jws-'))
        .map((each) => each.slice(-6))
        .sort()
    const signedBy = (...ids: string[]) => until(signers, (latest) => latest.join() === ids.sort().join())
    const kubeconfig = 'apiVersion: v1\nkind: Config\n# ü\n'
    await client.create(kinds.ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...clusterInfo },
      data: { kubeconfig, note: 'mine' },
    })

    const manager = start(['bootstrapsigner'])

    await t.test(
      'only valid, unexpired bootstrap tokens with the signing usage have signatures in cluster-info',
      async () => {
        await make('first0')
        await make('absent', { 'usage-bootstrap-signing': '' })
        await make('nosign', { 'usage-bootstrap-signing': 'false' })
        await make('expird', { expiration: inSeconds(-5) })
        await make('odd000', { expiration: 'later' })
        await make('misnam', { 'token-id': 'other0' })
        await make('short0', { 'token-secret': 'short' })
        await make('brief0', { expiration: inSeconds(3) })
        await until(signers, (latest) => latest.includes('brief0'))
        await signedBy('first0')
        await make('second')
        await signedBy('first0', 'second')
        await client.delete(kinds.Secret, { namespace, name: 'bootstrap-token-second' })
        await signedBy('first0')
        assert.equal((await info()).note, 'mine')
      },
    )

    await t.test(
      'the signature in cluster-info is a detached JWS over the kubeconfig and is updated with the kubeconfig',
      async () => {
        const verify = async (text: string) => {
          const jws = (await info())['jws-kubeconfig-first0'] ?? ''
          const [header = '', empty, signature] = jws.split('.')
          assert.equal(empty, '')
          assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), { alg: 'HS256', kid: 'first0' })
          const whole = `${header}.${Buffer.from(text).toString('base64url')}.${signature}`
          const key = new TextEncoder().encode(profile === 'orch' ? `first0.${secret}` : secret)
          return await compactVerify(whole, key, { algorithms: ['HS256'] })
        }
        await verify(kubeconfig)
        const found = await client.get(kinds.ConfigMap, clusterInfo)
        await client.update(kinds.ConfigMap, { ...found, data: { ...found.data, kubeconfig: 'other' } })
        await until(
          async () =>
            verify('other').then(
              () => true,
              () => false,
            ),
          Boolean,
        )
      },
    )

    await t.test('altered signatures in cluster-info are restored, and extra signatures are removed', async () => {
      const found = await client.get(kinds.ConfigMap, clusterInfo)
      const forged = { ...found.data, 'jws-kubeconfig-first0': 'forged', 'jws-kubeconfig-nobody': 'forged' }
      await client.update(kinds.ConfigMap, { ...found, data: forged })
      await until(
        info,
        (data) =>
          data['jws-kubeconfig-first0'] === found.data?.['jws-kubeconfig-first0'] && !('jws-kubeconfig-nobody' in data),
      )
    })
    await manager.stop()
  })
