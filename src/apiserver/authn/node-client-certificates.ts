/**
 * The certificates that API servers use to call node agents. Servers reject these certificates from API clients,
 * because a user who can set the address of a Node could otherwise make a server send requests with this certificate to
 * an API server.
 *
 * A certificate is recognized by a reserved common name, so that every server recognizes the certificates of the other
 * servers. A certificate is also recognized if its key or full subject equals the key or subject of the certificate in
 * `--kubelet-client-certificate`.
 */
import { X509Certificate } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { nodeClientName } from '../../api/model/user.ts'
import { type AuthenticationOutcome, type Authenticator, refused } from './authenticator.ts'
import { subjectOf } from './client-certificate.ts'

/**
 * Common names of the certificates that API servers use to call node agents. The second name is used by other tools and
 * by earlier versions.
 */
const reservedNames = [nodeClientName, 'kube-apiserver-kubelet-client']

/**
 * Returns a function that recognizes certificates for calls to node agents. `configuredCertificate` returns the
 * certificate of `--kubelet-client-certificate` in PEM format, or undefined.
 */
export function nodeClientCertificates(
  configuredCertificate: () => string | undefined,
): (certificate: X509Certificate) => boolean {
  let pem: string | undefined
  let isGiven: (certificate: X509Certificate) => boolean = () => false
  return (certificate) => {
    if (subjectOf(certificate).commonNames.some((name) => reservedNames.includes(name))) return true
    const current = configuredCertificate()
    if (current !== pem) isGiven = current === undefined ? () => false : sameClientAs(new X509Certificate(current))
    pem = current
    return isGiven(certificate)
  }
}

/**
 * Returns a function that recognizes certificates with the same key or subject as the given certificate. Results are
 * cached, because every request repeats the check.
 */
function sameClientAs(configuredCertificate: X509Certificate): (certificate: X509Certificate) => boolean {
  const verdicts = new WeakMap<X509Certificate, boolean>()
  const isSame = (certificate: X509Certificate) =>
    certificate.publicKey.equals(configuredCertificate.publicKey) ||
    isDeepStrictEqual(subjectOf(certificate), subjectOf(configuredCertificate))
  return (certificate) => {
    const verdict = verdicts.get(certificate) ?? isSame(certificate)
    verdicts.set(certificate, verdict)
    return verdict
  }
}

/**
 * Rejects the user name that is reserved for calls to node agents, regardless of whether the user was authenticated by
 * token, proxy or identity provider.
 */
export function withoutNodeClient(authenticate: Authenticator): Authenticator {
  const check = (outcome: AuthenticationOutcome) =>
    outcome.result === 'user' && outcome.user.name === nodeClientName ? refused : outcome
  return (credentials) => {
    const outcome = authenticate(credentials)
    return outcome instanceof Promise ? outcome.then(check) : check(outcome)
  }
}
