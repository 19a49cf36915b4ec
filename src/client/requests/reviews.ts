/** What a server that is no API server asks one about its own clients: whose a token is, and what a user may do. */

import type { ApiObject } from '../../api/model/object.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import * as kinds from './built-in-kinds.ts'
import type { Client } from './client.ts'
import { inDomainOf, type ResourceType } from './resource-type.ts'

/** Who asks, and how the server names its groups. */
export interface Reviewer {
  readonly client: Client
  readonly vendor: Vendor
}

/** A user as a review names it. */
export interface ReviewedUser {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: unknown
}

/** What the user wants to do: `resourceAttributes` or `nonResourceAttributes` of a SubjectAccessReview. */
export type ReviewedAccess =
  | { readonly resourceAttributes: { readonly [name: string]: string } }
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } }

interface Review extends ApiObject {
  status?: { authenticated?: boolean; allowed?: boolean; user?: ReviewedUser }
}

/** The user that a token stands for; undefined where the server does not know it. */
export async function reviewToken(reviewer: Reviewer, token: string): Promise<ReviewedUser | undefined> {
  const { status } = await review(reviewer, kinds.TokenReview, { token })
  return status?.authenticated === true ? (status.user ?? {}) : undefined
}

/** Whether the user may do this. */
export async function reviewAccess(reviewer: Reviewer, user: ReviewedUser, access: ReviewedAccess): Promise<boolean> {
  const { username, uid, groups, extra } = user
  const spec = { user: username, uid, groups, extra, ...access }
  return (await review(reviewer, kinds.SubjectAccessReview, spec)).status?.allowed === true
}

async function review({ client, vendor }: Reviewer, type: ResourceType, spec: object): Promise<Review> {
  return await client.create(inDomainOf(vendor, type), { metadata: {}, spec })
}
