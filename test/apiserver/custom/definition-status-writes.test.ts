/**
 * Tests that a definition cannot take over the path of a built-in type, regardless of the definition's status. The
 * built-in type may be enabled or disabled, and the definition may be older than the type.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { parseFlags } from '../../../src/base/flags/flags.ts'
import { startApiServer } from '../../../src/server/assembly/api-server.ts'
import { serverFlags } from '../../../src/server/flags/options.ts'
import { HttpClient } from '../../support/http-client.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'
import { tokens } from '../../support/server.ts'
import { openTestLog } from '../../support/test-log.ts'
import {
  conditionOf,
  type DefinitionOptions,
  define,
  definitionOf,
  definitions,
  undefine,
  waitForEvent,
} from './definitions.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const approved = { annotations: { 'api-approved.orch.io': 'unapproved, a test' } }
const merge = { 'content-type': 'application/merge-patch+json' }

function approvedDefinition(wanted: DefinitionOptions) {
  const definition = definitionOf({ scope: 'Cluster', ...wanted })
  return { ...definition, metadata: { ...definition.metadata, ...approved } }
}

/** Creates a definition and resolves once the server has checked its names. */
async function ask(
  client: HttpClient,
  wanted: DefinitionOptions,
): Promise<{ name: string; accepted: string | undefined }> {
  const definition = approvedDefinition(wanted)
  const made = await client.post(definitions, definition)
  assert.equal(made.status, 201, made.text)
  const { name } = definition.metadata
  const { object } = await waitForEvent(
    client,
    name,
    (event) => conditionOf(event.object, 'NamesAccepted') !== undefined,
  )
  return { name, accepted: conditionOf(object, 'NamesAccepted') }
}

async function patchStatus(client: HttpClient, name: string, status: JsonObject) {
  return await client.send(`${definitions}/${name}/status`, { method: 'PATCH', headers: merge, body: { status } })
}

/** Returns a forged status that claims all names. */
function grantOf({ plural = '', kind = '' }: DefinitionOptions): JsonObject {
  return {
    acceptedNames: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    conditions: [
      { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'mine' },
      { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'mine' },
    ],
  }
}

const places: readonly (readonly [string, DefinitionOptions])[] = [
  ['v1', { group: 'rbac.authorization.orch.io', plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' }],
  ['v1', { group: 'certificates.orch.io', plural: 'certificatesigningrequests', kind: 'CertificateSigningRequest' }],
  ['v1', { group: 'authentication.orch.io', plural: 'tokenreviews', kind: 'TokenReview' }],
  ['v1', { group: 'apiextensions.orch.io', plural: 'customresourcedefinitions', kind: 'CustomResourceDefinition' }],
]

describe('definitions that use the names of a built-in type', () => {
  let server: InProcess
  let client: HttpClient
  before(async () => {
    server = await startInProcess(allKinds, ['--runtime-config=storage.orch.io/v1/volumeattachments=false'])
    client = server.client
  })
  after(() => server.stop())

  for (const [version, wanted] of places)
    test(`a definition is not served as ${wanted.plural} even if its status says Established`, async () => {
      const path = `/apis/${wanted.group}/${version}`
      const before = await client.get(path)
      const { name, accepted } = await ask(client, wanted)
      assert.equal(accepted, 'False')
      const patched = await patchStatus(client, name, grantOf(wanted))
      assert.equal(patched.status, 200, patched.text)
      assert.equal(conditionOf(patched.body, 'Established'), 'False')
      // A later definition is established only after this definition has been checked again.
      await undefine(client, await define(client, { plural: 'laters', kind: 'Later' }))
      const { body } = await client.get(`${definitions}/${name}`)
      assert.equal(conditionOf(body, 'Established'), 'False')
      assert.equal(body.status.acceptedNames.plural, '')
      assert.equal((await client.get(path)).text, before.text)
      await undefine(client, name)
    })

  test('a definition is not granted the names of a disabled built-in type', async () => {
    const wanted = { group: 'storage.orch.io', plural: 'volumeattachments', kind: 'VolumeAttachment' }
    const path = '/apis/storage.orch.io/v1/volumeattachments'
    assert.equal((await client.get(path)).status, 404)
    const { name, accepted } = await ask(client, wanted)
    assert.equal(accepted, 'False')
    assert.equal((await client.get(path)).status, 404)
    await undefine(client, name)
  })

  const group = 'rbac.authorization.orch.io'
  const names: readonly (readonly [string, JsonObject])[] = [
    ['singular name', { singular: 'clusterrole' }],
    ['short name', { shortNames: ['fine', 'clusterroles'] }],
    ['kind', { kind: 'ClusterRole' }],
    ['list kind', { listKind: 'ClusterRoleList' }],
  ]
  for (const [what, taken] of names)
    test(`a definition is not granted the ${what} of a built-in type`, async () => {
      const definition = approvedDefinition({ group, plural: 'others', kind: 'Other' })
      Object.assign(definition.spec.names, taken)
      assert.equal((await client.post(definitions, definition)).status, 201)
      const { name } = definition.metadata
      const { object } = await waitForEvent(
        client,
        name,
        (event) => conditionOf(event.object, 'NamesAccepted') !== undefined,
      )
      assert.equal(conditionOf(object, 'NamesAccepted'), 'False')
      assert.equal(conditionOf(object, 'Established'), 'False')
      await patchStatus(client, name, { ...grantOf({ plural: 'others', kind: 'Other' }), acceptedNames: taken })
      assert.equal((await client.get(`/apis/${group}/v1/others`)).status, 404)
      await undefine(client, name)
    })
})

describe('client writes to the status of a definition', () => {
  let server: InProcess
  let client: HttpClient
  before(async () => {
    server = await startInProcess()
    client = server.client
  })
  after(() => server.stop())

  test('a client that writes the status of a definition can neither grant nor remove names, and other conditions are kept', async () => {
    const name = await define(client)
    const conditions = [
      { type: 'Established', status: 'False', reason: 'Mine', message: '' },
      { type: 'Checked', status: 'True', reason: 'Mine', message: 'kept' },
    ]
    const acceptedNames = { plural: 'others', kind: 'Other', shortNames: ['ot'] }
    const patched = await patchStatus(client, name, { acceptedNames, conditions })
    assert.equal(patched.status, 200, patched.text)
    assert.equal(patched.body.status.acceptedNames.plural, 'widgets')
    assert.equal(conditionOf(patched.body, 'Established'), 'True')
    assert.equal(conditionOf(patched.body, 'NamesAccepted'), 'True')
    assert.equal(conditionOf(patched.body, 'Checked'), 'True')
    assert.equal((await client.get('/apis/stable.example.com/v1/others')).status, 404)
    // Other definitions may use names that were not granted.
    await undefine(client, await define(client, { plural: 'others', kind: 'Other', shortNames: ['ot'] }))
    await undefine(client, name)
  })

  test('a client that writes the status of an established definition cannot enable a scope change', async () => {
    const name = await define(client)
    await patchStatus(client, name, { conditions: [{ type: 'Established', status: 'False' }] })
    const body = { spec: { scope: 'Cluster' } }
    const changed = await client.send(`${definitions}/${name}`, { method: 'PATCH', headers: merge, body })
    assert.equal(changed.status, 422, changed.text)
    await undefine(client, name)
  })

  test('a status update of a definition with an invalid name is rejected', async () => {
    const name = await define(client)
    const patched = await patchStatus(client, name, { acceptedNames: { plural: '/a', kind: 'Widget' } })
    assert.equal(patched.status, 422, patched.text)
    assert.match(patched.text, /"field":"status.acceptedNames.plural"/)
    await undefine(client, name)
  })
})

test('a definition older than a built-in type with the same name is no longer served and reports a name conflict', async (t) => {
  const wanted = { group: 'node.orch.io', plural: 'runtimeclasses', kind: 'RuntimeClass', scope: 'Cluster' as const }
  const { name } = approvedDefinition(wanted).metadata
  const fewer = allKinds.filter(({ plural }) => plural !== 'runtimeclasses')
  const server = await startInProcess(allKinds, [], async (data) => {
    const tokenFile = join(dirname(data), 'tokens.csv')
    writeFileSync(tokenFile, tokens)
    const flags = ['--secure-port=0', `--data-dir=${data}`, '--admin-kubeconfig=', `--token-auth-file=${tokenFile}`]
    const older = await startApiServer(parseFlags(serverFlags, flags), { log: openTestLog(), kinds: fewer })
    const ca = readFileSync(join(data, 'pki/ca.crt'), 'utf8')
    const client = new HttpClient({ port: Number(new URL(older.url).port), token: 'admin-token', ca })
    assert.equal((await ask(client, wanted)).accepted, 'True')
    client.close()
    await older.stop()
  })
  t.after(() => server.stop())
  const { client } = server
  const made = await client.post('/apis/node.orch.io/v1/runtimeclasses', { metadata: { name: 'a' }, handler: 'a' })
  assert.equal(made.status, 201, made.text)
  await waitForEvent(client, name, ({ object }) => conditionOf(object, 'Established') === 'False')
  const { body } = await client.get(`${definitions}/${name}`)
  assert.equal(conditionOf(body, 'NamesAccepted'), 'False')
  assert.equal(body.status.acceptedNames.plural, '')
  await undefine(client, name)
  assert.equal((await client.get('/apis/node.orch.io/v1/runtimeclasses/a')).body.handler, 'a')
})
