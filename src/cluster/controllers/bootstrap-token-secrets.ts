/** Selects and reads bootstrap token Secrets, for the loops that handle them. */

import type { Secret } from '../../api/kinds/core/secret.ts'
import { bootstrapTokenType, tokenEnd } from '../../api/model/bootstrap-token.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Selection } from '../../client/requests/resource-type.ts'

export type { Secret }

const systemNamespace = 'kube-system'

export function tokenSelection(vendor: Vendor): Selection {
  return { namespace: systemNamespace, fieldSelector: `type=${bootstrapTokenType(vendor)}` }
}

/** Returns the decoded value of a key, or '' if the key is missing. */
export function textIn({ data }: Secret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString()
}

/** Returns the expiry time of a token, in milliseconds since 1970. */
export function endOf(secret: Secret): number {
  return tokenEnd(textIn(secret, 'expiration'))
}
