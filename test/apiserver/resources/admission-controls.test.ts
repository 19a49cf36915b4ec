/** Tests that `admissioncontrols` lists all admission plugins in execution order and shows how flags affect them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exists } from '../../../src/api/versions/availability.ts'
import { allControls } from '../../../src/apiserver/admission/controls/all.ts'
import { serve, serveUp } from '../../support/in-process.ts'

const path = '/apis/ops.orch.io/v1/admissioncontrols'
const controls = allControls.filter((control) => exists(control, '1.23'))

test('flags determine the enabled admission plugins, which run in a fixed order', async (t) => {
  const flags = ['--enable-admission-plugins=AlwaysPullImages', '--disable-admission-plugins=LimitRanger']
  const client = (await serve(t, flags)).client()
  const { items } = (await client.get(path)).body as {
    items: { metadata: { name: string }; spec: { position: number }; status: { enabled: boolean } }[]
  }
  assert.deepEqual(
    items.map(({ metadata, spec }) => [spec.position, metadata.name]),
    controls.map(({ name }, i) => [i + 1, name]),
  )
  const enabled = items.filter(({ status }) => status.enabled).map(({ metadata }) => metadata.name)
  const expected = controls.filter(
    ({ name, byDefault }) => name === 'AlwaysPullImages' || (byDefault && name !== 'LimitRanger'),
  )
  assert.deepEqual(
    enabled,
    expected.map(({ name }) => name),
  )
  const one = await client.get(`${path}/PodSecurity`)
  const other = await client.get(`${path}/LimitRanger`)
  assert.deepEqual(one.body.status, { enabled: true, steps: ['validate'] })
  assert.deepEqual([other.body.spec.byDefault, other.body.status], [true, { enabled: false, steps: [] }])
  assert.deepEqual(
    [(await client.get(`${path}/None`)).status, (await client.delete(`${path}/PodSecurity`)).status],
    [404, 405],
  )
})

test('orch up also enables NodeRestriction unless a flag disables it', async (t) => {
  const server = await serveUp(t)
  const stateOf = async () => {
    const { spec, status } = (await server.client().get(`${path}/NodeRestriction`)).body
    return [spec.byDefault, status.enabled]
  }
  assert.deepEqual(await stateOf(), [true, true])
  await server.restart(['--disable-admission-plugins=NodeRestriction'])
  assert.deepEqual(await stateOf(), [true, false])
})

test('the server logs at startup if a webhook admission plugin is disabled although its configuration API is served', async (t) => {
  const disable = '--disable-admission-plugins='
  const server = await serve(t, [`${disable}MutatingAdmissionWebhook`])
  const warned = () => server.output().match(/\w+ is disabled: \w+ are stored, but their webhooks are never called/g)
  assert.deepEqual(warned(), [
    'MutatingAdmissionWebhook is disabled: mutatingwebhookconfigurations are stored, but their webhooks are never called',
  ])
  await server.restart([`${disable}MutatingAdmissionWebhook,ValidatingAdmissionWebhook`])
  assert.equal(warned()?.length, 2)
  const unserved = ['v1', 'v1beta1'].map((version) => `admissionregistration.orch.io/${version}=false`).join()
  await server.restart([`${disable}MutatingAdmissionWebhook`, `--runtime-config=${unserved}`])
  assert.equal(warned(), null)
  await server.restart([])
  assert.equal(warned(), null)
})
