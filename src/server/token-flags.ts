/** The flags of service account tokens and bootstrap tokens. */
import { parseDuration } from '../base/duration.ts'
import { flag, readBoolean, repeated, text, toggle, UsageError } from '../base/flags.ts'

export const tokenFlags = {
  serviceAccountKeyFile: repeated(
    'service-account-key-file',
    'FILE',
    text,
    'PEM keys (private, public or of certificates) that service account tokens are verified by; without it that of --tls-private-key-file, or one that is made once and kept in the store. The first private one signs, unless --service-account-signing-key-file is given',
  ),
  serviceAccountSigningKeyFile: flag(
    'service-account-signing-key-file',
    'FILE',
    '',
    text,
    'the PEM private key that service account tokens are signed with; it verifies as well',
  ),
  serviceAccountIssuer: repeated(
    'service-account-issuer',
    'NAME',
    readIssuer,
    'who is named as the issuer of service account tokens, mostly an https URL; the first is written into new tokens, all are accepted',
  ),
  apiAudiences: flag(
    'api-audiences',
    'NAMES',
    '',
    (value) =>
      value
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    'whom tokens must be meant for that are used here, separated by commas; the issuers if empty',
  ),
  serviceAccountLookup: flag(
    'service-account-lookup',
    '',
    'true',
    readBoolean,
    'whether a token that is kept in a secret ends with that secret and its account; tokens that were asked for always do',
  ),
  serviceAccountMaxTokenExpiration: flag(
    'service-account-max-token-expiration',
    'TIME',
    '0s',
    readLongest,
    'how long a service account token may be valid at most, at least 1h; 0s: as long as is asked for',
  ),
  serviceAccountExtendTokenExpiration: flag(
    'service-account-extend-token-expiration',
    '',
    'true',
    readBoolean,
    'whether the token in the volume of a pod is good for a year, although it is to be renewed each hour; use is counted as stale after that hour',
  ),
  serviceAccountJwksUri: flag(
    'service-account-jwks-uri',
    'URL',
    '',
    readKeysAddress,
    'where the public keys of the issuer are said to be found, if not at this server; https',
  ),
  enableBootstrapTokenAuth: toggle(
    'enable-bootstrap-token-auth',
    'accept bootstrap tokens, which are Secrets in kube-system, as credentials',
  ),
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
