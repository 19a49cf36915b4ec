// @kubernetes/client-node against the server that KUBECONFIG names.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  ApiextensionsV1Api,
  AuthorizationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  Watch,
} from '@kubernetes/client-node'

const config = new KubeConfig()
config.loadFromDefault()
const core = config.makeApiClient(CoreV1Api)
const namespace = 'default'
const body = (name, data = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data })
const create = (name, data) => core.createNamespacedConfigMap({ namespace, body: body(name, data) })

test('a config map from its creation to its deletion', async () => {
  await create('a', { k: 'v' })
  const found = await core.readNamespacedConfigMap({ namespace, name: 'a' })
  assert.deepEqual(found.data, { k: 'v' })
  const list = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=a' })
  assert.equal(list.items.length, 1)
  await core.deleteNamespacedConfigMap({ namespace, name: 'a' })
  await assert.rejects(core.readNamespacedConfigMap({ namespace, name: 'a' }), { code: 404 })
})

test('of two that replace the same version one gets a conflict', async () => {
  const made = await create('b')
  await core.replaceNamespacedConfigMap({ namespace, name: 'b', body: { ...made, data: { by: 'one' } } })
  await assert.rejects(
    core.replaceNamespacedConfigMap({ namespace, name: 'b', body: { ...made, data: { by: 'two' } } }),
    { code: 409 },
  )
})

test('server-side apply', async () => {
  const objects = KubernetesObjectApi.makeApiClient(config)
  const applied = await objects.patch(
    body('c', { k: 'v' }),
    undefined,
    undefined,
    'me',
    true,
    PatchStrategy.ServerSideApply,
  )
  assert.equal(applied.metadata.managedFields[0].manager, 'me')
})

test('a watch and an informer', async () => {
  const seen = Promise.withResolvers()
  const request = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    { fieldSelector: 'metadata.name=d' },
    (type) => seen.resolve(type),
    () => {},
  )
  const list = () => core.listNamespacedConfigMap({ namespace })
  const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list)
  const added = Promise.withResolvers()
  informer.on('add', (object) => object.metadata.name === 'd' && added.resolve(object.data))
  await informer.start()
  await create('d', { k: 'v' })
  assert.equal(await seen.promise, 'ADDED')
  assert.deepEqual(await added.promise, { k: 'v' })
  request.abort()
  await informer.stop()
})

test('a custom resource', async () => {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
    },
  }
  await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  })
  const custom = config.makeApiClient(CustomObjectsApi)
  const place = { group: 'example.com', version: 'v1', namespace, plural: 'things' }
  const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { size: 3 } }
  await custom.createNamespacedCustomObject({ ...place, body: thing })
  assert.equal((await custom.getNamespacedCustomObject({ ...place, name: 'a' })).spec.size, 3)
  await assert.rejects(
    custom.createNamespacedCustomObject({ ...place, body: { ...thing, metadata: { name: 'b' }, spec: { size: 'x' } } }),
    { code: 422 },
  )
})

test('a namespace goes with all that is in it, and a review says who may what', async () => {
  await core.createNamespace({ body: { metadata: { name: 'going' } } })
  await core.createNamespacedConfigMap({ namespace: 'going', body: { metadata: { name: 'a' } } })
  await core.deleteNamespace({ name: 'going' })
  for (let tries = 0; tries < 200; tries++) {
    const gone = await core.readNamespace({ name: 'going' }).then(
      () => false,
      (error) => error.code === 404,
    )
    if (gone) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await assert.rejects(core.readNamespace({ name: 'going' }), { code: 404 })
  const review = await config.makeApiClient(AuthorizationV1Api).createSelfSubjectAccessReview({
    body: { spec: { resourceAttributes: { verb: 'create', resource: 'pods', namespace } } },
  })
  assert.equal(review.status.allowed, true)
})

after(() => setImmediate(() => process.exit()).unref())
