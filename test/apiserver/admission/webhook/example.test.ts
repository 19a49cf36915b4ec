/** Runs the webhook of docs/extend/webhooks.md exactly as documented. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openssl } from '../../../api/pki/openssl.ts'
import { freePorts } from '../../../support/etcd.ts'
import { serve } from '../../../support/in-process.ts'
import { root } from '../../../support/server.ts'
import { configMaps, configure } from '../../../support/webhooks.ts'

test('the webhook from the documentation adds labels and rejects objects', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-example-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const page = readFileSync(join(root, 'docs/extend/webhooks.md'), 'utf8')
  const [, program = ''] = /```ts\n([\s\S]*?)```/.exec(page)!
  assert.ok(program.split('\n').length <= 50)
  writeFileSync(join(directory, 'webhook.ts'), program)
  const certFile = join(directory, 'tls.crt')
  const keyFile = join(directory, 'tls.key')
  openssl([
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'],
    ...['-subj', '/CN=webhook', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', keyFile, '-out', certFile],
  ])
  const [port] = await freePorts(1)
  const child = spawn(process.execPath, ['webhook.ts'], { cwd: directory, env: { ...process.env, PORT: String(port) } })
  t.after(() => child.kill())
  await once(child.stdout, 'data')
  const client = (await serve(t)).client()
  const caBundle = readFileSync(certFile).toString('base64')
  const hook = (path: string) => ({
    name: 'example.example.com',
    clientConfig: { url: `https://127.0.0.1:${port}${path}`, caBundle },
    rules: [configMaps],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  })
  await configure(client, 'mutating', 'example', [hook('/mutate')])
  await configure(client, 'validating', 'example', [hook('/validate')])
  const maps = '/api/v1/namespaces/default/configmaps'
  const fine = await client.post(maps, { metadata: { name: 'fine' }, data: { a: 'b' } })
  assert.deepEqual([fine.status, fine.body.metadata.labels], [201, { checked: 'yes' }])
  const refused = await client.post(maps, { metadata: { name: 'bad' }, data: { password: 'x' } })
  assert.equal(refused.status, 403)
  assert.match(refused.body.message, /use a Secret for passwords/)
})
