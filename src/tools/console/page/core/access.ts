/**
 * Questions about access, asked of the server: why somebody may do something or not, and who may. To ask why is a right of
 * its own; whoever lacks it is told what everybody may ask for: their own rules, and which of them come nearest.
 */
import { explainByOwnRules, type OwnRules } from '../../../../apiserver/authz/rbac/own-rules.ts'
import type { PolicyRule } from '../../../../apiserver/authz/rbac/rule.ts'
import { type Client, StatusError } from '../../../../client/library/client-browser.ts'
import { refusedAction } from '../../../../client/requests/refused-action.ts'
import type { Kinds } from './kinds.ts'

/** What somebody would do, to a resource or to a path that is none. */
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
  /** Whether this is what the user's own rules say, without the roles and bindings that they come from. */
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

/** Asks a question: `whocans` of the group `ops`, `plural.group` of another. The answer is the status of what comes back. */
export async function ask<T>(around: Asking, question: string, spec: object): Promise<T> {
  const [plural = '', group = 'ops'] = question.split('.', 2)
  const type = around.kinds.builtIn(plural, group)
  if (type === undefined) throw new Error(`this server does not serve ${plural}`)
  const answered = await around.client.create(type, { metadata: {}, spec })
  return answered.status as T
}

export interface Asking {
  readonly client: Client
  readonly kinds: Kinds
}

export interface Asked {
  readonly action: Action
  /** Another user than the one who is signed in. */
  readonly user?: string
  readonly groups?: readonly string[]
}

/** Why somebody may do something or not; for oneself in any case, if need be by one's own rules alone. */
export async function explainAccess(around: Asking, { action, user, groups = [] }: Asked): Promise<Explanation> {
  const who = { ...(user ? { user } : {}), ...(groups.length > 0 ? { groups } : {}) }
  try {
    return await ask(around, 'accessexplanations', { ...questionOf(action), ...who })
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 403 || user || groups.length > 0) throw error
    return await explainForOneself(around, action)
  }
}

export async function whoCan(around: Asking, action: ResourceAction): Promise<WhoCan> {
  return await ask(around, 'whocans', { resourceAttributes: action })
}

/** What was refused; undefined where it was not for want of rights. */
export function actionRefused({ code, message }: StatusError): Action | undefined {
  const refused = code === 403 ? refusedAction(message) : undefined
  if (refused === undefined) return undefined
  const { user: _, path, verb, ...resource } = refused
  return path === '' ? { verb, ...resource } : { verb, path }
}

function questionOf(action: Action) {
  return 'path' in action ? { nonResourceAttributes: action } : { resourceAttributes: action }
}

async function explainForOneself(around: Asking, action: Action): Promise<Explanation> {
  const namespace = ('path' in action ? '' : action.namespace) || 'default'
  const [{ allowed, reason = '' }, rules] = await Promise.all([
    ask<Explanation>(around, 'selfsubjectaccessreviews.authorization', questionOf(action)),
    ask<OwnRules>(around, 'selfsubjectrulesreviews.authorization', { namespace }),
  ])
  return { allowed, reason, byOwnRules: true, ...(allowed ? {} : explainByOwnRules(attributesOf(action), rules)) }
}

function attributesOf(action: Action) {
  if ('path' in action) return { resource: false as const, ...action }
  const { verb, group, resource, subresource = '', namespace = '', name = '' } = action
  return { resource: true as const, version: '', verb, group, plural: resource, subresource, namespace, name }
}
