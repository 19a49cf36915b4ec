/**
 * Tests that two managers applying the same configuration never conflict, in any version of any kind, and that each of
 * them can give up its own fields. The configuration is a random valid object with its defaults, as a client would read
 * it.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { apiVersionOf, vendorOf } from '../../../src/api/model/vendor.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import { noControls } from '../../support/accounts.ts'
import { serve } from '../../support/in-process.ts'
import { newObject, withoutStatus } from './new-object.ts'
import { makingFrom } from './random-object.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const client = (await serve({ after }, [noControls])).client()
const vendor = vendorOf('orch')
const seed = 20_260_201
const objectsPerVersion = 3

for (const kind of allKinds.filter(({ lifecycle: life }) => !life.virtual))
  test(`two field managers can apply the same ${kind.kind} ${kind.group}/${kind.version} without conflicts`, async () => {
    const seeds = Array.from({ length: objectsPerVersion }, (_, i) => seed + i)
    const faults = await Promise.all(seeds.map((from) => faultOf(kind, from)))
    assert.deepEqual(
      faults.filter((fault) => fault !== undefined),
      [],
    )
  })

async function faultOf(kind: Kind, from: number): Promise<string | undefined> {
  const sent = newObject(kind, makingFrom(from), `t${from}-${kind.group}-${kind.version}`)
  const shown = await client.post(`${collection(kind)}?dryRun=All`, sent)
  if (shown.status !== 201) return `seed ${from}: refused: ${shown.text.slice(0, 500)}`
  const config = configurationOf(shown.body)
  const first = await apply(kind, config, 'a')
  // Apply rejects a configuration whose list elements have no keys, because no manager could own such elements.
  if (first.status === 422 && /omits the key/.test(first.body.message)) return undefined
  const second = await apply(kind, config, 'b')
  const bare = { apiVersion: config.apiVersion!, kind: config.kind!, metadata: { name: shown.body.metadata.name } }
  const takenBack = await apply(kind, bare, 'a')
  const statuses = [first.status, second.status, takenBack.status]
  if (String(statuses) !== '201,200,200')
    return `seed ${from}: ${statuses}: ${(second.status === 200 ? takenBack : second).text.slice(0, 1500)}`
  // Manager b still applies every field, so no value changes, and b becomes the only owner of the fields.
  const managers = String(managersOf(takenBack.body))
  if (managers !== String(managersOf(first.body)).replace('a', 'b')) return `seed ${from}: managers ${managers}`
  try {
    assert.deepEqual(contentOf(takenBack.body), contentOf(first.body))
  } catch (error) {
    return `seed ${from}: ${(error as Error).message.slice(0, 1500)}`
  }
  // Some kinds require fields that manager b gives up. The server may therefore reject this apply as invalid, but must
  // not report a conflict.
  const empty = await apply(kind, bare, 'b')
  return [200, 422].includes(empty.status) ? undefined : `seed ${from}: ${empty.text.slice(0, 1500)}`
}

/** Returns the part of an object that a client would store in a file. */
function configurationOf(object: JsonObject): JsonObject {
  const { name, labels, annotations } = object.metadata as JsonObject
  return { ...withoutStatus(object), metadata: JSON.parse(JSON.stringify({ name, labels, annotations })) }
}

/**
 * Returns which of the managers a and b own fields. If the configuration sets only fields that cannot be owned, neither
 * manager owns any.
 */
function managersOf({ metadata }: JsonObject): string[] {
  const { managedFields = [] } = metadata as { managedFields?: { manager: string }[] }
  return managedFields.map(({ manager }) => manager).filter((name) => name === 'a' || name === 'b')
}

function contentOf({ metadata: _, ...rest }: JsonObject): JsonObject {
  return withoutStatus(rest)
}

function apply(kind: Kind, body: JsonObject, manager: string) {
  const { name } = body.metadata as { name: string }
  return client.send(`${collection(kind)}/${name}?fieldManager=${manager}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body,
  })
}

function collection({ group, version, plural, scope }: Kind): string {
  const root = group === 'core' ? '/api' : '/apis'
  return `${root}/${apiVersionOf(vendor, group, version)}${scope === 'Cluster' ? '' : '/namespaces/default'}/${plural}`
}
