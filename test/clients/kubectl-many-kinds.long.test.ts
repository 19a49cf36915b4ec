/** Tests kubectl with 300 different custom kinds, 60 of them as large as a Pod template. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../support/in-process.ts'
import { kubectl } from '../support/kubectl.ts'

const server = await serve({ after }, ['--profile=kubernetes'])
const count = 300
/** Each kind whose number is a multiple of this value is as large as a Pod template. */
const largeEvery = 5
const group = 'many.example.com'

async function run(args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await kubectl(server, args, input)
  assert.equal(code, 0, stderr)
  return stdout
}

const list = (items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
const numbers = Array.from({ length: count }, (_, i) => i)
const isLarge = (i: number) => i % largeEvery === 0

/** Returns a schema with more than a thousand members in three levels, like a Pod template. */
function largeSchema(i: number, depth = 2): object {
  const member = (n: number) =>
    depth === 0 ? { type: 'string', description: `Leaf ${n} of kind ${i}.` } : largeSchema(i, depth - 1)
  const members = Array.from({ length: 11 }, (_, n) => [`member${n}`, member(n)])
  return { type: 'object', properties: Object.fromEntries(members) }
}

function definition(i: number): object {
  const own = { type: 'string', description: `Only kind ${i} has it.`, enum: [`only-in-${i}`] }
  const spec = isLarge(i) ? largeSchema(i) : { type: 'object', properties: { size: { type: 'integer', default: i } } }
  const openAPIV3Schema = { type: 'object', properties: { own, spec } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `kind${i}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: `kind${i}s`, kind: `Kind${i}` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
}

const object = (i: number) => ({
  apiVersion: `${group}/v1`,
  kind: `Kind${i}`,
  metadata: { name: 'one', namespace: 'default' },
  own: `only-in-${i}`,
  spec: isLarge(i) ? { member0: { member1: { member2: 'x' } } } : {},
})

/** Waits for a tenth of the kinds at a time, because kubectl is slow with many kinds. */
function* parts(): Generator<number[]> {
  for (let from = 0; from < count; from += 30) yield numbers.slice(from, from + 30)
}

test('kubectl get, explain and apply work with 300 custom kinds', { timeout: 600_000 }, async () => {
  for (const part of parts()) await run(['create', '-f', '-'], list(part.map(definition)))
  const crds = await run([
    'get',
    'crds',
    '-o',
    'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Established")].status}{"\\n"}{end}',
  ])
  assert.deepEqual(
    crds.trim().split('\n'),
    numbers.map(() => 'True'),
  )
  for (const part of parts()) {
    assert.equal((await run(['apply', '-f', '-'], list(part.map(object)))).match(/ created/g)?.length, part.length)
    assert.equal((await run(['apply', '-f', '-'], list(part.map(object)))).match(/ unchanged/g)?.length, part.length)
    const shown = await run(['get', part.map((i) => `kind${i}s`).join(), '-o', 'name'])
    assert.equal(shown.trim().split('\n').length, part.length)
  }
  for (const i of [0, 1, count - 5, count - 1])
    assert.match(await run(['explain', `kind${i}s.own`]), new RegExp(`Only kind ${i} has it\\.`))
  assert.match(await run(['explain', 'kind5s.spec.member0.member1.member2']), /Leaf 2 of kind 5\./)
  const wrong = await kubectl(server, ['apply', '-f', '-'], JSON.stringify({ ...object(7), own: 'only-in-8' }))
  assert.match(wrong.stderr, /Unsupported value: "only-in-8": supported values: "only-in-7"/)
})
