/** What a scrape costs: as many series as there can be are written without holding up requests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exposer } from '../../../src/base/telemetry/exposition.ts'
import { Gauge, Histogram } from '../../../src/base/telemetry/metrics.ts'
import { assertBrief } from '../../support/effort.ts'

test('a scrape of as many series as there can be lets others in, and is shared', async () => {
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
