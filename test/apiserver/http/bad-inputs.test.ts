/**
 * Tests a table of bad inputs and their expected responses. The table contains faults that are known from other API
 * servers. Longer series have their own files (hostile-bodies, -headers, -paths, -queries, every-write-method).
 * `bad-input-rows.ts` lists all kinds of bad input and where they are tested. Prints the number of inputs and of wrong
 * responses.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { giveAccount } from '../../support/accounts.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { root } from '../../support/server.ts'
import { survivalCheck } from '../../support/survival-check.ts'
import * as rowsOf from './bad-input-rows.ts'

const core = '/api/v1'
const configMaps = `${core}/namespaces/default/configmaps`
const existing = `${configMaps}/existing`
const yaml = 'application/yaml'
const apply = 'application/apply-patch+yaml'
const jsonPatch = 'application/json-patch+json'
const mergePatch = 'application/merge-patch+json'
const strategicPatch = 'application/strategic-merge-patch+json'

interface Input {
  readonly method?: string
  readonly path: string
  readonly type?: string
  readonly body?: string
  readonly headers?: { readonly [name: string]: string }
}

/** The input, the accepted codes, and the text that the response must contain. */
type Row = readonly [input: Input, codes: number | readonly number[], told?: RegExp]

const get = (path: string, headers: Input['headers'] = {}): Input => ({ path, headers })
const post = (body: string, type = 'application/json', path = configMaps): Input => ({
  method: 'POST',
  path,
  type,
  body,
})
const patch = (type: string, body: string, path = existing): Input => ({ method: 'PATCH', path, type, body })
const remove = (path: string, body?: string): Input => ({
  method: 'DELETE',
  path,
  ...(body === undefined ? {} : { body }),
})
const bodyWith = (members: string) => `{"metadata":{"generateName":"b-"},${members}}`
const meta = (members: string) => `{"metadata":{"generateName":"b-",${members}}}`
const series = <T>(values: readonly T[], row: (value: T) => Row) => values.map(row)

const laughs = `a0: &a0 lol\n${Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join()}]`).join('\n')}`
const ownedBy = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: existing}\n'

const expansion: readonly Row[] = [
  [post(laughs, yaml), 400, /expand/],
  [patch(apply, `${ownedBy}${laughs}`, `${existing}?fieldManager=m`), 400, /expand/],
  [{ method: 'PUT', path: existing, type: yaml, body: laughs }, 400, /expand/],
  ...series([existing, configMaps], (path) => [{ method: 'DELETE', path, type: yaml, body: laughs }, 400, /expand/]),
  ...series(['pods/none/eviction', 'serviceaccounts/default/token'], (path) => [
    post(laughs, yaml, `${core}/namespaces/default/${path}`),
    400,
    /expand/,
  ]),
  [post('metadata: {generateName: b-, labels: &l {a: b}, annotations: *l}', yaml), 201, /"annotations":\{"a":"b"\}/],
  [post('metadata: {generateName: b-}\ndata: {<<: {a: x, b: w}, a: own}', yaml), 201, /"data":\{"a":"own","b":"w"\}/],
  [post('['.repeat(3_000_000)), 400],
  [post(`x: ${'['.repeat(5000)}`, yaml), 400],
  [post('x'.repeat(3 * 1024 * 1024 + 1)), 413],
  [
    post(
      `metadata: {generateName: b-}\ndata:\n${Array.from({ length: 40_000 }, (_, i) => `  k${i}: ""`).join('\n')}`,
      yaml,
    ),
    201,
  ],
  [patch(jsonPatch, JSON.stringify(Array(10_001).fill({ op: 'test', path: '/kind', value: 'ConfigMap' }))), 413],
  [
    patch(
      jsonPatch,
      JSON.stringify([
        { op: 'add', path: '/data', value: { a: 'x'.repeat(1000) } },
        ...Array(30).fill({ op: 'copy', from: '/data', path: '/data/a' }),
      ]),
    ),
    [400, 413, 422],
  ],
]

const scope: readonly Row[] = [
  [get(`${core}/namespaces/default/namespaces/default`), 404],
  [get(`${core}/namespaces/default/persistentvolumes`), 404],
  [post('{"metadata":{"name":"x"}}', 'application/json', `${core}/configmaps`), [404, 405]],
  [get(`${core}/configmaps/existing`), 404],
  [get(`${core}/namespaces/..%2fx/configmaps`), [400, 404]],
  [get(`${core}/namespaces/%2e%2e/configmaps`), 400],
  [get(`/apis/..%2fx/v1/configmaps`), [400, 404]],
  ...series(['/debug/pprof/', '/debug/pprof/profile'], (path) => [get(path, { 'impersonate-user': 'nobody' }), 403]),
  ...series(['/debug/flags/v', '/logs/'], (path) => [get(path), [403, 404]]),
  ...series(['pictures', 'volumes'], (plural) => [get(`${core}/namespaces/default/${plural}`), 404]),
  // A request that impersonates a user has only the permissions of that user. Impersonation headers without a user are
  // rejected.
  [get(configMaps, { 'impersonate-user': 'system:masters' }), 403],
  ...series(['group', 'uid', 'extra-a%2fb'], (what) => [
    get(configMaps, { [`impersonate-${what}`]: 'system:masters' }),
    400,
  ]),
]

/**
 * Numeric keys that collide in the hash tables of some engines, because they differ only in bits that the hash function
 * ignores.
 */
const colliding = Array.from({ length: long ? 40_000 : 10_000 }, (_, i) => i * 256)
const collisions: readonly Row[] = [
  [post(bodyWith(`"data":{${colliding.map((key) => `"${key}":""`).join()}}`)), 201],
  [post(`metadata: {generateName: b-}\ndata: {${colliding.map((key) => `"${key}": ""`).join()}}`, yaml), 201],
  [patch(mergePatch, `{"data":{${colliding.map((key) => `"${key}":null`).join()}}}`), 200],
]

const javascript: readonly Row[] = [
  [
    post(bodyWith('"data":{"__proto__":"1","constructor":"2","toString":"3"}')),
    201,
    /"__proto__":"1","constructor":"2","toString":"3"/,
  ],
  [
    post('metadata: {generateName: b-}\ndata: {__proto__: "1", constructor: "2"}', yaml),
    201,
    /"__proto__":"1","constructor":"2"/,
  ],
  [post('{"metadata":{"name":"texts"},"data":{"a":"1e999","b":"0x1f","c":"yes"}}'), 201],
  [get(`${configMaps}/texts`, { accept: yaml }), 200, /a: "1e999"\n {2}b: "0x1f"\n {2}c: "yes"/],
  [patch(mergePatch, '{"data":{"__proto__":"m"}}'), 200, /"__proto__":"m"/],
  [patch(strategicPatch, '{"data":{"__proto__":"s"}}'), 200, /"__proto__":"s"/],
  [patch(jsonPatch, '[{"op":"add","path":"/data/__proto__","value":"j"}]'), 200, /"__proto__":"j"/],
  [patch(apply, `${ownedBy}data: {__proto__: "a"}`, `${existing}?fieldManager=m&force=true`), 200, /"__proto__":"a"/],
  [patch(jsonPatch, '[{"op":"add","path":"/__proto__/x","value":1}]'), [400, 422]],
  [patch(jsonPatch, '[{"op":"add","path":"/constructor/prototype/x","value":1}]'), [400, 422]],
  [patch(jsonPatch, '[{"op":"add","path":"/metadata/labels/__proto__","value":"x"}]'), [400, 422]],
  [patch(mergePatch, '{"__proto__":{"x":1}}'), [200, 400, 422]],
  [post(meta('"labels":{"__proto__":"x"}')), 422],
  [post(meta('"labels":{"constructor":"x"}')), 201],
  [post('{"metadata":{"name":"constructor"}}'), 201],
  [post('{"metadata":{"name":"__proto__"}}'), 422],
  [get(`${core}/namespaces/constructor/configmaps`), 200, /"items":\[\]/],
  [post(meta('"annotations":{"a":"\\u001b[31mred\\u009b"}')), 201, /"a":"\\u001b\[31mred\u009b"/],
  [get(`${configMaps}?__proto__=1`), 200],
  [get(configMaps, { constructor: 'x' }), 200],
  ...series(['9007199254740993', '9223372036854775807', '-0', '1e3'], (n) => [post(meta(`"generation":${n}`)), 201]),
  ...series(['9223372036854775808', '1e400', '1.5'], (n) => [post(meta(`"generation":${n}`)), 400]),
  [post(meta('"generation":1.0')), 201],
  ...series(['!!!', '-_-_', 'YQ', 'YQ==x'], (data) => [
    post(bodyWith(`"data":{"k":"${data}"}`), 'application/json', `${core}/namespaces/default/secrets`),
    400,
  ]),
  ...series(['!!!', '-_-_', 'YQ', 'YQ==x'], (data) => [post(bodyWith(`"binaryData":{"k":"${data}"}`)), 400]),
  ...series([mergePatch, strategicPatch], (type) => [patch(type, '{"binaryData":{"k":"YQ"}}'), 422]),
  ...series(['1.00000000000000000001', '1e-400', '4503599627370497.5'], (n) => [post(meta(`"generation":${n}`)), 400]),
  ...series([mergePatch, strategicPatch], (type) => [patch(type, '{"metadata":{"generation":1e-400}}'), 400]),
  [patch(jsonPatch, '[{"op":"add","path":"/metadata/generation","value":1e-400}]'), 400],
  [remove(existing, '{"gracePeriodSeconds":1e-400}'), 400],
  [post('\ufeff{}'), 400],
  [post('\ufeffmetadata: {generateName: b-}', yaml), 400, /byte order mark/],
  [post(bodyWith('"data":{"a":"\\ud800"}')), 400, /surrogate/],
  [post('metadata: {generateName: b-}\ndata: {a: "\\ud800"}', yaml), 400, /surrogate/],
  ...series(['é', '\uff11', 'a\u200d', 'name\n', 'İ'], (name) => [post(JSON.stringify({ metadata: { name } })), 422]),
  [post(bodyWith('"data":{"10":"","9":"","b":""}')), 201, /"10":"","9":"","b":""/],
  [post(JSON.stringify({ metadata: { name: 'a-'.repeat(500_000) } })), 422],
  ...series(['br', 'gzip', 'deflate', 'zstd'], (encoding) => [
    { ...post(bodyWith('"data":{}')), headers: { 'content-encoding': encoding } },
    415,
  ]),
]

const twice = bodyWith('"data":{"a":"1","a":"2"}')
const twiceInYaml = 'metadata: {generateName: b-}\ndata: {a: "1", a: "2"}'
const duplicates: readonly Row[] = [
  ...series(
    [
      [twice, 'application/json'],
      [twiceInYaml, yaml],
    ] as const,
    ([body, type]) => [post(body, type, `${configMaps}?fieldValidation=Strict`), 400, /duplicate field \\"data.a\\"/],
  ),
  ...series(
    [
      [twice, 'application/json'],
      [twiceInYaml, yaml],
    ] as const,
    ([body, type]) => [post(body, type), 201, /299 - "duplicate field/],
  ),
  ...series(
    [
      [twice, 'application/json'],
      [twiceInYaml, yaml],
    ] as const,
    ([body, type]) => [post(body, type, `${configMaps}?fieldValidation=Ignore`), 201, /"data":\{"a":"2"\}.*\n\n$/s],
  ),
  ...series(
    [
      [mergePatch, '{"data":{"a":"1","a":"2"}}'],
      [strategicPatch, '{"data":{"a":"1","a":"2"}}'],
      [jsonPatch, '[{"op":"add","path":"/data/a","value":"1","value":"2"}]'],
    ] as const,
    ([type, body]) => [patch(type, body, `${existing}?fieldValidation=Strict`), 422, /duplicate field/],
  ),
  ...series(
    [
      [mergePatch, '{"data":{"a":"1","a":"2"}}'],
      [strategicPatch, '{"data":{"a":"1","a":"2"}}'],
      [jsonPatch, '[{"op":"add","path":"/data/a","value":"1","value":"2"}]'],
    ] as const,
    ([type, body]) => [patch(type, body, `${existing}?dryRun=All`), 200, /299 - "duplicate field/],
  ),
  [patch(apply, `${ownedBy}data: {a: x, a: y}`, `${existing}?fieldManager=m&fieldValidation=Strict`), 400, /duplicate/],
]

const queries: readonly Row[] = [
  [get(`${configMaps}?watch=true&watch=false`), 400, /watch/],
  [get(`${configMaps}?watch=false&watch=true`), 400],
  [get(`${existing}?watch=1&timeoutSeconds=1`), 200, /"type":"ADDED"/],
  [{ ...post(bodyWith('"data":{}')), path: `${configMaps}?watch=1` }, 201],
  ...series(['9223372036854775808', '-9223372036854775809', '18446744073709551616', '1e3', 'x', ''], (n) => [
    get(`${configMaps}?limit=${n}`),
    400,
  ]),
  ...series(['9223372036854775807', '0', '-1'], (n) => [get(`${configMaps}?limit=${n}`), 200]),
  [get(`${configMaps}?timeoutSeconds=9223372036854775808`), 400],
  [get(`${configMaps}?timeout=abc`), 400],
  ...series(['abc', '-1', '1.5', '18446744073709551616', '0x1'], (v) => [
    get(`${configMaps}?resourceVersion=${v}`),
    400,
  ]),
  ...series(['garbage', '%2e%2e%2fsecrets%2f', 'e30'], (t) => [get(`${configMaps}?continue=${t}`), 400]),
  ...series(['a in ((b))', '=', 'é=1'], (selector) => [
    get(`${configMaps}?labelSelector=${encodeURIComponent(selector)}`),
    400,
  ]),
  [get(`${configMaps}?fieldSelector=spec.x%3Dy`), 400],
  // A single dryRun=All is sufficient, regardless of its position among other dryRun parameters.
  ...series(['dryRun=&dryRun=All', 'dryRun&dryRun=All', 'dryRun=All&dryRun=All', 'dryRun=All&dryRun='], (query) => [
    post(bodyWith('"data":{}'), 'application/json', `${configMaps}?${query}`),
    201,
  ]),
  ...series(['dryRun=&dryRun=All', 'dryRun=All&dryRun='], (query) => [remove(`${existing}?${query}`), 200]),
  ...series(['dryRun=All&dryRun=x', 'dryRun=x&dryRun=All', 'dryRun=all'], (query) => [
    post(bodyWith('"data":{}'), 'application/json', `${configMaps}?${query}`),
    422,
    /dryRun/,
  ]),
  [remove(existing, '{"dryRun":["All","x"]}'), 422],
  [remove(`${configMaps}?labelSelector=%3D`), 400],
  [remove(`${configMaps}?fieldSelector=spec.x%3Dy`), 400],
  [remove(`${configMaps}?limit=1&continue=garbage`), 400],
]

const objects: readonly Row[] = [
  ...series(['a'.repeat(254), 'A', '-a', 'a..b', 'a\\b'], (name) => [
    post(JSON.stringify({ metadata: { name } })),
    422,
  ]),
  [post('{"metadata":{}}'), 422],
  [post(JSON.stringify({ metadata: { generateName: 'a'.repeat(250) } })), 201],
  [
    post(
      meta(
        '"uid":"mine","creationTimestamp":"2001-01-01T00:00:00Z","deletionTimestamp":"2001-01-01T00:00:00Z","selfLink":"/x","generation":7',
      ),
    ),
    201,
  ],
  [
    post(
      meta(
        '"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u"},{"apiVersion":"v1","kind":"K","name":"n","uid":"u"}]',
      ),
    ),
    201,
    /duplicate entries/,
  ],
  [post(meta('"managedFields":[{"manager":"x","operation":"Frobnicate"}]')), 201, /^(?!.*Frobnicate)/s],
  [post(meta(`"finalizers":${JSON.stringify(Array.from({ length: 10_000 }, (_, i) => `x.io/f${i}`))}`)), 201],
  [remove(`${configMaps}/existing?dryRun=All`, '{"gracePeriodSeconds":-1,"dryRun":["All"]}'), 200],
  [remove(`${configMaps}/existing?dryRun=All&gracePeriodSeconds=-1`), 200],
  [remove(`${configMaps}/none?gracePeriodSeconds=-1`), 404],
  [remove(`${configMaps}/existing?dryRun=All&gracePeriodSeconds=9223372036854775808`), 400],
  [remove(existing, '{"orphanDependents":true,"propagationPolicy":"Foreground"}'), 422],
  [remove(existing, '{"preconditions":{"uid":"other"}}'), 409],
  [remove(existing, '{"preconditions":{"resourceVersion":"1"}}'), 409],
  [remove(existing, '{"kind":"ConfigMap","apiVersion":"v1"}'), 400],
  [patch(apply, `${ownedBy}`), 422, /fieldManager/],
  [patch(apply, `${ownedBy}`, `${existing}?fieldManager=${'m'.repeat(129)}`), 422],
  [patch(apply, `${ownedBy}`, `${existing}?fieldManager=%ff`), 422],
  [patch(apply, `${ownedBy}`, `${existing}?fieldManager=constructor`), 200],
  [patch(apply, `${ownedBy}data: [a]`, `${existing}?fieldManager=m`), 400],
  [patch(apply, `${ownedBy}data: {a: "other"}`, `${existing}?fieldManager=conflicts`), 409, /conflict/],
  [
    patch(
      apply,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"existing","managedFields":[{}]}}',
      `${existing}?fieldManager=m`,
    ),
    400,
  ],
  [patch(apply, '{"apiVersion":"v1","kind":null,"metadata":{"name":"existing"}}', `${existing}?fieldManager=m`), 400],
  [
    patch(apply, '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"existing"}}', `${existing}?fieldManager=m`),
    400,
  ],
  [patch(apply, '{apiVersion: v1, kind: ConfigMap, metadata: {name: existing}}', `${existing}?fieldManager=flow`), 200],
  ...series(['latin1', 'iso-8859-1', 'utf-16', '"utf-16"'], (charset) => [
    post(bodyWith('"data":{}'), `application/json; charset=${charset}`),
    415,
    /charset/,
  ]),
  ...series(['utf-8', 'UTF-8', '"utf-8"'], (charset) => [
    post(bodyWith('"data":{}'), `application/json; charset=${charset}`),
    201,
  ]),
  [patch(`${mergePatch}; charset=latin1`, '{}'), 415],
  [{ ...post(bodyWith('"data":{}')), headers: { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' } }, 201],
  [post('apiVersion: v1'), 400],
  [post('{"kind":"Other","apiVersion":"v1"}'), 400],
  [post('k8s\0...', 'application/vnd.kubernetes.protobuf'), 415],
  [post(bodyWith(`"data":{"a":"${'x'.repeat(1024 * 1024)}","b":"x"}`)), 422],
  [post(meta(`"annotations":{"a":"${'x'.repeat(256 * 1024)}"}`)), 422],
  ...series(['TRACE', 'PROPFIND', 'OPTIONS'], (method) => [{ method, path: existing }, [400, 404, 405]]),
  [get(existing, { 'x-http-method-override': 'DELETE' }), 200],
]

const fixedMap = `${configMaps}/fixed`
const fixedSecret = `${core}/namespaces/default/secrets/fixed`
const unchangeable: readonly Row[] = [fixedMap, fixedSecret].flatMap((path) =>
  series(
    [
      [mergePatch, '{"data":{"a":"Yg=="}}'],
      [mergePatch, '{"data":null}'],
      [mergePatch, '{"immutable":false}'],
      [mergePatch, '{"immutable":null}'],
      [strategicPatch, '{"data":{"a":null}}'],
      [jsonPatch, '[{"op":"remove","path":"/immutable"}]'],
      [jsonPatch, '[{"op":"add","path":"/data/b","value":"YQ=="}]'],
    ] as const,
    ([type, body]): Row => [patch(type, body, path), 422, /immutable/],
  ),
)

const podOf = (item: object) =>
  post(
    JSON.stringify({
      metadata: { generateName: 'b-' },
      spec: {
        containers: [{ name: 'a', image: 'registry.local/a:1' }],
        volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path: 'p', ...item }] } }],
      },
    }),
    'application/json',
    `${core}/namespaces/default/pods`,
  )
const volumes: readonly Row[] = [
  ...series(['..', '../x', 'a/../b', '/a', '', '..a/../b'], (path): Row => [podOf({ path }), 422, /items\[0\].path/]),
  ...series([512, -1, 2 ** 31], (mode): Row => [podOf({ mode }), mode === 2 ** 31 ? 400 : 422, /mode/]),
  // As in Kubernetes 1.23, a backslash is an ordinary character, and two dots are special only as a complete path
  // element.
  ...series(['a\\..\\b', 'a..b', 'a/b'], (path): Row => [podOf({ path }), 201]),
]

/** The rows that create large objects are last, because other rows list all objects. */
const table = { scope, javascript, duplicates, queries, objects, unchangeable, volumes, collisions, expansion }

async function answerTo(
  client: HttpClient,
  { method = 'GET', path, type, body, headers = {} }: Input,
): Promise<Answer> {
  const typed = type === undefined ? {} : { 'content-type': type }
  return await client.send(path, {
    method,
    headers: { ...typed, ...headers },
    ...(body === undefined ? {} : { raw: body }),
  })
}

/** Returns the version of the last write. */
async function lastWrite(client: HttpClient): Promise<string> {
  return (await client.get(`${configMaps}?labelSelector=none%3Dselected`)).body.metadata.resourceVersion
}

/**
 * Returns what is wrong with the response, or undefined if the response is correct. Rejected requests and dry runs must
 * not write anything.
 */
async function faultOf(client: HttpClient, row: Row): Promise<string | undefined> {
  const before = await lastWrite(client)
  const answer = await answerTo(client, row[0])
  const fault = faultOfAnswer(answer, row)
  if (fault !== undefined) return fault
  const mayWrite = answer.status < 400 && !row[0].path.includes('dryRun=All')
  return mayWrite || before === (await lastWrite(client)) ? undefined : `${answer.status}, and something was written`
}

function faultOfAnswer({ status, text, headers }: Answer, [, codes, told]: Row): string | undefined {
  const right = typeof codes === 'number' ? [codes] : codes
  const shown = `${text}\n${headers.warning ?? ''}\n`
  if (!right.includes(status)) return `${status} instead of ${right.join(' or ')}: ${shown.slice(0, 300)}`
  return told === undefined || told.test(shown) ? undefined : `the answer does not say ${told}: ${shown.slice(0, 500)}`
}

test('each request with invalid input gets the expected response', { timeout: 300_000 }, async (t) => {
  const server = await serve(t)
  const client = server.client()
  const assertAlive = survivalCheck(server)
  await giveAccount(client)
  await client.post(configMaps, { metadata: { name: 'existing' }, data: { a: '1' } })
  for (const path of [fixedMap, fixedSecret]) {
    const fixed = { metadata: { name: 'fixed' }, data: { a: 'YQ==' }, immutable: true }
    assert.equal((await client.post(path.slice(0, path.lastIndexOf('/')), fixed)).status, 201)
  }
  const wrong: string[] = []
  let tried = 0
  for (const [sort, rows] of Object.entries(table))
    for (const row of rows) {
      tried++
      const fault = await faultOf(client, row)
      const { method = 'GET', path, body = '' } = row[0]
      if (fault !== undefined) wrong.push(`${sort}: ${method} ${path.slice(0, 100)} ${body.slice(0, 100)}: ${fault}`)
      await assertAlive()
    }
  console.error(`bad inputs: ${tried} tried, wrong: ${wrong.length}`)
  assert.deepEqual(wrong, [])
  assert.equal(Object.getOwnPropertyDescriptor(Object.prototype, 'x'), undefined)
})

test('every row in the table of bad inputs names a test or explains why no test exists', () => {
  const rows = Object.values(rowsOf).flatMap((sort) => Object.entries<rowsOf.BadInput>(sort))
  for (const [row, { here = [], coveredBy: held = [], waits, open }] of rows) {
    assert.ok(
      here.length + held.length > 0 || waits !== undefined || open !== undefined,
      `${row}: nothing is said of it`,
    )
    for (const sort of here) assert.ok(Object.hasOwn(table, sort), `${row}: there is no sort ${sort} here`)
    for (const [file, name] of held) assertHeld(row, file, name)
  }
  const count = (which: (row: rowsOf.BadInput) => unknown) => rows.filter(([, row]) => which(row)).length
  const tried = count(({ here, coveredBy: held }) => here ?? held)
  const waiting = count(({ here, coveredBy: held, waits }) => !here && !held && waits)
  const told = `${tried} tried, ${waiting} wait for a feature, ${rows.length - tried - waiting} are open`
  console.error(`rows of bad inputs: ${rows.length}, of which ${told}`)
})

/** Asserts that the file contains a test with this name. */
function assertHeld(row: string, file: string, name: string): void {
  const path = join(root, 'test', file)
  assert.ok(existsSync(path), `${row}: there is no ${file}`)
  const tests = readFileSync(path, 'utf8').matchAll(/\b(?:test|it)\(\s*(['"`].*)/g)
  assert.ok(
    [...tests].some(([, rest]) => rest!.includes(name)),
    `${row}: ${file} has no test that is called ${name}`,
  )
}

test('an object with a backslash in its name can be read by that name', async (t) => {
  const server = await serve(t)
  const client = server.client()
  for (const name of ['a\\b', 'a b', 'é', 'a?b', 'a#b', 'a;b']) {
    const events = `${core}/namespaces/default/events`
    const involvedObject = { namespace: 'default' }
    const made = await client.post(events, { metadata: { name }, involvedObject })
    assert.equal(made.status, 201, made.text)
    const path = `${events}/${encodeURIComponent(name)}`
    assert.equal((await client.get(path)).body.metadata.name, name)
    assert.equal((await client.delete(path)).status, 200)
    assert.equal((await client.get(path)).status, 404)
  }
  await survivalCheck(server)()
})

test('a generated name never contains half of a surrogate pair', async (t) => {
  const server = await serve(t)
  const client = server.client()
  const generateName = `${'a'.repeat(57)}😀`
  const made = await client.post(`${core}/namespaces/default/events`, {
    metadata: { generateName },
    involvedObject: { namespace: 'default' },
  })
  assert.equal(made.status, 201, made.text)
  assert.match(made.body.metadata.name, /^a{57}[a-z0-9]{5}$/)
  await survivalCheck(server)()
})
