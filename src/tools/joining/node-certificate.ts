/**
 * Requests a client certificate for a node agent. Creates a CertificateSigningRequest with the token and waits until
 * the request is signed. If the request is not signed, throws an error that explains the reason. The private key leaves
 * this process only in the file that the caller writes.
 */

import type { CertificateSigningRequest } from '../../api/kinds/certificates/certificate-signing-request.ts'
import { generateName } from '../../api/model/generate-name.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import { generateKey, keyToPem } from '../../api/pki/keys.ts'
import { makeRequest } from '../../api/pki/make-request.ts'
import type { AlternativeNames } from '../../api/pki/names.ts'
import { HttpTransport } from '../../client/node/http-transport.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import { Client } from '../../client/requests/client.ts'
import { inDomainOf, type ResourceType } from '../../client/requests/resource-type.ts'
import { watch } from '../../client/requests/watch.ts'
import type { Token, TrustedCluster } from './cluster-info.ts'
import { JoinError } from './join-error.ts'

export interface NodeRequest {
  readonly server: string
  readonly token: Token
  readonly nodeName: string
  readonly signal: AbortSignal
  /** Called with the name of the CertificateSigningRequest once it has been created. */
  readonly onRequested: (name: string) => void
}

const watchSeconds = 300

/**
 * Returns the certificate. Throws JoinError if the request is denied or fails, or if the signal aborts while the
 * request is pending.
 */
export async function nodeCertificate(
  { vendor, authority }: TrustedCluster,
  { server, token, nodeName, signal, onRequested }: NodeRequest,
): Promise<CertifiedKey> {
  const transport = new HttpTransport({ server, authority, token: () => `${token.id}.${token.secret}` })
  const client = new Client(transport.send, { userAgent: 'orch-join' })
  try {
    return await requestCertificate(client, { vendor, nodeName, use: 'client', signal, onRequested })
  } finally {
    transport.close()
  }
}

/** A request for a certificate of a node agent. */
export interface CertificateWish {
  readonly vendor: Vendor
  readonly nodeName: string
  /** Purpose of the certificate: to authenticate to the API server, or to serve clients. */
  readonly use: 'client' | 'serving'
  /** DNS names and IP addresses for a serving certificate. */
  readonly names?: AlternativeNames
  readonly signal: AbortSignal
  readonly onRequested?: (name: string) => void
}

/** Creates a private key and requests a certificate for the node. Throws JoinError like `nodeCertificate`. */
export async function requestCertificate(
  client: Client,
  { vendor, nodeName, use, names, signal, onRequested }: CertificateWish,
): Promise<CertifiedKey> {
  const type = inDomainOf(vendor, kinds.CertificateSigningRequest)
  const key = generateKey()
  const pem = makeRequest({ commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] }, key, names)
  const name = generateName(use === 'client' ? 'node-csr-' : 'csr-')
  const signerName = use === 'client' ? vendor.signers.nodeClient : vendor.signers.nodeServing
  const usages = ['digital signature', 'key encipherment', `${use === 'client' ? 'client' : 'server'} auth`]
  const spec = { request: Buffer.from(pem).toString('base64'), signerName, usages }
  await client.create(type, { metadata: { name }, spec }, { signal })
  onRequested?.(name)
  return { certificate: await issued(client, type, { name, signal }), key: keyToPem(key) }
}

async function issued(
  client: Client,
  type: ResourceType<CertificateSigningRequest>,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<string> {
  const selection = { fieldSelector: `metadata.name=${name}`, timeoutSeconds: watchSeconds, signal }
  let lastRequest: CertificateSigningRequest | undefined
  try {
    while (!signal.aborted)
      for await (const event of watch(client, type, selection)) {
        if (event.type === 'BOOKMARK') continue
        if (event.type === 'DELETED')
          throw new JoinError(`the certificate signing request ${name} was deleted before it was signed`)
        lastRequest = event.object
        const { certificate } = lastRequest.status ?? {}
        if (certificate) return Buffer.from(certificate, 'base64').toString()
        refuseEnded(lastRequest)
      }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  throw new JoinError(pendingReason(name, lastRequest))
}

function refuseEnded({ metadata, status }: CertificateSigningRequest): void {
  const ended = (status?.conditions ?? []).find(({ type }) => type === 'Denied' || type === 'Failed')
  if (ended === undefined) return
  const word = ended.type === 'Denied' ? 'was denied' : 'failed'
  throw new JoinError(
    `the certificate signing request ${metadata.name} ${word}: ${ended.message || ended.reason || 'no reason given'}`,
  )
}

function pendingReason(name: string, lastRequest: CertificateSigningRequest | undefined): string {
  const isApproved = (lastRequest?.status?.conditions ?? []).some(({ type }) => type === 'Approved')
  return isApproved
    ? `the certificate signing request ${name} was approved but not signed in time: check that the csrsigning control loop is running`
    : `the certificate signing request ${name} was not approved in time: approve it with "orchctl certificate approve ${name}" and join again, or run the csrapproving control loop`
}
