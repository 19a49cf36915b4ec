/**
 * Tests the kubectl features that use the published OpenAPI document: explain, client-side validation and client-side
 * apply.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'
import { kubectl } from '../../support/kubectl.ts'

const configMap = (more: object) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', ...more })

const server = await serve({ after }, ['--profile=kubernetes'])

test('kubectl explain shows the type and description of a field', async () => {
  const { stdout, stderr } = await kubectl(server, ['explain', 'configmap.data'])
  assert.match(stdout, /FIELD:\s+data <map\[string\]string>/, stderr)
  assert.match(stdout, /DESCRIPTION:\s+Configuration data as UTF-8 text, keyed by name\./)
})

test('kubectl explain --recursive shows nested types', async () => {
  const { stdout, stderr } = await kubectl(server, ['explain', 'namespace', '--recursive'])
  assert.match(stdout, /KIND:\s+Namespace\nVERSION:\s+v1/, stderr)
  assert.match(stdout, / {3}metadata\t<Object>\n {6}annotations\t<map\[string\]string>/)
  assert.match(stdout, / {6}ownerReferences\t<\[\]Object>\n {9}apiVersion\t<string>/)
  assert.match(stdout, / {3}status\t<Object>\n {6}conditions\t<\[\]Object>\n {9}lastTransitionTime\t<string>/)
})

test('kubectl rejects an invalid object without sending it', async () => {
  const good = configMap({ metadata: { name: 'checked' }, data: { k: 'v' } })
  assert.equal((await kubectl(server, ['create', '--validate', '-f', '-'], good)).code, 0)
  const unknown = configMap({ metadata: { name: 'checked' }, datum: {} })
  const refused = await kubectl(server, ['apply', '-f', '-'], unknown)
  assert.match(refused.stderr, /error validating data.*unknown field "datum" in io\.k8s\.api\.core\.v1\.ConfigMap/)
  const wrong = configMap({ metadata: { name: 'checked', labels: ['a'] } })
  const mistyped = await kubectl(server, ['apply', '-f', '-'], wrong)
  assert.match(mistyped.stderr, /ObjectMeta\.labels: got "array", expected "map"/)
})

test('client-side apply merges lists according to the patch strategies in OpenAPI', async () => {
  const client = server.client()
  const apply = (finalizers: string[], data: object) =>
    kubectl(server, ['apply', '-f', '-'], configMap({ metadata: { name: 'merged', finalizers }, data }))
  const created = await apply(['example.com/a'], { kept: '1', dropped: '1' })
  assert.equal(created.stdout, 'configmap/merged created\n', created.stderr)
  const path = '/api/v1/namespaces/default/configmaps/merged'
  await client.put(path, {
    metadata: { name: 'merged', finalizers: ['example.com/a', 'example.com/other'] },
    data: { kept: '1', dropped: '1', other: '1' },
  })
  // The PUT removed the last-applied annotation, which this apply restores.
  await apply(['example.com/a'], { kept: '1', dropped: '1' })
  const changed = await apply(['example.com/b'], { kept: '2' })
  assert.equal(changed.stdout, 'configmap/merged configured\n', changed.stderr)
  const { data, metadata } = (await client.get(path)).body
  assert.deepEqual(data, { kept: '2', other: '1' })
  assert.deepEqual(metadata.finalizers.toSorted(), ['example.com/b', 'example.com/other'])
})

test('kubectl detects that the server supports dry run', async () => {
  const body = configMap({ metadata: { name: 'never' } })
  const { stdout, stderr } = await kubectl(server, ['apply', '--dry-run=server', '-f', '-'], body)
  assert.equal(stdout, 'configmap/never created (server dry run)\n', stderr)
  assert.equal((await server.client().get('/api/v1/namespaces/default/configmaps/never')).status, 404)
})
