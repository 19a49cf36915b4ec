/**
 * A server with a simulated node in its process (`simulated-node.ts`), a reachable node port, and pods on that node.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kindsOfVersion } from '../../src/api/kinds/of-version.ts'
import { vendorOf } from '../../src/api/model/vendor.ts'
import type { EmulatedVersion } from '../../src/api/versions/emulated-version.ts'
import { openLocalNodePort } from '../../src/server/cluster/local-node-port.ts'
import { giveAccount } from './accounts.ts'
import { type InProcess, startInProcess } from './in-process.ts'
import type { Ending } from './server.ts'
import { TestNode, type TestPod } from './simulated-node.ts'

export interface ReachedNode {
  readonly api: InProcess
  readonly node: TestNode
  /** Port of the simulated node. */
  readonly port: number
  readonly kubeconfig: string
  addPod(name: string, containers?: readonly string[]): Promise<TestPod>
}

/** Starts the server and the node at the given Kubernetes version. */
export async function reachedNode(
  t: Ending,
  flags: readonly string[] = [],
  version: EmulatedVersion = '1.23',
): Promise<ReachedNode> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-kubeconfig-'))
  const kubeconfig = join(directory, 'admin.kubeconfig')
  const api = await startInProcess(kindsOfVersion(version), [
    '--profile=kubernetes',
    `--emulated-version=${version}`,
    ...flags,
  ])
  writeFileSync(kubeconfig, configOf(api), { mode: 0o600 })
  t.after(async () => {
    await api.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  const node = new TestNode(t, 'n1')
  const opened = await openLocalNodePort(api.server, { vendor: vendorOf('kubernetes'), nodes: [node] })
  t.after(() => opened.close())
  await giveAccount(api.client)
  assert.equal((await api.client.post('/api/v1/nodes', { metadata: { name: 'n1' } })).status, 201)
  const addPod = async (name: string, containers: readonly string[] = ['c']) => {
    const spec = { nodeName: 'n1', containers: containers.map((each) => ({ name: each, image: 'i' })) }
    const made = await api.client.post('/api/v1/namespaces/default/pods', {
      metadata: { name, labels: { app: name } },
      spec,
    })
    assert.equal(made.status, 201, made.text)
    const status = { phase: 'Running', podIP: '192.0.2.9', podIPs: [{ ip: '192.0.2.9' }], conditions: [] }
    await api.client.put(`/api/v1/namespaces/default/pods/${name}/status`, { metadata: { name }, status })
    return node.add(name, made.body.metadata.uid, containers)
  }
  return { api, node, port: opened.port, kubeconfig, addPod }
}

function configOf({ server, ca }: InProcess): string {
  const cluster = { server: server.url, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: 'admin-token' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  })
}
