/** What the loops on bootstrap tokens share: the Secrets that are tokens, and how one is read. */

import type { Secret } from '../../api/kinds/core/secret.ts'
import { bootstrapTokenType, tokenEnd } from '../../api/model/bootstrap-token.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Selection } from '../../client/requests/resource-type.ts'

export type { Secret }

/** The namespace of the cluster's own parts. */
const systemNamespace = 'kube-system'

export function tokenSelection(vendor: Vendor): Selection {
  return { namespace: systemNamespace, fieldSelector: `type=${bootstrapTokenType(vendor)}` }
}

/** The text under a key; '' where there is none. */
export function textIn({ data }: Secret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString()
}

/** When the token ends. */
export function endOf(secret: Secret): number {
  return tokenEnd(textIn(secret, 'expiration'))
}
