/**
 * Every command of orchctl has a row here: `--help` is read for what there is, and a command without a row fails. Each
 * row runs the real program. What is in stdout, in stderr and the exit code are compared, all three, always.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { configOf, orchctl } from '../tools/orchctl.ts'
import { type Ran, runCommand } from '../tools/run-command.ts'
import { root, startUp } from '../tools/server.ts'
import { type Row, rows } from './rows.ts'

const server = await startUp({ after }, ['--profile=kubernetes'])
const directory = server.directory
const env = { KUBECONFIG: configOf(server) }

async function runProgram(args: readonly string[], { stdin = '', environment = {} }: Row): Promise<Ran> {
  return await runCommand(join(root, 'bin/orchctl'), args, {
    input: stdin,
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env, ...environment },
  })
}

/** What differs from run to run. */
function masked(text: string): string {
  return text
    .replaceAll(directory, 'DIR')
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
  if (typeof expected === 'string') assert.equal(masked(said), expected)
  else assert.match(masked(said), expected)
}

for (const row of rows) {
  test(`orchctl ${row.args.join(' ')}`, async () => {
    for (const [name, content] of Object.entries(row.files ?? {})) writeFileSync(join(directory, name), content)
    const ran = await runProgram(row.args, row)
    compare(ran.stdout, row.stdout ?? '')
    compare(ran.stderr, row.stderr ?? '')
    assert.equal(ran.code, row.code ?? 0)
  })
}

/** The names in the list of commands that a help shows. */
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

test('every command has a row', async () => {
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

test('the help of every command fits a terminal, however narrow, but for examples and what is one word', async () => {
  const known = await allCommands([])
  for (const columns of [40, 60, 80])
    for (const command of ['', ...known]) {
      const terminal = { out: true, err: true, columns }
      const { stdout } = await orchctl(['help', ...command.split(' ').filter((word) => word !== '')], { terminal })
      const wide = stdout.split('\n').filter((line) => line.length > columns && line.trim().includes(' '))
      assert.deepEqual(
        wide.filter((line) => !line.startsWith('  orchctl ') && !/^ {2}\S+.*orchctl/.test(line)),
        [],
        `help ${command}`,
      )
      // What is filled anew says the same.
      const plain = await orchctl(['help', ...command.split(' ').filter((word) => word !== '')])
      assert.equal(stdout.replaceAll(/\s+/g, ' '), plain.stdout.replaceAll(/\s+/g, ' '))
    }
})

test('a config file is whole and private after every change', () => {
  const text = readFileSync(join(directory, 'own.kubeconfig'), 'utf8')
  assert.match(text, /current-context: two/)
})
