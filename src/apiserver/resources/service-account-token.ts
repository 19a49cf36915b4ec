/**
 * Issues a token for a service account, with the requested audiences and lifetime (`serviceaccounts/token`). The token
 * can be bound to a Pod, Secret or Node. The server does not store the token, and the token remains valid while the
 * account and the bound object exist.
 */

import { randomUUID } from 'node:crypto'
import { type TokenRequest, tokenRequest } from '../../api/kinds/authentication/token-request.ts'
import type { Node } from '../../api/kinds/core/node.ts'
import { node as nodes } from '../../api/kinds/core/node.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import { pod as pods } from '../../api/kinds/core/pod.ts'
import type { Secret } from '../../api/kinds/core/secret.ts'
import { secret as secrets } from '../../api/kinds/core/secret.ts'
import { serviceAccount } from '../../api/kinds/core/service-account.ts'
import { badRequest, conflict, invalidObject, notFound } from '../../api/model/api-error.ts'
import { invalid } from '../../api/model/field-error.ts'
import type { Lookup, StoredType } from '../../api/model/lookup.ts'
import { timestamp } from '../../api/model/object.ts'
import { volumeTokenSeconds } from '../../api/model/service-account.ts'
import type { Emulation } from '../../api/versions/availability.ts'
import { isAtLeast } from '../../api/versions/emulated-version.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { BoundTo, Holder } from '../authn/service-account/claims.ts'
import type { TokenIssuer } from '../authn/service-account/issuer.ts'
import type { Endpoint, EndpointRequest } from '../registry/catalogue/endpoint.ts'

export interface ServiceAccountTokenParts {
  readonly lookup: Lookup
  readonly clock: Clock
  readonly emulation: Emulation
  /** The audiences of a token if the request specifies none. */
  readonly audiences: readonly string[]
  readonly tokens: TokenPolicy
}

/** Settings for issuing service account tokens. */
export interface TokenPolicy {
  readonly issuer: TokenIssuer
  /** Maximum lifetime of a token in seconds. Undefined means no limit. */
  readonly maxLifetimeSeconds: number | undefined
  /** Whether pod tokens get a longer lifetime, for clients that do not reread the token file. */
  readonly extendExpiration: boolean
}

export function serviceAccountToken(parts: ServiceAccountTokenParts): Endpoint<TokenRequest> {
  return {
    kind: serviceAccount,
    subresource: 'token',
    verbs: ['create'],
    type: tokenRequest,
    admits: 'CREATE',
    doc: 'Issues a token for a ServiceAccount.',
    answer: (request) => answer(parts, request),
  }
}

type Spec = NonNullable<TokenRequest['spec']>

async function answer(parts: ServiceAccountTokenParts, request: EndpointRequest<TokenRequest>): Promise<TokenRequest> {
  const { object: sent, namespace, name, warn } = request
  const { gates } = parts.emulation
  assertName(parts, request)
  const storedObject = await parts.lookup.getLatest(serviceAccount, { namespace, name })
  if (storedObject === undefined) throw notFound({ group: '', plural: 'serviceaccounts' }, name)
  assertUid(parts, request, storedObject.object.metadata.uid ?? '')
  const spec = completed(parts, sent.spec ?? {}, warn)
  const bound = await boundObject(parts, request, spec.boundObjectRef)
  const nowSeconds = Math.floor(parts.clock.now() / 1000)
  const lifeSeconds = spec.expirationSeconds
  const uid = storedObject.object.metadata.uid ?? ''
  const id = gates.has('ServiceAccountTokenJTI') ? randomUUID() : undefined
  const tokenRequest = { namespace, name, uid, bound, id, audiences: spec.audiences, nowSeconds }
  const life = isExtended(parts, spec, bound)
    ? { lifeSeconds: extendedSeconds, warnAfterSeconds: lifeSeconds }
    : { lifeSeconds }
  const token = await parts.tokens.issuer.issue({ ...tokenRequest, ...life })
  const status = { token, expirationTimestamp: timestamp((nowSeconds + lifeSeconds) * 1000) }
  return { ...sent, metadata: metadataOf(request, parts, uid), spec, status }
}

/**
 * Returns the metadata of the response, which is based on the request's metadata. Since Kubernetes 1.24, it includes
 * the account's name and the current time. Since 1.34, it also includes the account's UID.
 */
function metadataOf(
  { object: { metadata }, namespace, name }: EndpointRequest<TokenRequest>,
  { emulation, clock }: ServiceAccountTokenParts,
  uid: string,
): TokenRequest['metadata'] {
  if (!isAtLeast(emulation.version, '1.24')) return metadata
  const { uid: _, ...sent } = metadata
  const ofAccount = isAtLeast(emulation.version, '1.34') ? { uid } : {}
  return { name, namespace, ...ofAccount, creationTimestamp: timestamp(clock.now()), ...sent }
}

/** Throws 422 if the request names another account in its body. Before Kubernetes 1.24, that name is ignored. */
function assertName({ emulation }: ServiceAccountTokenParts, { object, name }: EndpointRequest<TokenRequest>): void {
  const { name: sent = '' } = object.metadata
  if (!isAtLeast(emulation.version, '1.24') || sent === '' || sent === name) return
  throw invalidObject(kindRef(object), name, [
    invalid('metadata.name', sent, 'must match the service account name if specified'),
  ])
}

function assertUid(
  { emulation }: ServiceAccountTokenParts,
  { object, name }: EndpointRequest<TokenRequest>,
  uid: string,
): void {
  const { uid: sent = '' } = object.metadata
  if (sent === '' || sent === uid || !emulation.gates.has('TokenRequestServiceAccountUIDValidation')) return
  const { group, kind } = kindRef(object)
  const why = `the UID in the token request (${sent}) does not match the UID of the service account (${uid})`
  throw conflict({ group, plural: kind }, name, why)
}

function kindRef({ apiVersion, kind }: TokenRequest): { group: string; kind: string } {
  return { group: apiVersion.slice(0, apiVersion.indexOf('/')), kind }
}

/** Returns the spec of a token request with default values, and with a lifetime within the limits. */
function completed(parts: ServiceAccountTokenParts, spec: Spec, warn: EndpointRequest['warn']) {
  const { audiences = [], expirationSeconds: asked = 3600 } = spec
  const { maxLifetimeSeconds = Number.POSITIVE_INFINITY } = parts.tokens
  if (asked > maxLifetimeSeconds)
    warn(`requested expiration of ${asked} seconds shortened to ${maxLifetimeSeconds} seconds`)
  return {
    ...spec,
    audiences: audiences.length === 0 ? [...parts.audiences] : audiences,
    expirationSeconds: Math.min(asked, maxLifetimeSeconds),
  }
}

type Reference = NonNullable<Spec['boundObjectRef']>

type Bindable =
  | { readonly kind: 'pod'; readonly type: StoredType<Pod> }
  | { readonly kind: 'secret'; readonly type: StoredType<Secret> }
  | { readonly kind: 'node'; readonly type: StoredType<Node> }

/** Returns the kinds of objects to which tokens can be bound, according to the feature gates. */
function bindableKinds({ gates }: Emulation): ReadonlyMap<string, Bindable> {
  const always: [string, Bindable][] = [
    ['Pod', { kind: 'pod', type: pods }],
    ['Secret', { kind: 'secret', type: secrets }],
  ]
  const node: [string, Bindable] = ['Node', { kind: 'node', type: nodes }]
  return new Map(gates.has('ServiceAccountTokenNodeBinding') ? [...always, node] : always)
}

async function boundObject(
  { lookup, emulation }: ServiceAccountTokenParts,
  { namespace, name: account }: EndpointRequest,
  reference: Reference | undefined,
): Promise<BoundTo | undefined> {
  if (reference === undefined) return undefined
  const { apiVersion = '', kind: kindName = '', name = '', uid: wanted = '' } = reference
  const kinds = bindableKinds(emulation)
  const of = apiVersion.includes('/') ? undefined : kinds.get(kindName)
  if (of === undefined) {
    const group = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
    throw badRequest(
      `cannot bind token to object of type ${group}, Kind=${kindName}: use one of ${[...kinds.keys()].join(', ')}`,
    )
  }
  if (name === '') throw badRequest('Name parameter required: set spec.boundObjectRef.name')
  const storedObject = await lookup.getLatest<Pod | Secret | Node>(of.type, {
    namespace: of.kind === 'node' ? '' : namespace,
    name,
  })
  if (storedObject === undefined) throw notFound({ group: '', plural: of.type.plural }, name)
  if (of.kind === 'pod' && (storedObject.object as Pod).spec?.serviceAccountName !== account)
    throw badRequest(
      `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
    )
  const { uid = '' } = storedObject.object.metadata
  if (wanted !== '' && wanted !== uid) throw conflict({ group: '', plural: kindName }, name, otherUid(wanted))
  const node = of.kind === 'pod' && emulation.gates.has('ServiceAccountTokenPodNodeInfo')
  return { kind: of.kind, name, uid, node: node ? await nodeOf(lookup, storedObject.object as Pod) : undefined }
}

/**
 * Returns the name of the pod's node and, if the Node object exists, its UID. Returns undefined if the pod has no node.
 */
async function nodeOf(lookup: Lookup, { spec }: Pod): Promise<Holder | undefined> {
  const { nodeName: name = '' } = spec ?? {}
  if (name === '') return undefined
  const node = await lookup.getLatest(nodes, { namespace: '', name })
  return { name, uid: node?.object.metadata.uid }
}

function otherUid(uid: string): string {
  return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
}

/** Extended lifetime of a token in seconds: one year, for programs that read their token only once. */
const extendedSeconds = 365 * 24 * 3600

function isExtended(
  { tokens, audiences }: ServiceAccountTokenParts,
  spec: ReturnType<typeof completed>,
  bound: BoundTo | undefined,
): boolean {
  const isOfVolume = bound?.kind === 'pod' && spec.expirationSeconds === volumeTokenSeconds
  return tokens.extendExpiration && isOfVolume && spec.audiences.every((one) => audiences.includes(one))
}
