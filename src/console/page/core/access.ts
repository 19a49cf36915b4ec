/** Questions about access, asked of the server: why somebody may do something or not, and who may. */
import type { Client } from '../../../library/client-browser.ts'
import type { Kinds, Type } from './kinds.ts'

/** What somebody would do. */
export interface Action {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

export interface Rule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export interface Explanation {
  readonly allowed: boolean
  readonly reason?: string
  readonly nearRules?: readonly { rule?: Rule; role?: string; binding?: string; lacks?: readonly string[] }[]
  readonly smallestRule?: Rule
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

/** Asks a question of the group `ops`; the answer is the status of what comes back. */
export async function ask<T>(around: Asking, plural: string, spec: object): Promise<T> {
  const type = around.kinds.builtIn(plural, 'ops')
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

export async function explainAccess(around: Asking, { action, user, groups }: Asked): Promise<Explanation> {
  const who = { ...(user ? { user } : {}), ...(groups !== undefined && groups.length > 0 ? { groups } : {}) }
  return await ask(around, 'accessexplanations', { resourceAttributes: action, ...who })
}

export async function whoCan(around: Asking, action: Action): Promise<WhoCan> {
  return await ask(around, 'whocans', { resourceAttributes: action })
}

/** What is done with objects of a type. */
export function actionOn({ group, plural }: Type, verb: string, where: Partial<Action> = {}): Action {
  return { verb, group, resource: plural, ...where }
}
