/** Errors that occur in calls to other servers. The messages contain neither request nor response data. */
import { isOwnLimit } from '../../../base/limits/own-limits.ts'

/**
 * The cause of a failed call:
 *
 * - `timeout`: no complete response arrived in time.
 * - `connection`: no connection could be established.
 * - `cut`: the connection closed after the request was sent and before the response was complete.
 * - `tls`: the certificate or the handshake was invalid.
 * - `answer`: the response was unacceptable.
 * - `aborted`: the caller aborted the call.
 * - `limit`: this server had no free connection or memory for the call.
 */
export type CallFault = 'timeout' | 'connection' | 'cut' | 'tls' | 'answer' | 'aborted' | 'limit'

/**
 * How a failed call can be repeated:
 *
 * - `reconnect`: on a new connection, because a reused connection broke before any part of the response arrived.
 * - `verify`: with a different verification method, because the certificate appears to be self-signed.
 */
export type Remedy = 'reconnect' | 'verify'

interface CallErrorOptions {
  readonly remedy?: Remedy | undefined
  /** The underlying connection error, such as Node's ECONNREFUSED error. */
  readonly cause?: unknown
}

/** The error of a call that failed or returned no acceptable response. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly fault: CallFault
  readonly remedy: Remedy | undefined

  constructor(fault: CallFault, message: string, { remedy, cause }: CallErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.fault = fault
    this.remedy = remedy
  }
}

/**
 * OpenSSL's error code for a self-signed certificate. OpenSSL also reports this code for a certificate without names.
 */
export const selfSigned = 'DEPTH_ZERO_SELF_SIGNED_CERT'

const unknownAuthority = 'x509: certificate signed by unknown authority'
const notNow = 'x509: certificate has expired or is not yet valid'

const certificateFaults: { readonly [code: string]: string } = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  CERT_UNTRUSTED: unknownAuthority,
  CERT_HAS_EXPIRED: notNow,
  CERT_NOT_YET_VALID: notNow,
  INVALID_PURPOSE: 'x509: certificate is not meant for servers',
}

const connectionFaults: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name could not be resolved',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'the connection timed out',
}

/** Error code for a certificate whose common name differs from the required name. */
export const wrongCommonName = 'ORCH_WRONG_COMMON_NAME'

export interface BrokenCall {
  readonly serverName: string
  /** Whether the request can safely be repeated on a new connection. */
  readonly isRepeatable: boolean
}

/** Converts a connection error to a CallError. */
export function callErrorOf(cause: NodeJS.ErrnoException, { serverName, isRepeatable }: BrokenCall): CallError {
  const { code = '' } = cause
  const tls = (message: string, remedy?: Remedy) => new CallError('tls', message, { cause, remedy })
  if (isOwnLimit(cause)) return new CallError('limit', `the server cannot open another connection (${code})`, { cause })
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return tls(`x509: certificate is not valid for ${serverName}`)
  if (code === wrongCommonName) return tls(`x509: certificate is valid for another name: ${cause.message}`)
  const certificateFault = certificateFaults[code]
  if (certificateFault !== undefined) return tls(certificateFault, code === selfSigned ? 'verify' : undefined)
  if (code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS'))
    return tls(`the TLS handshake failed (${code})`)
  const text = connectionFaults[code] ?? `the connection failed (${code || 'unknown'})`
  return new CallError('connection', text, { cause, remedy: isRepeatable ? 'reconnect' : undefined })
}
