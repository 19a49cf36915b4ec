/**
 * The certificates with which API servers call node agents. No server accepts them as a client of the API: whoever may set
 * the address of a Node could otherwise make the server send requests to an API server in the server's own name.
 *
 * A certificate is recognized by a common name that is reserved for this use, so that every server recognizes the
 * certificates of the others, and by the key or the whole subject of the one that `--kubelet-client-certificate` names.
 */
import { X509Certificate } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { nodeClientName } from '../../api/model/user.ts'
import { type AuthenticationOutcome, type Authenticator, refused } from './authenticator.ts'
import { subjectOf } from './client-certificate.ts'

/** The second is the name that other tools, and earlier versions of this server, give such certificates. */
const reservedNames = [nodeClientName, 'kube-apiserver-kubelet-client']

/** Returns a function that recognizes these certificates. `given` returns the PEM that the flag names now, if any. */
export function nodeClientCertificates(given: () => string | undefined): (certificate: X509Certificate) => boolean {
  let pem: string | undefined
  let isGiven: (certificate: X509Certificate) => boolean = () => false
  return (certificate) => {
    if (subjectOf(certificate).commonNames.some((name) => reservedNames.includes(name))) return true
    const current = given()
    if (current !== pem) isGiven = current === undefined ? () => false : sameClientAs(new X509Certificate(current))
    pem = current
    return isGiven(certificate)
  }
}

/** Remembers each verdict: a connection asks about its certificate with every request. */
function sameClientAs(given: X509Certificate): (certificate: X509Certificate) => boolean {
  const verdicts = new WeakMap<X509Certificate, boolean>()
  const isSame = (certificate: X509Certificate) =>
    certificate.publicKey.equals(given.publicKey) || isDeepStrictEqual(subjectOf(certificate), subjectOf(given))
  return (certificate) => {
    const verdict = verdicts.get(certificate) ?? isSame(certificate)
    verdicts.set(certificate, verdict)
    return verdict
  }
}

/** Refuses the user of these certificates whatever names it: a token, a proxy, a provider of identities. */
export function withoutNodeClient(authenticate: Authenticator): Authenticator {
  const check = (outcome: AuthenticationOutcome) =>
    outcome.result === 'user' && outcome.user.name === nodeClientName ? refused : outcome
  return (credentials) => {
    const outcome = authenticate(credentials)
    return outcome instanceof Promise ? outcome.then(check) : check(outcome)
  }
}
