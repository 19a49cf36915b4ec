/**
 * Runs the marked examples of orch/testing in the documentation as a user would: with the package installed in a
 * project.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runCommand } from '../support/run-command.ts'
import { root } from '../support/server.ts'

const project = mkdtempSync(join(tmpdir(), 'orch-docs-'))
after(() => rmSync(project, { recursive: true, force: true }))
before(async () => {
  const script = `import('${root}/scripts/bundle.mjs').then(({ bundleIfStale }) => bundleIfStale('testing'))`
  const { code, stderr } = await runCommand(process.execPath, ['-e', script])
  assert.equal(code, 0, stderr)
  mkdirSync(join(project, 'node_modules'))
  symlinkSync(root, join(project, 'node_modules/orch'))
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
})

const pages = ['docs/test-an-operator/typescript.md', 'docs/coming-from/envtest.md']
const text = pages.map((page) => readFileSync(join(root, page), 'utf8')).join('\n')
const examples = [...text.matchAll(/<!-- file: ([a-z-]+)\.test\.ts -->\n```ts\n([\s\S]*?)```/g)].map(
  ([, name, code]) => ({
    name,
    code,
  }),
)

test('all examples of orch/testing in the documentation run without errors', () => {
  assert.deepEqual(
    examples.map(({ name }) => name),
    ['config-map', 'controller'],
  )
})

for (const { name, code } of examples)
  test(`the example in the documentation runs: ${name}`, async () => {
    const file = join(project, `${name}.test.ts`)
    writeFileSync(file, code!)
    const {
      code: exit,
      stdout,
      stderr,
    } = await runCommand(process.execPath, ['--test', file], {
      cwd: project,
      env: { PATH: process.env.PATH },
    })
    assert.equal(exit, 0, stdout + stderr)
    assert.match(stdout, /pass [1-9]/)
  })
