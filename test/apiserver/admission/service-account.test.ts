/** Tests ServiceAccount: every pod gets an account, its secrets and its token, or is rejected with a reason. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Lookup } from '../../../src/api/model/lookup.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { serviceAccount } from '../../../src/apiserver/admission/controls/service-account.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { serve, serveUp } from '../../support/in-process.ts'

const containers = [{ name: 'c', image: 'i' }]
const mountPath = '/var/run/secrets/orch.io/serviceaccount'

const pod = (spec: object, annotations: object = {}) => ({
  metadata: { generateName: 'p-', annotations },
  spec: { containers, ...spec },
})

/** Creates a namespace, and returns the path of its pods and a function that creates service accounts. */
function roomOf(client: HttpClient, namespace: string) {
  const base = `/api/v1/namespaces/${namespace}`
  const account = async (name: string, fields: object = {}, annotations: object = {}): Promise<void> => {
    const object = { metadata: { name, annotations }, ...fields }
    assert.equal((await client.post(`${base}/serviceaccounts`, object)).status, 201)
  }
  return { client, path: `${base}/pods`, account }
}

describe('service accounts for pods', async () => {
  const everywhere = (await serve({ after })).client()
  const enter = async (namespace: string) => {
    const made = await everywhere.post('/api/v1/namespaces', { metadata: { name: namespace } })
    assert.equal(made.status, 201)
    return roomOf(everywhere, namespace)
  }

  test('the named or default service account of a pod must exist', async () => {
    const { client, path, account } = await enter('needed')
    const refused = await client.post(path, { ...pod({}), metadata: { name: 'p' } })
    assert.deepEqual([refused.status, refused.body.details], [403, { name: 'p', kind: 'pods' }])
    assert.match(refused.body.message, /^pods "p" is forbidden: .*needed\/default/)
    await account('default', { automountServiceAccountToken: false, imagePullSecrets: [{ name: 'pull' }] })
    const { body } = await client.post(path, pod({}))
    const { serviceAccountName, serviceAccount, volumes, imagePullSecrets } = body.spec
    assert.deepEqual([serviceAccountName, serviceAccount, volumes], ['default', 'default', undefined])
    assert.deepEqual(imagePullSecrets, [{ name: 'pull' }])
    const owners = JSON.stringify(body.metadata.managedFields)
    assert.ok(!owners.includes('f:serviceAccountName') && !owners.includes('kube-api-access'), owners)
    const own = await client.post(path, pod({ imagePullSecrets: [{ name: 'mine' }] }))
    assert.deepEqual(own.body.spec.imagePullSecrets, [{ name: 'mine' }])
    for (const spec of [{ serviceAccountName: 'robot' }, { serviceAccount: 'robot' }]) {
      assert.equal((await client.post(path, pod(spec))).status, 403)
    }
    await account('robot')
    const old = await client.post(path, pod({ serviceAccount: 'robot' }))
    assert.deepEqual([old.status, old.body.spec.serviceAccountName], [201, 'robot'])
  })

  test('the maximum time to wait for the default service account does not depend on the number of lookups', async () => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
    let looks = 0
    let now = 0
    const lookup = {
      getCached: () => undefined,
      getLatest: () => (++looks < 13 ? undefined : { object: account, revision: 1 }),
    } as unknown as Lookup
    const control = serviceAccount({
      vendor: vendorOf('orch'),
      lookup,
      clock: { ...systemClock, monotonic: () => now },
    })
    const ask = async (name: string) => {
      const object = { metadata: { name: 'p' }, spec: { ...pod({}).spec, serviceAccountName: name } }
      const type = { group: '', plural: 'pods' }
      const request = { operation: 'CREATE', vendor: vendorOf('orch'), type, subresource: '', namespace: 'n', object }
      await control.mutate!(request as never, {})
    }
    await ask('default')
    assert.equal(looks, 13)
    looks = 0
    await assert.rejects(ask('robot'), /serviceaccount "robot" not found/)
    assert.equal(looks, 1)
    looks = -1000
    const waiting = assert.rejects(ask('default'), /serviceaccount "default" not found/)
    now = 1000
    await waiting
    assert.equal(looks, -990)
  })

  test('every container mounts the token volume unless the mount is disabled or already present', async () => {
    const { client, path, account } = await enter('mounted')
    await account('default')
    await account('no', { automountServiceAccountToken: false })
    const spec = { initContainers: [{ name: 'first', image: 'i' }] }
    const { body } = await client.post(path, pod(spec))
    const [volume] = body.spec.volumes
    assert.match(volume.name, /^kube-api-access-[a-z0-9]{5}$/)
    assert.deepEqual(volume.projected, {
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    })
    for (const { volumeMounts } of [...body.spec.containers, ...body.spec.initContainers])
      assert.deepEqual(volumeMounts, [{ name: volume.name, readOnly: true, mountPath }])

    const volumesOf = async (wanted: object) => (await client.post(path, pod(wanted))).body.spec.volumes?.length ?? 0
    assert.equal(await volumesOf({ automountServiceAccountToken: false }), 0)
    assert.equal(await volumesOf({ serviceAccountName: 'no' }), 0)
    assert.equal(await volumesOf({ serviceAccountName: 'no', automountServiceAccountToken: true }), 1)
    const volumes = [{ name: 'own', emptyDir: {} }]
    const taken = [{ name: 'c', image: 'i', volumeMounts: [{ name: 'own', mountPath }] }]
    assert.equal(await volumesOf({ containers: taken, volumes }), 1)
    assert.equal(await volumesOf({ containers: [...taken, { name: 'd', image: 'i' }], volumes }), 2)
    assert.equal(await volumesOf({ volumes: [{ name: 'kube-api-access-mine', emptyDir: {} }] }), 1)
  })

  test('mirror pods get neither a service account nor secrets', async () => {
    const { client, path } = await enter('mirrored')
    const mirror = (spec: object) =>
      client.post(path, pod({ nodeName: 'n', ...spec }, { 'orch.io/config.mirror': 'x' }))
    const plain = await mirror({})
    assert.deepEqual([plain.status, plain.body.spec.serviceAccountName], [201, undefined])
    const token = { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }
    const env = [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }]
    for (const [spec, expected] of [
      [{ serviceAccountName: 'default' }, /service accounts/],
      [{ imagePullSecrets: [{ name: 's' }] }, /secrets/],
      [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, /secrets/],
      [{ volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 's' } }] } }] }, /secrets/],
      [{ volumes: [{ name: 'v', csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } }] }, /secrets/],
      [{ containers: [{ name: 'c', image: 'i', env }] }, /secrets/],
      [{ containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: 's' } }] }] }, /secrets/],
      [{ volumes: [{ name: 'v', ...token }] }, /ServiceAccountToken/],
    ] as const) {
      const { status, body } = await mirror(spec)
      assert.equal(status, 403, JSON.stringify(spec))
      assert.match(body.message, expected)
    }
  })

  test('an annotated service account restricts its pods to the secrets that it lists', async () => {
    const { client, path, account } = await enter('kept')
    const fields = {
      automountServiceAccountToken: false,
      secrets: [{ name: 'mine' }],
      imagePullSecrets: [{ name: 'pull' }],
    }
    await account('strict', fields, { 'orch.io/enforce-mountable-secrets': 'true' })
    const env = [{ name: 'E', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } }]
    const status = async (spec: object) =>
      (await client.post(path, pod({ serviceAccountName: 'strict', ...spec }))).status
    assert.equal(await status({ volumes: [{ name: 'v', secret: { secretName: 'other' } }] }), 403)
    assert.equal(await status({ containers: [{ name: 'c', image: 'i', env }] }), 403)
    assert.equal(await status({ initContainers: [{ name: 'd', image: 'i', env }] }), 403)
    assert.equal(await status({ imagePullSecrets: [{ name: 'else' }] }), 403)
    const nameless = [{ name: 'E', valueFrom: { secretKeyRef: { key: 'k' } } }]
    assert.equal(await status({ containers: [{ name: 'c', image: 'i', env: nameless }] }), 403)
    assert.equal(await status({ volumes: [{ name: 'v', secret: {} }] }), 403)
    const from = [{ secretRef: { name: 'other' } }]
    const projected = { sources: [{ secret: { name: 'other' } }] }
    assert.equal(await status({ containers: [{ name: 'c', image: 'i', envFrom: from }] }), 403)
    assert.equal(await status({ initContainers: [{ name: 'd', image: 'i', envFrom: from }] }), 403)
    assert.equal(await status({ volumes: [{ name: 'v', projected }] }), 403)
    assert.equal(
      await status({ volumes: [{ name: 'v', csi: { driver: 'd', nodePublishSecretRef: { name: 'o' } } }] }),
      403,
    )
    assert.equal(await status({ volumes: [{ name: 'v', secret: { secretName: 'mine' } }] }), 201)

    const { body } = await client.post(path, pod({ serviceAccountName: 'strict' }))
    const add = async (container: object) => {
      const patch = { spec: { ephemeralContainers: [{ name: 'e', image: 'i', ...container }] } }
      const headers = { 'content-type': 'application/strategic-merge-patch+json' }
      const target = `${path}/${body.metadata.name}/ephemeralcontainers?dryRun=All`
      return (await client.send(target, { method: 'PATCH', headers, body: patch })).status
    }
    assert.deepEqual([await add({ env }), await add({ envFrom: from }), await add({})], [403, 403, 200])
  })

  test('the annotation that restricts which secrets pods may use must be a boolean', async () => {
    const { client, path, account } = await enter('said')
    const volumes = [{ name: 'v', secret: { secretName: 'other' } }]
    for (const [value, status] of [
      ['1', 403],
      ['True', 403],
      ['false', 201],
      ['yes', 403],
    ] as const) {
      const name = `a-${value.toLowerCase()}`
      await account(name, {}, { 'orch.io/enforce-mountable-secrets': value })
      const answer = await client.post(path, pod({ serviceAccountName: name, volumes }))
      assert.equal(answer.status, status, value)
      if (value === 'yes')
        assert.match(answer.body.message, /enforce-mountable-secrets of service account a-yes must be/)
    }
  })
})

test('a pod can be created immediately after its namespace, because the server waits for the default service account', async (t) => {
  const client = (await serveUp(t)).client()
  for (let i = 0; i < 10; i++) {
    assert.equal((await client.post('/api/v1/namespaces', { metadata: { name: `n${i}` } })).status, 201)
    const made = await client.post(`/api/v1/namespaces/n${i}/pods`, { metadata: { name: 'p' }, spec: { containers } })
    assert.deepEqual([made.status, made.body.spec?.serviceAccountName], [201, 'default'], made.text)
  }
})

test('the kubernetes profile uses Kubernetes volume and annotation names', async (t) => {
  const { client, path, account } = roomOf((await serve(t, ['--profile=kubernetes'])).client(), 'default')
  await account('default')
  const { body } = await client.post(path, pod({}))
  assert.equal(body.spec.containers[0].volumeMounts[0].mountPath, '/var/run/secrets/kubernetes.io/serviceaccount')
  assert.deepEqual(
    body.spec.tolerations.map(({ key }: { key: string }) => key),
    ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'],
  )
})
