/** Where a pod is described: in itself, or in the template of a kind that makes pods. */
import type { PodSpec } from '../../kinds/core/types/pod-spec.ts'
import type { PodTemplateSpec } from '../../kinds/core/types/pod-template-spec.ts'
import type { ApiObject } from '../../model/object.ts'

interface Template {
  readonly template?: PodTemplateSpec
}

const inSpec = ({ spec }: ApiObject) => (spec as Template | undefined)?.template

/** Kinds that make pods, and where their template is. */
const makers = [
  { group: 'core', plural: 'podtemplates', templateOf: (object: ApiObject) => (object as Template).template },
  { group: 'core', plural: 'replicationcontrollers', templateOf: inSpec },
  { group: 'apps', plural: 'daemonsets', templateOf: inSpec },
  { group: 'apps', plural: 'deployments', templateOf: inSpec },
  { group: 'apps', plural: 'replicasets', templateOf: inSpec },
  { group: 'apps', plural: 'statefulsets', templateOf: inSpec },
  { group: 'batch', plural: 'jobs', templateOf: inSpec },
  {
    group: 'batch',
    plural: 'cronjobs',
    templateOf: ({ spec }: ApiObject) =>
      (spec as { jobTemplate?: { spec?: Template } } | undefined)?.jobTemplate?.spec?.template,
  },
]

export const makerTypes = makers.map(({ group, plural }) => ({ group, plural }))

export interface DescribedPod {
  readonly annotations: { readonly [key: string]: string }
  readonly spec: PodSpec
}

export function podIn({ metadata, spec }: ApiObject): DescribedPod {
  return { annotations: metadata.annotations ?? {}, spec: (spec ?? {}) as PodSpec }
}

/** The pod that an object of the kind would make; undefined where it has no template. */
export function templateIn(plural: string, object: ApiObject): DescribedPod | undefined {
  const template = makers.find((maker) => maker.plural === plural)?.templateOf(object)
  if (template?.spec === undefined) return undefined
  return { annotations: template.metadata?.annotations ?? {}, spec: template.spec }
}
