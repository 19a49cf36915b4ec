/**
 * Measures the cost of authorization: a GET by a user with one binding, on a server with 10,000 bindings compared with
 * a server with 10 bindings. Also measures the startup time with 10,000 bindings. The index is keyed by user name, so
 * the number of bindings should not matter.
 */

import type { Lookup, ObjectName } from '../../src/api/model/lookup.ts'
import type { ApiObject } from '../../src/api/model/object.ts'
import { Policy } from '../../src/apiserver/authz/rbac/policy.ts'
import { allows } from '../../src/apiserver/authz/rbac/rule.ts'
import { Client } from '../client.ts'
import { compare, compared, http1, limits } from '../load.ts'
import { type Bench, readerToken, type Side } from '../servers.ts'
import { perSecond, type Row } from '../table.ts'

const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default'
const path = '/api/v1/namespaces/default/configmaps/one'
const few = 10
const many = 10_000

export const accessRows = {
  name: 'access',
  async run(bench: Bench): Promise<Row[]> {
    const withFew = await prepare(bench, few)
    const withMany = await prepare(bench, many)
    const drive = http1(path, { connections: 32, bearer: readerToken })
    const { ours, bare } = await compare({ side: withMany.side, drive }, { side: withFew.side, drive })
    const get = { name: `GET with ${many} RoleBindings`, ...compared(0.95, ours, bare), note: limits(ours, bare) }
    await Promise.all([withFew.side.stop(), withMany.side.stop()])
    const slow = await restart(bench, withMany.directory)
    const quick = await restart(bench, withFew.directory)
    return [{ ...get, note: `beside ${few}; ${get.note}` }, startRow(slow, quick), await decisionRow()]
  },
}

const atOnce = 50

interface Prepared {
  readonly directory: string
  readonly side: Side
}

/** Starts a server with the given number of bindings, one of which grants permissions to the reader. */
async function prepare(bench: Bench, count: number): Promise<Prepared> {
  const directory = bench.newDirectory()
  const side = await bench.startOrch(directory)
  const client = await Client.connect(side)
  const post = (at: string, object: object) => client.send('POST', at, JSON.stringify(object))
  await post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'one' }, data: { k: 'v'.repeat(800) } })
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }]
  await post(`${rbac}/roles`, { metadata: { name: 'reader' }, rules })
  const bind = (i: number) => post(`${rbac}/rolebindings`, bindingOf(i))
  for (let from = 0; from < count; from += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, count - from) }, (_, i) => bind(from + i)))
  client.close()
  return { directory, side }
}

function bindingOf(index: number) {
  const subjects = [{ kind: 'User', name: index === 0 ? 'reader' : `user-${index}` }]
  return { metadata: { name: `b${index}` }, roleRef: { kind: 'Role', name: 'reader' }, subjects }
}

async function restart(bench: Bench, directory: string): Promise<number> {
  const begin = performance.now()
  const side = await bench.startOrch(directory)
  const ms = performance.now() - begin
  await side.stop()
  return ms
}

function startRow(slow: number, quick: number): Row {
  return {
    name: `start with ${many} RoleBindings`,
    ours: `${Math.round(slow)} ms`,
    bare: `${Math.round(quick)} ms`,
    note: `beside ${few}`,
    figures: { slow, quick },
  }
}

/** Measures index lookups per second, for a user with permissions in one of many namespaces. */
async function decisionRow(): Promise<Row> {
  const { lookup, load } = memory(many)
  const policy = new Policy(lookup)
  load()
  await policy.current()
  const user = { name: 'user-1', uid: '', groups: ['dev', 'ops', 'system:authenticated'], extra: new Map() }
  const attributes = {
    resource: true,
    verb: 'get',
    group: '',
    version: 'v1',
    plural: 'configmaps',
    subresource: '',
    namespace: 'default',
    name: 'one',
  } as const
  const rounds = 200_000
  let allowed = 0
  const begin = performance.now()
  for (let i = 0; i < rounds; i++) if (policy.find(user, 'default', (rule) => allows(rule, attributes))) allowed++
  const rate = (rounds / (performance.now() - begin)) * 1000
  if (allowed !== rounds) throw new Error('the reader was refused')
  return { name: 'decisions', ours: perSecond(rate), bare: '', note: `${many} RoleBindings`, figures: { rate } }
}

/** Creates roles and bindings in memory. */
function memory(count: number): { lookup: Lookup; load: () => void } {
  const objects = new Map<string, ApiObject>()
  const put = (plural: string, object: object) => {
    const { name } = (object as ApiObject).metadata
    const metadata = { name: name!, namespace: 'default' }
    objects.set(`${plural}/${name}`, { apiVersion: '', kind: '', ...object, metadata })
  }
  put('roles', {
    metadata: { name: 'reader' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }],
  })
  for (let i = 0; i < count; i++) put('rolebindings', bindingOf(i))
  const namesOf = (plural: string): ObjectName[] =>
    [...objects.keys()]
      .filter((key) => key.startsWith(`${plural}/`))
      .map((key) => ({ namespace: 'default', name: key.slice(plural.length + 1) }))
  const resets: (() => void)[] = []
  const lookup = {
    getCached: () => undefined,
    getLatest: () => undefined,
    waitUntilCurrent: () => undefined,
    list: () => [],
    each: async function* () {},
    follow: (_, { reset }) => resets.push(reset) > 0,
    names: ({ plural }) => namesOf(plural),
    readUncached: ({ plural }, { name }) => objects.get(`${plural}/${name}`),
    readAllUncached: ({ plural }) => namesOf(plural).map((name) => [name, objects.get(`${plural}/${name.name}`)!]),
  } as Lookup
  const load = () => {
    for (const reset of resets) reset()
  }
  return { lookup, load }
}
