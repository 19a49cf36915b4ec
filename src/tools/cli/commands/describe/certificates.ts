/**
 * The description of a certificate signing request: its decoded content, and a rule-by-rule explanation of its state.
 */
import { X509Certificate } from 'node:crypto'
import type { CertificateSigningRequest } from '../../../../api/kinds/certificates/certificate-signing-request.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import { isVendorKey, profileNames, type Vendor, vendorOf } from '../../../../api/model/vendor.ts'
import { type SignerId, signerFaults } from '../../../../api/pki/built-in-signers.ts'
import type { CertificateRequest } from '../../../../api/pki/certificate-request.ts'
import { MalformedInput } from '../../../../api/pki/malformed-input.ts'
import { requestedNames, signerRelevantPart } from '../../../../api/pki/requested-names.ts'
import { humanDuration } from '../../../../base/time/human-duration.ts'
import { decodeRequest, keyText, quoted } from '../../printers/certificate-content.ts'
import { multiline } from './fields.ts'
import { head, lines } from './parts.ts'

export function describeCertificateRequest(request: CertificateSigningRequest): string {
  const { spec = {}, metadata } = request
  const decoded = decodeRequest(request)
  const duration = spec.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000)
  return [
    head(request as ApiObject),
    lines({
      CreationTimestamp: metadata.creationTimestamp,
      'Requesting User': spec.username ?? '',
      Signer: spec.signerName ?? '<none>',
      'Requested Duration': duration,
      Usages: (spec.usages ?? []).join(', '),
      Status: progressOf(request),
    }),
    decoded instanceof MalformedInput ? lines({ Request: `cannot be read: ${decoded.message}` }) : contentText(decoded),
    certificateText(request),
    multiline('Explanation', explain(request, decoded)),
  ].join('')
}

function contentText(request: CertificateRequest): string {
  const { commonNames, organizations } = request.subject
  const { dns, ips, emails, uris, others } = requestedNames(request)
  const names = {
    ...some('DNS Names', dns),
    ...some('IP Addresses', ips),
    ...some('Email Addresses', emails),
    ...some('URIs', uris),
    ...(others === 0 ? {} : { 'Other Names': String(others) }),
  }
  return [
    `Subject:\n${lines({ 'Common Name': quoted(commonNames) || '<none>', Organization: quoted(organizations) || '<none>' }, '  ')}`,
    Object.keys(names).length === 0 ? '' : `Subject Alternative Names:\n${lines(names, '  ')}`,
    lines({ Key: keyText(request) }),
  ].join('')
}

function some(title: string, texts: readonly string[]): { [title: string]: string } {
  return texts.length === 0 ? {} : { [title]: quoted(texts) }
}

function certificateText({ status }: CertificateSigningRequest): string {
  if (!status?.certificate) return ''
  try {
    const { serialNumber, validFrom, validTo } = new X509Certificate(Buffer.from(status.certificate, 'base64'))
    return `Certificate:\n${lines({ 'Valid From': validFrom, 'Valid Until': validTo, 'Serial Number': serialNumber }, '  ')}`
  } catch {
    return lines({ Certificate: 'cannot be read' })
  }
}

function conditionOf({ status }: CertificateSigningRequest, conditionType: string) {
  return (status?.conditions ?? []).find(({ type }) => type === conditionType)
}

function progressOf(request: CertificateSigningRequest): string {
  const words = ['Denied', 'Approved', 'Failed'].filter((type) => conditionOf(request, type) !== undefined)
  const decided = words.includes('Denied') || words.includes('Approved') ? words : ['Pending', ...words]
  return [...decided, ...(request.status?.certificate ? ['Issued'] : [])].join()
}

/**
 * Explains the state of a certificate request: either how it was decided, or which steps are still missing and which
 * faults would prevent it from being issued.
 */
function explain(request: CertificateSigningRequest, decoded: CertificateRequest | MalformedInput): string[] {
  const failed = conditionOf(request, 'Failed')
  const denied = conditionOf(request, 'Denied')
  if (request.status?.certificate) return ['issued']
  if (denied !== undefined) return [`denied: ${denied.message || denied.reason || 'no reason given'}`]
  if (failed !== undefined) return (failed.message || failed.reason || '').split('; ').map((rule) => `failed: ${rule}`)
  const { signerName = '', usages = [] } = request.spec ?? {}
  const signer = builtIn(signerName)
  const isApproved = conditionOf(request, 'Approved') !== undefined
  if (signer === undefined) return [isApproved ? 'approved' : approverNeeded(request), foreignSigner(signerName)]
  const faults =
    decoded instanceof MalformedInput ? [decoded.message] : signerFaults(signer, signerRelevantPart(decoded), usages)
  if (isApproved)
    return [
      'approved, waiting for the csrsigning control loop, which runs in orch up, or in orch controller-manager with a CA',
      ...faults.map((fault) => `will fail: ${fault}`),
    ]
  return [
    ...(signer === 'nodeClient' && faults.length === 0 ? [nodeClientWay(request)] : [approverNeeded(request)]),
    ...faults.map((fault) => `would fail once approved: ${fault}`),
  ]
}

function approverNeeded({ metadata, spec }: CertificateSigningRequest): string {
  return `pending: requests to ${spec?.signerName} are not approved automatically; use orchctl certificate approve ${metadata.name}`
}

function nodeClientWay({ spec }: CertificateSigningRequest): string {
  return `pending: the csrapproving control loop approves it if ${spec?.username} may create certificatesigningrequests/nodeclient (or /selfnodeclient for its own name)`
}

function builtIn(signerName: string): SignerId | undefined {
  for (const { signers } of profileNames.map(vendorOf)) {
    const signerId = (Object.keys(signers) as SignerId[]).find((id) => signers[id] === signerName)
    if (signerId !== undefined) return signerId
  }
  return undefined
}

function foreignSigner(signerName: string): string {
  const vendor: Vendor | undefined = profileNames.map(vendorOf).find((each) => isVendorKey(each, signerName))
  if (vendor === undefined)
    return `this signer is not built in: an external signer must sign requests for ${signerName}`
  return `unknown signer: the built-in signers are ${Object.values(vendor.signers).join(', ')}`
}
