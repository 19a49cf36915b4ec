/**
 * The recipes in CONTRIBUTING.md as file changes, to be applied to a copy of the repository. Each entry changes exactly
 * as many files as its row in the table states. The tests that it adds are named `recipe: …`.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled, compiledIn } from './compile-cache.ts'
import { type Ending, root } from './server.ts'

/** A recipe: the files that it adds and changes. */
export interface Recipe {
  readonly added: { readonly [file: string]: string }
  readonly changed: { readonly [file: string]: (text: string) => string }
}

/** Copies the repository. The copy exists until the end of the test. */
export function copyRepository(t: Ending): string {
  const copy = mkdtempSync(join(tmpdir(), 'orch-recipes-'))
  t.after(async () => rmSync(copy, { recursive: true, force: true }))
  for (const part of ['src', 'test', 'bench', 'docs', 'scripts', 'package.json', 'tsconfig.json', 'biome.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  // Share the compiled code, because most sources in the copy are unchanged.
  mkdirSync(join(copy, 'dist'))
  symlinkSync(compiled.NODE_COMPILE_CACHE, compiledIn(copy).NODE_COMPILE_CACHE)
  return copy
}

/** Applies all recipes to a copy. */
export function carryOut(copy: string): void {
  for (const { added, changed } of Object.values(recipes)) {
    for (const [file, text] of Object.entries(added)) writeFileSync(join(copy, file), text, { flag: 'wx' })
    for (const [file, change] of Object.entries(changed)) {
      const text = readFileSync(join(copy, file), 'utf8')
      writeFileSync(join(copy, file), change(text))
    }
  }
}

/** Result of a command in the copy. */
export interface Outcome {
  readonly code: number
  readonly output: string
}

/** The environment of a Node.js program in the copy. */
export function environmentIn(copy: string): NodeJS.ProcessEnv {
  // With this variable, a test runner would report to its parent process rather than to standard output.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  return { ...inherited, ...compiledIn(copy) }
}

/** Runs a Node.js program in the copy. */
export function runIn(copy: string, args: readonly string[], env: { [name: string]: string } = {}): Promise<Outcome> {
  const options = {
    cwd: copy,
    env: { ...environmentIn(copy), ...env },
    maxBuffer: 64 * 1024 ** 2,
    timeout: 300_000,
  }
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1)
      resolve({ code, output: `${stdout}${stderr}` })
    })
  })
}

/** Writes docs/reference/flags.md in the copy, as the recipe requires. */
export async function writeFlagsPage(copy: string): Promise<void> {
  const { code, output } = await runIn(copy, ['test/server/flags.test.ts'], { ORCH_WRITE_DOCS: '1' })
  assert.equal(code, 0, output)
}

/**
 * Removes the indentation of six columns that keeps tools from mistaking the imports in the text for imports of this
 * file.
 */
function dedented(text: string): string {
  return `${text.slice(1).replaceAll(/^ {6}/gm, '')}\n`
}

/** Inserts lines before the only occurrence of a text. */
function before(mark: string, added: string): (text: string) => string {
  return (text) => {
    assert.equal(text.split(mark).length, 2, `expected once: ${mark}`)
    return text.replace(mark, () => `${added}${mark}`)
  }
}

/** Adds an import and inserts lines. */
function withImport(line: string, change: (text: string) => string): (text: string) => string {
  return (text) => change(text.replace(/^import /m, () => `${line}\nimport `))
}

/** Adds a test at the end of a file. */
function withTest(added: string): (text: string) => string {
  return (text) => `${text}\n${added}\n`
}

/** Files that a command of the recipe writes: `ORCH_WRITE_DOCS=1 npm test -- server/flags`. */
const written = (text: string) => text

const loop: Recipe = {
  added: {
    'src/cluster/controllers/greeting.ts': dedented(`
      /** Adds a greeting to every ConfigMap once, as an annotation. */
      import type { ConfigMap } from '../../api/kinds/core/config-map.ts'
      import type { Informer } from '../../client/informers/informer.ts'
      import type { Loop } from '../../client/reconcile/loop.ts'
      import { fromInformer } from '../../client/reconcile/sources.ts'
      import type { Client } from '../../client/requests/client.ts'
      import { nameOfKey } from '../../client/requests/resource-type.ts'
      import { ignoreNotFound } from './ignore-not-found.ts'

      export const greeted = { group: '', version: 'v1', plural: 'configmaps', namespaced: true } as const

      export function greetingLoop({ client, informer }: { client: Client; informer: Informer<ConfigMap> }): Loop {
        return {
          name: 'greeting',
          sources: [fromInformer(informer)],
          reconcile: async (key, signal) => {
            const seen = informer.get(nameOfKey(key))
            if (seen === undefined || seen.metadata.annotations?.greeting !== undefined) return 'done'
            const patch = { merge: { metadata: { annotations: { greeting: 'Hello' } } } }
            await ignoreNotFound(client.patch(greeted, nameOfKey(key), { patch, signal }))
            return 'done'
          },
        }
      }`),
    'test/cluster/controllers/greeting.test.ts': dedented(`
      /** Tests the control loop that greets ConfigMaps. */
      import { test } from 'node:test'
      import { serveUp } from '../../support/in-process.ts'
      import { untilTrue } from '../../support/until.ts'

      test('recipe: the control loop annotates a ConfigMap with the permissions of its account', async (t) => {
        const client = (await serveUp(t, ['--controllers=greeting'])).client()
        const path = '/api/v1/namespaces/default/configmaps'
        await client.post(path, { metadata: { name: 'a' } })
        await untilTrue(async () => (await client.get(\`\${path}/a\`)).body.metadata.annotations?.greeting === 'Hello')
      })`),
  },
  changed: {
    'src/cluster/controllers/all.ts': withImport(
      `import { greeted, greetingLoop } from './greeting.ts'`,
      before(
        `  {\n    name: 'horizontalpodautoscaling',`,
        `  {
    name: 'greeting',
    account: 'greeting-controller',
    cluster: true,
    make: ({ client, informer }) => greetingLoop({ client, informer: informer(greeted) }),
  },
`,
      ),
    ),
    'src/apiserver/authz/rbac/defaults/controller-roles.ts': before(
      `  role('system:controller:horizontal-pod-autoscaler'`,
      `  role('system:controller:greeting-controller', [on('get list patch watch', 'core', 'configmaps'), events]),\n`,
    ),
    'test/cluster/controllers/each-loop.test.ts': before(
      `  horizontalpodautoscaling: {`,
      `  greeting: {
    make: post(\`\${here}/configmaps\`, () => ({})),
    path: (name) => \`\${here}/configmaps/\${name}\`,
    isDone: ({ metadata }) => metadata.annotations?.greeting !== undefined,
  },
`,
    ),
    'docs/reference/loops.md': before('| `horizontalpodautoscaling`', '| `greeting` | greets ConfigMaps | |\n'),
  },
}

const flag: Recipe = {
  added: {},
  changed: {
    'src/server/flags/diagnostics.ts': before(
      `  profiling: flag({`,
      `  greeting: flag({ name: 'greeting', value: 'TEXT', read: text, help: 'text to print at the start' }),\n`,
    ),
    'src/server/program/greeting.ts': before(
      `\`orch \${version} is serving`,
      `(options.greeting && \`\${options.greeting}\\n\`) + `,
    ),
    'test/server/start.test.ts': before(
      `  [['--secure-port=70000'],`,
      `  [['--greeting'], /--greeting requires a value: --greeting=TEXT/],\n`,
    ),
    'test/server/greeting.test.ts': withTest(`test('recipe: the greeting begins with the text of --greeting', () => {
  const options = parseFlags(serverFlags, ['--greeting=Good morning'])
  assert.match(greeting('https://127.0.0.1', options, undefined), /^Good morning\\norch /)
})`),
  },
}

const celFunction: Recipe = {
  added: {},
  changed: {
    'src/api/cel/functions/strings.ts': before(
      `  ['charAt', [`,
      `  ['isBlank', [define('string.() bool', (_, args) => texts(args)[0].trim() === '', passes(1))]],\n`,
    ),
    'test/api/cel/language.test.ts': withTest(
      `describe('recipe', () => {
  holds('recipe: blank texts', ["' '.isBlank() && !'a'.isBlank()"])
})`,
    ),
    'docs/extend/cel.md': before('`substring` and `trim` for strings', '`isBlank`, '),
  },
}

const control: Recipe = {
  added: {
    'src/apiserver/admission/controls/require-owner.ts': dedented(`
      /** Rejects ConfigMaps without the label \`owner\`. */
      import { type ConfigMap, configMap } from '../../../api/kinds/core/config-map.ts'
      import type { Control } from '../admission.ts'
      import { refusal } from '../refusal.ts'

      export function requireOwner(): Control<ConfigMap> {
        return {
          name: 'RequireOwner',
          handles: { operations: ['CREATE', 'UPDATE'], types: [configMap], subresources: [''] },
          validate: (request) => {
            if (request.object.metadata.labels?.owner === undefined) throw refusal(request, 'the label owner is required')
          },
        }
      }`),
    'test/apiserver/admission/require-owner.test.ts': dedented(`
      /** Tests the admission plugin RequireOwner on a real server. */
      import assert from 'node:assert/strict'
      import { test } from 'node:test'
      import { serve } from '../../support/in-process.ts'

      test('recipe: the admission plugin rejects a ConfigMap without an owner', async (t) => {
        const client = (await serve(t, ['--enable-admission-plugins=RequireOwner'])).client()
        const path = '/api/v1/namespaces/default/configmaps'
        const rejected = await client.post(path, { metadata: { name: 'a' } })
        assert.deepEqual([rejected.status, /the label owner is required/.test(rejected.body.message)], [403, true])
        assert.equal((await client.post(path, { metadata: { name: 'a', labels: { owner: 'me' } } })).status, 201)
      })`),
  },
  changed: {
    'src/apiserver/admission/controls/all.ts': withImport(
      `import { requireOwner } from './require-owner.ts'`,
      before(`  { name: 'AlwaysDeny'`, `  { name: 'RequireOwner', byDefault: false, make: requireOwner },\n`),
    ),
    'docs/reference/flags.md': written,
  },
}

const metric: Recipe = {
  added: {},
  changed: {
    'src/apiserver/authn/authentication-metrics.ts': (text) =>
      before(
        '  readonly metrics: readonly Metric[]',
        `  readonly #wrong = new Counter({ name: 'orch_wrong_credentials', help: 'Requests with wrong credentials.', labels: [] })
`,
      )(text)
        .replace(
          '[this.#attempts, this.#durations, this.#users]',
          '[this.#attempts, this.#durations, this.#users, this.#wrong]',
        )
        .replace(
          '  readonly #requests = new WeakMap',
          () => '  readonly #wrongCredentials = this.#wrong.at()\n  readonly #requests = new WeakMap',
        )
        .replace(
          '    this.#end(this.#seriesFor(outcome), began)\n',
          () =>
            "    if (outcome.result === 'refused') this.#wrongCredentials.value++\n    this.#end(this.#seriesFor(outcome), began)\n",
        ),
    'test/base/telemetry/recorded.test.ts': withTest(`test('recipe: wrong credentials are counted', async (t) => {
  const server = await serve(t)
  await server.client('wrong').get(configMaps)
  assert.equal((await scrape(server.client()))('orch_wrong_credentials'), 1)
})`),
  },
}

const authenticator: Recipe = {
  added: {
    'src/apiserver/authn/visitor.ts': dedented(`
      /** Authenticates visitors by the name in their header \`Visitor\`. For demonstrations. */
      import { type Authenticator, none } from './authenticator.ts'

      /** Authenticates visitors. Every visitor is the user \`visitor:<name>\`. */
      export function visitors(): Authenticator {
        return ({ headers }) => {
          const name = headers.one('visitor')
          return name === undefined ? none : { result: 'user', user: { name: \`visitor:\${name}\`, uid: '', groups: [], extra: new Map() } }
        }
      }`),
    'test/apiserver/authn/visitor.test.ts': dedented(`
      /** Tests the authentication of visitors on a real server. */
      import assert from 'node:assert/strict'
      import { test } from 'node:test'
      import { serve } from '../../support/in-process.ts'

      test('recipe: a request header authenticates a visitor if the flag is set', async (t) => {
        const path = '/apis/authentication.orch.io/v1/whoamis'
        const userFor = async (flags: readonly string[]) => {
          const answer = await (await serve(t, flags)).client('').send(path, {
            method: 'POST',
            headers: { visitor: 'eve', 'content-type': 'application/json' },
            body: {},
          })
          return /visitor:eve/.test(answer.text)
        }
        assert.deepEqual([await userFor(['--visitors']), await userFor([])], [true, false])
      })`),
  },
  changed: {
    'src/server/identity/identity.ts': withImport(
      `import { visitors } from '../../apiserver/authn/visitor.ts'`,
      before('      clientCertificates({ ...parts', '      ...(options.visitors ? [visitors()] : []),\n'),
    ),
    'src/server/flags/authentication.ts': before(
      '  tokenAuthFile: flag({',
      `  visitors: toggle({ name: 'visitors', help: 'authenticate visitors by the header Visitor' }),\n`,
    ),
  },
}

const consolePage: Recipe = {
  added: {
    'src/tools/console/page/operations/greeting.tsx': dedented(`
      /** A page that shows a greeting. */
      import { PageHead } from '../parts/display.tsx'

      export function GreetingPage() {
        return <PageHead title="Greeting" />
      }`),
  },
  changed: {
    'src/tools/console/page/operations/all.ts': withImport(
      `import { GreetingPage } from './greeting.tsx'`,
      before(`  { name: 'quotas',`, `  { name: 'greeting', title: 'Greeting', Page: GreetingPage },\n`),
    ),
    'test/tools/console/pages.long.test.ts': before(
      '\nfunction namesIn(',
      `
test('recipe: the page shows a greeting', { timeout }, async () => {
  await goTo(page, '#/operations/greeting')
  await page.getByRole('heading', { name: 'Greeting' }).waitFor()
})
`,
    ),
  },
}

/** The recipes, keyed by their names in the table in CONTRIBUTING.md. */
const laterField: Recipe = {
  added: {},
  changed: {
    'src/api/kinds/coordination/lease.ts': before(
      '  strategy: field(6,',
      "  purpose: field(90, s.string(), { since: '1.29', doc: 'Purpose of the Lease.' }),\n",
    ),
    'test/api/kinds/lease.test.ts': (text) =>
      withImport(
        "import { derivation } from '../../../src/api/schema/of-version.ts'\nimport type { ObjectSchema } from '../../../src/api/schema/schema.ts'",
        withTest(
          dedented(`
      test('recipe: a Lease has a purpose since 1.29', () => {
        const specAt = (version: '1.28' | '1.29') => derivation(version).kind(lease).schema.fields.spec!.schema as ObjectSchema
        assert.deepEqual(['purpose' in specAt('1.28').fields, 'purpose' in specAt('1.29').fields], [false, true])
        assert.equal(specAt('1.28').otherVersions?.purpose?.since, '1.29')
      })`),
        ),
      )(text),
  },
}

export const recipes: { readonly [name: string]: Recipe } = {
  'a field of a later version': laterField,
  'an admission plugin': control,
  'a control loop': loop,
  'a flag': flag,
  'an authenticator, authorizer': authenticator,
  'a console page': consolePage,
  'a metric': metric,
  'a CEL function': celFunction,
}
