/**
 * Tests that each approved request is either signed or fails with a list of all rules that it violates, even if a
 * manager is killed in between.
 */

import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { generateKey } from '../../../src/api/pki/keys.ts'
import { makeRequest } from '../../../src/api/pki/make-request.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import type { Client } from '../../../src/client/requests/client.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import type { CertificateSigningRequest } from '../../../src/cluster/controllers/certificate-requests.ts'
import type { SigningAuthorities } from '../../../src/cluster/controllers/csr-signing.ts'
import { openssl } from '../../api/pki/openssl.ts'
import { openLoopServer } from '../../support/loop-manager.ts'
import { eventOf } from '../../support/resource-types.ts'

const vendor = vendorOf('orch')
const requests = inDomainOf(vendor, kinds.CertificateSigningRequest)
const key = generateKey()
const clientUsages = ['client auth', 'digital signature', 'key encipherment']
const hour = 3_600_000

interface Wanted {
  readonly name: string
  readonly signerName?: string
  readonly usages?: string[]
  readonly request?: string
  readonly expirationSeconds?: number
}

function requestOf({ name, signerName = vendor.signers.client, usages = clientUsages, ...rest }: Wanted) {
  const { request = makeRequest({ commonName: name, organizations: ['dev'] }, key), expirationSeconds } = rest
  return {
    apiVersion: 'certificates.orch.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName,
      usages,
      ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
    },
  } as CertificateSigningRequest
}

async function approve(client: Client, name: string, type = 'Approved'): Promise<void> {
  const found = await client.get(requests, { name })
  const conditions = [{ type, status: 'True', reason: 'ByHand' }]
  await client.update(requests, { ...found, status: { conditions } } as CertificateSigningRequest, {
    subresource: 'approval',
  })
}

async function approved(client: Client, wanted: Wanted): Promise<void> {
  await client.create(requests, requestOf(wanted))
  await approve(client, wanted.name)
}

async function outcome(client: Client, name: string): Promise<CertificateSigningRequest> {
  const fits = (object: CertificateSigningRequest) =>
    Boolean(object.status?.certificate) || (object.status?.conditions ?? []).some(({ type }) => type === 'Failed')
  const event = await eventOf(client, requests, {
    name: { name },
    fits: (each) => each.type !== 'BOOKMARK' && fits(each.object),
  })
  assert.ok(event.type !== 'BOOKMARK')
  return event.object
}

function certificateOf({ status }: CertificateSigningRequest): X509Certificate {
  return new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64'))
}

function failureOf({ status }: CertificateSigningRequest): string {
  const failed = (status?.conditions ?? []).find(({ type }) => type === 'Failed')
  assert.equal(failed?.reason, 'SignerValidationFailure')
  assert.equal(status?.certificate, undefined)
  return failed?.message ?? ''
}

test('the manager signs CertificateSigningRequests', async (t) => {
  const { client, server, start } = await openLoopServer(t)
  const { certificate, key: caKey } = server.signingAuthority
  const issuer = { certificate, key: createPrivateKey(caKey) }
  const authority = () => issuer
  const authorities: SigningAuthorities = { client: authority, nodeClient: authority, nodeServing: authority }
  const signing = { authorities, maxLifetimeMs: 365 * 24 * hour }
  const sign = (maxLifetimeMs = signing.maxLifetimeMs) =>
    start(['csrsigning'], { options: { signing: { authorities, maxLifetimeMs } } })

  const manager = sign()

  await t.test('an approved CertificateSigningRequest is signed with its usages', async () => {
    await approved(client, { name: 'jane' })
    const issued = certificateOf(await outcome(client, 'jane'))
    assert.ok(issued.verify(new X509Certificate(certificate).publicKey))
    assert.equal(issued.ca, false)
    assert.deepEqual(issued.keyUsage, ['1.3.6.1.5.5.7.3.2'])
    assert.ok(issued.checkPrivateKey(key))
  })

  await t.test(
    'the lifetime of a certificate is the shorter of the flag value and the requested lifetime',
    async () => {
      await approved(client, { name: 'brief', expirationSeconds: 3600 })
      const brief = certificateOf(await outcome(client, 'brief'))
      const life = brief.validToDate.getTime() - Date.now()
      assert.ok(Math.abs(life - hour) < 120_000, `${life}`)
      await manager.stop()
      const short = sign(hour / 2)
      await approved(client, { name: 'long', expirationSeconds: 86_400 })
      await approved(client, { name: 'unsaid' })
      for (const name of ['long', 'unsaid']) {
        const left = certificateOf(await outcome(client, name)).validToDate.getTime() - Date.now()
        assert.ok(left <= hour / 2 && left > hour / 2 - 120_000, `${name}: ${left}`)
      }
      await short.stop()
    },
  )

  const again = sign()

  await t.test(
    'a CertificateSigningRequest that violates signer rules fails with all violations and does not block other requests',
    async () => {
      const nodeName = { commonName: 'n1', organizations: ['other'] }
      await approved(client, {
        name: 'broken',
        signerName: vendor.signers.nodeClient,
        usages: ['client auth'],
        request: makeRequest(nodeName, key, { dns: ['a.example'], ips: [] }),
      })
      await approved(client, { name: 'sound' })
      const message = failureOf(await outcome(client, 'broken'))
      for (const part of ['organization', 'common name', 'usages must be exactly', 'DNS names'])
        assert.match(message, new RegExp(part))
      assert.ok(certificateOf(await outcome(client, 'sound')))
    },
  )

  await t.test('the kubelet-serving signer signs certificates with node names', async () => {
    const request = makeRequest({ commonName: 'system:node:n1', organizations: ['system:nodes'] }, key, {
      dns: ['n1.example'],
      ips: ['10.1.2.3'],
    })
    const usages = ['server auth', 'digital signature', 'key encipherment']
    await approved(client, { name: 'serving', signerName: vendor.signers.nodeServing, usages, request })
    const issued = certificateOf(await outcome(client, 'serving'))
    assert.equal(issued.subjectAltName, 'DNS:n1.example, IP Address:10.1.2.3')
    assert.deepEqual(issued.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  })

  await t.test('CertificateSigningRequests that are pending, denied or for another signer are ignored', async () => {
    await client.create(requests, requestOf({ name: 'pending' }))
    await client.create(requests, requestOf({ name: 'denied' }))
    await approve(client, 'denied', 'Denied')
    await approved(client, { name: 'foreign', signerName: 'example.com/signer' })
    await approved(client, { name: 'last' })
    await outcome(client, 'last')
    for (const name of ['pending', 'denied', 'foreign']) {
      const { status } = await client.get(requests, { name })
      assert.equal(status?.certificate, undefined, name)
      assert.ok(!(status?.conditions ?? []).some(({ type }) => type === 'Failed'), name)
    }
  })
  await again.stop()

  await t.test(
    'unreadable CertificateSigningRequests from an older server fail with a reason and do not block other requests',
    async () => {
      const good = makeRequest({ commonName: 'odd', organizations: [] }, key)
      const body = good.split('\n').slice(1, -2).join('')
      const odd: [string, string][] = [
        ['text', 'hello'],
        ['cut', good.slice(0, 120)],
        ['label', good.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE')],
        ['flipped', good.replace(body.slice(90, 94), 'AAAA')],
        ['random', `-----BEGIN CERTIFICATE REQUEST-----\n${'QUJD'.repeat(8)}\n-----END CERTIFICATE REQUEST-----\n`],
        [
          'several',
          openssl([
            'req',
            '-new',
            '-newkey',
            'ec',
            '-pkeyopt',
            'ec_paramgen_curve:P-256',
            '-nodes',
            '-keyout',
            '/dev/null',
            '-subj',
            '/CN=a/CN=b',
          ]),
        ],
      ]
      const sent = Buffer.from(good).toString('base64')
      for (const [name, bytes] of odd) {
        const alter = (text: string) => text.replaceAll(sent, Buffer.from(bytes).toString('base64'))
        const older = start(['csrsigning'], { options: { signing }, alter })
        await approved(client, { name: `odd-${name}`, request: good })
        await approved(client, { name: `even-${name}` })
        assert.notEqual(failureOf(await outcome(client, `odd-${name}`)), '', name)
        assert.ok(certificateOf(await outcome(client, `even-${name}`)))
        await older.stop()
      }
    },
  )
})
