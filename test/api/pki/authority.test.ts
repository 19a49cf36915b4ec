/**
 * Tests the CA in a data directory: it is created once, read later and renewed when due, and damaged files cause clear
 * errors.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Authority, adoptCa, needsRenewal, openAuthority } from '../../../src/api/pki/authority.ts'
import { issueCertificate } from '../../../src/api/pki/certificate.ts'
import { PkiFileError } from '../../../src/api/pki/files.ts'
import { readSubject } from '../../../src/api/pki/identity.ts'
import { generateKey, keyFromPem, keyToPem, publicKeyOf } from '../../../src/api/pki/keys.ts'
import { readNames } from '../../../src/api/pki/names.ts'
import type { Clock } from '../../../src/base/time/clock.ts'
import { day, now } from './issue.ts'
import { openssl, temporaryDirectory } from './openssl.ts'

const names = { dns: ['localhost'], ips: ['127.0.0.1', '::1'] }
const allFiles = ['admin.crt', 'admin.key', 'ca.crt', 'ca.key', 'serving.crt', 'serving.key']

interface Place {
  readonly directory: string
  readonly clock: Clock & { time: number }
}

function place(t: TestContext): Place {
  const clock = { time: now, now: () => clock.time, monotonic: () => 0 }
  return { directory: join(temporaryDirectory(t), 'data', 'pki'), clock }
}

/** Opens the CA and both certificates, as a server does when it starts. */
async function openAll(at: Place, wanted = names) {
  const authority = await openAuthority(at)
  const serving = await authority.servingCertificate(wanted)
  const admin = await authority.adminCertificate()
  return { ca: { certificate: authority.certificate, key: authority.key }, serving, admin }
}

const modeOf = (file: string) => statSync(file).mode & 0o777

test('all CA keys and certificates are created on first use and reused later', async (t) => {
  const at = place(t)
  const made = await openAll(at)
  assert.deepEqual(readdirSync(at.directory).sort(), allFiles)
  const before = allFiles.map((file) => readFileSync(join(at.directory, file), 'utf8'))
  assert.deepEqual(await openAll(at), made)
  assert.deepEqual(
    allFiles.map((file) => readFileSync(join(at.directory, file), 'utf8')),
    before,
  )
  assert.deepEqual(before, [
    made.admin.certificate,
    made.admin.key,
    made.ca.certificate,
    made.ca.key,
    made.serving.certificate,
    made.serving.key,
  ])
})

test('adopting another CA replaces the local CA, even if the local CA is damaged', async (t) => {
  const own = place(t)
  const others = place(t)
  const before = await openAll(own)
  const { ca } = await openAll(others)
  await adoptCa(own.directory, ca)
  const after = await openAll(own)
  assert.deepEqual(after.ca, ca)
  const issuer = new X509Certificate(ca.certificate)
  for (const name of ['serving', 'admin'] as const) {
    assert.notEqual(after[name].certificate, before[name].certificate)
    assert.equal(after[name].key, before[name].key)
    assert.ok(new X509Certificate(after[name].certificate).verify(issuer.publicKey), name)
  }
  // Recreates the state after a crash between the two writes: the key belongs to one CA, and the certificate to another
  // CA.
  writeFileSync(join(own.directory, 'ca.key'), before.ca.key, { mode: 0o600 })
  await assert.rejects(openAll(own), PkiFileError)
  await adoptCa(own.directory, ca)
  assert.deepEqual(await openAll(own), after)
  assert.equal(modeOf(join(own.directory, 'ca.key')), 0o600)
})

test('issued certificates state their purpose, and openssl verifies them', async (t) => {
  const at = place(t)
  const { ca, serving, admin } = await openAll(at)
  const file = (name: string) => join(at.directory, name)
  const verify = ['verify', '-x509_strict', '-attime', String(now / 1000), '-CAfile', file('ca.crt'), '-purpose']
  assert.match(openssl([...verify, 'sslserver', '-verify_ip', '127.0.0.1', file('serving.crt')]), /OK/)
  assert.match(openssl([...verify, 'sslclient', file('admin.crt')]), /OK/)
  const subject = (pem: string) => readSubject(new X509Certificate(pem).raw)
  assert.deepEqual(subject(ca.certificate), { commonNames: ['orch-ca'], organizations: [] })
  assert.deepEqual(subject(admin.certificate), { commonNames: ['orch-admin'], organizations: ['system:masters'] })
  const ends = [ca, serving, admin].map(({ certificate }) => new X509Certificate(certificate).validToDate.getTime())
  assert.deepEqual(ends, [now + 3650 * day, now + 365 * day, now + 365 * day])
})

test('keys and their directory are accessible only to the owner, even if the directory already existed', async (t) => {
  const at = place(t)
  mkdirSync(at.directory, { recursive: true, mode: 0o755 })
  await openAll(at)
  assert.equal(modeOf(at.directory), 0o700)
  for (const file of allFiles)
    assert.equal(modeOf(join(at.directory, file)), file.endsWith('.key') ? 0o600 : 0o644, file)
})

test('servers that start for the first time concurrently agree on one CA', async (t) => {
  const at = place(t)
  const opened = await Promise.all(Array.from({ length: 8 }, () => openAll(at)))
  assert.equal(new Set(opened.map(({ ca }) => ca.certificate + ca.key)).size, 1)
  assert.equal(new Set(opened.map(({ serving, admin }) => serving.key + admin.key)).size, 1)
  const ca = new X509Certificate(opened[0]?.ca.certificate ?? '')
  for (const { serving } of opened) assert.ok(new X509Certificate(serving.certificate).verify(ca.publicKey))
  assert.deepEqual(readdirSync(at.directory).sort(), allFiles)
})

test('the next start completes a certificate setup that was interrupted after a key was written', async (t) => {
  const at = place(t)
  const { ca, serving } = await openAll(at)
  rmSync(join(at.directory, 'serving.crt'))
  rmSync(join(at.directory, 'ca.crt'))
  const completed = await openAll(at)
  assert.equal(completed.ca.key, ca.key)
  assert.notEqual(completed.ca.certificate, ca.certificate)
  assert.equal(completed.serving.key, serving.key)
})

test('the serving certificate is renewed when its names change, but not when only the notation of the names changes', async (t) => {
  const at = place(t)
  const { serving } = await openAll(at)
  const respelt = await openAll(at, { dns: ['LocalHost', 'localhost'], ips: ['0:0:0:0:0:0:0:1', '127.0.0.1'] })
  assert.deepEqual(respelt.serving, serving)
  for (const changed of [
    { ...names, dns: ['localhost', 'other'] },
    { dns: [], ips: ['127.0.0.1'] },
  ]) {
    const { certificate, key } = (await openAll(at, changed)).serving
    assert.deepEqual(readNames(new X509Certificate(certificate).raw), changed)
    assert.equal(key, serving.key)
  }
})

test('a certificate with an unexpected subject is replaced', async (t) => {
  const at = place(t)
  const { ca, admin } = await openAll(at)
  const subject = { commonName: 'other', organizations: ['system:masters'] }
  const issuer = { certificate: ca.certificate, key: keyFromPem(ca.key) }
  const publicKey = publicKeyOf(keyFromPem(admin.key))
  const usages = ['client auth'] as const
  const other = issueCertificate({ subject, issuer, publicKey, usages, notBefore: now - day, notAfter: now + 9 * day })
  writeFileSync(join(at.directory, 'admin.crt'), other)
  const remade = new X509Certificate((await openAll(at)).admin.certificate)
  assert.deepEqual(readSubject(remade.raw).commonNames, ['orch-admin'])
})

test('a node client certificate from an earlier version is replaced but keeps its key', async (t) => {
  const at = place(t)
  const authority = await openAuthority(at)
  const { key } = await authority.nodeClientCertificate()
  const subject = { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }
  const issuer = { certificate: authority.certificate, key: keyFromPem(authority.key) }
  const publicKey = publicKeyOf(keyFromPem(key))
  const usages = ['digital signature', 'client auth'] as const
  const old = issueCertificate({ subject, issuer, publicKey, usages, notBefore: now - day, notAfter: now + 364 * day })
  writeFileSync(join(at.directory, 'node-client.crt'), old)
  const remade = await (await openAuthority(at)).nodeClientCertificate()
  const found = readSubject(new X509Certificate(remade.certificate).raw)
  assert.deepEqual(found, { commonNames: ['system:apiserver-node-client'], organizations: [] })
  assert.equal(remade.key, key)
})

test('if the CA is replaced, all certificates are issued again', async (t) => {
  const at = place(t)
  const old = await openAll(at)
  for (const file of ['ca.crt', 'ca.key']) rmSync(join(at.directory, file))
  const fresh = await openAll(at)
  const authority = new X509Certificate(fresh.ca.certificate)
  assert.notEqual(fresh.ca.key, old.ca.key)
  for (const { certificate } of [fresh.serving, fresh.admin]) {
    assert.ok(new X509Certificate(certificate).verify(authority.publicKey))
  }
})

test('a certificate is renewed after two thirds of its lifetime, or if the clock is before the start of its validity', async (t) => {
  const at = place(t)
  const first = await openAll(at)
  const due = now - day + (366 * day * 2) / 3
  assert.deepEqual(
    [due - 1, due, now - day, now - day - 1].map((time) => needsRenewal(first.serving.certificate, time)),
    [false, true, false, true],
  )
  at.clock.time = due - 1
  assert.deepEqual(await openAll(at), first)
  at.clock.time = due
  const renewed = await openAll(at)
  assert.deepEqual(renewed.ca, first.ca)
  assert.notEqual(renewed.serving.certificate, first.serving.certificate)
  assert.notEqual(renewed.admin.certificate, first.admin.certificate)
  at.clock.time = now
  assert.notDeepEqual((await openAll(at)).serving, renewed.serving)
})

test('a certificate expires no later than its CA', async (t) => {
  const at = place(t)
  await openAuthority(at)
  at.clock.time = now + 3600 * day
  const { serving } = await openAll(at)
  assert.equal(new X509Certificate(serving.certificate).validToDate.getTime(), now + 3650 * day)
})

/** Damages a complete directory, and checks that the error of the next start names `file` and matches `message`. */
function refused(what: string, file: string, message: RegExp, damage: (at: Place, file: string) => void): void {
  test(`the error for a damaged certificate directory names ${file}: ${what}`, async (t) => {
    const at = place(t)
    await openAll(at)
    damage(at, join(at.directory, file))
    const seen = readdirSync(at.directory).sort()
    await assert.rejects(openAll(at), (error) => {
      assert.ok(error instanceof PkiFileError)
      assert.equal(error.file, join(at.directory, file))
      assert.ok(error.message.startsWith(`${error.file}: `))
      assert.match(error.message, message)
      return true
    })
    assert.deepEqual(readdirSync(at.directory).sort(), seen)
  })
}

const cut = (_: Place, file: string) => writeFileSync(file, readFileSync(file, 'utf8').slice(0, 100))
const remove = (_: Place, file: string) => rmSync(file)
for (const name of ['ca', 'serving', 'admin']) {
  const remedy = name === 'ca' ? 'from a backup. Or remove both' : `Remove ${name}.crt and ${name}.key`
  const says = (problem: string) => new RegExp(`${problem}.*${remedy}`)
  refused('truncated', `${name}.crt`, says('valid PEM certificate'), cut)
  refused('truncated', `${name}.key`, says('valid PEM private key'), cut)
  refused('empty', `${name}.key`, says('0 PEM blocks'), (_, file) => writeFileSync(file, ''))
  refused('missing next to its certificate', `${name}.key`, says(`missing, although ${name}.crt exists`), remove)
  refused('for another key', `${name}.crt`, says(`not belong to the key in ${name}.key`), (_, file) =>
    writeFileSync(file.replace('.crt', '.key'), keyToPem(generateKey())),
  )
}

refused('two certificates', 'ca.crt', /2 PEM blocks/, (_, file) =>
  writeFileSync(file, readFileSync(file, 'utf8').repeat(2)),
)
refused('not a CA certificate', 'ca.crt', /not a CA certificate/, ({ directory }) => {
  for (const kind of ['crt', 'key']) copyFileSync(join(directory, `admin.${kind}`), join(directory, `ca.${kind}`))
})
refused('a directory', 'ca.crt', /cannot be read \(it is not a regular file\)$/, (_, file) => {
  rmSync(file)
  mkdirSync(file)
})
refused('too large', 'serving.crt', /cannot be read \(it has 300000 bytes/, (_, file) =>
  writeFileSync(file, Buffer.alloc(300_000)),
)
refused('a key readable by everyone', 'serving.key', /chmod 600/, (_, file) => chmodSync(file, 0o644))
refused('expired', 'ca.crt', /expired at 2040-05-29T12:00:00.000Z.*from a backup/, ({ clock }) => {
  clock.time = now + 3650 * day
})
refused('not valid yet', 'ca.crt', /valid from 2030-05-31T12:00:00.000Z.*set the clock$/, ({ clock }) => {
  clock.time = now - day - 1
})

test('the error for a certificate directory that cannot be created names the directory', async (t) => {
  const at = place(t)
  const file = join(temporaryDirectory(t), 'file')
  writeFileSync(file, '')
  const opening: Promise<Authority> = openAuthority({ ...at, directory: join(file, 'pki') })
  await assert.rejects(opening, (error) => error instanceof PkiFileError && error.file.startsWith(join(file, 'pki')))
})
