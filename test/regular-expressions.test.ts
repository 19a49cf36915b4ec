/**
 * Tests that every regular expression in src/ runs in time that is linear in the length of its input. The test
 * generates inputs from the parts of each expression, and a matcher that counts its steps measures the growth of the
 * number of steps. An expression that is not linear needs an entry below, with the reason why no attacker can make it
 * slow.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { hasFormat } from '../src/apiserver/custom/schema/formats.ts'
import { superlinear } from './support/backtracking.ts'
import { assertCheap } from './support/effort.ts'
import { builtIn, literalsIn, type SourcePattern } from './support/source-patterns.ts'

const root = dirname(import.meta.dirname)

/** Regular expressions that are exempt, by file. */
const allowed: { readonly [pattern: string]: string } = {
  'src/base/time/duration.ts /(\\d+(?:\\.\\d+)?)([a-zµ]+)/g': 'the text has at most 64 characters',
  'src/api/cel/time-text.ts /(\\d*)\\.?(\\d*)(ns|us|µs|μs|ms|s|m|h)/g':
    'the text has at most 128 characters, and is known to be a duration',
  'src/api/cel/time-text.ts /(\\d+)\\s*([A-Za-z]+)/g': 'the text has at most 128 characters',
  'src/api/cel/overload.ts /^(?:(.*)\\.)?\\((.*)\\) (.+)$/': 'reads signatures that are part of this program',
  // These expressions are applied only to files and arguments of the user who runs orchctl, so they cannot delay other
  // users.
  'src/tools/cli/commands/create/data-sources.ts /^(["\'])(.*)\\1$/s':
    'a line of a file that the user names; not judged',
  'src/tools/cli/kustomize/files.ts /^(?:[a-z][a-z\\d+.-]*:\\/\\/|git@|git::|github\\.com[/:]|[^/]+@[^/]+:)|\\?ref=|\\.git(?:$|\\?|\\/\\/)/i':
    'a path in a kustomization of the user',
  'src/tools/cli/manifests/explain-refusal.ts /\\[[^\\]]*=.*$/': 'a path in a Status, which the server bounds',
  'src/tools/cli/manifests/json-stream.ts /"(?:[^"\\\\]|\\\\.)*"|[{}[\\]]/g': 'a file that the user names',
  'src/tools/cli/manifests/locate.ts /\\[([^\\]]*)\\]|([^.[\\]]+)/g': 'a path in a Status, which the server bounds',
  'src/tools/cli/printers/colours.ts /^(\\s*(?:Status|Phase|State):\\s+)(\\S+)(.*)$/': 'one line of output',
  'src/tools/cli/streaming/unpack.ts /\\/+$/': 'a path that the user names',
  'src/tools/cli/connection/trace.ts /^(?:authorization|proxy-authorization|cookie|set-cookie|.*token.*)$/i':
    'the name of a header',
}

/**
 * Calls of `new RegExp` that do not run when their module is loaded, with the reason why the expressions are linear.
 */
const builtLater: { readonly [file: string]: string } = {
  'src/apiserver/http/relay/html-links.ts': 'a literal text of at most 20 characters',
}

const nameOf = ({ file, source, flags }: SourcePattern) => `${file} /${source}/${flags}`

async function patternsOf(file: string): Promise<SourcePattern[]> {
  const path = join(root, file)
  const builds = readFileSync(path, 'utf8').includes('new RegExp(')
  const built = builds ? await builtIn(path) : []
  assert.ok(!builds || built.length > 0 || file in builtLater, `${file}: add it to builtLater, with the reason`)
  return [...literalsIn(path), ...built].map((pattern) => ({ ...pattern, file }))
}

test('every regular expression in src/ either runs in linear time or is applied only to short strings', async () => {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root }).sort()
  const patterns = (await Promise.all(files.map(patternsOf))).flat()
  assert.ok(patterns.length > 500, `${patterns.length} found`)
  const slow: string[] = []
  for (const pattern of patterns) {
    const name = nameOf(pattern)
    if (name in allowed) continue
    const attack = superlinear(pattern)
    if (attack !== undefined) slow.push(`${name} on ${JSON.stringify(attack.text)}: ${attack.steps} steps`)
  }
  assert.deepEqual(slow, [])
})

test('the analysis distinguishes regular expressions that run in linear time from all others', () => {
  const isSlow = ({ source, flags }: RegExp) => superlinear({ source, flags }) !== undefined
  const slow = [
    /a+$/,
    /^(?:a+)+$/,
    /^(?:\s*#.*\n|\s*\n)*---/,
    /\d+\s*([a-z]+)/g,
    /^a*ba*$|^a*a*c$/,
    /x.*y/,
    /\$\(([^)]*)\)/g,
  ]
  const linear = [
    /^a+$/,
    /^(?:a+b)+$/,
    /\d\s*([a-z]+)/g,
    /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/,
    /^a{32,}$/,
    /[^x]+/g,
    /(?=a)\w+/y,
  ]
  for (const pattern of slow) assert.ok(isSlow(pattern), `${pattern} was not found`)
  for (const pattern of linear) assert.ok(!isSlow(pattern), `${pattern} is linear`)
})

test('validating the duration format is fast even for very long strings', async () => {
  const text = '1'.repeat(4096)
  // An input of 164 kB once took more than four seconds.
  await assertCheap(500, () => {
    for (let i = 0; i < 40; i++) hasFormat('duration', text)
  })
  for (const valid of ['3 days', '1h30m', '10 seconds and more', '12\tmin', '5µs'])
    assert.ok(hasFormat('duration', valid))
  for (const invalid of ['days', '3', '3 x', '12 34']) assert.ok(!hasFormat('duration', invalid), invalid)
})
