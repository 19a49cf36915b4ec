/**
 * Evaluates the metrics of a node and writes them in the Prometheus text format. The expressions come from users, so
 * the number of series, the size of the text and the total cost of the expressions are limited. A series whose
 * expression fails is omitted, and comments at the end of the text report the first failures.
 */
import { Double, Duration, Uint, type Value } from '../../../api/cel/values.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { StageError } from '../stages/stage-error.ts'
import { type Expression, type ExpressionScope, maxExpressionCost } from './expressions.ts'
import { type MetricRule, metricName } from './metric-objects.ts'

/** The variables available in each dimension. */
export interface MetricSubjects {
  readonly node: ExpressionScope
  readonly pods: readonly ExpressionScope[]
  readonly containers: readonly ExpressionScope[]
}

const maxSeries = 50_000
const maxTextBytes = 16 * 1024 * 1024
const maxTotalCost = 5_000_000
const maxLabelLength = 1024
const maxReportedFailures = 10
const chunkBytes = 32 * 1024

/** Yields the text in chunks. */
export async function* metricText(rules: readonly MetricRule[], subjects: MetricSubjects): AsyncGenerator<Buffer> {
  const writer = new MetricWriter()
  const slice = new TimeSlice()
  for (const family of familiesOf(rules)) {
    writer.begin(family[0]!)
    for (const rule of family)
      for (const scope of scopesOf(rule, subjects)) {
        writer.add(rule, scope)
        await slice.yieldIfDue()
        if (writer.size < chunkBytes) continue
        yield writer.take()
        slice.begin()
      }
  }
  writer.end()
  yield writer.take()
}

/** Groups metrics with the same name, as the format requires, and sorts the groups by name. */
function familiesOf(rules: readonly MetricRule[]): readonly (readonly MetricRule[])[] {
  const families = Map.groupBy(rules, ({ name }) => metricName(name))
  return [...families].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, family]) => family)
}

function scopesOf({ dimension }: MetricRule, { node, pods, containers }: MetricSubjects): readonly ExpressionScope[] {
  if (dimension === 'node') return [node]
  return dimension === 'pod' ? pods : containers
}

class MetricWriter {
  #text = ''
  #textBytes = 0
  #series = 0
  #cost = 0
  /** The label sets of the current family. Series with a repeated label set are omitted. */
  readonly #known = new Set<string>()
  readonly #failures: string[] = []
  #failed = 0

  /** Length of the text that has not been consumed yet. */
  get size(): number {
    return this.#text.length
  }

  take(): Buffer {
    const bytes = Buffer.from(this.#text)
    this.#textBytes += bytes.length
    this.#text = ''
    return bytes
  }

  begin({ name, help, kind }: MetricRule): void {
    this.#known.clear()
    const shown = metricName(name)
    if (help !== '') this.#text += `# HELP ${shown} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n`
    this.#text += `# TYPE ${shown} ${kind}\n`
  }

  /** Adds the series of one subject. */
  add(rule: MetricRule, scope: ExpressionScope): void {
    if (this.#isFull()) {
      this.#fail('the limits of series, text or expression costs are exceeded')
      return
    }
    try {
      const labels = rule.labels.map(
        ({ name, value }) => `${labelName(name)}="${escaped(this.#evaluate(value, scope, stringOf))}"`,
      )
      const key = labels.join()
      if (this.#known.has(key)) return
      const lines = this.#lines(rule, { labels, scope })
      this.#known.add(key)
      this.#series += lines.length
      this.#text += `${lines.join('\n')}\n`
    } catch (error) {
      if (!(error instanceof StageError)) throw error
      this.#fail(`${metricName(rule.name)}: ${error.message}`)
    }
  }

  end(): void {
    if (this.#failed === 0) return
    const failures = this.#failures.map((text) => `# ${text.replaceAll(/\s+/g, ' ').slice(0, maxLabelLength)}\n`)
    this.#text += `# ${this.#failed} series are missing\n${failures.join('')}`
  }

  #isFull(): boolean {
    return (
      this.#series >= maxSeries || this.#cost >= maxTotalCost || this.#textBytes + this.#text.length >= maxTextBytes
    )
  }

  #fail(why: string): void {
    this.#failed++
    this.#cost += maxExpressionCost
    if (this.#failures.length < maxReportedFailures && !this.#failures.includes(why)) this.#failures.push(why)
  }

  #lines(
    { name, value, buckets }: MetricRule,
    { labels, scope }: { readonly labels: readonly string[]; readonly scope: ExpressionScope },
  ): string[] {
    const line = (suffix: string, further: readonly string[], number: number) =>
      `${metricName(name)}${suffix}${braced([...labels, ...further])} ${numberText(number)}`
    if (value !== undefined) return [line('', [], this.#evaluate(value, scope, numberOf))]
    let count = 0
    let sum = 0
    const lines: string[] = []
    for (const { le, value: observations, isHidden } of buckets) {
      const observed = Math.trunc(this.#evaluate(observations, scope, numberOf))
      if (!(observed >= 0)) throw new StageError('a bucket has a negative number of observations')
      count += observed
      sum += le * observed
      if (!isHidden) lines.push(line('_bucket', [`le="${numberText(le)}"`], count))
    }
    return [...lines, line('_bucket', ['le="+Inf"'], count), line('_sum', [], sum), line('_count', [], count)]
  }

  #evaluate<T>(expression: Expression, scope: ExpressionScope, read: (value: Value) => T): T {
    const { value, cost } = expression(scope)
    this.#cost += cost
    return read(value)
  }
}

function braced(labels: readonly string[]): string {
  return labels.length === 0 ? '' : `{${labels.join()}}`
}

function labelName(name: string): string {
  return metricName(name).replaceAll(':', '_')
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function stringOf(value: Value): string {
  if (typeof value !== 'string') throw new StageError('a label is not a string')
  if (value.length > maxLabelLength) throw new StageError(`a label is longer than ${maxLabelLength} characters`)
  return value
}

/** Converts a value to a number. As in KWOK, a duration is converted to nanoseconds, and `true` to 1. */
function numberOf(value: Value): number {
  if (value instanceof Double || value instanceof Uint) return Number(value.value)
  if (value instanceof Duration) return Number(value.nanos)
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return Number(value)
  throw new StageError('the value is not a number')
}

function numberText(number: number): string {
  if (Number.isFinite(number) || Number.isNaN(number)) return String(number)
  return number > 0 ? '+Inf' : '-Inf'
}
