/** The declarations of the package: user code compiles against them, and they match the definitions. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { codeInDocs } from '../../support/library.ts'
import { long } from '../../support/long.ts'
import { orchctl } from '../../support/orchctl.ts'
import { runCommand } from '../../support/run-command.ts'
import { root } from '../../support/server.ts'

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        description: "Something */ small."
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, description: How large it is.}
              port: {x-kubernetes-int-or-string: true}
              "odd-name": {type: array, items: {type: string, enum: [a, b]}}
              anything: {x-kubernetes-preserve-unknown-fields: true}
              labels: {type: object, additionalProperties: {type: string}, nullable: true}
`

const written = `// Written by \`orchctl generate types\`: do not change it by hand.
import type { ObjectMeta, ResourceType } from 'orch/client'

/** Something *\\/ small. */
export interface Widget {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  spec: {
    /** How large it is. */
    size: number
    port?: number | string
    'odd-name'?: ("a" | "b")[]
    anything?: unknown
    labels?: { [key: string]: string } | null
  }
}
export const Widget: ResourceType<Widget> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
}
`

test('types are generated from a CustomResourceDefinition', async () => {
  const { code, stdout, stderr } = await orchctl(['generate', 'types', '-f', '-'], { stdin: crd })
  assert.deepEqual([code, stderr, stdout], [0, '', written])
})

const widgets = `import { connect } from 'orch/client'
import { Widget } from 'widget'
const client = await connect({ server: 'https://127.0.0.1:1' })
const { spec } = await client.get(Widget, { namespace: 'a', name: 'b' })
const size: number = spec.size
const port: number | string | undefined = spec.port
const odd: ('a' | 'b')[] | undefined = spec['odd-name']
const label: string | undefined = spec.labels?.x
// @ts-expect-error A size is needed.
await client.create(Widget, { metadata: {}, spec: {} })
// @ts-expect-error There is no such kind of thing in it.
spec.colour
export { size, port, odd, label }
`

if (long)
  test('user code compiles against the package, and its kinds match those of the sources', {
    timeout: 120_000,
  }, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'orch-types-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const script = (await import(new URL('../../../scripts/declare.mjs', import.meta.url).href)) as {
      declare(directory: string): Promise<void>
    }
    // Declarations are renamed into place, so they are created on the file system of the sources.
    const made = join(root, `types.${process.pid}.test`)
    t.after(() => rmSync(made, { recursive: true, force: true }))
    await script.declare(made)
    cpSync(made, join(directory, 'types'), { recursive: true })
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }))
    writeFileSync(join(directory, 'crd.yaml'), crd)
    const generated = await orchctl(['generate', 'types', '-f', join(directory, 'crd.yaml')])
    assert.deepEqual([generated.code, generated.stderr], [0, ''])
    writeFileSync(join(directory, 'widget.ts'), generated.stdout)
    writeFileSync(join(directory, 'widgets.ts'), widgets)
    writeFileSync(join(directory, 'controller.ts'), codeInDocs('client.md', 'controller'))
    writeFileSync(join(directory, 'kinds.ts'), comparison())
    const checked = await compile(directory)
    assert.equal(checked, '')
  })

/** Types with parts that definitions leave open and the package describes: any JSON, references. */
const moreInPackage = [
  'AuditEvent',
  'ControllerRevision',
  'CustomResourceDefinition',
  'ObjectHistory',
  'PastState',
  'PersistentVolume',
  'VolumeAttachment',
]

/** Every type of the package is assignable to that of the sources: no field is missing or has another type. */
function comparison(): string {
  const names = Object.keys(kinds)
  assert.ok(names.length > 70)
  const alike = names.filter((name) => !moreInPackage.includes(name))
  return `import * as ours from '${root}/src/client/requests/built-in-kinds.ts'
import * as theirs from 'orch/client'
type Missing<A, B> = [Exclude<keyof A, keyof B>] extends [never] ? true : false
${alike.map((name) => `export const a${name}: ours.${name} = {} as theirs.${name}`).join('\n')}
${names.map((name) => `export const b${name}: Missing<ours.${name}, theirs.${name}> = true`).join('\n')}
`
}

async function compile(directory: string): Promise<string> {
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        skipLibCheck: false,
        noUnusedLocals: false,
        exactOptionalPropertyTypes: false,
        paths: {
          'orch/client': [join(directory, 'types/client/library/client.d.ts')],
          widget: [join(directory, 'widget.ts')],
        },
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: ['*.ts'],
    }),
  )
  const { stdout } = await runCommand(join(root, 'node_modules/.bin/tsc'), ['-p', directory])
  return stdout
}
