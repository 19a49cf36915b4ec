/**
 * Tests that CertificateSigningRequests are deleted when they reach a certain age, and that recent requests are kept.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { issueCertificate } from '../../../src/api/pki/certificate.ts'
import { generateKey, publicKeyOf } from '../../../src/api/pki/keys.ts'
import { makeRequest } from '../../../src/api/pki/make-request.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import type { CertificateSigningRequest } from '../../../src/cluster/controllers/certificate-requests.ts'
import { openLoopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const vendor = vendorOf('orch')
const requests = inDomainOf(vendor, kinds.CertificateSigningRequest)
const key = generateKey()
const minute = 60_000
const hour = 60 * minute

/** Returns a clock that is ahead of the system clock. */
const ahead = (ms: number) => ({ now: () => Date.now() + ms, monotonic: () => performance.now() })

/** Returns a certificate that expires at the given time. */
function certificate(notAfter: number): string {
  const pem = issueCertificate({
    subject: { commonName: 'x', organizations: [] },
    publicKey: publicKeyOf(key),
    issuer: { certificate: 'self', key },
    usages: ['client auth'],
    notBefore: notAfter - 48 * hour,
    notAfter,
  })
  return Buffer.from(pem).toString('base64')
}

test('the manager deletes old CertificateSigningRequests', async (t) => {
  const { client, start } = await openLoopServer(t)
  const create = (name: string) => {
    const request = Buffer.from(makeRequest({ commonName: 'x', organizations: [] }, key)).toString('base64')
    const spec = { request, signerName: 'example.com/signer', usages: ['client auth'] }
    const type = { apiVersion: 'certificates.orch.io/v1', kind: 'CertificateSigningRequest' }
    return client.create(requests, { ...type, metadata: { name }, spec } as CertificateSigningRequest)
  }
  const decide = async (name: string, type: string, ageMs: number) => {
    const found = await client.get(requests, { name })
    const time = new Date(Date.now() - ageMs).toISOString().replace(/\.\d+/, '')
    const condition = { type, status: 'True', reason: 'ByHand', lastUpdateTime: time }
    const status = { ...found.status, conditions: [...(found.status?.conditions ?? []), condition] }
    const subresource = type === 'Failed' ? 'status' : 'approval'
    await client.update(requests, { ...found, status } as CertificateSigningRequest, { subresource })
  }
  const issue = async (name: string, notAfter: number) => {
    const found = await client.get(requests, { name })
    const status = { ...found.status, certificate: certificate(notAfter) }
    await client.update(requests, { ...found, status } as CertificateSigningRequest, { subresource: 'status' })
  }
  const names = async () => (await client.list(requests)).items.map(({ metadata }) => metadata.name!).sort()
  const gone = (name: string) =>
    until(
      () => client.get(requests, { name }).then(() => false, isNotFound),
      (isGone) => isGone,
    )

  await t.test('old CertificateSigningRequests are deleted depending on their state and age', async () => {
    for (const type of ['Approved', 'Denied', 'Failed'])
      for (const [age, ms] of [
        ['old', 61 * minute],
        ['young', 30 * minute],
      ] as const) {
        const name = `${age}-${type.toLowerCase()}`
        await create(name)
        await decide(name, type, ms)
      }
    await create('approved-then-failed')
    await decide('approved-then-failed', 'Approved', 90 * minute)
    await decide('approved-then-failed', 'Failed', 30 * minute)
    // The age of the request is measured from its failure, although its approval has a later time.
    await create('failed-long-ago')
    await decide('failed-long-ago', 'Approved', 0)
    await decide('failed-long-ago', 'Failed', 61 * minute)
    for (const [name, end] of [
      ['expired', -minute],
      ['valid', hour],
    ] as const) {
      await create(name)
      await decide(name, 'Approved', 0)
      await issue(name, Date.now() + end)
    }
    await create('pending')
    const manager = start(['csrcleaner'])
    for (const name of ['old-approved', 'old-denied', 'old-failed', 'failed-long-ago', 'expired']) await gone(name)
    await manager.firstPass
    await manager.stop()
    const remainingNames = [
      'approved-then-failed',
      'pending',
      'valid',
      'young-approved',
      'young-denied',
      'young-failed',
    ]
    assert.deepEqual(await names(), remainingNames)
  })

  await t.test('pending CertificateSigningRequests are deleted after one day', async () => {
    const young = start(['csrcleaner'], { clock: ahead(23 * hour) })
    await young.firstPass
    await young.stop()
    assert.deepEqual(await names(), ['pending'])
    const old = start(['csrcleaner'], { clock: ahead(25 * hour) })
    await gone('pending')
    await old.stop()
  })
})
