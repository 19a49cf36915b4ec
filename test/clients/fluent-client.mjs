// kubernetes-fluent-client against the server that KUBECONFIG names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GenericKind, K8s, kind, RegisterKind } from 'kubernetes-fluent-client'

const metadata = (name) => ({ name, namespace: 'default' })

test('apply, get and delete', async () => {
  await K8s(kind.ConfigMap).Apply({ metadata: metadata('a'), data: { k: 'v' } })
  assert.deepEqual((await K8s(kind.ConfigMap).InNamespace('default').Get('a')).data, { k: 'v' })
  await K8s(kind.ConfigMap).Apply({ metadata: metadata('a'), data: { k: 'w' } })
  assert.deepEqual((await K8s(kind.ConfigMap).InNamespace('default').Get('a')).data, { k: 'w' })
  await K8s(kind.ConfigMap).InNamespace('default').Delete('a')
  await assert.rejects(K8s(kind.ConfigMap).InNamespace('default').Get('a'), (error) => error.status === 404)
})

test('create, JSON patch, list with a label', async () => {
  await K8s(kind.Secret).Create({ metadata: { ...metadata('s'), labels: { app: 'x' } }, stringData: { p: 'q' } })
  const patch = [{ op: 'add', path: '/metadata/annotations', value: { seen: 'yes' } }]
  await K8s(kind.Secret, { namespace: 'default', name: 's' }).Patch(patch)
  const { items } = await K8s(kind.Secret).InNamespace('default').WithLabel('app', 'x').Get()
  assert.deepEqual(
    items.map(({ metadata }) => [metadata.name, metadata.annotations.seen]),
    [['s', 'yes']],
  )
})

test('a watch', async () => {
  const seen = Promise.withResolvers()
  const watcher = K8s(kind.ConfigMap)
    .InNamespace('default')
    .Watch((object, phase) => object.metadata.name === 'watched' && seen.resolve(phase))
  await watcher.start()
  await K8s(kind.ConfigMap).Create({ metadata: metadata('watched') })
  assert.equal(await seen.promise, 'ADDED')
  watcher.close()
})

test('a custom resource', async () => {
  class Thing extends GenericKind {}
  RegisterKind(Thing, { group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things' })
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
    },
  }
  await K8s(kind.CustomResourceDefinition).Apply({
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  await K8s(Thing).Apply({ metadata: metadata('a'), spec: { size: 3 } })
  assert.equal((await K8s(Thing).InNamespace('default').Get('a')).spec.size, 3)
})
