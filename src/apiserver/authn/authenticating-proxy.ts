/**
 * Authenticating proxy: a proxy that authenticates with a client certificate and names the user in headers.
 *
 * The headers are trusted only if the proxy's certificate is signed by a CA for proxies and has an allowed name.
 * Headers from other clients are ignored. Header names are compared case-insensitively but otherwise exactly:
 * `X_Remote_User` is a different header.
 */
import type { X509Certificate } from 'node:crypto'
import type { User } from '../../api/model/user.ts'
import type { Clock } from '../../base/time/clock.ts'
import { headerText } from '../../wire/http/header-text.ts'
import { type Authenticator, none, refused, type SentHeaders } from './authenticator.ts'
import { Chains, subjectOf } from './client-certificate.ts'
import type { DeniedCertificates } from './denied-certificates.ts'
import type { MultipleCommonNames } from './multiple-common-names.ts'

/** Names of the headers in which the proxy sends the user's identity, in lower case. */
export interface ProxyHeaders {
  /** The headers that can contain the user name. The first header that has a value is used. */
  readonly username: readonly string[]
  /** The headers that can contain the user's UID. The first header that has a value is used. */
  readonly uid: readonly string[]
  /** The headers that contain the groups. Every value is a group. */
  readonly groups: readonly string[]
  /** Prefixes of headers that contain extra attributes. The rest of the header name is the attribute's key. */
  readonly extraPrefixes: readonly string[]
}

export interface ProxyParts {
  /** Returns the current CAs for proxies. The array is replaced when the CAs change. */
  readonly authorities: () => readonly X509Certificate[]
  readonly denied: DeniedCertificates
  /** Whether API servers use the certificate to call node agents. Proxies must not use such a certificate. */
  readonly isNodeClient: (certificate: X509Certificate) => boolean
  readonly severalNames: MultipleCommonNames
  /** Allowed common names of proxies. If empty, any name is allowed. */
  readonly allowedNames: readonly string[]
  readonly headers: ProxyHeaders
  readonly clock: Clock
}

/** Authenticates the user that a trusted proxy names in headers. The proxy is identified by its client certificate. */
export function authenticatingProxy({ allowedNames, headers, ...parts }: ProxyParts): Authenticator {
  const chains = new Chains(parts)
  return (credentials) => {
    const { certificate } = credentials
    if (certificate === undefined || chains.of(certificate) === undefined) return none
    const { commonNames } = subjectOf(certificate.x509)
    if (commonNames.length > 1) return parts.severalNames.refuse(certificate.x509)
    if (allowedNames.length > 0 && !allowedNames.includes(commonNames[0] ?? '')) return refused
    const { username } = headers
    const name = firstValue(username, credentials.headers)
    if (name === undefined) return none
    const user = userOf(name, headers, credentials.headers)
    return user === undefined ? refused : { result: 'user', user }
  }
}

/** Whether only a proxy may send the header. Such a header must not be forwarded to backends. */
export function isProxyHeader({ username, uid, groups, extraPrefixes }: ProxyHeaders, name: string): boolean {
  return [...username, ...uid, ...groups].includes(name) || extraPrefixes.some((prefix) => name.startsWith(prefix))
}

/** Returns the first nonempty value among the headers. */
function firstValue(names: readonly string[], sent: SentHeaders): string | undefined {
  return names.map((name) => sent.one(name)).find((value) => value)
}

/** Returns the user that the headers name, or undefined if a value is not valid text. */
function userOf(user: string, headers: ProxyHeaders, sent: SentHeaders): User | undefined {
  const { groups, extraPrefixes } = headers
  const name = headerText(user)
  const uid = headerText(firstValue(headers.uid, sent) ?? '')
  const inGroups = groups.flatMap((header) => sent.all(header)).map(headerText)
  const extra = extraOf(extraPrefixes, sent)
  if (name === undefined || uid === undefined || extra === undefined) return undefined
  if (!inGroups.every((group) => group !== undefined)) return undefined
  return { name, uid, groups: inGroups.filter((group) => group !== ''), extra }
}

function extraOf(prefixes: readonly string[], sent: SentHeaders): Map<string, string[]> | undefined {
  const extra = new Map<string, string[]>()
  for (const prefix of prefixes) {
    for (const { name, value } of sent.withPrefix(prefix)) {
      const key = decodeKey(name.slice(prefix.length))
      const text = headerText(value)
      if (text === undefined) return undefined
      extra.set(key, [...(extra.get(key) ?? []), text])
    }
  }
  return extra
}

/** Decodes a percent-encoded key. If the encoding is invalid, returns the key unchanged. */
export function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
