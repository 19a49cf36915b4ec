/** Tests the ciphers, configuration errors, and the handling of values that no provider can decrypt. */
import assert from 'node:assert/strict'
import { createDecipheriv, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { encodeStored } from '../../../src/api/codec/stored.ts'
import type { Json } from '../../../src/api/json/json.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { readEncryptionFile } from '../../../src/server/store/encryption.ts'
import { decrypt, encryptedStore } from '../../../src/storage/encryption/encrypted-store.ts'
import { aescbc, aesgcm, identity, type Provider, secretbox } from '../../../src/storage/encryption/providers.ts'
import { readEncryption } from '../../../src/storage/encryption/read-configuration.ts'
import { rewriteAll, UndecryptableError } from '../../../src/storage/encryption/rewrite.ts'
import { MemoryStore } from '../../../src/storage/store/memory.ts'

const key = Buffer.alloc(32, 7)
const value = Buffer.from('a value that nobody is to see')
const providers: readonly Provider[] = [aesgcm('g:', key), aescbc('c:', key), await secretbox('s:', key)]

for (const provider of providers)
  test(`the encryption provider ${provider.marker} decrypts what it encrypted, and never repeats a ciphertext`, () => {
    const sealed = provider.encrypt('place', value)
    assert.ok(sealed.toString('latin1').startsWith(provider.marker))
    assert.ok(!sealed.includes('nobody'))
    assert.notDeepEqual(provider.encrypt('place', value), sealed)
    assert.deepEqual(provider.decrypt('place', sealed.subarray(2)), value)
    assert.deepEqual(provider.decrypt('place', provider.encrypt('place', Buffer.alloc(0)).subarray(2)), Buffer.alloc(0))
    for (const length of [0, 1, 12, 16, 24])
      assert.throws(() => provider.decrypt('place', sealed.subarray(2, 2 + length)))
  })

test('authenticated ciphers detect damaged values, and aesgcm detects a value stored under another key', () => {
  for (const provider of [providers[0]!, providers[2]!]) {
    const sealed = provider.encrypt('place', value)
    sealed[30]! ^= 1
    assert.throws(() => provider.decrypt('place', sealed.subarray(2)))
  }
  assert.throws(() => providers[0]!.decrypt('elsewhere', providers[0]!.encrypt('place', value).subarray(2)))
})

test('ciphertexts have the same layout as in kube-apiserver: initialization vector, then padded blocks', () => {
  const sealed = providers[1]!.encrypt('', value).subarray(2)
  const decipher = createDecipheriv('aes-256-cbc', key, sealed.subarray(0, 16))
  assert.deepEqual(Buffer.concat([decipher.update(sealed.subarray(16)), decipher.final()]), value)
})

const names = {
  vendor: vendorOf('kubernetes'),
  prefixOf: (resource: string) => `objects/core/${resource}/`,
  isStoredValue: () => true,
}
const secret = key.toString('base64')
const configured = (given: Json, resources: Json = ['secrets']) => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'EncryptionConfiguration',
  resources: [{ resources, providers: given }],
})

test('encryption providers and their keys are read from the encryption configuration in order', async () => {
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

const objectNamed = (name: string) => ({ name, secret: randomBytes(32).toString('base64') })

const refused: [Json, RegExp][] = [
  [{ kind: 'EncryptionConfig' }, /kind EncryptionConfiguration in apiserver\.config\.k8s\.io\/v1/],
  [configured([]), /resources\[0\]\.providers/],
  [configured([{ kms: { name: 'k' } }]), /kms is not supported/],
  [configured([{ rot13: {} }]), /unknown provider "rot13"/],
  [configured([{ aesgcm: {}, identity: {} }]), /specify exactly one provider/],
  [configured([{ aesgcm: { keys: [] } }]), /providers\[0\]\.aesgcm\.keys/],
  [configured([{ aesgcm: { keys: [{ name: 'a:b', secret }] } }]), /keys\[0\]\.name/],
  [configured([{ aesgcm: { keys: [{ name: 'a', secret: 'not base64!' }] } }]), /keys\[0\]\.secret: must be base64$/],
  [configured([{ secretbox: { keys: [{ name: 'a', secret: 'c2hvcnQ=' }] } }]), /32 bytes, not 5/],
  [configured([{ identity: {} }], ['*']), /without wildcards/],
  [configured([{ identity: {} }], ['secrets', 'secrets']), /specified twice/],
]
refused.push(
  [
    configured([{ aescbc: { keys: [objectNamed('a'), objectNamed('b'), objectNamed('a')] } }]),
    /keys\[2\]\.name: two aescbc keys have the name "a"/,
  ],
  [
    configured([{ aesgcm: { keys: [objectNamed('a')] } }, { identity: {} }, { aesgcm: { keys: [objectNamed('a')] } }]),
    /providers\[2\]\.aesgcm\.keys\[0\]\.name: two aesgcm keys have the name "a"/,
  ],
)
for (const [given, why] of refused)
  test(`an encryption configuration is rejected: ${why.source}`, () =>
    assert.rejects(readEncryption(given, names), why))

test('only the configured resources are encrypted, and lists, watches and conflicts return plain values', async () => {
  const below = new MemoryStore()
  const store = encryptedStore(below, new Map([['objects/core/secrets/', [aesgcm('x:enc:aesgcm:v1:a:', key)]]]))
  const hidden = 'objects/core/secrets/ns/a'
  const open = 'objects/core/configmaps/ns/a'
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

const rewriteOptions = { lifetimeOf: () => undefined, onProgress: () => {} }

test('a rewrite of the store encrypts all values with the first key and compacts the store', async () => {
  const below = new MemoryStore()
  const old = aesgcm('x:enc:aesgcm:v1:old:', key)
  const fresh = aesgcm('x:enc:aesgcm:v1:new:', Buffer.alloc(32, 8))
  const prefix = 'objects/core/secrets/'
  for (const [name, provider] of Object.entries({ plain: identity, old, fresh }))
    await below.commit({ key: `${prefix}${name}`, expected: 0, value: provider.encrypt(`${prefix}${name}`, value) })
  const encrypted = new Map([[prefix, [fresh, old, identity]]])
  assert.deepEqual(await rewriteAll(below, encrypted, rewriteOptions), { written: 2, current: 1 })
  await assert.rejects(below.list({ prefix, revision: 3 }), /gone/)
  const store = encryptedStore(below, new Map([[prefix, [fresh]]]))
  for (const name of ['plain', 'old', 'fresh'])
    assert.deepEqual(Buffer.from((await store.get(`${prefix}${name}`))!.value), value)
  await store.close()
})

const lost = aesgcm('x:enc:aesgcm:v1:lost:', Buffer.alloc(32, 9))
const wrong = aesgcm('x:enc:aesgcm:v1:old:', Buffer.alloc(32, 9))
for (const [fault, key, provider, why] of [
  ['encrypted with an unknown key', 'objects/core/secrets/b', lost, /encrypted by aesgcm with the key "lost"/],
  ['encrypted with another key of the same name', 'objects/core/secrets/b', wrong, /with the key "old"/],
  ['in plain text without the identity provider', 'objects/core/secrets/b', identity, /is not encrypted/],
  ['encrypted although its resource is not configured', 'objects/core/configmaps/b', lost, /with the key "lost"/],
] as const)
  test(`a rewrite changes nothing if a value is ${fault}`, async () => {
    const below = new MemoryStore()
    const fresh = aesgcm('x:enc:aesgcm:v1:new:', Buffer.alloc(32, 8))
    const old = aesgcm('x:enc:aesgcm:v1:old:', Buffer.alloc(32, 7))
    const encrypted = new Map([['objects/core/secrets/', [fresh, old]]])
    const first = 'objects/core/secrets/a'
    await below.commit({ key: first, expected: 0, value: old.encrypt(first, value) })
    await below.commit({ key, expected: 0, value: provider.encrypt(key, value) })
    const before = await below.list({ prefix: '' })
    await assert.rejects(rewriteAll(below, encrypted, rewriteOptions), (error) => {
      assert.ok(error instanceof UndecryptableError)
      assert.equal(error.count, 1)
      assert.equal(error.values[0]!.key, key)
      assert.match(error.values[0]!.why, why)
      return true
    })
    assert.deepEqual(await below.list({ prefix: '' }), before)
    assert.equal((await below.list({ prefix: '', revision: before.revision - 1 })).entries.length, 1)
    await below.close()
  })

test('two encryption providers may have keys with the same name, because each stored value contains the name of the cipher', async () => {
  const given = [{ aesgcm: { keys: [objectNamed('a')] } }, { aescbc: { keys: [objectNamed('a')] } }]
  assert.equal((await readEncryption(configured(given), names)).get('objects/core/secrets/')!.length, 2)
})

test('a rewrite of the store identifies the key of a value by decrypting the value, not by the key name', async () => {
  const below = new MemoryStore()
  const marker = 'x:enc:aesgcm:v1:same:'
  const old = aesgcm(marker, key)
  const fresh = aesgcm(marker, Buffer.alloc(32, 8))
  const place = 'objects/core/secrets/a'
  await below.commit({ key: place, expected: 0, value: old.encrypt(place, value) })
  const encrypted = new Map([['objects/core/secrets/', [fresh, old]]])
  assert.deepEqual(await rewriteAll(below, encrypted, rewriteOptions), { written: 1, current: 0 })
  assert.deepEqual(decrypt([fresh], place, (await below.get(place))!.value)!.plain, value)
  await below.close()
})

/** Stored values of the server, by key. */
const storedValues: { readonly [key: string]: Buffer } = {
  'objects/core/secrets/default/a': encodeStored('objects/core/secrets/default/a', {
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
    },
    order: undefined,
    header: {},
  }),
  'meta/continue-key': randomBytes(32),
  'meta/service-account-key': Buffer.from('-----BEGIN PRIVATE KEY-----\nshortened\n'),
  'meta/authority': Buffer.from('{"certificate":"c","key":"k"}'),
}

for (const [place, stored] of Object.entries(storedValues))
  test(`aescbc with a wrong key never decrypts ${place} to garbage`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'orch-aescbc-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const file = join(directory, 'encryption.json')
    const keys = [{ name: 'k', secret }]
    writeFileSync(file, JSON.stringify(configured([{ aescbc: { keys } }])))
    const encrypted = await readEncryptionFile({ encryptionProviderConfig: file, profile: 'kubernetes' })
    const configuredProviders = encrypted!.get(place.startsWith('meta/') ? place : 'objects/core/secrets/')!
    const right = configuredProviders[0]!
    assert.deepEqual(decrypt(configuredProviders, place, right.encrypt(place, stored))!.plain, stored)
    // With a wrong key, one in 256 values has valid padding, so repeat until some such values are found.
    const wrong = aescbc(right.marker, Buffer.alloc(32, 8))
    const unchecked = aescbc(right.marker, key)
    for (let found = 0; found < 3; ) {
      const sealed = wrong.encrypt(place, stored)
      if (isDecrypted(unchecked, sealed)) found++
      else continue
      assert.equal(decrypt(configuredProviders, place, sealed), undefined)
    }
  })

function isDecrypted(provider: Provider, sealed: Buffer): boolean {
  try {
    provider.decrypt('', sealed.subarray(provider.marker.length))
    return true
  } catch {
    return false
  }
}

test('a rewrite of the store accepts keys with the same name unless the first key is one of them', async () => {
  const read = (keys: readonly { name: string; secret: string }[]) =>
    readEncryption(configured([{ aescbc: { keys: [...keys] } }]), { ...names, allowsSharedOldNames: true })
  assert.equal(
    (await read([objectNamed('new'), objectNamed('old'), objectNamed('old')])).get('objects/core/secrets/')!.length,
    3,
  )
  await assert.rejects(
    read([objectNamed('old'), objectNamed('new'), objectNamed('old')]),
    /two aescbc keys have the name "old"/,
  )
})
