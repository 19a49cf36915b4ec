/** Tests that a scrape with the maximum number of series does not delay requests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exposer } from '../../../src/base/telemetry/exposition.ts'
import { Gauge, Histogram } from '../../../src/base/telemetry/metrics.ts'
import { processMetrics } from '../../../src/base/telemetry/process-metrics.ts'
import { assertBrief } from '../../support/effort.ts'
import { until } from '../../support/until.ts'

test('a metrics scrape with the maximum number of series yields to other tasks, and concurrent scrapes share its result', async () => {
  const histogram = new Histogram({ name: 'h', help: 'a "b"\\\n', labels: ['a'] }, [1, 2, 5, 10, 20, 50, 100, 200, 500])
  for (let i = 0; i < 5000; i++) histogram.at(`"${i}\\\n`).observe(i)
  const exposer = new Exposer([histogram, new Gauge({ name: 'g', help: '', labels: [] }, () => [[[], Number.NaN]])])
  await exposer.expose()
  const { result } = await assertBrief(50, () => Promise.all([exposer.expose(), exposer.expose()]))
  const [one, other] = result
  assert.equal(one, other)
  const begin = '\n# HELP h a "b"\\\\\\n\n# TYPE h histogram\nh_bucket{a="\\"0\\\\\\n",le="1"} 1\n'
  assert.ok(one.text.includes(begin))
  assert.ok(one.text.endsWith('\n# TYPE g gauge\ng NaN\n'))
  assert.equal(one.text.match(/^h_count/gm)?.length, 5000)
  assert.match(one.text, /^process_resident_memory_bytes \d+$/m)
})

test('process metrics have the names that Node.js dashboards expect', async () => {
  const { text, mediaType } = await new Exposer([]).expose()
  assert.equal(mediaType, 'text/plain; version=0.0.4; charset=utf-8')
  const types = Object.fromEntries([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]))
  const gauges = [
    ...['process_start_time_seconds', 'process_resident_memory_bytes', 'process_virtual_memory_bytes'],
    ...['process_heap_bytes', 'process_open_fds', 'process_max_fds', 'nodejs_eventloop_lag_seconds'],
    ...['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map((part) => `nodejs_eventloop_lag_${part}_seconds`),
    ...['resources', 'handles', 'requests'].flatMap((what) => [`nodejs_active_${what}`, `nodejs_active_${what}_total`]),
    ...['nodejs_heap_size_total_bytes', 'nodejs_heap_size_used_bytes', 'nodejs_external_memory_bytes'],
    ...['total', 'used', 'available'].map((size) => `nodejs_heap_space_size_${size}_bytes`),
    'nodejs_version_info',
  ]
  const counters = ['', 'user_', 'system_'].map((part) => `process_cpu_${part}seconds_total`)
  assert.deepEqual(types, {
    ...Object.fromEntries(gauges.map((name) => [name, 'gauge'])),
    ...Object.fromEntries(counters.map((name) => [name, 'counter'])),
    nodejs_gc_duration_seconds: 'histogram',
  })
  const values = new Map([...text.matchAll(/^(process_\S+) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]))
  const memory = process.memoryUsage.rss()
  const resident = values.get('process_resident_memory_bytes')!
  assert.ok(resident > memory / 2 && resident < memory * 2, `${resident} and ${memory}`)
  assert.ok(values.get('process_cpu_seconds_total')! <= process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6)
  assert.ok(values.get('process_open_fds')! > 2 && values.get('process_open_fds')! <= values.get('process_max_fds')!)
  assert.match(text, /^nodejs_heap_space_size_used_bytes\{space="old"\} \d+$/m)
})

test('metrics of event loop delays have no value before the first delay is recorded', async () => {
  const metrics = processMetrics().filter(({ name }) => /^nodejs_eventloop_lag_\w+_seconds$/.test(name))
  const read = () => metrics.flatMap((metric) => [...metric.samples()].map(({ value }) => value))
  // Reading the metrics starts a new measurement period.
  read()
  assert.deepEqual(read(), [])
  const values = await until(
    async () => read(),
    ({ length }) => length > 0,
  )
  assert.equal(values.length, 7)
  for (const value of values) assert.ok(value >= 0 && value < 600, `${values}`)
})
