/** Checks the fenced blocks on all user pages, without running their commands. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../support/server.ts'
import { blocksOf } from './page.ts'
import { userPages } from './pages.ts'
import { hasStarted, isShown } from './shown-output.ts'

const blocks = userPages.flatMap((name) =>
  blocksOf(readFileSync(join(root, name), 'utf8')).map((block) => ({ block, place: `${name}:${block.line}` })),
)

test('every fenced block on a page names its language, so that a test can run the commands in the block', () => {
  const languages = new Set(['text', 'yaml', 'json', 'ts', 'js', 'go', 'java', 'python'])
  const others = blocks.filter(({ block }) => block.type === 'text' && !languages.has(block.language))
  assert.deepEqual(
    others.map(({ place }) => place),
    [],
  )
  assert.ok(blocks.filter(({ block }) => block.type === 'commands').length > 50)
})

test('a command block on a page is skipped only if the sandbox cannot meet its requirements', () => {
  const reasons = new Set([
    'needs root',
    'needs the internet',
    'needs other machines',
    'needs a container engine',
    'needs a kubelet',
    'needs kube-controller-manager',
    'needs a kube-apiserver',
    'needs a quiet machine',
    'needs Go',
  ])
  const others = blocks.filter(({ block }) => block.type === 'skipped' && !reasons.has(block.reason))
  assert.deepEqual(
    others.map(({ place }) => place),
    [],
  )
})

test('a console block distinguishes commands from output, and a comment before a block determines how the block is run', () => {
  const page = `<!-- background -->
\`\`\`console
$ orch up
ready
\`\`\`

<!-- skip: needs root -->
\`\`\`sh
reboot
\`\`\`

<!--
\`\`\`sh
cat <<END
a "
END
(true
false) # "
true
\`\`\`
-->

<!-- file: a.yaml -->
\`\`\`yaml
a: 1
\`\`\`

<!-- stop -->

\`\`\`console
$ echo 'a
b' \\
  c
a

b c
$ false
\`\`\`
`
  assert.deepEqual(
    blocksOf(page).map(({ line, ...block }) => block),
    [
      { type: 'background', command: { text: 'orch up', output: 'ready' } },
      { type: 'skipped', reason: 'needs root' },
      {
        type: 'commands',
        commands: [
          { text: 'cat <<END\na "\nEND', output: '' },
          { text: '(true\nfalse) # "', output: '' },
          { text: 'true', output: '' },
        ],
      },
      { type: 'file', name: 'a.yaml', text: 'a: 1\n' },
      { type: 'stop' },
      {
        type: 'commands',
        commands: [
          { text: "echo 'a\nb' \\\n  c", output: 'a\n\nb c' },
          { text: 'false', output: '' },
        ],
      },
    ],
  )
})

test('the output shown on a page may differ from the actual output only in values that vary between runs', () => {
  assert.ok(isShown('NAME   AGE\nweb-6b98f48cf9-crrmh   2s', 'NAME      AGE\nweb-5769b97bdc-d6sxn   1m20s\n'))
  assert.ok(isShown('first\n...\nlast', 'first\n1\n2\nlast\n'))
  assert.ok(isShown('took … ms', 'took 3.5 ms\n'))
  assert.ok(!isShown('first\nlast', 'first\n1\nlast\n'))
  assert.ok(!isShown('first', 'first\nlast\n'))
  assert.ok(!isShown('a (b)', 'a b\n'))
  assert.ok(hasStarted('first', 'first\nlast\n'))
  assert.ok(!hasStarted('first\nlast', 'first\n'))
})
