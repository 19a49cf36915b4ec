/**
 * Tests client certificates created with openssl: several CAs, intermediates sent by the client, and a CA file that
 * changes while connections are open.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CertifiedKey } from '../../../src/api/pki/authority.ts'
import { generateKey, keyToPem } from '../../../src/api/pki/keys.ts'
import { attribute, oid, rdn, requestPem, utf8 } from '../../api/pki/encode.ts'
import { openssl } from '../../api/pki/openssl.ts'
import { agentOf, authenticatedUser, until } from '../../support/authenticated-user.ts'
import { serve } from '../../support/in-process.ts'
import { authorityExtensions, certificatesIn, type OpensslCertificate } from '../../support/openssl-certificates.ts'

/** Returns the certificate with these intermediates. */
function withChain(pair: OpensslCertificate, ...sent: OpensslCertificate[]): CertifiedKey {
  return { certificate: [pair, ...sent].map(({ certificate }) => certificate).join(''), key: pair.key }
}

test('client certificates from several CAs are accepted', { timeout: 300_000 }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-ca-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const make = certificatesIn(directory)
  const authority = (subject: string, issuer?: OpensslCertificate, extensions = authorityExtensions) =>
    make({ subject, extensions, ...(issuer === undefined ? {} : { issuer }) })
  const [one, two, later, stranger] = ['one', 'two', 'later', 'one'].map((name) => authority(`/CN=${name}`))
  const file = join(directory, 'authorities.pem')
  const put = (...pems: readonly string[]) => {
    writeFileSync(`${file}.new`, pems.join('\n'))
    renameSync(`${file}.new`, file)
  }
  put('a comment before', one!.certificate, two!.certificate)
  const server = await serve(t, [`--client-ca-file=${file}`])

  const middle = authority('/CN=middle', one)
  const lower = authority('/CN=lower', middle)
  const short = authority('/CN=short', one, ['basicConstraints=critical,CA:TRUE,pathlen:0', authorityExtensions[1]!])
  const belowShort = authority('/CN=below-short', short)
  const notOne = make({ subject: '/CN=no-authority', issuer: one! })
  const ofStranger = authority('/CN=middle', stranger)
  const jane = (issuer: OpensslCertificate | undefined, extensions?: readonly string[]) =>
    make({ subject: '/O=dev/CN=jane/O=ops', issuer: issuer!, ...(extensions && { extensions }) })
  const ofMiddle = jane(middle)
  const ofLower = jane(lower)

  const sign = (subject: Buffer[]): CertifiedKey => {
    const key = generateKey()
    const certificate = openssl(
      ['x509', '-req', '-CA', one!.certificateFile, '-CAkey', one!.keyFile, '-days', '1'],
      requestPem({ key, subject }),
    )
    return { certificate, key: keyToPem(key) }
  }

  const rows: readonly (readonly [string, CertifiedKey, 201 | 401])[] = [
    ['from the first CA', jane(one), 201],
    ['from the second CA', jane(two), 201],
    ['from an unknown CA with the same name as the first', jane(stranger), 401],
    ['without any usage', jane(one, ['basicConstraints=CA:FALSE']), 201],
    ['for servers', jane(one, ['extendedKeyUsage=serverAuth']), 401],
    ['for clients and servers', jane(one, ['extendedKeyUsage=serverAuth,clientAuth']), 201],
    ['for e-mail protection', jane(one, ['extendedKeyUsage=emailProtection']), 401],
    ['with an unknown critical extension', jane(one, ['1.2.3.4=critical,ASN1:UTF8String:x']), 401],
    ['with the intermediate', withChain(ofMiddle, middle), 201],
    ['with the intermediate and its root', withChain(ofMiddle, middle, one!), 201],
    ['without the intermediate', ofMiddle, 401],
    ['with another intermediate that has the same name', withChain(ofMiddle, ofStranger), 401],
    ['with both intermediates that have the same name', withChain(ofMiddle, ofStranger, middle), 201],
    ['with two intermediates', withChain(ofLower, lower, middle), 201],
    ['with two intermediates in reverse order', withChain(ofLower, middle, lower), 201],
    ['with one of two intermediates missing', withChain(ofLower, lower), 401],
    ['issued below a CA whose path length is exceeded', withChain(jane(belowShort), belowShort, short), 401],
    ['issued by a certificate that is not a CA', withChain(jane(notOne), notOne), 401],
    ['from an unknown CA whose certificate the client sends', withChain(jane(stranger), stranger!), 401],
  ]
  for (const [name, certificate, status] of rows) {
    await t.test(name, async () => {
      const identity = await authenticatedUser(server, { certificate })
      assert.equal(identity.status, status, identity.text)
      if (status !== 201) return
      assert.equal(identity.user, 'jane')
      assert.deepEqual(identity.groups, ['dev', 'ops', 'system:authenticated'])
    })
  }

  await t.test('names with special characters in a certificate are used unchanged', async () => {
    const subjects = {
      '/CN=Jürgen/O=Größe': ['Jürgen', 'Größe'],
      '/CN=a\\/CN=b/O=x\\/O=system:masters': ['a/CN=b', 'x/O=system:masters'],
      '/CN=a, CN = b/O=x\\, y': ['a, CN = b', 'x, y'],
    }
    for (const [subject, [user, group]] of Object.entries(subjects)) {
      const identity = await authenticatedUser(server, { certificate: make({ subject, issuer: one! }) })
      assert.deepEqual([identity.user, identity.groups], [user, [group, 'system:authenticated']], subject)
    }
    assert.equal(
      (await authenticatedUser(server, { certificate: make({ subject: '/O=dev', issuer: one! }) })).status,
      401,
    )
    // The value does not match its declared string type, but openssl signs the certificate anyway.
    const bad = attribute(oid.cn, 0x13, Buffer.from([0xe9]))
    const identity = await authenticatedUser(server, { certificate: sign([rdn(bad)]) })
    assert.equal(identity.status, 401, identity.text)
  })

  await t.test('since 1.33, the UID of the user is read from the certificate', async (t) => {
    const flags = [`--client-ca-file=${one!.certificateFile}`]
    const newer = await serve(t, [...flags, '--emulated-version=1.33'])
    const older = await serve(t, [...flags, '--emulated-version=1.31'])
    const rows: readonly (readonly [uids: readonly string[], uid: string | undefined])[] = [
      [['jane-uid'], 'jane-uid'],
      [[], ''],
      [['a', 'a'], undefined],
      [[''], undefined],
    ]
    for (const [uids, uid] of rows) {
      const subject = [rdn(utf8(oid.cn, 'jane')), ...uids.map((each) => rdn(utf8(oid.uid, each)))]
      const certificate = sign(subject)
      const identity = await authenticatedUser(newer, { certificate })
      assert.deepEqual([identity.status, identity.uid ?? ''], uid === undefined ? [401, ''] : [201, uid], uids.join())
      const earlier = await authenticatedUser(older, { certificate })
      assert.deepEqual([earlier.status, earlier.uid ?? '', earlier.extra], [201, '', undefined], uids.join())
      if (uid === undefined) continue
      const { fingerprint256 } = new X509Certificate(certificate.certificate)
      const id = `X509SHA256=${fingerprint256.replaceAll(':', '').toLowerCase()}`
      assert.deepEqual(identity.extra, { 'authentication.orch.io/credential-id': [id] })
    }
  })

  await t.test('a certificate with several common names is rejected and logged once', async () => {
    for (const subject of ['/CN=first/CN=second', '/CN=jane/O=dev/CN=jane']) {
      const certificate = make({ subject, issuer: one! })
      for (const time of [1, 2])
        assert.equal((await authenticatedUser(server, { certificate })).status, 401, `${subject} ${time}`)
      const { fingerprint256 } = new X509Certificate(certificate.certificate)
      assert.equal(server.output().split(fingerprint256).length - 1, 1, 'once for two connections')
    }
    const unknown = make({ subject: '/CN=first/CN=second', issuer: stranger! })
    assert.equal((await authenticatedUser(server, { certificate: unknown })).status, 401)
    assert.ok(!server.output().includes(new X509Certificate(unknown.certificate).fingerprint256), 'not of strangers')
  })

  await t.test('adding or removing a client CA takes effect, even on open connections', async () => {
    const old = agentOf(server, jane(one))
    const fresh = agentOf(server, jane(later))
    t.after(() => {
      for (const agent of [old, fresh]) agent.destroy()
    })
    const statusOf = async (agent: typeof old) => (await authenticatedUser(server, { agent })).status
    assert.deepEqual([await statusOf(old), await statusOf(fresh)], [201, 401])
    put(two!.certificate, later!.certificate)
    await until(
      () => statusOf(old),
      (status) => status === 401,
    )
    await until(
      () => statusOf(fresh),
      (status) => status === 201,
    )
    assert.match(server.output(), /reloaded a changed file flag="--client-ca-file"/)
  })

  await t.test('an invalid client CA file is reported, and the previous CAs stay in use', async () => {
    const good = jane(later)
    const other = jane(one)
    const bad = { empty: '', 'no certificate': 'x', broken: later!.certificate.replace(/\n.{20}/, '\n') }
    const loose = { 'without its issuer': middle.certificate }
    for (const [name, pem] of Object.entries({ ...bad, ...loose })) {
      const before = server.output().length
      put(pem)
      await until(
        async () => server.output().slice(before),
        (text) => / error cannot load a changed file; keeping the previous content .*--client-ca-file: /.test(text),
      )
      assert.equal((await authenticatedUser(server, { certificate: good })).status, 201, name)
      assert.equal((await authenticatedUser(server, { certificate: other })).status, 401, name)
    }
    rmSync(file)
    await until(
      async () => server.output(),
      (text) => /--client-ca-file: cannot read/.test(text),
    )
    assert.equal((await authenticatedUser(server, { certificate: good })).status, 201)
    put(one!.certificate)
    await until(
      () => authenticatedUser(server, { certificate: other }),
      ({ status }) => status === 201,
    )
    assert.equal((await authenticatedUser(server, { certificate: good })).status, 401)
  })
})
