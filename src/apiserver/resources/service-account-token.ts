/**
 * `serviceaccounts/token`: issues a token for the account, with the requested audiences and lifetime, optionally bound
 * to a Pod or Secret. The token is not stored: it stays valid as long as the objects that it depends on exist.
 */

import { type TokenRequest, tokenRequest } from '../../api/kinds/authentication/token-request.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import { pod as pods } from '../../api/kinds/core/pod.ts'
import type { Secret } from '../../api/kinds/core/secret.ts'
import { secret as secrets } from '../../api/kinds/core/secret.ts'
import { serviceAccount } from '../../api/kinds/core/service-account.ts'
import { badRequest, conflict, notFound } from '../../api/model/api-error.ts'
import type { Lookup, StoredType } from '../../api/model/lookup.ts'
import { timestamp } from '../../api/model/object.ts'
import { volumeTokenSeconds } from '../../api/model/service-account.ts'
import { type EmulatedVersion, isAtLeast } from '../../api/versions/emulated-version.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { TokenIssuer } from '../authn/service-account/issuer.ts'
import type { Endpoint, EndpointRequest } from '../registry/catalogue/endpoint.ts'

export interface ServiceAccountTokenParts {
  readonly lookup: Lookup
  readonly clock: Clock
  /** The emulated Kubernetes version. */
  readonly version: EmulatedVersion
  /** The default audiences of a token. */
  readonly audiences: readonly string[]
  readonly tokens: TokenPolicy
}

/** How tokens are issued. */
export interface TokenPolicy {
  readonly issuer: TokenIssuer
  /** Maximum lifetime of a token in seconds; undefined means no limit. */
  readonly maxLifetimeSeconds: number | undefined
  /** Whether tokens of pods are extended for clients that do not refresh them yet. */
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
  const storedObject = await parts.lookup.getLatest(serviceAccount, { namespace, name })
  if (storedObject === undefined) throw notFound({ group: '', plural: 'serviceaccounts' }, name)
  const spec = completed(parts, sent.spec ?? {}, warn)
  const bound = await boundObject(parts.lookup, request, spec.boundObjectRef)
  const nowSeconds = Math.floor(parts.clock.now() / 1000)
  const lifeSeconds = spec.expirationSeconds
  const uid = storedObject.object.metadata.uid ?? ''
  const wanted = { namespace, name, uid, bound, audiences: spec.audiences, nowSeconds }
  const life = isExtended(parts, spec, bound)
    ? { lifeSeconds: extendedSeconds, warnAfterSeconds: lifeSeconds }
    : { lifeSeconds }
  const token = await parts.tokens.issuer.issue({ ...wanted, ...life })
  const status = { token, expirationTimestamp: timestamp((nowSeconds + lifeSeconds) * 1000) }
  return { ...sent, metadata: metadataOf(sent, request, parts), spec, status }
}

/** Returns the metadata as sent. Since 1.24, it also has the name of the account and the time. */
function metadataOf(
  { metadata }: TokenRequest,
  { namespace, name }: EndpointRequest,
  { version, clock }: ServiceAccountTokenParts,
): TokenRequest['metadata'] {
  if (!isAtLeast(version, '1.24')) return metadata
  return { name, namespace, creationTimestamp: timestamp(clock.now()), ...metadata }
}

/** Returns the requested spec with the server's defaults and limits. */
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
type Bound = { readonly kind: 'pod' | 'secret'; readonly name: string; readonly uid: string }

type BindableType = StoredType<Pod> | StoredType<Secret>

const bindable: { readonly [kind: string]: { readonly kind: Bound['kind']; readonly type: BindableType } } = {
  Pod: { kind: 'pod', type: pods },
  Secret: { kind: 'secret', type: secrets },
}

async function boundObject(
  lookup: Lookup,
  { namespace, name: account }: EndpointRequest,
  reference: Reference | undefined,
): Promise<Bound | undefined> {
  if (reference === undefined) return undefined
  const { apiVersion = '', kind: kindName = '', name = '', uid: wanted = '' } = reference
  const of = Object.hasOwn(bindable, kindName) && !apiVersion.includes('/') ? bindable[kindName] : undefined
  if (of === undefined) {
    const group = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
    throw badRequest(`cannot bind token to object of type ${group}, Kind=${kindName}: use a Pod or a Secret`)
  }
  if (name === '') throw badRequest('Name parameter required: set spec.boundObjectRef.name')
  const storedObject = await lookup.getLatest(of.type, { namespace, name })
  if (storedObject === undefined) throw notFound({ group: '', plural: of.type.plural }, name)
  if (of.kind === 'pod' && storedObject.object.spec?.serviceAccountName !== account)
    throw badRequest(
      `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
    )
  const { uid = '' } = storedObject.object.metadata
  if (wanted !== '' && wanted !== uid) throw conflict({ group: '', plural: kindName }, name, otherUid(wanted))
  return { kind: of.kind, name, uid }
}

function otherUid(uid: string): string {
  return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
}

/** One year, for programs that read their token only once. */
const extendedSeconds = 365 * 24 * 3600

function isExtended(
  { tokens, audiences }: ServiceAccountTokenParts,
  spec: ReturnType<typeof completed>,
  bound: Bound | undefined,
): boolean {
  const isOfVolume = bound?.kind === 'pod' && spec.expirationSeconds === volumeTokenSeconds
  return tokens.extendExpiration && isOfVolume && spec.audiences.every((one) => audiences.includes(one))
}
