/** Reads the completion indexes of Indexed Jobs from pods, and adds the indexes to new pods. */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodTemplateSpec } from '../../../api/kinds/core/types/pod-template-spec.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { JobFeatures } from './job-features.ts'

function indexAnnotation(vendor: Vendor): string {
  return vendorKey(vendor, 'job-completion-index', 'batch')
}

/** Returns the completion index of a pod, or undefined if the pod has no index that is valid for the Job. */
export function indexOf({ metadata }: Pod, { vendor, completions }: IndexContext): number | undefined {
  const text = metadata.annotations?.[indexAnnotation(vendor)] ?? ''
  const index = /^\d{1,10}$/.test(text) ? Number(text) : undefined
  return index !== undefined && index < completions ? index : undefined
}

export interface IndexContext {
  readonly vendor: Vendor
  readonly completions: number
}

/**
 * Returns the pod template for an index. The template contains the index in an annotation, in an environment variable
 * and in the hostname, and since Kubernetes 1.28 also in a label.
 */
export function templateWithIndex(
  template: PodTemplateSpec,
  { index, job, features }: { readonly index: number; readonly job: string; readonly features: JobFeatures },
): PodTemplateSpec {
  const annotation = indexAnnotation(features.vendor)
  const { metadata, spec } = template
  const withVariable = (containers: Container[] | undefined) => containers?.map((each) => addVariable(each, annotation))
  const initContainers = withVariable(spec?.initContainers)
  return {
    ...template,
    metadata: {
      ...metadata,
      annotations: { ...metadata?.annotations, [annotation]: String(index) },
      ...(features.hasIndexLabel ? { labels: { ...metadata?.labels, [annotation]: String(index) } } : {}),
    },
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

/** Returns the generateName prefix for the pod of an index. */
export function generateNameWithIndex(job: string, index: number): string {
  const end = `-${index}-`
  return `${job.slice(0, maxGenerateName - end.length)}${end}`
}
