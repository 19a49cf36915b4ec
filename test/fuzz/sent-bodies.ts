/**
 * Generates request bodies: valid objects, patches and options in JSON or YAML. Most bodies are mutated, and some are
 * damaged. Each body includes the value that its text represents, if known.
 */
import { stringify } from 'yaml'
import type { Value } from '../api/merge/models.ts'
import type { RandomSource } from '../storage/store/random-source.ts'
import { damaged } from './documents.ts'
import { mutated } from './mutations.ts'

export type Members = { [name: string]: Value }

export interface Kind {
  readonly path: string
  readonly valid: (name: string) => Members
  /** Valid patches. */
  readonly patches: readonly Members[]
}

const labels = { 'app.io/name': 'a', tier: '' }
const metadataOf = (name: string) => ({ name, labels, annotations: { note: 'é\n', '10': 'x', '9': 'y' } })
const resource = (type: string, value: string) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type, [type === 'Utilization' ? 'averageUtilization' : 'averageValue']: value } },
})

export const kinds: readonly Kind[] = [
  {
    path: '/api/v1/namespaces/default/configmaps',
    valid: (name) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadataOf(name),
      data: { a: '1', 'b.c': 'two\nlines', constructor: '' },
      binaryData: { z: 'AAECAw==' },
    }),
    patches: [{ data: { a: 'p', new: 'x' } }, { metadata: { labels: { tier: null } } }, { data: null }, {}],
  },
  {
    path: '/api/v1/namespaces/default/pods',
    valid: (name) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: metadataOf(name),
      spec: {
        terminationGracePeriodSeconds: 5,
        containers: [
          {
            name: 'main',
            image: 'registry.local/app:1',
            ports: [{ containerPort: 80, protocol: 'TCP' }],
            env: [{ name: 'A', value: 'b' }],
            resources: { limits: { cpu: '500m', memory: '1Gi' } },
            volumeMounts: [{ name: 'v', mountPath: '/v' }],
          },
        ],
        volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path: 'a/b', mode: 256 }] } }],
        tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }],
      },
    }),
    patches: [
      { spec: { containers: [{ name: 'main', image: 'registry.local/app:2' }] } },
      { metadata: { annotations: { note: 'p' } } },
      { spec: { activeDeadlineSeconds: 60 } },
    ],
  },
  ...(['v1', 'v2'] as const).map(
    (version): Kind => ({
      path: `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`,
      valid: (name) => ({
        apiVersion: `autoscaling/${version}`,
        kind: 'HorizontalPodAutoscaler',
        metadata: metadataOf(name),
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
          minReplicas: 1,
          maxReplicas: 10,
          ...(version === 'v1'
            ? { targetCPUUtilizationPercentage: 80 }
            : {
                metrics: [resource('AverageValue', '100m')],
                behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
              }),
        },
      }),
      patches: [{ spec: { minReplicas: 2 } }, { spec: { maxReplicas: 20 } }, { metadata: { labels: null } }],
    }),
  ),
]

/** A text to send and its value. The value is undefined if the text was damaged. */
export interface Body {
  readonly text: Buffer
  readonly value: Value | undefined
}

export const json = 'application/json'
export const yaml = 'application/yaml'

export function bodyOf(random: RandomSource, value: Value, type: string): Body {
  const sentValue = random.chance(0.85) ? mutated(random, value) : value
  const written = type === yaml && random.chance(0.5) ? asYaml(sentValue) : JSON.stringify(sentValue)
  return random.chance(0.3)
    ? { text: damaged(random, written), value: undefined }
    : { text: Buffer.from(written), value: sentValue }
}

/**
 * Returns the value as YAML without anchors and with literal keys. Values that are nested too deeply for the library
 * are written as JSON, which is valid YAML.
 */
function asYaml(value: Value): string {
  if (depthOf(value) > 100) return JSON.stringify(value)
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 })
}

function depthOf(value: Value): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce<number>((deepest, each) => Math.max(deepest, depthOf(each as Value)), 0)
}

/** Returns the value of a JSON text, or undefined if the text is invalid. */
export function sentValue({ text, value }: Body): Value | undefined {
  if (value !== undefined) return value
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(text))
  } catch {
    return undefined
  }
}

/** Valid and invalid delete options. */
export const deleteOptions: readonly Members[] = [
  { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 },
  { propagationPolicy: 'Background', dryRun: ['All'] },
  { propagationPolicy: 'Foreground' },
  { preconditions: { uid: 'other' } },
  { preconditions: { resourceVersion: '1' }, gracePeriodSeconds: 30 },
  { orphanDependents: false },
]
