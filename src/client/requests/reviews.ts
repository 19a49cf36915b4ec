/**
 * TokenReview and SubjectAccessReview requests, for a server that delegates the authentication and authorization of its
 * clients.
 */

import type { ApiObject } from '../../api/model/object.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import * as kinds from './built-in-kinds.ts'
import type { Client } from './client.ts'
import { inDomainOf, type ResourceType } from './resource-type.ts'

/** The client that sends the reviews, and the server's vendor. */
export interface Reviewer {
  readonly client: Client
  readonly vendor: Vendor
}

/** A user as named in a review. */
export interface ReviewedUser {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: unknown
}

/** The action in a SubjectAccessReview: `resourceAttributes` or `nonResourceAttributes`. */
export type ReviewedAccess =
  | { readonly resourceAttributes: { readonly [name: string]: string } }
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } }

interface Review extends ApiObject {
  status?: { authenticated?: boolean; allowed?: boolean; user?: ReviewedUser }
}

/** Returns the user of a token, or undefined if the token is invalid. */
export async function reviewToken(reviewer: Reviewer, token: string): Promise<ReviewedUser | undefined> {
  const { status } = await review(reviewer, kinds.TokenReview, { token })
  return status?.authenticated === true ? (status.user ?? {}) : undefined
}

/** Whether the user may perform the action. */
export async function reviewAccess(reviewer: Reviewer, user: ReviewedUser, access: ReviewedAccess): Promise<boolean> {
  const { username, uid, groups, extra } = user
  const spec = { user: username, uid, groups, extra, ...access }
  return (await review(reviewer, kinds.SubjectAccessReview, spec)).status?.allowed === true
}

async function review({ client, vendor }: Reviewer, type: ResourceType, spec: object): Promise<Review> {
  return await client.create(inDomainOf(vendor, type), { metadata: {}, spec })
}
