/**
 * Metrics of simulated nodes, as specified by Metric objects. Each object specifies a path and the metrics served at
 * that path.
 */
import type { Json } from '../../../api/json/json.ts'
import { type Sliced, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { array, fields, number, object, text } from '../stages/fields.ts'
import { StageError } from '../stages/stage-error.ts'
import { CompiledObjects } from './compiled-objects.ts'
import { metricFunctions } from './expression-functions.ts'
import { compileExpression, type Expression } from './expressions.ts'
import type { FollowedObjects } from './follow-objects.ts'

const dimensions = ['node', 'pod', 'container'] as const
const metricKinds = ['counter', 'gauge', 'histogram'] as const

/** A metric that has one series for the node, or one series for each pod or container of the node. */
export interface MetricRule {
  readonly name: string
  readonly help: string
  readonly kind: (typeof metricKinds)[number]
  readonly dimension: (typeof dimensions)[number]
  readonly labels: readonly { readonly name: string; readonly value: Expression }[]
  /** The value of a counter or gauge. The value of a histogram is in its buckets. */
  readonly value: Expression | undefined
  /** The buckets of a histogram, sorted by upper bound. */
  readonly buckets: readonly MetricBucket[]
}

interface MetricBucket {
  readonly le: number
  /** The number of observations in this bucket alone. */
  readonly value: Expression
  /**
   * Whether the bucket itself is omitted from the output. Its observations are then counted only in the following
   * buckets.
   */
  readonly isHidden: boolean
}

const maxMetrics = 128
const maxExpressions = 1024
const maxHelpLength = 1024
const maxNameLength = 256
const nodeParameter = '{nodeName}'

/** Reads a Metric object. Throws StageError. */
export function* readMetric(value: Json): Sliced<readonly MetricRule[]> {
  const spec = fields(object(value, 'the object').spec, 'spec', ['path', 'metrics'])
  readPath(spec.path)
  const metrics = array(spec.metrics, 'spec.metrics')
  if (metrics.length > maxMetrics) throw new StageError(`spec.metrics has more than ${maxMetrics} elements`)
  const budget = { expressions: maxExpressions }
  const rules: MetricRule[] = []
  for (const [i, each] of metrics.entries()) rules.push(yield* readRule(each, `spec.metrics[${i}]`, budget))
  for (const rule of rules) {
    const first = rules.find(({ name }) => metricName(name) === metricName(rule.name))!
    if (first.kind !== rule.kind)
      throw new StageError(`spec.metrics: ${rule.name} is declared as both ${first.kind} and ${rule.kind}`)
  }
  return rules
}

/**
 * The segments of the path. The segment `{nodeName}` represents the name of the node. As in KWOK, a path without this
 * segment serves the metrics of the node whose name is the same as the name of the object.
 */
function readPath(value: Json | undefined): readonly string[] {
  const path = text(value, 'spec.path')
  const segments = path.split('/').slice(1)
  if (segments[0] !== 'metrics') throw new StageError('spec.path must start with /metrics')
  if (path.length > maxNameLength) throw new StageError(`spec.path is longer than ${maxNameLength} characters`)
  const parameter = segments.find((segment) => segment !== nodeParameter && /[{}]/.test(segment))
  if (parameter !== undefined)
    throw new StageError(`spec.path: ${parameter} is not supported; the only parameter is ${nodeParameter}`)
  return segments
}

/** Returns a name that the Prometheus text format accepts, as `escaping=underscores` specifies. */
export function metricName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_:]/g, '_').replace(/^\d/, '_$&')
}

interface ExpressionBudget {
  expressions: number
}

const metricFields = ['name', 'help', 'kind', 'dimension', 'labels', 'value', 'buckets']

function* readRule(json: Json, where: string, budget: ExpressionBudget): Sliced<MetricRule> {
  const metric = fields(json, where, metricFields)
  const kind = oneOf(metric.kind, `${where}.kind`, metricKinds)
  const isHistogram = kind === 'histogram'
  if (isHistogram !== (metric.value === undefined))
    throw new StageError(`${where}.value is ${isHistogram ? 'not allowed for a histogram' : 'required'}`)
  const labels: { readonly name: string; readonly value: Expression }[] = []
  for (const [i, each] of array(metric.labels, `${where}.labels`).entries()) {
    const at = `${where}.labels[${i}]`
    const label = fields(each, at, ['name', 'value'])
    labels.push({ name: nameIn(label.name, `${at}.name`), value: yield* readExpression(label.value, at, budget) })
  }
  return {
    name: nameIn(metric.name, `${where}.name`),
    help: metric.help === undefined ? '' : text(metric.help, `${where}.help`).trim().slice(0, maxHelpLength),
    kind,
    dimension: oneOf(metric.dimension ?? 'node', `${where}.dimension`, dimensions),
    labels,
    value: isHistogram ? undefined : yield* readExpression(metric.value, where, budget),
    buckets: isHistogram ? yield* readBuckets(metric.buckets, `${where}.buckets`, budget) : [],
  }
}

function* readBuckets(value: Json | undefined, where: string, budget: ExpressionBudget): Sliced<MetricBucket[]> {
  const buckets: MetricBucket[] = []
  for (const [i, each] of array(value, where).entries()) {
    const at = `${where}[${i}]`
    const bucket = fields(each, at, ['le', 'value', 'hidden'])
    const le = number(bucket.le, `${at}.le`)
    if (le === undefined) throw new StageError(`${at}.le is required`)
    buckets.push({ le, value: yield* readExpression(bucket.value, at, budget), isHidden: bucket.hidden === true })
  }
  return buckets.sort((a, b) => a.le - b.le)
}

function* readExpression(value: Json | undefined, where: string, budget: ExpressionBudget): Sliced<Expression> {
  const source = text(value, `${where}.value`)
  if (budget.expressions-- <= 0) throw new StageError(`spec.metrics has more than ${maxExpressions} expressions`)
  try {
    return yield* compileExpression(source, metricFunctions)
  } catch (error) {
    if (error instanceof StageError) throw new StageError(`${where}.value: ${error.message}`, { cause: error })
    throw error
  }
}

function nameIn(value: Json | undefined, where: string): string {
  const name = text(value, where)
  if (name === '' || name.length > maxNameLength)
    throw new StageError(`${where} must have 1 to ${maxNameLength} characters`)
  return name
}

function oneOf<T extends string>(value: Json | undefined, where: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value)
  if (found === undefined) throw new StageError(`${where} is not one of ${allowed.join(', ')}`)
  return found
}

/** A Metric object whose expressions are compiled when the path is first requested. */
class MetricPath {
  readonly #object: Json
  /** The node whose metrics the path serves. Undefined if the path contains the name of the node. */
  readonly #node: string | undefined
  readonly #segments: readonly string[]
  #rules: Promise<readonly MetricRule[] | undefined> | undefined

  /** Throws StageError if the path is invalid. */
  constructor(json: Json) {
    this.#object = json
    const { metadata, spec } = object(json, 'the object')
    this.#segments = readPath(object(spec, 'spec').path)
    this.#node = this.#segments.includes(nodeParameter) ? undefined : text(object(metadata, 'metadata').name, 'name')
  }

  matches(segments: readonly string[], node: string): boolean {
    if (this.#node !== undefined && this.#node !== node) return false
    const expected = this.#segments.map((segment) => (segment === nodeParameter ? node : segment))
    return expected.length === segments.length && expected.every((segment, i) => segment === segments[i])
  }

  /** Returns the metrics, or undefined if the object is invalid. */
  rules(): Promise<readonly MetricRule[] | undefined> {
    this.#rules ??= new TimeSlice().run(readMetric(this.#object)).catch((error: unknown) => {
      if (error instanceof StageError) return undefined
      throw error
    })
    return this.#rules
  }
}

/** Finds the metrics that a node serves. */
export class MetricObjects {
  readonly #paths: CompiledObjects<MetricPath>

  constructor(followed: FollowedObjects) {
    this.#paths = new CompiledObjects(followed.informer, (json) => new MetricPath(json))
  }

  /** Returns the metrics at a path of a node, or undefined if no valid object specifies the path. */
  async at(segments: readonly string[], node: string): Promise<readonly MetricRule[] | undefined> {
    for (const path of this.#paths.all) {
      const rules = path.matches(segments, node) ? await path.rules() : undefined
      if (rules !== undefined) return rules
    }
    return undefined
  }
}
