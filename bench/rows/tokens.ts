/**
 * Measures the cost of a service account token: a GET with such a token, compared with a GET with a static token, on
 * the same server and with the same permissions. Also measures how long a token is still accepted after its account has
 * been deleted, even if the token is used constantly.
 */
import { request } from 'node:https'
import { Client } from '../client.ts'
import { compared, http1, limits, type Measured, measure } from '../load.ts'
import { token as adminToken, type Bench, readerToken, type Side } from '../servers.ts'
import { atMost, type Row } from '../table.ts'

const accounts = '/api/v1/namespaces/default/serviceaccounts'
const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default'
const path = '/api/v1/namespaces/default/configmaps/one'

const warmSeconds = 5
/** Number of rounds. With many short rounds, background load affects both kinds of tokens equally. */
const rounds = 9

export const tokenRows = {
  name: 'tokens',
  async run(bench: Bench): Promise<Row[]> {
    const side = await bench.startOrch(bench.newDirectory())
    const client = await Client.connect(side)
    await prepare(client)
    const { body } = await ask(side, {
      method: 'POST',
      path: `${accounts}/reader/token`,
      bearer: adminToken,
      body: '{}',
    })
    const { token } = JSON.parse(body).status
    const { ours, bare } = await inTurns(side, [token, readerToken])
    const row = { name: 'GET with a service account token', ...compared(0.9, ours, bare) }
    const revocation = await revocationRow(side, client, token)
    client.close()
    await side.stop()
    return [{ ...row, note: `beside a static token; ${limits(ours, bare)}` }, revocation]
  },
}

/**
 * Measures both tokens in many alternating rounds and returns the round with the median CPU time. One server handles
 * both tokens. The server must be warm before the first measurement. Otherwise, the second token would appear faster.
 */
async function inTurns(side: Side, bearers: readonly [string, string]): Promise<{ ours: Measured; bare: Measured }> {
  const drives = bearers.map((bearer) => http1(path, { connections: 32, bearer }))
  for (const drive of drives) await drive(side, warmSeconds)
  const measured: Measured[][] = [[], []]
  for (let turn = 0; turn < rounds; turn++)
    for (const [i, drive] of drives.entries()) measured[i]!.push(await measure(side, drive, 1))
  const [ours, bare] = measured.map((all) => all.toSorted((a, b) => a.cpu - b.cpu)[rounds >> 1]!)
  return { ours: ours!, bare: bare! }
}

/** Creates an object, and a role that allows both users to read it. */
async function prepare(client: Client): Promise<void> {
  const post = (at: string, object: object) => client.send('POST', at, JSON.stringify(object))
  await post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'one' }, data: { k: 'v'.repeat(800) } })
  await post(accounts, { metadata: { name: 'reader' } })
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }]
  await post(`${rbac}/roles`, { metadata: { name: 'reader' }, rules })
  const subjects = [
    { kind: 'User', name: 'reader' },
    { kind: 'ServiceAccount', name: 'reader', namespace: 'default' },
  ]
  await post(`${rbac}/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { kind: 'Role', name: 'reader' },
    subjects,
  })
}

async function revocationRow(side: Side, client: Client, token: string): Promise<Row> {
  await client.send('DELETE', `${accounts}/reader`, '')
  const began = performance.now()
  let lastLetIn = began
  for (let status = 200; status === 200; ) {
    const sent = performance.now()
    status = (await ask(side, { method: 'GET', path, bearer: token, body: '' })).status
    if (status === 200) lastLetIn = sent
  }
  const ms = lastLetIn - began
  return {
    name: 'a token let in after its account was deleted',
    ours: `${Math.round(ms)} ms`,
    bare: '',
    ...atMost(1000, ms, 'ms'),
    figures: { ms },
  }
}

interface Question {
  readonly method: string
  readonly path: string
  readonly bearer: string
  readonly body: string
}

function ask(
  { port }: Side,
  { method, path, bearer, body }: Question,
): Promise<{ readonly status: number; readonly body: string }> {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
