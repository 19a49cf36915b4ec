/**
 * Runs every command of orchctl. `--help` lists the commands, and a command without a row in `rows/` fails. Each row
 * compares stdout, stderr and the exit code. In some parts, the first row, and the first row that sets the environment,
 * run in the real program. The long variant runs the first row of each command and all rows that set the environment in
 * the real program. All other rows run inside this process, which omits only the startup of the program.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { serveUp } from '../../support/in-process.ts'
import { long, someOf } from '../../support/long.ts'
import { orchctl } from '../../support/orchctl.ts'
import { type Ran, runCommand } from '../../support/run-command.ts'
import { root, withoutRootCa } from '../../support/server.ts'
import { parts } from './rows/all.ts'
import type { Part, Row } from './rows/row.ts'

const server = await serveUp({ after }, ['--profile=kubernetes', withoutRootCa])
const rows = parts.flatMap((part) => part.rows)
// A failed edit keeps its file for the user. In this test, the file is deleted together with the server's directory.
process.env.TMPDIR = server.directory

/** Where the rows of a part run: a directory, and a namespace that the output shows as the default namespace. */
interface Place {
  readonly directory: string
  readonly namespace: string
}

const configFile = 'admin.kubeconfig'

async function prepare({ name, given }: Part): Promise<Place> {
  const place = { directory: join(server.directory, name), namespace: `rows-of-${name}` }
  mkdirSync(place.directory)
  const text = readFileSync(join(server.directory, 'admin.kubeconfig'), 'utf8')
  const config = parse(text)
  for (const { context } of config.contexts) context.namespace = place.namespace
  writeFileSync(join(place.directory, configFile), JSON.stringify(config), { mode: 0o600 })
  const made = await server.client().post('/api/v1/namespaces', { metadata: { name: place.namespace } })
  assert.equal(made.status, 201)
  if (given === '') return place
  const { code, stderr } = await runHere(place, { command: 'create', args: ['create', '-f', '-'], stdin: given })
  assert.deepEqual([code, stderr], [0, ''])
  return place
}

async function runProgram({ directory }: Place, { args, stdin = '', environment = {} }: Row): Promise<Ran> {
  const own = { HOME: '/nonexistent', KUBECONFIG: join(directory, configFile), ...environment }
  const env = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...own }
  return await runCommand(join(root, 'bin/orchctl'), args, { input: stdin, cwd: directory, env })
}

async function runHere({ directory }: Place, { args, stdin = '', environment = {} }: Row): Promise<Ran> {
  return await orchctl(args, { env: { KUBECONFIG: join(directory, configFile), ...environment }, directory, stdin })
}

function setsEnvironment({ environment }: Row): boolean {
  return environment !== undefined
}

const rowsOfProgram = [...someOf(parts, 4).map((part) => part.rows[0]), rows.find(setsEnvironment)]

function runsProgram(row: Row): boolean {
  if (!long) return rowsOfProgram.includes(row)
  return setsEnvironment(row) || rows.find(({ command }) => command === row.command) === row
}

/** Masks the values that differ between runs. */
function masked(text: string, { directory, namespace }: Place): string {
  return text
    .replaceAll(directory, 'DIR')
    .replaceAll(namespace, 'default')
    .replaceAll(server.url, 'SERVER')
    .replaceAll(/orchctl-(?:edit|diff)-\w{6}/g, 'orchctl-TEMP')
    .replaceAll(/^([-+]{3} .*?)\t.*$/gm, '$1')
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UID')
    .replaceAll(/"?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"?/g, 'TIME')
    .replaceAll(/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), .* \+0000/g, 'DATE')
    .replaceAll(/(resourceVersion: )"\d+"/g, '$1"N"')
    .replaceAll(/(Resource Version: +)\d+/g, '$1N')
    .replaceAll(/^(.*\S {2,})(?:\d+s|\d+m(?:\d+s)?)$/gm, '$1AGE')
}

function compare(said: string, expected: string | RegExp): void {
  if (typeof expected === 'string') assert.equal(said, expected)
  else assert.match(said, expected)
}

for (const part of parts)
  describe(part.name, () => {
    let place: Place
    before(async () => {
      place = await prepare(part)
    })

    for (const row of part.rows)
      test(`orchctl ${row.args.join(' ')}`, async () => {
        for (const [name, content] of Object.entries(row.files ?? {})) {
          mkdirSync(dirname(join(place.directory, name)), { recursive: true })
          writeFileSync(join(place.directory, name), content)
        }
        const ran = await (runsProgram(row) ? runProgram : runHere)(place, row)
        compare(masked(ran.stdout, place), row.stdout ?? '')
        compare(masked(ran.stderr, place), row.stderr ?? '')
        assert.equal(ran.code, row.code ?? 0)
      })
  })

/** Returns the command names that a help text lists. */
function commandsIn(help: string): string[] {
  const [, list = ''] = /\nCommands:\n((?: {2}.*\n)*)/.exec(help) ?? []
  return list
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/)[0]!)
    .filter((name) => name !== '' && name !== 'help COMMAND')
}

async function allCommands(words: readonly string[]): Promise<string[]> {
  const { stdout } = await orchctl([...words, '--help'])
  const inner = commandsIn(stdout)
  const isCommand = inner.length === 0 || !/\n {2}orchctl .* COMMAND /.test(stdout)
  const own = isCommand ? [words.join(' ')] : []
  const nested = await Promise.all(inner.map((name) => allCommands([...words, name])))
  return [...own, ...nested.flat()].filter((name) => name !== '')
}

test('every command has a test row', async () => {
  const known = await allCommands([])
  assert.ok(known.length > 40, `only ${known.length} commands are in the help`)
  assert.deepEqual(
    known.filter((command) => !rows.some((row) => row.command === command)),
    [],
  )
  assert.deepEqual(
    rows.filter((row) => !known.includes(row.command)).map(({ command }) => command),
    [],
  )
})

test('the help of every command fits narrow terminals, except for examples and single words', async () => {
  const known = await allCommands([])
  for (const command of ['', ...known]) {
    const args = ['help', ...command.split(' ').filter((word) => word !== '')]
    const plain = await orchctl(args)
    for (const columns of [40, 60, 80]) {
      const { stdout } = await orchctl(args, { terminal: { out: true, err: true, columns } })
      const wide = stdout.split('\n').filter((line) => line.length > columns && line.trim().includes(' '))
      assert.deepEqual(
        wide.filter((line) => !line.startsWith('  orchctl ') && !/^ {2}\S+.*orchctl/.test(line)),
        [],
        `help ${command}`,
      )
      // Help texts are equal if they contain the same words, even if the lines are wrapped differently.
      assert.equal(stdout.replaceAll(/\s+/g, ' '), plain.stdout.replaceAll(/\s+/g, ' '))
    }
  }
})

test('global flags may precede the help command, and the help text lists them once', async () => {
  const plain = await orchctl(['help', 'get'])
  assert.deepEqual(await orchctl(['-n', 'shop', '--context=x', 'help', 'get']), plain)
  assert.doesNotMatch(plain.stdout, /--kubeconfig/)
  assert.match(plain.stdout, /For flags that all commands accept, such as -n, run `orchctl options`\.\n$/)
})

test('a kubeconfig is complete and readable only by its owner after every change', async () => {
  const place = { directory: join(server.directory, 'whole'), namespace: 'default' }
  mkdirSync(place.directory)
  const file = join(place.directory, configFile)
  for (const args of [
    ['set-cluster', 'c', '--server=https://127.0.0.1:1'],
    ['set-credentials', 'u', '--token=secret'],
    ['set-context', 'two', '--cluster=c', '--user=u'],
    ['use-context', 'two'],
  ]) {
    const { code, stderr } = await runHere(place, { command: 'config', args: ['config', ...args] })
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(parse(readFileSync(file, 'utf8')).kind, 'Config')
    assert.equal(statSync(file).mode & 0o777, 0o600)
  }
  assert.equal(parse(readFileSync(file, 'utf8'))['current-context'], 'two')
})
