/**
 * A PodCertificateRequest is a node agent's request to a signer for a pod's certificate. The spec is immutable. A
 * signer writes either the certificate or the reason for a refusal through the `status` subresource, and only once.
 */
import { child, type FieldError, type FieldPath, invalid, required, tooLong } from '../../model/field-error.ts'
import { checkDnsSubdomain, type NameCheck } from '../../model/names.ts'
import { checkCertificateChain } from '../../pki/issued-certificates.ts'
import { MalformedInput } from '../../pki/malformed-input.ts'
import { checkPodKey, checkStubRequest } from '../../pki/pod-keys.ts'
import { column, nameColumn } from '../../schema/columns.ts'
import { isSince, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkAnnotations } from '../../selectors/label-rules.ts'
import { immutableField } from '../immutable.ts'
import { checkConditions, conditions } from '../meta/condition.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'
import { checkSignerName } from './signer-name.ts'

const hour = 60 * 60
const defaultSeconds = 24 * hour

const specFields = {
  signerName: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the signer.' }),
  podName: field(2, s.string(), { zeroValue: 'write', doc: 'Name of the pod.' }),
  podUID: field(3, s.string(), { zeroValue: 'write', doc: 'UID of the pod.' }),
  serviceAccountName: field(4, s.string(), { zeroValue: 'write', doc: "Name of the pod's service account." }),
  serviceAccountUID: field(5, s.string(), { zeroValue: 'write', doc: "UID of the pod's service account." }),
  nodeName: field(6, s.string(), { zeroValue: 'write', doc: 'Name of the node on which the pod runs.' }),
  nodeUID: field(7, s.string(), { zeroValue: 'write', doc: 'UID of the node on which the pod runs.' }),
  maxExpirationSeconds: field(8, s.int32(), {
    zeroValue: 'keep',
    default: defaultSeconds,
    doc: 'Maximum validity period of the certificate in seconds. Must be at least 3600. Defaults to 86400.',
  }),
  pkixPublicKey: field(9, s.bytes(), { doc: 'Public key for the certificate, as a DER-encoded PKIX structure.' }),
  proofOfPossession: field(10, s.bytes(), { doc: "Proof of possession: the pod's UID, signed with the private key." }),
  unverifiedUserAnnotations: field(11, s.map(s.string()), {
    doc: 'Annotations that the pod specifies for the signer. The signer must validate them before using them.',
  }),
  stubPKCS10Request: field(12, s.bytes(), {
    zeroValue: 'write',
    since: '1.36',
    doc: 'PKCS #10 certificate request in DER format, signed with the private key. Provides the public key for the certificate.',
  }),
}

const spec = s.object(specFields, {
  name: 'PodCertificateRequestSpec',
  doc: 'Specification of a PodCertificateRequest. Immutable.',
})

const statusFields = {
  conditions: field(1, conditions, { doc: 'Outcome of the request: `Issued`, `Denied` or `Failed`.' }),
  certificateChain: field(2, s.string(), {
    doc: 'Issued certificate, followed by its intermediate certificates, in PEM format.',
  }),
  notBefore: field(4, s.time(), { doc: 'Time when the certificate becomes valid.' }),
  beginRefreshAt: field(5, s.time(), { doc: 'Time when the node agent should start to replace the certificate.' }),
  notAfter: field(6, s.time(), { doc: 'Time when the certificate expires.' }),
}

const status = s.object(statusFields, {
  name: 'PodCertificateRequestStatus',
  doc: 'Outcome of a PodCertificateRequest.',
})

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Pod and public key for which the certificate is requested, and the signer. Immutable.',
  }),
  status: field(3, status, {
    zeroValue: 'write',
    doc: 'Issued certificate, or the reason why the request was refused.',
  }),
}

export type PodCertificateRequest = ObjectOf<typeof fields>
type Spec = InferFields<typeof specFields>
type Status = InferFields<typeof statusFields>

/** The condition types that end a request. A request has at most one of them. */
const outcomes = ['Denied', 'Failed', 'Issued']

export const podCertificateRequest = defineKind({
  names: {
    group: 'certificates',
    version: 'v1beta1',
    kind: 'PodCertificateRequest',
    plural: 'podcertificaterequests',
    scope: 'Namespaced',
  },
  since: '1.35',
  gate: 'PodCertificateRequest',
  optIn: true,
  deprecated: { since: '1.38', removal: '1.41', warnsSince: '1.36' },
  doc: 'A request by a node agent for a certificate that identifies a pod.',
  fields,
  rules: specAndStatus<PodCertificateRequest>({
    newStatus: () => ({}),
    validateCreate: ({ spec = {} }, context) => checkSpec(spec, 'spec', context),
    validateUpdate: ({ spec: next, status }, previous, { subresource }) => [
      ...immutableField('spec', next, previous.spec),
      ...(subresource === 'status' ? checkStatus(status ?? {}, previous.status ?? {}) : []),
    ],
  }),
  views: {
    columns: [
      nameColumn,
      column('PodName', 'Name of the pod.', ({ spec }: PodCertificateRequest) => spec?.podName ?? ''),
      column(
        'ServiceAccountName',
        "Name of the pod's service account.",
        ({ spec }: PodCertificateRequest) => spec?.serviceAccountName ?? '',
      ),
      column(
        'NodeName',
        'Name of the node on which the pod runs.',
        ({ spec }: PodCertificateRequest) => spec?.nodeName ?? '',
      ),
      column('SignerName', 'Name of the signer.', ({ spec }: PodCertificateRequest) => spec?.signerName ?? ''),
      column('State', 'Outcome of the request.', stateOf),
    ],
    selectable: ({ spec }) => ({
      'spec.signerName': spec?.signerName ?? '',
      'spec.podName': spec?.podName ?? '',
      'spec.nodeName': spec?.nodeName ?? '',
    }),
    subresources: { status: plainStatus },
  },
})

function stateOf({ status }: PodCertificateRequest): string {
  return status?.conditions?.find(({ type = '' }) => outcomes.includes(type))?.type ?? 'Pending'
}

const names = ['podName', 'serviceAccountName', 'nodeName'] as const
const uids = ['podUID', 'serviceAccountUID', 'nodeUID'] as const
const maxUidLength = 128
const maxKeyBytes = 10 * 1024

function checkSpec(value: Spec, path: FieldPath, context: RuleContext): FieldError[] {
  return [
    ...checkSignerName(child(path, 'signerName'), value.signerName ?? ''),
    ...names.flatMap((name) => checkText(value[name] ?? '', child(path, name), checkDnsSubdomain)),
    ...uids.flatMap((name) => checkUid(value[name] ?? '', child(path, name))),
    ...checkExpiration(value, child(path, 'maxExpirationSeconds'), context),
    ...checkAnnotations(value.unverifiedUserAnnotations, child(path, 'unverifiedUserAnnotations')),
    ...checkKey(value, path, context),
  ]
}

function checkText(text: string, path: FieldPath, check: NameCheck): FieldError[] {
  return check(text).map((fault) => invalid(path, text, fault))
}

function checkUid(uid: string, path: FieldPath): FieldError[] {
  if (uid === '') return [required(path, 'must not be empty')]
  return uid.length > maxUidLength ? [tooLong(path, maxUidLength)] : []
}

/** Validates the requested lifetime: at most a day for built-in signers, and at most 91 days for other signers. */
function checkExpiration(
  { maxExpirationSeconds: seconds = 0, signerName = '' }: Spec,
  path: FieldPath,
  context: RuleContext,
) {
  const isBuiltIn = signerName.startsWith(`${context.vendor.keyDomain}/`)
  const max = isBuiltIn ? 24 * hour : 91 * 24 * hour
  return seconds >= hour && seconds <= max ? [] : [invalid(path, seconds, `must be in the range [${hour}, ${max}]`)]
}

/**
 * Validates the public key and the proof of possession of the private key. Since 1.36, a certificate signing request in
 * stub form contains both.
 */
function checkKey(value: Spec, path: FieldPath, context: RuleContext): FieldError[] {
  const { pkixPublicKey = '', proofOfPossession = '', stubPKCS10Request = '', podUID = '' } = value
  if (isSince('1.36', context)) {
    const place = child(path, 'stubPKCS10Request')
    if (stubPKCS10Request === '') return [required(place, 'must be provided')]
    return checkBytes(stubPKCS10Request, place, checkStubRequest)
  }
  const [keyPath, proofPath] = [child(path, 'pkixPublicKey'), child(path, 'proofOfPossession')]
  const missing = [
    ...(pkixPublicKey === '' ? [required(keyPath)] : []),
    ...(proofOfPossession === '' ? [required(proofPath)] : []),
  ]
  if (missing.length > 0) return missing
  if (proofOfPossession.length > (maxKeyBytes * 4) / 3 + 4) return [tooLong(proofPath, maxKeyBytes)]
  return checkBytes(pkixPublicKey, keyPath, (key) =>
    checkPodKey(key, { podUID, proof: Buffer.from(proofOfPossession, 'base64') }),
  )
}

function checkBytes(base64: string, path: FieldPath, check: (bytes: Buffer) => void): FieldError[] {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > maxKeyBytes) return [tooLong(path, maxKeyBytes)]
  return faultsOf(path, () => check(bytes))
}

/**
 * Runs a check that throws for malformed input, and returns the error as a field error. The error omits the value,
 * which may be long.
 */
function faultsOf(path: FieldPath, check: () => void): FieldError[] {
  try {
    check()
    return []
  } catch (error) {
    if (error instanceof MalformedInput) return [invalid(path, '<value omitted>', error.message)]
    throw error
  }
}

const times = ['notBefore', 'beginRefreshAt', 'notAfter'] as const

/** Validates a status update. Once a request has an outcome, its status is immutable. */
function checkStatus(next: Status, previous: Status): FieldError[] {
  const path = 'status'
  if (isDecided(previous)) return immutableField(path, next, previous)
  const outcomeTypes = (next.conditions ?? []).map(({ type = '' }) => type)
  const chain = next.certificateChain ?? ''
  return [
    ...checkConditions(next.conditions, child(path, 'conditions')),
    ...outcomeTypes
      .filter((type) => !outcomes.includes(type))
      .map((type) => invalid(child(path, 'conditions'), type, `the type must be one of ${outcomes.join(', ')}`)),
    ...(outcomeTypes.length > 1
      ? [invalid(child(path, 'conditions'), outcomeTypes, 'must contain at most one outcome')]
      : []),
    ...(outcomeTypes.includes('Issued') ? checkIssued(next, path) : checkNotIssued(next, path)),
    ...(chain === '' ? [] : faultsOf(child(path, 'certificateChain'), () => checkCertificateChain(Buffer.from(chain)))),
  ]
}

function isDecided({ conditions = [] }: Status): boolean {
  return conditions.some(({ type = '' }) => outcomes.includes(type))
}

function checkIssued(status: Status, path: FieldPath): FieldError[] {
  const { notBefore = '', beginRefreshAt = '', notAfter = '' } = status
  const missing = (['certificateChain', ...times] as const).filter((name) => !status[name])
  const [from, refresh, to] = [notBefore, beginRefreshAt, notAfter].map((text) => Date.parse(text))
  return [
    ...missing.map((name) => required(child(path, name), 'must be set if the certificate is issued')),
    ...(missing.length === 0 && !(from! <= refresh! && refresh! <= to!)
      ? [invalid(child(path, 'beginRefreshAt'), beginRefreshAt, 'must be between `notBefore` and `notAfter`')]
      : []),
  ]
}

function checkNotIssued(status: Status, path: FieldPath): FieldError[] {
  return (['certificateChain', ...times] as const)
    .filter((name) => status[name])
    .map((name) => invalid(child(path, name), status[name], 'must be set only if the certificate is issued'))
}
