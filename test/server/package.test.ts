/** The package as npm packs it: what README leads to is inside. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../tools/server.ts'

test('every link of README leads somewhere, in a checkout and in the package', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const links = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)].map(
    ([, link]) => link!,
  )
  assert.ok(links.length >= 5)
  for (const link of links) {
    assert.ok(existsSync(join(root, link)), link)
    assert.ok(
      files.some((file: string) => link === file || link.startsWith(`${file}/`)),
      `${link} is not in the package`,
    )
  }
})
