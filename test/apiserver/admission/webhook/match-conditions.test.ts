/** Tests match conditions of webhooks: CEL expressions that decide whether a webhook is called. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../../support/in-process.ts'
import { configurationPath, configure, unconfigure, Webhooks, webhook } from '../../../support/webhooks.ts'

const server = await serve({ after }, ['--emulated-version=1.36'])
const webhooks = await Webhooks.start({ after })
const client = server.client()
const maps = '/api/v1/namespaces/hooked/configmaps'
await client.post('/api/v1/namespaces', { metadata: { name: 'hooked', labels: { hooked: 'yes' } } })

const when = (...expressions: string[]) => ({
  matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })),
})
const failing = 'object.data.none == 1'

for (const sort of ['mutating', 'validating'] as const)
  test(`a ${sort} webhook is called only if all its match conditions are true`, async () => {
    await configure(client, sort, 'conditional', [
      webhook(
        webhooks,
        '/allow',
        when("object.data.call == 'yes'", "authorizer.requestResource.check('get').allowed()"),
      ),
    ])
    webhooks.taken()
    await client.post(maps, { metadata: { name: `${sort}-no` }, data: { call: 'no' } })
    assert.deepEqual(webhooks.taken(), [])
    await client.post(maps, { metadata: { name: `${sort}-yes` }, data: { call: 'yes' } })
    assert.deepEqual(webhooks.taken(), ['/allow'])

    const rows: [object, number, string[]][] = [
      [when(failing), 403, []],
      [{ ...when(failing), failurePolicy: 'Ignore' }, 201, []],
      // A false condition takes precedence over a condition whose evaluation fails.
      [when(failing, 'false'), 201, []],
    ]
    for (const [i, [settings, status, calls]] of rows.entries()) {
      await configure(client, sort, 'conditional', [webhook(webhooks, '/allow', settings)])
      const answer = await client.post(maps, { metadata: { name: `${sort}-${i}` }, data: { a: 'b' } })
      assert.equal(answer.status, status, answer.text)
      assert.deepEqual(webhooks.taken(), calls)
    }
    const { text } = await client.send('/metrics')
    assert.match(text, /apiserver_admission_match_condition_exclusions_total\{.*kind="webhook"/)
    await unconfigure(client, sort, 'conditional')
  })

test('invalid match conditions of webhooks are rejected', async () => {
  const rows: [object, string][] = [
    [when('1'), 'webhooks[0].matchConditions[0].expression'],
    [when('params.x'), 'webhooks[0].matchConditions[0].expression'],
    [when(''), 'webhooks[0].matchConditions[0].expression'],
    [{ matchConditions: [{ name: 'a b', expression: 'true' }] }, 'webhooks[0].matchConditions[0].name'],
    [when(...Array.from({ length: 65 }, () => 'true')), 'webhooks[0].matchConditions'],
  ]
  for (const [settings, field] of rows) {
    const hooks = [webhook(webhooks, '/allow', settings)]
    const { status, body, text } = await client.post(configurationPath('validating'), {
      metadata: { name: 'wrong' },
      webhooks: hooks,
    })
    assert.equal(status, 422, text)
    assert.equal(body.details.causes[0].field, field)
  }
})
