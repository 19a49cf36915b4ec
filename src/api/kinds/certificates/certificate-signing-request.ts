/**
 * A CertificateSigningRequest asks a signer for a certificate. The server records the requesting user, and the spec is
 * immutable. Approvers write conditions through the `approval` subresource. Signers write the certificate and the
 * `Failed` condition through the `status` subresource, but cannot approve or deny a request. Other files check the
 * permission to approve or sign.
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
import { isSince, type PrepareContext, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type Infer, s } from '../../schema/schema.ts'
import { keyUsages } from './key-usages.ts'
import { checkSignerName } from './signer-name.ts'

const minExpirationSeconds = 600

/** The condition types that cannot be removed and whose status is always True. */
const finalTypes = ['Approved', 'Denied', 'Failed']
/** Types of the conditions that record an approver's decision. */
const decisions = ['Approved', 'Denied']

const spec = s.object(
  {
    request: field(1, s.bytes({ atomic: true }), {
      zeroValue: 'write',
      doc: 'PKCS #10 certificate request in PEM format, in a `CERTIFICATE REQUEST` block.',
    }),
    signerName: field(7, s.string(), {
      zeroValue: 'write',
      doc: 'Name of the signer, as a domain name followed by a slash and a path.',
    }),
    expirationSeconds: field(8, s.int32(), {
      zeroValue: 'keep',
      doc: 'Requested validity period of the certificate in seconds. Must be at least 600. The signer may choose a different period.',
    }),
    usages: field(5, s.list(s.string()), {
      doc: 'Requested key usages, such as `client auth`. At least one key usage is required.',
    }),
    username: field(2, s.string(), { doc: 'Name of the requesting user, set by the server.' }),
    uid: field(3, s.string(), { doc: 'UID of the requesting user, set by the server.' }),
    groups: field(4, s.list(s.string()), { doc: 'Groups of the requesting user, set by the server.' }),
    extra: field(6, s.map(s.list(s.string())), {
      doc: 'Additional attributes of the requesting user, set by the server.',
    }),
  },
  {
    name: 'CertificateSigningRequestSpec',
    doc: 'Certificate request, its signer, and the user who requested the certificate. Immutable.',
  },
)

const condition = s.object(
  {
    type: field(1, s.string(), {
      required: true,
      zeroValue: 'write',
      doc: 'Type of the condition, such as Approved, Denied or Failed. Conditions of these three types cannot be removed.',
    }),
    status: field(6, s.string(), {
      required: true,
      zeroValue: 'write',
      doc: 'Status of the condition: True, False or Unknown. Must be True for Approved, Denied and Failed.',
    }),
    reason: field(2, s.string(), { doc: 'Machine-readable reason for the condition, as one CamelCase word.' }),
    message: field(3, s.string(), { doc: 'Human-readable details about the condition.' }),
    lastUpdateTime: field(4, s.time(), { zeroValue: 'write', doc: 'Time when the condition was last updated.' }),
    lastTransitionTime: field(5, s.time(), {
      zeroValue: 'write',
      doc: 'Time when the status of the condition last changed.',
    }),
  },
  {
    name: 'CertificateSigningRequestCondition',
    doc: 'A condition of a CertificateSigningRequest.',
    check: checkConditionStatus,
  },
)

const status = s.object(
  {
    conditions: field(1, s.list(condition, { list: 'map', keys: ['type'] }), {
      doc: 'Conditions that the approver and the signer have set. At most one condition per type.',
    }),
    certificate: field(2, s.bytes({ atomic: true }), {
      doc: 'Issued certificate in PEM format, followed by its intermediate certificates. The signer sets this field once.',
    }),
  },
  {
    name: 'CertificateSigningRequestStatus',
    doc: 'Status of a CertificateSigningRequest, including the issued certificate.',
    check: ({ conditions = [] }, path, context) => checkTypes(conditions, child(path, 'conditions'), context),
  },
)

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Certificate request, its signer, and the user who requested the certificate. Immutable.',
  }),
  status: field(3, status, { zeroValue: 'write', doc: 'Status of the request, including the issued certificate.' }),
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
    nameFormat: () => [],
  },
  doc: 'A request for a certificate. The signer issues the certificate after the request has been approved.',
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
      column('SignerName', 'Name of the signer.', ({ spec }: CertificateSigningRequest) =>
        spec?.signerName ? spec.signerName : '<none>',
      ),
      column(
        'Requestor',
        'Name of the requesting user.',
        ({ spec }: CertificateSigningRequest) => spec?.username ?? '',
      ),
      column('RequestedDuration', 'Requested validity period of the certificate.', requestedDuration),
      column('Condition', 'Current state of the request.', progressOf),
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
        // Signers may set conditions through the status subresource, but in server-side apply the approval subresource
        // still owns them.
        readOnly: ['spec', 'status.conditions'],
        prepareForUpdate: prepareStatus,
      },
    },
  },
})

function requestedDuration({ spec }: CertificateSigningRequest): string {
  return spec?.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000)
}

/**
 * Returns the state of a request for display, such as `Pending`, `Approved`, `Approved,Issued`, `Denied` or
 * `Approved,Failed`.
 */
function progressOf(object: CertificateSigningRequest): string {
  const has = (type: string) => countOf(object, type) > 0
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return [decision, ...(has('Failed') ? ['Failed'] : []), ...(object.status?.certificate ? ['Issued'] : [])].join()
}

function countOf({ status }: CertificateSigningRequest, type: string): number {
  return (status?.conditions ?? []).filter((condition) => condition.type === type).length
}

/** Prepares a write to the approval subresource, which can change only the conditions. */
function prepareApproval(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  { now }: PrepareContext,
): void {
  const conditions = withTimes(next.status?.conditions ?? [], previous, now)
  const { conditions: _, ...otherStatus } = previous.status ?? {}
  next.spec = previous.spec!
  next.status = conditions.length === 0 ? otherStatus : { ...otherStatus, conditions }
}

/** Accepts the certificate and the conditions that a signer sends, but restores the stored decisions. */
function prepareStatus(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  { now }: PrepareContext,
): void {
  next.spec = previous.spec!
  if (next.status?.conditions === undefined) return
  next.status = { ...next.status, conditions: withTimes(withDecisions(next, previous), previous, now) }
}

/**
 * Restores the stored decisions. Does not undo the addition or removal of a decision, so that validation can reject it.
 */
function withDecisions(next: CertificateSigningRequest, previous: CertificateSigningRequest): Condition[] {
  const conditions = next.status?.conditions ?? []
  const stored = decisions
    .filter((type) => countOf(next, type) === 1 && countOf(previous, type) === 1)
    .map((type) => previous.status!.conditions!.find((condition) => condition.type === type)!)
  return conditions.map((condition) => stored.find(({ type }) => type === condition.type) ?? condition)
}

/** Sets missing times in the conditions. The transition time of a condition changes only if its status changes. */
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

/**
 * Validates key usages. In a long list, only the first items are checked, because they necessarily include an invalid
 * or duplicate usage.
 */
function checkUsages(usages: readonly string[], path: FieldPath): FieldError[] {
  if (usages.length === 0) return [required(path, 'usages must be provided')]
  return usages
    .slice(0, 2 * keyUsages.length)
    .flatMap((usage, i) => [
      ...(keyUsages.includes(usage) ? [] : [notSupported(at(path, i), usage, keyUsages)]),
      ...(usages.indexOf(usage) < i ? [duplicate(at(path, i), usage)] : []),
    ])
}

/** Rejects the legacy signer, which exists only for requests that were created before signers had names. */
function checkSigner(name: string, vendor: Vendor): FieldError[] {
  const path = 'spec.signerName'
  if (name === vendor.signers.legacyUnknown) return [invalid(path, name, 'this signer does not accept new requests')]
  return checkSignerName(path, name)
}

function checkConditionStatus({ type = '', status = '' }: { type?: string; status?: string }, path: FieldPath) {
  const allowed = finalTypes.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
  return status === '' || allowed.includes(status) ? [] : [notSupported(child(path, 'status'), status, allowed)]
}

/**
 * Rejects multiple conditions of the same type, and Approved together with Denied. Since 1.34, the second error is
 * reported for the whole list.
 */
function checkTypes(conditions: readonly Condition[], path: FieldPath, context: RuleContext): FieldError[] {
  const reportsList = isSince('1.34', context)
  const seen = new Set<string>()
  return conditions.flatMap(({ type = '' }, i) => {
    const place = child(at(path, i), 'type')
    const isContrary = decisions.includes(type) && decisions.some((other) => other !== type && seen.has(other))
    const isRepeated = seen.has(type)
    seen.add(type)
    return [
      ...(isContrary ? [invalid(reportsList ? path : place, type, 'Approved and Denied are mutually exclusive')] : []),
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
      : added.map((type) => forbidden(path, `only the approval subresource may add a condition of type "${type}"`))),
  ]
}

/**
 * Rejects the approval of a request for a built-in signer if the requested certificate has more than one common name,
 * because programs disagree about the identity in such a certificate.
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
    // The request may be malformed, because it may have been created before this validation existed. Approving a
    // malformed request is harmless, because no signer can sign it.
    if (error instanceof MalformedInput) return false
    throw error
  }
}

/** Validates a new certificate and rejects changes to an existing certificate. */
function checkCertificate(next: CertificateSigningRequest, previous: CertificateSigningRequest): FieldError[] {
  const path = 'status.certificate'
  const { certificate = '' } = next.status ?? {}
  const { certificate: stored = '' } = previous.status ?? {}
  if (certificate === stored) return []
  return [
    ...(certificate === ''
      ? []
      : checkBytes(path, '<certificate data>', () => checkCertificateChain(Buffer.from(certificate, 'base64')))),
    ...(stored === '' ? [] : [forbidden(path, 'updates may not change an existing certificate')]),
  ]
}

/** Runs a check that throws for malformed input. The error contains `shown` in place of the data. */
function checkBytes(path: FieldPath, shown: string, check: () => unknown): FieldError[] {
  try {
    check()
    return []
  } catch (error) {
    if (error instanceof MalformedInput) return [invalid(path, shown, error.message)]
    throw error
  }
}
