/**
 * Functions that query the authorizer, available since Kubernetes 1.27. A check is an immutable description of a
 * request. The caller provides a function that queries the authorizer and returns its decision synchronously, or throws
 * `AnswerPending` if the decision is not yet available.
 */
import { sizeOf } from '../compare.ts'
import { type Costs, define, type Functions, type Implementation } from '../overload.ts'
import { times, traversal } from '../size.ts'
import { CelError, Opaque, type Value } from '../values.ts'

/** The action that an expression asks the authorizer about. */
export interface CheckedAttributes {
  readonly user?: { readonly namespace: string; readonly serviceAccount: string } | undefined
  /** The URL path. Undefined if the request is for an API resource. */
  readonly path?: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly verb: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

/** The authorizer's decision, with its reason. */
export interface AuthorizerAnswer {
  readonly isAllowed: boolean
  readonly reason: string
  /** The error message. Undefined unless the authorizer failed. */
  readonly error?: string | undefined
}

/** Thrown while the authorizer is still deciding. The evaluation is repeated when the decision is known. */
export class AnswerPending {
  readonly answer: Promise<unknown>

  constructor(answer: Promise<unknown>) {
    this.answer = answer
  }
}

/** Returns the authorizer's decision on a check. Throws `AnswerPending` if the decision is not yet available. */
export type AskAuthorizer = (attributes: CheckedAttributes) => AuthorizerAnswer

/** The value of `authorizer` and of the checks that expressions build from it. */
class Check extends Opaque {
  readonly kind: 'authorizer' | 'path_check' | 'group_check' | 'resource_check'
  readonly attributes: CheckedAttributes
  readonly ask: AskAuthorizer

  constructor(kind: Check['kind'], attributes: CheckedAttributes, ask: AskAuthorizer) {
    super()
    this.kind = kind
    this.attributes = attributes
    this.ask = ask
  }

  get text(): string {
    return JSON.stringify(this.attributes)
  }

  with(attributes: Partial<CheckedAttributes>, kind = this.kind): Check {
    return new Check(kind, { ...this.attributes, ...attributes }, this.ask)
  }
}

const nothing: CheckedAttributes = { group: '', resource: '', subresource: '', namespace: '', name: '', verb: '' }

/** Returns the CEL variable `authorizer`. `ask` queries the authorizer. */
export function authorizerValue(ask: AskAuthorizer): Check {
  return new Check('authorizer', nothing, ask)
}

/** Returns an authorizer check for a resource, for example the value of `authorizer.requestResource`. */
export function resourceCheck(ask: AskAuthorizer, attributes: Partial<CheckedAttributes>): Check {
  return new Check('resource_check', { ...nothing, ...attributes }, ask)
}

class Decision extends Opaque {
  readonly kind = 'decision'
  readonly answer: AuthorizerAnswer

  constructor(answer: AuthorizerAnswer) {
    super()
    this.answer = answer
  }

  get text(): string {
    return JSON.stringify(this.answer)
  }
}

type Attribute = Exclude<keyof CheckedAttributes, 'user'>

function setting(attribute: Attribute, kind?: Check['kind']): Implementation {
  return (_, [check, value]) => (check as Check).with({ [attribute]: value as string }, kind)
}

const serviceAccount: Implementation = (_, [check, namespace, name]) =>
  (check as Check).with({ user: { namespace: namespace as string, serviceAccount: name as string } })

const check: Implementation = (_, [value, verb]) => {
  const { attributes, ask } = value as Check
  return new Decision(ask({ ...attributes, verb: verb as string }))
}

const path: Implementation = (_, [value, text]) => {
  if (text === '') throw new CelError('path must not be empty')
  return (value as Check).with({ path: text as string }, 'path_check')
}

/** Returns the cost of parsing a selector of this length. Assumes one requirement per two characters. */
const selectorCost = (length: number) => 10 + traversal(length) + times(50, Math.ceil(length / 2))
const selecting: Costs = {
  actual: ([, selector]) => selectorCost(sizeOf(selector!)),
  estimate: ([, selector]) => ({ cost: selectorCost(selector!.size.max) }),
}

/** The cost of an authorizer check. As in Kubernetes, the check costs as much as 350,000 ordinary calls. */
const checkCost = { actual: () => 350_000, estimate: () => ({ cost: 350_000 }) }

const answerOf = (value: Value | undefined) => (value as Decision).answer

export const authorization: Functions = new Map([
  ['path', [define('authorizer.(string) path_check', path)]],
  ['group', [define('authorizer.(string) group_check', setting('group', 'group_check'))]],
  ['serviceAccount', [define('authorizer.(string, string) authorizer', serviceAccount)]],
  ['resource', [define('group_check.(string) resource_check', setting('resource', 'resource_check'))]],
  ['subresource', [define('resource_check.(string) resource_check', setting('subresource'))]],
  ['namespace', [define('resource_check.(string) resource_check', setting('namespace'))]],
  ['name', [define('resource_check.(string) resource_check', setting('name'))]],
  [
    'fieldSelector',
    [{ ...define('resource_check.(string) resource_check', setting('fieldSelector'), selecting), since: 31 }],
  ],
  [
    'labelSelector',
    [{ ...define('resource_check.(string) resource_check', setting('labelSelector'), selecting), since: 31 }],
  ],
  [
    'check',
    [
      define('path_check.(string) decision', check, checkCost),
      define('resource_check.(string) decision', check, checkCost),
    ],
  ],
  ['allowed', [define('decision.() bool', (_, [value]) => answerOf(value).isAllowed)]],
  ['reason', [define('decision.() string', (_, [value]) => answerOf(value).reason)]],
  ['errored', [define('decision.() bool', (_, [value]) => answerOf(value).error !== undefined)]],
  ['error', [define('decision.() string', (_, [value]) => answerOf(value).error ?? '')]],
])
