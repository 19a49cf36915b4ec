/** Service account tokens: keys, issuers and verification, as configured by flags. */

import type { Lookup } from '../../api/model/lookup.ts'
import { apiAudience, vendorOf } from '../../api/model/vendor.ts'
import { type Emulation, isAvailable } from '../../api/versions/availability.ts'
import { isAtLeast } from '../../api/versions/emulated-version.ts'
import type { Authenticator } from '../../apiserver/authn/authenticator.ts'
import { serviceAccountTokens } from '../../apiserver/authn/service-account/authenticator.ts'
import { TokenIssuer } from '../../apiserver/authn/service-account/issuer.ts'
import {
  isSigning,
  readKeys,
  type SigningKey,
  type TokenKeys,
  tokenKeys,
  type VerifyingKey,
} from '../../apiserver/authn/service-account/keys.ts'
import { type LabelSecret, LegacyTokenTracker } from '../../apiserver/authn/service-account/legacy-token-tracker.ts'
import { Signatures } from '../../apiserver/authn/service-account/signatures.ts'
import { TokenDependencies } from '../../apiserver/authn/service-account/token-dependencies.ts'
import type { TokenMetrics } from '../../apiserver/authn/service-account/token-metrics.ts'
import { StalenessBound } from '../../apiserver/authn/staleness-bound.ts'
import type { TokenPolicy } from '../../apiserver/resources/service-account-token.ts'
import { legacyTokenTracking } from '../../apiserver/upkeep/legacy-token-tracking.ts'
import { UsageError } from '../../base/flags/flags.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Store } from '../../storage/store/store.ts'
import { tokenKeyIn } from '../certificates/shared-keys.ts'
import type { ServerOptions } from '../flags/options.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'

/** Service account token keys from the files specified by flags. */
export interface GivenKeys {
  readonly signing: SigningKey | undefined
  readonly verifying: readonly (VerifyingKey | SigningKey)[]
}

/**
 * Reads the keys for service account tokens from the files specified by flags. Throws UsageError if a file is invalid.
 */
export function readGivenKeys(options: ServerOptions): GivenKeys {
  const { serviceAccountKeyFile: files, serviceAccountSigningKeyFile: signingFile } = options
  const verifying = files.flatMap((file) => keysIn('service-account-key-file', file))
  const signer =
    signingFile === '' ? undefined : keysIn('service-account-signing-key-file', signingFile).find(isSigning)
  if (signingFile !== '' && signer === undefined)
    throw new UsageError(`--service-account-signing-key-file: ${signingFile} contains no private key`)
  const signing = signer ?? verifying.find(isSigning)
  if (signing === undefined && verifying.length > 0)
    throw new UsageError(
      '--service-account-key-file: none of the files contains a private key for signing tokens: add a private key, or set --service-account-signing-key-file',
    )
  return { signing, verifying }
}

function keysIn(flag: string, file: string): (VerifyingKey | SigningKey)[] {
  const pem = readFlagFile(flag, file)
  try {
    return readKeys(pem)
  } catch (error) {
    throw new UsageError(`--${flag}: ${file}: ${messageOf(error)}`)
  }
}

/**
 * Determines the keys for service account tokens. If no flag specifies a key file, the serving key or a key in the
 * store is used. Must be called after the serving key has been validated.
 */
export async function settleKeys(
  { signing, verifying }: GivenKeys,
  { tlsPrivateKeyFile }: ServerOptions,
  store: Store,
): Promise<TokenKeys> {
  if (signing !== undefined && verifying.length > 0) return tokenKeys(signing, verifying)
  const usual = tlsPrivateKeyFile === '' ? readKeys(await tokenKeyIn(store)) : servingKey(tlsPrivateKeyFile)
  return tokenKeys(signing ?? usual.find(isSigning)!, usual)
}

function servingKey(file: string): (VerifyingKey | SigningKey)[] {
  try {
    return keysIn('tls-private-key-file', file)
  } catch (error) {
    throw new UsageError(`${messageOf(error)}; set a key for tokens with --service-account-key-file`)
  }
}

/** Issues and authenticates service account tokens. */
export interface AccountTokens {
  readonly policy: TokenPolicy
  /** The accepted audiences. A token must contain at least one of them. */
  readonly audiences: readonly string[]
  strategy(parts: StrategyParts): Authenticator
}

interface StrategyParts {
  readonly lookup: Lookup
  readonly clock: Clock
  readonly metrics: TokenMetrics
  readonly emulation: Emulation
  readonly log: Log
  readonly setLabels: LabelSecret
}

/** Returns the issuers of service account tokens. New tokens contain the first issuer. */
export function issuersOf({ serviceAccountIssuer, profile }: ServerOptions): readonly string[] {
  return serviceAccountIssuer.length === 0 ? [apiAudience(vendorOf(profile))] : serviceAccountIssuer
}

/** Returns the accepted audiences. A token must contain at least one of them. */
export function audiencesOf(options: ServerOptions): readonly string[] {
  return options.apiAudiences.length === 0 ? issuersOf(options) : options.apiAudiences
}

/** Returns the policy for new tokens and the token authenticator, as configured by the options. */
export function openAccountTokens(options: ServerOptions, keys: TokenKeys): AccountTokens {
  const vendor = vendorOf(options.profile)
  const issuers = issuersOf(options)
  const audiences = audiencesOf(options)
  const longest = options.serviceAccountMaxTokenExpiration
  return {
    policy: {
      issuer: new TokenIssuer(issuers[0]!, vendor, keys),
      maxLifetimeSeconds: longest === 0 ? undefined : Math.floor(longest / 1000),
      extendExpiration: options.serviceAccountExtendTokenExpiration,
    },
    audiences,
    strategy: ({ lookup, clock, metrics, emulation, log, setLabels }) => {
      const isTracked = isAvailable(legacyTokenTracking, emulation) && options.serviceAccountLookup
      return serviceAccountTokens({
        vendor,
        clock,
        audiences,
        metrics,
        gates: emulation.gates,
        tracker: isTracked ? new LegacyTokenTracker({ vendor, lookup, clock, log, setLabels }) : undefined,
        signatures: new Signatures({ vendor, keys: keys.verifying, issuers }),
        holders: new TokenDependencies({
          lookup,
          clock,
          lookupLegacy: options.serviceAccountLookup,
          markedBy: isTracked && isAtLeast(emulation.version, '1.28') ? vendor : undefined,
        }),
        recency: new StalenessBound(lookup, clock),
      })
    },
  }
}
