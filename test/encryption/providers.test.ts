/** The ciphers, what a configuration may say, and what becomes of values that nobody can decrypt. */
import assert from 'node:assert/strict'
import { createDecipheriv } from 'node:crypto'
import { test } from 'node:test'
import { encryptedStore } from '../../src/encryption/encrypted-store.ts'
import { aescbc, aesgcm, identity, type Provider, secretbox } from '../../src/encryption/providers.ts'
import { readEncryption } from '../../src/encryption/read-configuration.ts'
import { rewriteAll } from '../../src/encryption/rewrite.ts'
import type { Json } from '../../src/model/json.ts'
import { vendorOf } from '../../src/model/vendor.ts'
import { MemoryStore } from '../../src/store/memory.ts'

const key = Buffer.alloc(32, 7)
const value = Buffer.from('a value that nobody is to see')
const providers: readonly Provider[] = [aesgcm('g:', key), aescbc('c:', key), await secretbox('s:', key)]

for (const provider of providers)
  test(`${provider.marker} gives back what was encrypted, and never writes the same twice`, () => {
    const sealed = provider.encrypt('place', value)
    assert.ok(sealed.toString('latin1').startsWith(provider.marker))
    assert.ok(!sealed.includes('nobody'))
    assert.notDeepEqual(provider.encrypt('place', value), sealed)
    assert.deepEqual(provider.decrypt('place', sealed.subarray(2)), value)
    assert.deepEqual(provider.decrypt('place', provider.encrypt('place', Buffer.alloc(0)).subarray(2)), Buffer.alloc(0))
    for (const length of [0, 1, 12, 16, 24])
      assert.throws(() => provider.decrypt('place', sealed.subarray(2, 2 + length)))
  })

test('damage is found by the ciphers that authenticate, and so is a value in another place by the one that binds it', () => {
  for (const provider of [providers[0]!, providers[2]!]) {
    const sealed = provider.encrypt('place', value)
    sealed[30]! ^= 1
    assert.throws(() => provider.decrypt('place', sealed.subarray(2)))
  }
  assert.throws(() => providers[0]!.decrypt('elsewhere', providers[0]!.encrypt('place', value).subarray(2)))
})

test('the layout is the one that kube-apiserver writes: vector, then padded blocks', () => {
  const sealed = providers[1]!.encrypt('', value).subarray(2)
  const decipher = createDecipheriv('aes-256-cbc', key, sealed.subarray(0, 16))
  assert.deepEqual(Buffer.concat([decipher.update(sealed.subarray(16)), decipher.final()]), value)
})

const names = { vendor: vendorOf('kubernetes'), prefixOf: (resource: string) => `objects/core/${resource}/` }
const secret = key.toString('base64')
const configured = (given: Json, resources: Json = ['secrets']) => ({
  ...{ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' },
  resources: [{ resources, providers: given }],
})

test('a configuration names providers in their order, each with its keys', async () => {
  const keys = [
    { name: 'new', secret },
    { name: 'old', secret },
  ]
  const read = await readEncryption(configured([{ secretbox: { keys } }, { identity: {} }]), names)
  assert.deepEqual(
    read.get('objects/core/secrets/')!.map(({ marker }) => marker),
    ['k8s:enc:secretbox:v1:new:', 'k8s:enc:secretbox:v1:old:', ''],
  )
})

const refused: readonly [Json, RegExp][] = [
  [{ kind: 'EncryptionConfig' }, /kind EncryptionConfiguration in apiserver\.config\.k8s\.io\/v1/],
  [configured([]), /resources\[0\]\.providers/],
  [configured([{ kms: { name: 'k' } }]), /kms is not supported/],
  [configured([{ rot13: {} }]), /unknown provider "rot13"/],
  [configured([{ aesgcm: {}, identity: {} }]), /a provider has one name/],
  [configured([{ aesgcm: { keys: [] } }]), /providers\[0\]\.aesgcm\.keys/],
  [configured([{ aesgcm: { keys: [{ name: 'a:b', secret }] } }]), /keys\[0\]\.name/],
  [configured([{ aesgcm: { keys: [{ name: 'a', secret: 'not base64!' }] } }]), /keys\[0\]\.secret: must be base64$/],
  [configured([{ secretbox: { keys: [{ name: 'a', secret: 'c2hvcnQ=' }] } }]), /of 32 bytes, not 5/],
  [configured([{ identity: {} }], ['*']), /without wildcards/],
  [configured([{ identity: {} }], ['secrets', 'secrets']), /named twice/],
]
for (const [given, why] of refused)
  test(`a configuration is refused: ${why.source}`, () => assert.rejects(readEncryption(given, names), why))

test('only what is chosen is encrypted below, and all of it is read above, in lists, watches and conflicts', async () => {
  const below = new MemoryStore()
  const store = encryptedStore(below, new Map([['objects/core/secrets/', [aesgcm('x:enc:aesgcm:v1:a:', key)]]]))
  const [hidden, open] = ['objects/core/secrets/ns/a', 'objects/core/configmaps/ns/a']
  for (const each of [hidden, open]) await store.commit({ key: each, expected: 0, value })
  assert.ok(!Buffer.from((await below.get(hidden))!.value).includes('nobody'))
  assert.deepEqual((await below.get(open))!.value, value)
  for (const prefix of ['', 'objects/core/secrets/', 'objects/core/secrets/ns/', 'objects/core/configmaps/'])
    for (const entry of (await store.list({ prefix })).entries) assert.deepEqual(Buffer.from(entry.value), value)
  const conflict = await store.commit({ key: hidden, expected: 0, value })
  assert.ok(conflict.outcome === 'conflict' && Buffer.from(conflict.current!.value).equals(value))
  await store.commit({ key: hidden, expected: (await store.get(hidden))!.revision, value: Buffer.from('second') })
  const seen: string[] = []
  const { signal } = new AbortController()
  for await (const { changes } of store.watch({ prefix: '', after: 1, until: await store.revision(), signal }))
    for (const { value, previous } of changes) seen.push(`${value} was ${previous?.value}`)
  assert.deepEqual(seen, [`${value} was undefined`, `${value} was undefined`, `second was ${value}`])
  await store.close()
})

test('a rewrite brings everything to the first key, tells what it cannot read, and forgets the history', async () => {
  const below = new MemoryStore()
  const [old, fresh] = [aesgcm('x:enc:aesgcm:v1:old:', key), aesgcm('x:enc:aesgcm:v1:new:', Buffer.alloc(32, 8))]
  const lost = aesgcm('x:enc:aesgcm:v1:lost:', Buffer.alloc(32, 9))
  const prefix = 'objects/core/secrets/'
  for (const [name, provider] of Object.entries({ plain: identity, old, fresh, lost }))
    await below.commit({ key: `${prefix}${name}`, expected: 0, value: provider.encrypt(`${prefix}${name}`, value) })
  const encrypted = new Map([[prefix, [fresh, old, identity]]])
  const options = { lifetimeOf: () => undefined, onProgress: () => {} }
  const outcome = await rewriteAll(below, encrypted, options)
  assert.deepEqual(outcome, { written: 2, current: 1, unreadable: [`${prefix}lost`] })
  await assert.rejects(below.list({ prefix, revision: 4 }), /gone/)
  const store = encryptedStore(below, new Map([[prefix, [fresh]]]))
  for (const name of ['plain', 'old', 'fresh'])
    assert.deepEqual(Buffer.from((await store.get(`${prefix}${name}`))!.value), value)
  await store.close()
})
