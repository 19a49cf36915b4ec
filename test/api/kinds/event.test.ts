/**
 * Tests Event: validation for older and newer reporters, table columns, field selectors, and requests to the server.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { event as kind } from '../../../src/api/kinds/core/event.ts'
import { type ApiObject, asJson } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { serve } from '../../support/in-process.ts'
import { createBy, ruleContext, updateBy } from './rules.ts'

const about = { kind: 'Pod', name: 'p', namespace: 'ns', uid: 'u', apiVersion: 'v1', fieldPath: 'spec.containers{c}' }
const eventTime = '2030-01-02T03:00:00.000001Z'
const newer = {
  involvedObject: about,
  eventTime,
  reportingComponent: 'example.com/teller',
  reportingInstance: 'teller-1',
  action: 'Look',
  reason: 'Because',
}

function sent(fields: JsonObject, namespace = 'ns'): JsonObject {
  return { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e', namespace }, ...fields }
}

test('Event fields that the client omits stay unset in the response', () => {
  const { object } = createBy(kind, sent({ series: {} }))
  const { metadata: _, apiVersion: _v, kind: _k, ...fields } = asJson(object) as JsonObject
  assert.deepEqual(fields, {
    involvedObject: {},
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    series: { lastObservedTime: null },
    reportingComponent: '',
    reportingInstance: '',
  })
})

const place = ['Invalid involvedObject.namespace']
const nobody = ['Invalid reportingController', 'Required reportingController']
const rows: readonly (readonly [what: string, namespace: string, fields: JsonObject, faults: readonly string[]])[] = [
  ['older reporter: only a namespace is required', 'ns', { involvedObject: { namespace: 'ns' } }, []],
  [
    'older reporter: any type and length is accepted',
    'ns',
    { involvedObject: about, type: 'Odd', message: 'm'.repeat(2000) },
    [],
  ],
  [
    'older reporter: an event about a cluster-scoped object outside default is rejected',
    'ns',
    { involvedObject: { name: 'p' } },
    place,
  ],
  ['older reporter: an event without an object is rejected', 'ns', {}, place],
  [
    'older reporter: an event about a cluster-scoped object in default is accepted',
    'default',
    { involvedObject: { kind: 'Node', name: 'n' } },
    [],
  ],
  [
    'older reporter: an event about a cluster-scoped object in kube-system is rejected',
    'kube-system',
    { involvedObject: { name: 'n' } },
    place,
  ],
  ['older reporter: an object in another namespace is rejected', 'default', { involvedObject: about }, place],
  ['newer reporter: a complete event is accepted', 'ns', newer, []],
  ['newer reporter: any type is accepted', 'ns', { ...newer, type: 'Odd' }, []],
  ['newer reporter: an object in another namespace is accepted', 'other', newer, []],
  [
    'newer reporter: an event about a cluster-scoped object outside default is rejected',
    'ns',
    { ...newer, involvedObject: { name: 'n' } },
    place,
  ],
  [
    'newer reporter: an event about a cluster-scoped object in default is accepted',
    'default',
    { ...newer, involvedObject: { name: 'n' } },
    [],
  ],
  [
    'newer reporter: an event about a cluster-scoped object in kube-system is accepted',
    'kube-system',
    { ...newer, involvedObject: {} },
    [],
  ],
  [
    'newer reporter: an event with only the time is rejected',
    'ns',
    { involvedObject: about, eventTime },
    [...nobody, 'Required action', 'Required reason', 'Required reportingInstance'].sort(),
  ],
  ['newer reporter: a missing reportingComponent is rejected', 'ns', { ...newer, reportingComponent: '' }, nobody],
  [
    'newer reporter: an invalid reportingComponent is rejected',
    'ns',
    { ...newer, reportingComponent: 'a/b/c' },
    nobody.slice(0, 1),
  ],
  [
    'newer reporter: strings of the maximum length in bytes are accepted',
    'ns',
    { ...newer, action: 'é'.repeat(64), reason: 'r'.repeat(128), message: 'm'.repeat(1024) },
    [],
  ],
  [
    'newer reporter: longer strings are rejected',
    'ns',
    {
      ...newer,
      reportingInstance: 'i'.repeat(129),
      action: `${'é'.repeat(64)}a`,
      reason: 'r'.repeat(129),
      message: 'm'.repeat(1025),
    },
    ['Invalid action', 'Invalid message', 'Invalid reason', 'Invalid reportingInstance'],
  ],
]

for (const [what, namespace, fields, faults] of rows)
  test(what, () => assert.deepEqual(createBy(kind, sent(fields, namespace)).faults, faults))

test('an updated Event is validated like a new Event, and all fields are mutable', () => {
  const { object } = createBy(kind, sent(newer))
  const changed = { ...newer, reason: 'Other', type: 'Odd', count: 3, series: { count: 1 } }
  assert.deepEqual(updateBy(kind, object, sent(changed)).faults, [])
  assert.deepEqual(updateBy(kind, object, sent({ ...newer, action: '' })).faults, ['Required action'])
  assert.deepEqual(updateBy(kind, object, sent({ involvedObject: about })).faults, [])
})

const first = '2030-01-02T03:03:05Z'
const last = '2030-01-02T03:03:55Z'
const cells: readonly (readonly [what: string, fields: JsonObject, shown: JsonObject])[] = [
  ['an empty event', {}, { 'Last Seen': '<unknown>', 'First Seen': '<unknown>', Object: '', Source: '', Count: 1 }],
  [
    'an event from an older reporter',
    { involvedObject: about, firstTimestamp: first, lastTimestamp: last, count: 3, source: { component: 'c' } },
    { 'Last Seen': '10s', 'First Seen': '60s', Object: 'pod/p', Source: 'c', Count: 3 },
  ],
  [
    'an event from an older reporter that occurred once',
    { involvedObject: { kind: 'Node' }, firstTimestamp: first, source: { component: 'c', host: 'h' } },
    { 'Last Seen': '60s', 'First Seen': '60s', Object: 'node', Source: 'c, h', Count: 1 },
  ],
  [
    'an event from a newer reporter',
    newer,
    { 'Last Seen': '4m5s', 'First Seen': '4m5s', Object: 'pod/p', Source: 'example.com/teller, teller-1', Count: 1 },
  ],
  [
    'a repeated event',
    { ...newer, count: 9, lastTimestamp: first, series: { count: 2, lastObservedTime: '2030-01-02T03:04:04.000000Z' } },
    {
      'Last Seen': '1s',
      'First Seen': '4m5s',
      Object: 'pod/p',
      Source: 'example.com/teller, teller-1',
      Count: 2,
    },
  ],
]

for (const [what, fields, shown] of cells)
  test(`the Event table shows ${what}`, () => {
    const { object } = createBy(kind, sent(fields))
    const row = kind.views.columns!.map(
      ({ name, cell }) => [name, cell(object, ruleContext.now, vendorOf('orch'))] as const,
    )
    const { Name: _, Type: _t, Reason: _r, Message: _m, Subobject: _s, ...seen } = Object.fromEntries(row)
    assert.deepEqual(seen, shown)
  })

test('a field selector matches Events by source or by reportingComponent', () => {
  const selected = (fields: JsonObject) => kind.views.selectable!(createBy(kind, sent(fields)).object)
  const { source, reportingComponent } = selected(newer)
  assert.deepEqual([source, reportingComponent], ['example.com/teller', 'example.com/teller'])
  const both = selected({ ...newer, source: { component: 'c' } })
  assert.deepEqual([both.source, both.reportingComponent], ['c', 'example.com/teller'])
  assert.deepEqual(selected({ involvedObject: about, reason: 'r', type: 't', source: { component: 'c' } }), {
    'involvedObject.kind': 'Pod',
    'involvedObject.namespace': 'ns',
    'involvedObject.name': 'p',
    'involvedObject.uid': 'u',
    'involvedObject.apiVersion': 'v1',
    'involvedObject.resourceVersion': '',
    'involvedObject.fieldPath': 'spec.containers{c}',
    reason: 'r',
    reportingComponent: '',
    source: 'c',
    type: 't',
  })
})

const client = (await serve({ after })).client()
const path = '/api/v1/namespaces/default/events'
const told = { involvedObject: { kind: 'ConfigMap', name: 'told', namespace: 'default' } }

test('a PUT creates an Event, and another PUT updates the same Event', async () => {
  const body = sent({ ...told, count: 1 }, 'default')
  const created = await client.put(`${path}/e`, body)
  assert.deepEqual([created.status, created.body.count], [201, 1])
  const again = await client.put(`${path}/e`, { ...body, count: 2 })
  assert.deepEqual([again.status, again.body.count, again.body.metadata.uid], [200, 2, created.body.metadata.uid])
  assert.equal((await client.put(`${path}/other`, { ...body, metadata: { name: 'other', uid: 'x' } })).status, 409)
})

test('an Event may have any name that is a valid path segment', async () => {
  for (const name of ['Upper_Case', 'a:b', 'é', '~', 'n'.repeat(512)]) {
    const { status, body } = await client.post(path, { ...told, metadata: { name } })
    assert.deepEqual([status, body.metadata?.name], [201, name], name)
    assert.equal((await client.get(`${path}/${encodeURIComponent(name)}`)).body.metadata.name, name)
  }
  const generated = await client.post(path, { ...told, metadata: { generateName: `${'a'.repeat(57)}\u{1f600}` } })
  assert.match(generated.body.metadata.name, /^a{57}[a-z0-9]{5}$/, 'a multi-byte character is never split')
  for (const name of ['a/b', '..', 'a\0', 'n'.repeat(513), 'é'.repeat(257)]) {
    const metadata = { name }
    const { status, body } = await client.post(path, { ...told, metadata })
    assert.deepEqual([status, body.details?.causes[0].field], [422, 'metadata.name'], JSON.stringify(metadata))
  }
})

test('Events about an object can be listed and watched with a field selector', async (t) => {
  const mine = { involvedObject: { ...told.involvedObject, name: 'mine' } }
  const query = 'fieldSelector=involvedObject.name=mine,involvedObject.kind=ConfigMap,involvedObject.uid='
  const stop = new AbortController()
  t.after(() => stop.abort())
  const { resourceVersion } = (await client.get(path)).body.metadata
  const seen = client.watch(`${path}?watch=1&resourceVersion=${resourceVersion}&${query}`, stop.signal)
  await client.post(path, { ...told, metadata: { name: 'theirs' } })
  const { body } = await client.post(path, { ...mine, metadata: { generateName: 'mine.' } })
  assert.deepEqual((await seen.next()).value, { type: 'ADDED', object: body })
  const { items } = (await client.get(`${path}?${query}`)).body
  assert.deepEqual(namesOf(items), [body.metadata.name])
  assert.deepEqual((await client.get(`${path}?${query}x`)).body.items, [])
  const refused = await client.get(`${path}?fieldSelector=message=x`)
  assert.deepEqual([refused.status, refused.body.reason], [400, 'BadRequest'])
})

test('an Event is deleted immediately, regardless of the propagation policy', async () => {
  for (const policy of ['Orphan', 'Foreground', 'Background']) {
    await client.post(path, { ...told, metadata: { name: 'going', finalizers: ['orphan'] } })
    assert.equal((await client.delete(`${path}/going?propagationPolicy=${policy}`)).status, 200, policy)
    assert.equal((await client.get(`${path}/going`)).status, 404, policy)
  }
})

test('only the events API group requires that Event names are DNS names and that finalizers have a domain', async () => {
  const newerPath = '/apis/events.orch.io/v1/namespaces/default/events'
  const { reportingComponent: reportingController, involvedObject: _, ...fields } = newer
  const strict = { ...fields, reportingController, regarding: told.involvedObject, type: 'Normal' }
  for (const metadata of [{ name: 'A_b' }, { generateName: 'A_' }, { name: 'b', finalizers: ['plain'] }]) {
    const member = Object.keys(metadata).at(-1)!
    const { status, body } = await client.post(newerPath, { ...strict, metadata })
    const causes = body.details?.causes.map(({ field }: { field: string }) => field.replace('[0]', ''))
    assert.deepEqual([status, causes?.includes(`metadata.${member}`)], [422, true], JSON.stringify(body))
    assert.equal((await client.post(path, { ...told, metadata })).status, 201, member)
  }
  const finalizers = { metadata: { finalizers: ['other'] } }
  const headers = { 'content-type': 'application/merge-patch+json' }
  const patch = async (of: string) =>
    (await client.send(`${of}/b`, { method: 'PATCH', body: finalizers, headers })).status
  assert.deepEqual([await patch(newerPath), await patch(path)], [422, 200])
})

test('the events API group reports metadata errors together with other errors, and returns a missing count as 0', async () => {
  const newerPath = '/apis/events.orch.io/v1/namespaces/default/events'
  const refused = await client.post(newerPath, { metadata: {}, regarding: { namespace: 'default' } })
  const fields = refused.body.details.causes.map(({ field }: { field: string }) => field)
  assert.deepEqual([refused.status, fields.includes('metadata.name')], [422, true], refused.body.message)
  await client.post(path, { ...told, metadata: { name: 'counted' }, series: { lastObservedTime: eventTime } })
  const { series } = (await client.get(`${newerPath}/counted`)).body
  assert.deepEqual(series, { count: 0, lastObservedTime: eventTime })
})

function namesOf(items: readonly ApiObject[]): (string | undefined)[] {
  return items.map(({ metadata }) => metadata.name)
}
