/**
 * Declares the variables of expressions in admission policies and match conditions, and compiles these expressions.
 * Objects have no static types, because a policy may match more than one kind. Only the type checks whose results
 * appear in the status of a policy assume a specific kind.
 */
import type { FindStruct } from './checker.ts'
import type { DeclaredType } from './declared-type.ts'
import { dynamicType } from './json-values.ts'
import { type Compiled, compileRule } from './program.ts'
import type { ReadPattern } from './regex.ts'
import { type CelType, formatType, listOf, mapOf, types } from './types.ts'

const plain = (type: CelType, form: DeclaredType['form']): DeclaredType => ({
  type,
  form,
  maxElements: Number.POSITIVE_INFINITY,
  minBytes: 1,
})
const text = plain(types.string, 'string')
const integer = plain(types.int, 'integer')
const time = plain(types.timestamp, 'date-time')
const texts: DeclaredType = { ...plain(listOf(types.string), 'list'), elem: text }
const textMap: DeclaredType = { ...plain(mapOf(types.string, types.string), 'map'), elem: text }
const textLists: DeclaredType = { ...plain(mapOf(types.string, texts.type), 'map'), elem: texts }

function objectOf(members: { readonly [name: string]: DeclaredType }): DeclaredType {
  const fields = new Map(Object.entries(members))
  return { type: { kind: 'object', fields }, form: 'object', fields, maxElements: 0, minBytes: 2 }
}

const kind = objectOf({ group: text, version: text, kind: text })
const resource = objectOf({ group: text, version: text, resource: text })
const userInfo = objectOf({ username: text, uid: text, groups: texts, extra: textLists })

const request = objectOf({
  kind,
  resource,
  subResource: text,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: text,
  name: text,
  namespace: text,
  operation: text,
  userInfo,
  dryRun: plain(types.bool, 'boolean'),
  options: dynamicType,
})

const namespaceMetadata = objectOf({
  name: text,
  generateName: text,
  namespace: text,
  labels: textMap,
  annotations: textMap,
  UID: text,
  creationTimestamp: time,
  deletionGracePeriodSeconds: integer,
  deletionTimestamp: time,
  generation: integer,
  resourceVersion: text,
  finalizers: texts,
})

const namespaceObject = objectOf({
  metadata: namespaceMetadata,
  spec: objectOf({ finalizers: texts }),
  status: objectOf({ phase: text }),
})

const opaque = (type: CelType) => plain(type, 'dynamic')

/** Name of a variable that policy expressions can use. */
export type VariableName =
  | 'object'
  | 'oldObject'
  | 'request'
  | 'namespaceObject'
  | 'params'
  | 'authorizer'
  | 'authorizer.requestResource'
  | 'variables'

const authorizers: readonly (readonly [VariableName, DeclaredType])[] = [
  ['authorizer', opaque(types.authorizer)],
  ['authorizer.requestResource', opaque({ kind: 'resource_check' })],
]

/** Types of the variables that every policy expression can use. */
export const declared = { object: dynamicType, request, namespaceObject }

/** The variables that a policy expression can use in addition to `object`, `oldObject` and `request`. */
export interface Uses {
  readonly params: boolean
  readonly authorizer: boolean
  /** Types of the policy's own variables that this expression can use. */
  readonly variables?: ReadonlyMap<string, CelType>
  /** Type of the object. Undefined if the type is unknown. */
  readonly objectType?: DeclaredType | undefined
  readonly paramsType?: DeclaredType | undefined
}

/** Returns the variables that an expression can use, with their types. Values must be passed in this order. */
export function variablesFor(uses: Uses): ReadonlyMap<VariableName, DeclaredType> {
  const { params, authorizer, variables, objectType = dynamicType, paramsType = dynamicType } = uses
  const fields = variables && new Map([...variables].map(([name, type]) => [name, opaque(type)] as const))
  return new Map<VariableName, DeclaredType>([
    ['object', objectType] as const,
    ['oldObject', objectType] as const,
    ['request', request] as const,
    ['namespaceObject', namespaceObject] as const,
    ...(params ? [['params', paramsType] as const] : []),
    ...(authorizer ? authorizers : []),
    ...(fields ? [['variables', { ...opaque({ kind: 'object', fields }), fields }] as const] : []),
  ])
}

/** The result type that a policy requires of an expression. */
export type ResultKind = 'bool' | 'string' | 'string or null' | 'any' | 'Object' | 'list(JSONPatch)'

/** How to compile the expressions of a policy. */
export interface Compiling {
  readonly readPattern: ReadPattern
  /**
   * Kubernetes minor version that determines which functions the expression may use. If undefined, all functions are
   * allowed.
   */
  readonly version?: number | undefined
}

interface Wanted extends Compiling {
  readonly result: ResultKind
  readonly findStruct?: FindStruct | undefined
}

/** Compiles an expression of a policy. Yields between steps, so that other work can run. */
export function* compileExpression(
  source: string,
  variables: ReadonlyMap<string, DeclaredType>,
  { result, ...options }: Wanted,
): Generator<void, Compiled> {
  const compiled = yield* compileRule(source, { ...options, variables, result: 'any' })
  if (compiled.outcome === 'invalid' || result === 'any') return compiled
  const typeText = formatType(compiled.program.type)
  if (result === 'string or null')
    return typeText === 'string' || typeText === 'null'
      ? compiled
      : { outcome: 'invalid', why: 'must evaluate to one of: [string null]' }
  return typeText === result ? compiled : { outcome: 'invalid', why: `must evaluate to ${result} but got ${typeText}` }
}
