/** Tests the contents of volumes: atomic updates, the downward API, size limits and token lifetimes. */
import assert from 'node:assert/strict'
import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import { removeTemporary, temporaryDirectory } from '../../../src/base/files/temporary-directory.ts'
import type { VolumeFiles } from '../../../src/cluster/nodes/volumes/atomic-files.ts'
import { writeFiles } from '../../../src/cluster/nodes/volumes/atomic-files.ts'
import { fieldValue, resourceValue } from '../../../src/cluster/nodes/volumes/downward.ts'
import { emptyDirLimit, usedBytes } from '../../../src/cluster/nodes/volumes/memory-limit.ts'
import { staleFrom } from '../../../src/cluster/nodes/volumes/pod-tokens.ts'

const directory = temporaryDirectory('orch-test-volumes-')
after(() => removeTemporary(directory))

const files = (entries: { [path: string]: string }, mode = 0o644): VolumeFiles =>
  new Map(Object.entries(entries).map(([path, text]) => [path, { content: Buffer.from(text), mode }]))

test('all files of a volume are published through one symbolic link, keep their modes and change atomically', async () => {
  const volume = join(directory, 'v')
  assert.equal(await writeFiles(volume, files({ a: '1', 'deep/b': '2' }, 0o440)), true)
  assert.equal(readFileSync(join(volume, 'a'), 'utf8'), '1')
  assert.equal(readFileSync(join(volume, 'deep/b'), 'utf8'), '2')
  assert.equal(statSync(join(volume, 'a')).mode & 0o777, 0o440)
  assert.equal(readlinkSync(join(volume, 'a')), '..data/a')
  const first = readlinkSync(join(volume, '..data'))
  assert.equal(await writeFiles(volume, files({ a: '1', 'deep/b': '2' }, 0o440)), false)
  assert.equal(readlinkSync(join(volume, '..data')), first)
  assert.equal(await writeFiles(volume, files({ a: '1', c: '3' })), true)
  assert.deepEqual(
    readdirSync(volume)
      .filter((name) => !name.startsWith('..'))
      .sort(),
    ['a', 'c'],
  )
  // The previous version is removed, and nothing else remains.
  assert.equal(readdirSync(volume).filter((name) => name.startsWith('..')).length, 2)
  assert.equal(statSync(join(volume, 'a')).mode & 0o777, 0o644)
})

test('volume files that a killed process left behind are overwritten', async () => {
  const volume = join(directory, 'killed')
  await writeFiles(volume, files({ a: '1' }))
  writeFileSync(join(volume, '..data_tmp'), '')
  await writeFiles(volume, files({ a: '2' }))
  assert.equal(readFileSync(join(volume, 'a'), 'utf8'), '2')
})

test('no file path can escape from its volume', async () => {
  for (const path of ['../x', 'a/../../x', '/x', '', 'a//b', '..data', '..2030/x', 'a/\0'])
    await assert.rejects(writeFiles(join(directory, 'odd'), files({ [path]: '1' })), /not a path within a volume/, path)
  assert.throws(() => lstatSync(join(directory, 'x')))
})

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', uid: 'u', labels: { b: 'say "x"', a: '1' } },
  spec: {
    containers: [
      { name: 'c', image: 'i', resources: { limits: { memory: '64Mi', cpu: '1500m' } } },
      { name: 'd', image: 'i', resources: { limits: { memory: '36Mi' } } },
    ],
  },
  status: { podIP: '10.0.0.1' },
}

test('a downward API volume contains fields and resources of the pod', () => {
  const of = (fieldPath: string) => fieldValue(pod, { fieldPath })
  assert.equal(of('metadata.labels'), 'a="1"\nb="say \\"x\\""')
  assert.equal(of("metadata.labels['b']"), 'say "x"')
  assert.equal(of("metadata.labels['__proto__']"), '')
  assert.equal(of('status.podIP'), '10.0.0.1')
  assert.equal(of('spec.containers'), undefined)
  const amount = (resource: string, divisor = '0', containerName = 'c') =>
    resourceValue(pod, { containerName, resource, divisor }, { cpu: '32', memory: '1Gi' })
  assert.equal(amount('limits.cpu'), '2')
  assert.equal(amount('limits.cpu', '1m'), '1500')
  assert.equal(amount('limits.memory', '1Mi'), '64')
  assert.equal(amount('limits.cpu', '1', 'd'), '32')
  assert.equal(amount('requests.cpu', '1', 'd'), '0')
  assert.equal(amount('limits.cpu', '1', 'none'), undefined)
})

test('a memory-backed emptyDir is limited by its sizeLimit, the memory limits of containers and the node memory', async () => {
  const limit = (emptyDir: object, memory = '1Gi', spec = pod.spec!) =>
    emptyDirLimit({ name: 'v', emptyDir }, spec, memory)
  const mebi = 1024n * 1024n
  assert.equal(limit({ medium: 'Memory', sizeLimit: '1Gi' }), 100n * mebi)
  assert.equal(limit({ medium: 'Memory', sizeLimit: '10Mi' }), 10n * mebi)
  assert.equal(limit({ medium: 'Memory' }, '50Mi'), 50n * mebi)
  assert.equal(limit({ medium: 'Memory' }, '1Gi', { containers: [{ name: 'c', image: 'i' }] }), 1024n * mebi)
  assert.equal(limit({ sizeLimit: '1Gi' }), 1024n * mebi)
  assert.equal(limit({}), undefined)
  await writeFiles(join(directory, 'sized'), files({ a: 'x'.repeat(100), 'b/c': 'y'.repeat(50) }))
  assert.equal(await usedBytes(join(directory, 'sized')), 150n)
  assert.equal(await usedBytes(join(directory, 'missing')), 0n)
})

test('a projected token is replaced after 80% of its lifetime or after one day', () => {
  const made = Date.parse('2030-01-01T00:00:00Z')
  const after = (seconds: number) => (staleFrom({ expires: made + seconds * 1000, seconds }) - made) / 1000
  assert.equal(after(600), 480)
  assert.equal(after(1000), 800)
  assert.equal(after(7 * 86_400), 86_400)
})
