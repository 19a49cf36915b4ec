/**
 * Measures the cost of changing one field in an object of 5 kB: apply and the three patch types, compared with a plain
 * PUT in the same run. An apply without changes writes nothing and should cost less.
 */
import { join } from 'node:path'
import { compare, compared, type Drive, http1, limits } from '../load.ts'
import { collection } from '../objects.ts'
import type { Bench, Side } from '../servers.ts'
import type { Row } from '../table.ts'

const clients = 16
const objectCount = 200
const patched = 'patched-'
const replaced = 'replaced-'
const script = join(import.meta.dirname, '../writes.lua')
const lines = Object.fromEntries(
  Array.from({ length: 80 }, (_, i) => [`setting-${i}`, 'a line of some text, as long as such lines are']),
)

function whole(text: string): string {
  const data = { ...lines, text }
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'NAME' }, data })
}

interface Way {
  readonly method: 'PUT' | 'PATCH'
  readonly type: string
  readonly body: string
  readonly query?: string
}

const applied = {
  method: 'PATCH',
  type: 'application/apply-patch+yaml',
  query: '?fieldManager=bench&force=true',
} as const
const change = JSON.stringify({ data: { text: 'TEXT' } })
const put: Way = { method: 'PUT', type: 'application/json', body: whole('TEXT') }

const ways: readonly (readonly [string, Way])[] = [
  ['apply, unchanged', { ...applied, body: whole('always the same') }],
  ['apply, one field changed', { ...applied, body: whole('TEXT') }],
  ['merge patch', { method: 'PATCH', type: 'application/merge-patch+json', body: change }],
  ['strategic merge patch', { method: 'PATCH', type: 'application/strategic-merge-patch+json', body: change }],
  [
    'JSON patch',
    {
      method: 'PATCH',
      type: 'application/json-patch+json',
      body: JSON.stringify([{ op: 'replace', path: '/data/text', value: 'TEXT' }]),
    },
  ],
]

function sends({ method, type, body, query = '' }: Way, prefix: string, salt: string): Drive {
  const scriptArgs = ['update', prefix, body, String(objectCount), salt, method, type, query]
  return http1(collection, { connections: clients, script, scriptArgs })
}

export const patchRows = {
  name: 'patch',
  async run(bench: Bench): Promise<Row[]> {
    const side = await bench.startOrch(bench.newDirectory())
    // The first round of applies creates the objects. The PUTs use other objects, so that applies and PUTs do not undo
    // each other.
    for (const prefix of [patched, replaced]) await sends({ ...applied, body: whole('at first') }, prefix, '')(side, 1)
    const rows: Row[] = []
    for (const [name, way] of ways) rows.push(await patchRow(name, side, way))
    await side.stop()
    return rows
  },
}

async function patchRow(name: string, side: Side, way: Way): Promise<Row> {
  const { ours, bare } = await compare(
    { side, drive: sends(way, patched, name) },
    { side, drive: sends(put, replaced, `put for ${name}`) },
    { seconds: 1, rounds: 2 },
  )
  return { name: `${name}, 5 kB`, ...compared(0.5, ours, bare), note: `bare: a PUT; ${limits(ours, bare)}` }
}
