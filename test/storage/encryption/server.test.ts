/**
 * Tests encryption at rest from an operator's point of view: the content of the file, lost keys, new keys, and
 * rewriting existing data.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { encryptionCommand } from '../../../src/server/program/encryption-command.ts'
import { serve } from '../../support/in-process.ts'
import { root, startServer } from '../../support/server.ts'
import { untilTrue } from '../../support/until.ts'

const canary = 'canary-of-the-file-71'
const encoded = Buffer.from(canary).toString('base64')
const path = '/api/v1/namespaces/default/secrets'

test('a rewrite encrypts an unencrypted store, and no page of the data file contains plain values', async (t) => {
  const server = await startServer(t)
  const files = join(server.directory, 'data')
  const holds = () => readFileSync(join(files, 'data.mdb')).includes(encoded)
  const config = join(server.directory, 'encryption.yaml')
  const configure = (...keys: string[]) => {
    const given = keys.map((name) => ({ name, secret: secrets[name] }))
    const providers = [...(keys.length > 0 ? [{ aesgcm: { keys: given } }] : []), { identity: {} }]
    const kind = { apiVersion: 'apiserver.config.orch.io/v1', kind: 'EncryptionConfiguration' }
    writeFileSync(config, JSON.stringify({ ...kind, resources: [{ resources: ['secrets'], providers }] }))
  }
  const secrets: { [name: string]: string } = {
    first: randomBytes(32).toString('base64'),
    second: randomBytes(32).toString('base64'),
  }
  const flag = `--encryption-provider-config=${config}`
  const rewrite = () =>
    execFileSync(join(root, 'bin/orch'), ['encryption', 'rewrite', `--data-dir=${files}`, flag], {
      encoding: 'utf8',
      stdio: 'pipe',
    })

  const make = (name: string) => server.client().post(path, { metadata: { name }, data: { a: encoded } })
  /** Move the old values, including the secret for which the test searches, into the history window. */
  const change = async (name: string) => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const raw = JSON.stringify({ data: { a: encoded, b: Buffer.from(name).toString('base64') } })
    const answer = await server.client().send(`${path}/${name}`, { method: 'PATCH', headers, raw })
    assert.equal(answer.status, 200, answer.text)
  }
  assert.equal((await make('before')).status, 201)
  await change('before')
  await server.client().post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'other' } })
  await server.stop()
  assert.ok(holds())

  configure('first')
  const rewriteOutput = rewrite()
  assert.match(rewriteOutput, /rewrote [1-9]\d* values/)
  assert.match(rewriteOutput, /rewrote the store file/)
  assert.ok(!holds())

  await server.restart([flag])
  assert.equal((await make('after')).status, 201)
  await change('after')
  const spec = { resource: 'secrets', namespace: 'default', name: 'after' }
  const history = await server.client().post('/apis/ops.orch.io/v1/objecthistories', { spec })
  assert.deepEqual(
    history.body.status.revisions[0].changes.map((each: { path: string }) => each.path),
    ['.data.b'],
  )
  assert.ok(!history.text.includes(encoded))
  assert.equal((await server.client().get(`${path}/before`)).body.data.a, encoded)
  await server.stop()
  assert.ok(!holds())

  const check = (...more: string[]) =>
    spawnSync(join(root, 'bin/orch'), ['check', `--data-dir=${files}`, ...more], { encoding: 'utf8' })
  const aside = join(server.directory, 'aside')
  const blind = check(`--set-aside=${aside}`)
  assert.match(blind.stdout, /secrets\/default\/before .*encrypted by aesgcm with the key "first"/)
  assert.ok(!existsSync(aside), 'what is only encrypted is not damaged')
  assert.match(check(flag).stdout, /all sound/)

  // With a second key, everything is still readable. After a rewrite, the first key is no longer needed.
  configure('second', 'first')
  assert.match(rewrite(), /rewrote [1-9]\d* values; 0 were/)
  configure('second')
  await server.restart([flag])
  assert.equal((await server.client().get(path)).body.items.length, 2)
  await server.stop()

  // If two keys had the same name, it would be unclear which of them is still needed.
  const shared = [randomBytes(32).toString('base64'), secrets.second!].map((secret) => ({ name: 'second', secret }))
  writeFileSync(config, readFileSync(config, 'utf8').replace(/"keys":\[[^\]]*\]/, `"keys":${JSON.stringify(shared)}`))
  assert.throws(rewrite, /two aesgcm keys have the name "second"/)

  // With a wrong key, the command reports the values and does not touch the file.
  configure('second')
  await server.restart([flag])
  await change('before')
  await server.stop()
  const bytes = readFileSync(join(files, 'data.mdb'))
  secrets.second = randomBytes(32).toString('base64')
  configure('second')
  assert.throws(rewrite, ({ stdout, stderr }) => {
    assert.match(stdout, /cannot decrypt objects\/core\/secrets\/default\/before: .*by aesgcm with the key "second"/)
    assert.match(stderr, /^orch: nothing was changed: \d+ stored values cannot be decrypted: correct /)
    return true
  })
  assert.ok(readFileSync(join(files, 'data.mdb')).equals(bytes))
})

test('orch encryption rewrite does not create a store in a directory that contains none', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-encryption-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const config = join(directory, 'encryption.json')
  const kind = { apiVersion: 'apiserver.config.orch.io/v1', kind: 'EncryptionConfiguration' }
  const resources = [{ resources: ['secrets'], providers: [{ identity: {} }] }]
  writeFileSync(config, JSON.stringify({ ...kind, resources }))
  const files = join(directory, 'data')
  const flags = [`--data-dir=${files}`, `--encryption-provider-config=${config}`]
  await assert.rejects(
    encryptionCommand(['rewrite', ...flags], () => {}),
    /data does not contain a store/,
  )
  assert.ok(!existsSync(files))
})

test('an object that cannot be decrypted is reported and can be deleted, and other objects are served', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-encryption-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const config = join(directory, 'encryption.json')
  const keys = [{ name: 'k', secret: randomBytes(32).toString('base64') }]
  const kind = { apiVersion: 'apiserver.config.orch.io/v1', kind: 'EncryptionConfiguration' }
  const resources = [{ resources: ['secrets'], providers: [{ secretbox: { keys } }] }]
  writeFileSync(config, JSON.stringify({ ...kind, resources }))
  const server = await serve(t, [`--encryption-provider-config=${config}`])
  const client = server.client()
  await client.post(path, { metadata: { name: 'sound' }, data: { a: encoded } })
  assert.ok(!Buffer.from((await server.store.get('objects/core/secrets/default/sound'))!.value).includes(encoded))
  const strange = Buffer.from('orch:enc:aesgcm:v1:lost:0123456789012345678901234567890123456789')
  await server.store.commit({ key: 'objects/core/secrets/default/broken', expected: 0, value: strange })
  await server.store.commit({ key: 'objects/core/secrets/default/bare', expected: 0, value: Buffer.from([2, 0, 1]) })
  await untilTrue(async () => (await client.get(`${path}/broken`)).status === 500)
  assert.match((await client.get(`${path}/broken`)).body.message, /encrypted by aesgcm with the key "lost"/)
  assert.match((await client.get(`${path}/bare`)).body.message, /is not encrypted.*; correct that file/)
  const { items } = (await client.get(path)).body
  assert.deepEqual(
    items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ['sound'],
  )
  assert.equal((await client.delete(`${path}/broken`)).status, 200)
  assert.equal((await client.get(`${path}/broken`)).status, 404)
})
