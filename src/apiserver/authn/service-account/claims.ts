/**
 * Claims of service account tokens. Bound tokens are requested through `serviceaccounts/token`, expire, and may be
 * bound to a pod or Secret. Legacy tokens are stored in a Secret and are valid while the Secret exists. This file only
 * writes and reads claims. Other files check whether the claims are still valid.
 */
import type { Json, JsonObject } from '../../../api/json/json.ts'
import { defined, isObject } from '../../../api/json/json.ts'
import type { ObjectName } from '../../../api/model/lookup.ts'
import { serviceAccountName } from '../../../api/model/user.ts'
import { legacyTokenIssuer, type Vendor } from '../../../api/model/vendor.ts'

/** An object that a token is bound to: a node, or an object in the namespace of the account. */
export interface Holder {
  readonly name: string
  /**
   * Uid of the object. Undefined for the Secret of a legacy token, and for a pod's node whose Node object did not
   * exist.
   */
  readonly uid: string | undefined
}

export interface TokenClaims {
  readonly namespace: string
  readonly account: Holder
  readonly pod?: Holder | undefined
  readonly secret?: Holder | undefined
  /** The node that the token is bound to, or the node on which the token's pod runs. */
  readonly node?: Holder | undefined
  /** ID of the token (`jti`). Tokens issued by older versions have no ID. */
  readonly id?: string | undefined
  /** Audiences of the token. An empty list means that the token is valid for this server. */
  readonly audiences: readonly string[]
  /** Start of the token's validity, in milliseconds since 1970. */
  readonly validFrom: number
  readonly validUntil: number
  /** Time after which the holder should use a newer token. */
  readonly staleFrom: number
  readonly legacy: boolean
}

/** The object to bind a new token to. For a pod, the pod's node is included. */
export interface BoundTo {
  readonly kind: 'pod' | 'secret' | 'node'
  readonly name: string
  readonly uid: string
  readonly node?: Holder | undefined
}

export interface BoundToken extends ObjectName {
  readonly issuer: string
  readonly uid: string
  readonly bound?: BoundTo | undefined
  /** The `jti` claim. Undefined in Kubernetes versions without it. */
  readonly id?: string | undefined
  readonly audiences: readonly string[]
  readonly nowSeconds: number
  readonly lifeSeconds: number
  /** The lifetime in seconds that was requested for a token whose lifetime was extended. */
  readonly warnAfterSeconds?: number | undefined
}

export function boundClaims(vendor: Vendor, token: BoundToken): JsonObject {
  const { namespace, name, uid, bound, id, nowSeconds, warnAfterSeconds } = token
  const holders: JsonObject = { namespace, serviceaccount: { name, uid } }
  if (bound !== undefined) holders[bound.kind] = { name: bound.name, uid: bound.uid }
  if (bound?.node !== undefined) holders.node = defined({ ...bound.node })
  if (warnAfterSeconds !== undefined) holders.warnafter = nowSeconds + warnAfterSeconds
  return {
    aud: [...token.audiences],
    exp: nowSeconds + token.lifeSeconds,
    iat: nowSeconds,
    iss: token.issuer,
    ...(id === undefined ? {} : { jti: id }),
    [vendor.keyDomain]: holders,
    nbf: nowSeconds,
    sub: serviceAccountName(namespace, name),
  }
}

/** Identifies a legacy token: its account, and the Secret that contains the token. */
export interface LegacyToken extends ObjectName {
  readonly uid: string
  readonly secret: string
}

export function legacyClaims(vendor: Vendor, { namespace, name, uid, secret }: LegacyToken): JsonObject {
  const key = legacyKey(vendor)
  return {
    iss: legacyTokenIssuer(vendor),
    [key('namespace')]: namespace,
    [key('secret.name')]: secret,
    [key('service-account.name')]: name,
    [key('service-account.uid')]: uid,
    sub: serviceAccountName(namespace, name),
  }
}

const legacyKey = (vendor: Vendor) => (part: string) => `${vendor.keyDomain}/serviceaccount/${part}`

/** Reads the claims of a verified token. Returns undefined if they are invalid. */
export function readClaims(vendor: Vendor, payload: JsonObject): TokenClaims | undefined {
  const claims = payload.iss === legacyTokenIssuer(vendor) ? readLegacy(vendor, payload) : readBound(vendor, payload)
  if (claims === undefined) return undefined
  return payload.sub === serviceAccountName(claims.namespace, claims.account.name) ? claims : undefined
}

function readLegacy(vendor: Vendor, payload: JsonObject): TokenClaims | undefined {
  const read = (part: string) => word(payload[legacyKey(vendor)(part)])
  const namespace = read('namespace')
  const secret = read('secret.name')
  const name = read('service-account.name')
  const uid = read('service-account.uid')
  if (!namespace || !secret || !name || !uid) return undefined
  const never = Number.POSITIVE_INFINITY
  return {
    namespace,
    account: { name, uid },
    secret: { name: secret, uid: undefined },
    audiences: [],
    validFrom: 0,
    validUntil: never,
    staleFrom: never,
    legacy: true,
  }
}

function readBound(vendor: Vendor, payload: JsonObject): TokenClaims | undefined {
  const holders = payload[vendor.keyDomain]
  if (!isObject(holders)) return undefined
  const { serviceaccount, pod, secret, node, warnafter } = holders
  const namespace = word(holders.namespace)
  const account = holder(serviceaccount)
  const until = seconds(payload.exp)
  const audiences = audiencesOf(payload.aud)
  const from = payload.nbf === undefined ? 0 : seconds(payload.nbf)
  const stale = warnafter === undefined ? until : seconds(warnafter)
  const bound = { pod: pod === undefined ? null : holder(pod), secret: secret === undefined ? null : holder(secret) }
  if (!namespace || account === undefined || until === undefined || audiences === undefined) return undefined
  const ofNode = node === undefined ? null : nodeHolder(node)
  if (ofNode === undefined) return undefined
  if (from === undefined || stale === undefined || bound.pod === undefined || bound.secret === undefined)
    return undefined
  return {
    namespace,
    account,
    audiences,
    pod: bound.pod ?? undefined,
    secret: bound.secret ?? undefined,
    node: ofNode ?? undefined,
    id: word(payload.jti),
    validFrom: from,
    validUntil: until,
    staleFrom: stale,
    legacy: false,
  }
}

function holder(value: Json | undefined): { name: string; uid: string } | undefined {
  if (!isObject(value)) return undefined
  const name = word(value.name)
  const uid = word(value.uid)
  return name && uid ? { name, uid } : undefined
}

/** The node of a pod has no uid if the Node did not exist when the token was issued. */
function nodeHolder(value: Json | undefined): Holder | undefined {
  const name = isObject(value) ? word(value.name) : undefined
  return isObject(value) && name ? { name, uid: word(value.uid) } : undefined
}

function word(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Converts a claim from seconds to milliseconds. Returns undefined if it is not a plausible time. */
function seconds(value: Json | undefined): number | undefined {
  return typeof value === 'number' && value >= 0 && value < 2 ** 43 ? value * 1000 : undefined
}

/** Reads the audiences: a single string or a non-empty list. */
function audiencesOf(value: Json | undefined): string[] | undefined {
  const list = Array.isArray(value) ? value : [value]
  return list.length > 0 && list.every((each) => typeof each === 'string') ? list : undefined
}
