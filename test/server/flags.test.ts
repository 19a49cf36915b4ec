/**
 * Every flag of kube-apiserver and kube-controller-manager 1.23 is accepted or rejected with a reason. `docs/flags.md`
 * lists them. With ORCH_WRITE_DOCS=1 this test writes that file.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { type Flag, type Flags, UsageError } from '../../src/base/flags/flags.ts'
import { allManagerFlags } from '../../src/server/flags/controller-manager.ts'
import { type ForeignFlags, withoutForeign } from '../../src/server/flags/foreign.ts'
import { apiServerForeign, managerForeign } from '../../src/server/flags/foreign-flags.ts'
import { serverFlags } from '../../src/server/flags/options.ts'

const root = dirname(dirname(import.meta.dirname))
const document = join(root, 'docs/flags.md')
const rows = readFileSync(join(root, 'test/data/kube-flags.tsv'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('\t') as [program: string, flag: string, group: string])

interface Program {
  readonly name: string
  readonly command: string
  readonly known: Flags
  readonly foreign: ForeignFlags
}

const programs: readonly Program[] = [
  { name: 'kube-apiserver', command: 'orch apiserver', known: serverFlags, foreign: apiServerForeign },
  {
    name: 'kube-controller-manager',
    command: 'orch controller-manager',
    known: allManagerFlags,
    foreign: managerForeign,
  },
]
/** Commands and flags of every program. */
const everywhere = new Set(['help', 'version'])

function flagsOf({ name }: Program): string[] {
  return rows.filter(([program]) => program === name).map(([, flag]) => flag)
}

function ours({ known }: Program, flag: string): Flag<unknown> | undefined {
  return Object.values(known).find(({ name }) => name === flag)
}

test('every Kubernetes flag is accepted, or rejected with one sentence', () => {
  for (const program of programs) {
    const flags = flagsOf(program)
    const without = flags.filter((flag) => !everywhere.has(flag) && !ours(program, flag) && !program.foreign[flag])
    assert.deepEqual(without, [], `${program.name}: neither taken nor refused`)
    const both = Object.keys(program.foreign).filter((flag) => ours(program, flag) !== undefined)
    assert.deepEqual(both, [], `${program.name}: taken by now, so their rows in foreign-flags.ts must go`)
    const unknown = Object.keys(program.foreign).filter((flag) => !flags.includes(flag))
    assert.deepEqual(unknown, [], `${program.name} has no such flag`)
  }
})

test('a value that describes the existing behavior is accepted, and any other is rejected with the reason', () => {
  const [apiserver] = programs as [Program]
  const read = (...args: string[]) => withoutForeign(args, apiserver.known, apiserver.foreign)
  assert.deepEqual(read('--watch-cache', '--v=2', '--storage-backend', 'etcd3', '--secure-port', '1'), [
    ...['--v=2', '--secure-port', '1'],
  ])
  assert.deepEqual(read('--allow-privileged=true', '--nonsense=1', '-x'), ['--nonsense=1', '-x'])
  const refusals: readonly (readonly [string[], RegExp])[] = [
    [['--watch-cache=false'], /^--watch-cache is not supported: lists .*; only --watch-cache=true is taken$/],
    [['--etcd-compaction-interval', '5m'], /^--etcd-compaction-interval is not supported: history is kept for/],
    [
      ['--storage-backend=etcd2'],
      /--storage-backend is not supported: the backend is etcd where --etcd-servers is set/,
    ],
  ]
  for (const [args, expected] of refusals)
    assert.throws(
      () => read(...args),
      (error) => error instanceof UsageError && expected.test(error.message),
    )
})

test('docs/flags.md lists all flags', () => {
  const text = listing()
  if (process.env.ORCH_WRITE_DOCS) writeFileSync(document, text)
  const hint = 'docs/flags.md is not what it should be: ORCH_WRITE_DOCS=1 npm test -- server/flags writes it'
  assert.ok(readFileSync(document, 'utf8') === text, hint)
})

function listing(): string {
  return [
    '# Flags of Kubernetes, and what becomes of them here',
    '',
    'All flags of kube-apiserver and kube-controller-manager 1.23. A flag that is taken does what it does there, unless its',
    'line says otherwise; `--help` shows those and the flags of our own. A flag that is not taken is refused at the start with',
    'the reason below: nothing is taken and then ignored. This list is checked by `test/server/flags.test.ts`.',
    ...programs.flatMap(section),
    '',
  ].join('\n')
}

function section(program: Program): string[] {
  const flags = flagsOf(program)
  const taken = flags.filter((flag) => everywhere.has(flag) || ours(program, flag))
  const lines = flags.map((flag) => `| \`--${flag}\` | ${fate(program, flag)} |`)
  const title = `## ${program.name}: \`${program.command}\``
  const counts = `${taken.length} of ${flags.length} are taken.`
  return ['', title, '', counts, '', '| flag | here |', '| ---- | ---- |', ...lines]
}

function fate(program: Program, flag: string): string {
  const known = ours(program, flag)
  if (known !== undefined) return `taken: ${plain(known.help)}${known.default && ` (default \`${known.default}\`)`}`
  if (everywhere.has(flag)) return 'taken'
  const { why, only } = program.foreign[flag]!
  return only === undefined ? `refused: ${plain(why)}` : `only \`${only[0] || "''"}\`: ${plain(why)}`
}

function plain(text: string): string {
  return text.replaceAll('|', '\\|')
}
