/** A stranger with nothing but a token and the address of a real `orch up` joins it, with the real programs over TLS. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client } from '../../src/client/client.ts'
import { HttpTransport } from '../../src/client/node/http-transport.ts'
import { parsePlainYaml } from '../../src/client/node/plain-yaml.ts'
import { runCommand } from '../tools/run-command.ts'
import { root, startUp } from '../tools/server.ts'
import { until } from '../tools/until.ts'

const orch = (...args: string[]) => runCommand(join(root, 'bin/orch'), args)

test('joining', async (t) => {
  const server = await startUp(t)
  const config = `--kubeconfig=${server.directory}/admin.kubeconfig`
  const admin = server.client()
  const made = await orch('token', 'create', config, '--ttl=1h', '--description=for n1')
  assert.equal(made.code, 0, made.stderr)
  const [, url = '', token = '', hash = ''] =
    /^orch join --server (\S+) --token (\S+) --ca-cert-hash (\S+) --node-name NAME --kubeconfig FILE\n$/.exec(
      made.stdout,
    ) ?? []
  const [id = ''] = token.split('.')
  const out = (name: string) => join(server.directory, `${name}.kubeconfig`)
  const joinAs = (name: string, ...flags: string[]) =>
    orch('join', `--server=${url}`, `--node-name=${name}`, `--kubeconfig=${out(name)}`, ...flags)

  await t.test('cluster-info is read without credentials, and nothing else there is', async () => {
    const { token: _, ...bare } = server.credentials()
    const transport = new HttpTransport(bare)
    const stranger = new Client(transport.send)
    const path = '/api/v1/namespaces/kube-public/configmaps'
    const { data } = await stranger.read<{ data: { kubeconfig: string } }>(`${path}/cluster-info`)
    assert.ok(parsePlainYaml(data.kubeconfig) !== undefined)
    assert.match(data.kubeconfig, new RegExp(`server: "${server.url}"`))
    for (const other of [path, '/api/v1/namespaces/kube-system/secrets'])
      await assert.rejects(stranger.read(other), { code: 403 })
    transport.close()
  })

  await t.test('the join command gives a client config that works, for its owner alone', async () => {
    const { code, stderr } = await joinAs('n1', `--token=${token}`, `--ca-cert-hash=${hash}`)
    assert.equal(code, 0, stderr)
    assert.equal(statSync(out('n1')).mode & 0o777, 0o600)
    const who = await runCommand(join(root, 'bin/orchctl'), [`--kubeconfig=${out('n1')}`, 'auth', 'whoami'])
    assert.match(who.stdout, /system:node:n1[\s\S]*system:nodes/)
  })

  await t.test('without a hash the token alone must do, and that is said', async () => {
    const { code, stderr } = await joinAs('n2', `--token=${token}`)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /no --ca-cert-hash is given/)
  })

  await t.test('a wrong secret, a wrong hash, a file that is there: refused in one line', async () => {
    const wrong = `${id}.ffffffffffffffff`
    for (const [flags, message] of [
      [['n3', `--token=${wrong}`], /not signed by this token/],
      [['n3', `--token=${token}`, `--ca-cert-hash=sha256:${'0'.repeat(64)}`], /--ca-cert-hash does not name/],
      [['n3', '--token=short'], /a token has the form/],
      [['n1', `--token=${token}`], /is there already/],
    ] as const) {
      const [name, ...rest] = flags
      const { code, stderr } = await joinAs(name, ...rest)
      assert.equal(code, 1)
      assert.match(stderr, message)
      assert.ok(!stderr.includes('ffffffffffffffff') && !stderr.includes('    at '), stderr)
    }
  })

  await t.test('tokens are listed without their secrets, and deleted ones neither join nor sign', async () => {
    const listed = await orch('token', 'list', config)
    assert.match(listed.stdout, new RegExp(`^${id} .*authentication,signing.*for n1$`, 'm'))
    assert.ok(!listed.stdout.includes(token.split('.')[1]!))
    assert.equal((await orch('token', 'delete', id, config)).stdout, `token ${id} is deleted\n`)
    assert.match((await orch('token', 'delete', id, config)).stderr, /there is no token/)
    assert.equal((await server.client(token).get('/api')).status, 401)
    const info = '/api/v1/namespaces/kube-public/configmaps/cluster-info'
    await until(
      async () => (await admin.get(info)).body.data,
      (data) => !(`jws-kubeconfig-${id}` in data),
    )
  })
})
