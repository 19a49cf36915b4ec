/** As whom this server asks backends on its own behalf, for discovery and OpenAPI. */

import { identityOf } from '../http/forwarded-headers.ts'
import { superusers, type User } from '../model/user.ts'

const aggregator: User = { name: 'system:kube-aggregator', uid: '', groups: [superusers], extra: new Map() }

/** The headers that say so. */
export const aggregatorHeaders: { readonly [name: string]: string } = headersOf(identityOf(aggregator))

function headersOf(raw: readonly string[]): { readonly [name: string]: string } {
  return Object.fromEntries(raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1]!]] : [])))
}
