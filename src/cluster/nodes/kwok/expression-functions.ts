/**
 * The functions that KWOK adds to CEL. A function with a pod or node parameter can also be called as a method of the
 * pod or node.
 */
import { Budget } from '../../../api/cel/budget.ts'
import { quantityOf, quantityValue } from '../../../api/cel/functions/quantities.ts'
import { dynamicType, JsonMap } from '../../../api/cel/json-values.ts'
import { define, type Functions, type Implementation, joinTables, type Overload } from '../../../api/cel/overload.ts'
import { readDateTime } from '../../../api/cel/time-text.ts'
import { CelError, Double, Timestamp, type Value } from '../../../api/cel/values.ts'
import { isObject, type Json, type JsonObject } from '../../../api/json/json.ts'

/** The budget of an evaluation, together with the time that `Now` returns during the evaluation. */
export class EvaluationBudget extends Budget {
  readonly now: number

  constructor(limit: number, now: number) {
    super(limit)
    this.now = now
  }
}

/** Measures a pod or a node. If a container is given, returns only that container's share. */
export interface Measurements {
  /** Returns the current usage in cores or bytes. */
  usage(resource: string, container: string | undefined): number
  /** Returns the total usage in core-seconds or byte-seconds. */
  cumulativeUsage(resource: string, container: string | undefined): number
  /** Number of containers that have started, including restarts. */
  startedContainers(): number
  isReady(container: string | undefined): boolean
  restartCount(container: string | undefined): number
}

interface SubjectParts {
  /** Map fields that an expression may access without checking whether they exist. */
  readonly maps: typeof objectMaps | typeof containerMaps
  readonly now: number
  readonly measurements?: Measurements | undefined
}

const objectMaps = { metadata: { labels: {}, annotations: {} } }
const containerMaps = { resources: { limits: {}, requests: {} } }

/** The value of one of the variables `pod`, `node` and `container`. */
export class Subject extends JsonMap {
  /** Seconds since the object was created. */
  readonly ageSeconds: number
  readonly measurements: Measurements | undefined

  constructor(object: JsonObject, { maps, now, measurements }: SubjectParts) {
    super(withMaps(object, maps), { ...dynamicType, form: 'map', elem: dynamicType })
    this.ageSeconds = ageOf(object, now)
    this.measurements = measurements
  }
}

function withMaps(object: JsonObject, maps: SubjectParts['maps']): JsonObject {
  const completed = Object.entries(maps).map(([name, fields]) => {
    const part = object[name]
    return [name, { ...fields, ...(isObject(part) ? part : {}) }] as const
  })
  return { ...object, ...Object.fromEntries(completed) }
}

function ageOf({ metadata }: JsonObject, now: number): number {
  const created = isObject(metadata) ? Date.parse(String(metadata.creationTimestamp)) : Number.NaN
  return Number.isNaN(created) ? 0 : Math.max(0, now - created) / 1000
}

function subjectOf(value: Value | undefined): Subject {
  if (value instanceof Subject) return value
  throw new CelError('no such overload')
}

function measurementsOf(value: Value | undefined): Measurements {
  const { measurements } = subjectOf(value)
  if (measurements === undefined) throw new CelError('no such overload')
  return measurements
}

/** Returns a function and a method with the same name. `form` lists the parameters that follow the first parameter. */
function withMethod(
  first: string,
  form: readonly string[],
  [result, call]: readonly [string, Implementation],
): Overload[] {
  return [
    define(`(${[first, ...form].join(', ')}) ${result}`, call),
    define(`${first}.(${form.join(', ')}) ${result}`, call),
  ]
}

const instant = (millis: number) => new Timestamp(BigInt(millis) * 1_000_000n)
const secondsIn = (time: Value | undefined) => new Double(Number((time as Timestamp).nanos) / 1e9)
const now: readonly Overload[] = [
  define('() timestamp', ({ budget }) => {
    if (!(budget instanceof EvaluationBudget)) throw new CelError('no such overload')
    return instant(budget.now)
  }),
]
const nameIn = (value: Value | undefined) => value as string | undefined

/** The functions that are available in all expressions. */
export const usageFunctions: Functions = new Map<string, readonly Overload[]>([
  ['Now', now],
  ['now', now],
  ['Rand', [define('() double', () => new Double(Math.random()))]],
  ['Quantity', [define('(string) double', (_, [text]) => new Double(numberIn(text as string)))]],
  // Quantities have already been converted to numbers.
  ['AsApproximateFloat64', [define('double.() double', (_, [value]) => value!)]],
  ['SinceSecond', withMethod('dyn', [], ['double', (_, [subject]) => new Double(subjectOf(subject).ageSeconds)])],
  [
    'UnixSecond',
    [
      ...withMethod('timestamp', [], ['double', (_, [time]) => secondsIn(time)]),
      ...withMethod('string', [], ['double', (_, [text]) => secondsIn(readDateTime(text as string))]),
    ],
  ],
])

function numberIn(text: string): number {
  return Number(quantityOf(quantityValue(text))!.nanos) / 1e9
}

function measured(read: (measurements: Measurements, resource: string, container: string | undefined) => number) {
  const call: Implementation = (_, [subject, resource, container]) =>
    new Double(read(measurementsOf(subject), resource as string, nameIn(container)))
  return [
    ...withMethod('dyn', ['string'], ['double', call]),
    ...withMethod('dyn', ['string', 'string'], ['double', call]),
  ]
}

function ofContainer(result: string, read: (measurements: Measurements, container: string | undefined) => Value) {
  const call: Implementation = (_, [subject, container]) => read(measurementsOf(subject), nameIn(container))
  return [...withMethod('dyn', [], [result, call]), ...withMethod('dyn', ['string'], [result, call])]
}

const started = withMethod(
  'dyn',
  [],
  ['double', (_, [subject]) => new Double(measurementsOf(subject).startedContainers())],
)

/** The functions available in metrics, which can also read measurements. */
export const metricFunctions: Functions = joinTables([
  usageFunctions,
  new Map<string, readonly Overload[]>([
    ['Usage', measured((each, resource, container) => each.usage(resource, container))],
    ['CumulativeUsage', measured((each, resource, container) => each.cumulativeUsage(resource, container))],
    ['StartedContainersTotal', started],
    ['startedContainersTotal', started],
    ['Ready', ofContainer('bool', (each, container) => each.isReady(container))],
    ['RestartCount', ofContainer('double', (each, container) => new Double(each.restartCount(container)))],
  ]),
])

/** Returns the variable `pod` or `node`. Without measurements, metric functions fail. */
export function objectSubject(object: Json, now: number, measurements?: Measurements): Subject {
  return new Subject(isObject(object) ? object : {}, { maps: objectMaps, now, measurements })
}

/** Returns the variable `container`. */
export function containerSubject(container: Json, now: number): Subject {
  return new Subject(isObject(container) ? container : {}, { maps: containerMaps, now })
}
