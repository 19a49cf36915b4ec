/**
 * HorizontalPodAutoscaler: keeps the number of replicas of something between two limits, so that metrics stay near
 * their targets. This is v2, the version that is stored; its rules are those of all versions.
 */
import { child, type FieldError, type FieldPath, invalid } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { behavior } from './behavior.ts'
import { dropCarried } from './carried.ts'
import { checkScaleToZero, type MetricSpec, metricSpec, metricStatus } from './metrics.ts'
import { objectReference } from './object-reference.ts'
import { describeTargets } from './targets-column.ts'

const specFields = {
  scaleTargetRef: field(1, objectReference, { zero: 'write' }),
  minReplicas: field(2, s.int32(), { zero: 'keep', default: 1 }),
  maxReplicas: field(3, s.int32(), { zero: 'write' }),
  metrics: field(4, s.list(metricSpec)),
  behavior: field(5, behavior),
}

export const condition = s.object({
  type: field(1, s.string(), { zero: 'write' }),
  status: field(2, s.string(), { zero: 'write' }),
  lastTransitionTime: field(3, s.time(), { zero: 'write' }),
  reason: field(4, s.string()),
  message: field(5, s.string()),
})

const statusFields = {
  observedGeneration: field(1, s.int64(), { zero: 'keep' }),
  lastScaleTime: field(2, s.time()),
  currentReplicas: field(3, s.int32()),
  desiredReplicas: field(4, s.int32(), { zero: 'write' }),
  currentMetrics: field(5, s.list(metricStatus)),
  conditions: field(6, s.list(condition, { list: 'map', keys: ['type'], patch: 'merge', mergeKey: 'type' })),
}

const fields = {
  spec: field(2, s.object(specFields, { fill: (spec) => fillMetrics(spec), check: checkSpec }), { zero: 'write' }),
  status: field(3, s.object(statusFields), { zero: 'write' }),
}

export type HorizontalPodAutoscaler = ObjectOf<typeof fields>
export type Status = InferFields<typeof statusFields>
export type Spec = InferFields<typeof specFields>

export const horizontalPodAutoscaler = defineKind({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  scope: 'Namespaced',
  fields,
  columns: [
    nameColumn,
    column('Reference', 'What is scaled.', ({ spec }: HorizontalPodAutoscaler) => {
      const { kind = '', name = '' } = spec?.scaleTargetRef ?? {}
      return `${kind}/${name}`
    }),
    column('Targets', 'Where each metric is and where it should be.', ({ spec, status }: HorizontalPodAutoscaler) =>
      describeTargets(spec?.metrics ?? [], status?.currentMetrics ?? []),
    ),
    column('MinPods', 'The fewest replicas.', ({ spec }: HorizontalPodAutoscaler) =>
      String(spec?.minReplicas ?? '<unset>'),
    ),
    column('MaxPods', 'The most replicas.', ({ spec }: HorizontalPodAutoscaler) => spec?.maxReplicas ?? 0),
    column('Replicas', 'How many there are.', ({ status }: HorizontalPodAutoscaler) => status?.currentReplicas ?? 0),
    ageColumn,
  ],
  readOnly: ['status'],
  subresources: {
    status: {
      verbs: ['get', 'update', 'patch'],
      readOnly: ['spec'],
      prepareForUpdate: (next, previous) => keep(next, previous, 'spec'),
    },
  },
  // What other versions carry in annotations has fields of its own here.
  fillDefaults: ({ metadata }, { vendor }) => dropCarried(metadata, vendor),
  prepareForCreate: (object) => {
    object.status = { desiredReplicas: 0 }
    dropContainerSources(object.spec)
  },
  prepareForUpdate: (next, previous) => {
    keep(next, previous, 'status')
    if (!usesContainers(previous.spec)) dropContainerSources(next.spec)
  },
  validateUpdate: ({ status = {} }, _, { subresource }) => (subresource === 'status' ? checkStatus(status) : []),
})

/** Without metrics it looks at the use of processors. */
function fillMetrics(spec: Spec): void {
  if ((spec.metrics ?? []).length === 0) spec.metrics = [cpuMetric(80)]
}

export function cpuMetric(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }
}

function keep(next: HorizontalPodAutoscaler, previous: HorizontalPodAutoscaler, part: 'spec' | 'status'): void {
  next[part] = previous[part] as never
}

/** Metrics of single containers are not offered yet; an object that has some keeps them. */
function dropContainerSources({ metrics = [] }: Spec = {}): void {
  for (const metric of metrics) delete metric.containerResource
}

function usesContainers({ metrics = [] }: Spec = {}): boolean {
  return metrics.some(({ containerResource }) => containerResource !== undefined)
}

function checkSpec({ minReplicas, maxReplicas = 0, metrics = [] }: Spec, path: FieldPath): FieldError[] {
  const maxPath = child(path, 'maxReplicas')
  return [
    ...(minReplicas !== undefined && minReplicas < 1
      ? [invalid(child(path, 'minReplicas'), minReplicas, 'must be greater than or equal to 1')]
      : []),
    ...(maxReplicas < 1 ? [invalid(maxPath, maxReplicas, 'must be greater than 0')] : []),
    ...(minReplicas !== undefined && maxReplicas < minReplicas
      ? [invalid(maxPath, maxReplicas, 'must be greater than or equal to `minReplicas`')]
      : []),
    ...checkScaleToZero(metrics, minReplicas, child(path, 'metrics')),
  ]
}

function checkStatus({ currentReplicas = 0, desiredReplicas = 0 }: Status): FieldError[] {
  return [
    ...nonNegative(currentReplicas, 'status.currentReplicas'),
    ...nonNegative(desiredReplicas, 'status.desiredReplicas'),
  ]
}

function nonNegative(value: number, path: FieldPath): FieldError[] {
  return value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : []
}
