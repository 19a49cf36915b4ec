/**
 * Measures the cost per object of reading and writing through a version other than the stored version: from the cached
 * bytes to the bytes of a response, and from a decoded body to the stored object.
 */
import { parseJson, stringifyJson } from '../src/api/codec/json.ts'
import type { Json } from '../src/api/json/json.ts'
import { horizontalPodAutoscaler } from '../src/api/kinds/autoscaling/horizontal-pod-autoscaler.ts'
import { horizontalPodAutoscalerV1 } from '../src/api/kinds/autoscaling/horizontal-pod-autoscaler-v1.ts'
import { asJson, asObject } from '../src/api/model/object.ts'
import { vendorOf } from '../src/api/model/vendor.ts'
import { decode } from '../src/api/schema/decode.ts'

const vendor = vendorOf('orch')
const rounds = 20_000
const { fromStored, toStored } = horizontalPodAutoscalerV1.conversion!

const utilization = (name: string, averageUtilization: number) => ({
  type: 'Resource',
  resource: { name, target: { type: 'Utilization', averageUtilization } },
})
const rules = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] }
const plain = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, minReplicas: 1, maxReplicas: 5 }
const bodies: { [name: string]: Json } = {
  'one metric': { ...plain, metrics: [utilization('cpu', 80)] },
  'two metrics and a behavior': {
    ...plain,
    metrics: [utilization('cpu', 80), utilization('memory', 70)],
    behavior: { scaleUp: rules, scaleDown: rules },
  },
}

for (const [name, spec] of Object.entries(bodies)) {
  const type = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' }
  const metadata = { name: 'h', namespace: 'default', uid: 'u', resourceVersion: '7' }
  const object = asObject(decode(horizontalPodAutoscaler.schema, { ...type, metadata, spec }).value)
  const bytes = Buffer.from(stringifyJson(asJson(object)))
  const inV1 = fromStored(object, vendor)
  report(`${name}: convert from the stored form`, () => fromStored(object, vendor))
  report(`${name}: bytes to bytes (GET, LIST, one event)`, () =>
    Buffer.from(stringifyJson(asJson(fromStored(asObject(parseJson(bytes).value), vendor)))),
  )
  report(`${name}: convert to the stored form (a write)`, () =>
    decode(horizontalPodAutoscaler.schema, asJson(toStored(inV1, vendor, object))),
  )
}

function report(name: string, work: () => unknown): void {
  for (let i = 0; i < rounds / 4; i++) work()
  const start = performance.now()
  for (let i = 0; i < rounds; i++) work()
  console.log(`${name}: ${(((performance.now() - start) * 1000) / rounds).toFixed(1)} µs`)
}
