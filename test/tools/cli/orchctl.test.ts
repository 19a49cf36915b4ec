/** Runs orchctl against real servers of both profiles and compares its output with kubectl. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { type EventEmitter, once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { commands } from '../../../src/tools/cli/commands/all.ts'
import type { Command } from '../../../src/tools/cli/program/command.ts'
import { type Restartable, serve } from '../../support/in-process.ts'
import { kubectl } from '../../support/kubectl.ts'
import { someOf } from '../../support/long.ts'
import { configOf, orchctl, spawnOrchctl, startOrchctl } from '../../support/orchctl.ts'
import { runCommand } from '../../support/run-command.ts'
import { root } from '../../support/server.ts'

const kube = await serve({ after }, ['--profile=kubernetes'])
const orch = await serve({ after })
const inKube = { env: { KUBECONFIG: configOf(kube) } }
const inOrch = { env: { KUBECONFIG: configOf(orch) } }

const hostile = 'a\u001b[31mb\u009bc\u202e\u2028d\u007f'

before(async () => await Promise.all([fill(kube), fill(orch)]))

async function fill(server: Restartable): Promise<void> {
  const client = server.client()
  const post = async (path: string, body: object) => assert.equal((await client.post(path, body)).status, 201)
  await post('/api/v1/namespaces', { metadata: { name: 'other' } })
  const maps = '/api/v1/namespaces/default/configmaps'
  await post(maps, { metadata: { name: 'a', labels: { b: '2', a: '1' } }, data: { k: 'v', yes: 'no', l: 'x\ny\n' } })
  await post(maps, { metadata: { name: 'a-longer-name' }, data: { k: 'v', n: '1' } })
  for (const name of ['c', 'd', 'e']) await post(maps, { metadata: { name } })
  await post('/api/v1/namespaces/other/configmaps', { metadata: { name: 'a' }, data: { k: hostile } })
  await post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' }, stringData: { password: 'x' } })
  const involvedObject = { kind: 'ConfigMap', name: 'a', namespace: 'default' }
  const seen = { firstTimestamp: new Date().toISOString(), reason: 'Seen', message: 'it is there ', type: 'Normal' }
  await post('/api/v1/namespaces/default/events', { metadata: { name: 'a.1' }, involvedObject, ...seen })
}

/**
 * Masks ages, which depend on the time of the request, and the widths of their columns. Also removes the quotes around
 * a dot, because YAML does not require them.
 */
function masked(text: string): string {
  return text
    .replaceAll('".": {}', '.: {}')
    .replaceAll(/\b(?:\d+s|\d+m(?:\d+s)?)( *)(?=\S|$)/gm, (_, gap: string) => (gap === '' ? 'AGE' : 'AGE '))
}

const asKubectl = [
  'get cm',
  'get cm a',
  'get cm a nope',
  'get cm nope nope2',
  'get cm a a',
  'get cm -A',
  'get cm,secret',
  'get ns,cm -A',
  'get cm/a secret/s cm/c',
  'get cm/a cm/c',
  'get cm,secret a',
  'get cm,cm',
  'get secret,cm -n other',
  'get cm -n nope',
  'get cm,secret -n nope --no-headers',
  'get ns,cm -l none=such',
  'get cm -A -l none=such',
  'get cm -l a=1,b --show-labels',
  'get cm -A --show-labels --field-selector=metadata.name=a',
  'get cm,secret --no-headers',
  'get secret -o wide --show-labels',
  'get ev',
  'get events -o wide --field-selector=involvedObject.name=a',
  'get cm --chunk-size=2',
  'get cm,ns -oname',
  'get ConfigMap c -o name',
  'get configmaps.v1. c',
  'get cm -n nope -o name',
  'get ns default -A',
  'get cm a -A',
  'get cm a -l a=1',
  'get cm,nothing',
  'get cm/',
  'get cm,secret -w',
  '-n other get cm',
  'get cm a -o json',
  'get cm nope -o json',
  'get cm a -o yaml',
  'api-resources',
  'api-resources -o wide',
  'api-resources --no-headers --namespaced',
  'api-resources --namespaced=false -o name',
  'api-resources --api-group=nope',
]

// Run only some of the rows, because starting kubectl costs more than running orchctl in this process.
for (const line of someOf(asKubectl, 16)) {
  test(`orchctl prints the same output as kubectl: ${line}`, async () => {
    const args = line.split(' ')
    // This version of kubectl does not hide managed fields yet.
    const shown = /json|yaml/.test(line) ? ['--show-managed-fields'] : []
    const [ours, theirs] = await Promise.all([orchctl([...args, ...shown], inKube), kubectl(kube, args)])
    assert.equal(masked(ours.stdout), masked(theirs.stdout))
    assert.equal(ours.stderr, theirs.stderr)
    assert.equal(ours.code, theirs.code)
  })
}

interface Row {
  readonly args: readonly string[]
  readonly stdout?: RegExp | string
  readonly stderr?: RegExp | string
  readonly code?: number
}

const rows: readonly Row[] = [
  { args: ['get', 'cm', 'a', 'c'], stdout: 'NAME   DATA   AGE\na      3      AGE\nc      0      AGE\n' },
  { args: ['get', 'ns', 'default', '--no-headers'], stdout: 'default   Active   AGE\n' },
  { args: ['get', 'cm', 'nope'], stderr: 'Error from server (NotFound): configmaps "nope" not found\n', code: 1 },
  { args: ['get', 'secret', '-n', 'other'], stderr: 'No resources found in other namespace.\n' },
  { args: ['get', 'cm', '-l', 'a in'], stderr: /^Error from server \(BadRequest\): .*label selector/, code: 1 },
  { args: ['get'], stderr: /^error: you must specify the type of resource: .*api-resources/, code: 1 },
  { args: ['get', 'cm', 'secret/s'], stderr: /^error: "cm" cannot be combined with "secret\/s"/, code: 1 },
  { args: ['get', 'cm', 'a', 'c', '-w'], stderr: /^error: you may only watch a single resource/, code: 1 },
  { args: ['get', 'cm', '-o', 'xml'], stderr: /^error: --output: "xml" is not one of wide, json, yaml, name/, code: 1 },
  { args: ['get', 'cm', '--chunk-size=-1'], stderr: /^error: --chunk-size: "-1" is not/, code: 1 },
  { args: ['get', 'cm', '--wach'], stderr: /^error: unknown flag --wach; did you mean --watch\?/, code: 1 },
  {
    args: ['help', 'bogus'],
    stderr: /^error: unknown command "bogus"; known commands are (?!.*did you mean)/,
    code: 1,
  },
  { args: ['gett', 'cm'], stderr: /^error: unknown command "gett"; did you mean get\?/, code: 1 },
  {
    args: ['alpha', 'x'],
    stderr: 'error: `orchctl alpha` is not supported; `orchctl help` lists the commands\n',
    code: 1,
  },
  { args: ['certificate', 'csr'], stderr: /^error: `orchctl certificate csr` is not supported; /, code: 1 },
  { args: ['get', 'cm', '..'], stderr: /^error: "\.\." is not a valid name/, code: 1 },
  { args: ['get', '\u001b[31m'], stderr: /^error: the server doesn't have a resource type "\\u001b\[31m"\n$/, code: 1 },
  { args: ['get', 'cm', 'x\u001b[31m'], stderr: /^Error from server [ -~]*\n$/, code: 1 },
  { args: ['version'], stdout: /^Client Version: v\d+\.\d+\.\d+\nServer Version: v1\.23\.\d+\+orch\.\d+\.\d+\.\d+\n$/ },
  { args: ['version', '--client'], stdout: /^Client Version: v\d+\.\d+\.\d+\n$/ },
  { args: ['--version'], stdout: /^Client Version: v\d+\.\d+\.\d+\n$/ },
  { args: ['version', 'x'], stderr: 'error: unexpected argument "x"\n', code: 1 },
  {
    args: ['version', '-s', 'https://127.0.0.1:1'],
    stdout: /^Client Version: .*\n$/,
    stderr:
      /^error: cannot connect to https:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*\nNothing listens there: is the server running\?/,
    code: 1,
  },
  { args: ['api-resources', '-oname'], stdout: /^configmaps\n/m },
]

for (const { args, stdout = '', stderr = '', code = 0 } of rows) {
  test(`orchctl ${args.map((arg) => JSON.stringify(arg)).join(' ')}`, async () => {
    const ran = await orchctl(args, inOrch)
    for (const [said, expected] of [[masked(ran.stdout), stdout] as const, [ran.stderr, stderr] as const])
      if (typeof expected === 'string') assert.equal(said, expected)
      else assert.match(said, expected)
    assert.equal(ran.code, code)
  })
}

test('orchctl prints several objects as a List without managed fields', async () => {
  const { stdout } = await orchctl(['get', 'cm,ns', '-o', 'yaml'], inOrch)
  const { items, ...list } = parse(stdout)
  assert.deepEqual(list, { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' } })
  assert.deepEqual([...new Set(items.map(({ kind }: { kind: string }) => kind))], ['ConfigMap', 'Namespace'])
  assert.ok(items.every((item: { metadata: object }) => !('managedFields' in item.metadata)))
  assert.deepEqual(JSON.parse((await orchctl(['get', 'cm,ns', '-o', 'json'], inOrch)).stdout), { ...list, items })
})

test('orchctl escapes control characters without changing the value', async () => {
  for (const format of ['json', 'yaml']) {
    const { stdout } = await orchctl(['get', 'cm', 'a', '-n', 'other', '-o', format], inOrch)
    assert.doesNotMatch(stdout, /[^\n\P{Cc}]|[\u202e\u2028]/u)
    assert.equal(parse(stdout).data.k, hostile)
  }
})

test('orchctl reports an invalid token and missing permissions', async () => {
  const client = orch.client('alice-token')
  assert.equal((await client.get('/api/v1/namespaces')).status, 403)
  const config = (token: string) => ({
    clusters: [{ name: 'c', cluster: { server: orch.url, 'certificate-authority': 'data/pki/ca.crt' } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'other' } }],
    'current-context': 'x',
  })
  const run = async (token: string, ...args: string[]) => {
    const file = `${orch.directory}/token.kubeconfig`
    writeFileSync(file, JSON.stringify(config(token)))
    return await orchctl([`--kubeconfig=${file}`, ...args])
  }
  assert.equal((await run('admin-token', 'get', 'cm', '-o', 'name')).stdout, 'configmap/a\n')
  assert.match((await run('alice-token', 'get', 'cm')).stderr, /^Error from server \(Forbidden\): /)
  assert.equal((await run('wrong', 'get', 'cm')).stderr, 'error: You must be logged in to the server (Unauthorized)\n')
})

/** All commands that can be run. The words of a subcommand start with the names of its parent commands. */
const allCommands = commandsIn(commands, [])

function commandsIn(
  entries: typeof commands,
  before: readonly string[],
): { words: string[]; load: () => Promise<Command> }[] {
  return entries.flatMap((entry) => {
    const words = [...before, entry.name]
    if ('commands' in entry) return commandsIn(entry.commands, words)
    return [{ words, load: entry.load }]
  })
}

test('orchctl prints help for the program and for each command', async () => {
  const { stdout, code } = await orchctl(['--help'])
  assert.equal(code, 0)
  for (const { name, summary } of commands) assert.match(stdout, new RegExp(`^  ${name} +${summary}$`, 'm'))
  for (const { words, load } of allCommands) {
    const { help } = await load()
    assert.match(help, new RegExp(`^  orchctl ${words.join(' ')}\\b`, 'm'))
    for (const args of [
      ['help', ...words],
      [...words, '--help'],
      [...words, '-h'],
    ])
      assert.equal((await orchctl(args)).stdout, help)
  }
  assert.equal((await orchctl([])).stdout, stdout)
  const group = await orchctl(['rollout', '--help'])
  assert.deepEqual([(await orchctl(['rollout'])).stdout, group.code], [group.stdout, 0])
  assert.equal((await orchctl(['rollout'])).code, 1, 'as kubectl: a word is missing')
})

/** Resolves when the condition is met. Checks the condition whenever one of the sources emits data. */
async function until(ready: () => boolean, ...sources: EventEmitter[]): Promise<void> {
  const late = AbortSignal.timeout(120_000)
  while (!ready()) {
    const heard = new AbortController()
    const signal = AbortSignal.any([late, heard.signal])
    await Promise.race(sources.map((source) => once(source, 'data', { signal })))
    heard.abort()
  }
}

async function changeThings(server: Restartable, namespace: string): Promise<void> {
  const client = server.client()
  const maps = `/api/v1/namespaces/${namespace}/configmaps`
  await client.post(maps, { metadata: { name: 'w' } })
  await client.post(maps, { metadata: { name: 'a-name-that-is-wider-than-the-others' } })
  await client.put(`${maps}/w`, { metadata: { name: 'w', labels: { x: 'y' } }, data: { k: 'v' } })
  await client.delete(`${maps}/w`)
}

for (const flags of [[], ['-A', '--show-labels'], ['-o', 'name'], ['--no-headers', '-n', 'empty']]) {
  test(`orchctl watches like kubectl: get cm -w ${flags.join(' ')}`, async () => {
    const namespace = flags.includes('empty') ? 'empty' : 'default'
    const client = kube.client()
    await client.post('/api/v1/namespaces', { metadata: { name: 'empty' } })
    await client.delete(`/api/v1/namespaces/${namespace}/configmaps/a-name-that-is-wider-than-the-others`)
    const args = ['get', 'cm', '-w', ...flags]
    const ours = startOrchctl(args, inKube)
    const theirs = spawn('kubectl', [
      `--kubeconfig=${configOf(kube)}`,
      `--cache-dir=${kube.directory}/kubectl`,
      ...args,
    ])
    let said = ''
    theirs.stdout.on('data', (chunk) => (said += chunk))
    const sources = [ours.output, theirs.stdout]
    try {
      // In an empty namespace, the test could not detect that the watches are established, so first create an object.
      if (namespace === 'empty') {
        await client.post('/api/v1/namespaces/empty/configmaps', { metadata: { name: 'first' } })
      }
      await until(() => /\n/.test(said) && /\n/.test(ours.stdout()), ...sources)
      await changeThings(kube, namespace)
      const lines = (text: string) => text.split('\n').length
      const last = (text: string) => (text.match(/\bw\b/g) ?? []).length >= 3
      await until(() => last(said) && last(ours.stdout()) && lines(said) === lines(ours.stdout()), ...sources)
    } finally {
      ours.stop()
      theirs.kill()
    }
    assert.equal(masked(ours.stdout()), masked(said))
    const { code, stderr } = await ours.ended
    assert.deepEqual([code, stderr], [130, ''])
  })
}

test('an orchctl watch with YAML output prints a stream of documents', async () => {
  const watch = startOrchctl(['get', 'cm', 'c', '-w', '-o', 'yaml'], inOrch)
  await until(() => watch.stdout() !== '', watch.output)
  await orch.client().put('/api/v1/namespaces/default/configmaps/c', { metadata: { name: 'c' }, data: { k: 'new' } })
  await until(() => watch.stdout().includes('new'), watch.output)
  watch.stop()
  const documents = (await watch.ended).stdout.split('---\n').map((text) => parse(text))
  assert.deepEqual(
    documents.map(({ kind, data }) => [kind, data?.k]),
    [
      ['ConfigMap', undefined],
      ['ConfigMap', 'new'],
    ],
  )
})

test('Ctrl-C ends an orchctl watch without an error message', async () => {
  const child = spawnOrchctl(orch, ['get', 'ns', '-w'])
  let stderr = ''
  child.stderr!.on('data', (chunk) => (stderr += chunk))
  await once(child.stdout!, 'data')
  child.kill('SIGINT')
  assert.deepEqual(await once(child, 'exit'), [130, null])
  assert.equal(stderr, '')
})

test('orchctl exits with a nonzero code and without an error message if its output pipe is closed', async () => {
  const child = spawnOrchctl(orch, ['get', 'ns', '-w'])
  let stderr = ''
  child.stderr!.on('data', (chunk) => (stderr += chunk))
  await once(child.stdout!, 'data')
  child.stdout!.destroy()
  const exit = once(child, 'exit')
  await orch.client().post('/api/v1/namespaces', { metadata: { name: 'unread' } })
  assert.deepEqual(await exit, [141, null])
  assert.equal(stderr, '')
})

test('orchctl reports a write error in one line', async () => {
  const program = join(root, 'bin/orchctl')
  const line = `exec "${program}" --kubeconfig="${configOf(orch)}" get ns > /dev/full`
  const { code, stderr } = await runCommand('sh', ['-c', line])
  assert.deepEqual([code, stderr], [1, 'error: cannot write the output: ENOSPC\n'])
})

test('orchctl prints the name of the server that it uses if another server was started in the same directory', async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'orch-cli-'))
  t.after(() => rmSync(place, { recursive: true, force: true }))
  const home = join(place, 'home')
  const directory = join(place, 'checkout')
  mkdirSync(join(home, '.kube'), { recursive: true })
  mkdirSync(join(directory, '.orch'), { recursive: true })
  copyFileSync(configOf(kube), join(home, '.kube/config'))
  copyFileSync(configOf(orch), join(directory, '.orch/admin.kubeconfig'))
  const expectedNote = `orchctl: using ${kube.url} from ${home}/.kube/config; for this directory's server, use --kubeconfig=.orch/admin.kubeconfig\n`
  const ask = (args: string[], surroundings: object) =>
    orchctl([...args, 'get', 'ns', 'default', '-oname'], surroundings)
  assert.deepEqual(await ask([], { home, directory }), { code: 0, stdout: 'namespace/default\n', stderr: expectedNote })
  // No note is printed if the user has selected a server or there is only one server.
  for (const [args, surroundings] of [
    [[`--kubeconfig=${configOf(kube)}`], { home, directory }],
    [[`--server=${kube.url}`], { home, directory }],
    [[], { home, directory, env: { KUBECONFIG: configOf(kube) } }],
    [[], { home, directory: place }],
    [[], { home: place, directory }],
  ] as const)
    assert.equal((await ask([...args], surroundings)).stderr, '')
  copyFileSync(configOf(kube), join(directory, '.orch/admin.kubeconfig'))
  assert.equal((await ask([], { home, directory })).stderr, '')
})
