/**
 * Tests the recipes in CONTRIBUTING.md in one copy of the repository: a kind as in the example, a virtual kind with its
 * endpoint, and the recipes in `support/recipes.ts`. Each recipe must change exactly the number of files that the table
 * states. A server started from the copy then serves the kinds, and the copy passes the tests that detect forgotten
 * files. `recipes.long.test.ts` checks types and layers and runs the slower tests.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { endOfFile } from './support/end-of-file.ts'
import { carryOut, copyRepository, environmentIn, recipes, runIn, writeFlagsPage } from './support/recipes.ts'
import { root } from './support/server.ts'

const owner = endOfFile()
let copy: string
before(() => {
  copy = copyRepository(owner)
  carryOut(copy)
})

test('the table in CONTRIBUTING.md contains the number of files that each recipe adds and changes', () => {
  const guide = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  for (const [name, { added, changed }] of Object.entries(recipes)) {
    const row = guide.split('\n').find((line) => line.startsWith(`| ${name} `))
    assert.ok(row, `CONTRIBUTING.md has no row for ${name}`)
    const counts = row
      .split('|')
      .slice(2, 4)
      .map((cell) => Number.parseInt(cell, 10))
    assert.deepEqual(
      counts,
      [added, changed].map((files) => Object.keys(files).length),
      name,
    )
  }
})

/** Tests that fail if a file of a recipe is forgotten, by file and name. */
const noticing: { readonly [file: string]: readonly string[] } = {
  'test/cluster/controllers/all.test.ts': [
    'control loops are sorted by name',
    'each control loop has a role for its own service account',
    'docs/reference/loops.md describes each control loop',
  ],
  'test/api/kinds/lease.test.ts': ['recipe: a Lease has a purpose'],
  'test/cluster/controllers/greeting.test.ts': ['recipe: the control loop annotates'],
  'test/server/flags.test.ts': ['docs/reference/flags.md lists all Kubernetes flags'],
  'test/server/start.test.ts': ['the error for an invalid flag suggests'],
  'test/server/greeting.test.ts': ['recipe: the greeting begins'],
  'test/api/cel/language.test.ts': [
    'recipe: blank texts',
    'every CEL function has a test case in this file',
    'docs/extend/cel.md lists every function',
  ],
  'test/apiserver/admission/require-owner.test.ts': ['recipe: the admission plugin rejects'],
  'test/apiserver/authn/visitor.test.ts': ['recipe: a request header authenticates'],
  'test/base/telemetry/recorded.test.ts': ['recipe: wrong credentials are counted'],
}

test('a copy of the sources with the recipes applied passes the tests that detect a forgotten file', async () => {
  await writeFlagsPage(copy)
  const files = Object.keys(noticing)
  writeFileSync(join(copy, 'noticing.ts'), files.map((file) => `await import('./${file}')\n`).join(''))
  const names = Object.values(noticing).flat()
  const pattern = `--test-name-pattern=${names.map((name) => name.replaceAll('.', '\\.')).join('|')}`
  const { code, output } = await runIn(copy, ['--test-reporter=tap', pattern, 'noticing.ts'])
  assert.equal(code, 0, output)
  assert.match(output, new RegExp(`^# pass ${names.length}$`, 'm'))
})

test('the recipes for a kind, a virtual kind and an admission plugin work', () => {
  for (const [file, text] of Object.entries(newFiles())) writeFileSync(join(copy, file), text)
  addLine(join(copy, 'src/api/kinds/all.ts'), { name: 'widget', from: './ops/widget.ts', before: '  whoAmI,' })
  addLine(join(copy, 'src/api/kinds/all.ts'), { name: 'greeting', from: './ops/greeting.ts', before: '  whoAmI,' })
  const withoutRows = runTests(copy)
  assert.equal(withoutRows.status, 1)
  assert.match(withoutRows.stdout, /✖ the published API is the same as the API recorded for review/)
  for (const [name, row] of Object.entries(tableRows)) {
    assert.ok(withoutRows.stdout.includes(row.split('\n')[1]!), withoutRows.stdout)
    addLine(join(copy, 'src/client/requests/built-in-kinds.ts'), {
      name,
      from: `../../api/kinds/ops/${name}.ts`,
      before: 'export type WhoAmI =',
      line: row,
      isType: true,
    })
  }
  writeFileSync(join(copy, publishedFile), runFile(copy, 'test/support/published-api.ts').stdout)
  const withRows = runTests(copy)
  assert.equal(withRows.status, 0, withRows.stdout)
  addLine(join(copy, 'src/apiserver/resources/all.ts'), {
    name: 'greeting',
    from: './greeting.ts',
    before: '    webhookPreview(parts),',
    line: '    greeting(),',
  })
  addLine(join(copy, 'src/apiserver/admission/controls/all.ts'), {
    name: 'widgetSize',
    from: './widget-size.ts',
    before: "  { name: 'AlwaysDeny'",
    line: "  { name: 'WidgetSize', byDefault: true, make: widgetSize },",
  })

  const { stdout, stderr } = spawnSync(process.execPath, ['try.ts'], {
    cwd: copy,
    env: environmentIn(copy),
    encoding: 'utf8',
    timeout: 120_000,
  })
  assert.equal(stderr, '')
  const { created, changed, faulty, large, greeted, explained } = JSON.parse(stdout)
  assert.deepEqual([created.status, created.body.status, created.body.metadata.generation], [201, { size: 0 }, 1])
  assert.deepEqual(
    [changed.body.spec, changed.body.status, changed.body.metadata.generation],
    [{ size: 3 }, { size: 0 }, 2],
  )
  assert.deepEqual([faulty.status, faulty.body.details.causes[0].field], [422, 'spec.size'])
  assert.deepEqual([large.status, /WidgetSize/.test(large.body.message)], [403, true])
  assert.equal(greeted.body.status.text, 'Hello, admin')
  assert.equal(explained, 'How large it should be.')
})

/** The test that compares the clients' table of kinds with the definitions. */
const tableTest = 'test/client/built-in-kinds.test.ts'

/** The test that compares the published API with the reviewed file. */
const publishedTest = 'test/api/kinds/published-api.test.ts'
const publishedFile = 'test/data/published-api.txt'

const tableRows = {
  widget: `export type Widget = ObjectsOf<typeof widget>
export const Widget = namespaced<Widget>('ops/v1', 'Widget', 'widgets')`,
  greeting: `export type Greeting = ObjectsOf<typeof greeting>
export const Greeting = clusterWide<Greeting>('ops/v1', 'Greeting', 'greetings')`,
}

/** Runs both tests in one process, because most of the time is spent loading the sources. */
function runTests(copy: string) {
  const imports = [tableTest, publishedTest].map((file) => `await import('./${file}')\n`)
  writeFileSync(join(copy, 'both.ts'), imports.join(''))
  return runFile(copy, 'both.ts')
}

function runFile(copy: string, file: string) {
  const env = environmentIn(copy)
  return spawnSync(process.execPath, [file], { cwd: copy, env, encoding: 'utf8', timeout: 120_000 })
}

/** Imports a definition in a source file, and adds the definition to a list in that file. */
function addLine(
  file: string,
  added: { name: string; from: string; before: string; line?: string; isType?: boolean },
): void {
  const { name, from, before, line = `  ${name},`, isType = false } = added
  const text = readFileSync(file, 'utf8')
  assert.ok(text.includes(`\n${before}`), `${file} has no line ${before}`)
  const listed = text.replace(`\n${before}`, `\n${line}\n${before}`)
  writeFileSync(file, listed.replace(/^import /m, `import ${isType ? 'type ' : ''}{ ${name} } from '${from}'\nimport `))
}

function newFiles(): { readonly [file: string]: string } {
  return {
    'src/api/kinds/ops/widget.ts': `
      import { type FieldError, invalid } from '../../model/field-error.ts'
      import { ageColumn, nameColumn } from '../../schema/columns.ts'
      import { defineKind, type ObjectOf } from '../../schema/kind.ts'
      import { field, s } from '../../schema/schema.ts'
      import { plainStatus, specAndStatus } from '../spec-and-status.ts'
      const size = { size: field(1, s.int32(), { zeroValue: 'keep', doc: 'How large it should be.' }) }
      const spec = s.object(size, { name: 'WidgetSpec', doc: 'The desired widget.' })
      const status = s.object(size, { name: 'WidgetStatus', doc: 'The state of a widget.' })
      function checkWidget({ spec }: Widget): FieldError[] {
        return (spec?.size ?? 0) < 0 ? [invalid('spec.size', spec?.size, 'must not be negative')] : []
      }
      ${exampleOf('### A kind').replace('newStatus: () => ({})', 'newStatus: () => ({ size: 0 })')}`,
    'src/api/kinds/ops/greeting.ts': `
      import { defineKind, type ObjectOf } from '../../schema/kind.ts'
      import { field, s } from '../../schema/schema.ts'
      const status = s.object({ text: field(1, s.string()) }, { name: 'GreetingStatus', doc: 'A greeting.' })
      const fields = { status: field(3, status, { zeroValue: 'write', doc: 'The answer. Filled in by the server.' }) }
      export type Greeting = ObjectOf<typeof fields>
      export const greeting = defineKind({
        names: { group: 'ops', version: 'v1', kind: 'Greeting', plural: 'greetings', scope: 'Cluster' },
        doc: 'Asks for a greeting.',
        fields,
        lifecycle: { virtual: true },
      })`,
    'src/apiserver/resources/greeting.ts': `
      import { type Greeting, greeting as kind } from '../../api/kinds/ops/greeting.ts'
      import type { Endpoint } from '../registry/catalogue/endpoint.ts'
      export function greeting(): Endpoint<Greeting> {
        return {
          ...{ kind, subresource: '', verbs: ['create'], type: undefined, admits: 'CREATE', doc: 'Greets the user.' },
          answer: ({ object, user }) => ({ ...object, status: { text: \`Hello, \${user.name}\` } }),
        }
      }`,
    'src/apiserver/admission/controls/widget-size.ts': `
      import { type Widget, widget } from '../../../api/kinds/ops/widget.ts'
      import type { Control } from '../admission.ts'
      import { refusal } from '../refusal.ts'
      export function widgetSize(): Control<Widget> {
        return {
          name: 'WidgetSize',
          handles: { operations: ['CREATE', 'UPDATE'], types: [widget], subresources: [''] },
          validate: (request) => {
            if ((request.object.spec?.size ?? 0) > 100) throw refusal(request, 'spec.size must be at most 100')
          },
        }
      }`,
    'try.ts': `
      import { serve } from './test/support/in-process.ts'
      const ends: (() => Promise<void>)[] = []
      const client = (await serve({ after: (end) => ends.push(end) })).client()
      const all = '/apis/ops.orch.io/v1/namespaces/default/widgets'
      const send = async (name: string, size: number) =>
        await client.post(all, { apiVersion: 'ops.orch.io/v1', kind: 'Widget', metadata: { name }, spec: { size } })
      const created = await send('a', 1)
      const headers = { 'content-type': 'application/merge-patch+json' }
      const body = { spec: { size: 3 }, status: { size: 7 } }
      const changed = await client.send(\`\${all}/a\`, { method: 'PATCH', headers, body })
      const [faulty, large] = [await send('b', -1), await send('c', 101)]
      const greeting = { apiVersion: 'ops.orch.io/v1', kind: 'Greeting', metadata: {} }
      const greeted = await client.post('/apis/ops.orch.io/v1/greetings', greeting)
      const { body: openapi } = await client.get('/openapi/v2')
      const types = Object.entries(openapi.definitions).filter(([name]) => name.endsWith('WidgetSpec'))
      const explained = types[0][1].properties.size.description
      console.log(JSON.stringify({ created, changed, faulty, large, greeted, explained }))
      for (const end of ends) await end()
      process.exit()`,
  }
}

/** Returns the code example in a section of CONTRIBUTING.md. */
function exampleOf(heading: string): string {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const section = text.slice(text.indexOf(`${heading}\n`))
  return /```ts\n([\s\S]*?)```/.exec(section)![1]!
}
