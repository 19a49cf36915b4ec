/** Tests ImagePolicyWebhook with a real HTTPS server as the backend. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'
import { authorityExtensions, certificatesIn, serverExtensions } from '../../support/openssl-certificates.ts'
import { startFailing } from '../../support/start-failing.ts'

interface Review {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: { containers: { image: string }[]; annotations?: object; namespace: string }
}

const directory = mkdtempSync(join(tmpdir(), 'orch-image-policy-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const make = certificatesIn(directory)
const authority = make({ subject: '/CN=images', extensions: authorityExtensions })
const asked: Review[] = []
const { certificate: cert, key } = make({ subject: '/CN=backend', issuer: authority, extensions: serverExtensions })
const backend = createServer({ cert, key }, async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Review
  asked.push(review)
  answer(review, response)
})
await new Promise<void>((done) => backend.listen(0, '127.0.0.1', done))
after(() => {
  backend.closeAllConnections()
  backend.close()
})

function answer({ spec, ...review }: Review, response: ServerResponse): void {
  const has = (text: string) => spec.containers.some(({ image }) => image.includes(text))
  if (has('broken')) return void response.writeHead(500).end()
  const status = has('bad') ? { allowed: false, reason: 'that one is bad' } : { allowed: !has('silent') }
  response.end(JSON.stringify({ ...review, spec: { containers: [{ image: 'ignored' }] }, status }))
}

function flagsFor(policy: object): string[] {
  const { port } = backend.address() as AddressInfo
  const kubeConfigFile = join(directory, 'kubeconfig.json')
  const clusters = [
    {
      name: 'b',
      cluster: { server: `https://127.0.0.1:${port}/images`, 'certificate-authority': authority.certificateFile },
    },
  ]
  const contexts = [{ name: 'c', context: { cluster: 'b', user: 'u' } }]
  const users = [{ name: 'u', user: {} }]
  writeFileSync(kubeConfigFile, JSON.stringify({ clusters, contexts, users, 'current-context': 'c' }))
  const configuration = { imagePolicy: { kubeConfigFile, retryBackoff: 1, ...policy } }
  const plugins = [{ name: 'ImagePolicyWebhook', configuration }]
  const file = join(directory, `admission-${Object.keys(policy).join('-')}.json`)
  const content = { apiVersion: 'apiserver.config.orch.io/v1', kind: 'AdmissionConfiguration', plugins }
  writeFileSync(file, JSON.stringify(content))
  const disabled = '--disable-admission-plugins=ServiceAccount'
  return ['--enable-admission-plugins=ImagePolicyWebhook', `--admission-control-config-file=${file}`, disabled]
}

const enabled = '--runtime-config=imagepolicy.orch.io/v1alpha1=true'
const pods = '/api/v1/namespaces/default/pods'
const pod = (name: string, images: readonly string[], more: object = {}, init: readonly string[] = []) => ({
  metadata: { name, ...more },
  spec: {
    containers: images.map((image, i) => ({ name: `c${i}`, image })),
    initContainers: init.map((image, i) => ({ name: `i${i}`, image })),
  },
})

test('the image policy webhook checks all containers of a pod, and its responses are cached', async (t) => {
  const client = (await serve(t, [...flagsFor({ defaultAllow: false }), enabled])).client()
  const annotations = { 'mine.image-policy.orch.io/ticket': '7', other: 'x' }
  assert.equal((await client.post(pods, pod('a', ['one', 'two'], { annotations }, ['three']))).status, 201)
  assert.deepEqual(asked.splice(0), [
    {
      apiVersion: 'imagepolicy.orch.io/v1alpha1',
      kind: 'ImageReview',
      metadata: {},
      spec: {
        containers: [{ image: 'one' }, { image: 'two' }, { image: 'three' }],
        annotations: { 'mine.image-policy.orch.io/ticket': '7' },
        namespace: 'default',
      },
    },
  ])
  const bad = await client.post(pods, pod('b', ['fine'], {}, ['bad']))
  assert.equal(bad.status, 403)
  assert.match(bad.body.message, /image policy webhook backend denied one or more images: that one is bad/)
  const silent = await client.post(pods, pod('b', ['silent']))
  assert.match(silent.body.message, /one or more images rejected by webhook backend/)
  asked.splice(0)
  assert.equal((await client.post(pods, pod('b', ['fine'], {}, ['bad']))).status, 403)
  assert.deepEqual(asked, [])
  assert.equal((await client.post(pods, pod('c', ['broken']))).status, 403)
  const debug = {
    method: 'PATCH',
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: { spec: { ephemeralContainers: [{ name: 'd', image: 'bad-debugger' }] } },
  }
  assert.equal((await client.send(`${pods}/a/ephemeralcontainers`, debug)).status, 403)
})

test('if defaultAllow is set, pods are admitted while the image policy webhook is unavailable', async (t) => {
  const client = (await serve(t, [...flagsFor({ defaultAllow: true }), enabled])).client()
  const { status, headers } = await client.post(pods, pod('a', ['broken']))
  assert.equal(status, 201)
  assert.match(String(headers.warning), /cannot reach the image policy backend/)
})

test('the server does not start if the API group of the image policy webhook is disabled or the configuration is invalid', async (t) => {
  const failures: [string[], RegExp][] = [
    [flagsFor({ defaultAllow: false }), /--runtime-config=imagepolicy.orch.io\/v1alpha1=true/],
    [['--enable-admission-plugins=ImagePolicyWebhook'], /requires a configuration/],
    [[...flagsFor({ allowTTL: -7 }), enabled], /allowTTL must be from 1 to 1800/],
  ]
  for (const [flags, message] of failures) assert.match((await startFailing(t, flags)).errors, message)
})
