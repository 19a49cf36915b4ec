/** Tests `orch status`: the state of a running server. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { endOfFile } from '../support/end-of-file.ts'
import { root, type ServerHandle, startServer } from '../support/server.ts'
import { untilTrue } from '../support/until.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-status-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const owner = endOfFile()
const backups = join(directory, 'backups')

let server: ServerHandle

before(async () => {
  server = await startServer(owner, [`--backup-dir=${backups}`])
})

function status(...args: string[]) {
  return spawnSync(join(root, 'bin/orch'), ['status', ...args], { encoding: 'utf8' })
}

test('orch status shows the versions, the data, its size and the last backup', async () => {
  await untilTrue(async () => existsSync(backups) && readdirSync(backups).some((name) => name.endsWith('.backup')))
  await untilTrue(async () =>
    /^orch_last_backup_timestamp_seconds \d/m.test((await server.client().get('/metrics')).text),
  )
  const { stdout, status: code } = status('--kubeconfig', join(server.directory, 'admin.kubeconfig'))
  assert.equal(code, 0)
  const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(\d+ (?:second|minute)s? ago\)`
  for (const row of [
    String.raw`server +https://127\.0\.0\.1:${server.port}`,
    'ready +yes',
    String.raw`version +orch 0\.1\.0, emulates Kubernetes 1\.23\.17`,
    `started +${time}`,
    'data +/.+',
    String.raw`size +\d+\.\d (?:K|M)iB`,
    String.raw`objects +[1-9]\d*`,
    'space +available',
    `last backup +${time}`,
  ])
    assert.match(stdout, new RegExp(`^${row}$`, 'm'))
})

test('each error of orch status is one line long', () => {
  const stranger = join(directory, 'stranger.kubeconfig')
  const cluster = { server: `https://127.0.0.1:${server.port}`, 'insecure-skip-tls-verify': true }
  const contexts = [{ name: 'c', context: { cluster: 'c', user: 'u' } }]
  const users = [{ name: 'u', user: {} }]
  const config = { kind: 'Config', clusters: [{ name: 'c', cluster }], contexts, users, 'current-context': 'c' }
  writeFileSync(stranger, JSON.stringify(config))
  for (const [args, message] of [
    [['--kubeconfig', stranger], /^orch: .*forbidden.*\n$/],
    [['--kubeconfg=x'], /^orch: unknown flag --kubeconfg; did you mean --kubeconfig\?.*\n$/],
    [['now'], /^orch: unexpected argument "now": flags begin with --\n$/],
  ] as const) {
    const { stderr, stdout, status: code } = status(...args)
    assert.match(stderr, message)
    assert.deepEqual([stdout, code], ['', 1])
  }
})

test('orch status suggests the next step if no kubeconfig or no server exists', () => {
  const stopped = join(directory, 'stopped.kubeconfig')
  const cluster = { server: 'https://127.0.0.1:1' }
  const contexts = [{ name: 'c', context: { cluster: 'c', user: 'u' } }]
  const users = [{ name: 'u', user: {} }]
  writeFileSync(
    stopped,
    JSON.stringify({ kind: 'Config', clusters: [{ name: 'c', cluster }], contexts, users, 'current-context': 'c' }),
  )
  for (const [file, message] of [
    [
      join(directory, 'none'),
      /^orch: no kubeconfig found: .*\nStart a server with `orch up`, or specify the kubeconfig/,
    ],
    [stopped, /^orch: cannot connect to https:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*\n.*is the server running\?/],
  ] as const) {
    const { stderr, status: code } = status('--kubeconfig', file)
    assert.match(stderr, message)
    assert.equal(stderr.trimEnd().split('\n').length, 2)
    assert.equal(code, 1)
  }
})
