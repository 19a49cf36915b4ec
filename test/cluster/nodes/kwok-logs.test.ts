/** Tests Logs and ClusterLogs objects: files in one directory become the logs of simulated containers. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { removeTemporary, temporaryDirectory } from '../../../src/base/files/temporary-directory.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { kwokKinds, kwokType } from '../../../src/cluster/nodes/kwok/kinds.ts'
import { logRules } from '../../../src/cluster/nodes/kwok/log-objects.ts'
import { readClusterRules, readOwnRules } from '../../../src/cluster/nodes/kwok/pod-rules.ts'
import { readLoopFiles } from '../../../src/server/cluster/server-with-loops.ts'
import { readServerFlags } from '../../../src/server/flags/command-line.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serveUpWithThread } from '../../support/in-process.ts'
import { until, untilTrue } from '../../support/until.ts'

const namespace = 'default'
const parent = temporaryDirectory('orch-test-logs-')
after(() => removeTemporary(parent))
const directory = join(parent, 'logs')
const owner = endOfFile()
const logsType = kwokType(kwokKinds.logs)
const clusterLogsType = kwokType(kwokKinds.clusterLogs)
let server: Restartable
let client: Client

before(async () => {
  mkdirSync(directory)
  writeFileSync(join(directory, 'web.log'), 'first\nsecond\n')
  writeFileSync(join(directory, 'large.log'), `${'x'.repeat(99)}\n`.repeat(10_000))
  writeFileSync(join(parent, 'secret'), 'secret\n')
  symlinkSync(join(parent, 'secret'), join(directory, 'link.log'))
  assert.equal(spawnSync('mkfifo', [join(directory, 'pipe.log')]).status, 0)
  server = await serveUpWithThread(owner, ['--nodes=1', `--simulation-logs=${directory}`])
  client = new Client(server.transport())
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
  const isServed = (type: typeof logsType) =>
    client.list(type).then(
      () => true,
      () => false,
    )
  await untilTrue(async () => (await isServed(logsType)) && (await isServed(clusterLogsType)))
})

async function makePod(name: string): Promise<void> {
  const containers = [
    { name: 'web', image: 'i' },
    { name: 'side', image: 'i' },
  ]
  await client.create(kinds.Pod, { metadata: { name, namespace }, spec: { nodeName: 'node-1', containers } })
  await until(
    () => client.get(kinds.Pod, { namespace, name }),
    ({ status }) => status?.phase === 'Running',
  )
}

async function logOf(name: string, container: string, query = ''): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?container=${container}${query}`
  return (await server.client().get(path)).text
}

test('Logs and ClusterLogs objects determine the logs of containers', async () => {
  await makePod('single')
  await makePod('selected')
  assert.match(await logOf('single', 'web'), /this container is simulated/)
  const logs = [{ containers: ['web'], logsFile: 'web.log' }]
  await client.create(logsType, { metadata: { name: 'single', namespace }, spec: { logs } })
  const selector = { matchNames: ['selected'] }
  const clusterLogs = [{ logsFile: join(directory, 'web.log') }]
  await client.create(clusterLogsType, { metadata: { name: 'all' }, spec: { selector, logs: clusterLogs } })
  const isFirst = (text: string) => text.startsWith('first')
  assert.equal(await until(() => logOf('single', 'web'), isFirst), 'first\nsecond\n')
  assert.equal(await until(() => logOf('selected', 'side'), isFirst), 'first\nsecond\n')
  assert.equal(await logOf('single', 'web', '&tailLines=1&follow=true'), 'second\n')
  assert.match(await logOf('single', 'side'), /this container is simulated/)
  writeFileSync(join(directory, 'web.log'), 'third')
  assert.equal(await logOf('single', 'web'), 'third\n')
  const stored = await until(
    () => client.get(logsType, { namespace, name: 'single' }),
    ({ status }) => status?.conditions !== undefined,
  )
  assert.equal(stored.status?.conditions?.[0]?.status, 'True')
})

test('logs are read only from regular files in the directory, up to a maximum size', async () => {
  const files = ['../secret', join(parent, 'secret'), 'link.log', 'pipe.log', 'missing.log', '.', '\0', 'large.log']
  const containers = files.map((_, i) => ({ name: `c${i}`, image: 'i' }))
  await client.create(kinds.Pod, { metadata: { name: 'odd', namespace }, spec: { nodeName: 'node-1', containers } })
  const logs = files.map((logsFile, i) => ({ containers: [`c${i}`], logsFile }))
  await client.create(logsType, { metadata: { name: 'odd', namespace }, spec: { logs } })
  const texts = await until(
    () => Promise.all(files.map((_, i) => logOf('odd', `c${i}`))),
    (all) => all[0]!.startsWith('cannot read'),
  )
  for (const [i, message] of [
    /^cannot read \.\.\/secret: it is not in the directory/,
    /secret: it is not in the directory/,
    /link\.log: it is not in the directory/,
    /^the log is not a regular file/,
    /^cannot read missing\.log: ENOENT/,
    /it is not in the directory/,
    /ERR_INVALID_ARG_VALUE/,
  ].entries())
    assert.match(texts[i]!, message)
  assert.ok(texts.every((text) => !text.startsWith('secret')))
  assert.ok(texts.at(-1)!.length > 100_000 && texts.at(-1)!.length <= 256 * 1024)
  assert.match(texts.at(-1)!, /^x{99}\n/)
})

test('a --simulation-logs value that is not a directory is rejected', async () => {
  for (const path of [join(parent, 'missing'), join(parent, 'secret')]) {
    const { up } = await readServerFlags('up', [`--simulation-logs=${path}`])
    await assert.rejects(readLoopFiles(up!), /--simulation-logs: .* is not an existing directory/)
  }
})

test('without --simulation-logs, the Supported condition of Logs objects is false', async () => {
  await server.stop()
  await server.restart(['--nodes=1'])
  client = new Client(server.transport())
  await makePod('late')
  await client.create(logsType, { metadata: { name: 'late', namespace }, spec: { logs: [{ logsFile: 'web.log' }] } })
  const stored = await until(
    () => client.get(logsType, { namespace, name: 'late' }),
    ({ status }) => status?.conditions !== undefined,
  )
  assert.equal(stored.status?.conditions?.[0]?.status, 'False')
  assert.match(stored.status?.conditions?.[0]?.message ?? '', /set --simulation-logs/)
  const isRefused = (text: string) => text.startsWith('cannot read')
  assert.match(await until(() => logOf('late', 'web'), isRefused), /--simulation-logs names no directory/)
})

test('invalid Logs objects are rejected', () => {
  for (const [spec, message] of [
    [{ logs: [{}] }, /spec.logs\[0\].logsFile is not a string/],
    [{ logs: [{ logsFile: 'a', follow: 'yes' }] }, /spec.logs\[0\].follow must be true or false/],
    [{ logs: [{ logsFile: 'a', text: 'b' }] }, /spec.logs\[0\].text is not supported/],
    [{ logs: Array.from({ length: 33 }, () => ({ logsFile: 'a' })) }, /more than 32 elements/],
  ] as const)
    for (const read of [readOwnRules, readClusterRules])
      assert.throws(() => read(logRules, { spec } as unknown as Json), { name: 'StageError', message })
})
