/**
 * Tests the resource usage of simulated containers: the values, and the two formats in which a node's port serves these
 * values.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { resourceMetricsOf, summaryOf } from '../../../src/cluster/node-port/resource-usage.ts'
import type { NodeRuntime, NodeUsage } from '../../../src/cluster/node-port/runtime.ts'
import { UsageMeter } from '../../../src/cluster/nodes/containers/container-usage.ts'

const start = Date.parse('2030-01-01T00:00:00Z')
const later = (seconds: number) => start + seconds * 1000
const mebibyte = 1024 ** 2

interface Described {
  readonly annotations?: { readonly [name: string]: string }
  readonly requests?: { readonly [name: string]: string }
  readonly phase?: string
}

function pod(name: string, { annotations, requests, phase = 'Running' }: Described = {}): Pod {
  const startedAt = new Date(start).toISOString()
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, annotations },
    spec: { containers: [{ name: 'c', resources: { requests } }] },
    status: {
      phase,
      startTime: startedAt,
      containerStatuses: [{ name: 'c', containerID: `simulated://${name}-0`, state: { running: { startedAt } } }],
    },
  } as unknown as Pod
}

const usageKey = (name: string) => `simulation.orch.io/${name}-usage`

test('the usage of containers in running pods is derived from annotations, resource requests or a minimum, in this order', () => {
  const meter = new UsageMeter(vendorOf('orch'))
  const told = meter.read(
    [
      pod('told', { annotations: { [usageKey('cpu')]: '250m', [usageKey('memory')]: '64Mi' }, requests: { cpu: '1' } }),
      pod('requests', { requests: { cpu: '500m', memory: '32Mi' } }),
      pod('silent'),
      pod('nonsense', { annotations: { [usageKey('cpu')]: 'much', [usageKey('memory')]: '-5' } }),
      pod('over', { phase: 'Succeeded' }),
    ],
    later(10),
  )
  assert.deepEqual(
    told.map(({ name, containers: [c] }) => [name, c?.cores, c?.coreSeconds, (c?.memoryBytes ?? 0) / mebibyte]),
    [
      ['told', 0.25, 2.5, 64],
      ['requests', 0.5, 5, 32],
      ['silent', 0.001, 0.01, 1],
      ['nonsense', 0.001, 0.01, 1],
    ],
  )
})

test('the reported CPU time of a container never decreases, even if the annotation changes', () => {
  const meter = new UsageMeter(vendorOf('orch'))
  const read = (cpu: string, seconds: number) =>
    meter.read([pod('a', { annotations: { [usageKey('cpu')]: cpu } })], later(seconds))[0]?.containers[0]?.coreSeconds
  assert.deepEqual([read('1', 10), read('100m', 20), read('0', 30), read('2', 31), read('2', 31)], [10, 11, 11, 13, 13])
})

test('the usage of containers is available as a stats summary and as Prometheus metrics', () => {
  const pods = new UsageMeter(vendorOf('orch')).read([pod('a', { requests: { cpu: '1', memory: '1Mi' } })], later(5))
  const usage: NodeUsage = { startedAt: start, memoryBytes: 4 * mebibyte, pods }
  const node = { name: 'n', usage: () => usage } as unknown as NodeRuntime
  const cpu = { time: '2030-01-01T00:00:05Z', usageNanoCores: 1e9, usageCoreNanoSeconds: 5e9 }
  const bytes = { usageBytes: mebibyte, workingSetBytes: mebibyte, rssBytes: mebibyte }
  const memory = { time: '2030-01-01T00:00:05Z', ...bytes }
  const startTime = '2030-01-01T00:00:00Z'
  assert.deepEqual(summaryOf(node, later(5)), {
    node: { nodeName: 'n', startTime, cpu, memory: { ...memory, availableBytes: 3 * mebibyte } },
    pods: [
      {
        podRef: { name: 'a', namespace: 'default', uid: 'uid-a' },
        startTime,
        cpu,
        memory,
        containers: [{ name: 'c', startTime, cpu, memory }],
      },
    ],
  })
  const text = resourceMetricsOf(node, later(5))
  const labels = 'container="c",namespace="default",pod="a"'
  assert.match(text, new RegExp(`^container_cpu_usage_seconds_total{${labels}} 5 ${later(5)}$`, 'm'))
  assert.match(text, new RegExp(`^container_memory_working_set_bytes{${labels}} ${mebibyte} ${later(5)}$`, 'm'))
  assert.match(text, new RegExp(`^node_cpu_usage_seconds_total 5 ${later(5)}$`, 'm'))
  assert.match(text, /^scrape_error 0\n$/m)
})
