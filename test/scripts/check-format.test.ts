/** Tests that the format check finds errors in changed files, although it skips files that Biome has accepted. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatErrors } from '../../scripts/check-format.ts'
import { root } from '../support/server.ts'

test('the format check reports every changed file until its format is corrected, and respects the configuration', (t) => {
  const checkout = mkdtempSync(join(tmpdir(), 'orch-test-'))
  t.after(() => rmSync(checkout, { recursive: true }))
  const write = (name: string, text: string) => writeFileSync(join(checkout, name), text)
  const configure = (quoteStyle: string) =>
    write('biome.json', `${JSON.stringify({ javascript: { formatter: { quoteStyle } } }, undefined, '\t')}\n`)
  spawnSync('git', ['init', '--quiet', checkout])
  mkdirSync(join(checkout, 'node_modules'))
  for (const name of ['.bin', '@biomejs'])
    symlinkSync(join(root, 'node_modules', name), join(checkout, 'node_modules', name))
  write('.gitignore', 'node_modules\n.tools\n')
  write('package.json', '{}\n')
  configure('single')

  write('quotes.js', "export const quotes = 'single';\n")
  assert.equal(formatErrors(checkout), undefined)
  write('other.js', 'export const other =  1;\n')
  for (let run = 0; run < 2; run++) {
    const errors = formatErrors(checkout)
    assert.match(errors ?? '', /other\.js/)
    assert.doesNotMatch(errors ?? '', /quotes\.js/)
  }
  write('other.js', 'export const other = 1;\n')
  assert.equal(formatErrors(checkout), undefined)
  configure('double')
  assert.match(formatErrors(checkout) ?? '', /quotes\.js/)
})
