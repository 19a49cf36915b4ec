/**
 * Measures certificate signing: a controller manager in a separate process approves and signs 1,000 requests from node
 * agents. Measures the time from the first request to the last certificate, and compares it with signing alone. Each
 * request requires three writes and a review.
 */

import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { vendorOf } from '../../src/api/model/vendor.ts'
import { readCertificateRequest } from '../../src/api/pki/certificate-request.ts'
import { generateKey } from '../../src/api/pki/keys.ts'
import { makeRequest } from '../../src/api/pki/make-request.ts'
import { signRequest } from '../../src/api/pki/sign-request.ts'
import { HttpTransport } from '../../src/client/node/http-transport.ts'
import * as kinds from '../../src/client/requests/built-in-kinds.ts'
import { Client as OrchClient } from '../../src/client/requests/client.ts'
import { inDomainOf } from '../../src/client/requests/resource-type.ts'
import { watch } from '../../src/client/requests/watch.ts'
import { type Bench, token } from '../servers.ts'
import { perSecond, type Row, short } from '../table.ts'
import { cpuOf } from '../usage.ts'

const count = 1000
const atOnce = 50
const usages = ['client auth', 'digital signature', 'key encipherment']
const vendor = vendorOf('orch')
const type = inDomainOf(vendor, kinds.CertificateSigningRequest)

export const certificateRows = {
  name: 'certificates',
  async run(bench: Bench): Promise<Row[]> {
    const directory = bench.newDirectory()
    const side = await bench.startOrch(directory)
    const manager = await bench.startManager(directory, side)
    const authority = readFileSync(join(directory, 'data/pki/ca.crt'), 'utf8')
    const transport = new HttpTransport({ server: side.origin, authority, token: () => token })
    const client = new OrchClient(transport.send)
    const pem = makeRequest({ commonName: 'system:node:n1', organizations: ['system:nodes'] }, generateKey())
    const before = [cpuOf(side.pid).total, cpuOf(manager.pid).total]
    const began = performance.now()
    const issued = allIssued(client)
    await createAll(client, Buffer.from(pem).toString('base64'))
    await issued
    const seconds = (performance.now() - began) / 1000
    const after = [cpuOf(side.pid).total, cpuOf(manager.pid).total]
    transport.close()
    await manager.stop()
    await side.stop()
    const [ofServer, ofManager] = after.map((each, i) => ((each - before[i]!) / count) * 1000) as [number, number]
    const alone = signingAlone(pem, directory, authority)
    const cpu = `${short(ofServer)} + ${short(ofManager)} ms`
    const figures = { perSecond: count / seconds, alone, serverMs: ofServer, managerMs: ofManager }
    const name = `${short(count)} certificate requests approved and signed`
    const note = 'processor time of the server and of the manager for each'
    return [{ name, ours: perSecond(count / seconds), bare: perSecond(alone), cpu, note, figures }]
  },
}

/** Resolves when all requests have a certificate. */
async function allIssued(client: OrchClient): Promise<void> {
  const done = new Set<string>()
  for await (const event of watch(client, type)) {
    if (event.type === 'BOOKMARK' || !event.object.status?.certificate) continue
    done.add(event.object.metadata.name!)
    if (done.size === count) return
  }
  throw new Error('the watch ended before all requests were signed')
}

async function createAll(client: OrchClient, request: string): Promise<void> {
  const create = (i: number) =>
    client.create(type, {
      apiVersion: `${type.group}/v1`,
      kind: 'CertificateSigningRequest',
      metadata: { name: `r${i}` },
      spec: { request, signerName: vendor.signers.nodeClient, usages },
    })
  for (let from = 0; from < count; from += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, i) => create(from + i)))
}

/** Returns the number of certificates that are parsed and signed per second without any other work. */
function signingAlone(pem: string, directory: string, certificate: string): number {
  const key = createPrivateKey(readFileSync(join(directory, 'data/pki/ca.key')))
  const issuer = { certificate, key }
  const began = performance.now()
  for (let i = 0; i < count; i++) {
    const request = readCertificateRequest(Buffer.from(pem))
    signRequest({ request, usages, issuer, lifeMs: 86_400_000, now: Date.now() })
  }
  return count / ((performance.now() - began) / 1000)
}
