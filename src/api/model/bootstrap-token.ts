/**
 * Bootstrap tokens have the form `<id>.<secret>`. Each is stored as the Secret `bootstrap-token-<id>` in the system
 * namespace. The authenticator, controllers and commands share these definitions.
 */
import { type Vendor, vendorKey } from './vendor.ts'

/** Matches a bootstrap token. The capture groups are the ID and the secret. */
export const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
/** Matches group names that a bootstrap token may assign to its user. */
export const tokenGroupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
/** The group of all users who authenticate with a bootstrap token. */
export const allTokensGroup = 'system:bootstrappers'
/**
 * The group of tokens that node agents use to join. Bindings that `orch up` creates allow the group to request
 * certificates.
 */
export const joinGroup = 'system:bootstrappers:orch:default-node-token'

/** The key in a token's Secret for the name of the only node that may join with the token. */
export const tokenNodeName = 'node-name'

/** Returns the key of the user's extra field that contains the token's node name. */
export function tokenNodeExtra(vendor: Vendor): string {
  return vendorKey(vendor, 'node-name', 'bootstrap')
}

/**
 * The ConfigMap that contains the public part of the cluster's client configuration, for clients that have only a
 * token.
 */
export const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' } as const
/** The prefix of signature keys in `cluster-info`. The token ID follows the prefix. */
export const signaturePrefix = 'jws-kubeconfig-'

/** Returns the name of the Secret that stores a bootstrap token. */
export function tokenSecretName(id: string): string {
  return `bootstrap-token-${id}`
}

/** Returns the Secret type of bootstrap tokens. */
export function bootstrapTokenType(vendor: Vendor): string {
  return vendorKey(vendor, 'token', 'bootstrap')
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/**
 * Returns the expiration time of a token. A token without an `expiration` never expires. A token with an invalid
 * `expiration` counts as having expired long ago.
 */
export function tokenEnd(expiration: string): number {
  if (expiration === '') return Number.POSITIVE_INFINITY
  return time.test(expiration) ? Date.parse(expiration) || 0 : 0
}

/**
 * Returns the key that signs `cluster-info` for a token: the whole token, or only its secret if the profile's clients
 * expect that.
 */
export function signingKeyOf({ profile }: Vendor, { id, secret }: { id: string; secret: string }): string {
  return profile === 'kubernetes' ? secret : `${id}.${secret}`
}
