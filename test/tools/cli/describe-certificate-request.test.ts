/**
 * Tests that `orchctl describe csr` decodes a request and explains its state in the same way as wide tables do, and
 * that it shows everything that kubectl shows.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKey } from '../../../src/api/pki/keys.ts'
import { makeRequest } from '../../../src/api/pki/make-request.ts'
import { serve } from '../../support/in-process.ts'
import { kubectl } from '../../support/kubectl.ts'
import { configOf, orchctl } from '../../support/orchctl.ts'

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const nodeClient = 'kubernetes.io/kube-apiserver-client-kubelet'
const nodeUsages = ['client auth', 'digital signature', 'key encipherment']

interface Row {
  readonly name: string
  readonly signerName: string
  readonly usages?: readonly string[]
  readonly commonName?: string
  readonly condition?: object
  readonly expected: readonly RegExp[]
}

const rows: readonly Row[] = [
  {
    name: 'client',
    signerName: 'kubernetes.io/kube-apiserver-client',
    expected: [/pending: .* orchctl certificate approve client/],
  },
  {
    name: 'node',
    signerName: nodeClient,
    usages: nodeUsages,
    expected: [
      /pending: the csrapproving control loop approves it if admin may create certificatesigningrequests\/nodeclient/,
    ],
  },
  {
    name: 'odd-node',
    signerName: nodeClient,
    commonName: 'n1',
    expected: [/would fail once approved: the subject common name/, /would fail once approved: usages must be exactly/],
  },
  {
    name: 'foreign',
    signerName: 'example.com/signer',
    expected: [/this signer is not built in: an external signer must sign requests for example.com\/signer/],
  },
  {
    name: 'unknown',
    signerName: 'kubernetes.io/other',
    expected: [/unknown signer: the built-in signers are kubernetes.io\//],
  },
  {
    name: 'approved',
    signerName: nodeClient,
    usages: nodeUsages,
    condition: { type: 'Approved', status: 'True' },
    expected: [/approved, waiting for the csrsigning control loop/, /^Status: +Approved$/m],
  },
  {
    name: 'denied',
    signerName: nodeClient,
    condition: { type: 'Denied', status: 'True', message: 'not you' },
    expected: [/denied: not you/],
  },
  {
    name: 'failed',
    signerName: nodeClient,
    condition: { type: 'Failed', status: 'True', message: 'one; two' },
    expected: [/failed: one\n\s+failed: two/],
  },
]

test('orchctl describe decodes a certificate signing request and explains its state', async (t) => {
  const server = await serve(t, ['--profile=kubernetes'])
  const client = server.client()
  const key = generateKey()
  const env = { KUBECONFIG: configOf(server) }
  for (const { name, signerName, usages = ['client auth'], commonName = 'system:node:n1', condition } of rows) {
    const pem = makeRequest({ commonName, organizations: ['system:nodes'] }, key)
    const spec = { request: Buffer.from(pem).toString('base64'), signerName, usages }
    const made = await client.post(path, { metadata: { name }, spec })
    assert.equal(made.status, 201, made.text)
    const status = { conditions: [condition] }
    if (condition !== undefined)
      assert.equal((await client.put(`${path}/${name}/approval`, { ...made.body, status })).status, 200)
  }
  const wide = await orchctl(['get', 'csr', 'client', '-o', 'wide'], { env })
  assert.match(wide.stdout, /CONDITION +SUBJECT +NAMES +KEY +USAGES$/m)
  assert.match(wide.stdout, /Pending +CN=system:node:n1, O=system:nodes +<none> +ec, .* +client auth$/m)
  const narrow = await orchctl(['get', 'csr', 'client'], { env })
  assert.match(narrow.stdout, /CONDITION$/m)
  for (const { name, expected } of rows) {
    const { stdout } = await orchctl(['describe', 'csr', name], { env })
    for (const part of expected) assert.match(stdout, part, name)
  }
  const names = { commonName: 'evil\u001b[31m', organizations: ['dev'] }
  const pem = makeRequest(names, key, { dns: ['a.example'], ips: ['10.0.0.1'] })
  const spec = {
    request: Buffer.from(pem).toString('base64'),
    signerName: 'example.com/s',
    usages: ['any'],
    expirationSeconds: 3600,
  }
  assert.equal((await client.post(path, { metadata: { name: 'whole' }, spec })).status, 201)
  const { stdout } = await orchctl(['describe', 'csr', 'whole'], { env })
  for (const part of [
    /DNS Names: +a.example/,
    /IP Addresses: +10.0.0.1/,
    /Key: +ec, prime256v1/,
    /Requested Duration: +60m/,
  ])
    assert.match(stdout, part)
  assert.ok(!stdout.includes('\u001b') && stdout.includes('evil\\u001b'))
  const other = await kubectl(server, ['describe', 'csr', 'whole'])
  const titles = (text: string) => Array.from(text.matchAll(/^\s*([A-Z][\w /-]*):(?: |$)/gm), ([, title]) => title!)
  const shown = new Set([...titles(stdout), 'Serial Number'])
  assert.deepEqual(
    titles(other.stdout).filter((title) => !shown.has(title)),
    [],
    stdout,
  )
})
