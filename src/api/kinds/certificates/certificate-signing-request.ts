/**
 * CertificateSigningRequest: a request to a signer for a certificate. The server records the requesting user; from then
 * on the spec stays as it is. Approvers write conditions through `approval`, signers the certificate and `Failed`
 * through `status`, and neither what the other decides. What a signer grants, and who may approve or sign, is not
 * judged here.
 */
import { humanDuration } from '../../../base/time/human-duration.ts'
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../model/field-error.ts'
import { timestamp } from '../../model/object.ts'
import type { Vendor } from '../../model/vendor.ts'
import { readCertificateRequest } from '../../pki/certificate-request.ts'
import { checkCertificateChain } from '../../pki/issued-certificates.ts'
import { MalformedInput } from '../../pki/malformed-input.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { PrepareContext, RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type Infer, s } from '../../schema/schema.ts'
import { keyUsages } from './key-usages.ts'
import { checkSignerName } from './signer-name.ts'

const minExpirationSeconds = 600

/** Once there they stay, and are True. */
const finalTypes = ['Approved', 'Denied', 'Failed']
/** The decision of an approver. */
const decisions = ['Approved', 'Denied']

const spec = s.object(
  {
    request: field(1, s.bytes({ atomic: true }), {
      zero: 'write',
      doc: 'The request (PKCS #10) as PEM, CERTIFICATE REQUEST.',
    }),
    signerName: field(7, s.string(), { zero: 'write', doc: 'The signer, as a domain and a path.' }),
    expirationSeconds: field(8, s.int32(), {
      zero: 'keep',
      doc: 'How many seconds the certificate is to be valid, at least 600. The signer may choose otherwise.',
    }),
    usages: field(5, s.list(s.string()), { doc: 'What the key is to be used for, such as `client auth`.' }),
    username: field(2, s.string(), { doc: "The requesting user's name. Set by the server." }),
    uid: field(3, s.string(), { doc: "The requesting user's UID. Set by the server." }),
    groups: field(4, s.list(s.string()), { doc: "The requesting user's groups. Set by the server." }),
    extra: field(6, s.map(s.list(s.string())), {
      doc: 'Extra information about the requesting user. Set by the server.',
    }),
  },
  {
    name: 'CertificateSigningRequestSpec',
    doc: 'The certificate request, the requesting user and the signer. It never changes.',
  },
)

const condition = s.object(
  {
    type: field(1, s.string(), {
      required: true,
      zero: 'write',
      doc: 'Approved, Denied or Failed, which stay once they are there, or any other word.',
    }),
    status: field(6, s.string(), {
      required: true,
      zero: 'write',
      doc: 'True, False or Unknown; True for Approved, Denied and Failed.',
    }),
    reason: field(2, s.string(), { doc: 'Why, in one word for programs.' }),
    message: field(3, s.string(), { doc: 'Why, for people.' }),
    lastUpdateTime: field(4, s.time(), { zero: 'write', doc: 'When it was last written.' }),
    lastTransitionTime: field(5, s.time(), { zero: 'write', doc: 'When the status last changed.' }),
  },
  {
    name: 'CertificateSigningRequestCondition',
    doc: 'What has been decided about a request, or become of it.',
    check: checkConditionStatus,
  },
)

const status = s.object(
  {
    conditions: field(1, s.list(condition, { list: 'map', keys: ['type'] }), {
      doc: 'What approvers and the signer have said.',
    }),
    certificate: field(2, s.bytes({ atomic: true }), {
      doc: 'The certificate as PEM, its issuers after it. Set by the signer, once.',
    }),
  },
  {
    name: 'CertificateSigningRequestStatus',
    doc: 'How far a request has come.',
    check: ({ conditions = [] }, path) => checkTypes(conditions, child(path, 'conditions')),
  },
)

const fields = {
  spec: field(2, spec, { zero: 'write', published: 'required', doc: 'The certificate request. It never changes.' }),
  status: field(3, status, { zero: 'write', doc: 'How far it has come, and the certificate.' }),
}

type Condition = Infer<typeof condition>
export type CertificateSigningRequest = ObjectOf<typeof fields>

export const certificateSigningRequest = defineKind({
  names: {
    group: 'certificates',
    version: 'v1',
    kind: 'CertificateSigningRequest',
    plural: 'certificatesigningrequests',
    shortNames: ['csr'],
    scope: 'Cluster',
    form: () => [],
  },
  doc: 'A request to a signer for a certificate. An approver decides, and the signer adds the certificate.',
  fields,
  rules: {
    readOnly: ['spec', 'status'],
    prepareForCreate: (object, { user }) => {
      const { uid, groups, extra } = user
      const { username: _u, uid: _i, groups: _g, extra: _e, ...asked } = object.spec ?? {}
      object.spec = {
        ...asked,
        username: user.name,
        ...(uid === '' ? {} : { uid }),
        ...(groups.length === 0 ? {} : { groups: [...groups] }),
        ...(extra.size === 0
          ? {}
          : { extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])) }),
      }
      object.status = {}
    },
    prepareForUpdate: (next, previous) => {
      next.spec = previous.spec!
      next.status = previous.status!
    },
    validateCreate: (object, { vendor }) => checkSpec(object, vendor),
    validateUpdate: (next, previous, context) => [
      ...checkFinalTypes(next, previous, context),
      ...checkApproved(next, previous, context),
      ...checkCertificate(next, previous),
    ],
  },
  views: {
    columns: [
      nameColumn,
      ageColumn,
      column('SignerName', 'The signer.', ({ spec }: CertificateSigningRequest) =>
        spec?.signerName ? spec.signerName : '<none>',
      ),
      column('Requestor', 'The requesting user.', ({ spec }: CertificateSigningRequest) => spec?.username ?? ''),
      column('RequestedDuration', 'The requested validity of the certificate.', requestedDuration),
      column('Condition', 'The state of the request.', progressOf),
    ],
    selectable: ({ spec }) => ({ 'spec.signerName': spec?.signerName ?? '' }),
    subresources: {
      approval: {
        verbs: ['get', 'update', 'patch'],
        readOnly: ['spec', 'status.certificate'],
        prepareForUpdate: prepareApproval,
      },
      status: {
        verbs: ['get', 'update', 'patch'],
        // A signer may write conditions, but they belong to the approvers: nobody owns them through here.
        readOnly: ['spec', 'status.conditions'],
        prepareForUpdate: prepareStatus,
      },
    },
  },
})

function requestedDuration({ spec }: CertificateSigningRequest): string {
  return spec?.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000)
}

/** `Pending`, `Approved`, `Approved,Issued`, `Denied`, `Approved,Failed`, ... */
function progressOf(object: CertificateSigningRequest): string {
  const has = (type: string) => countOf(object, type) > 0
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return [decision, ...(has('Failed') ? ['Failed'] : []), ...(object.status?.certificate ? ['Issued'] : [])].join()
}

function countOf({ status }: CertificateSigningRequest, type: string): number {
  return (status?.conditions ?? []).filter((condition) => condition.type === type).length
}

/** An approver sets the conditions, nothing else. */
function prepareApproval(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  { now }: PrepareContext,
): void {
  const conditions = withTimes(next.status?.conditions ?? [], previous, now)
  const { conditions: _, ...kept } = previous.status ?? {}
  next.spec = previous.spec!
  next.status = conditions.length === 0 ? kept : { ...kept, conditions }
}

/** A signer sets the certificate and all conditions but decisions: those that are there stay as they are. */
function prepareStatus(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  { now }: PrepareContext,
): void {
  next.spec = previous.spec!
  if (next.status?.conditions === undefined) return
  next.status = { ...next.status, conditions: withTimes(withDecisions(next, previous), previous, now) }
}

/** Where one was added or removed nothing is restored: validation reports it. */
function withDecisions(next: CertificateSigningRequest, previous: CertificateSigningRequest): Condition[] {
  const conditions = next.status?.conditions ?? []
  const stored = decisions
    .filter((type) => countOf(next, type) === 1 && countOf(previous, type) === 1)
    .map((type) => previous.status!.conditions!.find((condition) => condition.type === type)!)
  return conditions.map((condition) => stored.find(({ type }) => type === condition.type) ?? condition)
}

/** The time of the last transition stays while the status stays. */
function withTimes(conditions: Condition[], { status }: CertificateSigningRequest, now: number): Condition[] {
  const stored = new Map((status?.conditions ?? []).map((condition) => [condition.type, condition]))
  return conditions.map((condition) => {
    const before = stored.get(condition.type)
    const unchangedSince = before?.status === condition.status ? before?.lastTransitionTime : undefined
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? timestamp(now),
      lastTransitionTime: condition.lastTransitionTime ?? unchangedSince ?? timestamp(now),
    }
  })
}

function checkSpec({ spec = {} }: CertificateSigningRequest, vendor: Vendor): FieldError[] {
  const { request = '', usages = [], signerName = '', expirationSeconds } = spec
  return [
    ...checkBytes('spec.request', '<request data>', () => readCertificateRequest(Buffer.from(request, 'base64'))),
    ...checkUsages(usages, 'spec.usages'),
    ...checkSigner(signerName, vendor),
    ...(expirationSeconds !== undefined && expirationSeconds < minExpirationSeconds
      ? [invalid('spec.expirationSeconds', expirationSeconds, `must be at least ${minExpirationSeconds} (10 minutes)`)]
      : []),
  ]
}

/** A list that is longer than there are usages has a fault among the first, so the rest need not be listed. */
function checkUsages(usages: readonly string[], path: FieldPath): FieldError[] {
  if (usages.length === 0) return [required(path, 'usages must be provided')]
  return usages
    .slice(0, 2 * keyUsages.length)
    .flatMap((usage, i) => [
      ...(keyUsages.includes(usage) ? [] : [notSupported(at(path, i), usage, keyUsages)]),
      ...(usages.indexOf(usage) < i ? [duplicate(at(path, i), usage)] : []),
    ])
}

/** The signer of requests from before signers had names is for those alone. */
function checkSigner(name: string, vendor: Vendor): FieldError[] {
  const path = 'spec.signerName'
  if (name === vendor.signers.legacyUnknown) return [invalid(path, name, 'this signer takes no new requests')]
  return checkSignerName(path, name)
}

function checkConditionStatus({ type = '', status = '' }: { type?: string; status?: string }, path: FieldPath) {
  const allowed = finalTypes.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
  return status === '' || allowed.includes(status) ? [] : [notSupported(child(path, 'status'), status, allowed)]
}

/** One condition of a type, and one decision at most. */
function checkTypes(conditions: readonly Condition[], path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return conditions.flatMap(({ type = '' }, i) => {
    const place = child(at(path, i), 'type')
    const isContrary = decisions.includes(type) && decisions.some((other) => other !== type && seen.has(other))
    const isRepeated = seen.has(type)
    seen.add(type)
    return [
      ...(isContrary ? [invalid(place, type, 'Approved and Denied exclude each other')] : []),
      ...(isRepeated ? [duplicate(place, type)] : []),
    ]
  })
}

function checkFinalTypes(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  { subresource }: RuleContext,
): FieldError[] {
  const path = 'status.conditions'
  const removed = finalTypes.filter((type) => countOf(next, type) < countOf(previous, type))
  const added = decisions.filter((type) => countOf(next, type) > countOf(previous, type))
  return [
    ...removed.map((type) => forbidden(path, `updates may not remove a condition of type "${type}"`)),
    ...(subresource === 'approval'
      ? []
      : added.map((type) => forbidden(path, `only the approval may add a condition of type "${type}"`))),
  ]
}

/**
 * What the built-in signers would never sign is never approved for them: programs disagree on whom a certificate with
 * several common names is for.
 */
function checkApproved(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  { vendor }: RuleContext,
): FieldError[] {
  const { signerName = '', request = '' } = next.spec ?? {}
  if (countOf(next, 'Approved') <= countOf(previous, 'Approved')) return []
  if (!Object.values(vendor.signers).includes(signerName) || !hasSeveralNames(request)) return []
  return [forbidden('status.conditions', 'a request with several common names may not be approved')]
}

function hasSeveralNames(request: string): boolean {
  try {
    return readCertificateRequest(Buffer.from(request, 'base64')).subject.commonNames.length > 1
  } catch (error) {
    // Older requests may be of any form: what cannot be read cannot be signed either.
    if (error instanceof MalformedInput) return false
    throw error
  }
}

/** A certificate that is there stays; one that comes is looked at. */
function checkCertificate(next: CertificateSigningRequest, previous: CertificateSigningRequest): FieldError[] {
  const path = 'status.certificate'
  const { certificate = '' } = next.status ?? {}
  const { certificate: stored = '' } = previous.status ?? {}
  if (certificate === stored) return []
  return [
    ...(certificate === ''
      ? []
      : checkBytes(path, '<certificate data>', () => checkCertificateChain(Buffer.from(certificate, 'base64')))),
    ...(stored === '' ? [] : [forbidden(path, 'updates may not change a certificate that is set')]),
  ]
}

/** Messages do not repeat the bytes themselves. */
function checkBytes(path: FieldPath, shown: string, check: () => unknown): FieldError[] {
  try {
    check()
    return []
  } catch (error) {
    if (error instanceof MalformedInput) return [invalid(path, shown, error.message)]
    throw error
  }
}
