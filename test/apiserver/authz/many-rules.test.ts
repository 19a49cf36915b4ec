/** Tests a user who has tens of thousands of rules. Listing or granting them must not block the server. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertBrief } from '../../support/effort.ts'
import { HttpClient } from '../../support/http-client.ts'
import { startInProcess } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'

const { client: admin, port, ca, stop } = await startInProcess()
const bob = new HttpClient({ port, token: 'bob-token', ca })
after(async () => {
  bob.close()
  await stop()
})
const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default'

async function give(name: string, rules: readonly object[]): Promise<void> {
  const role = await admin.post(`${rbac}/roles`, { metadata: { name }, rules })
  assert.equal(role.status, 201, role.text.slice(0, 200))
  const subjects = [{ kind: 'User', name: 'bob' }]
  await admin.post(`${rbac}/rolebindings`, { metadata: { name }, roleRef: { kind: 'Role', name }, subjects })
}

const resource = (i: number) => ({ verbs: ['get', 'list'], apiGroups: ['apps'], resources: [`r${i}`] })
const resources = (from: number, count: number) => Array.from({ length: count }, (_, i) => resource(from + i))
const words = (prefix: string) => Array.from({ length: 200 }, (_, i) => `${prefix}${i}`)
const wide = { verbs: words('v'), apiGroups: words('g'), resources: words('x') }

await give('writer', [{ verbs: ['create'], apiGroups: ['rbac.authorization.orch.io'], resources: ['roles'] }])
for (let i = 0; i < 20; i++) await give(`many-${i}`, resources(i * 1000, 1000))
await give(
  'wide',
  wide.verbs.map((verb) => ({ ...wide, verbs: [verb] })),
)

test('an access review for a user with 20,000 rules blocks the event loop only briefly', async () => {
  const review = () =>
    bob.post('/apis/authorization.orch.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'default' } })
  const { result } = await assertBrief(50, review)
  assert.equal(result.status, 201)
  const told: string[] = result.body.status.resourceRules.flatMap((rule: { resources: string[] }) => rule.resources)
  assert.equal(new Set(told.filter((name) => /^r\d+$/.test(name))).size, 20_000)
})

test('a user with 20,000 rules can grant 2,000 of them', async () => {
  const give = (rules: readonly object[]) => bob.post(`${rbac}/roles?dryRun=All`, { metadata: { name: 'n' }, rules })
  const given = Array.from({ length: 2000 }, (_, i) => resource(i * 10))
  assert.equal((await give(given)).status, 201)
  const refused = await give([...given, resource(20_000)])
  assert.equal(refused.status, 403)
  assert.match(refused.body.message, /not currently held:\n{APIGroups:\["apps"\], Resources:\["r20000"\], Verbs:/)
})

test('concurrent grants of 2,000 rules block the event loop only briefly', async () => {
  const given = Array.from({ length: 2000 }, (_, i) => resource(i * 10))
  const give = () => bob.post(`${rbac}/roles?dryRun=All`, { metadata: { name: 'n' }, rules: given })
  const { result } = await assertBrief(100, () => Promise.all(Array.from({ length: long ? 20 : 8 }, give)))
  assert.deepEqual([...new Set(result.map(({ status }) => status))], [201])
})

test('if a permission check is too expensive, the server returns 503 instead of 403', async () => {
  const answer = await bob.post(`${rbac}/roles?dryRun=All`, { metadata: { name: 'n' }, rules: [wide] })
  assert.equal(answer.status, 503, answer.text.slice(0, 200))
  assert.ok(Number(answer.headers['retry-after']) > 0)
})
