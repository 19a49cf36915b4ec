/**
 * Tests that a joining client trusts a document only if the client's own token was used to sign the exact text with
 * HS256.
 */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { test } from 'node:test'
import { loadAll } from 'js-yaml'
import { selfSignedCertificate } from '../../../src/api/pki/self-signed-certificate.ts'
import { pinsOf, trustCluster, verified } from '../../../src/tools/joining/cluster-info.ts'

const token = { id: 'abcdef', secret: '0123456789abcdef' }
const whole = 'abcdef.0123456789abcdef'
const kubeconfig = 'apiVersion: v1\nkind: Config\n'
const base64url = (text: string) => Buffer.from(text).toString('base64url')

interface Forgery {
  readonly header?: object
  readonly key?: string
  readonly text?: string
  readonly payload?: string
}

function signature({
  header = { alg: 'HS256', kid: 'abcdef' },
  key = whole,
  text = kubeconfig,
  payload = '',
}: Forgery) {
  const head = base64url(JSON.stringify(header))
  const signed = createHmac('sha256', key)
    .update(`${head}.${base64url(text)}`)
    .digest('base64url')
  return `${head}.${payload}.${signed}`
}

const entry = (jws: string, text = kubeconfig) => ({ kubeconfig: text, 'jws-kubeconfig-abcdef': jws })

test('a cluster-info document signed with the token is accepted and names the profile', () => {
  assert.equal(verified(entry(signature({})), token).vendor.profile, 'orch')
  assert.equal(verified(entry(signature({ key: token.secret })), token).vendor.profile, 'kubernetes')
})

const none = `${base64url(JSON.stringify({ alg: 'none', kid: 'abcdef' }))}..`

for (const [what, data, message] of [
  ['alg none', entry(none), /does not use HS256/],
  ['alg none, signed', entry(signature({ header: { alg: 'none', kid: 'abcdef' } })), /does not use HS256/],
  ['HS512', entry(signature({ header: { alg: 'HS512', kid: 'abcdef' } })), /does not use HS256/],
  ['hs256', entry(signature({ header: { alg: 'hs256', kid: 'abcdef' } })), /does not use HS256/],
  ['no alg', entry(signature({ header: { kid: 'abcdef' } })), /does not use HS256/],
  ['crit', entry(signature({ header: { alg: 'HS256', kid: 'abcdef', crit: ['b64'] } })), /does not use HS256/],
  ['another kid', entry(signature({ header: { alg: 'HS256', kid: 'zzzzzz' } })), /another token/],
  ['a payload inside', entry(signature({ payload: base64url(kubeconfig) })), /detached/],
  ['a changed text', entry(signature({}), `${kubeconfig}x`), /does not match the token/],
  ['another token', entry(signature({ key: 'abcdef.ffffffffffffffff' })), /does not match the token/],
  ['an empty key', entry(signature({ key: '' })), /does not match the token/],
  ['no signature', entry('..'), /does not use HS256/],
  ['odd bytes', entry('%%%'), /detached/],
  ['no entry', { kubeconfig }, /has no signature for the token abcdef/],
  ['no kubeconfig', { 'jws-kubeconfig-abcdef': signature({}) }, /no kubeconfig/],
] as const)
  test(`a cluster-info document is rejected: ${what}`, () => {
    assert.throws(() => verified(data, token), { name: 'JoinError', message })
  })

/**
 * Starts a man-in-the-middle server with a self-signed certificate. Its response is always a ConfigMap that contains
 * `data`.
 */
async function impostor(t: { after(run: () => Promise<void>): void }, data: object) {
  const { certificate: cert, key } = selfSignedCertificate(
    'impostor',
    { dns: ['localhost'], ips: ['127.0.0.1'] },
    Date.now(),
  )
  const seen: IncomingHttpHeaders[] = []
  const server = createSecureServer({ cert, key })
  server.on('error', () => {})
  server.on('sessionError', () => {})
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    seen.push(headers)
    stream.respond({ ':status': 200, 'content-type': 'application/json' })
    stream.end(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, data }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.close()
  })
  const { port } = server.address() as { port: number }
  return { url: `https://127.0.0.1:${port}`, seen, certificate: cert }
}

const configWith = (certificate: string) =>
  `clusters:\n- name: ""\n  cluster:\n    certificate-authority-data: ${Buffer.from(certificate).toString('base64')}\n`

test('a man in the middle is detected during a join and does not learn the token', async (t) => {
  const signal = AbortSignal.timeout(60_000)
  const { certificate } = selfSignedCertificate('true', { dns: [], ips: ['127.0.0.1'] }, Date.now())
  const text = configWith(certificate)
  const jws = signature({ text })
  const between = await impostor(t, entry(jws, text))
  // The signed content is genuine, so its CA does not verify the impostor's certificate.
  await assert.rejects(trustCluster({ server: between.url, token, pins: [], signal }), /cannot connect to/)
  const forging = await impostor(t, entry(jws, configWith(between.certificate)))
  await assert.rejects(trustCluster({ server: forging.url, token, pins: [], signal }), /does not match the token/)
  for (const headers of [...between.seen, ...forging.seen]) assert.equal(headers.authorization, undefined)
  assert.equal(forging.seen.length, 1)
})

test('only CA certificates that match a pinned hash are trusted, regardless of their position in the bundle', async (t) => {
  const signal = AbortSignal.timeout(60_000)
  const holder = { text: '' }
  const data = {
    get kubeconfig() {
      return holder.text
    },
    get 'jws-kubeconfig-abcdef'() {
      return signature({ text: holder.text })
    },
  }
  const server = await impostor(t, data)
  const names = { dns: ['localhost'], ips: ['127.0.0.1'] }
  const { certificate: real } = selfSignedCertificate('true', names, Date.now())
  const trust = (pins: readonly string[]) => trustCluster({ server: server.url, token, pins, signal })
  const trustedForm = server.certificate.replaceAll(' CERTIFICATE-', ' TRUSTED CERTIFICATE-')
  const others = [server.certificate, trustedForm, server.certificate.replaceAll(' CERTIFICATE-', ' X509 CERTIFICATE-')]
  // The real CA is public, so an attacker who knows the token can add another CA to the document.
  for (const other of others)
    for (const bundle of [real + other, other + real, `${real}\n# text\n${other}`]) {
      holder.text = configWith(bundle)
      await assert.rejects(trust(pinsOf(real)), /cannot connect to/, 'the certificate of the impostor is not trusted')
    }
  for (const bundle of [real + server.certificate, server.certificate + real]) {
    holder.text = configWith(bundle)
    assert.equal((await trust(pinsOf(server.certificate))).authority, server.certificate)
    assert.equal((await trust(pinsOf(bundle))).authority, bundle)
  }
  assert.throws(() => pinsOf('nothing'), /is not a PEM certificate/)
})

test('a CA that matches no pinned hash is rejected even if the token is valid', async (t) => {
  const signal = AbortSignal.timeout(60_000)
  const holder = { text: '' }
  const data = {
    get kubeconfig() {
      return holder.text
    },
    get 'jws-kubeconfig-abcdef'() {
      return signature({ text: holder.text })
    },
  }
  const server = await impostor(t, data)
  const pins = [`sha256:${'0'.repeat(64)}`]
  const assertRejected = async (text: string, message: RegExp) => {
    holder.text = text
    await assert.rejects(trustCluster({ server: server.url, token, pins, signal }), { name: 'JoinError', message })
  }
  const plain = configWith(server.certificate)
  await assertRejected(plain, /does not match --ca-cert-hash/)
  assert.equal(server.seen.length, 1)
  // Kubeconfigs in various formats: written by kubeadm, written manually, and JSON.
  await assertRejected(`${plain}contexts: null\nusers: null\n`, /does not match --ca-cert-hash/)
  await assertRejected(`# by hand\n'kind': 'Config' # quoted\n${plain}`, /does not match --ca-cert-hash/)
  await assertRejected(JSON.stringify(loadAll(plain)[0]), /does not match --ca-cert-hash/)
  await assertRejected(`${plain}kind: [Config`, /cluster-info kubeconfig is not valid YAML: see line 5/)
  await assertRejected('clusters: null', /contains no CA/)
})
