/** Tests that the browser part of the client can be bundled without Node.js modules. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { build } from 'esbuild'
import { root } from '../support/server.ts'

test('the client code for browsers imports no Node modules', async () => {
  const names = [
    'requests/client',
    'requests/watch',
    'requests/discovery',
    'informers/informer',
    'informers/change-object',
  ]
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: names.map((name) => join(root, `src/client/${name}.ts`)),
    outdir: join(root, 'unwritten'),
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
  })
  assert.equal(outputFiles.length, names.length)
  for (const { text } of outputFiles) assert.doesNotMatch(text, /\b(?:Buffer|process|setImmediate)\b/)
})
