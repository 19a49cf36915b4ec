/** Flags of service account tokens. */

import { flag, readBoolean, repeated, text, UsageError } from '../../base/flags/flags.ts'
import { parseDuration } from '../../base/time/duration.ts'
import { list } from './values.ts'

export const serviceAccountFlags = {
  serviceAccountKeyFile: repeated({
    name: 'service-account-key-file',
    value: 'FILE',
    read: text,
    help: 'PEM keys (private, public or in certificates) that verify service account tokens; by default that of --tls-private-key-file, or else a key generated once and kept in the store. The first private key signs, unless --service-account-signing-key-file is set',
  }),
  serviceAccountSigningKeyFile: flag({
    name: 'service-account-signing-key-file',
    value: 'FILE',
    read: text,
    help: 'PEM private key that signs service account tokens; it verifies them too',
  }),
  serviceAccountIssuer: repeated({
    name: 'service-account-issuer',
    value: 'NAME',
    read: readIssuer,
    help: 'issuer of service account tokens, usually an https URL; the first is written into new tokens, all are accepted',
  }),
  apiAudiences: flag({
    name: 'api-audiences',
    value: 'NAMES',
    read: list,
    help: 'audiences that tokens must name, separated by commas; the issuers by default',
  }),
  serviceAccountLookup: flag({
    name: 'service-account-lookup',
    default: 'true',
    read: readBoolean,
    help: 'reject tokens of a token Secret when the Secret or its account is gone; requested tokens are always checked',
  }),
  serviceAccountMaxTokenExpiration: flag({
    name: 'service-account-max-token-expiration',
    value: 'TIME',
    default: '0s',
    read: readLongest,
    help: 'maximum lifetime of a service account token, at least 1h; 0s for no limit',
  }),
  serviceAccountExtendTokenExpiration: flag({
    name: 'service-account-extend-token-expiration',
    default: 'true',
    read: readBoolean,
    help: 'let the token in a pod volume live for a year although it is renewed every hour; a use after that hour is counted as stale',
  }),
  serviceAccountJwksUri: flag({
    name: 'service-account-jwks-uri',
    value: 'URL',
    read: readKeysAddress,
    help: 'https URL of the public keys of the issuer, if it is not this server',
  }),
}

/** A name with a colon is meant as a URL. */
function readIssuer(value: string): string {
  if (value.includes(':') && !URL.canParse(value))
    throw new UsageError(
      `${JSON.stringify(value)} has a colon but is not a URL: use one such as https://tokens.example.com`,
    )
  return value
}

const hourMs = 3_600_000

/** Milliseconds; 0: no limit. */
function readLongest(value: string): number {
  const ms = parseDuration(value)
  if (ms === undefined) throw new UsageError(`${JSON.stringify(value)} is not a duration: use one such as 24h`)
  if (ms !== 0 && (ms < hourMs || ms > 2 ** 32 * 1000)) throw new UsageError('a token lives for 1h to 2^32 seconds')
  return ms
}

function readKeysAddress(value: string): string {
  const isHttps = URL.canParse(value) && new URL(value).protocol === 'https:'
  if (value !== '' && !isHttps) throw new UsageError(`${JSON.stringify(value)} is not an https URL`)
  return value
}
