/** Defines the flags for service account tokens. */

import { flag, readBoolean, repeated, text, UsageError } from '../../base/flags/flags.ts'
import { parseDuration } from '../../base/time/duration.ts'
import { list } from './values.ts'

export const serviceAccountFlags = {
  serviceAccountKeyFile: repeated({
    name: 'service-account-key-file',
    value: 'FILE',
    read: text,
    help: 'PEM files with private keys, public keys or certificates that verify service account tokens; defaults to the --tls-private-key-file key, or to a key that the server generates once and stores. The first private key signs tokens unless --service-account-signing-key-file is set',
  }),
  serviceAccountSigningKeyFile: flag({
    name: 'service-account-signing-key-file',
    value: 'FILE',
    read: text,
    help: 'PEM private key that signs service account tokens; the server also accepts tokens signed with this key',
  }),
  serviceAccountIssuer: repeated({
    name: 'service-account-issuer',
    value: 'NAME',
    read: readIssuer,
    help: 'issuer of service account tokens, usually an https URL; new tokens use the first issuer, and all issuers are accepted',
  }),
  apiAudiences: flag({
    name: 'api-audiences',
    value: 'NAMES',
    read: list,
    help: 'accepted audiences of service account tokens, separated by commas; defaults to the issuers',
  }),
  serviceAccountLookup: flag({
    name: 'service-account-lookup',
    default: 'true',
    read: readBoolean,
    help: 'reject a token from a token Secret if the Secret or its service account no longer exists; tokens from the TokenRequest API are always checked',
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
    help: 'extend the lifetime of tokens in pod volumes from one hour to one year; a metric counts the uses after the first hour',
  }),
  serviceAccountJwksUri: flag({
    name: 'service-account-jwks-uri',
    value: 'URL',
    read: readKeysAddress,
    help: 'https URL at which another server publishes the public keys of the token issuer',
  }),
}

/** Parses an issuer. Rejects a name that contains a colon but is not a URL. */
function readIssuer(value: string): string {
  if (value.includes(':') && !URL.canParse(value))
    throw new UsageError(
      `${JSON.stringify(value)} contains a colon but is not a URL: use a URL such as https://tokens.example.com`,
    )
  return value
}

const hourMs = 3_600_000

/** Parses a maximum lifetime. Returns milliseconds, where 0 means no limit. */
function readLongest(value: string): number {
  const ms = parseDuration(value)
  if (ms === undefined) throw new UsageError(`${JSON.stringify(value)} is not a duration: use a duration such as 24h`)
  if (ms !== 0 && (ms < hourMs || ms > 2 ** 32 * 1000)) throw new UsageError('must be between 1h and 2^32 seconds')
  return ms
}

function readKeysAddress(value: string): string {
  const isHttps = URL.canParse(value) && new URL(value).protocol === 'https:'
  if (value !== '' && !isHttps) throw new UsageError(`${JSON.stringify(value)} is not an https URL`)
  return value
}
