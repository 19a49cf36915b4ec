/** Tests kubectl with simulated containers: cp in both directions, commands, exit codes, attach and run. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { NoSpaceError, WrittenFiles } from '../../../src/cluster/nodes/containers/written-files.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serveUp } from '../../support/in-process.ts'
import { kubectl as runKubectl } from '../../support/kubectl.ts'
import { until } from '../../support/until.ts'

const owner = endOfFile()
let server: Restartable
const namespace = 'default'

before(async () => {
  server = await serveUp(owner, ['--profile=kubernetes', '--nodes=1'])
  const client = new Client(server.transport())
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
  await client.create(kinds.ConfigMap, { metadata: { name: 'settings', namespace }, data: { key: 'value' } })
  const volumeMounts = [
    { name: 'scratch', mountPath: '/scratch' },
    { name: 'settings', mountPath: '/etc/settings' },
  ]
  const container = (name: string) => ({ name, image: 'i', command: ['/server', '--port=80'], volumeMounts })
  const volumes = [
    { name: 'scratch', emptyDir: {} },
    { name: 'settings', configMap: { name: 'settings' } },
  ]
  const spec = { nodeName: 'node-1', containers: [container('a'), container('b')], volumes }
  await client.create(kinds.Pod, { metadata: { name: 'web', namespace }, spec } as never)
  await until(
    () => client.get(kinds.Pod, { namespace, name: 'web' }),
    ({ status }) => status?.phase === 'Running',
  )
})

const kubectl = (args: readonly string[], input = '') => runKubectl(server, args, input)

const exec = async (command: readonly string[], options: readonly string[] = [], input = '') =>
  await kubectl(['exec', ...options, 'web', '-c', 'a', '--', ...command], input)

test('kubectl cp copies a directory into a container and back', { timeout: 120_000 }, async () => {
  const [sent, received] = [join(server.directory, 'sent'), join(server.directory, 'received')]
  mkdirSync(join(sent, 'inner'), { recursive: true })
  const bytes = randomBytes(300_000)
  writeFileSync(join(sent, 'large'), bytes)
  writeFileSync(join(sent, 'inner', 'small'), 'text')
  assert.equal((await kubectl(['cp', sent, 'web:/opt/data', '-c', 'a'])).stderr, '')
  assert.equal((await exec(['ls', '/opt/data'])).stdout, 'inner\nlarge\n')
  assert.equal((await exec(['cat', '/opt/data/inner/small'])).stdout, 'text')
  const back = await kubectl(['cp', 'web:/opt/data', received, '-c', 'a'])
  assert.equal(back.code, 0, back.stderr)
  assert.ok(readFileSync(join(received, 'large')).equals(bytes))
  assert.equal(readFileSync(join(received, 'inner', 'small'), 'utf8'), 'text')
})

test('containers of a pod share the files of an emptyDir and no other files', { timeout: 120_000 }, async () => {
  const file = join(server.directory, 'shared')
  writeFileSync(file, 'shared')
  await kubectl(['cp', file, 'web:/scratch/shared', '-c', 'a'])
  await kubectl(['cp', file, 'web:/own', '-c', 'a'])
  const inOther = async (path: string) => (await kubectl(['exec', 'web', '-c', 'b', '--', 'cat', path])).stdout
  assert.deepEqual([await inOther('/scratch/shared'), await inOther('/own')], ['shared', ''])
  const refused = await kubectl(['cp', file, 'web:/etc/settings/other', '-c', 'a'])
  assert.match(refused.stderr, /tar: other: Read-only file system/)
  const copied = join(server.directory, 'key')
  await kubectl(['cp', 'web:/etc/settings/key', copied, '-c', 'a'])
  assert.equal(readFileSync(copied, 'utf8'), 'value')
})

test('commands in a container can list processes, read standard input and return exit codes', {
  timeout: 120_000,
}, async () => {
  assert.match((await exec(['ps', 'aux'])).stdout, /1 root {6}0:00 \["\/server","--port=80"\]\n/)
  assert.equal((await exec(['cat'], ['-i'], 'input')).stdout, 'input')
  assert.equal((await exec(['sh', '-c', 'test -d /scratch && test -f /none'])).code, 1)
  assert.equal((await exec(['sh', '-c', 'exit 7'])).code, 7)
  assert.equal((await exec(['tar', 'cf', '-', '/none'])).code, 2)
  assert.equal((await exec(['tar', 'xf', '-'], ['-i'], 'x'.repeat(2000))).code, 2)
})

test('kubectl run -i and kubectl attach exit when the container exits', { timeout: 120_000 }, async () => {
  const ran = await kubectl(['run', 'once', '-i', '--image=i', '--restart=Never', '--', 'sh', '-c', 'sleep 2; exit 3'])
  assert.equal(ran.code, 3, ran.stderr)
  await kubectl(['run', 'short', '--image=i', '--restart=Never', '--', 'sleep', '4'])
  await kubectl(['wait', '--for=condition=Ready', 'pod/short'])
  assert.equal((await kubectl(['attach', 'short'])).code, 0)
})

test('files that commands write are limited in size and are deleted with the pod', () => {
  const files = new WrittenFiles()
  const mib = 1024 * 1024
  const write = (uid: string, place: string, size: number) =>
    files.create(uid, place, { type: 'file', mode: 0o644, size })
  assert.throws(() => write('a', 'large', 5 * mib), NoSpaceError)
  for (const place of ['1', '2', '3']) write('a', place, 4 * mib)
  assert.throws(() => write('a', '4', 4 * mib), NoSpaceError)
  write('a', '3', 1)
  write('a', '4', 4 * mib - 2000)
  for (const uid of ['b', 'c', 'd', 'e']) for (const place of ['1', '2', '3']) write(uid, place, 4 * mib)
  assert.throws(() => write('f', '1', 4 * mib), NoSpaceError)
  files.forget('a')
  write('f', '1', 4 * mib)
  assert.equal(files.get('a', '1'), undefined)
})
