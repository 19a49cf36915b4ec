/** Rows of requests with their expected outcomes, for servers that emulate different Kubernetes versions. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Answer } from './http-client.ts'
import { serve } from './in-process.ts'

/** The expected response: the causes of a rejection, or the number of warnings and the expected fields. */
export interface Outcome {
  /** Expected causes such as `Required spec.driver`, in alphabetical order. Undefined if the write succeeds. */
  readonly causes?: readonly string[]
  readonly warnings?: number
  /** Expected values at paths such as `spec.type`, where undefined means that the field must be absent. */
  readonly shows?: { readonly [path: string]: unknown }
}

/** A create or, if `patch` is set, a create followed by a patch whose outcome is tested. */
export interface Row extends Outcome {
  readonly name: string
  readonly path: string
  readonly body: object
  /** A merge patch to apply to the created object. */
  readonly patch?: object
  /** A merge patch to apply to the status before `patch`. */
  readonly status?: object
  readonly subresource?: string
}

/** Runs the rows on a server that emulates the version. */
export async function testRows(version: string, rows: readonly Row[], flags: readonly string[] = []): Promise<void> {
  const server = await serve({ after }, [`--emulated-version=${version}`, '--profile=kubernetes', ...flags])
  const client = server.client()
  const headers = { 'content-type': 'application/merge-patch+json' }
  const patch = (path: string, body: object) => client.send(path, { method: 'PATCH', headers, body })
  for (const [i, row] of rows.entries())
    test(`${version}: ${row.name}`, async () => {
      const name = `row-${i}`
      const body = { metadata: { name }, ...row.body }
      const own = { ...(body as { metadata: { name?: string } }).metadata }
      let answer = await client.post(row.path, body)
      const place = `${row.path}/${own.name ?? name}`
      if (row.patch !== undefined || row.status !== undefined)
        assert.equal(answer.status, 201, JSON.stringify(answer.body))
      if (row.status !== undefined) answer = await patch(`${place}/status`, row.status)
      if (row.patch !== undefined) answer = await patch(`${place}${row.subresource ?? ''}`, row.patch)
      check(answer, row)
    })
}

function check({ status, headers, body }: Answer, { causes, warnings = 0, shows = {} }: Outcome): void {
  if (causes !== undefined) {
    const reported = (body.details?.causes ?? []).map(({ reason, field }: { reason: string; field: string }) => {
      return `${reason.replace('FieldValue', '')} ${field}`
    })
    assert.deepEqual([status, [...new Set(reported)].sort()], [422, [...causes].sort()], JSON.stringify(body))
    return
  }
  assert.ok(status === 200 || status === 201, JSON.stringify(body))
  assert.equal([headers.warning ?? []].flat().join().split('299 ').length - 1, warnings, String(headers.warning))
  for (const [path, value] of Object.entries(shows)) {
    const shown = path.split('.').reduce((part, key) => part?.[key], body)
    assert.deepEqual(shown, value, `${path} in ${JSON.stringify(body)}`)
  }
}
