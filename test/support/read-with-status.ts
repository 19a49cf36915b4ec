/** Reads objects whose status the server updates shortly after each change. */
import assert from 'node:assert/strict'
import type { Kind } from '../../src/api/schema/kind.ts'
import type { Answer, HttpClient } from './http-client.ts'

const judgedKinds = ['CustomResourceDefinition', 'FlowSchema', 'APIService']

export function hasServerWrittenStatus({ kind }: Kind): boolean {
  return judgedKinds.includes(kind)
}

/** Returns the object after the server has written its status. Objects of other kinds are returned immediately. */
export async function readWithStatus(client: HttpClient, kind: Kind, path: string): Promise<Answer> {
  const ends = Date.now() + 30_000
  for (;;) {
    const read = await client.get(path)
    if (!hasServerWrittenStatus(kind) || read.status !== 200 || isSaid(kind, read.body.status.conditions ?? []))
      return read
    assert.ok(Date.now() < ends, `nothing is said of ${path}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/**
 * Whether the status is complete. The names of a definition are accepted first, and the definition is established a
 * moment later.
 */
function isSaid({ kind }: Kind, conditions: readonly { readonly type: string }[]): boolean {
  return conditions.length >= (kind === 'CustomResourceDefinition' ? 2 : 1)
}
