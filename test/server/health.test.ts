/** Tests health checks, including how excluded and unknown checks are reported. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '../support/in-process.ts'

test('the health response lists excluded checks and reports unknown exclusions', async (t) => {
  const client = (await serve(t)).client()
  const lines = async (path: string) => {
    const { status, text } = await client.get(path)
    assert.equal(status, 200, text)
    return text.trimEnd().split('\n')
  }
  const both = await lines('/readyz?verbose&exclude=store&exclude=ping')
  assert.ok(both.includes('[+]store excluded: ok') && both.includes('[+]ping excluded: ok'))
  assert.ok(!both.some((line) => line.startsWith('warn')))
  const unknown = await lines('/readyz?verbose&exclude=ping&exclude=nosuch&exclude=a%0Ab')
  const warn = 'warn: some health checks cannot be excluded: no matches for "nosuch", "a\\nb"'
  assert.deepEqual(unknown.slice(-2), [warn, 'readyz check passed'])
  const many = Array.from({ length: 50 }, (_, i) => `exclude=n${i}`).join('&')
  assert.match((await lines(`/livez?verbose&${many}`)).at(-2)!, /^warn: .* and 40 more$/)
  assert.deepEqual(await lines('/livez?exclude=nosuch'), ['ok'])
})
