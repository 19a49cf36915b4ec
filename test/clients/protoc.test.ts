/**
 * Tests Protobuf with an independent implementation: `protoc`, with `.proto` text generated from recorded facts.
 * `protoc` must decode every field that the server sends, with the type of the field, and must encode the result to the
 * same bytes. The server must accept the messages that `protoc` encodes.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { kindsOfVersion } from '../../src/api/kinds/of-version.ts'
import { apiVersionOf, vendorOf } from '../../src/api/model/vendor.ts'
import type { Kind } from '../../src/api/schema/kind.ts'
import { WireWriter } from '../../src/wire/protobuf/protobuf-wire.ts'
import { serve } from '../support/in-process.ts'
import { manifestObject } from '../support/manifests.ts'
import { protoName, protoText } from '../support/proto-text.ts'
import { readEnvelope } from '../support/protobuf-model.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const vendor = vendorOf('orch')
const type = vendor.protobufMediaType
const client = (await serve({ after })).client()
await client.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
const directory = mkdtempSync(join(tmpdir(), 'orch-protoc-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const kinds = allKinds.filter(({ lifecycle: life }) => !life.virtual)
const home = ({ group }: Kind) => group.split('.')[0]
const messageOf = (kind: Kind) => `${home(kind)}.${kind.version}.${kind.kind}`
const manifestOf = (kind: Kind) => manifestObject(`${home(kind)}.${kind.plural}`, 'orch')
const messages = [...kinds.flatMap((kind) => [messageOf(kind), `${messageOf(kind)}List`]), 'meta.v1.Status']
/** A message with one field for each message type that the tests decode. */
const all = messages.map((message, i) => `  optional ${protoName(message)} m${i + 1} = ${i + 1};\n`).join('')
writeFileSync(join(directory, 'api.proto'), `${protoText([...messages, 'runtime.Unknown'])}message All {\n${all}}\n`)

function protoc(action: string, message: string, input: Buffer): Buffer {
  const args = [`--${action}=${message}`, `--proto_path=${directory}`, 'api.proto']
  const more = action === 'encode' ? ['--deterministic_output'] : []
  const { status, stdout, stderr } = spawnSync('protoc', [...more, ...args], { input, maxBuffer: 64 * 1024 * 1024 })
  assert.equal(status, 0, stderr.toString())
  return stdout
}

function collection({ group, version, scope, plural }: Kind): string {
  const root = group === 'core' ? '/api' : '/apis'
  return `${root}/${apiVersionOf(vendor, group, version)}${scope === 'Cluster' ? '' : '/namespaces/default'}/${plural}`
}

async function messageAt(path: string, status = 200): Promise<Buffer> {
  const answer = await client.get(path, { accept: type })
  assert.equal(answer.status, status, path)
  return readEnvelope(answer.bytes).raw
}

test('protoc decodes every field that the server sends and encodes the same bytes', async () => {
  for (const kind of kinds.filter((each) => each.conversion === undefined)) {
    const object = manifestOf(kind)
    const written = kinds.find(
      (each) => each.plural === kind.plural && apiVersionOf(vendor, each.group, each.version) === object.apiVersion,
    )
    assert.equal((await client.post(collection(written!), object)).status, 201)
  }
  const everything = new WireWriter()
  const put = async (i: number, path: string) => everything.bytes(i, await messageAt(path))
  for (const [i, kind] of kinds.entries()) {
    const { metadata } = manifestOf(kind.conversion?.stored ?? kind)
    await put(2 * i + 1, `${collection(kind)}/${metadata.name}`)
    await put(2 * i + 2, collection(kind))
  }
  everything.bytes(messages.length, await messageAt(`${collection(kinds[0]!)}/none`, 404))
  const bytes = everything.finish()
  const text = protoc('decode', 'All', bytes)
  // protoc prints a number instead of a name for a field that it does not know.
  assert.doesNotMatch(text.toString(), /^\s*\d+(:| \{)/m)
  assert.ok(protoc('encode', 'All', text).equals(bytes))
  console.error(
    `protoc: ${messages.length} documents read and written again, ${text.toString().split('\n').length} lines`,
  )
})

test('the server accepts messages encoded by protoc', async () => {
  const pod = `metadata { name: "by-protoc" labels { key: "a" value: "b" } }
    spec {
      containers {
        name: "c" image: "i" ports { containerPort: 80 }
        resources { limits { key: "cpu" value { string: "500m" } } }
        livenessProbe { handler { httpGet { path: "/" port { type: 1 strVal: "web" } } } periodSeconds: 5 }
        env { name: "E" valueFrom { secretKeyRef { localObjectReference { name: "s" } key: "k" } } }
      }
      volumes { name: "v" volumeSource { secret { secretName: "s" } } }
      terminationGracePeriodSeconds: 7
    }`
  const raw = [...protoc('encode', 'core_v1_Pod', Buffer.from(pod))].map(
    (byte) => `\\${byte.toString(8).padStart(3, '0')}`,
  )
  const unknown = `typeMeta { apiVersion: "v1" kind: "Pod" } raw: "${raw.join('')}"`
  const body = Buffer.concat([Buffer.from('k8s\0'), protoc('encode', 'runtime_Unknown', Buffer.from(unknown))])
  const headers = { 'content-type': type }
  const path = '/api/v1/namespaces/default/pods'
  const created = await client.send(path, { method: 'POST', raw: body, headers })
  assert.equal(created.status, 201, created.text)
  const { spec, metadata } = created.body
  const [container] = spec.containers
  assert.deepEqual(metadata.labels, { a: 'b' })
  assert.deepEqual(container.ports, [{ containerPort: 80, protocol: 'TCP' }])
  assert.equal(container.resources.limits.cpu, '500m')
  assert.equal(container.livenessProbe.httpGet.port, 'web')
  assert.deepEqual(container.env, [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }])
  assert.deepEqual(spec.volumes[0], { name: 'v', secret: { secretName: 's', defaultMode: 420 } })
  assert.equal(spec.terminationGracePeriodSeconds, 7)
})
