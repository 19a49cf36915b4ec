/** Tests that the simulated nodes of a test server run in the test's thread and use the test server's clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import * as kinds from '../../src/client/requests/built-in-kinds.ts'
import { startTestServer } from '../../src/testing/testing.ts'
import { until } from '../support/until.ts'

test('the test clock of a server also applies to the pods on its simulated nodes', async () => {
  const threads: string[] = []
  const onWorker = (worker: Worker) => threads.push(worker.threadName ?? '')
  process.on('worker', onWorker)
  await using server = await startTestServer({ flags: ['--nodes=1'] })
  const name = { namespace: 'default', name: 'hour' }
  await server.client.create(kinds.Pod, {
    metadata: { ...name, annotations: { 'simulation.kubernetes.io/run-for': '1h' } },
    spec: { nodeName: 'node-1', restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
  })
  const phaseIs = (phase: string) =>
    until(
      () => server.client.get(kinds.Pod, name),
      ({ status }) => status?.phase === phase,
    )
  await phaseIs('Running')
  server.clock.advance('61m')
  const { status } = await phaseIs('Succeeded')
  const [container] = status?.containerStatuses ?? []
  assert.equal(container?.state?.terminated?.exitCode, 0)
  process.off('worker', onWorker)
  assert.ok(!threads.includes('simulated nodes'))
})
