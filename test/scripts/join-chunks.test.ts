/** Tests the script that joins the chunks of a bundled program into a single script. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runInThisContext } from 'node:vm'
import type { OutputFile, Plugin } from 'esbuild'

interface JoinChunks {
  readonly inOneChunk: (entry: string) => Plugin
  readonly joinChunks: (outputFiles: readonly OutputFile[], entry: string) => string
}

const { inOneChunk, joinChunks } = (await import(
  new URL('../../scripts/join-chunks.mjs', import.meta.url).href
)) as JoinChunks

const files = {
  'program.js': `import path, { join as joined } from 'node:path'
    import * as os from 'node:os'
    import { count } from './shared.js'
    globalThis.joinChunksTest = { names: [path.join('a', 'b'), joined('c', 'd'), typeof os.tmpdir], order: ['program'] }
    globalThis.joinChunksTest.done = import('./later.js').then(async (later) => {
      const { other } = await import('./other.js')
      const { default: util, format } = await import('node:util')
      return [later.path, later.times(), other(), count(), format('%s', 'node'), util.format === format]
    })
    globalThis.joinChunksTest.order.push('end of the program')`,
  'shared.js': `let times = 0
    export const count = () => ++times`,
  'later.js': `import { count as times } from './shared.js'
    import { both } from './both.js'
    globalThis.joinChunksTest.order.push('later')
    export const path = both
    export { times }`,
  'other.js': `import { both } from './both.js'
    import { count } from './shared.js'
    export const other = () => both + count()`,
  'both.js': `globalThis.joinChunksTest.order.push('both')
    export const both = 'both'`,
}

test('each chunk of a program runs once, on its first import, and shares the modules of the program', async (t) => {
  const { build } = await import('esbuild')
  const directory = mkdtempSync(join(tmpdir(), 'join-chunks-'))
  t.after(() => rmSync(directory, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const entry = join(directory, 'program.js')
  const { outputFiles } = await build({
    entryPoints: { program: entry },
    outdir: directory,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    write: false,
    plugins: [inOneChunk(entry)],
  })
  const script = joinChunks(outputFiles, 'program.js')
  runInThisContext(`(function (require) {'use strict';${script}})`)(createRequire(import.meta.url))
  const state = Reflect.get(globalThis, 'joinChunksTest') as {
    names: unknown
    order: readonly string[]
    done: Promise<unknown>
  }
  t.after(() => Reflect.deleteProperty(globalThis, 'joinChunksTest'))
  assert.deepEqual(state.names, ['a/b', 'c/d', 'function'])
  assert.deepEqual(state.order, ['program', 'end of the program'])
  assert.deepEqual(await state.done, ['both', 1, 'both2', 3, 'node', true])
  assert.deepEqual(state.order, ['program', 'end of the program', 'both', 'later'])
})
