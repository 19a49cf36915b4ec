/**
 * Tests that every flag of kube-apiserver 1.23 to 1.36 and kube-controller-manager 1.23 is supported or rejected with a
 * reason, and that `docs/reference/flags.md` lists all flags. With ORCH_WRITE_DOCS=1, the test updates that file.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { type Flag, type Flags, UsageError } from '../../src/base/flags/flags.ts'
import { parseDuration } from '../../src/base/time/duration.ts'
import { auditLogLimits } from '../../src/server/flags/audit.ts'
import { allManagerFlags } from '../../src/server/flags/controller-manager.ts'
import { serverFlags } from '../../src/server/flags/options.ts'
import { type UnsupportedFlags, withoutUnsupported } from '../../src/server/flags/unsupported-flag.ts'
import { unsupportedApiServerFlags, unsupportedManagerFlags } from '../../src/server/flags/unsupported-flags.ts'
import { recordedFlags } from '../support/levels.ts'

const root = dirname(dirname(import.meta.dirname))
const document = join(root, 'docs/reference/flags.md')
const rows = readFileSync(join(root, 'test/data/kube-flags.tsv'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('\t') as [program: string, flag: string, group: string])

interface Program {
  readonly name: string
  readonly command: string
  readonly supportedFlags: Flags
  readonly unsupportedFlags: UnsupportedFlags
}

const programs: readonly Program[] = [
  {
    name: 'kube-apiserver',
    command: 'orch apiserver',
    supportedFlags: serverFlags,
    unsupportedFlags: unsupportedApiServerFlags,
  },
  {
    name: 'kube-controller-manager',
    command: 'orch controller-manager',
    supportedFlags: allManagerFlags,
    unsupportedFlags: unsupportedManagerFlags,
  },
]
/** Flags that all programs have. */
const everywhere = new Set(['help', 'version'])

const laterFlags = recordedFlags()

/** Returns the flags of 1.23, followed by the flags of later versions. */
function flagsOf({ name }: Program): string[] {
  const first = rows.filter(([program]) => program === name).map(([, flag]) => flag)
  const later = name === 'kube-apiserver' ? laterFlags.map((each) => each.name) : []
  return [...new Set([...first, ...later])]
}

function ours({ supportedFlags }: Program, flag: string): Flag<unknown> | undefined {
  return Object.values(supportedFlags).find(({ name }) => name === flag)
}

test('every Kubernetes flag is either accepted or rejected with a one-sentence reason', () => {
  for (const program of programs) {
    const flags = flagsOf(program)
    const without = flags.filter(
      (flag) => !everywhere.has(flag) && !ours(program, flag) && !program.unsupportedFlags[flag],
    )
    assert.deepEqual(without, [], `${program.name}: neither supported nor rejected`)
    const both = Object.keys(program.unsupportedFlags).filter((flag) => ours(program, flag) !== undefined)
    assert.deepEqual(both, [], `${program.name}: now supported, so remove their rows from unsupported-flags.ts`)
    const unknown = Object.keys(program.unsupportedFlags).filter((flag) => !flags.includes(flag))
    assert.deepEqual(unknown, [], `${program.name} has no such flag`)
  }
})

test('an unsupported flag is accepted if its value matches the actual behavior, and otherwise rejected with a reason', () => {
  const [apiserver] = programs as [Program]
  const read = (...args: string[]) => withoutUnsupported(args, apiserver.supportedFlags, apiserver.unsupportedFlags)
  assert.deepEqual(read('--watch-cache', '--v=2', '--storage-backend', 'etcd3', '--secure-port', '1'), [
    ...['--v=2', '--secure-port', '1'],
  ])
  assert.deepEqual(read('--emulation-forward-compatible=false', '--debug-socket-path='), [])
  assert.deepEqual(read('--allow-privileged=true', '--nonsense=1', '-x'), ['--nonsense=1', '-x'])
  const refusals: readonly (readonly [string[], RegExp])[] = [
    [['--watch-cache=false'], /^--watch-cache is not supported: lists .*; only --watch-cache=true is accepted$/],
    [['--etcd-compaction-interval', '5m'], /^--etcd-compaction-interval is not supported: history is kept for/],
    [['--shutdown-watch-termination-grace-period=5s'], /is not supported: watches end when the server stops/],
    [['--storage-backend=etcd2'], /--storage-backend is not supported: the backend is etcd if --etcd-servers is set/],
  ]
  for (const [args, expected] of refusals)
    assert.throws(
      () => read(...args),
      (error) => error instanceof UsageError && expected.test(error.message),
    )
})

/** Flags whose defaults differ from those of Kubernetes, with the reasons. */
const otherDefaults: { readonly [flag: string]: string } = {
  'anonymous-auth': 'unset means true unless AlwaysAllow is the mode',
  'audit-log-batch-max-wait': 'a batch waits at most a second',
  'audit-log-maxage': 'the version determines the default: see the next test',
  'audit-log-maxbackup': 'the version determines the default: see the next test',
  'audit-log-maxsize': 'the default of 1.36 applies at every version',
  'authorization-mode': 'the default must not allow everything',
  'bind-address': 'the default must not open the server to the network',
  'cert-dir': 'certificates are in the data directory',
  'etcd-prefix': 'the keys of a kube-apiserver stay untouched',
  'service-cluster-ip-range': 'Kubernetes requires this flag',
  'tls-min-version': 'Kubernetes has the same default in Go',
}

/** Returns a default value in a normalized form, so that different notations of a value are equal. */
function comparableDefault(type: string, text: string): string {
  const value = text.replace(/^"(.*)"$/, '$1').replace(/^\[(.*)\]$/, '$1')
  if (type === 'bool') return value || 'false'
  if (type === 'duration') return String(parseDuration(value || '0s'))
  return ['int', 'int32', 'float', 'float32', 'Level'].includes(type) ? String(Number(value)) : value
}

test('the defaults of flags are the same as in Kubernetes, except for a list of known differences', () => {
  const [apiserver] = programs as [Program]
  const differing = laterFlags.filter(({ name, type, defaults }) => {
    const flag = ours(apiserver, name)
    if (flag === undefined || everywhere.has(name)) return false
    const own = comparableDefault(type, String(flag.default))
    return [...defaults.values()].some((each) => each !== undefined && comparableDefault(type, each) !== own)
  })
  assert.deepEqual(differing.map(({ name }) => name).sort(), Object.keys(otherDefaults).sort())
})

test('at each version, the default limits for rotated audit logs are the same as in Kubernetes', () => {
  for (const [name, limit] of [
    ['audit-log-maxage', 'auditLogMaxage'],
    ['audit-log-maxbackup', 'auditLogMaxbackup'],
  ] as const) {
    const { defaults } = laterFlags.find((later) => later.name === name)!
    for (const [version, expected] of defaults)
      assert.equal(auditLogLimits({ emulatedVersion: version })[limit], Number(expected), version)
  }
})

test('docs/reference/flags.md lists all Kubernetes flags', () => {
  const text = listing()
  if (process.env.ORCH_WRITE_DOCS) writeFileSync(document, text)
  const hint = 'docs/reference/flags.md is out of date: regenerate it with ORCH_WRITE_DOCS=1 npm test -- server/flags'
  assert.ok(readFileSync(document, 'utf8') === text, hint)
})

function listing(): string {
  return [
    '# Support for Kubernetes flags',
    '',
    'This page lists all flags of kube-apiserver 1.23 to 1.36 and of kube-controller-manager 1.23. Flags of later versions',
    'come last. A supported flag works as in Kubernetes unless its row says otherwise. To see the supported flags together',
    'with the flags that only orch has, run `orch help flags`. If you set an unsupported flag, the server does not start and',
    'reports the reason given here: orch never accepts a flag and ignores it. `test/server/flags.test.ts` checks this list.',
    ...programs.flatMap(section),
    '',
  ].join('\n')
}

function section(program: Program): string[] {
  const flags = flagsOf(program)
  const taken = flags.filter((flag) => everywhere.has(flag) || ours(program, flag))
  const lines = flags.map((flag) => `| \`--${flag}\` | ${fate(program, flag)} |`)
  const title = `## ${program.name}: \`${program.command}\``
  const counts = `${taken.length} of ${flags.length} flags are supported.`
  return ['', title, '', counts, '', '| flag | support |', '| ---- | ---- |', ...lines]
}

function fate(program: Program, flag: string): string {
  const supportedFlags = ours(program, flag)
  if (supportedFlags !== undefined)
    return `supported: ${plain(supportedFlags.help)}${supportedFlags.default && ` (default \`${supportedFlags.default}\`)`}`
  if (everywhere.has(flag)) return 'supported'
  const { why, only } = program.unsupportedFlags[flag]!
  return only === undefined ? `not supported: ${plain(why)}` : `only \`${only[0] || "''"}\`: ${plain(why)}`
}

function plain(text: string): string {
  return text.replaceAll('|', '\\|')
}
