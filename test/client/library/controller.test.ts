/** Runs the controller in docs/reference/client.md, unchanged, as a separate program. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigMap, connect, Event, isNotFound, Lease } from '../../../src/client/library/client.ts'
import { serve } from '../../support/in-process.ts'
import { codeInDocs, projectWithOrch } from '../../support/library.ts'
import { root } from '../../support/server.ts'
import { until } from '../../support/until.ts'

test('the controller from the documentation copies, updates and deletes objects, reports status and releases its lease', async (t) => {
  const code = codeInDocs('reference/client.md', 'controller')
  assert.ok(code.split('\n').length <= 50, 'it was to have at most fifty lines')
  const server = await serve(t)
  const project = await projectWithOrch(t, ['client'])
  writeFileSync(join(project, 'controller.mts'), code)
  const env = { ...process.env, KUBECONFIG: join(server.directory, 'admin.kubeconfig') }
  const running = spawn(join(root, 'bin/node'), ['controller.mts'], { cwd: project, env })
  t.after(() => running.kill('SIGKILL'))
  let output = ''
  for (const stream of [running.stdout, running.stderr]) stream.on('data', (chunk) => (output += chunk))

  const client = await connect(server.credentials())
  t.after(() => client.close())
  const original = { namespace: 'default', name: 'settings' }
  const copy = { namespace: 'kube-public', name: 'settings' }
  const write = (data: { [key: string]: string }) =>
    client.apply(
      ConfigMap,
      { metadata: { ...original, labels: { 'copy-to': 'kube-public' } }, data },
      { fieldManager: 't' },
    )
  const copied = async () => {
    const copiedMap = await client.get(ConfigMap, copy).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
    return copiedMap?.data?.colour ?? `none; ${output}`
  }
  await write({ colour: 'red' })
  await until(copied, (colour) => colour === 'red')
  await write({ colour: 'blue' })
  await until(copied, (colour) => colour === 'blue')
  await client.delete(ConfigMap, copy)
  await until(copied, (colour) => colour === 'blue')
  const reported = () => client.list(Event, { namespace: 'default', fieldSelector: 'involvedObject.name=settings' })
  await until(reported, ({ items }) => items.some(({ reason }) => reason === 'Copied'))
  await client.delete(ConfigMap, original)
  await until(copied, (colour) => colour.startsWith('none'))

  running.kill('SIGTERM')
  const [exitCode] = await once(running, 'exit')
  assert.deepEqual([exitCode, output], [0, 'waiting to lead\ncopying\n'])
  const lease = await client.get(Lease, { namespace: 'default', name: 'config-copier' })
  assert.equal(lease.spec?.holderIdentity ?? '', '')
})
