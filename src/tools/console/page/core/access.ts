/**
 * Asks the server why a user may or may not perform an action, and who may perform it. Asking for the reason requires
 * permission. For users without this permission, the reason is derived from their own rules, which every user may read.
 */
import { explainByOwnRules, type OwnRules } from '../../../../apiserver/authz/rbac/own-rules.ts'
import type { PolicyRule } from '../../../../apiserver/authz/rbac/rule.ts'
import { type Client, StatusError } from '../../../../client/library/client-browser.ts'
import { refusedAction } from '../../../../client/requests/refused-action.ts'
import type { Kinds } from './kinds.ts'

/** An action to check: a verb on a resource or on a non-resource path. */
export type Action = ResourceAction | PathAction

export interface ResourceAction {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

export interface PathAction {
  readonly verb: string
  readonly path: string
}

export type Rule = PolicyRule

export interface Explanation {
  readonly allowed: boolean
  readonly reason?: string
  readonly nearRules?: readonly { rule?: Rule; role?: string; binding?: string; lacks?: readonly string[] }[]
  readonly smallestRule?: Rule
  /**
   * Whether the explanation is based only on the user's own rules, without the roles and bindings that contain them.
   */
  readonly byOwnRules?: boolean
}

export interface Subject {
  readonly kind?: string
  readonly name?: string
  readonly namespace?: string
  readonly role?: string
  readonly binding?: string
}

export interface WhoCan {
  readonly subjects: readonly Subject[]
  readonly incomplete?: boolean
  readonly notes?: readonly string[]
}

/**
 * Creates a review object and returns the status of the response. `question` is the review's plural name, such as
 * `whocans` in the group `ops`, or `plural.group` for another group.
 */
export async function ask<T>(consoleContext: Asking, question: string, spec: object): Promise<T> {
  const [plural = '', group = 'ops'] = question.split('.', 2)
  const type = consoleContext.kinds.builtIn(plural, group)
  if (type === undefined) throw new Error(`this server does not serve ${plural}`)
  const answered = await consoleContext.client.create(type, { metadata: {}, spec })
  return answered.status as T
}

export interface Asking {
  readonly client: Client
  readonly kinds: Kinds
}

export interface Asked {
  readonly action: Action
  /** The user whose access is checked. Defaults to the signed-in user. */
  readonly user?: string
  readonly groups?: readonly string[]
}

/**
 * Explains why a user may or may not perform an action. For the signed-in user, an explanation is always possible,
 * because it can be derived from the user's own rules.
 */
export async function explainAccess(
  consoleContext: Asking,
  { action, user, groups = [] }: Asked,
): Promise<Explanation> {
  const who = { ...(user ? { user } : {}), ...(groups.length > 0 ? { groups } : {}) }
  try {
    return await ask(consoleContext, 'accessexplanations', { ...questionOf(action), ...who })
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 403 || user || groups.length > 0) throw error
    return await explainForOneself(consoleContext, action)
  }
}

export async function whoCan(consoleContext: Asking, action: ResourceAction): Promise<WhoCan> {
  return await ask(consoleContext, 'whocans', { resourceAttributes: action })
}

/** Returns the denied action, or undefined if a missing permission did not cause the error. */
export function actionRefused({ code, message }: StatusError): Action | undefined {
  const refused = code === 403 ? refusedAction(message) : undefined
  if (refused === undefined) return undefined
  const { user: _, path, verb, ...resource } = refused
  return path === '' ? { verb, ...resource } : { verb, path }
}

function questionOf(action: Action) {
  return 'path' in action ? { nonResourceAttributes: action } : { resourceAttributes: action }
}

async function explainForOneself(consoleContext: Asking, action: Action): Promise<Explanation> {
  const namespace = ('path' in action ? '' : action.namespace) || 'default'
  const [{ allowed, reason = '' }, rules] = await Promise.all([
    ask<Explanation>(consoleContext, 'selfsubjectaccessreviews.authorization', questionOf(action)),
    ask<OwnRules>(consoleContext, 'selfsubjectrulesreviews.authorization', { namespace }),
  ])
  return { allowed, reason, byOwnRules: true, ...(allowed ? {} : explainByOwnRules(attributesOf(action), rules)) }
}

function attributesOf(action: Action) {
  if ('path' in action) return { resource: false as const, ...action }
  const { verb, group, resource, subresource = '', namespace = '', name = '' } = action
  return { resource: true as const, version: '', verb, group, plural: resource, subresource, namespace, name }
}
