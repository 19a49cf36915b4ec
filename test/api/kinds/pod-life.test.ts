/** Tests the lifecycle of a Pod in the server: subresources, deletion with and without a node, and watch events. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { noControls } from '../../support/accounts.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'

const path = '/api/v1/namespaces/default/pods'
const main = { name: 'main', image: 'app:1' }

test('a running server enforces the rules for the lifecycle of a pod', async (t) => {
  const server = await serve(t, [noControls])
  const client = server.client()

  await t.test('the pod status is mutable only through the status subresource', async () => {
    const created = await client.post(path, pod('a', {}, { status: { phase: 'Running' } }))
    assert.deepEqual([created.status, created.body.status], [201, { phase: 'Pending', qosClass: 'BestEffort' }])
    const sent = { ...pod('a', { hostname: 'x' }), status: { phase: 'Running', podIP: '10.0.0.1' } }
    const owners = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }]
    const written = await client.put(`${path}/a/status`, { ...sent, metadata: { name: 'a', ownerReferences: owners } })
    assert.deepEqual([written.status, written.body.spec], [200, created.body.spec])
    assert.deepEqual(
      [written.body.status.podIPs, written.body.metadata.ownerReferences],
      [[{ ip: '10.0.0.1' }], undefined],
    )
    const kept = await client.put(`${path}/a`, pod('a'))
    assert.deepEqual(kept.body.status, written.body.status)
  })

  await t.test(
    'ephemeral containers can only be added, and only through the ephemeralcontainers subresource',
    async () => {
      const before = await client.post(path, pod('b'))
      const debug = { name: 'debug', image: 'tools', targetContainerName: 'main' }
      const added = await client.put(`${path}/b/ephemeralcontainers`, {
        ...pod('b', { containers: [], ephemeralContainers: [debug] }),
        metadata: { name: 'b', labels: { not: 'here' } },
      })
      assert.equal(added.status, 200)
      assert.deepEqual(added.body.metadata.labels, undefined)
      assert.deepEqual(added.body.spec.containers, before.body.spec.containers)
      assert.equal(added.body.spec.ephemeralContainers[0].imagePullPolicy, 'Always')
      const gone = await client.put(`${path}/b/ephemeralcontainers`, pod('b'))
      assert.deepEqual(faultsOf(gone), ['FieldValueForbidden spec.ephemeralContainers'])
      assert.equal((await client.get(`${path}/b/ephemeralcontainers`)).body.kind, 'Pod')
    },
  )

  await t.test('duplicate elements of a keyed list in a pod are kept and can be updated', async () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
    ]
    const ports = [{ containerPort: 80 }, { containerPort: 80 }]
    const created = await client.post(path, pod('c', { containers: [{ ...main, env, ports }] }))
    assert.deepEqual([created.status, created.body.spec.containers[0].env], [201, env])
    const relabelled = await mergePatch(client, `${path}/c`, { metadata: { labels: { a: 'b' } } })
    assert.deepEqual([relabelled.status, relabelled.body.spec.containers[0].env], [200, env])
  })

  await t.test(
    'an update can add tolerations to a pod and change tolerationSeconds, but cannot remove tolerations',
    async () => {
      const tolerations = [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }]
      await client.post(path, pod('l', { tolerations }))
      const more = [{ operator: 'Exists' }, { effect: 'NoExecute', operator: 'Exists', key: 'a', tolerationSeconds: 9 }]
      const changed = await client.put(`${path}/l`, pod('l', { tolerations: more }))
      assert.deepEqual([changed.status, changed.body.spec.tolerations], [200, more])
      const fewer = await client.put(`${path}/l`, pod('l', { tolerations }))
      assert.deepEqual(faultsOf(fewer), ['FieldValueForbidden spec.tolerations'])
    },
  )

  await t.test('deleting an unscheduled pod sends a MODIFIED event, then removes the pod immediately', async () => {
    const created = await client.post(path, pod('d'))
    const since = created.body.metadata.resourceVersion
    const deleted = await client.delete(`${path}/d`)
    assert.equal(deleted.body.metadata.deletionGracePeriodSeconds, 0)
    assert.equal((await client.get(`${path}/d`)).status, 404)
    const seen: [string, number | undefined][] = []
    const end = new AbortController()
    for await (const { type, object } of client.watch(`${path}?watch=1&resourceVersion=${since}`, end.signal)) {
      seen.push([type, object.metadata?.deletionGracePeriodSeconds])
      if (type === 'DELETED') break
    }
    end.abort()
    assert.deepEqual(seen, [
      ['MODIFIED', 0],
      ['DELETED', 0],
    ])
  })

  await t.test('deleting a scheduled pod starts a grace period that can only be shortened', async () => {
    await client.post(path, pod('e', { nodeName: 'n', terminationGracePeriodSeconds: 60 }))
    const graceAfter = async (query: string) => {
      const { body } = await client.delete(`${path}/e${query}`)
      return { grace: body.metadata.deletionGracePeriodSeconds, end: Date.parse(body.metadata.deletionTimestamp) }
    }
    const first = await graceAfter('')
    assert.equal(first.grace, 60)
    assert.deepEqual(await graceAfter('?gracePeriodSeconds=20&dryRun=All'), { grace: 20, end: first.end - 40_000 })
    assert.deepEqual(await graceAfter('?gracePeriodSeconds=90'), first)
    assert.deepEqual(await graceAfter('?gracePeriodSeconds=20'), { grace: 20, end: first.end - 40_000 })
    assert.deepEqual(await graceAfter(''), { grace: 20, end: first.end - 40_000 })
    const written = await client.put(`${path}/e/status`, { ...pod('e'), status: { phase: 'Running' } })
    assert.deepEqual([written.status, written.body.metadata.deletionGracePeriodSeconds], [200, 20])
    assert.equal((await graceAfter('?gracePeriodSeconds=0')).grace, 0)
    assert.equal((await client.get(`${path}/e`)).status, 404)
  })

  await t.test(
    'a negative grace period counts as 1 second, and deleting a terminated pod removes it immediately',
    async () => {
      for (const [name, first] of [
        ['f', '?gracePeriodSeconds=-7'],
        ['f2', '?gracePeriodSeconds=20'],
      ] as const) {
        await client.post(path, pod(name, { nodeName: 'n' }))
        assert.equal((await client.delete(`${path}/${name}${first}`)).status, 200)
        assert.equal((await client.delete(`${path}/${name}?gracePeriodSeconds=-1`)).status, 200)
        assert.equal((await client.get(`${path}/${name}`)).body.metadata.deletionGracePeriodSeconds, 1)
      }
      await client.post(path, pod('g', { nodeName: 'n' }))
      await client.put(`${path}/g/status`, { ...pod('g'), status: { phase: 'Succeeded' } })
      await client.delete(`${path}/g`)
      assert.equal((await client.get(`${path}/g`)).status, 404)
    },
  )

  await t.test('a pod with finalizers remains after its grace period until the last finalizer is removed', async () => {
    const held = pod('h', { nodeName: 'n' })
    await client.post(path, { ...held, metadata: { name: 'h', finalizers: ['example.org/f'] } })
    await client.delete(`${path}/h?gracePeriodSeconds=5`)
    const freed = await mergePatch(client, `${path}/h`, { metadata: { finalizers: null } })
    assert.deepEqual([freed.status, freed.body.metadata.deletionGracePeriodSeconds], [200, 5])
    assert.equal((await client.get(`${path}/h`)).status, 200, 'the pod remains until the grace period ends')

    await client.post(path, { ...held, metadata: { name: 'i', finalizers: ['example.org/f'] } })
    await client.delete(`${path}/i?gracePeriodSeconds=0`)
    assert.equal((await client.get(`${path}/i`)).status, 200)
    await mergePatch(client, `${path}/i`, { metadata: { finalizers: null } })
    assert.equal((await client.get(`${path}/i`)).status, 404)
  })

  await t.test('a field selector can select pods by node, restart policy, service account and phase', async () => {
    await client.post(path, pod('j', { nodeName: 'here', restartPolicy: 'Never', serviceAccountName: 'acc' }))
    const namesBy = async (selector: string) => {
      const { body } = await client.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`)
      return body.items?.map(({ metadata }: { metadata: { name: string } }) => metadata.name) ?? body.code
    }
    assert.deepEqual(await namesBy('spec.nodeName=here'), ['j'])
    assert.deepEqual(await namesBy('spec.restartPolicy=Never,spec.serviceAccountName=acc'), ['j'])
    assert.deepEqual(await namesBy('status.phase=Running'), ['a'])
    assert.equal(await namesBy('spec.hostNetwork=true'), 400)
  })

  await t.test('creating a pod with a deprecated volume returns a warning', async () => {
    const volumes = [{ name: 'v', gitRepo: { repository: 'r' } }]
    const { status, headers } = await client.post(path, pod('k', { volumes }))
    assert.equal(status, 201)
    assert.match(String(headers.warning), /^299 - "spec\.volumes\[0\]\.gitRepo: /)
  })
})

function mergePatch(client: HttpClient, target: string, body: JsonObject) {
  return client.send(target, { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body })
}

function pod(name: string, spec: JsonObject = {}, rest: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [main], ...spec }, ...rest }
}

function faultsOf({ body }: { body: { details: { causes: { reason: string; field: string }[] } } }): string[] {
  return body.details.causes.map(({ reason, field }) => `${reason} ${field}`)
}
