/**
 * Measures the cost of an apply compared with a plain PUT. Covers only the processing of the object, not the transport
 * or the store. Prints microseconds per operation and the ratio to the PUT. Run it with `bin/node bench/apply.ts`.
 */
import { parseJson, stringifyJson } from '../src/api/codec/json.ts'
import type { Json, JsonObject } from '../src/api/json/json.ts'
import { applyObject } from '../src/api/merge/apply.ts'
import { trackUpdate } from '../src/api/merge/track-update.ts'
import { type ApiObject, asJson, asObject } from '../src/api/model/object.ts'
import { vendorOf } from '../src/api/model/vendor.ts'
import { decode } from '../src/api/schema/decode.ts'
import { fillDefaults } from '../src/api/schema/defaults.ts'
import { defineKind } from '../src/api/schema/kind.ts'
import { field, s } from '../src/api/schema/schema.ts'

const env = s.object({ name: field(1, s.string()), value: field(2, s.string()) })
const port = s.object({
  name: field(1, s.string()),
  containerPort: field(2, s.int32()),
  protocol: field(3, s.string(), { default: 'TCP' }),
})
const container = s.object({
  name: field(1, s.string()),
  image: field(2, s.string()),
  args: field(3, s.list(s.string())),
  env: field(4, s.list(env, { list: 'map', keys: ['name'] })),
  ports: field(5, s.list(port, { list: 'map', keys: ['containerPort', 'protocol'] })),
  imagePullPolicy: field(6, s.string(), { default: 'IfNotPresent' }),
})
const kind = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'Thing',
    plural: 'things',
    scope: 'Namespaced',
  },
  doc: 'A kind for measuring.',
  fields: {
    spec: field(2, s.object({ containers: field(1, s.list(container, { list: 'map', keys: ['name'] })) })),
    data: field(3, s.map(s.string())),
  },
})
const { schema } = kind
const empty = asObject(decode(schema, { apiVersion: 'v1', kind: 'Thing' }).value)
const vendor = vendorOf('orch')
const writer = { name: 'bench', apiVersion: 'v1', subresource: '', time: '2030-01-01T00:00:00Z' }

function sample(): JsonObject {
  const containers = Array.from({ length: 6 }, (_, i) => ({
    name: `c${i}`,
    image: `registry.example.com/team/app-${i}:1.2.3`,
    args: ['--verbose', `--shard=${i}`],
    env: Array.from({ length: 8 }, (_, k) => ({ name: `VARIABLE_${k}`, value: `value of the variable ${k}` })),
    ports: [{ name: 'web', containerPort: 8000 + i }],
  }))
  const data = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`key-${i}`, 'x'.repeat(40)]))
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'x', labels: { app: 'a', tier: 'b' } },
    spec: { containers },
    data,
  }
}

function complete(value: Json): ApiObject {
  const decoded = decode(schema, value).value
  fillDefaults(schema, decoded, { context: { vendor, subresource: '' } })
  return asObject(decoded)
}

const apply = (live: ApiObject | undefined, config: Json) =>
  applyObject({ schema, vendor, empty, live, config, writer, force: false, readOnly: [] })

function put(live: ApiObject, body: Buffer): ApiObject {
  const after = complete(parseJson(body).value)
  const managedFields = trackUpdate({ schema, before: live, after, writer, readOnly: [], create: false })
  return { ...after, metadata: { ...after.metadata, managedFields: managedFields ?? [] } }
}

function applied(live: ApiObject | undefined, body: Buffer): ApiObject {
  const result = apply(live, parseJson(body).value)
  if (result.outcome === 'conflict') throw new Error('the bench has no conflicts')
  const object = live !== undefined && result.object === asJson(live) ? live : complete(result.object)
  return { ...object, metadata: { ...object.metadata, managedFields: [...result.managedFields] } }
}

/**
 * Returns microseconds of CPU time per operation. Takes the best of several rounds to reduce the effect of other load.
 */
function time(work: () => unknown): number {
  for (let i = 0; i < 2000; i++) work()
  const rounds = Array.from({ length: 7 }, () => {
    const start = process.cpuUsage()
    for (let i = 0; i < 500; i++) work()
    return process.cpuUsage(start).user / 500
  })
  return Math.min(...rounds)
}

const config = sample()
const body = Buffer.from(stringifyJson(config))
const changed = Buffer.from(stringifyJson({ ...config, data: { ...(config.data as JsonObject), 'key-3': 'y' } }))
const live = applied(undefined, body)
const updated = put({ ...empty, metadata: { managedFields: live.metadata.managedFields! } }, body)

const rows: [string, number][] = [
  ['PUT, unchanged', time(() => put(live, body))],
  ['PUT, one field changed', time(() => put(live, changed))],
  ['PUT to an object that updates made', time(() => put(updated, body))],
  ['apply, unchanged', time(() => applied(live, body))],
  ['apply, one field changed', time(() => applied(live, changed))],
  ['apply that creates', time(() => applied(undefined, body))],
]
const base = rows[0]![1]
console.log(`object of ${body.length} bytes`)
for (const [name, micros] of rows)
  console.log(`${name.padEnd(36)} ${micros.toFixed(0).padStart(5)} µs  ${(micros / base).toFixed(2)} x PUT`)
