/** Parses a Stage object. Instead of ignoring unsupported fields, throws an error that names them. */
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import { array, fields, number, object, text } from './fields.ts'
import { compileQuery, type Query } from './query.ts'
import {
  type Delay,
  type FinalizerChange,
  type Next,
  type PatchTemplate,
  type Stage,
  type StageEvent,
  type StagePatch,
  type StageResource,
  type StepName,
  stepNames,
} from './stage.ts'
import { StageError } from './stage-error.ts'

export interface StageReaderOptions {
  /** Compiles templates in patches. If undefined, stages with templates are rejected. */
  readonly compileTemplate?: (text: string) => PatchTemplate
}

/** Parses a stage. Throws a StageError that names the stage and the field. */
export function readStage(value: Json, options: StageReaderOptions = {}): Stage {
  const name = nameOf(value)
  try {
    const { spec } = fields(value, 'the stage', ['apiVersion', 'kind', 'metadata', 'spec', 'status'])
    return readSpec(name, spec, options)
  } catch (error) {
    if (error instanceof StageError) throw new StageError(`stage ${JSON.stringify(name)}: ${error.message}`)
    throw error
  }
}

function nameOf(value: Json): string {
  const metadata = isObject(value) ? own(value, 'metadata') : undefined
  const name = isObject(metadata) ? own(metadata, 'name') : undefined
  if (typeof name !== 'string' || name === '') throw new StageError('the stage has no metadata.name')
  return name
}

function readSpec(name: string, value: Json | undefined, options: StageReaderOptions): Stage {
  // `immediateNextStage` is accepted but has no effect, because the next stage always follows immediately.
  const spec = fields(value, 'spec', [
    ...['resourceRef', 'selector', 'weight', 'weightFrom', 'delay', 'next', 'immediateNextStage'],
  ])
  const resource = readResource(spec.resourceRef)
  const isPod = resource.apiVersion === 'v1' && resource.kind === 'Pod'
  const isNode = resource.apiVersion === 'v1' && resource.kind === 'Node'
  const next = readNext(spec.next, { ...options, defaultPatch: isPod || isNode ? 'strategic' : 'merge' })
  if (!isPod && next.step !== undefined) throw new StageError('spec.next.step: supported only in stages for pods')
  if (isNode && next.delete)
    throw new StageError(
      'spec.next.delete: stages for nodes support only event, finalizers, statusTemplate and patches',
    )
  return {
    name,
    resource,
    matches: readSelector(spec.selector),
    weight: number(spec.weight, 'spec.weight') ?? 0,
    ...query('weightFrom', expression(spec.weightFrom, 'spec.weightFrom')),
    delay: readDelay(spec.delay),
    next,
  }
}

/** Matches `v1` or a group with a version, such as `apps/v1`. */
const apiVersionPattern = /^(?:[a-z0-9][a-z0-9.-]{0,251}\/)?v\d[a-z0-9]{0,20}$/
const kindPattern = /^[A-Za-z][A-Za-z0-9]{0,62}$/

function readResource(value: Json | undefined): StageResource {
  const { apiGroup, kind } = fields(value, 'spec.resourceRef', ['apiGroup', 'kind'])
  const apiVersion = text(apiGroup || 'v1', 'spec.resourceRef.apiGroup')
  if (!apiVersionPattern.test(apiVersion))
    throw new StageError('spec.resourceRef.apiGroup must be v1 or a group with its version, such as apps/v1')
  const name = text(kind, 'spec.resourceRef.kind')
  if (!kindPattern.test(name)) throw new StageError('spec.resourceRef.kind is not a valid kind name')
  return { apiVersion, kind: name }
}

/**
 * Maximum number of requirements in a selector. The limit is needed because every changed object is matched against all
 * stages.
 */
const maxRequirements = 64
const maxPatches = 16

type Requirement = (object: JsonObject) => boolean

/** Parses a selector. A stage without a selector matches no object. An empty selector matches all objects. */
function readSelector(value: Json | undefined): Requirement {
  if (value === undefined || value === null) return () => false
  const knownFields = ['matchLabels', 'matchAnnotations', 'matchExpressions']
  const { matchLabels, matchAnnotations, matchExpressions } = fields(value, 'spec.selector', knownFields)
  const requirements: Requirement[] = [
    ...members(matchLabels, 'labels'),
    ...members(matchAnnotations, 'annotations'),
    ...array(matchExpressions, 'spec.selector.matchExpressions').map(readExpression),
  ]
  if (requirements.length > maxRequirements)
    throw new StageError(`spec.selector has more than ${maxRequirements} requirements`)
  return (object) => requirements.every((holds) => holds(object))
}

function members(value: Json | undefined, part: 'labels' | 'annotations'): Requirement[] {
  const expectedMembers = value === undefined || value === null ? {} : object(value, `spec.selector.match of ${part}`)
  return Object.entries(expectedMembers).map(([key, text]) => {
    const query = compileQuery(`.metadata.${part}[${JSON.stringify(key)}]`)
    return (subject) => query(subject).includes(text ?? null)
  })
}

function readExpression(value: Json): Requirement {
  const where = 'spec.selector.matchExpressions'
  const { key, operator, values } = fields(value, where, ['key', 'operator', 'values'])
  const query = compileQuery(text(key, `${where}.key`))
  const texts = new Set(array(values, `${where}.values`).map(String))
  const isIn = (subject: JsonObject) => query(subject).some((result) => texts.has(String(result)))
  if (operator === 'Exists') return (subject) => query(subject).length > 0
  if (operator === 'DoesNotExist') return (subject) => query(subject).length === 0
  if (operator === 'In') return isIn
  if (operator === 'NotIn') return (subject) => !isIn(subject)
  throw new StageError(
    `${where}: the operator ${JSON.stringify(operator)} is not one of In, NotIn, Exists, DoesNotExist`,
  )
}

const delayFields = [
  'durationMilliseconds',
  'durationFrom',
  'jitterDurationMilliseconds',
  'jitterDurationFrom',
  'backoffFrom',
]

function readDelay(value: Json | undefined): Delay {
  if (value === undefined || value === null) return { durationMs: 0 }
  const delay = fields(value, 'spec.delay', delayFields)
  const jitterMs = number(delay.jitterDurationMilliseconds, 'spec.delay.jitterDurationMilliseconds')
  return {
    durationMs: number(delay.durationMilliseconds, 'spec.delay.durationMilliseconds') ?? 0,
    ...(jitterMs === undefined ? {} : { jitterMs }),
    ...query('durationFrom', expression(delay.durationFrom, 'spec.delay.durationFrom')),
    ...query('jitterFrom', expression(delay.jitterDurationFrom, 'spec.delay.jitterDurationFrom')),
    ...query('backoffFrom', expression(delay.backoffFrom, 'spec.delay.backoffFrom')),
  }
}

function query<N extends string>(name: N, content: Query | undefined): { readonly [K in N]?: Query } {
  return (content === undefined ? {} : { [name]: content }) as { readonly [K in N]?: Query }
}

function expression(value: Json | undefined, where: string): Query | undefined {
  if (value === undefined || value === null) return undefined
  const { expressionFrom } = fields(value, where, ['expressionFrom'])
  return compileQuery(text(expressionFrom, `${where}.expressionFrom`))
}

const nextFields = [
  ...['step', 'exitCodeFrom', 'reason', 'message', 'statusTemplate', 'statusSubresource', 'statusPatchAs'],
  ...['patches', 'event', 'finalizers', 'delete'],
]

interface NextReaderOptions extends StageReaderOptions {
  /** Type of patches that do not specify a type. */
  readonly defaultPatch: StagePatch['type']
}

function readNext(value: Json | undefined, options: NextReaderOptions): Next {
  const next = fields(value ?? {}, 'spec.next', nextFields)
  const { step, delete: isDeletion } = next
  const patches = readPatches(next, options)
  if (patches.length > 0 && isGiven(step))
    throw new StageError('spec.next: statusTemplate, patches and step are mutually exclusive')
  if (isGiven(step) && !stepNames.includes(step as StepName))
    throw new StageError(`spec.next.step: ${JSON.stringify(step)} is not one of ${stepNames.join(', ')}`)
  return {
    ...(isGiven(step) ? { step: step as StepName } : {}),
    patches,
    ...(isGiven(next.reason) ? { reason: text(next.reason, 'spec.next.reason') } : {}),
    ...(isGiven(next.message) ? { message: text(next.message, 'spec.next.message') } : {}),
    ...query('exitCodeFrom', expression(next.exitCodeFrom, 'spec.next.exitCodeFrom')),
    ...(isGiven(next.event) ? { event: readEvent(next.event) } : {}),
    ...(isGiven(next.finalizers) ? { finalizers: readFinalizers(next.finalizers) } : {}),
    delete: isDeletion === true,
  }
}

function isGiven(field: Json | undefined): boolean {
  return field !== undefined && field !== null && field !== ''
}

/** Reads `patches` and `statusTemplate`. The latter is a patch of the field `status`. */
function readPatches(
  { statusTemplate, statusSubresource, statusPatchAs, patches }: JsonObject,
  options: NextReaderOptions,
): StagePatch[] {
  const list = array(patches, 'spec.next.patches')
  if (list.length > maxPatches) throw new StageError(`spec.next.patches has more than ${maxPatches} patches`)
  const subresource = statusSubresource ?? 'status'
  const statusPatch = { subresource, root: 'status', template: statusTemplate!, impersonation: statusPatchAs ?? null }
  return [
    ...(isGiven(statusTemplate) ? [readPatch(statusPatch, 'spec.next.statusTemplate', options)] : []),
    ...list.map((patch, i) => readPatch(patch, `spec.next.patches[${i}]`, options)),
  ]
}

const patchTypes: readonly StagePatch['type'][] = ['json', 'merge', 'strategic']
const subresourcePattern = /^[a-z]{0,63}$/

function readPatch(value: Json, where: string, { compileTemplate, defaultPatch }: NextReaderOptions): StagePatch {
  const patch = fields(value, where, ['subresource', 'root', 'template', 'type', 'impersonation'])
  const subresource = text(patch.subresource ?? '', `${where}.subresource`)
  if (!subresourcePattern.test(subresource))
    throw new StageError(`${where}.subresource: ${JSON.stringify(subresource)} is not the name of a subresource`)
  const type = patchTypes.find((each) => each === (patch.type ?? defaultPatch))
  if (type === undefined)
    throw new StageError(`${where}.type: ${JSON.stringify(patch.type)} is not one of ${patchTypes.join(', ')}`)
  const root = text(patch.root ?? '', `${where}.root`)
  const impersonates = readImpersonation(patch.impersonation, where)
  const template = compileTemplate!(text(patch.template, `${where}.template`))
  return { type, subresource, root, template, impersonates }
}

function readImpersonation(value: Json | undefined, where: string): string | undefined {
  if (!isGiven(value)) return undefined
  const { username } = fields(value, `${where}.impersonation`, ['username'])
  const name = text(username, `${where}.impersonation.username`)
  if (name === '' || name.length > 256)
    throw new StageError(`${where}.impersonation.username must have 1 to 256 characters`)
  return name
}

function readEvent(value: Json | undefined): StageEvent {
  const { type = 'Normal', reason = '', message = '' } = fields(value, 'spec.next.event', ['type', 'reason', 'message'])
  if (type !== 'Normal' && type !== 'Warning')
    throw new StageError(`spec.next.event.type: ${JSON.stringify(type)} is neither Normal nor Warning`)
  return { type, reason: text(reason, 'spec.next.event.reason'), message: text(message, 'spec.next.event.message') }
}

function readFinalizers(value: Json | undefined): FinalizerChange {
  const where = 'spec.next.finalizers'
  const { add, remove, empty } = fields(value, where, ['add', 'remove', 'empty'])
  const names = (list: Json | undefined) =>
    array(list, where).map((item) => text(fields(item, where, ['value']).value, `${where}.value`))
  return { add: names(add), remove: names(remove), empty: empty === true }
}
