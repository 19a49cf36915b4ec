/**
 * Builds the documentation site and checks its pages as files: every link points to a file that exists and, if it has
 * an anchor, to an anchor in that file.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { buildTestSite } from './site.ts'

test('every link on the documentation site points to an existing file and anchor', (t) => {
  const { directory, pages } = buildTestSite(t)
  const anchors = new Map(pages.map((name) => [name, anchorsIn(readFileSync(join(directory, name), 'utf8'))]))
  const links = pages.flatMap((name) =>
    [...readFileSync(join(directory, name), 'utf8').matchAll(/ (?:href|src)="([^"]+)"/g)]
      .map(([, link]) => link!)
      .filter((link) => !/^https?:/.test(link))
      .map((link) => ({ name, link })),
  )
  assert.ok(links.length > 3_000, `only ${links.length} links`)
  const dead = links.filter(({ name, link }) => {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? name : join(dirname(name), path)
    if (!existsSync(join(directory, target))) return true
    return anchor !== undefined && anchors.get(target)?.has(anchor) !== true
  })
  assert.deepEqual(dead, [])
})

test('no page of the documentation site contains unrendered Markdown', (t) => {
  const { directory, pages } = buildTestSite(t)
  const remains = pages.flatMap((name) => {
    const text = readFileSync(join(directory, name), 'utf8').replaceAll(/<(pre|code)\b[\s\S]*?<\/\1>/g, '')
    return [...text.matchAll(/```|\]\([^)]*\)|\*\*|^\|.*\|$|<!-- ?\w/gm)].map(([match]) => `${name}: ${match}`)
  })
  assert.deepEqual(remains, [])
})

function anchorsIn(html: string): ReadonlySet<string> {
  return new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!))
}
