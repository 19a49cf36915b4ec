/**
 * Tests that links to paths on the same server are rewritten in relayed pages, regardless of how the page is split into
 * chunks.
 */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { withLinks } from '../../../src/apiserver/http/relay/html-links.ts'

const change = (link: string) => (link.startsWith('/') ? `/base${link}` : undefined)

async function changed(page: string, size: number): Promise<string> {
  const bytes = Buffer.from(page)
  const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )
  return Buffer.concat(await Array.fromAsync(withLinks(Readable.from(parts), change))).toString()
}

const many = 'x '.repeat(5000)
const rows: readonly (readonly [what: string, page: string, expected: string])[] = [
  ['a link', '<a href="/x">y</a>', '<a href="/base/x">y</a>'],
  ['all quoting styles', `<a  HREF = '/x'><img src=/i.png>`, `<a  HREF = '/base/x'><img src=/base/i.png>`],
  ['several links in a tag', '<video src="/v" poster="/p" id="/i">', '<video src="/base/v" poster="/base/p" id="/i">'],
  ['other attributes, other tags', '<a title="/x"><b href="/x">', '<a title="/x"><b href="/x">'],
  ['links that stay unchanged', '<a href="x"><a href="#f"><a href=>', '<a href="x"><a href="#f"><a href=>'],
  ['a quoted closing bracket', '<a title="a>b" href="/x">', '<a title="a>b" href="/base/x">'],
  ['an attribute within a value', `<a title='href="/x"'>`, `<a title='href="/x"'>`],
  ['comments', '<!-- <a href="/x"> --><a href="/x">', '<!-- <a href="/x"> --><a href="/base/x">'],
  ['scripts', `<script src="/s">"<a href='/x'>"</SCRIPT><p>`, `<script src="/base/s">"<a href='/x'>"</SCRIPT><p>`],
  ['no tags at all', 'a < b && c > "d" <3 é </p>', 'a < b && c > "d" <3 é </p>'],
  ['a truncated page', 'x<a href="/x', 'x<a href="/x'],
  ['an empty page', '', ''],
  ['an unterminated tag', `<a ${many}`, `<a ${many}`],
  ['a long tag', `<a ${many} href="/x"><a href="/y">`, `<a ${many} href="/x"><a href="/base/y">`],
]

for (const [what, page, expected] of rows)
  test(what, async () => {
    for (const size of page.length < 200 ? [1, 2, 3, 7, 200] : [100_000])
      assert.equal(await changed(page, size), expected, `in parts of ${size}`)
  })
