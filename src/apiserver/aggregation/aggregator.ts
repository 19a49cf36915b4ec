/** The user identity that this server presents when it requests discovery and OpenAPI documents from backends. */

import { superusers, type User } from '../../api/model/user.ts'
import { identityOf } from '../http/relay/forwarded-headers.ts'

const aggregator: User = { name: 'system:kube-aggregator', uid: '', groups: [superusers], extra: new Map() }

/** Headers that present this server as the user `system:kube-aggregator` to backends. */
export const aggregatorHeaders: { readonly [name: string]: string } = headersOf(identityOf(aggregator))

function headersOf(raw: readonly string[]): { readonly [name: string]: string } {
  return Object.fromEntries(raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1]!]] : [])))
}
