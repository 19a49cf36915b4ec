/**
 * Authenticates tokens with a webhook: sends a TokenReview and caches the response for a limited time. If the webhook
 * cannot be reached or responds incorrectly, the token is rejected.
 *
 * Tokens are cached as hashes and never appear in errors.
 */
import { hash } from 'node:crypto'
import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'
import { tooManyRequests } from '../../api/model/api-error.ts'
import type { User } from '../../api/model/user.ts'
import { apiVersionOf, type Vendor } from '../../api/model/vendor.ts'
import { TtlCache } from '../../base/collections/ttl-cache.ts'
import type { Traced, TraceHeaders } from '../../base/telemetry/tracing/trace-context.ts'
import type { Clock } from '../../base/time/clock.ts'
import { NoFreeConnection } from '../../wire/http/https-json.ts'
import { type AuthenticationOutcome, type Authenticator, none, refused } from './authenticator.ts'
import { bearerToken } from './bearer.ts'

export interface TokenWebhookParts {
  readonly vendor: Vendor
  readonly clock: Clock
  /** Version of TokenReview to send. */
  readonly version: 'v1' | 'v1beta1'
  /** How long to cache a response, in milliseconds, for both valid and invalid tokens. */
  readonly ttlMs: number
  /** Audiences of this server. Tokens in requests must be valid for at least one of them. */
  readonly audiences: readonly string[]
  /** Sends a review to the webhook and returns the response. */
  readonly post: (review: JsonObject, trace: TraceHeaders) => Promise<Json>
  readonly onFailure: (error: unknown) => void
}

/** The outcome if the webhook fails. The log contains the cause. */
const unchecked: AuthenticationOutcome = {
  result: 'refused',
  why: 'the token webhook failed, so the token could not be checked',
}

/** Authenticates tokens with a webhook. */
export function tokenWebhook(parts: TokenWebhookParts): Authenticator {
  const answers = new TtlCache<AuthenticationOutcome>(parts.clock)
  return ({ authorization, audiences = parts.audiences, trace }) => {
    const token = bearerToken(authorization)
    if (token === undefined) return none
    const key = hash('sha256', JSON.stringify([token, audiences]), 'base64')
    return answers.get(key, async () => {
      try {
        return { value: await review(parts, { token, audiences, trace }), ttlMs: parts.ttlMs }
      } catch (error) {
        parts.onFailure(error)
        // A local limit, such as too many open files, says nothing about the token. Let the client retry.
        if (error instanceof NoFreeConnection)
          throw tooManyRequests('too many calls to the token webhook are in progress')
        return { value: unchecked, ttlMs: 0 }
      }
    })
  }
}

interface TokenQuestion {
  readonly token: string
  readonly audiences: readonly string[]
  readonly trace: Traced | undefined
}

async function review(
  { vendor, version, post }: TokenWebhookParts,
  { token, audiences, trace }: TokenQuestion,
): Promise<AuthenticationOutcome> {
  const apiVersion = apiVersionOf(vendor, 'authentication', version)
  const spec = { token, ...(audiences.length === 0 ? {} : { audiences: [...audiences] }) }
  const answer = await post({ apiVersion, kind: 'TokenReview', metadata: {}, spec }, trace?.traceHeaders ?? {})
  if (!isObject(answer) || own(answer, 'kind') !== 'TokenReview' || own(answer, 'apiVersion') !== apiVersion)
    throw new Error(`the token webhook did not return a TokenReview in ${apiVersion}`)
  const status = own(answer, 'status')
  if (!isObject(status)) throw new Error("the token webhook's response has no status")
  return outcomeOf(status, audiences)
}

const maxWhy = 500

function outcomeOf(status: JsonObject, audiences: readonly string[]): AuthenticationOutcome {
  if (own(status, 'authenticated') !== true) {
    const error = own(status, 'error')
    return typeof error === 'string' && error !== '' ? { result: 'refused', why: error.slice(0, maxWhy) } : refused
  }
  const user = userOf(own(status, 'user'))
  const named = texts(own(status, 'audiences') ?? [], 'status.audiences')
  // Without audiences in the response, the token is valid only for this server.
  if (named.length === 0) return { result: 'user', user }
  const meant = audiences.filter((audience) => named.includes(audience))
  return meant.length === 0 ? refused : { result: 'user', user, audiences: meant }
}

/**
 * Maximum number of characters in the name, in the uid, and in all groups and extra attributes combined. These values
 * appear in messages, logs and headers.
 */
const maxName = 4096
const maxUser = 128 * 1024

function userOf(userStatus: Json | undefined): User {
  const user = readUser(userStatus)
  if (user.name.length > maxName || user.uid.length > maxName)
    throw new Error(`the user in the token webhook's response has a name or uid longer than ${maxName} characters`)
  const texts = [...user.groups, ...[...user.extra].flatMap(([key, values]) => [key, ...values])]
  if (texts.reduce((sum, text) => sum + text.length, 0) > maxUser)
    throw new Error(`the groups and extra fields in the token webhook's response are longer than ${maxUser} characters`)
  return user
}

function readUser(userStatus: Json | undefined): User {
  if (!isObject(userStatus)) throw new Error("the token webhook's response has no user")
  const name = own(userStatus, 'username')
  if (typeof name !== 'string' || name === '')
    throw new Error("the user in the token webhook's response has no username")
  const uid = own(userStatus, 'uid') ?? ''
  if (typeof uid !== 'string') throw new Error("status.user.uid in the token webhook's response is not a string")
  const extra = own(userStatus, 'extra') ?? {}
  if (!isObject(extra)) throw new Error("status.user.extra in the token webhook's response is not an object")
  return {
    name,
    uid,
    groups: texts(own(userStatus, 'groups') ?? [], 'status.user.groups'),
    extra: new Map(Object.entries(extra).map(([key, values]) => [key, texts(values ?? null, 'status.user.extra')])),
  }
}

function texts(value: Json, place: string): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw new Error(`${place} in the token webhook's response is not a list of strings`)
  return value
}
