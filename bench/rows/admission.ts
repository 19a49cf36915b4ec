/**
 * Measures the cost of admission: creating a pod with the default admission plugins, compared with creating a ConfigMap
 * of the same size on the same server. Also measures creating the same pod in a namespace with a quota, which is
 * charged before the pod is stored.
 */
import { join } from 'node:path'
import { Client } from '../client.ts'
import { compare, compared, type Drive, http1, limits } from '../load.ts'
import { collection, objectJson } from '../objects.ts'
import type { Bench } from '../servers.ts'
import type { Row } from '../table.ts'

const connections = 64
const script = join(import.meta.dirname, '../writes.lua')

/** Returns a load that creates objects. Each run uses new names. */
export function creates(path: string, body: string): Drive {
  let driven = 0
  return (side, seconds) => {
    const scriptArgs = ['create', `r${driven++}-`, body]
    return http1(path, { connections, script, scriptArgs })(side, seconds)
  }
}

const pods = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`

/** Returns the JSON of a pod of about 1 kB. */
function podBody(): string {
  const env = Array.from({ length: 8 }, (_, i) => ({ name: `VARIABLE_${i}`, value: 'value '.repeat(8) }))
  const resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } }
  const containers = [{ name: 'main', image: 'registry.example.com/app:1', env, resources }]
  return JSON.stringify({ metadata: { name: 'NAME', labels: { app: 'bench' } }, spec: { containers } })
}

export const admissionRows = {
  name: 'admission',
  async run(bench: Bench): Promise<Row[]> {
    const side = await bench.startOrch(bench.newDirectory())
    const client = await Client.connect(side)
    await prepare(client)
    client.close()
    const bare = { side, drive: creates(collection, objectJson('NAME', 'TEXT')) }
    const rows: Row[] = []
    for (const [name, namespace, bound] of [
      ['create a pod, 64 clients', 'default', 0.5],
      ['create a pod that a quota counts', 'counted', 0.1],
    ] as const) {
      const measured = await compare({ side, drive: creates(pods(namespace), podBody()) }, bare)
      const note = `beside a ConfigMap; ${limits(measured.ours, measured.bare)}`
      rows.push({ name, ...compared(bound, measured.ours, measured.bare), note })
    }
    await side.stop()
    return rows
  },
}

/**
 * Creates service accounts, because no control loop creates them in this benchmark, and a quota that is never
 * exhausted.
 */
async function prepare(client: Client): Promise<void> {
  const post = (path: string, object: object) => client.send('POST', path, JSON.stringify(object))
  await post('/api/v1/namespaces', { metadata: { name: 'counted' } })
  for (const namespace of ['default', 'counted'])
    await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } })
  const quotas = '/api/v1/namespaces/counted/resourcequotas'
  const hard = { pods: '1e9', 'requests.cpu': '1e9', 'limits.memory': '1Ei' }
  await post(quotas, { metadata: { name: 'q' }, spec: { hard } })
  const used = { pods: '0', 'requests.cpu': '0', 'limits.memory': '0' }
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard },
    status: { hard, used },
  }
  await client.send('PUT', `${quotas}/q/status`, JSON.stringify(quota))
}
