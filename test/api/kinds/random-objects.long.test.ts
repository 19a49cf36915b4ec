/**
 * Tests random valid objects of every kind, in every served version. The server must accept each object, store it as
 * sent except for defaults, and return the same content in all versions. Writing the returned object back must change
 * nothing. The same applies to the status.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type JsonObject, sameJson } from '../../../src/api/json/json.ts'
import { service } from '../../../src/api/kinds/core/service.ts'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { apiVersionOf, vendorOf } from '../../../src/api/model/vendor.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import type { ObjectSchema } from '../../../src/api/schema/schema.ts'
import { noControls } from '../../support/accounts.ts'
import type { Answer } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { hasServerWrittenStatus, readWithStatus } from '../../support/read-with-status.ts'
import { differences } from './differences.ts'
import { fieldsIn, fieldsOf } from './fields-of.ts'
import { homeOf, newObject, withoutStatus } from './new-object.ts'
import { makeObject, makingFrom } from './random-object.ts'
import { validValues } from './valid-values.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

/** Virtual kinds are excluded because their objects are not stored. */
const storedKinds = allKinds.filter(({ lifecycle: life }) => !life.virtual)
const client = (await serve({ after }, [noControls])).client()
const vendor = vendorOf('orch')
const seed = 20_260_101
/** All fields that the test has sent, as `Type.field`. */
const sentFields = new Set<string>()

/** Maximum number of objects, keyed by kind, for kinds with many fields. */
const most: { readonly [kind: string]: number } = {
  Pod: 100,
  PersistentVolume: 250,
  PodTemplate: 30,
  Node: 60,
  HorizontalPodAutoscaler: 40,
  Service: 60,
}
const fewest = 20
/**
 * Number of objects of each kind that are always sent. Unless ORCH_LONG is 1, further objects are sent only if they set
 * a field that was not sent before.
 */
const always = 2
/** Number of concurrent requests. */
const atOnce = 4

for (const kind of storedKinds) {
  const name = `${kind.kind} ${kind.group}/${kind.version}`
  test(`${name}: random valid objects are accepted, stored and read back unchanged`, async () => {
    const faults: string[] = []
    const wanted = new Set(sendable(kind))
    let times = 0
    const sendSome = async (some: readonly Drawn[]) => {
      times += some.length
      faults.push(...(await faultsOfSome(kind, some)))
    }
    const all = Array.from({ length: most[kind.kind] ?? fewest }, (_, i) => draw(kind, seed + i))
    const certain = long ? all.length : always
    for (let i = 0; i < certain; i += atOnce) await sendSome(all.slice(i, i + atOnce))
    for (const one of all.slice(certain)) if (isNews(kind, one, wanted)) await sendSome([one])
    console.error(`random objects: ${times} of ${name}, ${faults.length} faults`)
    assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults`)
  })
}

async function faultsOfSome(kind: Kind, some: readonly Drawn[]): Promise<string[]> {
  const all = await Promise.all(some.map((one) => faultsOfOne(kind, one)))
  return all.flatMap((faults, i) => faults.map((fault) => `seed ${some[i]!.from}: ${fault}`))
}

/** A random object and, if its kind has a status, a random status. */
interface Drawn {
  readonly from: number
  readonly sent: JsonObject
  readonly status: JsonObject | undefined
}

function draw(kind: Kind, from: number): Drawn {
  const making = makingFrom(from)
  const sent = newObject(kind, making, `x${from}-${kind.group}-${kind.version}`)
  const status = hasStatus(kind) ? makeObject(statusOf(kind), making, validValues, homeOf(kind)) : undefined
  return { from, sent, status }
}

/** Whether the object sets a field that the test still needs and that no earlier object has set. */
function isNews(kind: Kind, { sent, status }: Drawn, wanted: ReadonlySet<string>): boolean {
  const fields = new Set<string>()
  fieldsIn(kind.schema, sent, fields)
  if (status !== undefined) fieldsIn(statusOf(kind), status, fields)
  return [...fields].some((name) => wanted.has(name) && !sentFields.has(name))
}

function hasStatus(kind: Kind): boolean {
  return !hasServerWrittenStatus(kind) && kind.views.subresources?.status !== undefined
}

function statusOf({ schema }: Kind): ObjectSchema {
  return schema.fields.status!.schema as ObjectSchema
}

/** Fields that clients do not send, or that the server always rejects or drops. */
const neverSent = [
  /^(?:ObjectMeta|ManagedFieldsEntry|OwnerReference|PersistentVolumeClaimTemplate)\./,
  /^(?:EphemeralContainer|PodOS)\./,
  /^CertificateSigningRequestSpec\.(?:username|uid|groups|extra)$/,
  /^CertificateSigningRequestStatus\.certificate$/,
  /^(?:MetricSpec|MetricStatus)\.containerResource$/,
  /^ContainerResourceMetric(?:Source|Status)\./,
  /^PodSpec\.(?:ephemeralContainers|os)$/,
  /^(?:ConfigMap)?NodeConfig(?:Source|Status)\./,
  /^NodeSpec\.configSource$/,
  /^NodeStatus\.config$/,
  /^PersistentVolumeClaimStatus\.(?:allocatedResources|resizeStatus)$/,
  /^PersistentVolumeClaimSpec\.dataSourceRef$/,
  /^Probe\.terminationGracePeriodSeconds$/,
  /^PodStatus\.(?:podIP|ephemeralContainerStatuses)$/,
  /^WindowsSecurityContextOptions\.hostProcess$/,
  /^Secret\.stringData$/,
  /^ServiceSpec\.healthCheckNodePort$/,
  /^Event\.deprecated/,
  /^(?:CustomResourceDefinition|FlowSchema|APIService)(?:Status|Condition)\./,
  /^CustomResourceDefinitionSpec\.preserveUnknownFields$/,
  /^(?:CustomResourceConversion\.webhook$|Webhook|ServiceReference)/,
  /^StatefulSetSpec\.persistentVolumeClaimRetentionPolicy$/,
  /^StatefulSetPersistentVolumeClaimRetentionPolicy\./,
  /^PodSecurityPolicySpec\.allowedProcMountTypes$/,
  /^Endpoint\.(?:deprecatedTopology|hints)$/,
  /^(?:EndpointHints|ForZone)\./,
]

test('the random objects in this test set every writable field at least once', () => {
  const wanted = [...new Set(storedKinds.flatMap(sendable))]
  console.error(
    `random objects: ${wanted.filter((name) => sentFields.has(name)).length} of ${wanted.length} fields sent`,
  )
  assert.deepEqual(wanted.filter((name) => !sentFields.has(name)).sort(), [])
})

/** Returns the fields of a kind that clients can send. */
function sendable({ schema }: Kind): readonly string[] {
  return [...fieldsOf(schema)].filter((name) => !isStatus(name) && !neverSent.some((form) => form.test(name)))
}

/** Whether the field is a status, which the test sends separately through the subresource. */
function isStatus(name: string): boolean {
  return allKinds.some(({ kind }) => name === `${kind}.status`)
}

async function faultsOfOne(kind: Kind, { sent, status }: Drawn): Promise<string[]> {
  fieldsIn(kind.schema, sent, sentFields)
  const created = await client.post(collection(kind), sent)
  if (created.status !== 201)
    return [`refused: ${created.text.slice(0, 700)} for ${JSON.stringify(sent).slice(0, 1500)}`]
  const at = `${collection(kind)}/${created.body.metadata.name}`
  const kept = hasServerWrittenStatus(kind) ? await readWithStatus(client, kind, at) : created
  return [
    ...differences(kind.schema, sent, withoutStatus(created.body)),
    ...(await faultsOfReading(kind, at, kept)),
    ...(status === undefined ? [] : await faultsOfStatus(kind, at, status)),
  ]
}

function collection({ group, version, plural, scope }: Kind): string {
  const root = group === 'core' ? '/api' : '/apis'
  return `${root}/${apiVersionOf(vendor, group, version)}${scope === 'Cluster' ? '' : '/namespaces/default'}/${plural}`
}

/**
 * Checks that all served versions return the object, and that writing the object back in any version changes nothing.
 */
async function faultsOfReading(kind: Kind, at: string, stored: Answer): Promise<string[]> {
  const faults: string[] = []
  for (const other of allKinds.filter(({ plural, group }) => plural === kind.plural && group === kind.group)) {
    const path = at.replace(collection(kind), collection(other))
    const seen = await client.get(path)
    const written = await client.put(path, seen.body)
    if (!sameJson(written.body, seen.body))
      faults.push(`${other.version} written back: ${written.text.slice(0, 1500)} was ${seen.text.slice(0, 1500)}`)
  }
  const read = await client.get(at)
  if (!sameJson(read.body, stored.body))
    faults.push(`read ${read.text.slice(0, 1500)}, stored ${stored.text.slice(0, 1500)}`)
  return faults
}

async function faultsOfStatus(kind: Kind, at: string, drawn: JsonObject): Promise<string[]> {
  const schema = statusOf(kind)
  const { body } = await client.get(at)
  const status = { ...drawn }
  // Only Services of type LoadBalancer have a load balancer status. An update of any other Service would remove this
  // status.
  if (kind.kind === service.kind && body.spec.type !== 'LoadBalancer') delete status.loadBalancer
  fieldsIn(schema, status, sentFields)
  const written = await client.put(`${at}/status`, { ...body, status })
  if (written.status !== 200)
    return [`status refused: ${written.text.slice(0, 700)} for ${JSON.stringify(status).slice(0, 1500)}`]
  return [...differences(schema, status, written.body.status), ...(await faultsOfReading(kind, at, written))]
}
