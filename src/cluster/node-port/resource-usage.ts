/**
 * Resource usage of a node and its pods in the two formats that metrics servers read: `/stats/summary` (JSON) and
 * `/metrics/resource` (Prometheus text format). The usage of a node is the sum of the usage of its pods.
 */
import { timestamp } from '../../api/model/object.ts'
import type { ContainerUsage, NodeRuntime, PodUsage } from './runtime.ts'

/** Returns the node's usage as a kubelet summary with only CPU and memory. */
export function summaryOf(node: NodeRuntime, now: number): object {
  const { startedAt, memoryBytes, pods } = node.usage()
  const time = timestamp(now)
  const used = (containers: readonly ContainerUsage[], memory: object = {}) => {
    const { cores, coreSeconds, memoryBytes: bytes } = sumOf(containers)
    return {
      cpu: { time, usageNanoCores: Math.round(cores * 1e9), usageCoreNanoSeconds: Math.round(coreSeconds * 1e9) },
      memory: { time, usageBytes: bytes, workingSetBytes: bytes, rssBytes: bytes, ...memory },
    }
  }
  const all = pods.flatMap(({ containers }) => containers)
  const availableBytes = Math.max(0, memoryBytes - sumOf(all).memoryBytes)
  return {
    node: { nodeName: node.name, startTime: timestamp(startedAt), ...used(all, { availableBytes }) },
    pods: pods.map(({ namespace, name, uid, startedAt: podStart, containers }) => ({
      podRef: { name, namespace, uid },
      startTime: timestamp(podStart),
      ...used(containers),
      containers: containers.map((container) => ({
        name: container.name,
        startTime: timestamp(container.startedAt),
        ...used([container]),
      })),
    })),
  }
}

interface Sample {
  readonly labels: string
  readonly usage: Pick<ContainerUsage, 'coreSeconds' | 'memoryBytes'>
}

/** Returns the metrics of the kubelet path `/metrics/resource`. */
export function resourceMetricsOf(node: NodeRuntime, now: number): string {
  const { pods } = node.usage()
  const containers = pods.flatMap((pod) =>
    pod.containers.map((usage) => ({
      labels: labelsOf({ container: usage.name, namespace: pod.namespace, pod: pod.name }),
      usage,
    })),
  )
  const ofPods = pods.map((pod) => ({
    labels: labelsOf({ namespace: pod.namespace, pod: pod.name }),
    usage: sumOf(pod.containers),
  }))
  const whole = [{ labels: '', usage: sumOf(pods.flatMap((pod) => pod.containers)) }]
  const cpu = ({ usage }: Sample) => usage.coreSeconds
  const start = ({ usage }: (typeof containers)[number]) => usage.startedAt / 1000
  const memory = ({ usage }: Sample) => usage.memoryBytes
  return [
    ...family('container_cpu_usage_seconds_total', 'counter', { samples: containers, value: cpu, now }),
    ...family('container_memory_working_set_bytes', 'gauge', { samples: containers, value: memory, now }),
    ...family('container_start_time_seconds', 'gauge', { samples: containers, value: start, now }),
    ...family('node_cpu_usage_seconds_total', 'counter', { samples: whole, value: cpu, now }),
    ...family('node_memory_working_set_bytes', 'gauge', { samples: whole, value: memory, now }),
    ...family('pod_cpu_usage_seconds_total', 'counter', { samples: ofPods, value: cpu, now }),
    ...family('pod_memory_working_set_bytes', 'gauge', { samples: ofPods, value: memory, now }),
    '# TYPE scrape_error gauge',
    'scrape_error 0',
    '',
  ].join('\n')
}

interface Family<S> {
  readonly samples: readonly S[]
  readonly value: (sample: S) => number
  readonly now: number
}

function family<S extends { readonly labels: string }>(
  name: string,
  type: 'counter' | 'gauge',
  { samples, value, now }: Family<S>,
): string[] {
  if (samples.length === 0) return []
  return [`# TYPE ${name} ${type}`, ...samples.map((sample) => `${name}${sample.labels} ${value(sample)} ${now}`)]
}

/** Names of pods, namespaces and containers contain no characters that need escaping. */
function labelsOf(labels: { readonly [name: string]: string }): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join()}}`
}

function sumOf(containers: PodUsage['containers']): Pick<ContainerUsage, 'cores' | 'coreSeconds' | 'memoryBytes'> {
  const sum = (field: 'cores' | 'coreSeconds' | 'memoryBytes') =>
    containers.reduce((total, container) => total + container[field], 0)
  return { cores: sum('cores'), coreSeconds: sum('coreSeconds'), memoryBytes: sum('memoryBytes') }
}
