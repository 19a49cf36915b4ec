/** The numbers of an Indexed Job's pods: which a pod has, which are done, which come next, and how a list of them is written. */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodTemplateSpec } from '../../../api/kinds/core/types/pod-template-spec.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

function indexAnnotation(vendor: Vendor): string {
  return vendorKey(vendor, 'job-completion-index', 'batch')
}

/** The number of a pod; undefined where it has none of this Job's. */
export function indexOf({ metadata }: Pod, { vendor, completions }: IndexContext): number | undefined {
  const text = metadata.annotations?.[indexAnnotation(vendor)] ?? ''
  const index = /^\d{1,10}$/.test(text) ? Number(text) : undefined
  return index !== undefined && index < completions ? index : undefined
}

export interface IndexContext {
  readonly vendor: Vendor
  readonly completions: number
}

/** The first numbers that are neither done nor under way. */
export function pendingIndexes(taken: ReadonlySet<number>, completions: number, count: number): number[] {
  const found: number[] = []
  for (let index = 0; index < completions && found.length < count; index++) if (!taken.has(index)) found.push(index)
  return found
}

/** `0,2-4,7`: two that follow each other are listed, more are a range. */
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

/** The template of the pod with a number: it knows it as an annotation, a variable and its host's name. */
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

/** What the name of the pod with a number begins with. */
export function generateNameWithIndex(job: string, index: number): string {
  const end = `-${index}-`
  return `${job.slice(0, maxGenerateName - end.length)}${end}`
}
