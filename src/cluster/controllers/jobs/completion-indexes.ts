/** Completion indexes of Indexed Jobs: reading them from pods, choosing the next ones and formatting index lists. */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodTemplateSpec } from '../../../api/kinds/core/types/pod-template-spec.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

function indexAnnotation(vendor: Vendor): string {
  return vendorKey(vendor, 'job-completion-index', 'batch')
}

/** Returns the completion index of a pod, or undefined if it has none that is valid for this Job. */
export function indexOf({ metadata }: Pod, { vendor, completions }: IndexContext): number | undefined {
  const text = metadata.annotations?.[indexAnnotation(vendor)] ?? ''
  const index = /^\d{1,10}$/.test(text) ? Number(text) : undefined
  return index !== undefined && index < completions ? index : undefined
}

export interface IndexContext {
  readonly vendor: Vendor
  readonly completions: number
}

/** Returns the lowest indexes that are neither completed nor active. */
export function pendingIndexes(taken: ReadonlySet<number>, completions: number, count: number): number[] {
  const pending: number[] = []
  for (let index = 0; index < completions && pending.length < count; index++) if (!taken.has(index)) pending.push(index)
  return pending
}

/** Formats indexes such as `0,2-4,7`. Two consecutive indexes are listed separately, three or more as a range. */
export function formatIndexes(indexes: Iterable<number>): string {
  const runs: { first: number; last: number }[] = []
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run?.last === index - 1) run.last = index
    else runs.push({ first: index, last: index })
  }
  return runs
    .map(({ first, last }) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`))
    .join()
}

/**
 * Returns the pod template for an index, which the pod gets as an annotation, an environment variable and part of its
 * hostname.
 */
export function templateWithIndex(
  template: PodTemplateSpec,
  { index, job, vendor }: { readonly index: number; readonly job: string; readonly vendor: Vendor },
): PodTemplateSpec {
  const annotation = indexAnnotation(vendor)
  const { metadata, spec } = template
  const withVariable = (containers: Container[] | undefined) => containers?.map((each) => addVariable(each, annotation))
  const initContainers = withVariable(spec?.initContainers)
  return {
    ...template,
    metadata: { ...metadata, annotations: { ...metadata?.annotations, [annotation]: String(index) } },
    spec: {
      ...spec,
      hostname: `${job}-${index}`,
      containers: withVariable(spec?.containers) ?? [],
      ...(initContainers === undefined ? {} : { initContainers }),
    },
  }
}

const variable = 'JOB_COMPLETION_INDEX'

function addVariable(container: Container, annotation: string): Container {
  const { env = [] } = container
  if (env.some(({ name }) => name === variable)) return container
  const fieldRef = { fieldPath: `metadata.annotations['${annotation}']` }
  return { ...container, env: [...env, { name: variable, valueFrom: { fieldRef } }] }
}

const maxGenerateName = 58

/** Returns the generateName prefix of the pod for an index. */
export function generateNameWithIndex(job: string, index: number): string {
  const end = `-${index}-`
  return `${job.slice(0, maxGenerateName - end.length)}${end}`
}
