/**
 * Connections to servers whose certificate has neither subject nor issuer. Some certificate tools for webhooks create
 * them, with names only in the subjectAltName extension. OpenSSL considers such a certificate self-signed and stops
 * there. This agent accepts it if one of the given CAs has signed it. Signature, dates, purpose and name are checked
 * before the connection is used, so that no data reaches an untrusted server. Chains of several such certificates are
 * not supported.
 */
import { X509Certificate } from 'node:crypto'
import { Agent, type AgentOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { type ConnectionOptions, checkServerIdentity, connect, type TLSSocket } from 'node:tls'

/** OpenSSL's error code for such a certificate. */
export const selfSigned = 'DEPTH_ZERO_SELF_SIGNED_CERT'

const serverPurposes = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0']
const certificateForm = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Opens connections to servers whose certificate has no names, if a trusted CA has signed it. */
export class NamelessCertificateAgent extends Agent {
  readonly #authority: string
  readonly #authorities: readonly X509Certificate[]

  /** `authority` contains the trusted CA certificates as PEM. */
  constructor(options: AgentOptions, authority: string) {
    super(options)
    this.#authority = authority
    this.#authorities = (authority.match(certificateForm) ?? []).map((pem) => new X509Certificate(pem))
  }

  /** Returns an agent that trusts the same CAs. */
  withOptions(options: AgentOptions): NamelessCertificateAgent {
    return new NamelessCertificateAgent(options, this.#authority)
  }

  override createConnection(
    options: ConnectionOptions,
    callback: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const socket = connect({ ...options, rejectUnauthorized: false })
    const fail = (error: Error) => {
      socket.destroy()
      callback(error, socket)
    }
    socket.once('error', fail)
    socket.once('timeout', () =>
      socket.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
    )
    socket.once('secureConnect', () => {
      const fault = socket.authorized ? undefined : this.#faultOf(socket, options)
      if (fault !== undefined) return fail(fault)
      socket.off('error', fail)
      callback(null, socket)
    })
  }

  #faultOf(socket: TLSSocket, { servername, host }: ConnectionOptions): Error | undefined {
    const fault = socket.authorizationError
    const certificate = socket.getPeerX509Certificate()
    if ((fault as unknown) !== selfSigned || certificate === undefined || !this.#isVouchedFor(certificate))
      return Object.assign(new Error('the certificate is not trusted'), { code: String(fault) })
    return checkServerIdentity(servername || host || '', socket.getPeerCertificate())
  }

  #isVouchedFor(certificate: X509Certificate): boolean {
    const purposes = certificate.keyUsage as readonly string[] | undefined
    return (
      isNameless(certificate) &&
      isCurrent(certificate) &&
      (purposes === undefined || purposes.some((purpose) => serverPurposes.includes(purpose))) &&
      this.#authorities.some(
        (authority) =>
          authority.ca &&
          isCurrent(authority) &&
          certificate.checkIssued(authority) &&
          certificate.verify(authority.publicKey),
      )
    )
  }
}

function isNameless({ subject, issuer }: X509Certificate): boolean {
  return !subject && !issuer
}

function isCurrent({ validFromDate, validToDate }: X509Certificate): boolean {
  const now = Date.now()
  return validFromDate.getTime() <= now && now <= validToDate.getTime()
}
