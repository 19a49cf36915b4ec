/** Tests `--metrics-url`: the server reads custom and external metrics from another server. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import type { MetricsFile } from '../../../src/apiserver/file-metrics/metrics-file.ts'
import { removeTemporary, temporaryDirectory } from '../../../src/base/files/temporary-directory.ts'
import { type Log, openLog } from '../../../src/base/telemetry/log.ts'
import { followMetricsUrl } from '../../../src/server/assembly/metrics-url.ts'
import { serve } from '../../support/in-process.ts'
import { recordingServer } from '../../support/recording-server.ts'
import { until } from '../../support/until.ts'

const directory = temporaryDirectory('orch-test-metrics-url-')
after(() => removeTemporary(directory))

const content = (value: string) => JSON.stringify({ external: [{ metric: 'queue_depth', value }] })

test('autoscalers read metrics from --metrics-url', async (t) => {
  const backend = await recordingServer(t, (_, response) => response.end(content('30')))
  const file = join(directory, 'ca.pem')
  writeFileSync(file, backend.authority)
  const flags = [`--metrics-url=${backend.url}/metrics.json`, `--metrics-ca-file=${file}`]
  const server = await serve(t, ['--profile=kubernetes', ...flags])
  const path = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue_depth'
  const { body } = await until(
    () => server.client().get(path),
    ({ status }) => status === 200,
  )
  assert.equal(body.items[0].value, '30')
  assert.deepEqual([backend.requests[0]!.method, backend.requests[0]!.path], ['GET', '/metrics.json'])
})

test('--metrics-url and --metrics-file are mutually exclusive', async (t) => {
  const flags = ['--metrics-url=https://127.0.0.1', '--metrics-file=/none']
  await assert.rejects(serve(t, flags), /--metrics-url cannot be combined with --metrics-file/)
})

test('--metrics-ca-file requires --metrics-url', async (t) => {
  await assert.rejects(serve(t, ['--metrics-ca-file=/none']), /--metrics-ca-file requires --metrics-url/)
})

/** A clock whose timers run when the test advances it. */
function manualClock() {
  let time = 0
  let timers: { readonly at: number; readonly run: () => void }[] = []
  return {
    now: () => time,
    monotonic: () => time,
    after: (ms: number, run: () => void) => {
      const timer = { at: time + ms, run }
      timers.push(timer)
      return () => {
        timers = timers.filter((each) => each !== timer)
      }
    },
    get isWaiting() {
      return timers.length > 0
    },
    advance: (ms: number) => {
      time += ms
      const due = timers.filter(({ at }) => at <= time)
      timers = timers.filter(({ at }) => at > time)
      for (const { run } of due) run()
    },
  }
}

test('metrics are kept for a minute after the last successful request, and return after the next successful request', async (t) => {
  let answer = content('1')
  const backend = await recordingServer(t, (_, response) => response.end(answer))
  const clock = manualClock()
  const values: (string | undefined)[] = []
  const warnings: string[] = []
  const log = { warn: (message: string) => warnings.push(message) } as unknown as Log
  const replace = ({ external }: MetricsFile) => values.push(external[0]?.value)
  const { url, authority } = backend
  const stop = followMetricsUrl({ url, authority, vendor: vendorOf('kubernetes'), clock, log, replace })
  t.after(stop)
  const settle = async () => await until(async () => clock.isWaiting, Boolean)
  await settle()
  assert.deepEqual(values, ['1'])
  for (const bad of ['{', '[]', '{"external":[{"metric":"a"}]}', `"${'x'.repeat(2_000_000)}"`]) {
    answer = bad
    clock.advance(15_000)
    await settle()
  }
  assert.deepEqual(values, ['1', undefined])
  assert.equal(warnings.length, 4)
  answer = content('2')
  clock.advance(15_000)
  await settle()
  assert.deepEqual(values, ['1', undefined, '2'])
  stop()
  assert.equal(clock.isWaiting, false)
})

test('an unreachable server is logged in one line without a stack trace', async (t) => {
  for (const host of ['127.0.0.1', 'localhost']) {
    const lines: string[] = []
    const log = openLog({ write: (line) => lines.push(line) })
    const url = `https://${host}:1/metrics.json`
    const [clock, vendor] = [manualClock(), vendorOf('kubernetes')]
    t.after(followMetricsUrl({ url, authority: undefined, vendor, clock, log, replace: () => {} }))
    await until(async () => clock.isWaiting, Boolean)
    assert.equal(lines.length, 1)
    assert.match(
      lines[0]!,
      /^\S+ warning cannot read metrics from --metrics-url; will retry error="connect ECONNREFUSED [^"]+"\n$/,
    )
  }
})
