/** Tests that `orch reset` deletes the data of a stopped server. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { resetCommand } from '../../src/server/program/reset-command.ts'
import { runCommand } from '../support/run-command.ts'
import { root, startServer } from '../support/server.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-reset-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const silent = { isInteractive: false, ask: () => assert.fail('there is no terminal') }
const answering = (answer: string) => ({ isInteractive: true, ask: async () => answer })

test('orch reset deletes the data and the kubeconfig of a stopped server', async (t) => {
  const server = await startServer(t)
  const data = join(server.directory, 'data')
  const kubeconfig = join(server.directory, 'admin.kubeconfig')
  const flags = [`--data-dir=${data}`, `--admin-kubeconfig=${kubeconfig}`]
  const running = await runCommand(join(root, 'bin/orch'), ['reset', ...flags, '--yes'])
  assert.equal(running.code, 1)
  assert.match(running.stderr, /is in use by another process/)
  assert.ok(existsSync(join(data, 'data.mdb')))

  await server.stop()
  await assert.rejects(resetCommand(flags, silent), /confirm with --yes/)
  await assert.rejects(resetCommand(flags, answering('y')), { message: 'nothing was deleted' })
  assert.ok(existsSync(kubeconfig))
  assert.equal(await resetCommand(flags, answering('yes')), `deleted ${data} and ${kubeconfig}\n`)
  assert.deepEqual([existsSync(data), existsSync(kubeconfig)], [false, false])
  await assert.rejects(resetCommand(flags, silent), /the data directory .* does not exist/)
})

test('orch reset deletes neither a directory that contains other files nor the kubeconfig of another server', async () => {
  const data = join(directory, 'data')
  const kubeconfig = join(directory, 'config')
  mkdirSync(join(data, 'pki'), { recursive: true })
  writeFileSync(join(data, 'pki/ca.crt'), 'ca')
  writeFileSync(kubeconfig, 'another cluster')
  writeFileSync(join(data, 'letter.txt'), '')
  const flags = [`--data-dir=${data}`, `--admin-kubeconfig=${kubeconfig}`, '--yes']
  await assert.rejects(resetCommand(flags, silent), /also contains "letter.txt".*nothing was deleted/)
  assert.ok(existsSync(join(data, 'pki/ca.crt')))
  rmSync(join(data, 'letter.txt'))
  writeFileSync(join(data, 'pki/letter.txt'), '')
  await assert.rejects(resetCommand(flags, silent), /also contains "pki\/letter.txt".*nothing was deleted/)
  rmSync(join(data, 'pki/letter.txt'))
  assert.equal(await resetCommand(flags, silent), `deleted ${data}\n`)
  assert.ok(existsSync(kubeconfig))
  mkdirSync(data)
  await assert.rejects(resetCommand(flags, silent), /is not the data directory of a server/)
})

test('orch reset succeeds even if the user may not remove the data directory itself', async () => {
  const data = join(directory, 'mounted')
  mkdirSync(join(data, 'pki/front-proxy'), { recursive: true })
  mkdirSync(join(data, 'lost+found'))
  for (const name of ['data.mdb', 'pki/ca.crt', 'pki/serving.key.0123456789ab.tmp', 'pki/front-proxy/proxy.crt'])
    writeFileSync(join(data, name), '')
  const flags = [`--data-dir=${data}`, '--admin-kubeconfig=', '--yes']
  assert.equal(
    await resetCommand(flags, silent),
    `deleted ${data}\nthe directory ${data} remains without data (ENOTEMPTY)\n`,
  )
  assert.deepEqual(readdirSync(data), ['lost+found'])
})
