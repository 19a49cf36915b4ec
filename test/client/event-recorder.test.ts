/**
 * Tests Events: repetitions are counted, floods are limited, and Events that cannot be written are dropped without
 * causing errors.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../src/api/model/object.ts'
import { EventRecorder } from '../../src/client/informers/event-recorder.ts'
import { Client } from '../../src/client/requests/client.ts'
import { serve } from '../support/in-process.ts'

const events = { group: '', version: 'v1', plural: 'events', namespaced: true }

interface Told extends ApiObject {
  reason: string
  message: string
  count: number
  type: string
  involvedObject: { kind: string; name: string }
  source: { component: string }
}

test('the event recorder writes Events', async (t) => {
  const client = new Client((await serve(t)).transport())
  const time = { skipped: 0 }
  const clock = { now: () => Date.now() + time.skipped, monotonic: () => performance.now() + time.skipped }
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const recorder = new EventRecorder({ client, component: 'tester', clock, onError })
  const about = (name: string, namespace: string | undefined = 'default') =>
    ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...(namespace && { namespace }), name, uid: name },
    }) as ApiObject
  const recordedEvents = async (name: string) => {
    const { items } = await client.list(events, { fieldSelector: `involvedObject.name=${name}` })
    return items as Told[]
  }

  await t.test('an Event contains the object, the reason and the component', async () => {
    recorder.record(about('a'), { type: 'Warning', reason: 'Broken', message: 'it broke' })
    await recorder.flush()
    const [event, ...more] = await recordedEvents('a')
    assert.equal(more.length, 0)
    assert.deepEqual([event?.reason, event?.message, event?.type, event?.count], ['Broken', 'it broke', 'Warning', 1])
    assert.equal(event?.source.component, 'tester')
  })

  await t.test('the event recorder counts repetitions even if the Event has been deleted', async () => {
    for (let i = 0; i < 3; i++) recorder.record(about('b'), { type: 'Normal', reason: 'Again', message: 'again' })
    await recorder.flush()
    const [event, ...more] = await recordedEvents('b')
    assert.deepEqual([event?.count, more.length], [3, 0])
    await client.delete(events, { namespace: 'default', name: event!.metadata.name! })
    recorder.record(about('b'), { type: 'Normal', reason: 'Again', message: 'again' })
    await recorder.flush()
    assert.equal((await recordedEvents('b'))[0]?.count, 1)
  })

  await t.test('many Events that differ only in their message are combined, and floods are limited', async () => {
    for (let i = 0; i < 100; i++)
      recorder.record(about('c'), { type: 'Normal', reason: 'Flood', message: `number ${i}` })
    await recorder.flush()
    const all = await recordedEvents('c')
    assert.equal(all.length, 11)
    const combined = all.filter(({ message }) => message.startsWith('(combined from similar events)'))
    assert.deepEqual(
      combined.map(({ count }) => count),
      [15],
    )
    time.skipped += 11 * 60_000
    recorder.record(about('c'), { type: 'Normal', reason: 'Flood', message: 'later' })
    await recorder.flush()
    assert.equal((await recordedEvents('c')).length, 12)
  })

  await t.test('an Event for a cluster-scoped object is created in the default namespace', async () => {
    recorder.record(about('d', ''), { type: 'Normal', reason: 'Whole', message: 'm'.repeat(5000) })
    await recorder.flush()
    const [event] = await recordedEvents('d')
    assert.equal(event?.metadata.namespace, 'default')
    assert.ok((event?.message.length ?? 0) <= 1024)
  })

  await t.test('an Event that cannot be written is dropped, and later Events are written', async () => {
    recorder.record(about('e', 'nowhere'), { type: 'Normal', reason: 'Lost', message: 'lost' })
    recorder.record(about('f'), { type: 'Normal', reason: 'Kept', message: 'kept' })
    await recorder.flush()
    assert.equal(errors.length, 1)
    assert.equal((await recordedEvents('f')).length, 1)
  })
})
