/**
 * What admission webhooks cost: creating a ConfigMap that one validating webhook is asked about, which answers at once,
 * beside creating one that none is; and creating one beside 50 configurations that match nothing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Client } from '../client.ts'
import { compare, compared, type Drive, http1, limits } from '../load.ts'
import { bodyOf } from '../objects.ts'
import type { Bench } from '../servers.ts'
import type { Row } from '../table.ts'

const connections = 64
const script = join(import.meta.dirname, '../writes.lua')
const configurations = '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations'

function creates(namespace: string): Drive {
  let driven = 0
  return (side, seconds) => {
    const scriptArgs = ['create', `r${driven++}-`, bodyOf('NAME', 'TEXT')]
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    return http1(path, { connections, script, scriptArgs })(side, seconds)
  }
}

async function startBackend() {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../webhook-backend.mjs')])
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { clientConfig: JSON.parse(line.toString('utf8')) as object, stop: () => child.kill() }
}

function webhook(clientConfig: object, rule: object, more: object) {
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], ...rule }]
  return {
    name: 'bench.example.com',
    clientConfig,
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  }
}

export const webhookRows = {
  name: 'webhooks',
  async run(bench: Bench): Promise<Row[]> {
    const backend = await startBackend()
    const [plain, busy] = [
      await bench.startOrch(bench.newDirectory()),
      await bench.startOrch(bench.newDirectory()),
    ] as const
    const client = await Client.connect(busy)
    const post = (path: string, object: object) => client.send('POST', path, JSON.stringify(object))
    await post('/api/v1/namespaces', { metadata: { name: 'asked', labels: { asked: 'yes' } } })
    const namespaceSelector = { matchLabels: { asked: 'yes' } }
    const asked = webhook(backend.clientConfig, {}, { namespaceSelector })
    await post(configurations, { metadata: { name: 'asked' }, webhooks: [asked] })
    for (let i = 0; i < 50; i++)
      await post(configurations, {
        metadata: { name: `unmatched-${i}` },
        webhooks: [webhook(backend.clientConfig, { resources: ['things'] }, {})],
      })
    client.close()
    const bare = { side: plain, drive: creates('default') }
    const rows: Row[] = []
    for (const [name, namespace, bound] of [
      ['create with one validating webhook', 'asked', 0.5],
      ['create beside 50 configurations that match nothing', 'default', 0.98],
    ] as const) {
      const measured = await compare({ side: busy, drive: creates(namespace) }, bare)
      rows.push({ name, ...compared(bound, measured.ours, measured.bare), note: limits(measured.ours, measured.bare) })
    }
    await Promise.all([plain.stop(), busy.stop()])
    backend.stop()
    return rows
  },
}
