/** Authorization: each mode is a function that allows a request, denies it, or leaves the decision to the next mode. */
import {
  authenticatedUsers,
  nodeClientName,
  superusers,
  type User,
  unauthenticatedUsers,
} from '../../api/model/user.ts'
import type { Traced } from '../../base/telemetry/tracing/trace-context.ts'
import type { RequestSelectors } from './request-selectors.ts'

/** The attributes of a request for a resource. */
export interface ResourceAttributes {
  readonly resource: true
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** Parses the label and field selectors of the request. Undefined if it has none. */
  readonly selectors?: (() => RequestSelectors) | undefined
}

/** A request for a non-resource path such as `/healthz`. */
export interface PathAttributes {
  readonly resource: false
  readonly verb: string
  readonly path: string
}

/** A request to authorize: a user and the attributes of the action. */
export interface Question {
  readonly user: User
  readonly attributes: ResourceAttributes | PathAttributes
  /** The trace of the request to authorize. */
  readonly trace?: Traced
}

/** The decision of one or several authorization modes about a request. */
export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no opinion'
  /** Returns the reason for the decision, or ''. The reason is computed on demand, because it is rarely needed. */
  readonly reason: () => string
}

/** Decides whether a user is allowed to make a request. */
export type Authorizer = (question: Question) => Decision | Promise<Decision>

const nothing = () => ''
/** Allows the request without giving a reason. */
export const allow: Decision = { verdict: 'allow', reason: nothing }
/** Leaves the decision to the next authorization mode. */
export const noOpinion: Decision = { verdict: 'no opinion', reason: nothing }
const forbidden: Decision = { verdict: 'no opinion', reason: () => 'everything is forbidden' }

/** The authorizer of the mode AlwaysAllow. */
export const alwaysAllow: Authorizer = () => allow
/** The authorizer of the mode AlwaysDeny. */
export const alwaysDeny: Authorizer = () => forbidden

/** Allows every request from members of `system:masters`. */
export const privilegedGroup: Authorizer = ({ user }) => (user.groups.includes(superusers) ? allow : noOpinion)

const agentSubresources = ['log', 'metrics', 'proxy', 'spec', 'stats']

/**
 * Allows API servers to use every endpoint of a node agent, in all authorization modes. Node agents check this
 * permission with access reviews. The user name cannot occur in requests to the API
 * (`apiserver/authn/node-client-certificates.ts`).
 */
export const nodeClient: Authorizer = ({ user, attributes }) => {
  if (user.name !== nodeClientName || !attributes.resource) return noOpinion
  const { group, plural, subresource } = attributes
  return group === '' && plural === 'nodes' && agentSubresources.includes(subresource) ? allow : noOpinion
}

/**
 * Allows anyone to read certain paths, so that probes work without credentials. Only exact paths match. An access
 * review can name a user who belongs to neither `system:authenticated` nor `system:unauthenticated`. Such a user cannot
 * send requests and is not allowed.
 *
 * The reason comes from `explainBy` if that authorizer also allows the path. The reason is evaluated only on demand.
 */
export function openPaths(paths: readonly string[], explainBy: Authorizer): Authorizer {
  return (question) => {
    const { user, attributes } = question
    if (attributes.resource || attributes.verb !== 'get') return noOpinion
    const { groups } = user
    const isSender = groups.includes(authenticatedUsers) || groups.includes(unauthenticatedUsers)
    if (!isSender || !paths.includes(attributes.path)) return noOpinion
    return { verdict: 'allow', reason: () => reasonToAllow(explainBy(question)) }
  }
}

function reasonToAllow(decision: Decision | Promise<Decision>): string {
  return !(decision instanceof Promise) && decision.verdict === 'allow' ? decision.reason() : ''
}

/**
 * Combines authorizers. The first verdict applies. Without a verdict, the request is denied. The result is synchronous
 * if the results of the authorizers are.
 */
export function union(authorizers: readonly Authorizer[]): Authorizer {
  const ask = (question: Question, from: number, heard: readonly Decision[]): Decision | Promise<Decision> => {
    let undecided = heard
    for (let i = from; i < authorizers.length; i++) {
      const decision = authorizers[i]!(question)
      if (decision instanceof Promise) {
        const before = undecided
        return decision.then((later) =>
          later.verdict === 'no opinion' ? ask(question, i + 1, [...before, later]) : later,
        )
      }
      if (decision.verdict !== 'no opinion') return decision
      if (decision !== noOpinion) undecided = [...undecided, decision]
    }
    return { verdict: 'no opinion', reason: () => reasonsOf(undecided) }
  }
  return (question) => ask(question, 0, [])
}

function reasonsOf(decisions: readonly Decision[]): string {
  return decisions
    .map(({ reason }) => reason())
    .filter((reason) => reason !== '')
    .join(', ')
}
