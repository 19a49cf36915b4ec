/**
 * Bootstrap tokens: `<id>.<secret>`, each kept as the Secret `bootstrap-token-<id>` in the system namespace. What the
 * authenticator, the loops and the commands about them agree on.
 */
import { type Vendor, vendorKey } from './vendor.ts'

/** The id and the secret. */
export const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
/** The groups that a token may be in beside the one of all tokens. */
export const tokenGroupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
/** The group of everybody who shows a bootstrap token. */
export const allTokensGroup = 'system:bootstrappers'
/** The group of tokens that node agents join with: bindings of `orch up` let it ask for certificates. */
export const joinGroup = 'system:bootstrappers:orch:default-node-token'

/** Where the public part of the cluster's client config is, for clients that have nothing but a token. */
export const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' } as const
/** Begins the keys under which the signatures of `cluster-info` stand, by token id. */
export const signaturePrefix = 'jws-kubeconfig-'

/** The name of the Secret that holds a token. */
export function tokenSecretName(id: string): string {
  return `bootstrap-token-${id}`
}

/** The type of Secrets that are bootstrap tokens. */
export function bootstrapTokenType(vendor: Vendor): string {
  return vendorKey(vendor, 'token', 'bootstrap')
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** When a token ends by its `expiration`: never without one, and long ago where it cannot be read. */
export function tokenEnd(expiration: string): number {
  if (expiration === '') return Number.POSITIVE_INFINITY
  return time.test(expiration) ? Date.parse(expiration) || 0 : 0
}

/** What signs `cluster-info` for a token: all of it, or its secret alone where the clients of a profile verify that. */
export function signingKeyOf({ profile }: Vendor, { id, secret }: { id: string; secret: string }): string {
  return profile === 'kubernetes' ? secret : `${id}.${secret}`
}
